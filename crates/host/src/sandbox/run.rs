//! One command from its start to its end, in this process's own foreground.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Held, Profile};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::{Ended, Entered, Reach, Ready, Refusal, Stops, Target, base, enter_ready, heard, hearing};
use crate::connect::{self, Room};

/// How a command went.
#[derive(Debug)]
pub struct Finished {
    /// How it ended; `None` when it was stopped for its time.
    pub ended: Option<Ended>,
    /// The signal that asked this process to end meanwhile.
    pub interrupted: Option<i32>,
    /// What held it.
    pub held: Held,
    /// Guarded names that came to be and were set aside, by their new names.
    pub aside: Vec<PathBuf>,
}

/// Runs `target` under `profile` to its end. A request to end (an interrupt, a hang-up) ends the command first, so
/// that nothing of it stays behind; those signals are blocked in this process from then on.
pub fn run(profile: &Profile, target: Target, reach: Option<Reach>) -> Result<Finished, Refusal> {
    let failed = |error: std::io::Error| Refusal::of("a way to end it early", "signalfd", error);
    let signals = base::block_and_watch_signals().map_err(failed)?;
    let (mut entered, _) = enter_connecting(None, profile, target, reach)?;
    let held = entered.held().clone();
    let until = (profile.limits.wall_ms > 0).then(|| Instant::now() + Duration::from_millis(profile.limits.wall_ms));
    let (mut ended, mut interrupted) = (None, None);
    while ended.is_none() && interrupted.is_none() {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        let status = entered.status();
        let mut fds = [PollFd::from_borrowed_fd(status, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut fds, left.as_ref()) {
            Ok(0) => break,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(failed(error.into())),
        }
        if !fds[0].revents().is_empty() {
            ended = entered.wait(None).map_err(failed)?;
        } else {
            interrupted = base::signal_of(&signals);
        }
    }
    let aside = entered.finish();
    Ok(Finished { ended, interrupted, held, aside })
}

/// Starts `target` as [`super::enter`] does, and makes the connections of one that may write, on a thread that ends with
/// it.
pub(super) fn enter_connecting(
    ready: Option<Ready>,
    profile: &Profile,
    mut target: Target,
    reach: Option<Reach>,
) -> Result<(Entered, Option<JoinHandle<()>>), Refusal> {
    let failed = |error: std::io::Error| Refusal::of("connections in its place", "socket", error);
    if profile.access != Access::Workspace || !connect::can_ask(rustix::process::getpid()) {
        return Ok((enter_ready(ready, profile, target, reach)?, None));
    }
    let shares = target.network.is_some();
    let (ours, theirs) = hearing().map_err(failed)?;
    target.stops = Some((Stops::AtConnects, theirs));
    let entered = enter_ready(ready, profile, target, reach)?;
    let listener = heard(&ours).map_err(failed)?;
    let thread =
        listener.map(|listener| connect::watch(listener, shares, &Room::default())).transpose().map_err(failed)?;
    Ok((entered, thread))
}
