//! The seccomp layer: calls that no command of ours needs, and that have no place or name that a mount could guard.
//!
//! One table says what is refused and how. Refused with "not permitted" where the caller should notice, with "no such
//! call" where it then does the same another way. Calls of another architecture's table end the process.

use super::Refusal;
use super::base;
use super::filter::{Program, Rule, When, program};
use super::init::Kind;

/// How a refusal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    NotPermitted,
    NoSuchCall,
    NoSuchFamily,
}

impl As {
    /// What the kernel is told.
    const fn ends(self) -> u32 {
        let errno = match self {
            As::NotPermitted => libc::EPERM,
            As::NoSuchCall => libc::ENOSYS,
            As::NoSuchFamily => libc::EAFNOSUPPORT,
        };
        libc::SECCOMP_RET_ERRNO | errno as u32
    }
}

use As::{NoSuchCall, NoSuchFamily, NotPermitted};
use When::{All, Always, Bits, BitsWith, Is, Masked, MaskedNoneOf, NoneOf};

const SET_ID: u32 = 0o6000;
const KIND_OF_SOCKET: u32 = 0xf;
const CREATE: u32 = libc::O_CREAT as u32;
const NAMELESS: u32 = 0o20_000_000;
const NEW_NAMESPACE: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;
const UNIX: u32 = libc::AF_UNIX as u32;
const FAMILIES: &[u32] = &[libc::AF_INET as u32, libc::AF_INET6 as u32, NETLINK, UNIX];
const NETLINK: u32 = libc::AF_NETLINK as u32;
const OTHER_THAN_NETLINK: When = NoneOf(0, &[NETLINK]);
/// What of netlink is there: the devices and addresses of the network that one is in.
const ROUTES: &[u32] = &[libc::NETLINK_ROUTE as u32];
/// Kinds of unix sockets that reach nobody without a call that connects them, and then for good: ends of such a pair stay
/// with each other. A datagram names whom it goes to, and a raw socket is made one of datagrams.
const CONNECTED: &[u32] = &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32];

/// A call, when it is refused, and how.
pub(super) type Row = (libc::c_long, When, As);

