//! A person's own command with a say in a call: JSON in, an answer out, within bounds of time and size.
//!
//! It runs before there is a permit, under the configuration that names it: [`Configured`] holds the command
//! line, and nothing else can be run from here. Its environment is what it is given and nothing of ours. It
//! dies with its group and with all that has its mark in the environment, wherever that went: at its end as well, as
//! what it left behind in the background is not waited for, and at ours, which a [`guard`] sees to.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nika_guard::Configured;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use self::guarded::Guarded;
use super::jobs::random_word;
use super::tree;

mod guarded;

pub use self::guarded::guard;

/// How much a hook may answer: a rewrite of the largest write we take.
const MAX_OUTPUT_BYTES: usize = 1 << 20;
/// How much of its complaints is kept.
const MAX_STDERR_BYTES: usize = 4 << 10;
/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(10);
/// A pipe's usual size.
const PIPE_BYTES: usize = 64 << 10;

/// Where hooks run and what they find there.
#[derive(Debug, Clone, Default)]
pub struct HookRunner {
    /// The directory that they start in.
    pub dir: PathBuf,
    /// Their whole environment, but for what a run adds.
    pub env: Vec<(String, String)>,
    /// The program that ends a hook when we are killed, as `exe __guard`; without one it goes on until it ends by itself.
    pub guard: Option<PathBuf>,
}

/// The variable by which what a hook started is found when it left the group.
const MARK: &str = "NIKA_HOOK";
/// How often what a hook left is looked for anew: something of it may start something while it is killed.
const SWEEPS: usize = 20;

/// A hook at work. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub struct RunningHook {
    child: Child,
    /// Name and value.
    mark: String,
    exited: OwnedFd,
    input: Vec<u8>,
    started: Instant,
    wall: Duration,
    reaped: bool,
    /// Let go of when the hook is over.
    _guarded: Option<Guarded>,
}

/// How a hook ended.
#[derive(Debug)]
pub enum HookEnd {
    /// With status 0 and this answer.
    Answered(Vec<u8>),
    /// With another status, and the beginning of what it complained.
    Exited(i32, String),
    /// By a signal.
    Killed(i32),
    /// It took longer than it may.
    TimedOut,
    /// There is no such program, or it cannot be started.
    NotFound(io::Error),
    /// It answered more than this many bytes.
    TooMuch(usize),
    /// Nobody wants its answer any more.
    Cancelled,
    /// The system failed between us.
    Io(io::Error),
}

impl HookRunner {
    /// Starts what was configured on `input`, with `more` in its environment.
    pub fn start(
        &self,
        configured: &Configured,
        more: &[(&str, &str)],
        input: Vec<u8>,
        wall: Duration,
    ) -> Result<RunningHook, HookEnd> {
        let mark = random_word().map_err(HookEnd::Io)?;
        // Before the hook, so that it is hardly a moment on its own.
        let guarded = self.guard.as_deref().map(|exe| Guarded::by(exe, &mark)).transpose().map_err(HookEnd::Io)?;
        let mut child = Command::new(program(configured.program(), &self.dir))
            .args(&configured.argv()[1..])
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .envs(more.iter().copied())
            .env(MARK, &mark)
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(HookEnd::NotFound)?;
        let mark = format!("{MARK}={mark}");
        if let Some(guarded) = &guarded {
            guarded.is_now(&child);
        }
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let ready = (|| {
            rustix::io::ioctl_fionbio(child.stdin.as_ref().ok_or(Errno::PIPE)?, true)?;
            rustix::io::ioctl_fionbio(child.stdout.as_ref().ok_or(Errno::PIPE)?, true)?;
            rustix::io::ioctl_fionbio(child.stderr.as_ref().ok_or(Errno::PIPE)?, true)?;
            pidfd_open(pid.ok_or(Errno::SRCH)?, PidfdFlags::empty())
        })();
        match ready {
            Ok(exited) => {
                let started = Instant::now();
                Ok(RunningHook { child, mark, exited, input, started, wall, reaped: false, _guarded: guarded })
            }
            Err(error) => {
                kill(&mut child, &mark);
                Err(HookEnd::Io(error.into()))
            }
        }
    }
}

/// A relative path is one below the directory, whatever the system would make of it.
fn program(written: &str, dir: &Path) -> PathBuf {
    if written.contains('/') { dir.join(written) } else { PathBuf::from(written) }
}

