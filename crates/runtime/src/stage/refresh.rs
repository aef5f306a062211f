//! *Refresh*: what changed of the rules since the last call holds from this one on, for who runs for days.

use std::sync::atomic::{AtomicBool, Ordering};

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
    // Who tells it is who owns the rules: an agent that works for a session has no list of its own.
    let session = session.owner();
    let Some(former) = session.stand_under(number, policy?) else { return Ok(()) };
    let tools = runtime.catalog.now();
    let names = |policy: &Policy| tools.pool(policy).map(|tool| tool.spec().name.to_owned()).collect::<Vec<_>>();
    if names(&former) != names(&session.policy()) {
        session.state.slot::<Changed>().0.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Whether other rules have changed which tools there are, and nobody was told yet.
#[derive(Default)]
struct Changed(AtomicBool);

/// The same; whoever asks tells it.
pub(crate) fn take_changed(session: &Session) -> bool {
    session.state.slot::<Changed>().0.swap(false, Ordering::Relaxed)
}
