//! The seccomp layer: calls that no command of ours needs, and that have no place or name that a mount could guard.
//!
//! One table says what is refused and how. Refused with "not permitted" where the caller should notice, with "no such
//! call" where it then does the same another way. Calls of another architecture's table end the process.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::Refusal;
use super::init::Kind;

/// How a refusal looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    NotPermitted,
    NoSuchCall,
    NoSuchFamily,
}

/// When a call is refused.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Always,
    /// Argument (by number) has any of these bits.
    Bits(u8, u64),
    /// The second argument has any of the third's bits while the first has the flag: a mode counts only then.
    BitsWith {
        flags: u8,
        flag: u64,
        mode: u8,
        bits: u64,
    },
    /// Argument is this.
    Is(u8, u64),
    /// Argument, under this mask, is this.
    Masked(u8, u64, u64),
    /// Argument is none of these.
    NoneOf(u8, &'static [u64]),
}

use As::{NoSuchCall, NoSuchFamily, NotPermitted};
use When::{Always, Bits, BitsWith, Is, Masked, NoneOf};

const SET_ID: u64 = 0o6000;
const KIND_OF_SOCKET: u64 = 0xf;
const CREATE: u64 = libc::O_CREAT as u64;
const NAMELESS: u64 = 0o20_000_000;
const NEW_NAMESPACE: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u64;
const INTERNET: &[u64] = &[libc::AF_INET as u64, libc::AF_INET6 as u64];

/// A call, when it is refused, and how.
type Row = (libc::c_long, When, As);

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
    // Sockets: the internet families, whose network is empty, and pairs without a name.
    (libc::SYS_socket, NoneOf(0, INTERNET), NoSuchFamily),
    (libc::SYS_socket, Masked(1, KIND_OF_SOCKET, libc::SOCK_RAW as u64), NotPermitted),
    (libc::SYS_socket, Masked(1, KIND_OF_SOCKET, 10), NotPermitted),
    (libc::SYS_socketpair, NoneOf(0, &[libc::AF_UNIX as u64]), NoSuchFamily),
    // One end of a datagram pair could be connected anew, to a name.
    (libc::SYS_socketpair, Masked(1, KIND_OF_SOCKET, libc::SOCK_DGRAM as u64), NotPermitted),
    // Typing into somebody's terminal, and having the kernel load another discipline for one's own.
    (libc::SYS_ioctl, Is(1, libc::TIOCSTI), NotPermitted),
    (libc::SYS_ioctl, Is(1, 0x541c), NotPermitted),
    (libc::SYS_ioctl, Is(1, libc::TIOCSETD), NotPermitted),
    // Files that would run as their owner, and devices.
    (libc::SYS_fchmod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_fchmodat, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_fchmodat2, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_openat, BitsWith { flags: 2, flag: CREATE, mode: 3, bits: SET_ID }, NotPermitted),
    (libc::SYS_openat, BitsWith { flags: 2, flag: NAMELESS, mode: 3, bits: SET_ID }, NotPermitted),
    (libc::SYS_mknodat, Bits(2, SET_ID), NotPermitted),
    (libc::SYS_mknodat, Masked(2, libc::S_IFMT as u64, libc::S_IFCHR as u64), NotPermitted),
    (libc::SYS_mknodat, Masked(2, libc::S_IFMT as u64, libc::S_IFBLK as u64), NotPermitted),
];

/// Calls that only this architecture still has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[Row] = &[
    (libc::SYS_chmod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_open, BitsWith { flags: 1, flag: CREATE, mode: 2, bits: SET_ID }, NotPermitted),
    (libc::SYS_open, BitsWith { flags: 1, flag: NAMELESS, mode: 2, bits: SET_ID }, NotPermitted),
    (libc::SYS_creat, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_mknod, Bits(1, SET_ID), NotPermitted),
    (libc::SYS_mknod, Masked(1, libc::S_IFMT as u64, libc::S_IFCHR as u64), NotPermitted),
    (libc::SYS_mknod, Masked(1, libc::S_IFMT as u64, libc::S_IFBLK as u64), NotPermitted),
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

/// Without a network of one's own there is no socket at all.
const NO_NETWORK: &[Row] = &[(libc::SYS_socket, Always, NoSuchFamily)];

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

const EXECUTE: u64 = libc::PROT_EXEC as u64;

/// What the filters are built for.
const ARCH: Option<TargetArch> = if cfg!(target_arch = "x86_64") {
    Some(TargetArch::x86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(TargetArch::aarch64)
} else if cfg!(target_arch = "riscv64") {
    Some(TargetArch::riscv64)
} else {
    None
};

const NEW_TIME: u64 = 0x80;
const OPEN_TREE_ATTR: libc::c_long = 467;
/// The bit that marks a call of the x32 table, which the filters would otherwise not know.
const X32: u32 = 0x4000_0000;

/// The table as the kernel takes it.
pub(super) struct Filter {
    always: Vec<BpfProgram>,
    /// On top of it, where something can be written that outlasts the world.
    lasting: BpfProgram,
}

fn refuse(why: String) -> Refusal {
    Refusal { guarantee: Some("seccomp".to_owned()), why, errno: None }
}

impl Filter {
    pub(super) fn new(kind: Kind) -> Result<Filter, Refusal> {
        let more = if kind == Kind::LandlockOnly { NO_NETWORK } else { &[] };
        let filters = [NoSuchCall, NoSuchFamily, NotPermitted].map(|how| program(how, &[TABLE, OLDER, more]));
        let always = filters.into_iter().collect::<Result<Vec<_>, _>>().map_err(refuse)?;
        Ok(Filter { always, lasting: program(NoSuchCall, &[LASTING]).map_err(refuse)? })
    }

    /// Puts this process and all that it starts under the table, for good; under less of it, when nothing that can be
    /// written `outlasts` the world.
    pub(super) fn confine(self, outlasts: bool) -> Result<(), Refusal> {
        let Filter { always: mut filters, lasting } = self;
        filters.extend(outlasts.then_some(lasting));
        apply_filter(&joined(filters)).map_err(|error| refuse(error.to_string()))
    }
}

/// Leaves the process the calls of [`LEFT`], and to end itself by a signal; whatever else it tries is not permitted, for
/// good.
pub(super) fn leave_little() -> Result<(), Box<dyn std::error::Error>> {
    let own = u64::from(std::process::id());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, when) in LEFT.iter().copied().chain([(libc::SYS_tgkill, Is(0, own))]) {
        rules.insert(call, conditions(when)?);
    }
    let arch = ARCH.ok_or("no filter can be built for this processor")?;
    // The x32 table needs no check in front, as in the others: its numbers are none of these.
    let filter = SeccompFilter::new(rules, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow, arch)?;
    let filter: BpfProgram = filter.try_into()?;
    Ok(apply_filter(&filter)?)
}

