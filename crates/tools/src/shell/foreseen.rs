//! What a command line turned out to change that its text does not say: `git switch` brings guarded files, and which ones
//! only the branch knows. Nothing of such a run is applied; the call is judged again, with these as effects of its own.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use nika_contract::SessionState;
use nika_guard::{Effect, Effects, Place};

/// Calls that are remembered. Each is judged again at once, or when it is made again.
const MOST: usize = 16;

/// Kept by a session: effects that were judged, and the places that were found beside them.
#[derive(Debug, Default)]
struct Foreseen(Mutex<VecDeque<(Vec<Effect>, Vec<Place>)>>);

impl Foreseen {
    fn with<T>(&self, work: impl FnOnce(&mut VecDeque<(Vec<Effect>, Vec<Place>)>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// From now on, what has the effects `judged` writes `places`, too.
pub(super) fn note(session: &SessionState, judged: &Effects, places: Vec<Place>) {
    session.slot::<Foreseen>().with(|all| {
        all.truncate(MOST - 1);
        all.push_front((judged.all.clone(), places));
    });
}

/// A call with these effects was made to its end: the next one may be another.
pub(super) fn forget(session: &SessionState, done: &Effects) {
    session.slot::<Foreseen>().with(|all| all.retain(|(judged, _)| !judged.iter().all(|one| done.all.contains(one))));
}

/// `effects`, and what is known of a call that has them.
pub(super) fn with_known(session: &SessionState, mut effects: Effects) -> Effects {
    session.slot::<Foreseen>().with(|all| {
        // Each round adds something, and all that is added was noted once: it ends.
        while let Some((_, places)) = all.iter().find(|(judged, places)| *judged == effects.all && !places.is_empty()) {
            effects.all.extend(places.iter().cloned().map(Effect::Write));
        }
    });
    effects
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
    fn what_was_found_goes_with_the_calls_that_have_the_same_effects_until_one_was_made() {
        let session = SessionState::new("s", true);
        note(&session, &runs("switch"), vec![place("/w/a")]);
        let once = with_known(&session, runs("switch"));
        assert_eq!(once.all.len(), 2);
        assert_eq!(with_known(&session, runs("merge")), runs("merge"));
        note(&session, &once, vec![place("/w/b")]);
        let twice = with_known(&session, runs("switch"));
        assert_eq!(twice.all[1..], [Effect::Write(place("/w/a")), Effect::Write(place("/w/b"))]);
        forget(&session, &runs("merge"));
        assert_eq!(with_known(&session, runs("switch")), twice);
        forget(&session, &twice);
        assert_eq!(with_known(&session, runs("switch")), runs("switch"));
    }

    #[test]
    fn a_session_remembers_the_last_of_them() {
        let session = SessionState::new("s", true);
        for number in 0..MOST + 1 {
            note(&session, &runs(&number.to_string()), vec![place("/w/a")]);
        }
        assert_eq!(with_known(&session, runs("0")), runs("0"));
        assert_eq!(with_known(&session, runs("1")).all.len(), 2);
    }
}
