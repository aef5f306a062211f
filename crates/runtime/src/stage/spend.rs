//! *Spend*: a call that found its tool is one of the session's calls, and may be one too many.

use nika_guard::Budget;

use crate::session::Session;
use crate::stage::end::Stopped;
use crate::stage::lookup::Found;

/// A call that the budgets have room for.
pub(crate) struct Paid<'r>(pub Found<'r>);

pub(crate) fn spend<'r>(session: &Session, found: Found<'r>) -> Result<Paid<'r>, Stopped> {
    session.spend(Budget::ToolCalls, 1)?;
    Ok(Paid(found))
}

/// A call whose question goes out with its answer is made a second time: together they are one.
pub(crate) fn kept<T>(session: &Session, settled: Result<T, Stopped>) -> Result<T, Stopped> {
    if matches!(settled, Err(Stopped::Later(_))) {
        session.unspend(Budget::ToolCalls, 1);
    }
    settled
}
