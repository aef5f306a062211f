//! The kernel's end of a filter that stops calls (`stops`): which process was stopped at which, and what becomes of it.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::thread::JoinHandleExt;
use std::sync::Once;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

/// `SECCOMP_IOCTL_NOTIF_RECV` and its neighbours, as `_IOWR` and `_IOW` make them of `!`.
const RECEIVE: libc::c_ulong = request(3, 0, size_of::<libc::seccomp_notif>());
const SEND: libc::c_ulong = request(3, 1, size_of::<libc::seccomp_notif_resp>());
const IS_VALID: libc::c_ulong = request(1, 2, size_of::<u64>());
const SET_FLAGS: libc::c_ulong = request(1, 4, size_of::<u64>());
/// Both sides run on one processor then, one after the other. Since Linux 6.6.
const WAKE_SIDE_BY_SIDE: libc::c_ulong = 1;

/// `SIOCUNIXFILE` and `SO_NETNS_COOKIE`.
const SOCKET_FILE: libc::c_ulong = 0x89e0;
const NETWORK_COOKIE: libc::c_int = 71;
/// How often a path is looked up again that somebody renamed meanwhile.
const MAX_TRIES: usize = 8;

const fn request(direction: libc::c_ulong, number: libc::c_ulong, bytes: usize) -> libc::c_ulong {
    direction << 30 | (bytes as libc::c_ulong) << 16 | (b'!' as libc::c_ulong) << 8 | number
}

/// Told of every call that a filter stops.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

/// A stopped call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped {
    id: u64,
    /// The thread, as this process numbers it.
    pub(crate) thread: u32,
    pub(crate) number: i64,
    pub(crate) arguments: [u64; 6],
}

/// What becomes of a stopped call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The kernel makes it.
    GoOn,
    /// It fails with this error.
    Failed(Errno),
    /// It was made in its place.
    Done,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Heard {
    Stopped(Stopped),
    /// Nothing within the time.
    Nothing,
    /// Nobody is left who could make a call.
    End,
}

impl Listener {
    pub(crate) fn new(fd: OwnedFd) -> Listener {
        // SAFETY: the argument is a number. A kernel that does not know the request refuses it, and all is as before.
        unsafe { libc::ioctl(fd.as_raw_fd(), SET_FLAGS as _, WAKE_SIDE_BY_SIDE) };
        Listener(fd)
    }

    /// The next stopped call; waits for it, where `at_most` is given no longer than that.
    pub(crate) fn next(&self, at_most: Option<Duration>) -> io::Result<Heard> {
        let at_most = at_most.and_then(|time| Timespec::try_from(time).ok());
        loop {
            let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut fds, at_most.as_ref()) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(0) => return Ok(Heard::Nothing),
                other => other?,
            };
            let happened = fds[0].revents();
            if !happened.contains(PollFlags::IN) {
                return Ok(Heard::End);
            }
            // SAFETY: plain data, for which zeroes are valid, and what the kernel wants to find there.
            let mut stopped: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: the structure is the one whose size the request names, and lives across the call.
            if unsafe { libc::ioctl(self.0.as_raw_fd(), RECEIVE as _, &raw mut stopped) } == 0 {
                let (thread, number) = (stopped.pid, i64::from(stopped.data.nr));
                let arguments = stopped.data.args;
                return Ok(Heard::Stopped(Stopped { id: stopped.id, thread, number, arguments }));
            }
            match io::Error::last_os_error() {
                // It was killed meanwhile.
                error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {}
                error => return Err(error),
            }
        }
    }

    /// Whether the process still waits there: its number may have become another's.
    pub(crate) fn waits(&self, stopped: &Stopped) -> bool {
        // SAFETY: the request takes a pointer to the id, which lives across the call.
        unsafe { libc::ioctl(self.0.as_raw_fd(), IS_VALID as _, &raw const stopped.id) == 0 }
    }

    /// Ends the stop.
    pub(crate) fn answer(&self, stopped: &Stopped, answer: Answer) {
        let (error, flags) = match answer {
            Answer::GoOn => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Answer::Failed(error) => (-error.raw_os_error(), 0),
            Answer::Done => (0, 0),
        };
        let mut answer = libc::seccomp_notif_resp { id: stopped.id, val: 0, error, flags };
        // SAFETY: the structure is the one whose size the request names, and lives across the call. Who is gone by now
        // needs no answer.
        unsafe { libc::ioctl(self.0.as_raw_fd(), SEND as _, &raw mut answer) };
    }
}

/// A path as whoever has `slash` for the top of the world would open it, links of `/proc` left out.
pub(crate) fn beneath(slash: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let (flags, resolve) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS);
    let mut tries = 0;
    loop {
        match openat2(slash, OsStr::from_bytes(path), flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN) if tries < MAX_TRIES => tries += 1,
            other => return other,
        }
    }
}

/// The file that a unix socket is bound to. Who made its network may ask.
pub(crate) fn file_of_socket(socket: &OwnedFd) -> Result<OwnedFd, Errno> {
    // SAFETY: the request takes no pointer, and what it returns is a new descriptor or an error.
    let fd = unsafe { libc::ioctl(socket.as_raw_fd(), SOCKET_FILE as _, 0) };
    match fd {
        // SAFETY: it is new and nobody else's.
        0.. => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
    }
}

/// Whether a socket is of the network that this process is in; of one that cannot be asked, so that it counts as ours.
pub(crate) fn is_of_our_network(socket: &OwnedFd) -> bool {
    let cookie = |socket: &OwnedFd| {
        let (mut cookie, mut length) = (0u64, size_of::<u64>() as libc::socklen_t);
        let to = (&raw mut cookie).cast();
        // SAFETY: both places live across the call, and the length is that of the first.
        let asked =
            unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, NETWORK_COOKIE, to, &raw mut length) };
        (asked == 0).then_some(cookie)
    };
    let ours = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok();
    match (cookie(socket), ours.as_ref().and_then(cookie)) {
        (Some(theirs), Some(ours)) => theirs == ours,
        _ => true,
    }
}

/// Has a call return in which a thread of ours waits. A signal that comes before it waits is lost, so this is repeated.
pub(crate) fn interrupt(thread: &JoinHandle<()>) {
    extern "C" fn nothing(_: libc::c_int) {}
    static ONCE: Once = Once::new();
    let signal = libc::SIGRTMIN() + 9;
    ONCE.call_once(|| {
        // SAFETY: plain data, for which zeroes are valid: no flags, so that calls are not begun again. The handler does
        // nothing.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as *const () as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    });
    // SAFETY: the thread was not joined, so its handle is good.
    unsafe { libc::pthread_kill(thread.as_pthread_t(), signal) };
}

/// Fills `into` from the memory of a thread, which says how far that went: what cannot be read to its end the kernel
/// cannot read either.
pub(crate) fn memory_of(thread: u32, at: u64, into: &mut [u8]) -> usize {
    File::open(format!("/proc/{thread}/mem")).and_then(|memory| memory.read_at(into, at)).unwrap_or(0)
}
