//! What a supervisor and its owner say to each other, over one socket.
//!
//! The socket is the supervisor's standard input. First comes the order, with the job's descriptors beside
//! it; then lines of JSON both ways. Its end is the owner's end: nothing else has to be said for that.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use nika_guard::pathtext;
use nika_guard::profile::Profile;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::sandbox::{Stops, take_beside};

/// An order longer than this is a mistake: the longest command line that Linux takes is 2 MiB.
const MAX_ORDER_BYTES: usize = 16 << 20;
/// Standard input, output and error; for a job that is kept the other end of its output, for one that stops at calls the
/// way to who hears of them, of a network that it shares the two parts, and of what it writes caches to the lock.
const MOST_FDS: usize = 8;

/// What to run, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Paths of the program, tried in this order.
    pub programs: Vec<PathBuf>,
    /// Its arguments, its name first.
    pub argv: Vec<String>,
    /// What the system must enforce; where it begins and its whole environment stand there, too.
    pub profile: Profile,
    /// Whether its input is a terminal, which becomes its controlling one.
    pub terminal: bool,
    /// Milliseconds until it is stopped; none is never.
    pub wall_ms: Option<u64>,
    /// Milliseconds between the request to end and the kill.
    pub grace_ms: u64,
    /// Whether what it left running stays after it ended.
    pub linger: bool,
    /// Whether it outlives its owner.
    pub keep: bool,
    /// Whether to say where it ended.
    pub watch_cwd: bool,
    /// At which calls it stops: the way to who hears of them is a descriptor behind those.
    pub stops: Option<Stops>,
    /// Whether it shares a network: its parts are descriptors behind those.
    pub network: bool,
    /// Whether it writes caches: what holds their place is the last descriptor.
    pub caches: bool,
}

/// What the supervisor says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// It could not be started as ordered, and was not.
    Refused {
        /// Which step failed, and what would help.
        why: String,
        /// The system's error number, where it gave one.
        errno: Option<i32>,
    },
    /// It runs.
    Started {
        /// Its process id.
        pid: i32,
        /// The profile that holds.
        held: Held,
    },
    /// A host was asked for, through the proxy of a confined command.
    Reached(Reached),
    /// Somebody gave other files guarded names. They may be such that the command has opened before, which only its
    /// recorder knows.
    NewlyGuarded(NewlyGuarded),
    /// It ended. Unless it lingers, so did all it had started.
    Exited(Exited),
    /// The last of what lingered has ended, and guarded names that came to be meanwhile are called so now.
    SetAside(Vec<String>),
}

/// Files that others gave guarded names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewlyGuarded {
    /// Where they stand.
    #[serde(with = "pathtext::list")]
    pub files: Vec<PathBuf>,
    /// Those of them that the command could write, which has to end for that.
    #[serde(with = "pathtext::list")]
    pub writable: Vec<PathBuf>,
    /// Nobody of the command is left that could be ended for them.
    pub over: bool,
}

/// A host that a confined command asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Its name, as it was asked for.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Why it was not reached.
    pub refused: Option<String>,
}

/// What the system really enforces for a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Held {
    /// The profile's name.
    pub profile: String,
    /// Guarantees of that profile that this system cannot give.
    pub missing: Vec<String>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exited {
    /// Its status, or the signal that ended it.
    pub how: How,
    /// Who ended it, when it was not itself.
    pub killed_by: Option<KilledBy>,
    /// Milliseconds from start to end.
    pub wall_ms: u64,
    /// Processor time in its own code, everything it started included.
    pub user_ms: u64,
    /// Processor time in the kernel.
    pub sys_ms: u64,
    /// The most resident memory that one process of it had.
    pub max_rss_bytes: u64,
    /// Where it was when it ended.
    pub cwd: Option<PathBuf>,
    /// How many processes it left: running on, or not to be killed by us.
    pub left: usize,
    /// Names of programs that it left running and that were ended with it.
    pub ended_too: Vec<String>,
    /// Guarded names that it made although nothing could stand in for them, as they are called now.
    pub set_aside: Vec<String>,
    /// Files to which somebody else gave guarded names, and that it had opened before or could write.
    #[serde(with = "pathtext::list")]
    pub handled: Vec<PathBuf>,
    /// A program of it that waited to open a FIFO which nobody had open at its other end, and the FIFO, when its time was up.
    pub opens: Option<(String, String)>,
}

impl Exited {
    /// What there is to do about guarded files that it may have written.
    pub fn about_handled(&self) -> Option<String> {
        let names: Vec<_> = self.handled.iter().map(|path| path.to_string_lossy()).collect();
        let names = names.join(", ");
        (!names.is_empty()).then(|| {
            format!(
                "somebody gave a guarded name to a file that this command had opened, or could write: look at what it \
                 holds before anything uses it: {names}"
            )
        })
    }
}

/// Status or signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It exited with this status.
    Status(i32),
    /// This signal ended it.
    Signal(i32),
}

