//! Starting: the clone, and what happens on its far side until the command runs.
//!
//! The child is process 1 of its world and stays it: it makes the world, locks itself in, forks the command, and then
//! only waits for what ends. It is no part of the command's Landlock domain and cannot be traced, so what memory it
//! holds from before stays its own.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Held, Profile, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, Signal, WaitOptions, chdir, getegid, geteuid, getpid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, setsid, wait, waitpid,
};

use super::base::{self, Side};
use super::covers::{Covers, Way};
use super::outside::Outside;
use super::proxy::{self, Proxy};
use super::syscalls::Filter;
use super::{Entered, Prepared, Refusal, handle, land, lock, mounts, placeholders::Placeholders, standard, stops};
use crate::proc::tree;

/// How often what outlived its command is looked at: whether it has ended.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// The same while all is being ended, and how long that may take.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
const END_WITHIN: Duration = Duration::from_secs(5);

/// How much of a world the command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// All of it.
    Contained,
    /// Landlock and seccomp in the world of everybody.
    LandlockOnly,
    /// Nothing; a person wanted that.
    Unconfined,
}

/// What a fallback does not give, said in every result that it made.
const WITHOUT_NAMESPACES: &[&str] = &[
    "guarded files inside the roots can be written",
    "secrets that the user may read can be read",
    "Nika's own state can be read",
    "what services keep below /run can be read",
    "other processes of the user can be seen",
    "other terminals of the user can be read",
    "the temporary directory is not private: it cannot be written",
    "no socket can be opened, not even to itself",
    "the number of processes is not bounded",
    "processes that the command leaves behind are ended one by one, by a process beside them, and not by the system",
];

/// The child's ends.
pub(super) struct Wires {
    pub(super) go: OwnedFd,
    pub(super) report: OwnedFd,
    pub(super) status: OwnedFd,
    pub(super) listener: Option<OwnedFd>,
}

/// Starts `target`; the result's placeholders are empty and its proxy does not serve yet.
pub(super) fn start(profile: &Profile, target: &Prepared, steps: &[Step], kind: Kind) -> Result<Entered, Refusal> {
    let plain = |error: rustix::io::Errno| Refusal::of("descriptors for the launch", "pipe", error);
    let (go, go_in) = pipe_with(PipeFlags::CLOEXEC).map_err(plain)?;
    let (report_out, report) = pipe_with(PipeFlags::CLOEXEC).map_err(plain)?;
    let (status_out, status) = pipe_with(PipeFlags::CLOEXEC).map_err(plain)?;
    let (proxy, listener) = proxy(profile, kind)?;
    let wires = Wires { go, report, status, listener };
    let namespaces = if kind == Kind::Contained { base::NAMESPACES } else { 0 };
    let cloned = match target.network.as_ref().filter(|_| kind == Kind::Contained) {
        Some(network) => network.clone_into(namespaces),
        None => base::clone(namespaces),
    };
    let pid = match cloned {
        Ok(Side::Child) => child(profile, target, steps, kind, wires),
        Ok(Side::Parent(pid)) => Pid::from_raw(pid),
        Err(error) => return Err(Refusal::of("a world of its own (user namespaces)", "clone", error)),
    };
    drop(wires);
    let Some(init) = pid else {
        return Err(Refusal::of("a world of its own (user namespaces)", "clone", io::Error::other("no process")));
    };
    match begin(init, kind, target.network.is_some(), &go_in, report_out) {
        Ok((pidfd, way)) => {
            let covers = way.and_then(|way| Covers::new(way, steps));
            let mut entered = entered(init, pidfd, status_out, profile, kind, proxy, covers);
            entered.lifeline = (kind == Kind::LandlockOnly).then_some(go_in);
            Ok(entered)
        }
        Err(refusal) => {
            let _ = rustix::process::kill_process(init, Signal::KILL);
            let _ = waitpid(Some(init), WaitOptions::empty());
            Err(refusal)
        }
    }
}

