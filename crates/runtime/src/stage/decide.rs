//! *Decide*: effects, judged under the session's stance and rules.

use nika_contract::{AnyTool, Prepared, Scene};
use nika_guard::Verdict;

use crate::session::Session;
use crate::stage::end::Stopped;
use crate::stage::parse::Parsed;

/// A call with its verdict.
pub(crate) struct Judged<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    pub verdict: Verdict,
}

pub(crate) fn decide<'r>(session: &Session, parsed: Parsed<'r>) -> Result<Judged<'r>, Stopped> {
    let effects = parsed.prepared.effects(&Scene { session: &session.state })?;
    let verdict = session.policy().judge(&session.stance(), &effects);
    Ok(Judged { tool: parsed.tool, prepared: parsed.prepared, verdict })
}
