//! Commands that calls start: bounded, listed, and never lost.
//!
//! ```text
//! Jobs::start ──▶ supervisor (its own process) ──▶ command and all it starts
//!    Job      ◀── one thread: output into memory and file, reports, is it waiting for input?
//! ```
//!
//! A job's processes end with its command, and all jobs of a session with the session; only what was asked
//! to be kept stays. That holds when a process leaves its group, its session or its parent, and when this
//! program is killed ([`super::supervise`]).

mod begun;
mod job;
mod order;
mod output;
mod peer;
mod pump;
mod screen;
mod seek;
mod strings;
mod terminal;
mod typed;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nika_guard::{Effect, ExecKind, Permit};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;

use self::begun::Begun;
pub use self::job::{Chunk, Confinement, Job, Listed, Reading, State, Summary, Until, View};
use self::job::{Runs, Streams};
use self::order::Ends;
pub(crate) use self::order::MARK;
pub use self::order::{Noted, Notes, Order, Program, Reachable, Stdin, TIMEOUT, TIMEOUT_MOST};
pub use self::output::Bounds;
pub use self::peer::{Peer, PeerPipes};
use self::pump::Pump;
pub use self::screen::Picture;
use super::wire::{self, Exited};
use crate::connect::{self, Room};
use crate::record::Recorded;
use crate::sandbox::{self, Network};
use crate::scratch::{Caches, Taker};

/// Jobs that may live at once. A session that has so many has lost count of them.
const MOST_LIVE: usize = 256;
/// Jobs that ended and whose output can still be read.
const MOST_ENDED: usize = 64;
/// How long a job has between the request to end and the kill.
pub const GRACE: Duration = Duration::from_secs(2);
/// How long a place for caches that is about to be free is waited for.
const FREE_WITHIN: Duration = Duration::from_millis(100);
/// How long the end of all jobs may take beyond their grace.
const END_WITHIN: Duration = Duration::from_secs(6);

/// Why a job was not started.
#[derive(Debug)]
pub enum StartError {
    /// The call was not allowed to run anything.
    NotPermitted,
    /// Too many live already.
    TooMany(usize),
    /// Its supervisor refused: the sandbox could not be had, or the program cannot be run.
    Refused {
        /// Which step failed.
        why: String,
        /// The system's error, where it gave one.
        errno: Option<i32>,
    },
    /// The system failed before that.
    Io(io::Error),
}

impl StartError {
    /// Whether the sandbox could not be had.
    pub fn lacks_guarantee(&self) -> bool {
        matches!(self, StartError::Refused { why, .. } if why.starts_with(sandbox::NO_GUARANTEE))
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NotPermitted => f.write_str("this call was not allowed to run anything"),
            StartError::TooMany(most) => write!(f, "{most} jobs live already; stop one first"),
            StartError::Refused { why, errno: None } => f.write_str(why),
            StartError::Refused { why, errno: Some(errno) } => {
                write!(f, "{why}: {}", io::Error::from_raw_os_error(*errno))
            }
            StartError::Io(error) => write!(f, "the command could not be started: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> StartError {
        StartError::Io(error)
    }
}

/// That a background job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Its id.
    pub job: String,
    /// The session that started it.
    pub session: String,
    /// What it was.
    pub command: String,
    /// How it ended.
    pub exited: Exited,
    /// What it changed, where that was recorded.
    pub recorded: Option<Recorded>,
}

/// Whoever wants to know at once that a background job ended. Called on the job's own thread.
pub type OnEnd = Box<dyn Fn(&Notice) + Send + Sync>;

/// All jobs of this process.
pub struct Jobs(Arc<Shared>);

/// What outlives a call.
struct Shared {
    exe: PathBuf,
    next: AtomicU64,
    jobs: Mutex<BTreeMap<u64, Arc<Job>>>,
    notices: Mutex<Vec<Notice>>,
    on_end: Option<OnEnd>,
    /// A supervisor that waits for the next order, once there was one and more are expected.
    spare: Mutex<Option<Spare>>,
    expects_more: AtomicBool,
    /// What the jobs of a session share, as long as one of them lives.
    networks: Mutex<HashMap<String, Weak<Network>>>,
    /// Places that commands have taken for caches.
    caches: Mutex<Vec<Weak<Caches>>>,
    /// Whether connections can be made in the place of commands, and how many are.
    connects: OnceLock<bool>,
    room: Room,
}