const TABLE: &[Row] = &[
    // Other processes.
    (libc::SYS_ptrace, Always, NotPermitted),
    (libc::SYS_process_vm_readv, Always, NotPermitted),
    (libc::SYS_process_vm_writev, Always, NotPermitted),
    (libc::SYS_process_madvise, Always, NotPermitted),
    (libc::SYS_kcmp, Always, NotPermitted),
    (libc::SYS_pidfd_getfd, Always, NotPermitted),
    // Mounts and worlds.
    (libc::SYS_mount, Always, NotPermitted),
    (libc::SYS_umount2, Always, NotPermitted),
    (libc::SYS_pivot_root, Always, NotPermitted),
    (libc::SYS_chroot, Always, NotPermitted),
    (libc::SYS_move_mount, Always, NotPermitted),
    (libc::SYS_open_tree, Always, NotPermitted),
    (libc::SYS_fsopen, Always, NotPermitted),
    (libc::SYS_fsconfig, Always, NotPermitted),
    (libc::SYS_fsmount, Always, NotPermitted),
    (libc::SYS_fspick, Always, NotPermitted),
    (libc::SYS_mount_setattr, Always, NotPermitted),
    (OPEN_TREE_ATTR, Always, NotPermitted),
    (libc::SYS_unshare, Bits(0, NEW_NAMESPACE | NEW_TIME), NotPermitted),
    (libc::SYS_setns, Always, NotPermitted),
    (libc::SYS_clone, Bits(0, NEW_NAMESPACE), NotPermitted),
    // Its flags lie in memory, where they cannot be checked. The C library then uses `clone`.
    (libc::SYS_clone3, Always, NoSuchCall),
    (libc::SYS_open_by_handle_at, Always, NotPermitted),
    (libc::SYS_name_to_handle_at, Always, NotPermitted),
    // The kernel's own machinery.
    (libc::SYS_bpf, Always, NotPermitted),
    (libc::SYS_perf_event_open, Always, NotPermitted),
    (libc::SYS_userfaultfd, Always, NotPermitted),
    (libc::SYS_io_uring_setup, Always, NoSuchCall),
    (libc::SYS_io_uring_enter, Always, NoSuchCall),
    (libc::SYS_io_uring_register, Always, NoSuchCall),
    (libc::SYS_add_key, Always, NotPermitted),
    (libc::SYS_request_key, Always, NotPermitted),
    (libc::SYS_keyctl, Always, NotPermitted),
    (libc::SYS_fanotify_init, Always, NotPermitted),
    (libc::SYS_init_module, Always, NotPermitted),
    (libc::SYS_finit_module, Always, NotPermitted),
    (libc::SYS_delete_module, Always, NotPermitted),
    (libc::SYS_kexec_load, Always, NotPermitted),
    (libc::SYS_reboot, Always, NotPermitted),
    (libc::SYS_swapon, Always, NotPermitted),
    (libc::SYS_swapoff, Always, NotPermitted),
    (libc::SYS_acct, Always, NotPermitted),
    (libc::SYS_quotactl, Always, NotPermitted),
    (libc::SYS_syslog, Always, NotPermitted),
    (libc::SYS_settimeofday, Always, NotPermitted),
    (libc::SYS_clock_settime, Always, NotPermitted),
    (libc::SYS_sethostname, Always, NotPermitted),
    (libc::SYS_setdomainname, Always, NotPermitted),
    // Sockets: the internet families, whose network is empty, what lists its devices, and unix sockets that have to be
    // connected (whose names are the part of `NO_NAMES`, or of who makes the connection).
    (libc::SYS_socket, NoneOf(0, FAMILIES), NoSuchFamily),
    (libc::SYS_socket, All(&[Is(0, UNIX), MaskedNoneOf(1, KIND_OF_SOCKET, CONNECTED)]), NoSuchFamily),
    (libc::SYS_socket, All(&[Is(0, NETLINK), NoneOf(2, ROUTES)]), NoSuchFamily),
    (libc::SYS_socket, All(&[OTHER_THAN_NETLINK, Masked(1, KIND_OF_SOCKET, libc::SOCK_RAW as u32)]), NotPermitted),
    (libc::SYS_socket, All(&[OTHER_THAN_NETLINK, Masked(1, KIND_OF_SOCKET, 10)]), NotPermitted),
    (libc::SYS_socketpair, NoneOf(0, &[UNIX]), NoSuchFamily),
    (libc::SYS_socketpair, MaskedNoneOf(1, KIND_OF_SOCKET, CONNECTED), NotPermitted),
    // Whoever opens a file for writing that somebody holds a lease of waits, up to 45 seconds.
    (libc::SYS_fcntl, Is(1, libc::F_SETLEASE as u32), NotPermitted),
    // Typing into somebody's terminal, and having the kernel load another discipline for one's own.
    (libc::SYS_ioctl, Is(1, libc::TIOCSTI as u32), NotPermitted),
    (libc::SYS_ioctl, Is(1, 0x541c), NotPermitted),
    (libc::SYS_ioctl, Is(1, libc::TIOCSETD as u32), NotPermitted),
    // What btrfs and bcachefs make beside all calls that name files: a snapshot has what mounts hide. Clones of files stay.
    (libc::SYS_ioctl, All(&[Masked(1, KIND_OF_IOCTL, 0x9400), NoneOf(1, CLONES)]), NotPermitted),
    (libc::SYS_ioctl, Masked(1, KIND_OF_IOCTL, 0xbc00), NotPermitted),
    // Files that would run as their owner, and devices.
    (libc::SYS_fchmod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_fchmodat, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_fchmodat2, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_openat, BitsWith { flags: 2, flag: CREATE, mode: 3, bits: SET_ID }, NotPermitted),
    (libc::SYS_openat, BitsWith { flags: 2, flag: NAMELESS, mode: 3, bits: SET_ID }, NotPermitted),
    (libc::SYS_mknodat, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_mknodat, Masked(2, libc::S_IFMT, libc::S_IFCHR), NotPermitted),
    (libc::SYS_mknodat, Masked(2, libc::S_IFMT, libc::S_IFBLK), NotPermitted),
];

/// Calls that only this architecture still has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[Row] = &[
    (libc::SYS_chmod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_open, BitsWith { flags: 1, flag: CREATE, mode: 2, bits: SET_ID }, NotPermitted),
    (libc::SYS_open, BitsWith { flags: 1, flag: NAMELESS, mode: 2, bits: SET_ID }, NotPermitted),
    (libc::SYS_creat, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_mknod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_mknod, Masked(1, libc::S_IFMT, libc::S_IFCHR), NotPermitted),
    (libc::SYS_mknod, Masked(1, libc::S_IFMT, libc::S_IFBLK), NotPermitted),
    (libc::SYS_iopl, Always, NotPermitted),
    (libc::SYS_ioperm, Always, NotPermitted),
    (libc::SYS_kexec_file_load, Always, NotPermitted),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[Row] = &[];

