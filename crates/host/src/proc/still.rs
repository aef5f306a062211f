//! Has all that lives below a process stand still, so that what it holds can be looked at: piece by piece, what one hands to
//! another meanwhile would be seen with neither.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree;

/// How long that may take. Who waits in the kernel for a child that stands still, as `posix_spawn` has it, or for a disk,
/// comes to a stop later; it does nothing else meanwhile.
const WITHIN: Duration = Duration::from_millis(20);
/// How long to wait for those that are about to.
const A_MOMENT: Duration = Duration::from_micros(50);

/// Processes that stand still until [`Still::go_on`], or until they are killed.
#[derive(Debug, Default)]
pub(super) struct Still {
    all: Vec<Pid>,
    /// Those that did not before.
    stopped: Vec<Pid>,
}

impl Still {
    /// All below `root`, but for `frame`.
    pub(super) fn below(root: Pid, frame: Pid) -> Still {
        let (mut still, until) = (Still::default(), Instant::now() + WITHIN);
        loop {
            let there: Vec<Pid> = tree::below(root).into_iter().filter(|pid| *pid != frame).collect();
            // Who came meanwhile, and who was let go on by one that was stopped only after that, is stopped now.
            let running: Vec<Pid> = there.iter().copied().filter(|pid| !tree::stands_still(*pid)).collect();
            for pid in &running {
                let _ = kill_process(*pid, Signal::STOP);
            }
            still.stopped.extend(running.iter().filter(|pid| !still.stopped.contains(pid)).collect::<Vec<_>>());
            let are_all_known = there == still.all;
            still.all = there;
            if running.is_empty() && are_all_known || Instant::now() >= until {
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

    /// Lets those go on that were stopped here: children first, so that none is told that its child stands still.
    pub(super) fn go_on(self) {
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
        let (me, root) = (rustix::process::getpid(), Pid::from_child(&shell));
        let below = tree::below(root);
        let stood: Vec<Pid> = below.iter().copied().filter(|pid| tree::stands_still(*pid)).collect();
        assert_eq!((below.len(), stood.len()), (2, 1));
        let still = Still::below(root, me);
        assert_eq!(still.processes().len(), 2);
        // On a busy machine one may hear of it late.
        let late = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !still.processes().iter().all(|pid| tree::stands_still(*pid)) {
            assert!(std::time::Instant::now() < late, "they were told to stand still");
            sleep(A_MOMENT);
        }
        still.go_on();
        echoes();
        assert!(stood.iter().all(|pid| tree::stands_still(*pid)));
        for pid in below {
            let _ = kill_process(pid, Signal::KILL);
        }
        shell.kill().expect("killed");
        shell.wait().expect("waited for");
    }
}
