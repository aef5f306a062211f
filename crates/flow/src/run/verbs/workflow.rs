//! `invoke: {workflow: PATH}`: another workflow, as a run of its own below this one.
//!
//! Its permits and this run's both hold. Its trace has a name that follows from this run's, so that when this run is
//! gone on with, that one is, too.

use std::sync::Arc;

use nika_contract::{ToolError, code};
use nika_guard::{Mode, Stance};

use super::Hands;
use crate::model::DEEPEST;
use crate::run::Ended;
use crate::run::action::Action;
use crate::run::events::Unwatched;
use crate::run::launch::{self, Launch, Launched};
use crate::run::world::{Made, Order, Unmade};
use crate::run::{inputs, secrets::Secrets};

pub(super) async fn workflow(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let Action::Workflow { path, inputs: given } = &order.action else { unreachable!("the caller looked") };
    if !hands.permits.names_workflow(path) {
        let message = format!("`permits.tools` does not name `workflow({path})`");
        return Err(ToolError::new(code::PERMISSION_DENIED, message).into());
    }
    if hands.above.iter().any(|above| above == path) {
        let circle = hands.above.iter().map(String::as_str).chain([path.as_str()]).collect::<Vec<_>>().join(" → ");
        return Err(ToolError::new(code::RUN_LIMIT, format!("workflows run one another in a circle: {circle}")).into());
    }
    if hands.above.len() >= DEEPEST {
        let message = format!("workflows run one another {DEEPEST} deep, which is all that they may");
        return Err(ToolError::new(code::RUN_LIMIT, message).hint("call what is below from fewer places").into());
    }
    let document = hands.library.document(path)?;
    let inputs = inputs::gather(&document.flow, given.clone(), &[])?;
    let names: Vec<String> = document.flow.secrets.iter().map(|secret| secret.value.clone()).collect();
    // A yes was said to the statement of the one that a person began: what is below it reaches for nothing more.
    if let Some(more) = names.iter().find(|name| hands.secrets.values().all(|(stated, _)| stated != name.as_str())) {
        let message = format!("{path} takes the secret {more}, which the workflow that runs it does not state");
        let error = ToolError::new(code::PERMISSION_DENIED, message);
        return Err(error.hint("list it under that one's `secrets`, too").into());
    }
    let own = hands.library.secrets(&names)?;
    let id = launch::name(&hands.runs, hands.name_for(&order.unit.to_string()), &document, &inputs);
    // What this one is granted was said for this one: of another, its own walls are added to them.
    let open = Stance { mode: Mode::AcceptAll, unsafe_commands: true, ask_writes: false };
    let session = hands.session.child(&id, open, document.permits.bounds());
    let mut nested = hands.clone();
    // Templates of the inner one know its own secrets alone; hidden are those of all above it, too.
    nested.secrets = Arc::new(Secrets::new(own.clone()).hiding_also(&hands.secrets));
    nested.session = Arc::new(session.veiled(nested.secrets.veil()));
    hands.library.prepare(&nested.session);
    nested.permits = Arc::new(document.permits.below(&hands.permits));
    nested.above.push(path.clone());
    let launched = launch::launch(Launch {
        hands: nested,
        document,
        inputs,
        watch: Arc::new(Unwatched),
        cancel: order.cancel.clone(),
        meter: order.meter.clone(),
        id,
        goes_on: None,
    });
    let Launched { ended, spent } = Box::pin(launched).await?;
    match ended {
        Ended::Completed(outputs) => Ok(Made { output: outputs.into(), spent, call: None }),
        Ended::Failed(error) | Ended::Aborted(error) => {
            let error = ToolError { message: format!("{path}: {}", error.message), ..error };
            Err(Unmade::after(spent, error))
        }
        Ended::Paused => Err(Unmade::after(spent, ToolError::cancelled())),
    }
}
