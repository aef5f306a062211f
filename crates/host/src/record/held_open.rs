//! Files that processes hold open for writing, or have mapped: what they write there no further call will tell of.
//!
//! A process is looked at by all its threads, as each may have descriptors of its own.
#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use rustix::fs::lstat;
use rustix::process::Pid;

use super::sight::{Found, Seen, Sight};
use crate::fs::{Stamp, kind_of, led_straight};
use crate::proc::tree;
use crate::sandbox::is_stand_in;

/// Descriptors of one process that are looked at. An interpreter holds a handful.
const MOST: usize = 4096;
/// The same where it stands still meanwhile, and may end for what was not looked at: all that it may have.
const ALL: usize = 1 << 16;
/// The bits of an open's flags that say what it is for.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR) as u32;

/// The places in the roots of what they have open or mapped; and whether these are all.
pub(super) fn places_of(processes: &[Pid], sight: &Sight) -> (Vec<Found>, bool) {
    let (mut places, mut all) = (Vec::new(), true);
    for pid in processes {
        let held = OfProcess::look(*pid, MOST);
        // Who has ended holds nothing, and the first of a world is ours.
        all &= held.is_all || held.threads.is_empty() || !held.may_write();
        let open = held.open.iter().map(|(thread, number)| sight.open(*thread, *number));
        let mapped = held.mapped.iter().map(|(path, inode)| sight.mapped(path, *inode));
        for seen in open.chain(mapped) {
            if let Seen::Inside(place) = seen {
                places.push(place);
            }
        }
    }
    (places, all)
}

/// What one process can write without asking the kernel by name.
#[derive(Debug, Default)]
struct OfProcess {
    /// Of its threads that live those that have a table of descriptors of their own; the others share one of these.
    threads: Vec<u32>,
    /// What is open for writing, by thread.
    open: Vec<(u32, i32)>,
    /// Paths as the kernel writes them, and inodes.
    mapped: Vec<(Vec<u8>, u64)>,
    /// False where more may be held than was seen.
    is_all: bool,
}

impl OfProcess {
    /// No more than `most` descriptors of a thread are looked at.
    fn look(pid: Pid, most: usize) -> OfProcess {
        let mut held = OfProcess { is_all: true, ..OfProcess::default() };
        let Some(process) = tree::look(pid.as_raw_nonzero().get()) else { return held };
        let all = tree::threads(pid);
        // Of a process whose first thread has ended the others may live; by its own number nothing of them is seen.
        for thread in
            ids(&all).filter(|thread| process.state != 'Z' || *thread != pid.as_raw_nonzero().get().unsigned_abs())
        {
            if !held.threads.iter().any(|other| share_descriptors(*other, thread)) {
                held.threads.push(thread);
            }
        }
        // Memory all threads share.
        let mut maps = None;
        for thread in &held.threads {
            let open = for_writing(*thread, most);
            held.is_all &= open.as_ref().is_some_and(|(_, is_all)| *is_all);
            held.open.extend(open.unwrap_or_default().0.into_iter().map(|number| (*thread, number)));
            maps = maps.or_else(|| fs::read(format!("/proc/{thread}/maps")).ok());
        }
        held.is_all &= maps.is_some() || held.threads.is_empty();
        held.mapped = maps.unwrap_or_default().split(|byte| *byte == b'\n').filter_map(shared).collect();
        held
    }

    /// Whether it is one to be reckoned with where not all of it is seen.
    fn may_write(&self) -> bool {
        self.threads.iter().any(|thread| may_write(*thread))
    }
}

/// Whether two threads have one table of descriptors. Where the kernel does not say, they are taken for two, and looked at
/// both.
fn share_descriptors(one: u32, other: u32) -> bool {
    /// `KCMP_FILES`.
    const FILES: libc::c_int = 2;
    // SAFETY: numbers alone.
    unsafe { libc::syscall(libc::SYS_kcmp, one as libc::pid_t, other as libc::pid_t, FILES, 0, 0) == 0 }
}

/// What processes can write at a moment without asking the kernel by name: what they have open, and what is mapped.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Device and inode.
    open: HashSet<(u64, u64)>,
    /// Paths as the kernel writes them, and inodes.
    mapped: HashSet<(Vec<u8>, u64)>,
    /// Of some it cannot be told.
    unknown: bool,
}

impl Held {
    pub(super) fn by(processes: &[Pid]) -> Held {
        Held::by_most(processes, MOST)
    }

    fn by_most(processes: &[Pid], most: usize) -> Held {
        let mut held = Held::default();
        for pid in processes {
            let one = OfProcess::look(*pid, most);
            held.unknown |= !one.is_all && one.may_write();
            let file = |(thread, number): &(u32, i32)| fs::metadata(format!("/proc/{thread}/fd/{number}")).ok();
            held.open.extend(one.open.iter().filter_map(file).map(|file| (file.dev(), file.ino())));
            held.mapped.extend(one.mapped);
        }
        held
    }

    pub(super) fn holds(&self, path: &Path, file: &Stamp) -> bool {
        self.unknown || self.is_seen_to_hold(path, file)
    }

    fn is_seen_to_hold(&self, path: &Path, file: &Stamp) -> bool {
        let path = as_in_maps(path);
        self.open.contains(&file.inode()) || self.mapped.iter().any(|(mapped, _)| *mapped == path)
    }

    /// The same of a file whose name is a new one: mapped under another, of which the inode is what is left of it.
    fn holds_as_another(&self, file: &Stamp, roots: &[PathBuf]) -> bool {
        // Not by the device: of some file systems the kernel writes another one there than it says of the file.
        let in_a_root = |path: &[u8]| roots.iter().any(|root| Path::new(OsStr::from_bytes(path)).starts_with(root));
        self.mapped.iter().any(|(path, inode)| *inode == file.inode().1 && in_a_root(path))
    }
}

