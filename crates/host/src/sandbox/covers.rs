//! What is hidden stays hidden when somebody outside saves it anew.
//!
//! A mount hides a file, and goes when another file is put in its place from outside, as every program does that saves
//! a file at once. So whoever watches over a command watches the directories of what is hidden from it, too (`watch`), and
//! has a child of its own enter the world and lay the mount again. Between the two lie some milliseconds, in which the command
//! can open the file; in its first tenth of a second nobody watches yet.
//!
//! Names that did not exist when the command began are not watched: such a file may be the command's own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use nika_guard::profile::Step;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
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
        (!hidden.is_empty()).then_some(Covers { way, hidden, failed: 0 })
    }

    /// All that is hidden.
    pub(super) fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// Makes good what was replaced before anybody watched. False where that has to begin again.
    pub(super) fn begin(&mut self) -> io::Result<bool> {
        match lay(&self.way, &self.hidden) {
            Ok(()) => self.failed = 0,
            // As a rule nothing was replaced yet: that is no reason to end a command.
            Err(_) if self.failed < BEGINNINGS => {
                self.failed += 1;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Hides again what was replaced.
    pub(super) fn hide_again(&self, replaced: &[PathBuf]) -> io::Result<()> {
        let mut laid = lay(&self.way, replaced);
        for _ in 1..TRIES {
            laid = laid.or_else(|_| lay(&self.way, replaced));
        }
        laid
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
    fn nothing_hidden_is_nothing_to_watch() {
        let me = rustix::process::getpid();
        let way = || Way::to(me).expect("our own world");
        assert!(Covers::new(way(), &[Step::Writable("/w".into())]).is_none());
        assert!(Covers::new(way(), &[Step::Hide("/w/.env".into())]).is_some());
    }
}
