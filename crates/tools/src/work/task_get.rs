//! `task_get`: one task whole.

use std::fmt::Write as _;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::tasks::{Task, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, note, words};

/// Shows one task whole: description, notes, metadata, what it waits for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
}

/// The tool.
#[derive(Debug)]
pub struct TaskGet {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskGet {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_get", "Show task", Group::Work)
        .read_only()
        .terms(&["task", "details", "ticket", "status", "look up", "one", "read", "information", "inspect", "notes"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Row>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let task = self.ground.look(params.task_id, cx).await?;
        let said = whole(&task);
        Ok(Output::data(answer::data(&answer::Row::from(task)), said))
    }
}

fn whole(task: &Task) -> String {
    let mut said = answer::line(task);
    let ids = [("Waits for", &task.blocked_by), ("Before", &task.blocks)];
    for (what, ids) in ids.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        let _ = write!(said, "\n{what}: {}", answer::list(ids));
    }
    if let Some(description) = &task.description {
        let _ = write!(said, "\n\n{description}");
    }
    if !task.metadata.is_empty() {
        let _ = write!(said, "\n\nMetadata: {}", Value::from(task.metadata.clone()));
    }
    if !task.notes.is_empty() {
        let _ = write!(said, "\n\nNotes:");
        task.notes.iter().for_each(|note| said.push_str(&format!("\n- {note}")));
    }
    if let Some(run) = &task.run {
        let _ = write!(said, "\n\nJournal: session {}", run.session);
        said.push_str(if run.result.is_some() { "; task_output shows its answer" } else { "" });
    }
    said
}

const EXAMPLES: &[Example] = &[Example {
    title: "All of one task",
    files: &[],
    before: &[("task_create", r#"{"title": "Fix the parser", "description": "It drops the last line."}"#)],
    arguments: r#"{"task_id": "t1"}"#,
    answer: "It drops the last line.",
}];
