//! Files that processes hold open for writing, or have mapped: what they write there no further call will tell of.

use std::collections::HashSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::Pid;

use super::sight::{Found, Seen, Sight};
use crate::fs::Stamp;
use crate::proc::tree;

/// Descriptors of one process that are looked at. An interpreter holds a handful.
const MOST: usize = 4096;
/// The bits of an open's flags that say what it is for.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR) as u32;

/// The places in the roots of what they have open; and whether these are all, as some may have more than is looked at.
pub(super) fn places_of(processes: &[Pid], sight: &Sight) -> (Vec<Found>, bool) {
    let (mut places, mut all) = (Vec::new(), true);
    for pid in ids(processes) {
        // Who has ended holds nothing.
        let Some((open, is_all)) = for_writing(pid, MOST) else { continue };
        all &= is_all;
        for number in open {
            if let Seen::Inside(place) = sight.open(pid, number) {
                places.push(place);
            }
        }
    }
    (places, all)
}

/// What processes can write at a moment without asking the kernel by name: what they have open, and what is mapped.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Device and inode.
    open: HashSet<(u64, u64)>,
    /// Paths as the kernel writes them.
    mapped: HashSet<Vec<u8>>,
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
            for thread in ids(&threads) {
                held.unknown |= !held.add(thread) && may_write(thread);
            }
        }
        held
    }

    /// False where not all of a process can be seen.
    fn add(&mut self, pid: u32) -> bool {
        let open = for_writing(pid, MOST);
        let maps = fs::read(format!("/proc/{pid}/maps"));
        let all = open.as_ref().is_some_and(|(_, all)| *all) && maps.is_ok();
        let (open, maps) = (open.unwrap_or_default().0, maps.unwrap_or_default());
        let file = |number: i32| fs::metadata(format!("/proc/{pid}/fd/{number}")).ok();
        self.open.extend(open.into_iter().filter_map(file).map(|file| (file.dev(), file.ino())));
        self.mapped.extend(maps.split(|byte| *byte == b'\n').filter_map(shared));
        all
    }

    pub(super) fn holds(&self, path: &Path, file: &Stamp) -> bool {
        self.unknown || self.open.contains(&file.inode()) || self.mapped.contains(&as_in_maps(path))
    }
}

/// Others of all processes here that are seen to have a file open for writing, told by device and inode.
pub(crate) fn writers(file: (u64, u64)) -> Vec<Pid> {
    let own = rustix::process::getpid();
    tree::all().filter(|pid| *pid != own && Held::by(&[*pid]).open.contains(&file)).collect()
}

/// Whether a process of which not all can be seen is one to be reckoned with: it lives, and is not the first of the
/// command's world, which is ours and holds nothing open.
fn may_write(pid: u32) -> bool {
    let status = |whose: &str| fs::read_to_string(format!("/proc/{whose}/status"));
    let (Ok(theirs), Ok(ours)) = (status(&pid.to_string()), status("self")) else { return false };
    !is_first_of_world(&theirs, &ours)
}

/// Whether a process is the first of a world just below ours, by the `status` of both: it has one number more than we,
/// and that is 1. The first of a world within the command's has two more.
fn is_first_of_world(theirs: &str, ours: &str) -> bool {
    let numbers = |status: &str| -> Vec<String> {
        let line = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
        line.split_ascii_whitespace().map(str::to_owned).collect()
    };
    let (theirs, ours) = (numbers(theirs), numbers(ours));
    theirs.len() == ours.len() + 1 && theirs.last().is_some_and(|last| last == "1")
}

/// The file of a line of `/proc/PID/maps` that a process shares with it. One that is only read today may be written
/// without a call that names it.
fn shared(line: &[u8]) -> Option<Vec<u8>> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let rights = words.nth(1)?;
    let path = words.nth(3)?.trim_ascii_start();
    (rights.ends_with(b"s") && path.starts_with(b"/")).then(|| path.to_vec())
}

/// A path as the kernel writes it there: a newline in octal, and nothing else, so that two names may be written alike.
fn as_in_maps(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().split(|byte| *byte == b'\n').collect::<Vec<_>>().join(br"\012".as_slice())
}

