//! The supervisor of one command: our own program again, as `nika __run`.
//!
//! ```text
//! nika ──order, descriptors──▶ supervisor ──fork, exec──▶ command ──▶ its children …
//!      ◀──started, exited─────  (adopts every orphan below it; nothing below it outlives it)
//! ```
//!
//! It is a process of its own so that orphans have somebody to fall to, and so that a nika that is killed
//! leaves nothing behind: the socket between the two ends, and the supervisor ends everything and itself.
//! It has one thread, prints nothing and reads no environment.

mod launch;
pub(crate) mod signals;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nika_guard::profile::Access;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use self::launch::{Failure, launch};
use self::signals::Signals;
use super::memory::Memory;
use super::still::Still;
use super::tree;
use super::wire::{self, Exited, Held, How, KilledBy, Lines, NewlyGuarded, Order, Reached, Report, Request};
use crate::record::writable;
use crate::sandbox::{self, Ended, Entered, Network, Reach, Ready, Stops, Target, Visit};

/// How often memory and processes are counted. A fork bomb makes a few hundred processes in this time.
const COUNT_EVERY: Duration = Duration::from_millis(100);
/// How often when half of a bound is reached.
const COUNT_OFTEN: Duration = Duration::from_millis(10);
/// How long a command has to live until what is hidden and guarded from it is watched: beginning to takes time, and most
/// have ended by then.
const WATCH_AFTER: Duration = Duration::from_millis(100);
/// How often it is looked at where it cannot be watched.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long all goes on between two stops for what others put under guarded names: so many times as long as the last one
/// took, and this long at most. What comes meanwhile is looked at together: somebody who copies thousands of files there would
/// have the command stand still most of the time.
const GOES_ON_TIMES: u32 = 10;
const GOES_ON_AT_MOST: Duration = Duration::from_millis(250);
/// How long killed processes may take to be gone. One that hangs in a device, or belongs to somebody else,
/// is counted as left.
const REAP_WITHIN: Duration = Duration::from_secs(5);
/// How long what a command left running has to come to its end, as the last program of `> >(tee log)` does.
const FINISH_WITHIN: Duration = Duration::from_millis(200);
/// Names of those that had not.
const MOST_NAMES: usize = 5;
/// How long to wait for news of a death before looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Runs the command that the socket on standard input orders, and returns when it and all it started are
/// gone. Call it before anything else: it must be the only thread.
pub fn supervise() -> ExitCode {
    let link = rustix::stdio::stdin();
    // What our owner's owner left open would stay open for as long as we live.
    signals::close_from(3);
    match begin(link) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(mut supervisor)) => {
            supervisor.run();
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = wire::say(link, &Report::Refused { why: failure.why, errno: failure.errno });
            ExitCode::FAILURE
        }
    }
}

/// A bound; 0 is none.
pub(super) fn bound(most: u64) -> Option<u64> {
    (most > 0).then_some(most)
}

/// The command, by what holds it.
enum Running {
    /// Nothing: it is our own child.
    Free(Pid),
    /// A world of its own, which can say how the command ended. Its first process is our child.
    Held(Box<Entered>),
}

/// What a wait was for.
#[derive(Default)]
struct Happened {
    /// Somebody died, or we are asked to end.
    signal: bool,
    /// The owner said something, or is gone.
    words: bool,
    /// There is output that nobody takes.
    output: bool,
    /// Something that is hidden from the command, or guarded from it, may have been replaced.
    replaced: bool,
}

struct Supervisor {
    link: BorrowedFd<'static>,
    lines: Lines,
    signals: Signals,
    owner: Option<Pid>,
    order: Order,
    /// The other end of a kept job's output.
    drain: Option<OwnedFd>,
    command: Running,
    began: Instant,
    ended: Option<How>,
    /// Until when what it left may go on.
    finish_at: Option<Instant>,
    ended_too: Vec<String>,
    /// What it waited to open when its time was up.
    opens: Option<(String, String)>,
    killed_by: Option<KilledBy>,
    /// When those who were asked to end are killed.
    kill_at: Option<Instant>,
    count_at: Option<Instant>,
    memory: Memory,
    /// When to begin, or to look again, whether what is hidden still is, and what is guarded still the same.
    look_at: Option<Instant>,
    /// Files that others gave guarded names, and that nobody has looked at yet.
    newly_guarded: Vec<PathBuf>,
    /// When all may stand still for such again.
    stands_at: Instant,
    orphaned: bool,
    reported: bool,
    /// The place of its caches is held until nothing of it is left, whatever becomes of its owner.
    _caches: Option<OwnedFd>,
}

