//! *Decide*: effects, judged under the session's stance and rules; and whether a yes to them would come to anything.

use std::path::PathBuf;

use nika_contract::{AnyTool, Prepared, Scene, ToolError, code};
use nika_guard::{Decision, Effect, Effects, Reason, Source, Verdict, classify};
use nika_host::sandbox::clear_stand_ins;

use crate::session::Session;
use crate::stage::before::{Heard, Wishes};
use crate::stage::end::Stopped;

/// What a reason of a hook's says, also in the journal.
pub const HOOK_ASKS: &str = "a hook asks";

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
    let verdict = judged(session, &effects, tool, &wishes);
    if verdict.decision < Decision::Deny {
        names_are_free(&effects)?;
    }
    Ok(Judged { tool, prepared, verdict, wishes })
}

/// What the session's rules, its stance and hooks say to these effects.
pub(crate) fn judged(session: &Session, effects: &Effects, tool: &dyn AnyTool, wishes: &Wishes) -> Verdict {
    let raised = |verdict: Verdict, source: &Source| verdict.raised(asked(tool, source));
    wishes.asks.iter().fold(verdict(session, effects), raised)
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

/// While a command lives that runs over the bare roots, guarded names that do not exist are held for it, empty: a yes to
/// write one would come to nothing.
fn names_are_free(effects: &Effects) -> Result<(), ToolError> {
    for effect in &effects.all {
        let Effect::Write(place) = effect else { continue };
        let is_guarded = |below: &&PathBuf| place.guarded.or(classify(below).guarded).is_some();
        let Some(below) = place.below_root.as_ref().filter(is_guarded) else { continue };
        let root = place.path.ancestors().nth(below.components().count());
        if root.is_some_and(|root| !clear_stand_ins(root, &place.path)) {
            let message =
                format!("{} is held empty while a job or interpreter lives, which may not make it", place.shown());
            return Err(ToolError::new(code::NAME_HELD, message)
                .hint("job_list shows what lives and job_stop ends it; then repeat the call"));
        }
    }
    Ok(())
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
        act: HOOK_ASKS.to_owned(),
        source: source.clone(),
        remedy,
        rule: None,
    }
}