/// A supervisor without an order, and our end of the socket to it.
#[derive(Debug)]
struct Spare {
    link: Option<OwnedFd>,
    child: Option<Child>,
}

impl Spare {
    /// Both, if it still lives: somebody may have killed it.
    fn take(mut self) -> Option<(OwnedFd, Child)> {
        let lives = matches!(self.child.as_mut()?.try_wait(), Ok(None));
        if lives { self.link.take().zip(self.child.take()) } else { None }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // With its link closed it ends by itself, and takes along what it made ahead.
        drop(self.link.take());
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("live", &self.live().len()).finish_non_exhaustive()
    }
}

impl Shared {
    /// Has a supervisor wait for the next order, if orders are expected.
    fn prepare_next(&self) {
        let mut spare = lock(&self.spare);
        if spare.is_none() && self.expects_more.load(Ordering::Relaxed) {
            // One that cannot be had now is started when it is needed, and says then why it cannot.
            *spare = self.supervisor().ok();
        }
    }

    /// A supervisor that waits for its order.
    fn supervisor(&self) -> io::Result<Spare> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let child = Command::new(&self.exe)
            .arg("__run")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not ours: the interrupt key of a terminal that nika runs in is for nika.
            .process_group(0)
            .spawn()?;
        Ok(Spare { link: Some(ours), child: Some(child) })
    }

    fn tell(&self, notice: Notice) {
        if let Some(on_end) = &self.on_end {
            on_end(&notice);
        }
        lock(&self.notices).push(notice);
    }
}