/// Where something can be written that outlasts the world. The mode of `openat2` lies in memory, where it cannot be
/// checked: it could make a file that runs as its owner. Where nothing outlasts the world there is nothing to make one
/// of: what may be written lies in its own memory file system, which ignores set-id bits and goes with it. There a
/// Nika below this one needs the call, to keep its file access beneath its roots; it does nothing else that `openat`
/// would not.
const LASTING: &[Row] = &[(libc::SYS_openat2, Always, NoSuchCall)];

/// Where nobody makes connections in a command's place, sockets with names would lead to those of the machine.
pub(super) const NO_NAMES: &[Row] = &[(libc::SYS_socket, Is(0, UNIX), NoSuchFamily)];

/// Without a network of one's own there is no socket at all.
const NO_NETWORK: &[Row] = &[(libc::SYS_socket, Always, NoSuchFamily)];

/// Without mounts nothing but this holds modes, owners, times and attributes: Landlock knows of none. Where a command only
/// reads, none of them is its to change; where it writes, a filter cannot tell what lies outside, and results say so.
const ATTRIBUTES: &[Row] = &[
    (libc::SYS_fchmod, Always, NotPermitted),
    (libc::SYS_fchmodat, Always, NotPermitted),
    (libc::SYS_fchmodat2, Always, NotPermitted),
    (libc::SYS_fchown, Always, NotPermitted),
    (libc::SYS_fchownat, Always, NotPermitted),
    (libc::SYS_utimensat, Always, NotPermitted),
    (libc::SYS_setxattr, Always, NotPermitted),
    (libc::SYS_lsetxattr, Always, NotPermitted),
    (libc::SYS_fsetxattr, Always, NotPermitted),
    (libc::SYS_removexattr, Always, NotPermitted),
    (libc::SYS_lremovexattr, Always, NotPermitted),
    (libc::SYS_fremovexattr, Always, NotPermitted),
    (SETXATTRAT, Always, NotPermitted),
    (REMOVEXATTRAT, Always, NotPermitted),
    (FILE_SETATTR, Always, NotPermitted),
    (libc::SYS_ioctl, Is(1, SET_FLAGS), NotPermitted),
    (libc::SYS_ioctl, Is(1, SET_ATTRIBUTES), NotPermitted),
];