/// A proxy and the way to it, when the profile names hosts.
pub(super) fn proxy(profile: &Profile, kind: Kind) -> Result<(Option<Proxy>, Option<OwnedFd>), Refusal> {
    if kind != Kind::Contained || profile.hosts.is_empty() {
        return Ok((None, None));
    }
    let (proxy, listener) = Proxy::new().map_err(|error| Refusal::of("the way to allowed hosts", "socket", error))?;
    Ok((Some(proxy), Some(listener)))
}

/// A command that runs.
pub(super) fn entered(
    init: Pid,
    pidfd: OwnedFd,
    status: OwnedFd,
    profile: &Profile,
    kind: Kind,
    proxy: Option<Proxy>,
    covers: Option<Covers>,
) -> Entered {
    Entered {
        init,
        pidfd,
        status: File::from(status),
        held: held(profile, kind),
        reaped: false,
        ended: None,
        leaves: None,
        place: None,
        placeholders: Placeholders::default(),
        proxy,
        outside: Outside::of(covers),
        lifeline: None,
    }
}

/// Lets the child go and waits until it runs the command or says why not.
fn begin(
    init: Pid,
    kind: Kind,
    is_mapped: bool,
    go: &OwnedFd,
    report: OwnedFd,
) -> Result<(OwnedFd, Option<Way>), Refusal> {
    let pidfd = handle(init).map_err(|error| Refusal::of("a handle of the process", "pidfd_open", error))?;
    let mut way = None;
    if kind == Kind::Contained {
        way = Some(Way::to(init)?);
        if !is_mapped {
            map_users(init).map_err(|error| Refusal::of("a world of its own (user namespaces)", "id maps", error))?;
        }
    }
    rustix::io::write(go, b"!").map_err(|error| Refusal::of("a launched process", "pipe", error))?;
    heard(report).map(|()| (pidfd, way))
}

/// Waits until the command runs, or until it is said why it does not.
pub(super) fn heard(report: OwnedFd) -> Result<(), Refusal> {
    let failed = |error| Refusal::of("a launched process", "pipe", error);
    let mut said = String::new();
    File::from(report).take(64 << 10).read_to_string(&mut said).map_err(failed)?;
    if said.is_empty() {
        return Ok(());
    }
    let mut lines = said.splitn(3, '\n');
    let errno = lines.next().and_then(|line| line.parse().ok());
    let guarantee = lines.next().filter(|line| !line.is_empty()).map(str::to_owned);
    Err(Refusal { guarantee, why: lines.next().unwrap_or_default().to_owned(), errno })
}

/// Ids inside are the ids outside: root keeps all that it has a name for, anybody else only their own.
pub(super) fn map_users(init: Pid) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{}/{name}", init.as_raw_nonzero());
    if geteuid().is_root() {
        let same = |name: &str| -> io::Result<String> {
            let lines = std::fs::read_to_string(format!("/proc/self/{name}"))?;
            let words = lines.lines().filter_map(|line| {
                let mut words = line.split_whitespace();
                let (first, count) = (words.next()?, words.nth(1)?);
                Some(format!("{first} {first} {count}\n"))
            });
            Ok(words.collect())
        };
        let whole = same("uid_map").and_then(|map| std::fs::write(file("uid_map"), map));
        if whole.is_ok() && same("gid_map").and_then(|map| std::fs::write(file("gid_map"), map)).is_ok() {
            return Ok(());
        }
        if whole.is_ok() {
            return Err(io::Error::other("group ids cannot be mapped"));
        }
    }
    map_own(init)
}

/// The ids of this process, and no others.
pub(super) fn map_own(of: Pid) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{}/{name}", of.as_raw_nonzero());
    let own = |id: u32| format!("{id} {id} 1\n");
    std::fs::write(file("uid_map"), own(geteuid().as_raw()))?;
    std::fs::write(file("setgroups"), "deny")?;
    std::fs::write(file("gid_map"), own(getegid().as_raw()))
}

