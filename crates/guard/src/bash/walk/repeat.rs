//! Loops: a body is judged as if any round of it were the one that runs.

use super::super::judge::Stdin;
use super::super::script::Script;
use super::merge::{forget, merge};
use super::{State, Walker};

/// What the round of a loop has done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    /// It has moved to another directory.
    pub moved: bool,
    /// It may have ended before its end.
    pub cut: bool,
}

impl<'a> Walker<'a> {
    /// A body that may run any number of times: what it changes is not known inside it.
    pub(super) fn repeat(&mut self, scripts: &[&Script], state: &mut State, run: impl Fn(&mut Self, &mut State)) {
        forget(scripts, state);
        self.names.arrays.loops += 1;
        self.reading.functions.forgotten(state);
        let mut before = state.clone();
        let reports = self.reports.len();
        let taken = self.taken;
        let round = std::mem::take(&mut self.round);
        run(self, state);
        if state.frozen != before.frozen {
            // A second round starts with what the first made readonly.
            self.reports.truncate(reports);
            before.frozen = std::mem::take(&mut state.frozen);
            *state = before.clone();
            run(self, state);
        }
        if state.stdin != before.stdin {
            // `exec` has put something else in its place.
            self.reports.truncate(reports);
            before.stdin = Stdin::Unknown;
            *state = before.clone();
            run(self, state);
        }
        if self.taken.tells_more_than(taken, &before.stdin) {
            // The second round finds less on standard input than the first one was judged by.
            self.reports.truncate(reports);
            *state = before.clone();
            run(self, state);
        }
        // Where it stands at its end is not where `break` or `continue` leave it.
        if state.place() != before.place() || self.round.moved && self.round.cut {
            // A second round starts somewhere else: judge it from nowhere instead.
            self.reports.truncate(reports);
            *state = before.clone();
            state.strays();
            run(self, state);
            state.strays();
        }
        self.names.arrays.loops -= 1;
        self.round.moved |= round.moved;
        self.round.cut |= round.cut;
        *state = merge(vec![before, state.clone()]).unwrap_or_else(|| state.clone());
    }
}
