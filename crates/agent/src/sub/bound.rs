//! A bound on money that is no budget of a session: whoever keeps it adds up what is spent, so agents below it are given
//! no model that nobody can price.

use std::sync::OnceLock;

use nika_contract::ToolError;
use nika_runtime::Session;

use crate::provider::Provider;
use crate::provider::choose::countable;

/// The bound that a session and all below it stand within, in words: a slot of its state.
#[derive(Debug, Default)]
pub struct CostBound(OnceLock<String>);

impl CostBound {
    /// Said once, before anything is spent.
    pub fn set(&self, words: &str) {
        // Said twice is said the first time: a session has one run.
        let _ = self.0.set(words.to_owned());
    }

    /// What bounds the cost of a session: its own bound, or that of one above it.
    pub fn of(session: &Session) -> Option<String> {
        let own = |session: &Session| session.state.slot::<CostBound>().0.get().cloned();
        own(session)
            .or_else(|| std::iter::successors(session.parent(), |above| above.parent()).find_map(|above| own(above)))
    }
}

/// Refuses a model that a bound on or above `session` could not count.
pub(super) fn counts(session: &Session, model: &dyn Provider) -> Result<(), ToolError> {
    CostBound::of(session).map_or(Ok(()), |bound| countable(model, &bound))
}
