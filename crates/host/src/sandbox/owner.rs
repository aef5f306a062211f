//! What its owner may look at and the rights of it forbid: opened by a process in a user namespace of its own, which has all
//! rights on what is this user's and group's, and on nothing else. So nobody's rights are changed, not even for a moment.

use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid};

use super::base::{self, Side};
use super::init::map_own;

/// What `open` opens there. It makes system calls and nothing else, as this process may have threads. Where no such process
/// can be had, access is denied as it is without. It takes about a millisecond.
pub(crate) fn opened(open: impl Fn() -> Result<OwnedFd>) -> Result<OwnedFd> {
    let (go, go_in) = pipe_with(PipeFlags::CLOEXEC)?;
    let (here, there) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let pid = match base::clone(libc::CLONE_NEWUSER).map_err(|_| Errno::ACCESS)? {
        Side::Child => {
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            // Its own copies would keep both open, and somebody would wait for ever.
            drop((go_in, here));
            let told = rustix::io::retry_on_intr(|| rustix::io::read(&go, &mut [0]));
            let given = told.and_then(|_| open()).and_then(|file| {
                base::send_fd(&there, file.as_fd()).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
            });
            base::exit(given.err().map_or(0, Errno::raw_os_error))
        }
        Side::Parent(pid) => Pid::from_raw(pid).ok_or(Errno::SRCH)?,
    };
    drop(there);
    let file = match map_own(pid).is_ok() && rustix::io::write(&go_in, b"!").is_ok() {
        true => received(&here),
        false => {
            // It may wait for ever: another process that was begun just then has its end of the pipe, too.
            let _ = kill_process(pid, Signal::KILL);
            None
        }
    };
    // Who ignores the ends of children has none to wait for.
    let ended = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty())).ok().flatten();
    let code = ended.and_then(|(_, status)| status.exit_status()).unwrap_or_default();
    match (file, code) {
        (Some(file), _) => Ok(file),
        (None, 0) => Err(Errno::ACCESS),
        (None, code) => Err(Errno::from_raw_os_error(code)),
    }
}

/// A descriptor that comes with a byte. `None` where the other side ends without.
pub(super) fn received(from: &OwnedFd) -> Option<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut into = [IoSliceMut::new(&mut byte)];
    rustix::io::retry_on_intr(|| recvmsg(from, &mut into, &mut beside, RecvFlags::CMSG_CLOEXEC)).ok()?;
    beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    })
}
