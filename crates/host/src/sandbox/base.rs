//! The calls that rustix lacks, each as small as can be.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::net::{AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, sendmsg};

/// Namespaces of a contained command.
pub(super) const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWCGROUP;

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Which side of a clone this is.
pub(super) enum Side {
    Parent(i32),
    Child,
}

/// Copies the process into new namespaces. Only for a process with one thread, or for a copy that makes system calls and
/// nothing else.
pub(super) fn clone(namespaces: libc::c_int) -> io::Result<Side> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM this is a fork: the child has its own copy of memory and stack. There is one thread, so no
    // lock is held by somebody who does not exist in the child; or it takes none.
    let pid = checked(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    Ok(if pid == 0 { Side::Child } else { Side::Parent(pid as i32) })
}

/// Gives this process mounts of its own. Only for a process with one thread.
pub(super) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: descriptors stay shared with nobody; only names lead elsewhere from here on.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into()).map(drop)
}

/// Sets and clears attributes of the mount at `path` beneath `at`; of all below it when `recursive`.
pub(super) fn mount_attributes(at: RawFd, path: &CStr, recursive: bool, set: u64, clear: u64) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 } | libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: path and attr live across the call, and the size given is attr's.
    checked(unsafe {
        libc::syscall(libc::SYS_mount_setattr, at, path.as_ptr(), flags, &raw const attr, size_of_val(&attr))
    })?;
    Ok(())
}

/// Gives another process a descriptor, beside a byte.
pub(super) fn send_fd(to: &OwnedFd, fd: BorrowedFd<'_>) -> io::Result<()> {
    let fds = [fd];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    beside.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(to, &[IoSlice::new(b"!")], &mut beside, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Puts this thread under a filter that may ask, and gives the descriptor that hears it ask. Who waits for an answer
/// is then only woken to be killed: a signal between would have the same call asked about twice.
pub(super) fn listen(filter: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let fd = install(filter, flags)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Puts this thread under a filter, for good. It has given up new privileges, or may do without.
pub(super) fn confine(filter: &[libc::sock_filter]) -> io::Result<()> {
    install(filter, 0).map(drop)
}

fn install(filter: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the instructions, which live across the call and are as many as it is told.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) })
}

/// Brings the loopback device of this network namespace up.
pub(super) fn loopback_up() -> io::Result<()> {
    // SAFETY: plain call; the descriptor is closed below.
    let socket = checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }.into())?;
    // SAFETY: ifreq is plain data, for which zeroes are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as c_char;
    request.ifr_name[1] = b'o' as c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request outlives the call and is what SIOCSIFFLAGS takes.
    let result = unsafe { libc::ioctl(socket as i32, libc::SIOCSIFFLAGS as _, &raw const request) };
    let result = checked(result.into());
    // SAFETY: ours, and used by nobody else.
    unsafe { libc::close(socket as i32) };
    result.map(drop)
}

/// A `prctl` with numbers only.
pub(super) fn prctl(what: libc::c_int, value: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take numbers and no pointers.
    checked(unsafe { libc::prctl(what, value, 0, 0, 0) }.into())?;
    Ok(())
}

/// Drops every capability from every set of this process, for good: not even root gets one back by exec.
pub(super) fn drop_capabilities() -> io::Result<()> {
    const NOROOT: libc::c_ulong = 1 << 0 | 1 << 1;
    const NO_SETUID_FIXUP: libc::c_ulong = 1 << 2 | 1 << 3;
    const NO_AMBIENT: libc::c_ulong = 1 << 6 | 1 << 7;
    prctl(libc::PR_SET_SECUREBITS, NOROOT | NO_SETUID_FIXUP | NO_AMBIENT)?;
    for capability in 0..64 {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
            other => other?,
        }
    }
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header { version: 0x2008_0522, pid: 0 };
    let none = [0u32; 6];
    // SAFETY: version 3 takes a header and two records of three words, which these are.
    checked(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) })?;
    Ok(())
}

/// Drops the capabilities of an unconfined fallback, which has no namespace to be privileged in: the bounding set
/// needs a privilege that an ordinary user lacks and does not need.
pub(super) fn drop_what_it_has() {
    for capability in 0..64 {
        let _ = prctl(libc::PR_CAPBSET_DROP, capability);
    }
}

/// Marks every descriptor from 3 on to be closed by the next exec.
pub(super) fn close_on_exec_from_three() -> io::Result<()> {
    // SAFETY: numbers only.
    checked(unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) })?;
    Ok(())
}

