//! Who ends a hook when this program is killed: our own program again, as `nika __guard`.
//!
//! ```text
//! nika ──the hook's mark, its process id──▶ guard ──at the end of that pipe──▶ kills what has the mark
//!      ──kill, when the hook is over──▶
//! ```
//!
//! A signal at the death of a parent would reach the hook's first process alone. A guard has no part in how a hook runs,
//! so hooks are what they would be without one.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{MARK, SWEEPS};
use crate::proc::supervise::signals;
use crate::proc::tree;

/// How long a hook may take between its first process and its own program.
const BEGINS_WITHIN: Duration = Duration::from_millis(200);

/// A hook that somebody watches over. Dropped, it is over.
#[derive(Debug)]
pub(super) struct Guarded(Child);

impl Guarded {
    /// Starts a guard over what will have this mark.
    pub(super) fn by(exe: &Path, mark: &str) -> io::Result<Guarded> {
        let guard = Command::new(exe)
            .arg("__guard")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Not ours: what ends our group must leave it the time to end the hook.
            .process_group(0)
            .spawn()?;
        let guarded = Guarded(guard);
        guarded.say(mark);
        Ok(guarded)
    }

    /// Its first process leads a group, in which what has lost the mark may be.
    pub(super) fn is_now(&self, hook: &Child) {
        self.say(&hook.id().to_string());
    }

    fn say(&self, line: &str) {
        // One that somebody killed hears nothing, and guards nothing.
        let _ = self.0.stdin.as_ref().map(|mut pipe| pipe.write_all(format!("{line}\n").as_bytes()));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Before its pipe is closed; and nobody waits for one that has hardly begun.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Watches over the hook that standard input, which is `told`, tells of, and ends it when whoever tells is gone. Call it
/// before anything else.
pub fn guard(told: impl BufRead) -> ExitCode {
    signals::close_from(3);
    let mut told = told.lines().map_while(Result::ok);
    let Some(mark) = told.next() else { return ExitCode::FAILURE };
    let id: Option<i32> = told.next().and_then(|line| line.parse().ok());
    // While its owner lives, its number is nobody else's.
    let hook = id.and_then(|id| Some((Pid::from_raw(id)?, tree::look(id)?.started_ticks)));
    told.for_each(drop);
    end(&format!("{MARK}={mark}"), hook);
    ExitCode::SUCCESS
}

/// Ends the group that a process leads which began then, and what has the mark.
fn end(mark: &str, hook: Option<(Pid, u64)>) {
    let still = |pid: Pid, began| tree::look(pid.as_raw_nonzero().get()).is_some_and(|now| now.started_ticks == began);
    if let Some((pid, _)) = hook.filter(|(pid, began)| still(*pid, *began)) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    for _ in 0..SWEEPS {
        let left = tree::marked(mark);
        match (left.is_empty(), hook) {
            (true, Some(_)) => return,
            // It may be about to begin: what is not a hook yet has no mark.
            (true, None) => std::thread::sleep(BEGINS_WITHIN / SWEEPS as u32),
            _ => {}
        }
        for pid in left {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
