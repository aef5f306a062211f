//! Attempts with single system calls: the kernel's machinery, the network, other worlds.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::OpenOptions;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use rustix::fs::{StatVfsMountFlags, fstatvfs};

use super::Must::{Fail, Work};
use super::{Row, broken};

/// Documentation's own network: nobody answers there.
const NOBODY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

pub(super) const ROWS: &[Row] = &[
    ("ptrace", Fail, "trace another process", |_| call(libc::SYS_ptrace, [libc::PTRACE_SEIZE as i64, 1, 0, 0, 0])),
    ("process-memory", Fail, "read another process's memory", |_| {
        let mut byte = [0u8];
        let local = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
        let at = &raw const local as i64;
        call(libc::SYS_process_vm_readv, [1, at, 1, at, 1])
    }),
    ("bpf", Fail, "load a BPF map", |_| call(libc::SYS_bpf, [0, 0, 0, 0, 0])),
    ("perf", Fail, "open a performance counter", |_| call(libc::SYS_perf_event_open, [0, 0, -1, -1, 0])),
    ("userfaultfd", Fail, "handle page faults", |_| call(libc::SYS_userfaultfd, [0; 5])),
    ("io-uring", Fail, "set up io_uring", |_| {
        let parameters = [0u8; 128];
        call(libc::SYS_io_uring_setup, [1, parameters.as_ptr() as i64, 0, 0, 0])
    }),
    ("keyring", Fail, "use the kernel's keys", |_| call(libc::SYS_keyctl, [0, -3, 0, 0, 0])),
    ("mount", Fail, "mount a file system", |_| {
        call(libc::SYS_mount, [c"none".as_ptr() as i64, c"/tmp".as_ptr() as i64, c"tmpfs".as_ptr() as i64, 0, 0])
    }),
    ("bind-mount", Fail, "bind a directory over another", |_| {
        call(libc::SYS_mount, [c"/etc".as_ptr() as i64, c"/tmp".as_ptr() as i64, 0, libc::MS_BIND as i64, 0])
    }),
    ("remount", Fail, "make / writable again", |_| {
        let how = (libc::MS_REMOUNT | libc::MS_BIND) as i64;
        call(libc::SYS_mount, [c"none".as_ptr() as i64, c"/".as_ptr() as i64, 0, how, 0])
    }),
    ("unmount", Fail, "uncover what is hidden", |_| {
        call(libc::SYS_umount2, [c"/tmp".as_ptr() as i64, libc::MNT_DETACH as i64, 0, 0, 0])
    }),
    ("new-mount-calls", Fail, "mount by the newer calls", |_| {
        call(libc::SYS_fsopen, [c"tmpfs".as_ptr() as i64, 0, 0, 0, 0])
            .or_else(|_| call(libc::SYS_open_tree, [libc::AT_FDCWD.into(), c"/".as_ptr() as i64, 1, 0, 0]))
            .or_else(|_| call(libc::SYS_mount_setattr, [libc::AT_FDCWD.into(), c"/".as_ptr() as i64, 0, 0, 0]))
    }),
    ("chroot", Fail, "change the root directory", |_| call(libc::SYS_chroot, [c"/tmp".as_ptr() as i64, 0, 0, 0, 0])),
    ("unshare", Fail, "make a user namespace", |_| call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0])),
    ("unshare-upper", Fail, "make one with rubbish in the upper half of the flags", |_| {
        call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER) | 1 << 40, 0, 0, 0, 0])
    }),
    ("clone", Fail, "start a process in a user namespace", |_| {
        forked(libc::SYS_clone, [(libc::CLONE_NEWUSER | libc::SIGCHLD).into(), 0, 0, 0, 0])
    }),
    ("clone3", Fail, "start one by the newer call", |_| {
        let mut arguments = [0u64; 11];
        (arguments[0], arguments[4]) = (libc::CLONE_NEWUSER as u64, libc::SIGCHLD as u64);
        forked(libc::SYS_clone3, [arguments.as_ptr() as i64, size_of_val(&arguments) as i64, 0, 0, 0])
    }),
    ("setns", Fail, "enter the first process's world", |_| call(libc::SYS_setns, [0, 0, 0, 0, 0])),
    ("handle", Fail, "open a file by its handle", |_| {
        let handle = [0u8; 144];
        call(libc::SYS_open_by_handle_at, [0, handle.as_ptr() as i64, 0, 0, 0])
    }),
    ("foreign-descriptor", Fail, "take a descriptor from another process", |_| {
        call(libc::SYS_pidfd_getfd, [0, 0, 0, 0, 0])
    }),
    ("terminal-input", Fail, "type into a terminal", |_| {
        call(libc::SYS_ioctl, [0, libc::TIOCSTI as i64, c"x".as_ptr() as i64, 0, 0])
    }),
    ("terminal-input-upper", Fail, "type into one with rubbish in the upper half of the request", |_| {
        call(libc::SYS_ioctl, [0, libc::TIOCSTI as i64 | 1 << 40, c"x".as_ptr() as i64, 0, 0])
    }),
    ("snapshot", Fail, "have the file system copy a directory with what is hidden in it", |scene| {
        const SNAPSHOT: i64 = 0x5000_9401;
        let root = std::fs::File::open(&scene.root)?;
        let asked = call(libc::SYS_ioctl, [root.as_raw_fd().into(), SNAPSHOT, [0u8; 4096].as_ptr() as i64, 0, 0]);
        // Only btrfs would do it: it is enough that the file system was asked.
        asked.or_else(|error| if error.raw_os_error() == Some(libc::EPERM) { Err(error) } else { Ok(()) })
    }),
    ("controlling-terminal", Fail, "open the terminal that it was started from", |_| {
        OpenOptions::new().read(true).write(true).open("/dev/tty").map(drop)
    }),
    ("set-user-id", Fail, "make a file that runs as its owner", |_| {
        std::fs::write("/tmp/nika-probe-suid", "x")?;
        let path = c"/tmp/nika-probe-suid".as_ptr() as i64;
        call(libc::SYS_fchmodat, [libc::AT_FDCWD.into(), path, 0o4755, 0, 0])
            .or_else(|_| call(libc::SYS_fchmodat2, [libc::AT_FDCWD.into(), path, 0o2755, 0, 0]))
    }),
    ("set-user-id-at-birth", Fail, "create a file that runs as its owner", |_| {
        let how = (libc::O_CREAT | libc::O_WRONLY) as i64;
        call(libc::SYS_openat, [libc::AT_FDCWD.into(), c"/tmp/nika-probe-born".as_ptr() as i64, how, 0o4755, 0])
    }),
    ("set-user-id-openat2", Fail, "create one by the newer call, in the root", |scene| {
        born_by_the_newer_call(&scene.root.join("nika-probe-born2")).map(drop)
    }),
    ("set-user-id-openat2-private", Fail, "create one by it in what is private, and have its owner's rights", |_| {
        // It can be made where it means nothing: there the bits are ignored, and the file goes with the world.
        for at in ["/tmp", "/var/tmp", "/dev/shm"] {
            match born_by_the_newer_call(&Path::new(at).join("nika-probe-born2")) {
                Ok(file) if !fstatvfs(&file)?.f_flag.contains(StatVfsMountFlags::NOSUID) => return Ok(()),
                _ => {}
            }
        }
        Err(io::Error::other("the bits are ignored wherever it can be made"))
    }),
    ("device", Fail, "make a device", |_| {
        let mode = i64::from(libc::S_IFBLK | 0o600);
        call(libc::SYS_mknodat, [libc::AT_FDCWD.into(), c"/tmp/nika-probe-device".as_ptr() as i64, mode, 0x801, 0])
    }),
    ("hostname", Fail, "rename the machine", |_| call(libc::SYS_sethostname, [c"x".as_ptr() as i64, 1, 0, 0, 0])),
    ("clock", Fail, "set the clock", |_| {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the time outlives the call.
        unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
        call(libc::SYS_clock_settime, [libc::CLOCK_REALTIME.into(), &raw const now as i64, 0, 0, 0])
    }),
    ("kernel-log", Fail, "read the kernel's log", |_| call(libc::SYS_syslog, [10, 0, 0, 0, 0])),
    ("x32", Fail, "call by the x32 table", |_| call(0x4000_0000 + 39, [0; 5])),
    ("i386", Fail, "call by the 32-bit table", |_| thirty_two_bit()),
    ("unix-socket", Fail, "connect to a unix socket of the machine", |s| unix(&s.socket)),
    ("unix-socket-within", Fail, "connect to one that lies in the workspace", |s| {
        rustix::process::chdir(&s.root)?;
        let from_here = unix(Path::new("socket"));
        unix(&s.root.join("socket")).or(from_here)
    }),
    ("unix-socket-linked", Fail, "connect to one by a link in a directory of its own", |s| {
        let _ = std::os::unix::fs::symlink(&s.socket, "/tmp/nika-probe-link");
        unix(Path::new("/tmp/nika-probe-link")).or_else(|_| unix(Path::new("/proc/self/cwd/../outside/socket")))
    }),
    ("unix-socket-swapped", Fail, "connect to one while a thread swaps socket and address", |s| swapped(&s.socket)),
    ("unix-datagrams", Fail, "make a unix socket of datagrams, each of which names whom it goes to", |_| {
        let make = |kind: i32| call(libc::SYS_socket, [libc::AF_UNIX.into(), kind.into(), 0, 0, 0]);
        make(libc::SOCK_DGRAM)
            .or_else(|_| make(libc::SOCK_RAW))
            .or_else(|_| make(libc::SOCK_DGRAM | libc::SOCK_NONBLOCK))
    }),
    ("abstract-socket", Fail, "connect to a unix socket that the machine's network has a name for", |s| {
        unix(Path::new(&format!("\0{}", s.socket.display())))
    }),
    ("datagram-pair", Fail, "make a datagram pair, which could be connected anew", |_| {
        let pair = [0i32; 2];
        call(libc::SYS_socketpair, [libc::AF_UNIX.into(), libc::SOCK_DGRAM.into(), 0, pair.as_ptr() as i64, 0])
    }),
    ("pair-of-another-kind", Fail, "make a pair of any other kind that could be connected anew", |_| {
        let pair = [0i32; 2];
        let make =
            |kind: i32| call(libc::SYS_socketpair, [libc::AF_UNIX.into(), kind.into(), 0, pair.as_ptr() as i64, 0]);
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let others = (0..16).filter(|kind| ![libc::SOCK_STREAM, libc::SOCK_SEQPACKET].contains(kind));
        others
            .map(|kind| make(kind).or_else(|_| make(kind | flags)))
            .find(Result::is_ok)
            .unwrap_or_else(|| Err(io::Error::other("no kind of pair can be made but streams")))
    }),
    ("stream-pair", Work, "make a pair of streams", |_| {
        let pair = [0i32; 2];
        call(libc::SYS_socketpair, [libc::AF_UNIX.into(), libc::SOCK_STREAM.into(), 0, pair.as_ptr() as i64, 0])
    }),
    ("lease", Fail, "hold a file so that others wait to write it", |_| {
        let file = OpenOptions::new().read(true).open("/tmp/nika-probe-lease").or_else(|_| {
            std::fs::write("/tmp/nika-probe-lease", "").and_then(|()| std::fs::File::open("/tmp/nika-probe-lease"))
        })?;
        call(libc::SYS_fcntl, [file.as_raw_fd().into(), libc::F_SETLEASE.into(), libc::F_RDLCK.into(), 0, 0])
    }),
    ("vsock", Fail, "reach the machine's host", |_| call(libc::SYS_socket, [40, 1, 0, 0, 0])),
    ("packet", Fail, "open a packet socket", |_| call(libc::SYS_socket, [17, 3, 0, 0, 0])),
    ("netlink", Fail, "open a netlink socket of another kind than the one that lists devices", |_| {
        let others = (1..23).map(|family| call(libc::SYS_socket, [16, 3, family, 0, 0]));
        others.reduce(|one, other| one.or(other)).unwrap_or(Ok(()))
    }),
    ("devices", Work, "list the devices of its own network, and change none", |_| {
        let socket = descriptor(libc::SYS_socket, [16, 3, 0, 0, 0])?;
        match new_device(socket) {
            Ok(()) => broken("it made a network device"),
            Err(_) => Ok(()),
        }
    }),
    ("raw", Fail, "open a raw socket", |_| call(libc::SYS_socket, [2, 3, 1, 0, 0])),
    ("family-upper", Fail, "make a unix socket of datagrams with rubbish in the upper half of the family", |_| {
        call(libc::SYS_socket, [i64::from(libc::AF_UNIX) | 1 << 40, 2, 0, 0, 0])
    }),
    ("ping", Fail, "send a ping", |_| {
        let socket = descriptor(libc::SYS_socket, [2, 2, 1, 0, 0])?;
        let to = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: 0,
            sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(NOBODY.octets()) },
            sin_zero: [0; 8],
        };
        let echo = [8u8, 0, 0, 0, 0, 0, 0, 1];
        // SAFETY: message and address outlive the call, with their sizes.
        let sent = unsafe {
            libc::sendto(socket, echo.as_ptr().cast(), 8, 0, (&raw const to).cast(), size_of_val(&to) as u32)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }),
    ("tcp-to-machine", Fail, "connect to a port of this machine", |s| {
        TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], s.port)), Duration::from_secs(2)).map(drop)
    }),
    ("tcp-out", Fail, "connect to another machine", |_| {
        TcpStream::connect_timeout(&SocketAddr::from((NOBODY, 80)), Duration::from_millis(500)).map(drop)
    }),
    ("udp-out", Fail, "send a datagram to another machine", |_| {
        UdpSocket::bind("0.0.0.0:0")?.send_to(b"x", (NOBODY, 53)).map(drop)
    }),
    ("dns", Fail, "resolve a name", |_| {
        std::net::ToSocketAddrs::to_socket_addrs(&("probe.nika.invalid", 80)).map(drop)
    }),
    ("pair", Work, "make a stream pair", |_| std::os::unix::net::UnixStream::pair().map(drop)),
    ("memory-file", Work, "run a file in memory", |_| call(libc::SYS_memfd_create, [c"x".as_ptr() as i64, 0, 0, 0, 0])),
];

