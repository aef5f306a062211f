//! One child, one question, one answer, within bounds of time and size.
//!
//! Starting needs the permit and is quick; waiting needs neither and is long. So they are two steps, and
//! the second can go to a thread where waiting does no harm.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nika_guard::{Effect, Permit};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

/// How long a child may take. An honest file of the largest size we take needs about two seconds.
const WALL: Duration = Duration::from_secs(5);
/// How much a child may answer: more than any tool shows.
const MAX_OUTPUT_BYTES: usize = 32 << 20;
/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(10);
/// A pipe's usual size.
const PIPE_BYTES: usize = 64 << 10;

/// How to start a parser child.
#[derive(Debug, Clone)]
pub struct Isolated {
    /// The program; it must call [`super::limit_self`] before anything else.
    pub exe: PathBuf,
    /// What makes it a parser. What is to be parsed follows as the last argument.
    pub args: Vec<String>,
    /// How long it may take.
    pub wall: Duration,
    /// How many bytes it may answer.
    pub max_output_bytes: usize,
}

/// A child at work. Dropped, it is killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Vec<u8>,
    sent: usize,
    started: Instant,
    wall: Duration,
    max_output_bytes: usize,
    reaped: bool,
}

/// How a child ended without a whole answer.
#[derive(Debug)]
pub enum Crash {
    /// It was not even started.
    Start(io::Error),
    /// It took too long.
    TimedOut(Duration),
    /// Nobody wants the answer any more.
    Cancelled,
    /// It answered more than it may.
    TooMuch(usize),
    /// A signal ended it: out of memory, out of processor time, a broken parser.
    Signal(i32),
    /// It said that it failed.
    Exit(i32),
    /// The system failed between us.
    Io(io::Error),
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Crash::Start(error) => write!(f, "the parser could not be started: {error}"),
            Crash::TimedOut(wall) => write!(f, "the parser took longer than {} s", wall.as_secs_f32()),
            Crash::Cancelled => f.write_str("the call was cancelled"),
            Crash::TooMuch(most) => write!(f, "the parser answered more than {most} bytes"),
            Crash::Signal(signal) => match signal {
                6 => f.write_str("the parser gave up or ran out of memory"),
                24 => f.write_str("the parser used up its processor time"),
                signal => write!(f, "the parser was ended by signal {signal}"),
            },
            Crash::Exit(code) => write!(f, "the parser failed with status {code}"),
            Crash::Io(error) => write!(f, "the parser could not be talked to: {error}"),
        }
    }
}

impl std::error::Error for Crash {}

impl Isolated {
    /// A child of `exe` with the usual bounds.
    pub fn new(exe: impl Into<PathBuf>, args: Vec<String>) -> Isolated {
        Isolated { exe: exe.into(), args, wall: WALL, max_output_bytes: MAX_OUTPUT_BYTES }
    }

    /// Starts a child on `input`. It gets no environment, no terminal and no file of ours: bytes that a
    /// permit let somebody read are all it sees.
    pub fn start(&self, permit: &Permit, kind: &str, input: Vec<u8>) -> Result<Running, Crash> {
        let takes =
            |effect: &Effect| matches!(effect, Effect::Read(_) | Effect::Write(_) | Effect::Net(_) | Effect::Fetch(_));
        if !permit.effects().all.iter().any(takes) {
            return Err(Crash::Start(io::Error::other("this call was not allowed to read anything")));
        }
        let mut child = Command::new(&self.exe)
            .args(self.args.iter().map(OsStr::new))
            .arg(kind)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own: what it might have started dies with it.
            .process_group(0)
            .spawn()
            .map_err(Crash::Start)?;
        let ready = (|| {
            rustix::io::ioctl_fionbio(child.stdin.as_ref().ok_or(Errno::PIPE)?, true)?;
            rustix::io::ioctl_fionbio(child.stdout.as_ref().ok_or(Errno::PIPE)?, true)
        })();
        if let Err(error) = ready {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Crash::Start(error.into()));
        }
        Ok(Running {
            child,
            input,
            sent: 0,
            started: Instant::now(),
            wall: self.wall,
            max_output_bytes: self.max_output_bytes,
            reaped: false,
        })
    }
}

impl Running {
    /// Waits for the answer, `stopped` being asked every 10 ms. Blocks: not for an async thread.
    pub fn finish(mut self, stopped: &dyn Fn() -> bool) -> Result<Vec<u8>, Crash> {
        let mut output = Vec::new();
        let (mut stdin, mut stdout) = (self.child.stdin.take(), self.child.stdout.take());
        while let Some(from) = &mut stdout {
            self.still_wanted(stopped)?;
            match await_any(stdin.as_ref(), from) {
                Ok((false, false)) => continue,
                Ok((writable, readable)) => {
                    if writable && self.send(stdin.as_mut()) {
                        // Closed, so that the child sees the end.
                        stdin = None;
                        self.input = Vec::new();
                    }
                    if readable && receive(from, &mut output).map_err(Crash::Io)? {
                        stdout = None;
                    }
                }
                Err(error) => return Err(Crash::Io(error)),
            }
            if output.len() > self.max_output_bytes {
                return Err(Crash::TooMuch(self.max_output_bytes));
            }
        }
        loop {
            if let Some(status) = self.child.try_wait().map_err(Crash::Io)? {
                self.reaped = true;
                return match (status.code(), status.signal()) {
                    (Some(0), _) => Ok(output),
                    (Some(code), _) => Err(Crash::Exit(code)),
                    (None, signal) => Err(Crash::Signal(signal.unwrap_or(0))),
                };
            }
            self.still_wanted(stopped)?;
            // Its output is closed, so it is about to be gone: microseconds, not milliseconds.
            std::thread::sleep(Duration::from_micros(50));
        }
    }

    fn still_wanted(&self, stopped: &dyn Fn() -> bool) -> Result<(), Crash> {
        if stopped() {
            return Err(Crash::Cancelled);
        }
        if self.started.elapsed() >= self.wall {
            return Err(Crash::TimedOut(self.wall));
        }
        Ok(())
    }

    /// Sends what the pipe takes; true when nothing is left to send, or nobody reads it.
    fn send(&mut self, stdin: Option<&mut ChildStdin>) -> bool {
        let Some(stdin) = stdin else { return true };
        while self.sent < self.input.len() {
            match stdin.write(&self.input[self.sent..]) {
                Ok(0) => return true,
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The child answered without reading all: its answer counts.
                Err(_) => return true,
            }
        }
        true
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        // Not yet waited for, so neither the process nor the group can be anybody else's.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits a moment until the child takes input or gives output.
fn await_any(stdin: Option<&ChildStdin>, stdout: &ChildStdout) -> io::Result<(bool, bool)> {
    let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
    let mut fds = vec![PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::IN)];
    fds.extend(stdin.map(|stdin| PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::OUT)));
    match poll(&mut fds, Some(&moment)) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok((false, false)),
        Err(error) => return Err(error.into()),
    }
    let readable = !fds[0].revents().is_empty();
    let writable = fds.get(1).is_some_and(|fd| !fd.revents().is_empty());
    Ok((writable, readable))
}

/// Reads one piece; true at the end.
fn receive(stdout: &mut ChildStdout, output: &mut Vec<u8>) -> io::Result<bool> {
    let mut piece = [0; PIPE_BYTES];
    match stdout.read(&mut piece) {
        Ok(0) => Ok(true),
        Ok(read) => {
            output.extend_from_slice(&piece[..read]);
            Ok(false)
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
