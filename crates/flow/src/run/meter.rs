//! What a try has taken before it has ended: a workflow within another one and an agent spend while they run, and the
//! bounds of the run hold for that, too.

use std::sync::{Arc, Mutex, PoisonError};

use nika_agent::{Happening, Watch};

use super::events::Spent;

/// Where a try says what it has taken so far. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct Meter(Arc<Mutex<Spent>>);

impl Meter {
    /// What it stands at.
    pub fn now(&self) -> Spent {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It stands at so much: all of it, and not what was added.
    pub fn stands_at(&self, spent: Spent) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = spent;
    }
}

/// Reads what an agent takes as it takes it.
#[derive(Debug)]
pub(super) struct OfAgent {
    pub meter: Meter,
    /// What the try had taken before this agent began.
    pub before: Spent,
}

impl Watch for OfAgent {
    fn saw(&self, what: &Happening<'_>) {
        if let Happening::Spent { total, cost_micros, .. } = what {
            let tokens = total.read() + total.output;
            self.meter.stands_at(self.before.plus(Spent { tokens, cost_micros: *cost_micros }));
        }
    }
}
