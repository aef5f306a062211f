//! What its owner may look at and the rights of it forbid: opened by a process in a user namespace of its own, which has all
//! rights on what is this user's and on nothing else. So nobody's rights are changed, not even for a moment.
//!
//! It is started when it is first needed, and lives as long as somebody who has more to ask ([`Asking`]).

use std::ffi::CStr;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::base::{self, Side};
use super::init::map_users;

/// The longest path that the system takes, with its NUL.
const PATH_BYTES: usize = 4096;
/// Before the path: how it is opened, and how it is resolved.
const HEAD_BYTES: usize = 16;

/// Opens `path` from `dir`. Where no such process can be had, access is denied as it is without.
pub(crate) fn opened(dir: BorrowedFd<'_>, path: &CStr, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd> {
    let mut state = locked();
    if state.helper.is_none() {
        state.helper = Helper::start().ok();
    }
    let given = state.helper.as_ref().ok_or(Errno::ACCESS).and_then(|it| it.ask(dir, path, flags, resolve));
    if state.asking == 0 || matches!(given, Err(Errno::PIPE | Errno::CONNRESET)) {
        state.helper = None;
    }
    given
}

/// Opens anew what a handle of any kind stands for.
pub(crate) fn reopened(itself: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd> {
    opened(itself, c"", flags, ResolveFlags::empty())
}

/// Somebody who has more to ask: as long as one lives, so does the process.
#[derive(Debug)]
pub(crate) struct Asking(());

impl Asking {
    pub(crate) fn begin() -> Asking {
        locked().asking += 1;
        Asking(())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut state = locked();
        state.asking -= 1;
        if state.asking == 0 {
            state.helper = None;
        }
    }
}

struct State {
    asking: usize,
    helper: Option<Helper>,
}

static STATE: Mutex<State> = Mutex::new(State { asking: 0, helper: None });

fn locked() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Helper {
    pid: Pid,
    link: Option<OwnedFd>,
}

impl Helper {
    fn start() -> Result<Helper> {
        let (here, there) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        // The child makes system calls and nothing else, as this process may have threads.
        let pid = match base::clone(libc::CLONE_NEWUSER).map_err(|_| Errno::ACCESS)? {
            Side::Child => {
                base::close_all_but_one(there.as_raw_fd());
                serve(&there)
            }
            Side::Parent(pid) => Pid::from_raw(pid).ok_or(Errno::SRCH)?,
        };
        drop(there);
        // If anything fails from here on, it ends as its link does.
        let helper = Helper { pid, link: Some(here) };
        map_users(pid).map_err(|_| Errno::ACCESS)?;
        Ok(helper)
    }

    fn ask(&self, dir: BorrowedFd<'_>, path: &CStr, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd> {
        let link = self.link.as_ref().ok_or(Errno::PIPE)?;
        let how = u64::from(flags.bits()).to_ne_bytes();
        let resolved = resolve.bits().to_ne_bytes();
        let said = [IoSlice::new(&how), IoSlice::new(&resolved), IoSlice::new(path.to_bytes_with_nul())];
        let dirs = [dir];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        beside.push(SendAncillaryMessage::ScmRights(&dirs));
        rustix::io::retry_on_intr(|| sendmsg(link, &said, &mut beside, SendFlags::NOSIGNAL))?;
        let mut code = [0; 4];
        match received(link, &mut code)? {
            (_, Some(file)) => Ok(file),
            (4, None) => Err(Errno::from_raw_os_error(i32::from_ne_bytes(code))),
            (_, None) => Err(Errno::PIPE),
        }
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.link = None;
        let _ = rustix::io::retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

/// Opens what is asked for, until nobody asks any more.
fn serve(link: &OwnedFd) -> ! {
    let mut said = [0; HEAD_BYTES + PATH_BYTES];
    loop {
        let (length, dir) = match received(link, &mut said) {
            Ok((length, Some(dir))) => (length, dir),
            Ok(_) | Err(_) => base::exit(0),
        };
        let told = match open(&dir, &said[..length]) {
            Ok(file) => base::send_fd(link, file.as_fd()).is_ok(),
            Err(error) => rustix::io::write(link, &error.raw_os_error().to_ne_bytes()).is_ok(),
        };
        if !told {
            base::exit(0)
        }
    }
}

fn open(dir: &OwnedFd, said: &[u8]) -> Result<OwnedFd> {
    let (how, rest) = said.split_first_chunk::<8>().ok_or(Errno::INVAL)?;
    let (resolve, path) = rest.split_first_chunk::<8>().ok_or(Errno::INVAL)?;
    let path = CStr::from_bytes_with_nul(path).map_err(|_| Errno::NAMETOOLONG)?;
    let flags = OFlags::from_bits_retain(u64::from_ne_bytes(*how) as u32) | OFlags::CLOEXEC;
    let resolve = ResolveFlags::from_bits_retain(u64::from_ne_bytes(*resolve));
    match path.is_empty() {
        true => by_number(dir.as_raw_fd(), |path| openat2(CWD, path, flags, Mode::empty(), resolve)),
        false => openat2(dir, path, flags, Mode::empty(), resolve),
    }
}

/// The kernel's name of a descriptor, put together without memory of the heap.
fn by_number<T>(number: i32, act: impl FnOnce(&CStr) -> Result<T>) -> Result<T> {
    use std::io::Write;
    let mut name = [0; 32];
    write!(&mut name[..], "/proc/self/fd/{number}").map_err(|_| Errno::INVAL)?;
    act(CStr::from_bytes_until_nul(&name).map_err(|_| Errno::INVAL)?)
}

/// Bytes, how many there are, and a descriptor that comes with them, if one does. Nothing is where the other side ended.
pub(super) fn received(from: &OwnedFd, bytes: &mut [u8]) -> Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut into = [IoSliceMut::new(bytes)];
    let told = rustix::io::retry_on_intr(|| recvmsg(from, &mut into, &mut beside, RecvFlags::CMSG_CLOEXEC))?;
    let given = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok((told.bytes, given))
}
