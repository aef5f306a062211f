//! One end of stdio, without threads: whatever the descriptor is, reading and writing wait in the
//! runtime's own poll.
//!
//! Tokio's stdin and stdout hand each read and write to a pool of blocking threads: two hops a
//! message, more than the rest of a call. Non-blocking mode belongs to the *open file description*,
//! which a shell or the client may share, so it is not set there: pipes and terminals are opened
//! anew through `/proc/self/fd`, sockets take it call by call. Only where that fails is the flag
//! set on the shared description, and taken back at the end.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, open};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::Interest;
use tokio::io::unix::{AsyncFd, AsyncFdRegisterError};

/// A pipe's capacity for large results: fewer turns between us and the client.
const LARGE_PIPE_BYTES: usize = 1024 * 1024;

/// One end.
#[derive(Debug)]
pub(crate) struct Pipe {
    kind: Kind,
    is_fifo: bool,
    /// What to restore: a description whose flag had to be set.
    restore: Option<(OwnedFd, OFlags)>,
}

#[derive(Debug)]
enum Kind {
    /// A non-blocking description of our own.
    Polled(AsyncFd<OwnedFd>),
    /// A socket: each call says that it must not block.
    Socket(AsyncFd<OwnedFd>),
    /// What never blocks and cannot be polled: regular files, `/dev/null`.
    Direct(OwnedFd),
}

impl Pipe {
    /// For reading from `fd`. Needs a runtime with I/O.
    pub(crate) fn reader(fd: BorrowedFd<'_>) -> io::Result<Pipe> {
        Pipe::new(fd, OFlags::RDONLY, Interest::READABLE)
    }

    /// For writing to `fd`. Needs a runtime with I/O.
    pub(crate) fn writer(fd: BorrowedFd<'_>) -> io::Result<Pipe> {
        Pipe::new(fd, OFlags::WRONLY, Interest::WRITABLE)
    }

    fn new(fd: BorrowedFd<'_>, access: OFlags, interest: Interest) -> io::Result<Pipe> {
        let own = |fd: BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        let file_type = FileType::from_raw_mode(fstat(fd)?.st_mode);
        let mut restore = None;
        let polled = match file_type {
            FileType::RegularFile => None,
            FileType::Socket => Some(own(fd)?),
            _ => {
                let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
                let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
                Some(match open(path, flags, Mode::empty()) {
                    Ok(anew) => anew,
                    Err(_) => {
                        let before = fcntl_getfl(fd)?;
                        if !before.contains(OFlags::NONBLOCK) {
                            fcntl_setfl(fd, before | OFlags::NONBLOCK)?;
                            restore = Some((own(fd)?, before));
                        }
                        own(fd)?
                    }
                })
            }
        };
        let kind = match polled.map(|polled| register(polled, interest)) {
            Some(Ok(polled)) if file_type == FileType::Socket => Kind::Socket(polled),
            Some(Ok(polled)) => Kind::Polled(polled),
            Some(Err(error)) => {
                let (polled, error) = error.into_parts();
                match Errno::from_io_error(&error) {
                    Some(Errno::PERM) => Kind::Direct(polled),
                    _ => return Err(error),
                }
            }
            None => Kind::Direct(own(fd)?),
        };
        Ok(Pipe { kind, is_fifo: file_type == FileType::Fifo, restore })
    }

    /// Whether reads and writes are done at once, without a poll.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.kind, Kind::Direct(_))
    }

    /// Reads into the room that `buffer` has. 0 is the end.
    pub(crate) async fn read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let room = buffer.capacity() - buffer.len();
        loop {
            let (result, ready) = match &self.kind {
                Kind::Direct(fd) => (rustix::io::read(fd, rustix::buffer::spare_capacity(buffer)), None),
                Kind::Polled(fd) => {
                    let ready = fd.readable().await?;
                    (rustix::io::read(fd.get_ref(), rustix::buffer::spare_capacity(buffer)), Some(ready))
                }
                Kind::Socket(fd) => {
                    let ready = fd.readable().await?;
                    let space = rustix::buffer::spare_capacity(buffer);
                    (rustix::net::recv(fd.get_ref(), space, RecvFlags::DONTWAIT).map(|(count, _)| count), Some(ready))
                }
            };
            match (result, ready) {
                (Ok(count), Some(mut ready)) => {
                    // A short read emptied it: the poll is told now, which saves the read that would
                    // say so. What comes meanwhile raises readiness anew.
                    if count > 0 && count < room {
                        ready.clear_ready();
                    }
                    return Ok(count);
                }
                (Ok(count), None) => return Ok(count),
                (Err(Errno::AGAIN), Some(mut ready)) => ready.clear_ready(),
                (Err(Errno::INTR), _) => {}
                (Err(Errno::CONNRESET), _) => return Ok(0),
                (Err(error), _) => return Err(error.into()),
            }
        }
    }

    /// Writes what goes without waiting. `None`: nothing does now.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        loop {
            let result = match &self.kind {
                Kind::Direct(fd) => rustix::io::write(fd, bytes),
                Kind::Polled(fd) => rustix::io::write(fd.get_ref(), bytes),
                Kind::Socket(fd) => rustix::net::send(fd.get_ref(), bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
            };
            match result {
                Ok(count) => return Ok(Some(count)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits until `attempt` has something to say other than "not now".
    pub(crate) async fn when_writable(
        &self,
        mut attempt: impl FnMut() -> io::Result<Option<usize>>,
    ) -> io::Result<usize> {
        loop {
            let mut ready = match &self.kind {
                Kind::Direct(_) => None,
                Kind::Polled(fd) | Kind::Socket(fd) => Some(fd.writable().await?),
            };
            if let Some(count) = attempt()? {
                return Ok(count);
            }
            match &mut ready {
                Some(ready) => ready.clear_ready(),
                None => tokio::task::yield_now().await,
            }
        }
    }

    /// Makes a pipe as large as it may be without privilege. Best effort.
    pub(crate) fn enlarge(&self) {
        if let (true, Kind::Polled(fd)) = (self.is_fifo, &self.kind) {
            let _ = rustix::pipe::fcntl_setpipe_size(fd.get_ref().as_fd(), LARGE_PIPE_BYTES);
        }
    }
}

/// Makes a descriptor known to the runtime's poll.
#[expect(
    deprecated,
    reason = "deprecated because other types may close or change their descriptor; an OwnedFd that only AsyncFd \
              holds cannot, and the replacement is an unsafe function"
)]
fn register(fd: OwnedFd, interest: Interest) -> Result<AsyncFd<OwnedFd>, AsyncFdRegisterError<OwnedFd>> {
    AsyncFd::try_with_interest(fd, interest)
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if let Some((fd, flags)) = self.restore.take() {
            let _ = fcntl_setfl(fd, flags);
        }
    }
}
