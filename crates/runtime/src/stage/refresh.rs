//! *Refresh*: what changed of the rules since the last call holds from this one on, for who runs for days.

use nika_contract::ToolError;
use nika_guard::Policy;

use crate::dispatch::Runtime;
use crate::session::Session;

/// Says which rules are in force by now.
pub trait Rules: Send + Sync {
    /// What there is now, and its number, which is another one after each change and 0 for what there was at the start.
    /// An error where it cannot be told, or holds only for who starts anew: then nothing runs.
    fn now(&self) -> (u64, Result<Policy, ToolError>);
}

pub(crate) fn refresh(runtime: &Runtime, session: &Session) -> Result<(), ToolError> {
    let Some(rules) = &runtime.parts.rules else { return Ok(()) };
    let (number, policy) = rules.now();
    session.stand_under(number, policy?);
    Ok(())
}
