//! Files that processes hold open for writing: what they write there no further call will tell of.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::sight::{Found, Seen, Sight};
use crate::fs::Stamp;
use crate::proc::tree;

/// Descriptors of one process that are looked at. An interpreter holds a handful.
const MOST: usize = 4096;
/// The bits of an open's flags that say what it is for.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR) as u32;

/// Those in the roots.
pub(super) fn by(processes: &[Pid], sight: &Sight) -> Vec<Found> {
    let mut found = Vec::new();
    for pid in numbers(processes) {
        for number in for_writing(pid).map(|(writes, _)| writes).unwrap_or_default() {
            if let Seen::Inside(place) = sight.open(pid, number) {
                found.push(place);
            }
        }
    }
    found
}

/// What processes can write at a moment without asking the kernel by name: what they have open, and what is mapped.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Device and inode.
    open: HashSet<(u64, u64)>,
    mapped: HashSet<PathBuf>,
    /// Of some it cannot be told.
    unknown: bool,
}

impl Held {
    pub(super) fn by(processes: &[Pid]) -> Held {
        let mut held = Held::default();
        for pid in processes {
            let Some(process) = tree::look(pid.as_raw_nonzero().get()) else { continue };
            // Threads of a process whose first has ended are seen by their own numbers.
            let threads = match (process.state, process.threads) {
                ('Z', 0 | 1) => continue,
                ('Z', _) => tree::threads(*pid),
                _ => vec![*pid],
            };
            for thread in numbers(&threads) {
                held.unknown |= !held.add(thread) && may_write(thread);
            }
        }
        held
    }

    /// False where a process cannot be looked into, or not all of it.
    fn add(&mut self, pid: u32) -> bool {
        let (Some((open, all)), Ok(maps)) = (for_writing(pid), fs::read(format!("/proc/{pid}/maps"))) else {
            return false;
        };
        let file = |number: i32| fs::metadata(format!("/proc/{pid}/fd/{number}")).ok();
        self.open.extend(open.into_iter().filter_map(file).map(|file| (file.dev(), file.ino())));
        self.mapped.extend(maps.split(|byte| *byte == b'\n').filter_map(shared));
        all
    }

    pub(super) fn holds(&self, path: &Path, file: &Stamp) -> bool {
        self.unknown || self.open.contains(&file.inode()) || self.mapped.contains(path)
    }
}

/// Whether a process that cannot be looked into is one to be reckoned with: it lives, and is not the first of the
/// command's world, which is ours and holds nothing open.
fn may_write(pid: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let mut numbers = numbers.unwrap_or_default().split_ascii_whitespace();
    let is_first = numbers.next().is_some() && numbers.last() == Some("1");
    !is_first
}

/// The file of a line of `/proc/PID/maps` that a process shares with it. One that is only read today may be written
/// without a call that names it.
fn shared(line: &[u8]) -> Option<PathBuf> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let rights = words.nth(1)?;
    let path = words.nth(3)?.trim_ascii_start();
    (rights.ends_with(b"s") && path.starts_with(b"/")).then(|| OsStr::from_bytes(path).into())
}

/// What a process has open for writing, pipes and the like left out, and whether that is all; `None` where it cannot be
/// seen.
fn for_writing(pid: u32) -> Option<(Vec<i32>, bool)> {
    let mut writes = Vec::new();
    for (at, entry) in fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten().enumerate() {
        if at == MOST {
            return Some((writes, false));
        }
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // Most are pipes; of the others the flags say the rest.
        let is_file = fs::read_link(entry.path()).is_ok_and(|place| place.is_absolute());
        if is_file && is_for_writing(pid, number) {
            writes.push(number);
        }
    }
    Some((writes, true))
}

fn numbers(processes: &[Pid]) -> impl Iterator<Item = u32> {
    processes.iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
}

fn is_for_writing(pid: u32, number: i32) -> bool {
    let told = fs::read_to_string(Path::new("/proc").join(format!("{pid}/fdinfo/{number}"))).unwrap_or_default();
    let flags = told.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & FOR_WRITING != 0)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::shared;

    #[test]
    fn only_a_shared_mapping_of_a_file_reaches_it() {
        let line =
            |rights: &str, path: &str| format!("7f00-7f10 {rights} 00000000 fe:00 1234                       {path}");
        let cases = [
            ("rw-s", "/a/b c", Some("/a/b c")),
            ("-w-s", "/a", Some("/a")),
            ("r--s", "/a", Some("/a")),
            ("rw-p", "/a", None),
            ("rw-s", "anon_inode:[perf]", None),
        ];
        for (rights, path, reaches) in cases {
            assert_eq!(shared(line(rights, path).as_bytes()), reaches.map(PathBuf::from), "{rights} {path}");
        }
        assert_eq!(shared(b"7f00-7f10 rw-s 00000000 00:01 5"), None);
    }
}
