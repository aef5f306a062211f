//! `task_cancel`: a task will not be done.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::TaskId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, control, words};

/// Gives a task up. Tasks that wait for it go on waiting, and are named. An agent that does it is stopped.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
    /// Why.
    pub reason: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskCancel {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskCancel {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_cancel", "Cancel task", Group::Work)
        .destructive()
        .event(event::TASK_CHANGED)
        .terms(&[
            "task",
            "abandon",
            "drop",
            "give up",
            "won't do",
            "no longer needed",
            "obsolete",
            "call off",
            "will not do",
            "scrap",
            "remove",
            "not done",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(control())
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        self.ground.shown(params.task_id).map(Some)
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        self.ground.end(params.task_id, params.reason, cx).await
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "Not needed any more",
    files: &[],
    before: &[("task_create", r#"{"title": "Port to Perl"}"#)],
    arguments: r#"{"task_id": "t1", "reason": "nobody wants it"}"#,
    answer: "t1 [cancelled] Port to Perl (nobody wants it)",
}];
