//! `task_complete`: a task is done, and what waited for it alone may begin.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::{Change, Move, TaskId, To};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, note, words};

/// Marks a task as done. Tells which tasks may be started now.
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
pub struct TaskComplete {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskComplete {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_complete", "Complete task", Group::Work)
        .event(event::TASK_CHANGED)
        .terms(&["task", "done", "finish", "close", "resolve"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let change = Change { to: Some(To::By(Move::Complete)), ..Change::default() };
        self.ground.change(params.task_id, change, cx).await
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "Done, and the next may begin",
    files: &[],
    before: &[
        ("task_create", r#"{"title": "Fix the parser"}"#),
        ("task_create", r#"{"title": "Release", "blocked_by": ["t1"]}"#),
    ],
    arguments: r#"{"task_id": "t1"}"#,
    answer: "May be started now: t2.",
}];