/// One filter out of several, for installing one costs more than running it: where one would allow, the next is asked.
fn joined(filters: Vec<BpfProgram>) -> BpfProgram {
    let mut all = BpfProgram::new();
    let last = filters.len().saturating_sub(1);
    for (at, mut filter) in filters.into_iter().enumerate() {
        let length = filter.len();
        for (from, op) in filter.iter_mut().enumerate().filter(|_| at < last) {
            if u32::from(op.code) == libc::BPF_RET | libc::BPF_K && op.k == libc::SECCOMP_RET_ALLOW {
                op.code = (libc::BPF_JMP | libc::BPF_JA) as u16;
                op.k = (length - from - 1) as u32;
            }
        }
        all.extend(filter);
    }
    all
}

/// A filter that lets through all but what the rules name.
pub(super) fn compiled(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, String> {
    let arch = ARCH.ok_or("no filter can be built for this processor")?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch);
    filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())
}

/// The filter of all rows that are refused in one way.
fn program(how: As, tables: &[&[Row]]) -> Result<BpfProgram, String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let rows = || tables.iter().copied().flatten().filter(|(_, _, as_what)| *as_what == how);
    for (call, when, _) in rows() {
        let entry = rules.entry(*call).or_default();
        entry.extend(conditions(*when).map_err(|error| error.to_string())?);
    }
    // A call that is always refused has no conditions, and one with a row like that needs no other.
    for (call, _, _) in rows().filter(|(_, when, _)| matches!(when, Always)) {
        rules.insert(*call, Vec::new());
    }
    let errno = match how {
        NotPermitted => libc::EPERM,
        NoSuchCall => libc::ENOSYS,
        NoSuchFamily => libc::EAFNOSUPPORT,
    };
    let filter = compiled(rules, SeccompAction::Errno(errno as u32))?;
    Ok(if cfg!(target_arch = "x86_64") { without_x32(filter) } else { filter })
}

/// Every way in which `when` can be met; the conditions of one way hold together.
pub(super) fn conditions(when: When) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    // Modes, flags and families are 32-bit numbers: the kernel ignores the upper half, and so must the filter.
    let on = |argument, op, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value);
    let bits = |mask: u64| (0..32).map(|bit| 1u64 << bit).filter(move |bit| mask & bit != 0);
    match when {
        Always => Ok(Vec::new()),
        Bits(argument, mask) => {
            bits(mask).map(|bit| SeccompRule::new(vec![on(argument, MaskedEq(bit), bit)?])).collect()
        }
        BitsWith { flags, flag, mode, bits: mask } => bits(mask)
            .map(|bit| SeccompRule::new(vec![on(flags, MaskedEq(flag), flag)?, on(mode, MaskedEq(bit), bit)?]))
            .collect(),
        Is(argument, value) => Ok(vec![SeccompRule::new(vec![on(argument, Eq, value)?])?]),
        Masked(argument, mask, value) => Ok(vec![SeccompRule::new(vec![on(argument, MaskedEq(mask), value)?])?]),
        NoneOf(argument, values) => {
            let all = values.iter().map(|value| on(argument, Ne, *value)).collect::<Result<Vec<_>, _>>()?;
            Ok(vec![SeccompRule::new(all)?])
        }
    }
}

/// Puts a check in front that refuses every call of the x32 table, after the architecture's own.
fn without_x32(filter: BpfProgram) -> BpfProgram {
    let op = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let mut out = vec![
        // The call's number, at the start of what a filter sees.
        op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        op(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        op(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
    ];
    out.extend(filter);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_compiles_within_the_kernels_bound() {
        let Filter { always: mut all, lasting } =
            Filter::new(Kind::LandlockOnly).unwrap_or_else(|_| panic!("it can be"));
        all.push(lasting);
        for program in &all {
            assert!(program.len() > 5 && program.len() < 4096, "{}", program.len());
        }
        let length: usize = all.iter().map(Vec::len).sum();
        let one = joined(all);
        assert!(one.len() == length && length < 4096, "{length}");
        // Every jump stays inside.
        for (at, op) in one.iter().enumerate() {
            let far = if u32::from(op.code) == libc::BPF_JMP | libc::BPF_JA { op.k } else { op.jt.max(op.jf).into() };
            let jumps = u32::from(op.code) & 7 == libc::BPF_JMP;
            assert!(!jumps || at + 1 + (far as usize) < one.len(), "{at}");
        }
    }
}