/// Closes every descriptor from 3 on but `kept`.
pub(super) fn close_all_but(mut kept: Vec<RawFd>) {
    kept.sort_unstable();
    let mut from: u32 = 3;
    for fd in kept.into_iter().map(|fd| fd as u32).filter(|fd| *fd >= 3) {
        if fd > from {
            // SAFETY: numbers only. Whoever owned these descriptors in this process never uses or drops them: it
            // ends by `exit` or exec.
            unsafe { libc::syscall(libc::SYS_close_range, from, fd - 1, 0) };
        }
        from = fd + 1;
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_close_range, from, u32::MAX, 0) };
}

/// Every signal as a new process expects it: not ignored, not blocked.
pub(super) fn default_signals() {
    // SAFETY: numbers, and a set that lives across the calls.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Makes descriptor `fd` the one numbered `to`, kept across exec.
pub(super) fn put_at(fd: BorrowedFd<'_>, to: RawFd) -> io::Result<()> {
    if fd.as_raw_fd() == to {
        // SAFETY: numbers only.
        checked(unsafe { libc::fcntl(to, libc::F_SETFD, 0) }.into())?;
    } else {
        // SAFETY: numbers only; what was at `to` is given up on purpose.
        checked(unsafe { libc::dup2(fd.as_raw_fd(), to) }.into())?;
    }
    Ok(())
}

/// Whether it is a socket that can reach somebody else: all but one end of a pair of streams.
pub(super) fn is_free_socket(fd: BorrowedFd<'_>) -> bool {
    let Ok(domain) = rustix::net::sockopt::socket_domain(fd) else { return false };
    let kind = rustix::net::sockopt::socket_type(fd);
    let is_stream = kind.is_ok_and(|kind| [SocketType::STREAM, SocketType::SEQPACKET].contains(&kind));
    domain != AddressFamily::UNIX || !is_stream || rustix::net::getpeername(fd).is_err()
}

/// Makes the terminal at standard input the controlling one.
pub(super) fn take_terminal() -> io::Result<()> {
    // SAFETY: numbers only.
    checked(unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) }.into())?;
    Ok(())
}

/// Sets a bound that root would be exempt from as well as one may. A tighter one that is there already stays.
pub(super) fn limit(resource: libc::c_uint, most: u64) -> io::Result<()> {
    let mut bound = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the bound lives across the call.
    checked(unsafe { libc::getrlimit(resource as _, &raw mut bound) }.into())?;
    bound = libc::rlimit { rlim_cur: bound.rlim_cur.min(most), rlim_max: bound.rlim_max.min(most) };
    // SAFETY: the same.
    checked(unsafe { libc::setrlimit(resource as _, &raw const bound) }.into())?;
    Ok(())
}

/// Becomes `program`. Returns only what went wrong.
pub(super) fn exec(program: &CStr, argv: &[CString], env: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both arrays end with a null and point to strings that outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    io::Error::last_os_error()
}

/// Ends this process at once, without running anything of what it is a copy of.
pub(super) fn exit(code: i32) -> ! {
    // SAFETY: no memory is touched.
    unsafe { libc::_exit(code) }
}

/// Waits for any child: its id and status, or `None` when there are none.
pub(super) fn wait_any() -> Option<(i32, i32)> {
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call.
        let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        if pid > 0 {
            return Some((pid, status));
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return None;
        }
    }
}

/// Whether no child lives; the dead are taken in.
pub(super) fn is_childless() -> bool {
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::WNOHANG) } {
            0 => return false,
            -1 if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) => return true,
            _ => {}
        }
    }
}

/// Closes standard input, output and error, so that whoever reads them sees their end.
pub(super) fn close_standard() {
    for fd in 0..3 {
        // SAFETY: numbers only; this process prints and reads nothing any more.
        unsafe { libc::close(fd) };
    }
}

/// A borrowed view of a descriptor that is known to be open.
pub(super) fn borrow<'fd>(fd: RawFd) -> BorrowedFd<'fd> {
    // SAFETY: callers hold the owner of the descriptor across the use.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// The Landlock version of the kernel.
pub(super) fn landlock_abi() -> io::Result<i64> {
    // SAFETY: null and zero ask for the version, as documented.
    checked(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0, 1) })
}

/// Blocks the signals that ask a process to end, and gives a descriptor that tells of them.
pub(super) fn block_and_watch_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is plain data that lives across the calls; the descriptor is new and nobody else's.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            libc::sigaddset(&raw mut set, signal);
        }
        checked(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()).into())?;
        let fd = checked(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC).into())?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// The signal that a descriptor of [`block_and_watch_signals`] tells of.
pub(super) fn signal_of(signals: &OwnedFd) -> Option<i32> {
    let mut record = [0u8; size_of::<libc::signalfd_siginfo>()];
    rustix::io::read(signals, &mut record).ok()?;
    record.first_chunk().map(|number| i32::from_ne_bytes(*number))
}
