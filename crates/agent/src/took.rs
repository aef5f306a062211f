//! What a run takes, with what the agents below it take: each answer is counted where it is given, and by every session
//! above.

use std::sync::{Mutex, PoisonError};

use nika_runtime::Session;

use crate::provider::Usage;

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Took {
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a US dollar, where prices are known.
    pub cost_micros: Option<u64>,
}

impl Took {
    /// Both together. What has no price adds none.
    pub(crate) fn plus(self, other: Took) -> Took {
        let cost_micros = match (self.cost_micros, other.cost_micros) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Took { usage: self.usage.plus(other.usage), cost_micros }
    }
}

/// What the agents below a session took during its run; a slot of the session.
#[derive(Debug, Default)]
pub(crate) struct Below(Mutex<Took>);

impl Below {
    /// So far.
    pub(crate) fn now(&self) -> Took {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, more: Took) {
        let mut took = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *took = took.plus(more);
    }
}

/// Says to every session above this one what an answer took.
pub(crate) fn tell_above(session: &Session, took: Took) {
    for above in std::iter::successors(session.parent(), |above| above.parent()) {
        above.state.slot::<Below>().add(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_price_adds_tokens_alone() {
        let took = |input, cost_micros| Took { usage: Usage { input, ..Usage::default() }, cost_micros };
        assert_eq!(took(1, None).plus(took(2, None)), took(3, None));
        assert_eq!(took(1, Some(5)).plus(took(2, None)), took(3, Some(5)));
        assert_eq!(took(1, Some(5)).plus(took(2, Some(7))), took(3, Some(12)));
    }
}