/// What a process has open for writing, pipes and the like left out; and whether that is all, as no more than `most`
/// descriptors are looked at. `None` where nothing can be seen.
fn for_writing(pid: u32, most: usize) -> Option<(Vec<i32>, bool)> {
    let mut writes = Vec::new();
    for (at, entry) in fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten().enumerate() {
        if at == most {
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

fn ids(processes: &[Pid]) -> impl Iterator<Item = u32> {
    processes.iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
}

fn is_for_writing(pid: u32, number: i32) -> bool {
    let told = fs::read_to_string(Path::new("/proc").join(format!("{pid}/fdinfo/{number}"))).unwrap_or_default();
    let flags = told.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & FOR_WRITING != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let reaches = reaches.map(|path| path.as_bytes().to_vec());
            assert_eq!(shared(line(rights, path).as_bytes()), reaches, "{rights} {path}");
        }
        assert_eq!(shared(b"7f00-7f10 rw-s 00000000 00:01 5"), None);
    }

    #[test]
    fn a_mapped_file_is_held_whatever_its_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["plain", "two\nlines", r"back\slash", r"\012", " blanks "] {
            let path = dir.path().canonicalize().unwrap().join(name);
            fs::write(&path, "text").unwrap();
            let mut python = std::process::Command::new("python3");
            python.args(["-c", MAPS]).arg(&path);
            // Whatever ours are: a file would be held, too.
            let pipe = std::process::Stdio::piped;
            python.stdin(pipe()).stdout(pipe()).stderr(pipe());
            let Ok(mut python) = python.spawn() else { return eprintln!("skipped: there is no python3 here") };
            std::io::Read::read_exact(python.stdout.as_mut().unwrap(), &mut [0]).unwrap();
            let held = Held::by(&[Pid::from_child(&python)]);
            let file = Stamp::from(&rustix::fs::stat(&path).unwrap());
            assert!(held.open.is_empty() && !held.unknown, "{held:?}");
            assert!(held.holds(&path, &file), "{name:?}: {held:?}");
            assert!(!held.holds(&dir.path().join("other"), &file));
            drop(python.stdin.take());
            python.wait().unwrap();
        }
    }

    /// Maps a file, closes all that is open, says so, and waits for the end of its input.
    const MAPS: &str = "
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(fd, 0)
for name in os.listdir('/proc/self/fd'):
    if int(name) > 2:
        try: os.close(int(name))
        except OSError: pass
print('r', end='', flush=True)
sys.stdin.read()
";

    #[test]
    fn of_more_than_is_looked_at_the_first_are_known_and_that_it_is_not_all() {
        let file = || tempfile::tempfile().unwrap();
        let mut sleeps = std::process::Command::new("sleep");
        sleeps.arg("60").stdin(file()).stdout(file()).stderr(file());
        let mut sleeps = sleeps.spawn().unwrap();
        let of = |most| for_writing(sleeps.id(), most);
        assert_eq!((of(MOST), of(2)), (Some((vec![0, 1, 2], true)), Some((vec![0, 1], false))));
        sleeps.kill().unwrap();
        sleeps.wait().unwrap();
        assert_eq!(for_writing(0, MOST), None);
    }

    #[test]
    fn only_the_first_of_the_commands_own_world_is_ours() {
        let status = |numbers: &str| format!("Name:\tx\nNSpid:\t{numbers}\nNSpgid:\t1\n");
        let cases = [
            ("70\t1", "7", true),
            ("70\t12", "7", false),
            // In a world that the command made.
            ("70\t12\t1", "7", false),
            // We are in a world ourselves, as in a container.
            ("70\t40\t1", "9\t5", true),
            // It is in ours.
            ("1", "7", false),
            ("70\t1", "9\t5", false),
        ];
        for (theirs, ours, is_first) in cases {
            assert_eq!(is_first_of_world(&status(theirs), &status(ours)), is_first, "{theirs:?} below {ours:?}");
        }
        assert!(!is_first_of_world("", ""), "a kernel that says nothing");
    }
}