fn held(profile: &Profile, kind: Kind) -> Held {
    let mut missing = Vec::new();
    let name = match kind {
        Kind::Unconfined => {
            missing.push("nothing is confined: the command may do what the user may".to_owned());
            Access::Unconfined.name()
        }
        Kind::LandlockOnly => {
            missing.extend(WITHOUT_NAMESPACES.iter().map(|text| (*text).to_owned()));
            // Where nothing is written, the filter refuses it.
            if profile.access != Access::ReadOnly {
                missing.push("the modes, owners, times and attributes of files outside can be changed".to_owned());
            }
            match profile.access {
                Access::ReadOnly => "read-only (Landlock and seccomp alone)",
                _ => "workspace (Landlock and seccomp alone)",
            }
        }
        Kind::Contained => {
            if geteuid().is_root() && profile.limits.processes > 0 && !mounts::counts_processes() {
                missing.push("the number of processes is not bounded: root is exempt before Linux 6.14".to_owned());
            }
            profile.access.name()
        }
    };
    Held { profile: name, missing }
}

/// The far side. Never returns: no destructor of what this is a copy of may run here.
fn child(profile: &Profile, target: &Prepared, steps: &[Step], kind: Kind, mut wires: Wires) -> ! {
    let given: Vec<RawFd> = target.stdio.iter().flatten().chain(target.ear()).map(AsRawFd::as_raw_fd).collect();
    begin_world(&wires, &given);
    let made = Stock::make(kind, profile.access == Access::Workspace, target.network.is_none())
        .and_then(|stock| world(profile, target, steps, kind, stock, &mut wires));
    end(&wires, made)
}

/// What a world has whatever runs in it.
pub(super) struct Stock {
    mounts: Option<mounts::Stock>,
    filter: Option<Filter>,
}

impl Stock {
    /// Made by process 1 of the world, for a command that `writes`, which has terminals, too, or for one that only reads.
    /// A network of its own is made ready.
    pub(super) fn make(kind: Kind, writes: bool, has_network: bool) -> Result<Stock, Refusal> {
        let contained = kind == Kind::Contained;
        if contained && has_network {
            base::loopback_up().map_err(|error| Refusal::of("a network of its own", "loopback", error))?;
        }
        Ok(Stock {
            mounts: contained.then(|| mounts::Stock::make(writes)).transpose()?,
            filter: (kind != Kind::Unconfined).then(|| Filter::new(kind, writes)).transpose()?,
        })
    }
}

/// Ends process 1 before there was a command, and says why.
pub(super) fn end(wires: &Wires, made: Result<Infallible, Refusal>) -> ! {
    match made {
        Ok(never) => match never {},
        Err(refusal) => {
            say(wires.report.as_raw_fd(), &refusal);
            base::exit(125)
        }
    }
}

/// Process 1 from its clone until it may go on: tied to its parent, with nothing of it open but what is named here, and
/// with the signals as they are for a new program, which the command then has from it.
pub(super) fn begin_world(wires: &Wires, given: &[RawFd]) {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    base::default_signals();
    let mut kept = vec![wires.go.as_raw_fd(), wires.report.as_raw_fd(), wires.status.as_raw_fd()];
    kept.extend(wires.listener.iter().map(AsRawFd::as_raw_fd));
    kept.extend(given);
    base::close_all_but(kept);
    // No byte: whoever started this is gone.
    let mut byte = [0];
    if !matches!(rustix::io::read(&wires.go, &mut byte), Ok(1)) {
        base::exit(125);
    }
    let _ = setsid();
}

/// Tells the parent why there will be no command.
pub(super) fn say(report: RawFd, refusal: &Refusal) {
    let errno = refusal.errno.unwrap_or(0);
    let text = format!("{errno}\n{}\n{}", refusal.guarantee.as_deref().unwrap_or(""), refusal.why);
    let borrowed = base::borrow(report);
    let _ = rustix::io::write(borrowed, text.as_bytes());
}

