//! One try of a task: how long it may last, whether another one may mend what it failed of, what it took.

use std::time::Duration;

use nika_contract::{Cancel, Code, ToolError, code, text};
use serde_json::Value;

use super::GRACE_MS;
use super::action::Action;
use super::events::{Named, Spent};
use super::meter::Meter;
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
    /// What it has taken so far.
    pub meter: Meter,
}

/// A command is ended by what runs it when its time is up, and what it printed is kept: so long that is waited for.
const BY_ITSELF_MS: u64 = 2_000;

/// Failures that another try cannot mend: what was refused stays refused, what was cancelled is not wanted, and what
/// is not there, or cannot be read, is no better a second later.
const FOR_GOOD: &[Code] = &[
    code::CANCELLED,
    code::PERMISSION_DENIED,
    code::OUT_OF_BOUNDS,
    code::TOOL_REMOVED,
    code::UNKNOWN_TOOL,
    code::BAD_ARGUMENTS,
    code::INVALID_GLOB,
    code::INVALID_REGEX,
    code::UNKNOWN_FILE_TYPE,
    code::BAD_PATH,
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

/// Characters of what a try had made that the error of one that took too long shows.
const SHOWN_CHARS: usize = 1_000;

/// A try within its time. One whose time is up is cancelled, and given a moment to end by itself.
pub(super) async fn within(world: &dyn World, order: Order) -> Result<Made, Unmade> {
    let (name, timeout_ms) = (order.unit.clone(), order.timeout_ms);
    let (cancel, meter) = (order.cancel.clone(), order.meter.clone());
    // What ends by itself at that time says how far it came.
    let more_ms = if matches!(order.action, Action::Exec { .. }) { BY_ITSELF_MS } else { 0 };
    let until = world.now_ms().saturating_add(timeout_ms).saturating_add(more_ms);
    let mut trying = world.perform(order);
    tokio::select! {
        biased;
        made = &mut trying => return made,
        () = world.until(until) => {}
    }
    cancel.cancel();
    // What it made in that moment came too late: its task has failed. What it spent is spent.
    let (spent, so_far) = tokio::select! {
        biased;
        late = &mut trying => late.map_or_else(|unmade| (unmade.spent, unmade.so_far), |made| (made.spent, came_late(made.output))),
        () = world.until(until.saturating_add(GRACE_MS)) => (meter.now(), None),
    };
    Err(Unmade::after(spent, too_long(&name, timeout_ms, so_far.as_deref())))
}

/// The error of a try that took too long, with what it had made by then.
pub(super) fn too_long(name: &Named, timeout_ms: u64, so_far: Option<&str>) -> ToolError {
    let took = format!("`{name}` took longer than {:?}", Duration::from_millis(timeout_ms));
    let message = match so_far.map(str::trim_end).filter(|said| !said.is_empty()) {
        None => took,
        Some(said) => {
            let cut = text::head_and_tail(said, SHOWN_CHARS);
            format!("{took}; by then it had said:\n{}", cut.as_deref().unwrap_or(said))
        }
    };
    ToolError::new(code::TASK_TIMEOUT, message).hint("raise `timeout` of the task, or give it `retry`")
}

/// An output that nobody waited for any more, as text.
fn came_late(output: Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(said) => Some(said),
        other => Some(other.to_string()),
    }
}

pub(super) fn joined(tried: Result<Tried, tokio::task::JoinError>) -> Tried {
    match tried {
        Ok(tried) => tried,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => unreachable!("nobody aborts a try"),
    }
}