fn begin(link: BorrowedFd<'static>) -> Result<Option<Supervisor>, Failure> {
    let owner = rustix::process::getppid();
    let signals = Signals::take().map_err(|error| Failure::new("signals cannot be taken", &error))?;
    let setup = |error: rustix::io::Errno| Failure::new("orphans could not be adopted", &error.into());
    // Our own end must come as a signal that we survive for as long as it takes to end the others.
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).map_err(setup)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(setup)?;
    let ready = expect(link);
    let order = wire::take_order(link).map_err(|error| Failure::new("the order cannot be read", &error))?;
    let Some((order, mut fds)) = order else { return Ok(None) };
    if fds.len() < 3 {
        return Err(Failure { why: "the order came without input and output".to_owned(), errno: None });
    }
    let mut more = fds.split_off(3).into_iter();
    let drain = if order.keep { more.next() } else { None };
    let stops = order.stops.and_then(|stops| Some((stops, more.next()?)));
    let network = if order.network { more.next().zip(more.next()) } else { None };
    if order.network && network.is_none() {
        return Err(Failure { why: "the order came without its network".to_owned(), errno: None });
    }
    let network = network.map(|(users, net)| Network::of(users, net));
    let caches = if order.caches { more.next() } else { None };
    let began = Instant::now();
    let (command, held) = start(&order, fds, (stops, network), link, ready)?;
    let _ = wire::say(link, &Report::Started { pid: command.pid().as_raw_nonzero().get(), held });
    let limits = &order.profile.limits;
    let is_held = matches!(command, Running::Held(_));
    let counts = bound(limits.memory_bytes).is_some() || bound(limits.processes).is_some();
    Ok(Some(Supervisor {
        link,
        lines: Lines::default(),
        signals,
        owner,
        drain,
        command,
        began,
        ended: None,
        finish_at: None,
        ended_too: Vec::new(),
        opens: None,
        killed_by: None,
        kill_at: None,
        memory: Memory::begin(),
        count_at: counts.then(|| began + COUNT_EVERY),
        look_at: is_held.then(|| began + WATCH_AFTER),
        newly_guarded: Vec::new(),
        stands_at: began,
        orphaned: false,
        reported: false,
        order,
        _caches: caches,
    }))
}

/// Waits until there is an order. One that is not there yet leaves time to make its world.
fn expect(link: BorrowedFd<'_>) -> Option<Ready> {
    let begun = |wait: Option<&Timespec>, aging: Option<PollFd<'_>>| {
        let mut fds = vec![PollFd::from_borrowed_fd(link, PollFlags::IN)];
        fds.extend(aging);
        let happened = poll(&mut fds, wait).is_ok();
        let has = |at: usize| happened && fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        (has(0), has(1))
    };
    if begun(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }), None).0 {
        return None;
    }
    let mut ready = Ready::make().ok();
    loop {
        let (ordered, aged) = begun(None, ready.as_ref().map(Ready::aging));
        if aged {
            // What is mounted there would stay in use.
            ready = None;
        }
        if ordered {
            return ready;
        }
    }
}

