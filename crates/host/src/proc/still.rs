//! Has all that lives below a process stand still, so that what it holds can be looked at: piece by piece, what one hands to
//! another meanwhile would be seen with neither.
//!
//! From the top, and each level only when the one above it stands. Who waits for a child is told that it was stopped: a shell
//! with job control would take that for Ctrl-Z, and go on without what it had in front.

use std::collections::HashSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree;

/// How long that may take. Who waits in the kernel for a child that stands still, as `posix_spawn` has it, or for a disk,
/// comes to a stop later; it does nothing else meanwhile.
const WITHIN: Duration = Duration::from_millis(20);
/// How long those who are about to may take before the others below them are stopped all the same. On a busy machine it takes
/// a while until each has its turn; what is written meanwhile is looked at afterwards.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long to wait for those that are about to.
const A_MOMENT: Duration = Duration::from_micros(50);

/// Processes that stand still. Dropped, it lets those go on that were stopped here; but not where the thread panics: what was
/// to be found out meanwhile is not known then, and the supervisor's end is theirs.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Still {
    all: Vec<Pid>,
    /// Those that did not before.
    stopped: Vec<Pid>,
}

impl Still {
    /// All below `root`, but for `frame`.
    pub(super) fn below(root: Pid, frame: Option<Pid>) -> Still {
        Still::among(|| tree::below(root).into_iter().filter(|pid| Some(*pid) != frame).collect())
    }

    /// All that `look` finds, parents first.
    fn among(look: impl Fn() -> Vec<Pid>) -> Still {
        let (mut still, began) = (Still::default(), Instant::now());
        loop {
            let there = look();
            // Who came meanwhile, and who was let go on by one that was stopped only after that, is stopped now.
            let running: Vec<Pid> = there.iter().copied().filter(|pid| !tree::stands_still(*pid)).collect();
            let heeds: HashSet<i32> = running.iter().filter(|pid| tree::heeds(**pid)).map(number).collect();
            let is_patient = began.elapsed() < PATIENCE;
            let waits = |pid: &Pid| tree::look(number(pid)).is_some_and(|process| heeds.contains(&process.parent));
            for pid in running.iter().filter(|pid| !is_patient || !waits(pid)) {
                let _ = kill_process(*pid, Signal::STOP);
                if !still.stopped.contains(pid) {
                    still.stopped.push(*pid);
                }
            }
            let are_all_known = there == still.all;
            still.all = there;
            let at_most = if heeds.is_empty() { WITHIN } else { PATIENCE + WITHIN };
            if running.is_empty() && are_all_known || began.elapsed() >= at_most {
                return still;
            }
            if !running.is_empty() {
                sleep(A_MOMENT);
            }
        }
    }

    pub(super) fn processes(&self) -> &[Pid] {
        &self.all
    }

    /// Lets nobody go on any more: whoever calls this kills them.
    pub(super) fn until_killed(mut self) {
        self.stopped.clear();
    }
}

fn number(pid: &Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

impl Drop for Still {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        // Children first, so that none is told that its child stands still.
        for pid in self.stopped.iter().rev() {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_shell_with_job_control_does_not_learn_that_its_command_stood_still() {
        // Each would say so when what it has in front is stopped, as by Ctrl-Z, and go on.
        let script = "set -m; bash -c 'set -m; (echo up; while :; do :; done); echo inner went on'; echo outer went on";
        let mut shell = Command::new("setsid");
        shell.args(["bash", "-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut shell) = shell.spawn() else { return eprintln!("skipped: there is no setsid here") };
        let mut from = shell.stdout.take().expect("piped");
        from.read_exact(&mut [0; 3]).expect("it is up");
        let root = Pid::from_child(&shell);
        let all = || [root].into_iter().chain(tree::below(root)).collect::<Vec<Pid>>();
        let known = all();
        for _ in 0..200 {
            drop(Still::among(all));
            sleep(A_MOMENT);
        }
        // One that goes on ends.
        let there = all();
        for pid in &known {
            let _ = kill_process(*pid, Signal::KILL);
        }
        shell.wait().expect("waited for");
        assert_eq!((known.len(), there), (3, known));
    }

    #[test]
    fn all_below_stand_still_go_on_and_who_stood_before_stays_so() {
        // A shell with a child that answers, and one that was stopped by its own parent.
        let script = "sleep 60 & kill -STOP $!; cat; wait";
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().expect("sh runs");
        let (mut to, mut from) = (shell.stdin.take().expect("piped"), shell.stdout.take().expect("piped"));
        let mut echoes = || {
            to.write_all(b"a").expect("written");
            from.read_exact(&mut [0]).expect("read");
        };
        echoes();
        let root = Pid::from_child(&shell);
        // The signal that stops one may be on its way still.
        let all_and_stood = || {
            let below = tree::below(root);
            let stood: Vec<Pid> = below.iter().copied().filter(|pid| tree::stands_still(*pid)).collect();
            (below, stood)
        };
        let late = Instant::now() + Duration::from_secs(20);
        let (below, stood) = loop {
            let (below, stood) = all_and_stood();
            if (below.len(), stood.len()) == (2, 1) || Instant::now() >= late {
                break (below, stood);
            }
            sleep(A_MOMENT);
        };
        assert_eq!((below.len(), stood.len()), (2, 1));
        // On a busy machine one may hear of it late.
        let until_all_stand = |of: &[Pid]| {
            let late = Instant::now() + Duration::from_secs(20);
            while !of.iter().all(|pid| tree::stands_still(*pid)) {
                assert!(Instant::now() < late, "they were told to stand still");
                sleep(A_MOMENT);
            }
        };
        let still = Still::below(root, None);
        assert_eq!(still.processes().len(), 2);
        until_all_stand(still.processes());
        drop(still);
        echoes();
        assert!(stood.iter().all(|pid| tree::stands_still(*pid)));
        // Not those that are about to be killed, nor where nobody knows what was found out.
        Still::below(root, None).until_killed();
        until_all_stand(&below);
        for pid in below.iter().filter(|pid| !stood.contains(pid)) {
            kill_process(*pid, Signal::CONT).expect("it is there");
        }
        echoes();
        let panics = std::panic::catch_unwind(|| {
            let _still = Still::below(root, None);
            panic!("while they stand still");
        });
        assert!(panics.is_err());
        until_all_stand(&below);
        for pid in below {
            let _ = kill_process(pid, Signal::KILL);
        }
        shell.kill().expect("killed");
        shell.wait().expect("waited for");
    }
}