impl RunningHook {
    /// Waits for its end, `stopped` being asked every 10 ms. Blocks: not for an async thread.
    pub fn finish(mut self, stopped: &dyn Fn() -> bool) -> HookEnd {
        self.wait(stopped).unwrap_or_else(|end| end)
    }

    fn wait(&mut self, stopped: &dyn Fn() -> bool) -> Result<HookEnd, HookEnd> {
        let failed = |error: Errno| HookEnd::Io(error.into());
        let mut stdin = self.child.stdin.take().map(|pipe| File::from(OwnedFd::from(pipe)));
        let mut stdout = self.child.stdout.take().map(|pipe| File::from(OwnedFd::from(pipe)));
        let mut stderr = self.child.stderr.take().map(|pipe| File::from(OwnedFd::from(pipe)));
        let (mut output, mut complaint, mut sent) = (Vec::new(), Vec::new(), 0);
        loop {
            if stopped() {
                return Err(HookEnd::Cancelled);
            }
            let left = self.wall.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                return Err(HookEnd::TimedOut);
            }
            let has_exited = self.await_any([&stdin, &stdout, &stderr], left.min(LOOK)).map_err(failed)?;
            if stdin.as_mut().is_some_and(|pipe| send(pipe, &self.input, &mut sent)) {
                // Closed, so that it sees the end.
                stdin = None;
            }
            if stdout.as_mut().is_some_and(|pipe| receive(pipe, &mut output, MAX_OUTPUT_BYTES + 1)) {
                stdout = None;
            }
            if output.len() > MAX_OUTPUT_BYTES {
                return Err(HookEnd::TooMuch(MAX_OUTPUT_BYTES));
            }
            if stderr.as_mut().is_some_and(|pipe| receive(pipe, &mut complaint, usize::MAX)) {
                stderr = None;
            }
            complaint.truncate(MAX_STDERR_BYTES);
            if has_exited {
                // All it wrote lies in the pipes by now and was read above: a pipe holds what fits it, and
                // `receive` empties it.
                kill_all(&self.child, &self.mark);
                let status = self.child.wait().map_err(HookEnd::Io)?;
                self.reaped = true;
                return Ok(match (status.code(), status.signal()) {
                    (Some(0), _) => HookEnd::Answered(output),
                    (Some(code), _) => HookEnd::Exited(code, String::from_utf8_lossy(&complaint).trim().to_owned()),
                    (None, signal) => HookEnd::Killed(signal.unwrap_or(0)),
                });
            }
        }
    }

    /// Waits a moment until something happens; whether the hook has exited.
    fn await_any(&self, [stdin, stdout, stderr]: [&Option<File>; 3], moment: Duration) -> Result<bool, Errno> {
        let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(moment.subsec_nanos()) };
        let mut fds = vec![PollFd::from_borrowed_fd(self.exited.as_fd(), PollFlags::IN)];
        fds.extend(stdin.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT)));
        for pipe in [stdout, stderr] {
            fds.extend(pipe.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        }
        match poll(&mut fds, Some(&moment)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for RunningHook {
    fn drop(&mut self) {
        if !self.reaped {
            kill(&mut self.child, &self.mark);
        }
    }
}

/// Before it is waited for, so neither the process nor the group can be anybody else's.
fn kill_all(child: &Child, mark: &str) {
    let Some(hook) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let _ = kill_process_group(hook, Signal::KILL);
    // What called `setsid` is in the group no more.
    for _ in 0..SWEEPS {
        let left = tree::marked_since(mark, hook);
        if left.is_empty() {
            return;
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn kill(child: &mut Child, mark: &str) {
    kill_all(child, mark);
    let _ = child.kill();
    let _ = child.wait();
}

/// Sends what the pipe takes; true when nothing is left to send, or nobody reads it.
fn send(pipe: &mut File, input: &[u8], sent: &mut usize) -> bool {
    while *sent < input.len() {
        match pipe.write(&input[*sent..]) {
            Ok(0) => return true,
            Ok(more) => *sent += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // It answers without reading all: its answer counts.
            Err(_) => return true,
        }
    }
    true
}

/// Reads what is there, until `output` holds `most`; true at the end.
fn receive(pipe: &mut File, output: &mut Vec<u8>, most: usize) -> bool {
    let mut piece = [0; PIPE_BYTES];
    // As much as a pipe holds, and not for ever: who writes endlessly is met by the limits between two looks.
    for _ in 0..16 {
        if output.len() >= most {
            return false;
        }
        match pipe.read(&mut piece) {
            Ok(0) => return true,
            Ok(read) => output.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests;
