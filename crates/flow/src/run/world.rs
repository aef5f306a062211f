//! What a run needs from outside: somebody who does what a task says, and a clock to wait by.

use nika_contract::{BoxFuture, Cancel, ToolError};
use serde_json::Value;

use super::action::Action;
use super::events::{Named, Spent};
use super::meter::Meter;

/// Where tasks are done.
pub trait World: Send + Sync {
    /// Does it. What it answers with holds no secret of the run.
    fn perform<'a>(&'a self, order: Order) -> BoxFuture<'a, Result<Made, Unmade>>;

    /// Milliseconds that only ever grow.
    fn now_ms(&self) -> u64;

    /// Waits until then.
    fn until<'a>(&'a self, at_ms: u64) -> BoxFuture<'a, ()>;
}

/// One try of a task.
#[derive(Debug, Clone)]
pub struct Order {
    /// Which task.
    pub unit: Named,
    /// What the journal is to know it by.
    pub origin: String,
    /// What is done.
    pub action: Action,
    /// Milliseconds it may take.
    pub timeout_ms: u64,
    /// Set when nobody wants it any more.
    pub cancel: Cancel,
    /// Where what it takes is said while it runs, where it takes anything.
    pub meter: Meter,
}

/// What a task made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// Its output.
    pub output: Value,
    /// What its models took.
    pub spent: Spent,
    /// What the journal knows its call by.
    pub call: Option<String>,
}

/// A try that made nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmade {
    /// Why.
    pub error: ToolError,
    /// What its models took all the same.
    pub spent: Spent,
    /// Milliseconds for which whoever failed wants to be left alone: another try begins no sooner.
    pub rest_ms: u64,
    /// What there was of an output when it was stopped.
    pub so_far: Option<String>,
}

impl Unmade {
    /// It was stopped, and had said this by then.
    pub fn stopped(spent: Spent, so_far: String) -> Unmade {
        Unmade {
            so_far: Some(so_far).filter(|said| !said.trim().is_empty()),
            ..Unmade::after(spent, ToolError::cancelled())
        }
    }

    /// It failed after so much was spent.
    pub fn after(spent: Spent, error: ToolError) -> Unmade {
        Unmade { spent, ..Unmade::from(error) }
    }
}

impl From<ToolError> for Unmade {
    fn from(error: ToolError) -> Unmade {
        Unmade { error, spent: Spent::default(), rest_ms: 0, so_far: None }
    }
}

impl Made {
    /// An output that nothing was spent on.
    pub fn of(output: Value) -> Made {
        Made { output, ..Made::default() }
    }
}
