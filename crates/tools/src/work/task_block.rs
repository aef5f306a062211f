//! `task_block`: a task has to wait, for other tasks or for something else.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::{Change, Move, TaskId, To};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, note, words};

/// Says what a task has to wait for. Blocked by tasks, it is pending again when they are completed; blocked by a
/// reason alone, when task_update sets it to pending.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
    /// Ids of tasks it waits for.
    #[serde(default, deserialize_with = "words::ids")]
    #[schemars(with = "Vec<String>")]
    pub blocked_by: Vec<TaskId>,
    /// Why.
    pub reason: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskBlock {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskBlock {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_block", "Block task", Group::Work)
        .event(event::TASK_CHANGED)
        .terms(&["task", "wait", "depends", "hold", "stuck", "dependency", "another", "cannot continue", "waiting"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let change = Change {
            to: Some(To::By(Move::Block)),
            add_blocked_by: params.blocked_by,
            reason: params.reason,
            ..Change::default()
        };
        self.ground.change(params.task_id, change, cx).await
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "It waits for somebody",
    files: &[],
    before: &[("task_create", r#"{"title": "Release"}"#)],
    arguments: r#"{"task_id": "t1", "reason": "the key is missing"}"#,
    answer: "t1 [blocked] Release (the key is missing)",
}];
