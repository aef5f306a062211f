//! What holds a command: our own launcher of confined processes.
//!
//! [`enter`] turns a [`Profile`] into a child that cannot leave it. The layers, each of which would do most of the
//! work alone: namespaces (users, mounts, processes, IPC, host name, network, cgroups), a file system that is
//! read-only but for the roots and a private `/tmp`, no capabilities and no new privileges, Landlock, seccomp. The
//! order matters: each step takes away what the next one could still be attacked with.
//!
//! ```text
//! supervisor ──clone──▶ init (process 1 of its own world) ──mounts, lock down──▶ fork ──Landlock──▶ exec
//! ```
//!
//! What cannot be set up is an error that names the missing guarantee. Nothing runs unconfined unless the profile
//! says so, and every result names what held.

mod aliases;
mod apart;
mod base;
pub mod cgroup;
mod covers;
mod entry;
mod filter;
mod guarded;
mod init;
mod kept;
mod land;
mod linked;
mod listener;
mod lock;
mod mounts;
mod network;
mod outside;
pub(crate) mod owner;
mod placeholders;
pub mod probe;
mod protected;
mod proxy;
pub(crate) mod reach;
mod ready;
mod run;
mod standard;
mod stops;
mod syscalls;
mod watch;
pub(crate) use filter::When;

use std::ffi::{CString, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Held, Profile, Step, plan};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};

pub use apart::{all_but, spelled};
pub(crate) use guarded::Guarded;
use init::Kind;
pub use linked::Linked;
pub(crate) use listener::{
    Answer, Heard, Listener, Stopped, beneath, file_of_socket, interrupt, is_of_our_network, memory_of,
};
pub(crate) use network::Network;
pub(crate) use placeholders::{clear_left, is_below_stand_in, is_stand_in};
pub use placeholders::{clear_stand_ins, is_no_file};
pub(crate) use protected::SKIPPED;
pub use protected::{Known, MAX_HIDDEN, scan, scan_with, secrets_at_home};
pub use proxy::Visit;
pub use reach::{Reach, Refused};
pub(crate) use ready::{Ready, take_beside};
pub use run::{Finished, run};
pub use stops::Stops;
pub(crate) use stops::{heard, hearing};
pub(crate) use watch::Replaced;

/// The temporary directory that every contained command has for itself: nobody else sees it, and it goes with the world.
pub const PRIVATE_TMP: &str = "/tmp";

/// Takes from this process, for good, whatever it does not need to parse what it is given. Where the kernel lacks one of
/// the layers the other holds, and where it has neither, the limits that a parser always has: that one cannot be had is
/// no reason to show nothing of a picture. Only for a process with one thread.
pub(crate) fn shut_self() {
    let _ = land::keep_from_all();
    let _ = syscalls::leave_little();
}

/// What to start inside.
#[derive(Debug)]
pub struct Target {
    /// Paths of the program, tried in this order. A bare name is looked up in the profile's `PATH`.
    pub programs: Vec<PathBuf>,
    /// Its arguments, its name first.
    pub argv: Vec<OsString>,
    /// Its standard input, output and error; ours where `None`.
    pub stdio: [Option<OwnedFd>; 3],
    /// Whether its input is a terminal, which becomes its controlling one.
    pub terminal: bool,
    /// At which of its calls it stops, and where the descriptor is sent that hears of them. Without, it has no sockets
    /// with names.
    pub stops: Option<(Stops, OwnedFd)>,
    /// The network that it shares with others; none where it has one of its own.
    pub(crate) network: Option<Network>,
}

impl Target {
    /// `argv` with our own input and output.
    pub fn new(argv: Vec<OsString>) -> Target {
        let programs = argv.first().map(PathBuf::from).into_iter().collect();
        Target { programs, argv, stdio: [None, None, None], terminal: false, stops: None, network: None }
    }
}

/// Why nothing was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The guarantee that could not be given; `None` when the program itself could not be started.
    pub guarantee: Option<String>,
    /// What failed, in words.
    pub why: String,
    /// The system's error number, where it gave one.
    pub errno: Option<i32>,
}

/// How a refusal begins that lacks a guarantee.
pub(crate) const NO_GUARANTEE: &str = "the sandbox cannot give a guarantee";

