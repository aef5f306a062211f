//! What a call turned out to change that its arguments do not say: `git switch` brings guarded files, and which ones only
//! the branch knows. Nothing of such a run is applied; the call is judged again, with these as effects of its own.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use nika_guard::{Effect, Effects, Place};

use crate::CallId;
use crate::session::SessionState;

/// Findings that are remembered at once. Each goes with its call.
const MOST: usize = 64;

/// What one call was judged for, and the places that were found beside that.
#[derive(Debug)]
struct Found {
    call: CallId,
    judged: Vec<Effect>,
    places: Vec<Place>,
}

/// A session's findings.
#[derive(Debug, Default)]
pub struct Foreseen(Mutex<VecDeque<Found>>);

impl Foreseen {
    fn with<T>(session: &SessionState, work: impl FnOnce(&mut VecDeque<Found>) -> T) -> T {
        work(&mut session.slot::<Foreseen>().0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Until `call` has ended, what has the effects `judged` writes `places`, too.
    pub fn note(session: &SessionState, call: &CallId, judged: &Effects, places: Vec<Place>) {
        Foreseen::with(session, |all| {
            all.truncate(MOST - 1);
            all.push_front(Found { call: call.clone(), judged: judged.all.clone(), places });
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
            let known = |found: &&Found, effects: &Effects| found.judged == effects.all && !found.places.is_empty();
            while let Some(found) = all.iter().find(|found| known(found, &effects)) {
                effects.all.extend(found.places.iter().cloned().map(Effect::Write));
            }
        });
        effects
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use nika_guard::{Exec, ExecKind};

    use super::*;

    fn runs(word: &str) -> Effects {
        let exec = Exec::plain(vec![vec!["git".into(), word.into()]], ExecKind::WritesInside, "it writes");
        Effects { tool: "bash".into(), all: vec![Effect::Exec(exec)] }
    }

    fn place(name: &str) -> Place {
        Place::outside(Path::new(name))
    }

    #[test]
    fn what_was_found_goes_with_calls_of_the_same_effects_until_its_own_has_ended() {
        let session = SessionState::new("s", true);
        let [one, other] = ["one", "other"].map(|name| CallId(name.into()));
        Foreseen::note(&session, &one, &runs("switch"), vec![place("/w/a")]);
        let once = Foreseen::with_known(&session, runs("switch"));
        assert_eq!(once.all.len(), 2);
        assert_eq!(Foreseen::with_known(&session, runs("merge")), runs("merge"));
        Foreseen::note(&session, &one, &once, vec![place("/w/b")]);
        let twice = Foreseen::with_known(&session, runs("switch"));
        assert_eq!(twice.all[1..], [Effect::Write(place("/w/a")), Effect::Write(place("/w/b"))]);
        Foreseen::forget(&session, &other);
        assert_eq!(Foreseen::with_known(&session, runs("switch")), twice);
        Foreseen::forget(&session, &one);
        assert_eq!(Foreseen::with_known(&session, runs("switch")), runs("switch"));
    }
}
