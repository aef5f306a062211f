//! What is hidden stays hidden when somebody outside saves it anew.
//!
//! A mount hides a file, and goes when another file is put in its place from outside, as every program does that saves
//! a file at once. So whoever watches over a command watches the directories of what is hidden from it, too, and has a
//! child of its own enter the world and lay the mount again. Between the two lie some milliseconds, in which the command
//! can open the file.
//!
//! Names that did not exist when the command began are not watched: such a file may be the command's own.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use nika_guard::profile::Step;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::base::{self, Side};
use super::{Refusal, handle, mounts};

/// How long the child may take; a file system that answers nobody holds it up.
const LAY_WITHIN: Duration = Duration::from_secs(1);
/// Bytes of news that are read at once.
const NEWS_BYTES: usize = 8 << 10;

/// The way into a world, for a child of the process that made it.
#[derive(Debug)]
pub(super) struct Way {
    users: OwnedFd,
    mounts: OwnedFd,
}

impl Way {
    /// Taken while the first process of the world can still be looked into.
    pub(super) fn to(init: Pid) -> Result<Way, Refusal> {
        let open = |kind: &str| {
            let at = format!("/proc/{}/ns/{kind}", init.as_raw_nonzero());
            openat(CWD, at, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| Refusal::of("hidden secrets", "a way into the world", error))
        };
        Ok(Way { users: open("user")?, mounts: open("mnt")? })
    }

    /// Takes this process into the world's users, where it may mount.
    fn become_privileged(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(self.users.as_fd(), Some(LinkNameSpaceType::User))?)
    }

    /// Takes this process to the world's mounts.
    fn enter(&self) -> io::Result<()> {
        Ok(move_into_link_name_space(self.mounts.as_fd(), Some(LinkNameSpaceType::Mount))?)
    }
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Covers {
    way: Way,
    hidden: Vec<PathBuf>,
    watch: Option<Watch>,
}

impl Covers {
    /// Of all that `steps` hide; `None` where that is nothing.
    pub(super) fn new(way: Way, steps: &[Step]) -> Option<Covers> {
        let hidden = steps.iter().filter_map(|step| match step {
            Step::Hide(path) => Some(path.clone()),
            _ => None,
        });
        let hidden: Vec<PathBuf> = hidden.collect();
        (!hidden.is_empty()).then_some(Covers { way, hidden, watch: None })
    }

    /// Becomes readable when [`Covers::heed`] has something to do; `None` as long as nobody watches.
    pub(super) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(|watch| watch.fd.as_fd())
    }

    /// Begins to watch, and makes good what was replaced before. Whether it watches: where the system has no room for
    /// that, it looks, and has to be asked again.
    pub(super) fn begin(&mut self) -> io::Result<bool> {
        self.watch = Watch::of(&self.hidden).ok();
        lay(&self.way, &self.hidden)?;
        Ok(self.watch.is_some())
    }

    /// Hides again what was replaced.
    pub(super) fn heed(&mut self) -> io::Result<()> {
        let replaced = match self.watch.as_mut().map(Watch::read) {
            None => return Ok(()),
            Some(Ok(replaced)) => replaced,
            // News was lost: it may have been of any of them.
            Some(Err(_)) => self.hidden.clone(),
        };
        if replaced.is_empty() { Ok(()) } else { lay(&self.way, &replaced) }
    }
}

/// Hears of names that come to be in the directories of what is hidden.
#[derive(Debug)]
struct Watch {
    fd: OwnedFd,
    directories: HashMap<i32, (PathBuf, HashSet<OsString>)>,
}

