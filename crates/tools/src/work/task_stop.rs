//! `task_stop`: ends the work on a task: its agent is asked to stop, and heard of.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event};
use nika_guard::Effects;
use nika_store::tasks::{Changed, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::task_output::wait;
use super::{Ground, answer, control, words};

/// Ends the work on a task. An agent that does it is asked to stop, and given 5 s.
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
pub struct TaskStop {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

/// How long an agent may take to stop before the call goes on without it. It looks twice a second.
const PATIENCE: Duration = Duration::from_secs(5);

impl Tool for TaskStop {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_stop", "Stop task", Group::Work)
        .destructive()
        .event(event::TASK_CHANGED)
        .terms(&["task", "agent", "kill", "abort", "terminate", "end", "halt", "background"])
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
        self.ground.end(params.task_id, Some("stopped".to_owned()), cx).await
    }
}

/// Asks the agent of a task to stop, and waits for it.
pub(super) async fn stop(ground: &Ground, id: TaskId, cx: &Cx<'_>) -> Result<Output, ToolError> {
    ground.ask(move |db| db.ask_stop(id)).await?;
    let task = wait(ground, id, PATIENCE, cx).await?;
    let ended = task.status.has_ended();
    let mut output = answer::changed(Changed { task, freed: Vec::new(), waiting: Vec::new() });
    if !ended {
        let text = "It was asked to stop and has not ended yet; `task_output` waits for it.";
        output.content.push(nika_contract::Block::Text(text.to_owned()));
        output = output.with_ours_from(0);
    }
    Ok(output)
}

const EXAMPLES: &[Example] = &[Example {
    title: "No more work on it",
    files: &[],
    before: &[("task_create", r#"{"title": "Port to Perl", "status": "in_progress"}"#)],
    arguments: r#"{"task_id": "t1"}"#,
    answer: "t1 [cancelled] Port to Perl (stopped)",
}];
