//! The providers that tasks name: a document chooses among those that it may, and a slip is found before the run.

use nika_contract::code;

use super::Surroundings;
use crate::finding::Finding;
use crate::model::{Flow, Index, Verb};

/// Looks at the workflow's provider, where a task takes it, and at each task's own.
pub(super) fn check(flow: &Flow, unbroken: &[Index], around: &dyn Surroundings) -> Vec<Finding> {
    let chosen = |index: &Index| match &flow.tasks[*index].verb {
        Verb::Infer(infer) => Some(&infer.model),
        Verb::Agent(agent) => Some(&agent.model),
        Verb::Exec(_) | Verb::Fetch(_) | Verb::Invoke(_) => None,
    };
    let named =
        unbroken.iter().filter_map(chosen).filter_map(|own| own.provider.as_ref().or(flow.model.provider.as_ref()));
    let finding = |(at, why): (_, String)| {
        let (message, hint) = match why.split_once("; ") {
            Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
            None => (why, None),
        };
        Finding::error(code::FLOW_UNKNOWN, at, message).suggest_some(hint)
    };
    named.filter_map(|name| Some((name.at, around.provider(&name.value)?))).map(finding).collect()
}