/// Those of `files` that `processes` are seen to be able to write whatever these are called: they have one open for writing
/// or mapped, or it is a pipe. Of a link that counts of the file it leads to; where it leads to something else, or by other
/// links, nobody could keep them off that. What cannot be seen is no reason, and no other name either, which git gives each
/// object for a moment: what they had open under another name the recorder knows, and what they open later it refuses. Only of
/// processes that stand still, with all they have in `roots`.
pub(crate) fn writable(processes: &[Pid], files: &[PathBuf], roots: &[PathBuf]) -> Vec<PathBuf> {
    let held = Held::by_most(processes, ALL);
    let is_file_held =
        |path: &Path, file: &Stamp| held.is_seen_to_hold(path, file) || held.holds_as_another(file, roots);
    let is_held = |path: &&PathBuf| {
        let Ok(stat) = lstat(path.as_path()) else { return false };
        match kind_of(&stat) {
            Some(Kind::File) => is_file_held(path, &Stamp::from(&stat)),
            Some(Kind::Directory) => false,
            Some(Kind::Link) => {
                led_straight(path).is_none_or(|to| lstat(&to).is_ok_and(|stat| is_file_held(&to, &Stamp::from(&stat))))
            }
            None => !is_stand_in(&stat),
        }
    };
    files.iter().filter(is_held).cloned().collect()
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
fn shared(line: &[u8]) -> Option<(Vec<u8>, u64)> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let rights = words.nth(1)?;
    let inode = std::str::from_utf8(words.nth(2)?).ok()?.parse().ok()?;
    let path = words.next()?.trim_ascii_start();
    (rights.ends_with(b"s") && path.starts_with(b"/")).then(|| (path.to_vec(), inode))
}

/// A path as the kernel writes it there: a newline in octal, and nothing else, so that two names may be written alike.
fn as_in_maps(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().split(|byte| *byte == b'\n').collect::<Vec<_>>().join(br"\012".as_slice())
}

/// What a thread has open for writing, pipes and the like left out; and whether that is all: no more than `most`
/// descriptors are looked at, and nobody sees which are under way to it through a socket. `None` where nothing can be seen.
fn for_writing(pid: u32, most: usize) -> Option<(Vec<i32>, bool)> {
    let (mut writes, mut all) = (Vec::new(), true);
    for (at, entry) in fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten().enumerate() {
        if at == most {
            return Some((writes, false));
        }
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        // Most are pipes; of the others the flags say the rest.
        let Ok(place) = fs::read_link(entry.path()) else { continue };
        if place.is_absolute() && is_for_writing(pid, number) {
            writes.push(number);
        }
        all &= !place.as_os_str().as_bytes().starts_with(b"socket:") || !holds_descriptors(pid, number);
    }
    Some((writes, all))
}

fn ids(processes: &[Pid]) -> impl Iterator<Item = u32> {
    processes.iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// Whether descriptors wait in a unix socket until somebody takes them: sent once, they need not be open anywhere else.
fn holds_descriptors(pid: u32, number: i32) -> bool {
    let told = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    told.lines().filter_map(|line| line.strip_prefix("scm_fds:")).any(|waiting| waiting.trim() != "0")
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
            let reaches = reaches.map(|path| (path.as_bytes().to_vec(), 1234));
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

    /// Ways to go on writing a file that the first thread has nothing open of.
    const WAYS: [(&str, &str); 3] = [
        (
            "own table",
            "
def run():
    libc.unshare(0x400)
    os.open(sys.argv[1], os.O_RDWR)
    ready()
threading.Thread(target=run).start()
",
        ),
        (
            "first thread ended",
            "
os.open(sys.argv[1], os.O_RDWR)
first = f'/proc/self/task/{os.getpid()}/stat'
def run():
    while open(first).read().split(') ')[1][0] != 'Z': pass
    ready()
threading.Thread(target=run).start()
libc.syscall(60 if os.uname().machine == 'x86_64' else 93, 0)
",
        ),
        (
            "under way",
            "
ends = socket.socketpair()
fd = os.open(sys.argv[1], os.O_RDWR)
socket.send_fds(ends[0], [b'x'], [fd])
os.close(fd)
ready()
",
        ),
    ];
    const BEGINS: &str = "
import ctypes, os, socket, sys, threading
libc = ctypes.CDLL(None)
def ready():
    os.write(1, b'r')
    os.read(0, 1)
";

    #[test]
    fn what_a_thread_of_its_own_a_later_one_or_a_socket_has_is_held() {
        for (way, script) in WAYS {
            let file = tempfile::NamedTempFile::new().unwrap();
            let mut python = std::process::Command::new("python3");
            python.args(["-c", &format!("{BEGINS}{script}")]).arg(file.path());
            let pipe = std::process::Stdio::piped;
            python.stdin(pipe()).stdout(pipe()).stderr(pipe());
            let Ok(mut python) = python.spawn() else { return eprintln!("skipped: there is no python3 here") };
            std::io::Read::read_exact(python.stdout.as_mut().unwrap(), &mut [0]).unwrap();
            let stamp = Stamp::from(&rustix::fs::stat(file.path()).unwrap());
            let held = Held::by(&[Pid::from_child(&python)]);
            assert!(held.holds(file.path(), &stamp), "{way}: {held:?}");
            assert_eq!(held.unknown, way == "under way", "{held:?}");
            drop(python.stdin.take());
            python.kill().unwrap();
            python.wait().unwrap();
        }
    }

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
