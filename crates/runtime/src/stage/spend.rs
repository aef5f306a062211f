//! *Spend*: a call that found its tool is one of the session's calls, and may be one too many.

use nika_guard::Budget;

use crate::session::Session;
use crate::stage::end::Stopped;
use crate::stage::lookup::Found;

/// What ends something costs nothing: else it would go on because a budget is spent.
const FREE: &[&str] = &["job_stop", "task_stop"];

/// A call that the budgets have room for.
pub(crate) struct Paid<'r>(pub Found<'r>);

/// How many calls it counts as.
#[derive(Clone, Copy)]
pub(crate) struct Price(u64);

pub(crate) fn spend<'r>(session: &Session, found: Found<'r>) -> Result<(Paid<'r>, Price), Stopped> {
    if FREE.contains(&found.tool.spec().name) {
        return Ok((Paid(found), Price(0)));
    }
    session.spend(Budget::ToolCalls, 1)?;
    Ok((Paid(found), Price(1)))
}

/// A call whose question goes out with its answer is made a second time: together they are one.
pub(crate) fn kept<T>(session: &Session, price: Price, settled: Result<T, Stopped>) -> Result<T, Stopped> {
    if matches!(settled, Err(Stopped::Later(_))) {
        session.unspend(Budget::ToolCalls, price.0);
    }
    settled
}