/// Makes the rest of the world, and stays as its process 1.
pub(super) fn world(
    profile: &Profile,
    target: &Prepared,
    steps: &[Step],
    kind: Kind,
    stock: Stock,
    wires: &mut Wires,
) -> Result<Infallible, Refusal> {
    let step = |what: &'static str| move |error: io::Error| Refusal::of(what, what, error);
    let (mut caches, mut standard) = (Vec::new(), [None, None, None]);
    if let Some(mounts) = stock.mounts {
        standard = standard::in_place_of(&target.stdio)?;
        caches = mounts::build(profile, steps, mounts)?;
        if let Some(to) = &wires.listener {
            hand_over(to).map_err(step("the way to allowed hosts"))?;
        }
        base::prctl(libc::PR_SET_DUMPABLE, 0).map_err(step("a first process that cannot be traced"))?;
        base::drop_capabilities().map_err(step("no capabilities"))?;
    }
    if kind == Kind::LandlockOnly {
        base::drop_what_it_has();
        // It has to outlive whoever started it for as long as it takes to end all that the command started.
        let adopts = set_child_subreaper(Some(getpid())).and_then(|()| set_parent_process_death_signal(None));
        adopts.map_err(|error| Refusal::of("an end for all that it starts", "prctl", error))?;
    }
    let outlasts = outlasts(profile, steps, kind);
    if let Some(filter) = stock.filter {
        lock::no_new_privileges()?;
        filter.confine(outlasts)?;
    }
    drop(wires.listener.take());
    // One working directory for both: where the command ends, process 1 is and can say, however it ended.
    match base::clone(libc::CLONE_FS).map_err(step("a process for the command"))? {
        Side::Child => match command(profile, target, &standard, kind, outlasts, &caches) {
            Ok(never) => match never {},
            Err(refusal) => {
                say(wires.report.as_raw_fd(), &refusal);
                base::exit(126)
            }
        },
        Side::Parent(command) if kind == Kind::LandlockOnly => hold(command, wires),
        Side::Parent(command) => stay(command, kind, &wires.status),
    }
}

/// Whether anything can be written that is there when the world is gone. Asked of the mounts, which make it so, and of
/// the profile, which Landlock holds it to: one of them saying so is enough.
fn outlasts(profile: &Profile, steps: &[Step], kind: Kind) -> bool {
    let writable = steps.iter().any(|step| matches!(step, Step::Writable(_)));
    kind != Kind::Contained || profile.access != Access::ReadOnly || writable || !profile.layers.is_empty()
}

/// Process 1: holds nothing open but its status. It ends with the command where that leaves nobody, else with the last
/// of them; whoever made the world ends it sooner.
fn stay(command: i32, kind: Kind, status: &OwnedFd) -> ! {
    base::close_all_but(vec![status.as_raw_fd()]);
    base::close_standard();
    while let Some((pid, how)) = base::wait_any() {
        if pid == command {
            // Without a world of processes orphans do not fall to us.
            let alone = kind == Kind::Contained && base::is_childless();
            tell_end(status, how, alone);
            if alone {
                base::exit(0);
            }
        }
    }
    base::exit(0)
}

fn tell_end(status: &OwnedFd, how: i32, alone: bool) {
    let place = rustix::process::getcwd(Vec::new()).map(|place| place.into_bytes()).unwrap_or_default();
    let length = u32::try_from(place.len()).unwrap_or(0);
    let words = [&how.to_ne_bytes()[..], &[u8::from(!alone)], &length.to_ne_bytes(), &place];
    let _ = rustix::io::write(status, &words.concat());
}