/// A call that must be refused before the kernel looks at it: failing by itself, for its arguments, is no proof.
/// A descriptor that it gave stays open: the process is short.
fn call(number: i64, arguments: [i64; 5]) -> io::Result<()> {
    match descriptor(number, arguments) {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS | libc::EAFNOSUPPORT)) => Ok(()),
        other => other.map(drop),
    }
}

fn descriptor(number: i64, [a, b, c, d, e]: [i64; 5]) -> io::Result<i32> {
    // SAFETY: pointers among the arguments lead to values that outlive the call; calls that could do harm by
    // succeeding are given arguments with which they would not.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) }
}

/// A file that would run as its owner, made by the call whose mode no filter sees.
fn born_by_the_newer_call(at: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(at.as_os_str().as_bytes())?;
    let how = [(libc::O_CREAT | libc::O_WRONLY | libc::O_CLOEXEC) as u64, 0o4755, 0];
    let of_how = [libc::AT_FDCWD.into(), path.as_ptr() as i64, how.as_ptr() as i64, size_of_val(&how) as i64, 0];
    let file = descriptor(libc::SYS_openat2, of_how)?;
    // SAFETY: it was opened just now, and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// A call that may succeed in a child, which then ends at once.
fn forked(number: i64, arguments: [i64; 5]) -> io::Result<()> {
    match descriptor(number, arguments)? {
        // SAFETY: this is the child.
        0 => unsafe { libc::_exit(0) },
        child => {
            // SAFETY: a child of ours.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
            Ok(())
        }
    }
}

/// Asks for a device of the kind `dummy`.
fn new_device(socket: i32) -> io::Result<()> {
    // A header (new link, create, with an answer), a link of no kind, and the name of a kind within what says of it.
    let mut message = Vec::from([0u8; 4]);
    message.extend_from_slice(&16u16.to_ne_bytes());
    message.extend_from_slice(&0x605u16.to_ne_bytes());
    message.extend_from_slice(&[0; 8 + 16]);
    let attribute = |kind: u16, body: &[u8]| -> Vec<u8> {
        let mut all = Vec::from((4 + body.len() as u16).to_ne_bytes());
        all.extend_from_slice(&kind.to_ne_bytes());
        all.extend_from_slice(body);
        all.resize(all.len().next_multiple_of(4), 0);
        all
    };
    message.extend(attribute(18, &attribute(1, b"dummy")));
    let length = message.len() as u32;
    message[..4].copy_from_slice(&length.to_ne_bytes());
    let mut answer = [0u8; 256];
    // SAFETY: both buffers outlive the calls, with their lengths.
    let got = unsafe {
        if libc::send(socket, message.as_ptr().cast(), message.len(), 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::recv(socket, answer.as_mut_ptr().cast(), answer.len(), 0)
    };
    // An error message: its header, then the number, negative.
    match answer.get(16..20).and_then(|number| number.try_into().ok()).map(i32::from_ne_bytes) {
        _ if got < 20 => Err(io::Error::last_os_error()),
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(-number)),
        None => broken("no answer"),
    }
}

/// Connects a unix socket; a name that begins with a zero is one without a file.
fn unix(path: &Path) -> io::Result<()> {
    let socket = descriptor(libc::SYS_socket, [libc::AF_UNIX.into(), 1, 0, 0, 0])?;
    let (to, length) = named(path);
    // SAFETY: the address outlives the call, with its size.
    match unsafe { libc::connect(socket, (&raw const to).cast(), length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn named(path: &Path) -> (libc::sockaddr_un, u32) {
    // SAFETY: sockaddr_un is plain data, for which zeroes are valid.
    let mut to: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    to.sun_family = libc::AF_UNIX as u16;
    for (slot, byte) in to.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *slot = *byte as libc::c_char;
    }
    (to, 2 + path.as_os_str().len() as u32)
}

/// Connects under a number that is now an internet socket and now a unix one, to an address that is now of the one kind
/// and now of the other.
fn swapped(path: &Path) -> io::Result<()> {
    const TIMES: usize = 2_000;
    /// As long as the longer of the two.
    #[repr(C)]
    struct Room([AtomicU8; size_of::<libc::sockaddr_un>()]);
    let [unix, internet] = [libc::AF_UNIX, libc::AF_INET]
        .map(|family| descriptor(libc::SYS_socket, [family.into(), (1 | libc::SOCK_NONBLOCK).into(), 0, 0, 0]));
    let (unix, internet) = (unix?, internet?);
    let number = descriptor(libc::SYS_dup, [internet.into(), 0, 0, 0, 0])?;
    let (by_name, length) = named(path);
    // SAFETY: plain data, read as the bytes that it is.
    let by_name: [u8; size_of::<libc::sockaddr_un>()] = unsafe { std::mem::transmute(by_name) };
    let mut by_port = by_name;
    by_port[..8].copy_from_slice(&[libc::AF_INET as u8, 0, 0, 9, 127, 0, 0, 1]);
    let room = Room(by_name.map(AtomicU8::new));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (socket, address) in [(internet, &by_port), (unix, &by_name)] {
                    // SAFETY: numbers only; all three are this attempt's own.
                    unsafe { libc::dup2(socket, number) };
                    room.0.iter().zip(address).for_each(|(byte, of)| byte.store(*of, Ordering::Relaxed));
                }
            }
        });
        let reached = (0..TIMES).any(|_| {
            // SAFETY: the room outlives the calls, and is as long as the address; what is asked of the second is
            // written to a value of its own.
            unsafe {
                libc::connect(number, room.0.as_ptr().cast(), length);
                let (mut peer, mut size) = (named(Path::new("")).0, size_of::<libc::sockaddr_un>() as u32);
                libc::getpeername(unix, (&raw mut peer).cast(), &raw mut size) == 0
            }
        });
        done.store(true, Ordering::Relaxed);
        if reached { Ok(()) } else { broken("it never was") }
    })
}

/// Calls getpid by the 32-bit gate, in a child, which must not live to tell.
#[cfg(target_arch = "x86_64")]
fn thirty_two_bit() -> io::Result<()> {
    // SAFETY: one thread; the child makes one call and ends.
    match unsafe { libc::fork() } {
        0 => {
            let result: i64;
            // SAFETY: getpid touches no memory; rbx, which the compiler keeps, is left alone.
            unsafe {
                std::arch::asm!("int 0x80", inlateout("rax") 20i64 => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _)
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(if result > 0 { 0 } else { 1 }) }
        }
        -1 => Err(io::Error::last_os_error()),
        child => {
            let mut status = 0;
            // SAFETY: a child of ours, and a status that outlives the call.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
                return Ok(());
            }
            broken(&format!("it was ended by signal {}", libc::WTERMSIG(status)))
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn thirty_two_bit() -> io::Result<()> {
    broken("this processor has no such table")
}
