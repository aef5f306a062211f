//! *Rehearse*: a call that is asked about is tried where nothing of it counts, so that the question shows what it did.
//!
//! It runs under a permit that no host function takes for leave to change anything, with no place for pre-images. What
//! goes wrong with it is no answer to the question: that is put all the same, and says so.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Asker, Prepared, Rehearsal, ToolError, code};
use nika_guard::Permit;

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::begin::Begun;
use crate::stage::run::{AtHand, caught};
use crate::stage::settle::stands_for;

/// How long a trial takes before whoever waits for the question is told why there is none yet.
const TOLD_AFTER: Duration = Duration::from_secs(1);

/// What came of it; an error only where nobody wants the call any more.
pub(crate) async fn rehearse(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    prepared: &dyn Prepared,
    permit: Permit,
) -> Result<Option<Rehearsal>, ToolError> {
    let (permit, beside) = (Arc::new(permit), AtHand { runtime, session, begun, held: None });
    let cx = beside.only_looking(&permit);
    let mut trial = pin!(caught(prepared.rehearse(&cx)));
    let tried = match tokio::time::timeout(TOLD_AFTER, &mut trial).await {
        Ok(tried) => tried,
        Err(_) => {
            begun.incoming.progress.step(0, None, "trying it first, over a layer");
            let tried = trial.await;
            // It stands beside the call while that goes on.
            begun.incoming.progress.step(1, None, "tried it first");
            tried
        }
    };
    match tried {
        Err(error) if error.code == code::CANCELLED => Err(error),
        Err(error) => {
            let shown = format!("What it would change cannot be shown: {}. A yes runs it.", error.message);
            Ok(Some(Rehearsal::without(shown)))
        }
        tried => tried,
    }
}

/// A name for the question about a call that was tried: of the trial counts what it would change, and neither what it
/// printed nor how long it took.
pub(crate) fn stands_for_trial(seen: &str, tried: Option<&Rehearsal>) -> String {
    match tried.and_then(|tried| tried.held.as_ref()) {
        Some(held) => stands_for(&format!("{seen}\n{}", held.mark())),
        None => stands_for(seen),
    }
}

/// So many answers to other trials of a call show that it does something else each time: then no yes can be to just
/// what was shown. Two, as somebody may have changed a file between the first and the second.
const TIMES_ANOTHER: usize = 2;

/// The trial, held for a yes unless it comes with a second call and the next trial would not be the same.
pub(crate) fn if_again_alike(mut tried: Rehearsal, asker: &dyn Asker, seen: &str) -> Rehearsal {
    let others = asker.answers_to_others(&stands_for_trial(seen, Some(&tried)));
    if others >= TIMES_ANOTHER && tried.held.take().is_some() {
        let shown = "It was tried over a layer, and does something else each time: what it would change cannot be shown \
                     beforehand. A yes runs it.";
        shown.clone_into(&mut tried.shown);
        tried.facts.retain(|(name, _)| *name != "held");
        tried.facts.push(("held", false.into()));
    }
    tried
}