impl Watch {
    fn of(hidden: &[PathBuf]) -> io::Result<Watch> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut directories: HashMap<i32, (PathBuf, HashSet<OsString>)> = HashMap::new();
        for path in hidden {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let wanted = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            match inotify::add_watch(&fd, above, wanted) {
                Ok(number) => {
                    let (_, names) = directories.entry(number).or_insert_with(|| (above.into(), HashSet::new()));
                    names.insert(name.to_owned());
                }
                // Whom nothing is hidden from by us, the system lets look no more than the command.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Watch { fd, directories })
    }

    /// What was put under a hidden name since.
    fn read(&mut self) -> io::Result<Vec<PathBuf>> {
        let mut replaced = Vec::new();
        let mut space = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut news = Reader::new(&self.fd, &mut space);
        loop {
            let event = match news.next() {
                Err(Errno::AGAIN) => return Ok(replaced),
                Err(Errno::INTR) => continue,
                event => event?,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(io::Error::other("news was lost"));
            }
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            if let Some(((above, names), name)) = self.directories.get(&event.wd()).zip(name)
                && names.contains(name)
            {
                replaced.push(above.join(name));
            }
        }
    }
}

/// Hides again what is not hidden of `paths`. Only for a process with one thread.
fn lay(way: &Way, paths: &[PathBuf]) -> io::Result<()> {
    match base::clone(0)? {
        Side::Child => base::exit(i32::from(lay_inside(way, paths).is_err())),
        Side::Parent(pid) => {
            let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process"))?;
            let failed = || io::Error::other("what was saved anew could not be hidden again");
            if end_of(pid)? { Ok(()) } else { Err(failed()) }
        }
    }
}

/// Waits for the child; whether it did what it was for.
fn end_of(pid: Pid) -> io::Result<bool> {
    let ended = handle(pid)?;
    let within = Timespec { tv_sec: LAY_WITHIN.as_secs() as i64, tv_nsec: 0 };
    let mut fds = [PollFd::new(&ended, PollFlags::IN)];
    if !matches!(rustix::io::retry_on_intr(|| poll(&mut fds, Some(&within))), Ok(1..)) {
        let _ = kill_process(pid, Signal::KILL);
    }
    let status = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?;
    Ok(status.is_some_and(|(_, status)| status.exit_status() == Some(0)))
}

fn lay_inside(way: &Way, paths: &[PathBuf]) -> Result<(), Refusal> {
    let step = |what: &'static str| move |error: io::Error| Refusal::of("hidden secrets", what, error);
    way.become_privileged().map_err(step("its users"))?;
    // A stand-in is copied from where it is mounted: among mounts of this process's own, which go with it.
    base::unshare_mounts().map_err(step("mounts"))?;
    let stand_ins = mounts::stand_ins(paths.iter().map(PathBuf::as_path))?;
    way.enter().map_err(step("its mounts"))?;
    for (path, stand_in) in stand_ins {
        mounts::hide_again(path, &stand_in)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_under_a_hidden_name_is_news() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("deep")).expect("made");
        for name in [".env", "deep/key.pem", "plain"] {
            std::fs::write(at(name), "one").expect("written");
        }
        let hidden = [at(".env"), at("deep/key.pem"), at("gone/away")];
        let mut watch = Watch::of(&hidden).expect("it watches");
        let mut news = || watch.read().expect("it reads");
        std::fs::write(at("plain"), "two").expect("written");
        std::fs::write(at(".env"), "in place: what hides it stays").expect("written");
        std::fs::rename(at("plain"), at("other")).expect("renamed");
        assert_eq!(news(), Vec::<PathBuf>::new());
        std::fs::rename(at("other"), at(".env")).expect("renamed");
        std::fs::remove_file(at("deep/key.pem")).expect("removed");
        std::fs::write(at("deep/key.pem"), "two").expect("written");
        assert_eq!(news(), [at(".env"), at("deep/key.pem")]);
        assert_eq!(news(), Vec::<PathBuf>::new());
    }

    #[test]
    fn nothing_hidden_is_nothing_to_watch() {
        let me = rustix::process::getpid();
        let way = || Way::to(me).expect("our own world");
        assert!(Covers::new(way(), &[Step::Writable("/w".into())]).is_none());
        assert!(Covers::new(way(), &[Step::Hide("/w/.env".into())]).is_some());
    }
}