/// Those of them that only this architecture still has.
#[cfg(target_arch = "x86_64")]
const OLDER_ATTRIBUTES: &[Row] = &[
    (libc::SYS_chmod, Always, NotPermitted),
    (libc::SYS_chown, Always, NotPermitted),
    (libc::SYS_lchown, Always, NotPermitted),
    (libc::SYS_utime, Always, NotPermitted),
    (libc::SYS_utimes, Always, NotPermitted),
    (libc::SYS_futimesat, Always, NotPermitted),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_ATTRIBUTES: &[Row] = &[];

/// All that is left to a process that parses what a stranger wrote: its memory, the pipes that it has, its end. No way
/// to open, to connect, to start, to signal somebody else.
const LEFT: &[(libc::c_long, When)] = &[
    // What is open.
    (libc::SYS_read, Always),
    (libc::SYS_readv, Always),
    (libc::SYS_write, Always),
    (libc::SYS_writev, Always),
    (libc::SYS_close, Always),
    // Memory, of which none becomes code.
    (libc::SYS_brk, Always),
    (libc::SYS_mmap, Masked(2, EXECUTE, 0)),
    (libc::SYS_mprotect, Masked(2, EXECUTE, 0)),
    (libc::SYS_mremap, Always),
    (libc::SYS_munmap, Always),
    (libc::SYS_madvise, Always),
    // Itself: locks, time, chance, its signals.
    (libc::SYS_futex, Always),
    (libc::SYS_sched_yield, Always),
    (libc::SYS_sched_getaffinity, Always),
    (libc::SYS_clock_gettime, Always),
    (libc::SYS_getrandom, Always),
    (libc::SYS_getpid, Always),
    (libc::SYS_gettid, Always),
    (libc::SYS_rt_sigaction, Always),
    (libc::SYS_rt_sigprocmask, Always),
    (libc::SYS_rt_sigreturn, Always),
    (libc::SYS_sigaltstack, Always),
    (libc::SYS_restart_syscall, Always),
    (libc::SYS_exit, Always),
    (libc::SYS_exit_group, Always),
];

const EXECUTE: u32 = libc::PROT_EXEC as u32;

const NEW_TIME: u32 = 0x80;
const OPEN_TREE_ATTR: libc::c_long = 467;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;
/// The byte of a number that says whose it is.
const KIND_OF_IOCTL: u32 = 0xff00;
/// What all file systems answer of those that btrfs began: `FICLONE`, `FICLONERANGE`, `FIDEDUPERANGE`, and the label.
const CLONES: &[u32] = &[0x4004_9409, 0x4020_940d, 0xc018_9436, 0x8100_9431];
/// `chattr`, of the 64-bit architectures.
const SET_FLAGS: u32 = 0x4008_6602;
const SET_ATTRIBUTES: u32 = 0x401c_5820;

/// The table as the kernel takes it.
pub(super) struct Filter {
    usual: Program,
    /// The same, where something can be written that outlasts the world.
    lasting: Program,
}

impl Filter {
    /// For a command that `writes`, or for one that only reads.
    pub(super) fn new(kind: Kind, writes: bool) -> Result<Filter, Refusal> {
        let more: &[&[Row]] = match kind {
            Kind::LandlockOnly if writes => &[NO_NETWORK],
            Kind::LandlockOnly => &[NO_NETWORK, ATTRIBUTES, OLDER_ATTRIBUTES],
            _ => &[],
        };
        let of = |tables: &[&[Row]]| refusing(&[more, tables].concat()).map_err(refuse);
        Ok(Filter { usual: of(&[NO_NAMES, TABLE, OLDER])?, lasting: of(&[TABLE, OLDER, LASTING])? })
    }

    /// Puts this process and all that it starts under the table, for good; under less of it, when nothing that can be
    /// written `outlasts` the world.
    pub(super) fn confine(self, outlasts: bool) -> Result<(), Refusal> {
        let filter = if outlasts { self.lasting } else { self.usual };
        base::confine(&filter).map_err(|error| Refusal::of("seccomp", "seccomp", error))
    }
}

fn refuse(why: String) -> Refusal {
    Refusal { guarantee: Some("seccomp".to_owned()), why, errno: None }
}

/// The filter that lets through all but what the tables name.
pub(super) fn refusing(tables: &[&[Row]]) -> Result<Program, String> {
    program(&rules(tables), libc::SECCOMP_RET_ALLOW, As::NoSuchCall.ends())
}

fn rules(tables: &[&[Row]]) -> Vec<Rule> {
    tables.iter().copied().flatten().map(|(call, when, how)| (*call, *when, how.ends())).collect()
}

/// Leaves the process the calls of [`LEFT`], and to end itself by a signal; whatever else it tries is not permitted, for
/// good.
pub(super) fn leave_little() -> Result<(), Box<dyn std::error::Error>> {
    rustix::thread::set_no_new_privs(true)?;
    Ok(base::confine(&program(&left(), NotPermitted.ends(), NotPermitted.ends())?)?)
}

fn left() -> Vec<Rule> {
    let own = (libc::SYS_tgkill, Is(0, std::process::id()));
    LEFT.iter().copied().chain([own]).map(|(call, when)| (call, when, libc::SECCOMP_RET_ALLOW)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::filter::tests::holds;
    use super::*;

    #[test]
    fn the_filters_do_what_the_tables_say() {
        let foreign = NoSuchCall.ends();
        let alone: &[&[Row]] = &[NO_NETWORK, ATTRIBUTES, OLDER_ATTRIBUTES, TABLE, OLDER, LASTING];
        for tables in
            [&[NO_NAMES, TABLE, OLDER][..], &[TABLE, OLDER, LASTING], &[NO_NETWORK, TABLE, OLDER, LASTING], alone]
        {
            let steps = holds(&rules(tables), libc::SECCOMP_RET_ALLOW, foreign);
            assert!(steps < 45, "{steps}");
        }
        holds(&left(), NotPermitted.ends(), NotPermitted.ends());
    }
}