/// What a panic elsewhere left behind is still a list of jobs.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// No jobs yet. `exe` is the program that supervises when it is run as `exe __run`.
    pub fn new(exe: impl Into<PathBuf>, on_end: Option<OnEnd>) -> Jobs {
        Jobs(Arc::new(Shared {
            exe: exe.into(),
            next: AtomicU64::new(1),
            jobs: Mutex::default(),
            notices: Mutex::default(),
            on_end,
            spare: Mutex::default(),
            networks: Mutex::default(),
            caches: Mutex::default(),
            connects: OnceLock::new(),
            room: Room::default(),
            expects_more: AtomicBool::new(false),
        }))
    }

    /// From now on a supervisor waits for the next command whenever one has been run, its world made ahead: a start
    /// then takes about half as long. For whoever runs many; costs two idle processes.
    pub fn expect_more(&self) {
        self.0.expects_more.store(true, Ordering::Relaxed);
    }

    /// The supervisor that waits now.
    pub fn waiting(&self) -> Option<Pid> {
        lock(&self.0.spare).as_ref().and_then(|spare| spare.child.as_ref()).map(Pid::from_child)
    }

    /// Starts a command that `permit` holds an [`Effect::Exec`] for; returns when it runs.
    pub fn start(&self, permit: &Permit, order: Order) -> Result<Arc<Job>, StartError> {
        let Some(kind) = strictest(permit) else { return Err(StartError::NotPermitted) };
        if self.live().len() >= MOST_LIVE {
            return Err(StartError::TooMany(MOST_LIVE));
        }
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("j{number}");
        let mark = format!("{id}-{}", random_word()?);
        let Ends { theirs, output, errors, stdin, input } = order::ends(&order.stdin, order.apart)?;
        let network = self.network(&order);
        let Begun { pid, held, link, supervisor, lines } =
            self.begin(&order, &mark, theirs, &output, network.as_deref())?;
        let errors = errors.map(|errors| read_apart(errors, order.output.head_bytes)).transpose()?;
        let runs = Runs { pid, held, supervisor: Pid::from_child(&supervisor), link };
        let job = Arc::new(Job::new(id, order, kind, runs, Streams { stdin, input, errors }, network));
        let pump = Pump::new(job.clone(), Arc::downgrade(&self.0), supervisor, lines, output, mark);
        self.remember(number, job.clone());
        std::thread::Builder::new().name(format!("job {}", job.id())).stack_size(256 << 10).spawn(|| pump.run())?;
        Ok(job)
    }

    /// Has a supervisor run what is ordered, and hears what the kernel stops the command at.
    fn begin(
        &self,
        order: &Order,
        mark: &str,
        theirs: [OwnedFd; 3],
        output: &OwnedFd,
        network: Option<&Network>,
    ) -> Result<Begun, StartError> {
        let (link, supervisor) = self.supervisor()?;
        let connects = *self.0.connects.get_or_init(|| connect::can_ask(Pid::from_child(&supervisor)));
        let wire = wire::Order { network: network.is_some(), stops: order.stops(connects), ..order.to_wire(mark) };
        let hearing = wire.stops.is_some().then(sandbox::hearing).transpose()?;
        let mut fds = theirs.iter().map(AsFd::as_fd).collect::<Vec<_>>();
        if order.keep {
            fds.push(output.as_fd());
        }
        fds.extend(hearing.iter().map(|(_, theirs)| theirs.as_fd()));
        fds.extend(network.iter().flat_map(|network| network.parts()));
        fds.extend(order.caches.iter().map(|caches| caches.held()));
        let begun = Begun::of(link, supervisor, &wire, &fds)?;
        // What is left of the job's ends here would keep its output open, and us waiting for what never comes.
        drop(theirs);
        let Some((ours, theirs)) = hearing else { return Ok(begun) };
        drop(theirs);
        match self.hear(order, &ours, &begun, network.is_some()) {
            Ok(()) => Ok(begun),
            Err(error) => {
                begun.give_up();
                Err(error.into())
            }
        }
    }

    /// The command runs, so its kernel's end was sent on `hearing`; it waits at its first such call until somebody hears.
    fn hear(&self, order: &Order, hearing: &OwnedFd, begun: &Begun, shares: bool) -> io::Result<()> {
        match (order.recorded_by(), sandbox::heard(hearing)?) {
            (Some(recorder), Some(listener)) => {
                recorder.keep_off(&order.profile);
                recorder.watch(listener, Pid::from_child(&begun.supervisor), shares, &self.0.room)
            }
            (Some(_), None) => Err(io::Error::other("its changes cannot be heard of")),
            (None, Some(listener)) => connect::watch(listener, shares, &self.0.room).map(drop),
            (None, None) => Ok(()),
        }
    }

    /// A place for a command's caches. One that a command of ours has just ended with is waited for.
    pub fn caches(&self, permit: &Permit, state: &Path, taker: Taker) -> Option<Arc<Caches>> {
        let mut first = None;
        let until = Instant::now() + FREE_WITHIN;
        while taker == Taker::Command && first.is_none() {
            first = Caches::take_first(permit, state);
            let mut all = lock(&self.0.caches);
            all.retain(|one| one.strong_count() > 0);
            let ending = all.iter().filter_map(Weak::upgrade).any(|one| one.is_ending());
            drop(all);
            if first.is_some() || !ending || Instant::now() >= until {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let taken = Arc::new(first.or_else(|| Caches::take(permit, state, taker))?);
        lock(&self.0.caches).push(Arc::downgrade(&taken));
        Some(taken)
    }

    /// The network that a command shares: that of a job of its session that lives, or a new one for those that come.
    fn network(&self, order: &Order) -> Option<Arc<Network>> {
        if !order.shares_network() {
            return None;
        }
        let mut networks = lock(&self.0.networks);
        networks.retain(|_, network| network.strong_count() > 0);
        let shared = networks.get(&order.session).and_then(Weak::upgrade);
        if shared.is_some() || order.network != Reachable::AsServer {
            return shared;
        }
        // Where none can be had, the job has its own, or is refused for what the system lacks.
        let made = Network::make().ok().map(Arc::new)?;
        networks.insert(order.session.clone(), Arc::downgrade(&made));
        Some(made)
    }

    /// One job of `session`, for a call that may run or control something.
    pub fn job(&self, permit: &Permit, session: &str, id: &str) -> Option<Arc<Job>> {
        let number: u64 = id.strip_prefix('j')?.parse().ok()?;
        lock(&self.0.jobs).get(&number).filter(|job| job.session() == session && may_handle(permit)).cloned()
    }

    /// What holds a job, for judging what is done with it.
    pub fn confinement(&self, session: &str, id: &str) -> Option<Confinement> {
        let number: u64 = id.strip_prefix('j')?.parse().ok()?;
        let job = lock(&self.0.jobs).get(&number).filter(|job| job.session() == session).cloned()?;
        Some(job.confinement())
    }

    /// Every live process that calls of `session` started, by job.
    pub fn list(&self, permit: &Permit, session: &str) -> Vec<Listed> {
        if !may_handle(permit) {
            return Vec::new();
        }
        self.live().iter().filter(|job| job.session() == session).map(|job| job.listed()).collect()
    }

    /// The background jobs of `session` that run, each with its command: what the session was told when it began them.
    pub fn running(&self, session: &str) -> Vec<(String, String)> {
        let listed = self.live().into_iter().filter(|job| job.session() == session).map(|job| job.listed());
        listed.filter(|job| job.background).map(|job| (job.job, job.command)).collect()
    }

    /// Forgets a job of which nothing is left, with all that it printed.
    pub fn forget(&self, job: &Job) {
        let number = job.id().strip_prefix('j').and_then(|number| number.parse::<u64>().ok());
        let mut jobs = lock(&self.0.jobs);
        if let Some(number) = number.filter(|number| jobs.get(number).is_some_and(|job| !job.is_live())) {
            jobs.remove(&number);
        }
    }

    /// The background jobs of `session` that ended since this was last asked.
    pub fn take_notices(&self, session: &str) -> Vec<Notice> {
        let mut notices = lock(&self.0.notices);
        let (taken, left) = notices.drain(..).partition(|notice| notice.session == session);
        *notices = left;
        taken
    }

    /// The same of one of them, for whoever is told of its end otherwise.
    pub fn take_notice(&self, session: &str, id: &str) -> Option<Notice> {
        let mut notices = lock(&self.0.notices);
        let at = notices.iter().position(|notice| notice.session == session && notice.job == id)?;
        Some(notices.remove(at))
    }

    /// Ends all jobs of `session` but those that were asked to be kept; returns when they are gone.
    pub fn end_session(&self, session: &str) {
        self.end(|job| job.session() == session, GRACE);
        lock(&self.0.jobs).retain(|_, job| job.session() != session || job.is_live());
        lock(&self.0.notices).retain(|notice| notice.session != session);
    }

    fn end(&self, which: impl Fn(&Job) -> bool, grace: Duration) {
        let ending: Vec<_> = self.live().into_iter().filter(|job| !job.is_kept() && which(job)).collect();
        for job in &ending {
            job.ask_to_stop(wire::KilledBy::Stop, grace);
        }
        let until = Instant::now() + grace + END_WITHIN;
        for job in &ending {
            job.wait_gone(until.saturating_duration_since(Instant::now()));
        }
    }

    fn live(&self) -> Vec<Arc<Job>> {
        lock(&self.0.jobs).values().filter(|job| job.is_live()).cloned().collect()
    }

    fn remember(&self, number: u64, job: Arc<Job>) {
        let mut jobs = lock(&self.0.jobs);
        jobs.insert(number, job);
        let ended: Vec<u64> = jobs.iter().filter(|(_, job)| !job.is_live()).map(|(number, _)| *number).collect();
        for number in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
            jobs.remove(number);
        }
    }

    /// The supervisor that waits, if it still does, or a new one.
    fn supervisor(&self) -> io::Result<(OwnedFd, Child)> {
        let waiting = lock(&self.0.spare).take();
        match waiting.and_then(Spare::take) {
            Some(waiting) => Ok(waiting),
            None => self.0.supervisor()?.take().ok_or_else(|| io::Error::other("its supervisor ended at once")),
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.end(|_| true, Duration::ZERO);
    }
}

/// Reads a stream to its end, which comes when all that could write it have ended; its first bytes are kept.
fn read_apart(stream: OwnedFd, most: usize) -> io::Result<JoinHandle<Vec<u8>>> {
    std::thread::Builder::new().name("errors".to_owned()).stack_size(256 << 10).spawn(move || {
        let mut stream = std::fs::File::from(stream);
        let mut kept = Vec::new();
        // What cannot be read any more is not there; the rest is drained, so that nobody waits for room.
        let _ = (&mut stream).take(most as u64).read_to_end(&mut kept);
        let _ = io::copy(&mut stream, &mut io::sink());
        kept
    })
}

/// The strictest kind of command that a call may run; none where it may run nothing.
fn strictest(permit: &Permit) -> Option<ExecKind> {
    let kind = |effect: &Effect| match effect {
        Effect::Exec(exec) => Some(exec.kind),
        _ => None,
    };
    permit.effects().all.iter().filter_map(kind).max()
}

/// Whether a call may see and steer what other calls of its session started.
fn may_handle(permit: &Permit) -> bool {
    let handles = |effect: &Effect| matches!(effect, Effect::Exec(_) | Effect::Control(_) | Effect::Session);
    permit.effects().all.iter().any(handles)
}

/// A word that nobody can guess.
pub(super) fn random_word() -> io::Result<String> {
    let mut bytes = [0; 12];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
