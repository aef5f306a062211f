//! What a call turned out to do that its arguments do not say: `git switch` brings guarded files, and which ones only
//! the branch knows; a script runs git. Nothing of such a run is applied; the call is judged again, with these as effects
//! of its own.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use nika_guard::{Effect, Effects};

use crate::CallId;
use crate::session::SessionState;

/// Findings that are remembered at once. Each goes with its call.
const MOST: usize = 64;

/// What a call turned out to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnedOut {
    /// Beside what it was judged for.
    pub effects: Vec<Effect>,
    /// What a question shows of it, such as a diff.
    pub shown: Option<String>,
    /// Stands for what is shown: a yes is to that and nothing else.
    pub mark: Option<String>,
}

/// What one call was judged for, and what was found beside that.
#[derive(Debug)]
struct Found {
    call: CallId,
    judged: Vec<Effect>,
    turned_out: TurnedOut,
}

/// A session's findings.
#[derive(Debug, Default)]
pub struct Foreseen(Mutex<VecDeque<Found>>);

impl Foreseen {
    fn with<T>(session: &SessionState, work: impl FnOnce(&mut VecDeque<Found>) -> T) -> T {
        work(&mut session.slot::<Foreseen>().0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Until `call` has ended, what has the effects `judged` does this, too.
    pub fn note(session: &SessionState, call: &CallId, judged: &Effects, turned_out: TurnedOut) {
        Foreseen::with(session, |all| {
            all.truncate(MOST - 1);
            all.push_front(Found { call: call.clone(), judged: judged.all.clone(), turned_out });
        });
    }

    /// The call has ended, whatever came of it.
    pub fn forget(session: &SessionState, call: &CallId) {
        Foreseen::with(session, |all| all.retain(|found| found.call != *call));
    }

    /// `effects`, and what is known of a call that has them.
    pub fn with_known(session: &SessionState, mut effects: Effects) -> Effects {
        Foreseen::with(session, |all| {
            // Each round adds something, and all that is added was noted once: it ends.
            let known =
                |found: &&Found, effects: &Effects| found.judged == effects.all && !found.turned_out.effects.is_empty();
            while let Some(found) = all.iter().find(|found| known(found, &effects)) {
                effects.all.extend(found.turned_out.effects.iter().cloned());
            }
        });
        effects
    }

    /// The last that was found of a call which has `effects`, as [`Foreseen::with_known`] gives them.
    pub fn last(session: &SessionState, effects: &Effects) -> Option<TurnedOut> {
        let is_last = |found: &&Found| {
            let added = effects.all.strip_prefix(&found.judged[..]);
            added.is_some_and(|added| !added.is_empty() && *added == found.turned_out.effects[..])
        };
        Foreseen::with(session, |all| all.iter().find(is_last).map(|found| found.turned_out.clone()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use nika_guard::{Exec, ExecKind, Place};

    use super::*;

    fn runs(word: &str) -> Effects {
        let exec = Exec::plain(vec![vec!["git".into(), word.into()]], ExecKind::WritesInside, "it writes");
        Effects { tool: "bash".into(), all: vec![Effect::Exec(exec)] }
    }

    fn writes(name: &str) -> TurnedOut {
        TurnedOut { effects: vec![Effect::Write(Place::outside(Path::new(name)))], ..TurnedOut::default() }
    }

    #[test]
    fn what_was_found_goes_with_calls_of_the_same_effects_until_its_own_has_ended() {
        let session = SessionState::new("s", true);
        let [one, other] = ["one", "other"].map(|name| CallId(name.into()));
        Foreseen::note(&session, &one, &runs("switch"), writes("/w/a"));
        let once = Foreseen::with_known(&session, runs("switch"));
        assert_eq!(once.all.len(), 2);
        assert_eq!(Foreseen::with_known(&session, runs("merge")), runs("merge"));
        Foreseen::note(&session, &one, &once, writes("/w/b"));
        let twice = Foreseen::with_known(&session, runs("switch"));
        assert_eq!(twice.all[1..], [writes("/w/a").effects, writes("/w/b").effects].concat());
        assert_eq!(Foreseen::last(&session, &twice), Some(writes("/w/b")));
        assert_eq!(Foreseen::last(&session, &once), Some(writes("/w/a")));
        assert_eq!(Foreseen::last(&session, &runs("switch")), None);
        Foreseen::forget(&session, &other);
        assert_eq!(Foreseen::with_known(&session, runs("switch")), twice);
        Foreseen::forget(&session, &one);
        assert_eq!(Foreseen::with_known(&session, runs("switch")), runs("switch"));
    }
}
