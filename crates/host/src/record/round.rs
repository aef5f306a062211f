//! Rounds over paths that were left alone, one path a step, as a stopped call waits for a step. What processes hold is
//! looked at in one: looked at piece by piece, what one hands to another meanwhile would be seen with neither.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::held_open::Held;
use super::sight::Sight;
use super::turn::Turn;
use crate::proc::tree;

/// The shortest time between two rounds, and how many times what the last look at processes took: a twentieth of a
/// processor.
const BETWEEN_ROUNDS: Duration = Duration::from_millis(250);
const SHARE: u32 = 20;

/// Paths that had been left alone at a moment, and what the command could write then all the same.
pub(super) struct Round {
    since: Instant,
    paths: Vec<PathBuf>,
    held: Held,
    /// When the next one may begin: each looks at all processes.
    next: Instant,
}

impl Default for Round {
    fn default() -> Round {
        let now = Instant::now();
        Round { since: now, paths: Vec::new(), held: Held::default(), next: now }
    }
}

impl Round {
    /// Until a step is to be taken.
    pub(super) fn wait(&self, turn: &Turn) -> Option<Duration> {
        if !self.paths.is_empty() {
            return Some(Duration::ZERO);
        }
        Some(turn.next_look()?.max(self.next).saturating_duration_since(Instant::now()))
    }

    /// Looks at the next path, or begins a round: over all that were left alone, with what all below `above` hold.
    pub(super) fn step(&mut self, turn: &mut Turn, sight: &Sight, above: Pid) {
        if let Some(path) = self.paths.pop() {
            return turn.look(&path, self.since, &self.held, sight);
        }
        let since = Instant::now();
        let paths = turn.at_rest(since);
        // Who opens one of them from now on makes a call that says so.
        let held = Held::by(&tree::below(above));
        let now = Instant::now();
        *self = Round { since, paths, held, next: now + BETWEEN_ROUNDS.max((now - since) * SHARE) };
    }
}
