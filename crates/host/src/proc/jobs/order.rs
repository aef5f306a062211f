//! What a job is: a program, where its input comes from, its bounds, whose it is.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nika_guard::profile::{Access, Profile};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use super::output::Bounds;
use super::{GRACE, terminal};
use crate::git::Before;
use crate::proc::tree::Input;
use crate::proc::wire::{self, Reached};
use crate::record::Recorder;
use crate::sandbox::Stops;
use crate::scratch::Caches;

/// How long a command may take when nobody says.
pub const TIMEOUT: Duration = Duration::from_secs(120);
/// How long one may take that somebody waits for. What takes longer belongs in the background.
pub const TIMEOUT_MOST: Duration = Duration::from_secs(600);
/// Where bash stands, before the places that `PATH` names.
const BASH: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
/// The variable by which a job's processes are found when its supervisor was killed.
pub(crate) const MARK: &str = "NIKA_JOB";

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A text for bash, which reads no start-up file.
    Shell {
        /// The text.
        text: String,
    },
    /// A program and its arguments, without a shell.
    Argv(Vec<String>),
}

/// Where a job's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// Nowhere: it is at its end.
    Closed,
    /// From [`super::Job::write`].
    Pipe,
    /// From [`super::Job::write`], through a terminal of this size, which takes the output, too.
    Terminal {
        /// Lines.
        rows: u16,
        /// Columns.
        cols: u16,
    },
}

/// One job.
#[derive(Debug, Clone)]
pub struct Order {
    /// What to run.
    pub program: Program,
    /// Where, with which environment, and what the system enforces.
    pub profile: Profile,
    /// How long it may take. Default 120 s, and 600 s most; in the background no bound, and any.
    pub timeout: Option<Duration>,
    /// Where its input comes from.
    pub stdin: Stdin,
    /// Whether the call goes on without waiting for it, so that its end is told.
    pub background: bool,
    /// Whether what the command leaves running lives on until the session ends.
    pub linger: bool,
    /// Whether it outlives the session, and this program. Its output then stops being kept.
    pub keep: bool,
    /// Whose it is.
    pub session: String,
    /// How much of its output is kept.
    pub output: Bounds,
    /// Whether its standard error is kept apart, for [`super::Job::errors`]; as a rule both are one stream.
    pub apart: bool,
    /// Who keeps what it changes, where it runs over no layer. Only for what a sandbox holds.
    pub recorder: Option<Recorder>,
    /// What git had recorded before of what the command cannot replace, where no layer shows that.
    pub git_before: Option<Arc<Before>>,
    /// Whether what it does is for nobody: a trial, or what is only to be looked at.
    pub trial: bool,
    /// Which network it has, where it may reach no hosts.
    pub network: Reachable,
    /// Where it writes the caches of tools, held as long as anything of it lives.
    pub caches: Option<Arc<Caches>>,
    /// Who notes what comes of it beside its end.
    pub notes: Option<Notes>,
    /// What it is called, where only who started it talks to it, in words of their own.
    pub reserved: Option<String>,
}

/// Notes what comes of a job, by its id. Called on the job's own thread.
#[derive(Clone)]
pub struct Notes(pub Arc<TakesNote>);

/// What takes note of it.
pub type TakesNote = dyn Fn(&str, Noted<'_>) + Send + Sync;

/// What is noted of a job.
#[derive(Debug, Clone, Copy)]
pub enum Noted<'a> {
    /// A host that it asked for, the first time for each port and outcome, and what came of that.
    Host(&'a Reached),
    /// Guarded names that it made although nothing could stand in for them, as they are called now.
    SetAside(&'a [String]),
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notes").finish_non_exhaustive()
    }
}

/// Whom a command without hosts reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reachable {
    /// Nobody but itself.
    #[default]
    Itself,
    /// What runs in the network of its session, where that has one.
    Session,
    /// The same, and it is there for others that come: one is made where there is none.
    AsServer,
}

impl Order {
    /// A text for bash under `profile`, that somebody waits for.
    pub fn shell(text: impl Into<String>, profile: Profile, session: impl Into<String>) -> Order {
        Order::new(Program::Shell { text: text.into() }, profile, session)
    }

    /// `program` under `profile`, that somebody waits for.
    pub fn new(program: Program, profile: Profile, session: impl Into<String>) -> Order {
        Order {
            program,
            profile,
            timeout: None,
            stdin: Stdin::Closed,
            background: false,
            linger: false,
            keep: false,
            session: session.into(),
            output: Bounds::default(),
            apart: false,
            recorder: None,
            git_before: None,
            trial: false,
            network: Reachable::Itself,
            caches: None,
            notes: None,
            reserved: None,
        }
    }

    /// Who keeps what it changes.
    pub(crate) fn recorded_by(&self) -> Option<&Recorder> {
        // Who outlives this program would have nobody to ask.
        self.recorder.as_ref().filter(|_| self.profile.access != Access::Unconfined && !self.keep)
    }

    /// At which of its calls it stops, for this program to see to them; `connects`: whether it can make connections.
    pub(super) fn stops(&self, connects: bool) -> Option<Stops> {
        match (self.recorded_by(), self.profile.access) {
            (Some(_), _) if connects => Some(Stops::AtChanges),
            (Some(_), _) => Some(Stops::AtChangesAlone),
            (None, Access::Workspace) if connects && !self.keep => Some(Stops::AtConnects),
            _ => None,
        }
    }