/// Process 1 of what is no world: nothing ends with it, so it adopts what the command leaves, and ends all of that when
/// the other end of the pipe that let it go is closed, by intention or because nobody is left who could.
fn hold(command: i32, wires: &Wires) -> ! {
    base::close_all_but(vec![wires.status.as_raw_fd(), wires.go.as_raw_fd()]);
    base::close_standard();
    let mut runs = Pid::from_raw(command).and_then(|pid| handle(pid).ok());
    let mut until = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, how))) => {
                if pid.as_raw_nonzero().get() == command {
                    runs = None;
                    tell_end(&wires.status, how.as_raw(), false);
                }
                continue;
            }
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => base::exit(0),
        }
        if let Some(until) = until {
            for pid in tree::below(getpid()) {
                let _ = kill_process(pid, Signal::KILL);
            }
            // Who hangs in a device then is nobody's to end.
            if Instant::now() >= until {
                base::exit(0);
            }
        }
        let patience = if until.is_some() { LOOK_AGAIN } else { LOOK };
        let ends = PollFd::new(&wires.go, PollFlags::IN);
        let mut fds: Vec<_> = std::iter::once(ends).filter(|_| until.is_none()).collect();
        fds.extend(runs.iter().map(|runs| PollFd::new(runs, PollFlags::IN)));
        let happened = poll(&mut fds, Some(&patience)).is_ok();
        if until.is_none() && happened && !fds[0].revents().is_empty() {
            until = Some(Instant::now() + END_WITHIN);
        }
    }
}

/// The command's own process: the last steps, each of which only takes away.
fn command(
    profile: &Profile,
    target: &Prepared,
    standard: &[Option<OwnedFd>; 3],
    kind: Kind,
    outlasts: bool,
    caches: &[OwnedFd],
) -> Result<Infallible, Refusal> {
    let own = |what: &str, error: io::Error| Refusal {
        guarantee: None,
        why: format!("{what}: {error}"),
        errno: error.raw_os_error(),
    };
    for (at, (given, anew)) in target.stdio.iter().zip(standard).enumerate() {
        if let Some(fd) = anew.as_ref().or(given.as_ref()) {
            base::put_at(fd.as_fd(), at as RawFd).map_err(|error| own("standard input or output", error))?;
        }
    }
    for fd in 0..3 {
        // From a directory that was opened outside, `..` would lead to all that is covered in here.
        let stat = rustix::fs::fstat(base::borrow(fd));
        if stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory) {
            return Err(own("standard input or output", io::Error::from_raw_os_error(libc::EISDIR)));
        }
        // A socket of the machine's network could be connected anew there.
        if kind != Kind::Unconfined && base::is_free_socket(base::borrow(fd)) {
            return Err(own("standard input or output", io::Error::from_raw_os_error(libc::ESOCKTNOSUPPORT)));
        }
    }
    let _ = setsid();
    if target.terminal {
        base::take_terminal().map_err(|error| own("controlling terminal", error))?;
    }
    base::close_on_exec_from_three()
        .map_err(|error| Refusal::of("no descriptors from outside", "close_range", error))?;
    chdir(&profile.cwd).map_err(|error| own(&format!("directory {}", profile.cwd.display()), error.into()))?;
    lock::limits(&profile.limits, kind)?;
    if kind != Kind::Unconfined {
        land::confine(profile, kind, caches)?;
        // Last: from here on what it opens to write may be asked about.
        if outlasts {
            stops::begin(target.stops.as_ref(), kind)?;
        }
    }
    let proxied = if kind == Kind::Contained && !profile.hosts.is_empty() { proxy::environment() } else { Vec::new() };
    let env: Vec<_> = target.env.iter().cloned().chain(proxied).collect();
    let mut last = io::Error::from_raw_os_error(libc::ENOENT);
    for program in &target.programs {
        let error = base::exec(program, &target.argv, &env);
        // What exists and cannot be run is the better reason.
        if error.raw_os_error() != Some(libc::ENOENT) || last.raw_os_error() == Some(libc::ENOENT) {
            last = error;
        }
    }
    match target.programs.as_slice() {
        [one] => Err(own(&one.to_string_lossy(), last)),
        // Looked for in several places, no single one of them is what is missing.
        _ => {
            let name = target.argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let missing = last.raw_os_error() == Some(libc::ENOENT);
            let what = if missing { format!("{name}, on the PATH that the sandbox has") } else { name };
            Err(own(&what, last))
        }
    }
}

/// Listens in here, and gives the listener to the proxy out there: it accepts what this network alone can reach.
fn hand_over(to: &OwnedFd) -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, proxy::PORT)))?;
    base::send_fd(to, listener.as_fd())
}
