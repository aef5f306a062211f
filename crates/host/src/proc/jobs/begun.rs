//! A program begins: a supervisor gets its order, and says that it runs or why it does not.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::StartError;
use crate::proc::wire::{self, Held, Lines, Report};

/// How long a supervisor may take to start its command. Sandboxes of large trees take milliseconds.
const START_WITHIN: Duration = Duration::from_secs(10);

/// A program that runs, and the way to its supervisor.
pub(super) struct Begun {
    /// Its process id, as this process sees it.
    pub(super) pid: i32,
    /// The profile that holds it.
    pub(super) held: Held,
    pub(super) link: OwnedFd,
    pub(super) supervisor: Child,
    /// What the supervisor has said beyond that.
    pub(super) lines: Lines,
}

impl Begun {
    /// Gives a supervisor that waits its order, with what the program is to hold of ours.
    pub(super) fn of(
        link: OwnedFd,
        mut supervisor: Child,
        order: &wire::Order,
        fds: &[BorrowedFd<'_>],
    ) -> Result<Begun, StartError> {
        let mut lines = Lines::default();
        let said = wire::send_order(link.as_fd(), order, fds).and_then(|()| first_report(&link, &mut lines));
        let not_begun = match said {
            Ok(Report::Started { pid, held }) => return Ok(Begun { pid, held, link, supervisor, lines }),
            Ok(Report::Refused { why, errno }) => {
                let _ = supervisor.wait();
                return Err(StartError::Refused { why, errno });
            }
            Ok(_) => io::Error::other("its supervisor spoke out of turn"),
            Err(error) => error,
        };
        end(supervisor);
        Err(not_begun.into())
    }

    /// Ends it with all that it started.
    pub(super) fn give_up(self) {
        end(self.supervisor);
    }
}

fn end(mut supervisor: Child) {
    let _ = supervisor.kill();
    let _ = supervisor.wait();
}

/// What the supervisor says first.
fn first_report(link: &OwnedFd, lines: &mut Lines) -> io::Result<Report> {
    let until = Instant::now() + START_WITHIN;
    loop {
        // The proxy tells of a host as soon as the program reaches for it, which may be before its start is told.
        if let Some(report) = lines.first(|report| !matches!(report, Report::Reached(_))) {
            return Ok(report);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "its supervisor says nothing"));
        }
        let mut fds = [PollFd::from_borrowed_fd(link.as_fd(), PollFlags::IN)];
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) if !lines.fill(link.as_fd())? => {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "its supervisor ended before it began"));
            }
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
