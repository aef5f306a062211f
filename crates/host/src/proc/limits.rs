//! What a parser child takes from itself before it looks at a byte.
//!
//! It limits itself, because limits set between fork and exec would need unsafe code, and because what
//! runs before them is our own start-up, which has not seen the input yet. Three layers: bounds on what it takes,
//! Landlock without any place to go to, and a filter that leaves it its memory and its pipes.

use std::io;

use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use rustix::thread::set_no_new_privs;

/// Bounds of one parser child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Address space in bytes. Default 1 GiB: a 50-megapixel picture takes 200 MB a copy.
    pub memory_bytes: u64,
    /// Seconds of processor time. Default 10: twice the wall time, for the case that nobody waits.
    pub cpu_seconds: u64,
    /// The first file descriptor that cannot be had. Default 8: three are open at the start.
    pub files: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory_bytes: 1 << 30, cpu_seconds: 10, files: 8 }
    }
}

/// Puts the running process under `limits`, for good. Call it first, before any other thread exists:
/// it also forbids new ones, and everything that opens, connects or starts.
pub fn limit_self(limits: &Limits) -> io::Result<()> {
    // Dies with the thread that started it. Should that be gone already, a broken pipe ends it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    set_no_new_privs(true)?;
    let table = [
        (Resource::As, limits.memory_bytes),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Nofile, limits.files),
        (Resource::Nproc, 0),
        // Pipes are not files: the answer still gets out.
        (Resource::Fsize, 0),
        // A dump of a process that held somebody's file must not lie around.
        (Resource::Core, 0),
    ];
    for (resource, most) in table {
        // A tighter one that nobody may lift stays.
        let most = getrlimit(resource).maximum.map_or(most, |hard| hard.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    crate::sandbox::shut_self();
    Ok(())
}
