//! Files that processes hold open for writing: what they write there no further call will tell of.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

use super::sight::{Found, Seen, Sight};
use crate::fs::Stamp;

/// Descriptors of one process that are looked at. An interpreter holds a handful.
const MOST: usize = 4096;
/// The bits of an open's flags that say what it is for.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR) as u32;

/// Those in the roots.
pub(super) fn by(processes: &[Pid], sight: &Sight) -> Vec<Found> {
    let mut found = Vec::new();
    for pid in numbers(processes) {
        for number in for_writing(pid).unwrap_or_default() {
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
        for pid in numbers(processes) {
            match (for_writing(pid), fs::read_to_string(format!("/proc/{pid}/maps"))) {
                (Some(open), Ok(maps)) => {
                    let file = |number: i32| fs::metadata(format!("/proc/{pid}/fd/{number}")).ok();
                    held.open.extend(open.into_iter().filter_map(file).map(|file| (file.dev(), file.ino())));
                    held.mapped.extend(maps.lines().filter_map(written_through));
                }
                // Ended meanwhile; or it may not be looked into.
                _ => held.unknown |= fs::exists(format!("/proc/{pid}/fd")).unwrap_or(true),
            }
        }
        held
    }

    pub(super) fn holds(&self, path: &Path, file: &Stamp) -> bool {
        self.unknown || self.open.contains(&file.inode()) || self.mapped.contains(path)
    }
}

/// The file of a line of `/proc/PID/maps`, where what is written to memory goes to it.
fn written_through(line: &str) -> Option<PathBuf> {
    let mut words = line.splitn(6, ' ');
    let shared = words.nth(1)?.as_bytes();
    let path = words.nth(3)?.trim_start();
    (matches!(shared, [_, b'w', _, b's']) && path.starts_with('/')).then(|| path.into())
}

/// What a process has open for writing, pipes and the like left out; `None` where that cannot be seen.
fn for_writing(pid: u32) -> Option<Vec<i32>> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten().take(MOST);
    let writes = |entry: fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse::<i32>().ok()?;
        // Most are pipes; of the others the flags say the rest.
        let is_file = fs::read_link(entry.path()).is_ok_and(|place| place.is_absolute());
        (is_file && is_for_writing(pid, number)).then_some(number)
    };
    Some(open.filter_map(writes).collect())
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

    use super::written_through;

    #[test]
    fn only_a_shared_mapping_that_can_be_written_writes_to_its_file() {
        let line =
            |rights: &str, path: &str| format!("7f00-7f10 {rights} 00000000 fe:00 1234                       {path}");
        let cases = [
            ("rw-s", "/a/b c", Some("/a/b c")),
            ("-w-s", "/a", Some("/a")),
            ("r--s", "/a", None),
            ("rw-p", "/a", None),
            ("rw-s", "anon_inode:[perf]", None),
        ];
        for (rights, path, writes) in cases {
            assert_eq!(written_through(&line(rights, path)), writes.map(PathBuf::from), "{rights} {path}");
        }
        assert_eq!(written_through("7f00-7f10 rw-s 00000000 00:01 5"), None);
    }
}
