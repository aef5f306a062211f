//! `task_update`: anything about a task, status included, by the life cycle's rules.
//!
//! What gives a task up or removes it is judged as control of durable work, as `task_cancel` is: a way round that
//! asks for less would be no rule.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::{Change, Status, TaskId, To};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::words::{self, PriorityWord};
use super::{Ground, answer, control, note};

/// Changes a task. What is left out stays as it is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
    /// pending also unblocks and reopens; deleted removes it.
    pub status: Option<Word>,
    pub title: Option<String>,
    pub description: Option<String>,
    /// What to show while it is in progress.
    pub active_form: Option<String>,
    pub owner: Option<String>,
    pub priority: Option<PriorityWord>,
    /// Ids of more tasks that wait for it.
    #[serde(default, deserialize_with = "words::ids")]
    #[schemars(with = "Vec<String>")]
    pub add_blocks: Vec<TaskId>,
    /// Ids of more tasks it waits for.
    #[serde(default, deserialize_with = "words::ids")]
    #[schemars(with = "Vec<String>")]
    pub add_blocked_by: Vec<TaskId>,
    /// Merged into what is there; null removes a key.
    pub metadata: Option<Map<String, Value>>,
    /// A note, also for the agent that does it; with status blocked or cancelled, the reason.
    pub message: Option<String>,
}

/// Where a task is to be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    #[serde(alias = "created", alias = "open", alias = "todo")]
    Pending,
    #[serde(alias = "running", alias = "in-progress", alias = "inProgress")]
    InProgress,
    Blocked,
    #[serde(alias = "done", alias = "complete")]
    Completed,
    #[serde(alias = "canceled", alias = "stopped")]
    Cancelled,
    Deleted,
}

/// The tool.
#[derive(Debug)]
pub struct TaskUpdate {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskUpdate {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_update", "Update task", Group::Work)
        .event(event::TASK_CHANGED)
        .terms(&[
            "task",
            "change",
            "assign",
            "rename",
            "reopen",
            "priority",
            "note",
            "delete",
            "edit",
            "ticket",
            "description",
            "set",
            "reassign",
            "give to",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(if ends(params) { control() } else { note("task") })
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        if ends(params) { self.ground.shown(params.task_id).map(Some) } else { Ok(None) }
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let (id, now) = (params.task_id, cx.clock.unix_ms());
        let status = match params.status {
            None => None,
            Some(Word::Pending) => Some(Status::Pending),
            Some(Word::InProgress) => Some(Status::InProgress),
            Some(Word::Blocked) => Some(Status::Blocked),
            Some(Word::Completed) => Some(Status::Completed),
            Some(Word::Cancelled) => Some(Status::Cancelled),
            Some(Word::Deleted) => {
                let removed = self.ground.ask(move |db| db.remove_task(id, now)).await?;
                let mut said = format!("{} is removed.", removed.task.id);
                if !removed.freed.is_empty() {
                    said.push_str(&format!("\nMay be started now: {}.", answer::list(&removed.freed)));
                }
                let freed = answer::names(&removed.freed);
                let gone = answer::Answer { task: removed.task.into(), freed, waiting: Vec::new() };
                return Ok(Output::data(answer::data(&gone), said)
                    .with_fact("task", id.to_string())
                    .with_fact("status", "deleted"));
            }
        };
        let is_reason = matches!(status, Some(Status::Blocked | Status::Cancelled));
        let (reason, note) = if is_reason { (params.message, None) } else { (None, params.message) };
        let change = Change {
            to: status.map(To::Be),
            title: params.title,
            description: params.description,
            active_form: params.active_form,
            owner: params.owner,
            priority: params.priority.map(Into::into),
            add_blocks: params.add_blocks,
            add_blocked_by: params.add_blocked_by,
            metadata: params.metadata.unwrap_or_default(),
            note,
            reason,
        };
        self.ground.change(id, change, cx).await
    }
}

/// Whether the call gives the task up or removes it.
fn ends(params: &Params) -> bool {
    matches!(params.status, Some(Word::Cancelled | Word::Deleted))
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "More urgent, with a note",
        files: &[],
        before: &[("task_create", r#"{"title": "Fix the parser"}"#)],
        arguments: r#"{"task_id": "t1", "priority": "urgent", "message": "users wait for it"}"#,
        answer: "t1 [pending] Fix the parser (urgent)",
    },
    Example {
        title: "Wanted after all",
        files: &[],
        before: &[("task_create", r#"{"title": "Fix the parser"}"#), ("task_complete", r#"{"task_id": "t1"}"#)],
        arguments: r#"{"task_id": "t1", "status": "pending"}"#,
        answer: "t1 [pending] Fix the parser",
    },
];
