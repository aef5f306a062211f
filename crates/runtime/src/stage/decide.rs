//! *Decide*: effects, judged under the session's stance and rules.

use nika_contract::{AnyTool, Prepared, Scene};
use nika_guard::{Decision, Effects, Reason, Source, Verdict};

use crate::session::Session;
use crate::stage::before::{Heard, Wishes};
use crate::stage::end::Stopped;

/// A call with its verdict.
pub(crate) struct Judged<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    pub verdict: Verdict,
    pub wishes: Wishes,
}

pub(crate) fn decide<'r>(session: &Session, heard: Heard<'r>) -> Result<Judged<'r>, Stopped> {
    let Heard { tool, prepared, wishes } = heard;
    let effects = prepared.effects(&Scene { session: &session.state })?;
    let mut verdict = verdict(session, &effects);
    for source in &wishes.asks {
        verdict = verdict.raised(asked(tool, source));
    }
    Ok(Judged { tool, prepared, verdict, wishes })
}

/// What the session's rules and stance say to these effects.
pub(crate) fn verdict(session: &Session, effects: &Effects) -> Verdict {
    let policy = session.policy();
    let verdict = policy.judge(&session.stance(), effects);
    if session.plans() {
        return verdict.while_planning(&policy.judge(&session.stance_set(), effects));
    }
    verdict
}

/// A hook that wants a person to decide.
fn asked(tool: &dyn AnyTool, source: &Source) -> Reason {
    let remedy = match source {
        Source::Hook { at, .. } => vec![format!("changing the hook at {at}")],
        _ => Vec::new(),
    };
    Reason {
        decision: Decision::Ask,
        effect: tool.spec().name.to_owned(),
        act: "a hook asks".to_owned(),
        source: source.clone(),
        remedy,
        rule: None,
    }
}