fn start(
    order: &Order,
    stdio: Vec<OwnedFd>,
    (stops, network): (Option<(Stops, OwnedFd)>, Option<Network>),
    link: BorrowedFd<'static>,
    ready: Option<Ready>,
) -> Result<(Running, Held), Failure> {
    if order.profile.access == Access::Unconfined {
        let pid = launch(order, &stdio)?;
        return Ok((Running::Free(pid), Held { profile: Access::Unconfined.name().to_owned(), missing: Vec::new() }));
    }
    let mut stdio = stdio.into_iter();
    let target = Target {
        programs: order.programs.clone(),
        argv: order.argv.iter().map(Into::into).collect(),
        stdio: [stdio.next(), stdio.next(), stdio.next()],
        terminal: order.terminal,
        stops,
        network,
    };
    let mut reach = Reach::new(order.profile.hosts.clone());
    reach.log = Box::new(move |visit: &Visit| {
        let refused = visit.refused.as_ref().map(ToString::to_string);
        let reached = Reached { host: visit.host.clone(), port: visit.port, refused };
        let _ = wire::say(link, &Report::Reached(reached));
    });
    match sandbox::enter_ready(ready, &order.profile, target, Some(reach)) {
        Ok(entered) => {
            let held = Held { profile: entered.held().profile.to_owned(), missing: entered.held().missing.clone() };
            Ok((Running::Held(Box::new(entered)), held))
        }
        Err(refusal) => Err(Failure { why: refusal.to_string(), errno: None }),
    }
}

impl Running {
    /// Our child that is, or holds, the command.
    fn pid(&self) -> Pid {
        match self {
            Running::Free(pid) => *pid,
            Running::Held(entered) => entered.init(),
        }
    }

    /// The first process of a world, which holds the command and is none of it.
    fn frame(&self) -> Option<Pid> {
        match self {
            Running::Free(_) => None,
            Running::Held(entered) => Some(entered.init()),
        }
    }
}

impl Supervisor {
    fn run(&mut self) {
        loop {
            let alone = self.reap();
            if self.ended.is_some() && (alone || !self.goes_on()) {
                if !alone && self.kill_at.is_none() {
                    self.ended_too = self.names_of_left();
                }
                let left = if alone { 0 } else { self.kill_all() };
                return self.end(left);
            }
            let lingers = self.ended.is_some() && self.order.linger && !self.reported && self.kill_at.is_none();
            if lingers && !self.leave() || !self.attend() {
                let left = self.kill_all();
                return self.end(left);
            }
        }
    }

    /// Says that the command ended and what lives on; false where nothing does, or nothing may.
    fn leave(&mut self) -> bool {
        let left = self.left().count();
        if left == 0 {
            return false;
        }
        // Nobody else has asked yet about the first moments of those.
        self.hear_of_replaced();
        if let Err(why) = self.keep_guarded() {
            self.killed_by.get_or_insert(why);
            return false;
        }
        self.report(left);
        true
    }

    /// Whether what the command left may live on for now.
    fn goes_on(&mut self) -> bool {
        let now = Instant::now();
        if let Some(at) = self.kill_at {
            return now < at;
        }
        if self.order.linger {
            return true;
        }
        let leaves = match &self.command {
            Running::Free(_) => true,
            Running::Held(entered) => entered.leaves(),
        };
        leaves && now < *self.finish_at.get_or_insert(now + FINISH_WITHIN)
    }

    /// Who lives below us, but for the frame.
    fn left(&self) -> impl Iterator<Item = tree::Process> {
        let frame = self.command.frame().map(|frame| frame.as_raw_nonzero().get());
        tree::look_below(rustix::process::getpid()).into_iter().filter(move |process| Some(process.pid) != frame)
    }

