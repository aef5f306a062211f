//! What a process takes from itself by plain calls: privileges to come, and resources.

use nika_guard::profile::Limits;

use super::init::Kind;
use super::{Refusal, base};

/// Nothing that is run from here on has more rights than what runs it: set-user-id programs gain nothing.
pub(super) fn no_new_privileges() -> Result<(), Refusal> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| Refusal::of("no new privileges", "PR_SET_NO_NEW_PRIVS", error))
}

/// Bounds of one process, and of the user's processes in this world. Without a world of its own the latter would count
/// what has nothing to do with the command.
pub(super) fn limits(limits: &Limits, kind: Kind) -> Result<(), Refusal> {
    let processes = if kind == Kind::Contained { limits.processes } else { 0 };
    let table = [
        (libc::RLIMIT_NPROC, processes),
        // Data, not address space: what a runtime reserves and never writes to is free.
        (libc::RLIMIT_DATA, limits.memory_bytes),
        (libc::RLIMIT_FSIZE, limits.file_bytes),
        (libc::RLIMIT_NOFILE, limits.open_files),
    ];
    for (resource, most) in table {
        if most > 0 {
            base::limit(resource, most).map_err(|error| Refusal::of("bounded resources", "setrlimit", error))?;
        }
    }
    // A dump would hold what the process knew.
    base::limit(libc::RLIMIT_CORE, 0).map_err(|error| Refusal::of("bounded resources", "setrlimit", error))
}
