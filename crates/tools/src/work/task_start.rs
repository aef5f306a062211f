//! `task_start`: takes a task. Of many who try, one gets it.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::{Change, Move, TaskId, To};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, note, words};

/// Takes a pending task: it is in progress then, and nobody else can start it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
    /// Who does it. Default: this session.
    pub owner: Option<String>,
    /// What to show meanwhile.
    pub active_form: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskStart {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

impl Tool for TaskStart {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_start", "Start task", Group::Work)
        .event(event::TASK_CHANGED)
        .terms(&[
            "task",
            "begin",
            "claim",
            "take",
            "pick up",
            "in progress",
            "ownership",
            "start ticket",
            "begin ticket",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let session = || cx.session.is_lasting().then(|| cx.session.id().to_owned());
        let change = Change {
            to: Some(To::By(Move::Start)),
            owner: params.owner.or_else(session),
            active_form: params.active_form,
            ..Change::default()
        };
        self.ground.change(params.task_id, change, cx).await
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "Take a task",
    files: &[],
    before: &[("task_create", r#"{"title": "Fix the parser"}"#)],
    arguments: r#"{"task_id": "t1", "owner": "ada"}"#,
    answer: "t1 [in_progress] Fix the parser (ada)",
}];