impl Refusal {
    pub(crate) fn of(guarantee: &str, why: &str, error: impl Into<io::Error>) -> Refusal {
        let error = error.into();
        Refusal { guarantee: Some(guarantee.to_owned()), why: format!("{why}: {error}"), errno: error.raw_os_error() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.guarantee {
            Some(guarantee) => write!(f, "{NO_GUARANTEE}: {guarantee} ({})", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Refusal {}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// Its world ended before it could say how.
    Killed,
}

impl Ended {
    /// The exit code that a shell would show.
    pub fn code(self) -> u8 {
        match self {
            Ended::Exited(code) => code as u8,
            Ended::Signalled(signal) => 128u8.saturating_add(signal as u8),
            Ended::Killed => 137,
        }
    }
}

/// A command at work in its world. Dropped, all of that world is killed and what stood in for absent names is
/// removed.
#[derive(Debug)]
pub struct Entered {
    init: Pid,
    pidfd: OwnedFd,
    status: File,
    held: Held,
    reaped: bool,
    ended: Option<Ended>,
    /// Whether the command left something running; not said before it ended, nor by a world that was killed.
    leaves: Option<bool>,
    place: Option<PathBuf>,
    placeholders: placeholders::Placeholders,
    proxy: Option<proxy::Proxy>,
    outside: outside::Outside,
    /// Closed, everything that the command started is ended: in a world that does not end with its first process.
    lifeline: Option<OwnedFd>,
}

/// Starts `target` under `profile`. The calling process must have one thread only, because a copy of it becomes the
/// first process of the new world.
///
/// `reach` decides about hosts when the profile names any, and hears of every decision.
pub fn enter(profile: &Profile, target: Target, reach: Option<Reach>) -> Result<Entered, Refusal> {
    enter_ready(None, profile, target, reach)
}

/// The same, in a world that waits for it when that is still good.
pub(crate) fn enter_ready(
    ready: Option<Ready>,
    profile: &Profile,
    target: Target,
    reach: Option<Reach>,
) -> Result<Entered, Refusal> {
    let target = Prepared::new(profile, target)?;
    if profile.access == Access::Unconfined {
        return init::start(profile, &target, &[], Kind::Unconfined);
    }
    land::floor()?;
    let steps = few_enough(aliases::hidden_too(profile, plan(profile))?)?;
    match contained(ready, profile, steps, &target, reach) {
        // Without namespaces there are no layers, and whoever ordered one relies on it.
        Err(Refusal { guarantee: Some(guarantee), why, .. }) if profile.landlock_only && profile.layers.is_empty() => {
            let mut entered = init::start(profile, &target, &[], Kind::LandlockOnly)?;
            entered.held.missing.insert(0, format!("{guarantee} ({why})"));
            Ok(entered)
        }
        other => other,
    }
}

/// A plan that hides all that it has to. None of it can be left out: a name in great numbers may be there so that
/// another one is.
fn few_enough(steps: Vec<Step>) -> Result<Vec<Step>, Refusal> {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    for (there, what) in [
        (count(|step| matches!(step, Step::Hide(_))), "entries are to be hidden"),
        (count(|step| matches!(step, Step::Pin(_))), "directories lead to what is hidden or guarded"),
    ] {
        if there > MAX_HIDDEN {
            let why = format!("{there} {what}, and {MAX_HIDDEN} is the most");
            return Err(Refusal { guarantee: Some("hidden secrets".to_owned()), why, errno: None });
        }
    }
    Ok(steps)
}

fn contained(
    ready: Option<Ready>,
    profile: &Profile,
    steps: Vec<Step>,
    target: &Prepared,
    reach: Option<Reach>,
) -> Result<Entered, Refusal> {
    // What a recorder refuses the command cannot have made.
    let records = target.stops.as_ref().is_some_and(|(stops, _)| stops.records());
    let (mut placeholders, steps) = placeholders::Placeholders::make(profile, steps, !records)?;
    let kept = records.then(|| kept::Kept::of(profile));
    // What was made ahead has a network of its own.
    let started = match ready.filter(|ready| ready.is_current() && target.network.is_none()) {
        Some(ready) => ready.start(profile, target, &steps),
        None => init::start(profile, target, &steps, Kind::Contained),
    };
    let mut entered = started.inspect_err(|_| drop(placeholders.remove()))?;
    entered.placeholders = placeholders;
    entered.outside.kept = kept;
    if let Some(proxy) = &mut entered.proxy {
        proxy.serve(reach.unwrap_or_else(|| Reach::new(profile.hosts.clone())));
    }
    Ok(entered)
}

/// A target as the kernel takes it: built before the clone, so that nothing after it can fail for want of memory.
#[derive(Debug)]
struct Prepared {
    programs: Vec<CString>,
    argv: Vec<CString>,
    env: Vec<CString>,
    stdio: [Option<OwnedFd>; 3],
    terminal: bool,
    stops: Option<(Stops, OwnedFd)>,
    network: Option<Network>,
}

impl Prepared {
    fn new(profile: &Profile, target: Target) -> Result<Prepared, Refusal> {
        let nul = |_| Refusal { guarantee: None, why: "the command holds a NUL".to_owned(), errno: None };
        let text = |text: OsString| CString::new(text.into_vec()).map_err(nul);
        let path =
            profile.env.iter().find(|(name, _)| name == "PATH").map_or("/usr/local/bin:/usr/bin:/bin", |(_, v)| v);
        let mut programs = Vec::new();
        for program in target.programs {
            if program.as_os_str().as_encoded_bytes().contains(&b'/') {
                programs.push(text(program.into_os_string())?);
            } else {
                for directory in path.split(':').filter(|directory| directory.starts_with('/')) {
                    programs.push(text(PathBuf::from(directory).join(&program).into_os_string())?);
                }
            }
        }
        let argv = target.argv.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let mut env = Vec::with_capacity(profile.env.len() + 4);
        for (name, value) in &profile.env {
            env.push(CString::new(format!("{name}={value}")).map_err(nul)?);
        }
        if argv.is_empty() || programs.is_empty() {
            return Err(Refusal { guarantee: None, why: "there is no command".to_owned(), errno: None });
        }
        let Target { terminal, stops, stdio, network, .. } = target;
        Ok(Prepared { programs, argv, env, stdio, terminal, stops, network })
    }

    /// Where the descriptor is sent that hears of its calls.
    fn ear(&self) -> Option<&OwnedFd> {
        self.stops.as_ref().map(|(_, to)| to)
    }
}

impl Entered {
    /// The first process of the command's world, as this one sees it. When it ends, everything in there has ended.
    pub fn init(&self) -> Pid {
        self.init
    }

    /// Becomes readable when that process ends.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Becomes readable when the command itself ended, which is earlier when it leaves something running.
    pub fn status(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// What holds it.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// How the command ended; waits for it, `wall` at most. `None` when it still runs then.
    pub fn wait(&mut self, wall: Option<Duration>) -> io::Result<Option<Ended>> {
        let until = wall.map(|wall| Instant::now() + wall);
        while self.ended.is_none() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.map(|left| Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            });
            match poll(&mut [PollFd::new(&self.status, PollFlags::IN)], left.as_ref()) {
                Ok(0) => return Ok(None),
                Ok(_) => self.ended = Some(self.read_status()?),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.ended)
    }

    fn read_status(&mut self) -> io::Result<Ended> {
        let (mut word, mut left, mut length) = ([0; 4], [0; 1], [0; 4]);
        let read = |part: &mut [u8]| (&self.status).read_exact(part);
        Ok(match read(&mut word).and_then(|()| read(&mut left)).and_then(|()| read(&mut length)) {
            Ok(()) => {
                self.leaves = Some(left != [0]);
                let mut place = Vec::new();
                (&self.status).take(u32::from_ne_bytes(length).into()).read_to_end(&mut place)?;
                self.place = Some(PathBuf::from(OsString::from_vec(place))).filter(|place| place.is_absolute());
                match i32::from_ne_bytes(word) {
                    status if libc::WIFEXITED(status) => Ended::Exited(libc::WEXITSTATUS(status)),
                    status => Ended::Signalled(libc::WTERMSIG(status)),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ended::Killed,
            Err(error) => return Err(error),
        })
    }

    /// Whether the command that ended may have left others running.
    pub fn leaves(&self) -> bool {
        self.leaves == Some(true)
    }

    /// Whether the command left nobody, so that its world is about to end by itself.
    pub fn leaves_nobody(&self) -> bool {
        self.leaves == Some(false)
    }

    /// Becomes readable when something that is hidden from the command, or guarded from it, was replaced; `None` as long as
    /// nobody watches.
    pub(crate) fn news_from_outside(&self) -> Option<BorrowedFd<'_>> {
        self.outside.news()
    }

    /// Watches from now on for what is hidden or guarded and gets replaced, and says what was before.
    pub(crate) fn watch_outside(&mut self) -> Replaced {
        self.outside.begin()
    }

    /// What was replaced since. What is hidden of that is to be [hidden again](Entered::hide_again).
    pub(crate) fn replaced(&mut self) -> Replaced {
        self.outside.heed()
    }

    /// Guarded files that were replaced, whether anybody watched or not.
    pub(crate) fn replaced_guarded(&mut self) -> Vec<PathBuf> {
        self.outside.look()
    }

    /// Hides again what was replaced. False where the system has no room to watch, or not all could be watched: then
    /// [`Entered::watch_outside`] has to be called again and again. An error says that something is not hidden any more.
    /// For a process with one thread.
    pub(crate) fn hide_again(&mut self, replaced: &Replaced) -> io::Result<bool> {
        self.outside.hide_again(replaced)
    }

    /// Where the command was when it ended, as its world calls that place.
    pub fn place(&self) -> Option<&std::path::Path> {
        self.place.as_deref()
    }

    /// Kills everything in the command's world. Where that does not end with its first process, that one has it to do.
    fn kill(&mut self) {
        if !self.reaped && self.lifeline.take().is_none() {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        }
    }

    /// Ends the command's world and cleans up. Guarded names that came to be meanwhile, where nothing could stand in
    /// for them, are set aside under another name; these are their new ones.
    pub fn finish(mut self) -> Vec<PathBuf> {
        self.close()
    }

    fn close(&mut self) -> Vec<PathBuf> {
        self.kill();
        while !self.reaped {
            match waitpid(Some(self.init), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                _ => self.reaped = true,
            }
        }
        drop(self.proxy.take());
        self.placeholders.remove()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.close();
    }
}

/// A handle of the just-started `pid`.
fn handle(pid: Pid) -> io::Result<OwnedFd> {
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}