    /// Whether it has its network with others of its session. A proxy is for one command alone, and what only reads needs
    /// nobody.
    pub(super) fn shares_network(&self) -> bool {
        let alone = !self.profile.hosts.is_empty() || self.keep || self.profile.access != Access::Workspace;
        self.network != Reachable::Itself && !alone && !self.trial
    }

    /// What it is, in one line's worth of words.
    pub(super) fn command(&self) -> String {
        match (&self.reserved, &self.program) {
            (Some(called), _) => called.clone(),
            (None, Program::Shell { text }) => text.clone(),
            (None, Program::Argv(words)) => words.join(" "),
        }
    }

    fn wall(&self) -> Option<Duration> {
        match (self.background || self.keep, self.timeout) {
            (true, timeout) => timeout,
            (false, timeout) => Some(timeout.unwrap_or(TIMEOUT).min(TIMEOUT_MOST)),
        }
    }

    /// The supervisor's order.
    pub(super) fn to_wire(&self, mark: &str) -> wire::Order {
        let mut profile = self.profile.clone();
        profile.env.retain(|(name, _)| name != MARK);
        profile.env.push((MARK.to_owned(), mark.to_owned()));
        if profile.access == Access::ReadOnly {
            // Nothing has to be carved out of what cannot be written, and the lists are long.
            profile.protected.clear();
            profile.absent.clear();
            profile.led.clear();
            profile.included.clear();
        }
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let own = Some(profile.limits.wall_ms).filter(|ms| *ms > 0);
        let is_shell = matches!(self.program, Program::Shell { .. });
        wire::Order {
            programs: self.programs(&profile),
            argv: self.argv(),
            terminal: matches!(self.stdin, Stdin::Terminal { .. }),
            wall_ms: [self.wall().map(ms), own].into_iter().flatten().min(),
            grace_ms: ms(GRACE),
            linger: self.linger,
            keep: self.keep,
            watch_cwd: is_shell,
            stops: None,
            network: false,
            caches: self.caches.is_some(),
            profile,
        }
    }

    fn argv(&self) -> Vec<String> {
        match &self.program {
            Program::Shell { text } => {
                let mut text = text.clone();
                // A process that shares its working directory gains nothing from a set-user-id program. With
                // more text behind it, bash forks for its last command, too, and `sudo` works. A text
                // that ends in a backslash would go on in that line: it has to do without.
                if self.profile.access == Access::Unconfined && !text.ends_with('\\') {
                    text.push_str("\n\n");
                }
                ["bash", "--noprofile", "--norc", "-c"].map(str::to_owned).into_iter().chain([text]).collect()
            }
            Program::Argv(words) => words.clone(),
        }
    }

    fn programs(&self, profile: &Profile) -> Vec<PathBuf> {
        let path = profile.env.iter().find(|(name, _)| name == "PATH").map_or("/usr/bin:/bin", |(_, value)| value);
        // An empty entry would be the current directory, where anything may lie.
        let searched = |name: &str| -> Vec<PathBuf> {
            path.split(':').filter(|dir| dir.starts_with('/')).map(|dir| Path::new(dir).join(name)).collect()
        };
        match &self.program {
            Program::Shell { .. } => BASH.iter().map(PathBuf::from).chain(searched("bash")).collect(),
            Program::Argv(words) => match words.first() {
                Some(name) if name.contains('/') => vec![profile.cwd.join(name)],
                Some(name) => searched(name),
                None => Vec::new(),
            },
        }
    }
}

/// The descriptors of a job, ours and its own.
pub(super) struct Ends {
    pub(super) theirs: [OwnedFd; 3],
    pub(super) output: OwnedFd,
    /// Its standard error, where that is kept apart.
    pub(super) errors: Option<OwnedFd>,
    pub(super) stdin: Option<OwnedFd>,
    /// What a process that waits for input is blocked on.
    pub(super) input: Option<Input>,
}

/// Opens them.
pub(super) fn ends(stdin: &Stdin, apart: bool) -> io::Result<Ends> {
    let ends = match stdin {
        Stdin::Terminal { rows, cols } => {
            let terminal = terminal::open(*rows, *cols)?;
            let rdev = rustix::fs::fstat(&terminal.theirs)?.st_rdev;
            let again = |fd: &OwnedFd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
            Ends {
                theirs: [again(&terminal.theirs)?, again(&terminal.theirs)?, terminal.theirs],
                stdin: Some(again(&terminal.ours)?),
                output: terminal.ours,
                errors: None,
                input: Some(Input::Terminal { rdev }),
            }
        }
        Stdin::Closed | Stdin::Pipe => {
            // One pipe for both, so that what was written first comes first.
            let (output, out) = pipe_with(PipeFlags::CLOEXEC)?;
            let (err, errors) = if apart {
                let (errors, err) = pipe_with(PipeFlags::CLOEXEC)?;
                (err, Some(errors))
            } else {
                (rustix::io::fcntl_dupfd_cloexec(&out, 3)?, None)
            };
            let (theirs, ours, input) = if *stdin == Stdin::Pipe {
                let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
                let stat = rustix::fs::fstat(&ours)?;
                (theirs, Some(ours), Some(Input::Pipe { dev: stat.st_dev, ino: stat.st_ino }))
            } else {
                let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
                (null, None, None)
            };
            Ends { theirs: [theirs, out, err], output, errors, stdin: ours, input }
        }
    };
    // Nobody else has these ends open, so nobody else is surprised.
    rustix::io::ioctl_fionbio(&ends.output, true)?;
    if let Some(stdin) = &ends.stdin {
        rustix::io::ioctl_fionbio(stdin.as_fd(), true)?;
    }
    Ok(ends)
}
