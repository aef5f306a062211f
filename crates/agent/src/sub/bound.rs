//! A bound on money that is no budget of a session: whoever keeps it adds up what is spent, so agents below it are given
//! no model that nobody can price.

use std::sync::OnceLock;

use nika_contract::ToolError;
use nika_runtime::Session;

use crate::provider::Provider;
use crate::provider::choose::{SCRIPTED, unpriced};

/// The bound that a session and all below it stand within, in words: a slot of its state.
#[derive(Debug, Default)]
pub struct CostBound(OnceLock<String>);

impl CostBound {
    /// Said once, before anything is spent.
    pub fn set(&self, words: &str) {
        // Said twice is said the first time: a session has one run.
        let _ = self.0.set(words.to_owned());
    }
}

/// Refuses a model that a bound on or above `session` could not count. What a script plays costs nothing.
pub(super) fn counts(session: &Session, model: &dyn Provider) -> Result<(), ToolError> {
    if model.model().prices.is_some() || model.name() == SCRIPTED {
        return Ok(());
    }
    let own = session.state.slot::<CostBound>();
    let mut bound = own.0.get().cloned();
    let mut above = session.parent();
    while let (None, Some(session)) = (&bound, above) {
        bound = session.state.slot::<CostBound>().0.get().cloned();
        above = session.parent();
    }
    bound.map_or(Ok(()), |bound| Err(unpriced(model, &bound)))
}