/// Which bound or whose wish ended a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KilledBy {
    /// It took too long.
    Timeout,
    /// It took too much memory.
    Memory,
    /// It wrote too much.
    Output,
    /// It started too many processes.
    Processes,
    /// Somebody asked for it, or its owner is gone.
    Stop,
    /// Something that is hidden from it was replaced, and could not be hidden again.
    Shown,
    /// Something that is guarded from it was replaced by what it had opened before, or could write.
    Handled,
    /// Somebody killed its supervisor; everything that could be found was killed with it.
    Lost,
}

/// What the owner asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// End it: first a request to all of it, then the kill.
    Stop {
        /// Why.
        why: KilledBy,
        /// Milliseconds between the two.
        grace_ms: u64,
    },
    /// Send all of it this signal.
    Signal(i32),
}

/// How it ended, in words.
pub(crate) fn how_it_ended(exited: &Exited) -> String {
    let by = match exited.killed_by {
        None => "",
        Some(KilledBy::Timeout) => " after its time was up",
        Some(KilledBy::Memory) => " because it took too much memory",
        Some(KilledBy::Output) => " because it wrote too much",
        Some(KilledBy::Processes) => " because it started too many processes",
        Some(KilledBy::Stop) => " because it was stopped",
        Some(KilledBy::Shown) => " because a secret could not be hidden from it any longer",
        Some(KilledBy::Handled) => " because of a file that became a guarded one",
        Some(KilledBy::Lost) => " because its supervisor was killed",
    };
    let about = exited.about_handled().map(|about| format!("; {about}")).unwrap_or_default();
    match exited.how {
        How::Status(status) => format!("it exited with status {status}{by}{about}"),
        How::Signal(signal) => format!("it was ended by signal {signal}{by}{about}"),
    }
}

/// Sends the order and the descriptors it speaks of.
pub(crate) fn send_order(link: BorrowedFd<'_>, order: &Order, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(order)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("more descriptors than an order has room for"));
    }
    let sent =
        rustix::net::sendmsg(link, &[IoSlice::new(&length), IoSlice::new(&body)], &mut beside, SendFlags::NOSIGNAL)?;
    let mut rest = body.get(sent.saturating_sub(length.len())..).unwrap_or_default();
    while !rest.is_empty() {
        let sent = rustix::io::retry_on_intr(|| rustix::net::send(link, rest, SendFlags::NOSIGNAL))?;
        rest = &rest[sent..];
    }
    Ok(())
}

/// Takes the order; `None` when the owner went away before it gave one.
pub(crate) fn take_order(link: BorrowedFd<'_>) -> io::Result<Option<(Order, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let Some((came, fds)) = take_beside(link, &mut length)? else { return Ok(None) };
    let mut stream = Stream(link);
    stream.read_exact(&mut length[came..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_ORDER_BYTES {
        return Err(io::Error::other("an order of this length is none"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, fds)))
}

/// Says one line.
pub(crate) fn say(link: BorrowedFd<'_>, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Stream(link).write_all(&line)
}

/// Lines as they come, from a socket that others read, too.
#[derive(Debug, Default)]
pub(crate) struct Lines(Vec<u8>);

impl Lines {
    /// Reads what is there; false at the end.
    pub(crate) fn fill(&mut self, link: BorrowedFd<'_>) -> io::Result<bool> {
        let mut piece = [0; 4096];
        match rustix::net::recv(link, &mut piece, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Ok(false),
            Ok((_, read)) => {
                self.0.extend_from_slice(piece.get(..read).unwrap_or_default());
                Ok(true)
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// The first whole line that is wanted; those before it stay, to be read after it.
    pub(crate) fn first<T: DeserializeOwned>(&mut self, wanted: impl Fn(&T) -> bool) -> Option<T> {
        let mut at = 0;
        while let Some(length) = self.0.get(at..)?.iter().position(|byte| *byte == b'\n') {
            let end = at + length;
            match serde_json::from_slice(self.0.get(at..end)?) {
                Ok(meant) if wanted(&meant) => {
                    self.0.drain(at..=end);
                    return Some(meant);
                }
                _ => at = end + 1,
            }
        }
        None
    }

    /// The next whole line that means something.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        loop {
            let end = self.0.iter().position(|byte| *byte == b'\n')?;
            let line: Vec<u8> = self.0.drain(..=end).collect();
            if let Ok(meant) = serde_json::from_slice(&line) {
                return Some(meant);
            }
        }
    }
}

struct Stream<'a>(BorrowedFd<'a>);

impl Read for Stream<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0, piece)?)
    }
}

impl Write for Stream<'_> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0.as_fd(), piece, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wanted_is_found_behind_others_and_leaves_them_to_be_read() {
        let mut lines = Lines(b"1\nnothing\n2\n3\n4".to_vec());
        assert_eq!(lines.first(|number: &u32| *number == 9), None);
        assert_eq!(lines.first(|number: &u32| *number > 1), Some(2));
        assert_eq!(lines.first(|number: &u32| *number == 4), None, "it is no whole line yet");
        assert_eq!((lines.next::<u32>(), lines.next::<u32>(), lines.next::<u32>()), (Some(1), Some(3), None));
    }
}
