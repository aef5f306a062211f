//! What is hidden stays hidden when somebody outside saves it anew.
//!
//! A mount hides a file, and goes when another file is put in its place from outside, as every program does that saves
//! a file at once. So whoever watches over a command watches the directories of what is hidden from it, too, and has a
//! child of its own enter the world and lay the mount again. Between the two lie some milliseconds, in which the command
//! can open the file; in its first tenth of a second nobody watches yet.
//!
//! Names that did not exist when the command began are not watched: such a file may be the command's own.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
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
const LAY_WITHIN: Duration = Duration::from_secs(2);
/// How often it is tried to lay something again. A busy machine may be short of processes for a moment.
const TRIES: usize = 3;
/// How often in a row beginning may fail, a tenth of a second apart, until the command is as good as shown what is hidden.
const BEGINNINGS: u32 = 50;
/// Bytes of news that are read at once, and how often before something else gets its turn.
const NEWS_BYTES: usize = 8 << 10;
const READS: usize = 64;

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
    /// How often in a row it could not begin.
    failed: u32,
}

impl Covers {
    /// Of all that `steps` hide; `None` where that is nothing.
    pub(super) fn new(way: Way, steps: &[Step]) -> Option<Covers> {
        let hidden = steps.iter().filter_map(|step| match step {
            Step::Hide(path) => Some(path.clone()),
            _ => None,
        });
        let hidden: Vec<PathBuf> = hidden.collect();
        (!hidden.is_empty()).then_some(Covers { way, hidden, watch: None, failed: 0 })
    }

    /// Becomes readable when [`Covers::heed`] has something to do; `None` as long as nobody watches.
    pub(super) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(|watch| watch.fd.as_fd())
    }

    /// Begins to watch, and makes good what was replaced before. Whether it watches: where the system has no room for
    /// that, it looks, and has to be asked again.
    pub(super) fn begin(&mut self) -> io::Result<bool> {
        self.watch = Watch::of(&self.hidden).ok();
        match lay(&self.way, &self.hidden) {
            Ok(()) => self.failed = 0,
            // As a rule nothing was replaced yet: that is no reason to end a command.
            Err(_) if self.failed < BEGINNINGS => (self.watch, self.failed) = (None, self.failed + 1),
            Err(error) => return Err(error),
        }
        Ok(self.watch.is_some())
    }

    /// Hides again what was replaced. False where it has to begin again.
    pub(super) fn heed(&mut self) -> io::Result<bool> {
        let replaced = match self.watch.as_mut().map(Watch::read) {
            None => return Ok(true),
            Some(Ok(News::Replaced(replaced))) if replaced.is_empty() => return Ok(true),
            Some(Ok(News::Replaced(replaced))) => replaced,
            // A directory on the way to one is another now, or news was lost: it may have been of any of them.
            Some(Ok(News::Way) | Err(_)) => {
                self.watch = None;
                self.hidden.clone()
            }
        };
        let mut laid = lay(&self.way, &replaced);
        for _ in 1..TRIES {
            laid = laid.or_else(|_| lay(&self.way, &replaced));
        }
        laid.map(|()| self.watch.is_some())
    }
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
enum News {
    /// Something was put under these hidden names.
    Replaced(Vec<PathBuf>),
    /// A directory that leads to a hidden name was made or put there: nobody watches that one yet.
    Way,
}

/// Hears of names that come to be in the directories of what is hidden, and in those that lead there.
#[derive(Debug)]
struct Watch {
    fd: OwnedFd,
    directories: HashMap<i32, Directory>,
}

#[derive(Debug)]
struct Directory {
    path: PathBuf,
    hidden: HashSet<OsString>,
    leading: HashSet<OsString>,
}

impl Watch {
    fn of(hidden: &[PathBuf]) -> io::Result<Watch> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut directories: HashMap<i32, Directory> = HashMap::new();
        let mut known: HashSet<&Path> = HashSet::new();
        for path in hidden {
            for at in path.ancestors().take_while(|at| known.insert(at)) {
                let (Some(above), Some(name)) = (at.parent(), at.file_name()) else { continue };
                let wanted = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
                let number = match inotify::add_watch(&fd, above, wanted) {
                    Ok(number) => number,
                    // Whom nothing is hidden from by us, the system lets look no more than the command.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => continue,
                    Err(error) => return Err(error.into()),
                };
                let (hidden, leading) = (HashSet::new(), HashSet::new());
                let directory =
                    directories.entry(number).or_insert_with(|| Directory { path: above.into(), hidden, leading });
                let names = if at == path { &mut directory.hidden } else { &mut directory.leading };
                names.insert(name.to_owned());
            }
        }
        Ok(Watch { fd, directories })
    }

    /// What was put under a hidden name since, or on the way to one.
    fn read(&mut self) -> io::Result<News> {
        let (mut replaced, mut reads) = (Vec::new(), 0);
        let mut space = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut news = Reader::new(&self.fd, &mut space);
        loop {
            // What is left is news at the next look.
            reads += usize::from(news.is_buffer_empty());
            if reads > READS {
                return Ok(News::Replaced(replaced));
            }
            let event = match news.next() {
                Err(Errno::AGAIN) => return Ok(News::Replaced(replaced)),
                Err(Errno::INTR) => continue,
                event => event?,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(io::Error::other("news was lost"));
            }
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let Some((directory, name)) = self.directories.get(&event.wd()).zip(name) else { continue };
            if directory.leading.contains(name) {
                return Ok(News::Way);
            }
            if directory.hidden.contains(name) {
                replaced.push(directory.path.join(name));
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
        // Not waited for: one that hangs in a file system does not die. Whoever takes in the dead takes it in.
        let _ = kill_process(pid, Signal::KILL);
        return Ok(false);
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
        let mut news = || match watch.read().expect("it reads") {
            News::Replaced(replaced) => replaced,
            News::Way => vec!["the way".into()],
        };
        std::fs::write(at("plain"), "two").expect("written");
        std::fs::write(at(".env"), "in place: what hides it stays").expect("written");
        std::fs::rename(at("plain"), at("other")).expect("renamed");
        assert_eq!(news(), Vec::<PathBuf>::new());
        std::fs::rename(at("other"), at(".env")).expect("renamed");
        std::fs::remove_file(at("deep/key.pem")).expect("removed");
        std::fs::write(at("deep/key.pem"), "two").expect("written");
        assert_eq!(news(), [at(".env"), at("deep/key.pem")]);
        assert_eq!(news(), Vec::<PathBuf>::new());
        std::fs::rename(at("deep"), at("old")).expect("renamed");
        std::fs::create_dir(at("deep")).expect("made");
        assert_eq!(news(), [PathBuf::from("the way")]);
    }

    #[test]
    fn nothing_hidden_is_nothing_to_watch() {
        let me = rustix::process::getpid();
        let way = || Way::to(me).expect("our own world");
        assert!(Covers::new(way(), &[Step::Writable("/w".into())]).is_none());
        assert!(Covers::new(way(), &[Step::Hide("/w/.env".into())]).is_some());
    }
}