    /// Sends a signal to all of the command, and not to the frame, which would end by it: without a world of processes that
    /// is one as any other, and nobody else can say how the command ended.
    fn signal_all(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number) else { return };
        let frame = self.command.frame();
        for pid in tree::below(rustix::process::getpid()).into_iter().filter(|pid| Some(*pid) != frame) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }

    fn names_of_left(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for process in self.left() {
            if names.len() < MOST_NAMES && !names.contains(&process.name) {
                names.push(process.name);
            }
        }
        names
    }

    /// Takes in all that died; true when nobody is left.
    fn reap(&mut self) -> bool {
        self.hear_end();
        let ends_itself = match &self.command {
            Running::Free(_) => false,
            Running::Held(entered) => entered.leaves_nobody(),
        };
        // Then there is nobody to look for, and no more than a moment to wait.
        let options = if ends_itself { WaitOptions::empty() } else { WaitOptions::NOHANG };
        let alone = loop {
            match rustix::process::wait(options) {
                Ok(Some((pid, status))) => self.mark_end(pid, status),
                Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        self.hear_end();
        alone
    }

    /// Takes in what a world says of how its command ended.
    fn hear_end(&mut self) {
        if self.ended.is_none()
            && let Running::Held(entered) = &mut self.command
        {
            self.ended = entered.wait(Some(Duration::ZERO)).ok().flatten().map(|ended| match ended {
                Ended::Exited(status) => How::Status(status),
                Ended::Signalled(signal) => How::Signal(signal),
                Ended::Killed => How::Signal(libc::SIGKILL),
            });
        }
    }

    fn mark_end(&mut self, pid: Pid, status: WaitStatus) {
        match self.command {
            Running::Free(command) if command == pid => self.ended = how(status),
            // What the first process of a world returns is not what its command did.
            _ => {}
        }
    }

    /// Waits for something to happen and does what it asks for; false when all has to end now.
    fn attend(&mut self) -> bool {
        let wait = self.next_moment().map(|at| at.saturating_duration_since(Instant::now()));
        let happened = self.wait(wait);
        if happened.signal {
            self.signals.drain();
            // The thread that started us may end before its process does: only the process counts.
            if rustix::process::getppid() != self.owner && !self.lose_owner() {
                return false;
            }
        }
        if happened.words && !self.listen() && !self.lose_owner() {
            return false;
        }
        if happened.output {
            self.swallow();
        }
        let now = Instant::now();
        if let Err(why) = self.keep_watch(happened.replaced, now) {
            self.killed_by.get_or_insert(why);
            return false;
        }
        if self.kill_at.is_some_and(|at| now >= at) {
            return false;
        }
        if self.kill_at.is_none() && self.deadline().is_some_and(|at| now >= at) {
            self.opens = tree::opens(rustix::process::getpid());
            self.stop(KilledBy::Timeout, Duration::from_millis(self.order.grace_ms));
        }
        if self.count_at.is_some_and(|at| now >= at)
            && let Some(why) = self.count()
        {
            self.killed_by.get_or_insert(why);
            return false;
        }
        true
    }

    fn deadline(&self) -> Option<Instant> {
        // What lingers has no deadline: its owner ends it.
        let wall = self.order.wall_ms.filter(|_| self.ended.is_none())?;
        self.began.checked_add(Duration::from_millis(wall))
    }

    fn next_moment(&self) -> Option<Instant> {
        let end = self.kill_at.or(self.finish_at).or_else(|| self.deadline());
        let stands_at = Some(self.stands_at).filter(|_| !self.newly_guarded.is_empty());
        [end, self.count_at, self.look_at, stands_at].into_iter().flatten().min()
    }

    /// Sees to it that what is hidden from the command stays hidden, and what is guarded is nothing that it can write, whoever
    /// replaces it; why it has to end where that cannot be.
    fn keep_watch(&mut self, replaced: bool, now: Instant) -> Result<(), KilledBy> {
        let Running::Held(entered) = &mut self.command else { return Ok(()) };
        let begins = self.look_at.is_some_and(|at| now >= at);
        let mut replaced = match (begins, replaced) {
            (true, _) => Some(entered.watch_outside()),
            (false, true) => Some(entered.replaced()),
            (false, false) => None,
        };
        let guarded = replaced.as_mut().map(|replaced| std::mem::take(&mut replaced.guarded));
        self.newly_guarded.extend(guarded.unwrap_or_default());
        if now >= self.stands_at {
            self.keep_guarded()?;
        }
        let (Some(replaced), Running::Held(entered)) = (replaced, &mut self.command) else { return Ok(()) };
        let watches = entered.hide_again(&replaced).map_err(|_| KilledBy::Shown)?;
        self.look_at = (!watches).then(|| if begins { now + LOOK_EVERY } else { now });
        Ok(())
    }

    /// Of files that got guarded names from outside, the command had one by another name perhaps, and would write it on. So
    /// all of it stands still until that is known.
    fn keep_guarded(&mut self) -> Result<(), KilledBy> {
        let files = self.take_newly_guarded();
        if files.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let still = Still::below(rustix::process::getpid(), self.command.frame());
        let writable = writable(still.processes(), &files, &self.order.profile.roots);
        let has_none = writable.is_empty();
        if has_none {
            drop(still);
        } else {
            still.until_killed();
        }
        self.stands_at = Instant::now() + GOES_ON_AT_MOST.min(began.elapsed() * GOES_ON_TIMES);
        self.tell_newly_guarded(files, writable, false);
        if has_none { Ok(()) } else { Err(KilledBy::Handled) }
    }

    /// Has the owner find out, too, whether the command opened one of these before. What it wrote there then, it wrote: that
    /// needs no haste. `over`: nobody of it is left.
    fn tell_newly_guarded(&self, files: Vec<PathBuf>, writable: Vec<PathBuf>, over: bool) {
        if !files.is_empty() {
            let _ = wire::say(self.link, &Report::NewlyGuarded(NewlyGuarded { files, writable, over }));
        }
    }

    /// Each of them once.
    fn take_newly_guarded(&mut self) -> Vec<PathBuf> {
        let mut files = std::mem::take(&mut self.newly_guarded);
        files.sort();
        files.dedup();
        files
    }

    /// Takes in guarded files that were replaced and that nobody has asked about yet: in the first moments, or together with
    /// the end.
    fn hear_of_replaced(&mut self) {
        if let Running::Held(entered) = &mut self.command {
            self.newly_guarded.extend(entered.replaced_guarded());
        }
    }

    /// Polls.
    fn wait(&self, wait: Option<Duration>) -> Happened {
        let timeout = wait.map(timespec);
        // Of the owner and the output that nobody else takes, one is there at a time.
        let drain = self.drain.as_ref().filter(|_| self.orphaned).map(AsFd::as_fd);
        let second = if self.orphaned { drain } else { Some(self.link) };
        let (status, news) = match &self.command {
            Running::Held(entered) => {
                (Some(entered.status()).filter(|_| self.ended.is_none()), entered.news_from_outside())
            }
            Running::Free(_) => (None, None),
        };
        // Always four, so that each has its place: the signals are polled once more for what is not there.
        let all = [Some(self.signals.fd()), second, news, status];
        let mut fds = all.map(|fd| PollFd::from_borrowed_fd(fd.unwrap_or(self.signals.fd()), PollFlags::IN));
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return Happened::default();
        }
        let has = |at: usize| all[at].is_some() && !fds[at].revents().is_empty();
        let second = has(1);
        Happened { signal: has(0), words: second && !self.orphaned, output: second && self.orphaned, replaced: has(2) }
    }

    /// Hears the owner; false when there is none any more.
    fn listen(&mut self) -> bool {
        let there = self.lines.fill(self.link).unwrap_or(false);
        while let Some(request) = self.lines.next() {
            match request {
                Request::Stop { why, grace_ms } => self.stop(why, Duration::from_millis(grace_ms)),
                Request::Signal(number) => self.signal_all(number),
            }
        }
        there
    }

    /// The owner is gone; true when the job outlives it.
    fn lose_owner(&mut self) -> bool {
        self.orphaned = true;
        self.owner = rustix::process::getppid();
        if !self.order.keep {
            self.killed_by.get_or_insert(KilledBy::Stop);
        }
        self.order.keep
    }

    /// Takes the output of a kept job, so that it does not stand still. Nobody will read it.
    fn swallow(&mut self) {
        let mut piece = [0; 4096];
        if self.drain.as_ref().is_some_and(|drain| matches!(rustix::io::read(drain, &mut piece), Ok(0) | Err(_))) {
            self.drain = None;
        }
    }

    /// Asks all to end; those that have not when `grace` is over are killed.
    fn stop(&mut self, why: KilledBy, grace: Duration) {
        if self.ended.is_none() {
            self.killed_by.get_or_insert(why);
        }
        let at = Instant::now() + grace;
        self.kill_at = Some(self.kill_at.map_or(at, |earlier| earlier.min(at)));
        if !grace.is_zero() {
            if self.order.terminal {
                // Its terminal is taken away. An interactive shell ends by nothing less.
                self.signal_all(libc::SIGHUP);
            }
            self.signal_all(libc::SIGTERM);
            // One that is stopped hears nothing until it goes on.
            self.signal_all(libc::SIGCONT);
        }
    }

    /// Counts what the whole tree uses; the bound that it broke.
    fn count(&mut self) -> Option<KilledBy> {
        let limits = &self.order.profile.limits;
        let all = tree::look_below(rustix::process::getpid());
        let most = bound(limits.processes).unwrap_or(u64::MAX);
        let threads = all.iter().map(|process| process.threads).sum::<u64>();
        if threads > most {
            return Some(KilledBy::Processes);
        }
        let memory = bound(limits.memory_bytes).unwrap_or(u64::MAX);
        let resident = self.memory.held(&all, memory);
        if resident > memory {
            return Some(KilledBy::Memory);
        }
        let near = threads > most / 2 || resident > memory / 2;
        self.count_at = Some(Instant::now() + if near { COUNT_OFTEN } else { COUNT_EVERY });
        None
    }

    /// Kills everything below us, in rounds until nobody is left; how many there still are.
    fn kill_all(&mut self) -> usize {
        let until = Instant::now() + REAP_WITHIN;
        loop {
            let there = tree::below(rustix::process::getpid());
            for pid in &there {
                let _ = rustix::process::kill_process(*pid, Signal::KILL);
            }
            if self.reap() {
                return 0;
            }
            if Instant::now() >= until {
                return tree::look_below(rustix::process::getpid()).len();
            }
            let mut fds = [PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
            let _ = poll(&mut fds, Some(&timespec(LOOK_AGAIN)));
            self.signals.drain();
        }
    }

    /// Everything has ended. Also where that was said before of the command alone, the last files are still to be told.
    fn end(&mut self, left: usize) {
        self.hear_of_replaced();
        let files = self.take_newly_guarded();
        self.tell_newly_guarded(files, Vec::new(), true);
        if !self.reported {
            return self.report(left);
        }
        let aside = self.clean_up(left);
        if !aside.is_empty() {
            let _ = wire::say(self.link, &Report::SetAside(aside));
        }
    }

    fn report(&mut self, left: usize) {
        self.reported = true;
        let usage = signals::usage();
        let _ = wire::say(
            self.link,
            &Report::Exited(Exited {
                how: self.ended.unwrap_or(How::Signal(libc::SIGKILL)),
                killed_by: self.killed_by,
                wall_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                user_ms: usage.user_ms,
                sys_ms: usage.sys_ms,
                max_rss_bytes: usage.max_rss_bytes,
                cwd: self.place(),
                left,
                ended_too: std::mem::take(&mut self.ended_too),
                set_aside: self.clean_up(left),
                handled: Vec::new(),
                opens: self.opens.take(),
            }),
        );
    }

    /// Where the command is, or was.
    fn place(&self) -> Option<PathBuf> {
        if !self.order.watch_cwd {
            return None;
        }
        match &self.command {
            Running::Free(_) => {
                let here = rustix::process::getcwd(Vec::new()).ok()?.into_string().ok()?;
                here.starts_with('/').then(|| here.into())
            }
            Running::Held(entered) => entered.place().map(PathBuf::from).filter(|place| place.to_str().is_some()),
        }
    }

    /// Takes back what the sandbox put into the roots, once nobody is in it any more.
    fn clean_up(&mut self, left: usize) -> Vec<String> {
        if left > 0 {
            return Vec::new();
        }
        let free = Running::Free(self.command.pid());
        match std::mem::replace(&mut self.command, free) {
            Running::Free(_) => Vec::new(),
            Running::Held(entered) => {
                entered.finish().into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
            }
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    // A moment more than nothing, so that a wait for what is due ends after it and not just before.
    let time = time.saturating_add(Duration::from_micros(1));
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}

fn how(status: WaitStatus) -> Option<How> {
    status.exit_status().map(How::Status).or_else(|| status.terminating_signal().map(How::Signal))
}
