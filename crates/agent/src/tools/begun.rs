//! The answer of a call whose work goes on in the background.

use nika_contract::Output;
use nika_store::tasks::Task;
use schemars::JsonSchema;
use serde::Serialize;

/// The task, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Begun {
    task_id: String,
    /// The session whose journal tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    status: &'static str,
}

/// Says what waits for the task and what ends it.
pub(super) fn begun(row: &Task) -> Output {
    let id = row.id.to_string();
    let text = format!(
        "It works in the background as task {id}. You are told when it has ended; `task_output` waits for it and \
         `task_stop` ends it."
    );
    let session = row.run.as_ref().map(|run| run.session.clone());
    let begun = Begun { task_id: id.clone(), session, status: row.status.name() };
    Output::data(serde_json::to_value(begun).unwrap_or_default(), text).with_ours_from(0).with_fact("task", id)
}
