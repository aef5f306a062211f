//! One try of a task: how long it may last, whether another one may mend what it failed of, what it took.

use std::time::Duration;

use nika_contract::{Cancel, Code, ToolError, code};

use super::GRACE_MS;
use super::events::Spent;
use super::plan::Unit;
use super::world::{Made, Order, Unmade, World};

/// What came of a try.
pub(super) type Tried = (Unit, Result<Made, Unmade>);

/// What a try took.
#[derive(Clone, Copy)]
pub(super) struct Try {
    pub attempt: u32,
    pub took_ms: u64,
    pub spent: Spent,
}

/// A try that runs.
pub(super) struct Afloat {
    pub cancel: Cancel,
    pub began: u64,
    pub attempt: u32,
}

/// Failures that another try cannot mend: what was refused stays refused, what was cancelled is not wanted, and what
/// is not there, or cannot be read, is no better a second later.
const FOR_GOOD: &[Code] = &[
    code::CANCELLED,
    code::PERMISSION_DENIED,
    code::OUT_OF_BOUNDS,
    code::TOOL_REMOVED,
    code::UNKNOWN_TOOL,
    code::BAD_ARGUMENTS,
    code::BUDGET_SPENT,
    code::HOOK_REFUSED,
    code::BAD_URL,
    code::FORBIDDEN_ADDRESS,
    code::BAD_REDIRECT,
    code::NO_SUCH_SERVER,
    code::SERVER_WITHHELD,
    code::NO_MODEL,
    code::SCHEMA_UNUSABLE,
    code::FLOW_UNREADABLE,
    code::FLOW_RULE,
    code::FLOW_FAULTY,
    code::RUN_DATA,
    code::RUN_INPUT,
    code::RUN_SECRET,
    code::RUN_LIMIT,
    code::RUN_NOT_ALLOWED,
    code::NOT_CONFINED,
];

pub(super) fn may_pass(code: Code) -> bool {
    !FOR_GOOD.contains(&code)
}

/// A try within its time. One whose time is up is cancelled, and given a moment to end by itself.
pub(super) async fn within(world: &dyn World, order: Order) -> Result<Made, Unmade> {
    let (name, timeout_ms, cancel) = (order.unit.clone(), order.timeout_ms, order.cancel.clone());
    let until = world.now_ms().saturating_add(timeout_ms);
    let mut trying = world.perform(order);
    tokio::select! {
        biased;
        made = &mut trying => return made,
        () = world.until(until) => {}
    }
    cancel.cancel();
    // What it made in that moment came too late: its task has failed. What it spent is spent.
    let spent = tokio::select! {
        biased;
        late = &mut trying => late.map_or_else(|unmade| unmade.spent, |made| made.spent),
        () = world.until(until.saturating_add(GRACE_MS)) => Spent::default(),
    };
    let message = format!("`{name}` took longer than {:?}", Duration::from_millis(timeout_ms));
    let error = ToolError::new(code::TASK_TIMEOUT, message).hint("raise `timeout` of the task, or give it `retry`");
    Err(Unmade::after(spent, error))
}

pub(super) fn joined(tried: Result<Tried, tokio::task::JoinError>) -> Tried {
    match tried {
        Ok(tried) => tried,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => unreachable!("nobody aborts a try"),
    }
}
