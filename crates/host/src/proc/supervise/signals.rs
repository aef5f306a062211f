//! The few calls of a supervisor that only the C library has: signals as a descriptor, what children used,
//! and a child that shares our working directory.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::Pid;

/// What ends a program by default, and news of children.
const TAKEN: [libc::c_int; 5] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];
/// Signals with a number up to this have a default that a program may have changed.
const LAST_CLASSIC: libc::c_int = 31;

/// Signals that come as input, not as interruptions.
#[derive(Debug)]
pub(super) struct Signals(OwnedFd);

/// What all children that were reaped so far have used.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) user_ms: u64,
    pub(super) sys_ms: u64,
    pub(super) max_rss_bytes: u64,
}

impl Signals {
    /// From now on nothing but the kill ends this process unasked.
    pub(super) fn take() -> io::Result<Signals> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initialises the set; the others read or change that set alone.
        let fd = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in TAKEN {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            if libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made and is nobody else's.
        Ok(Signals(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// To be polled.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Forgets what came: whoever polls looks at the state of things, not at the news of it.
    pub(super) fn drain(&self) {
        let mut piece = [0; 1024];
        while matches!(rustix::io::read(&self.0, &mut piece), Ok(read) if read > 0) {}
    }
}

/// Gives every signal its default back and lets all in: for a child between fork and exec.
pub(crate) fn restore_defaults() {
    // SAFETY: setting a default action and an empty mask is sound in any process that has one thread.
    unsafe {
        for signal in 1..=LAST_CLASSIC {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
    }
}

/// What our reaped children have used.
pub(super) fn usage() -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call writes a whole `rusage`, and all zeroes is one, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ms = |time: libc::timeval| time.tv_sec.unsigned_abs() * 1000 + time.tv_usec.unsigned_abs() / 1000;
    Usage {
        user_ms: ms(usage.ru_utime),
        sys_ms: ms(usage.ru_stime),
        max_rss_bytes: usage.ru_maxrss.unsigned_abs() * 1024,
    }
}

/// What [`fork`] returned in.
#[derive(Debug)]
pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks; with `shared_cwd`, the child's working directory stays ours: where it goes, we are.
pub(super) fn fork(shared_cwd: bool) -> io::Result<Forked> {
    let flags = libc::SIGCHLD | if shared_cwd { libc::CLONE_FS } else { 0 };
    // SAFETY: without a new stack and without `CLONE_VM` this is fork(2): the child has its own copy of
    // everything. The supervisor has one thread, so no lock is held by somebody whom the child lacks.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid).ok().filter(|pid| *pid >= 0) {
        None => Err(io::Error::last_os_error()),
        Some(pid) => Ok(Pid::from_raw(pid).map_or(Forked::Child, Forked::Parent)),
    }
}

/// Marks every descriptor from `first` on to be closed by exec.
pub(super) fn close_on_exec_from(first: u32) {
    // SAFETY: it changes a flag of descriptors and closes none. A kernel without the call refuses it; ours
    // are marked already, so what would stay open is what our own parent left open.
    unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Closes every descriptor from `first` on. Only for the start of a process that has opened none.
pub(crate) fn close_from(first: u32) {
    // SAFETY: called before anything here was opened, so no value of ours holds one of them.
    unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
}

/// Makes `fd` this process's descriptor `at`, which exec keeps.
pub(super) fn put(fd: BorrowedFd<'_>, at: i32) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: replacing 0, 1 and 2 in a child that is about to exec and uses none of them.
    if unsafe { libc::dup2(fd.as_raw_fd(), at) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Becomes the first of `programs` that can be run; returns why none could.
pub(super) fn exec(programs: &[std::ffi::CString], argv: &Argv, env: &Argv) -> io::Error {
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for program in programs {
        // SAFETY: both lists end with a null pointer and point into strings that live as long as they.
        unsafe { libc::execve(program.as_ptr(), argv.pointers.as_ptr(), env.pointers.as_ptr()) };
        let error = io::Error::last_os_error();
        // As shells do: one that is there and cannot be run says more than one that is not there.
        if !matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) {
            last = error;
            if last.raw_os_error() != Some(libc::EACCES) {
                break;
            }
        }
    }
    last
}

/// Ends this process at once: nothing that the parent had open or planned is touched.
pub(super) fn leave(status: i32) -> ! {
    // SAFETY: ending the process is always sound.
    unsafe { libc::_exit(status) }
}

/// Strings for exec, with the pointers to them.
#[derive(Debug)]
pub(super) struct Argv {
    _strings: Vec<std::ffi::CString>,
    pointers: Vec<*const libc::c_char>,
}

impl Argv {
    /// The list of `strings`.
    pub(super) fn new(strings: Vec<std::ffi::CString>) -> Argv {
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect();
        Argv { _strings: strings, pointers }
    }
}
