//! `task_output`: what became of a task, and waiting for it.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::tasks::{Status, Task, TaskId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use super::{Ground, answer, note, words};
use crate::lenient;

/// Waits until a task has ended, and gives the answer of the agent that did it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `t7`
    #[serde(deserialize_with = "words::id")]
    #[schemars(with = "String")]
    pub task_id: TaskId,
    /// false: do not wait. Default true.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub block: Option<bool>,
    /// Milliseconds to wait at most. Default 30000, at most 600000.
    #[serde(default, alias = "timeout", deserialize_with = "lenient::number")]
    pub timeout_ms: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskOutput {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Became {
    /// The task.
    pub task_id: String,
    /// Where it stands.
    pub status: String,
    /// Whether nothing more will come.
    pub ended: bool,
    /// The session whose journal tells of it, where an agent does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it is blocked, cancelled or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const DEFAULT_MS: u32 = 30_000;
const MOST_MS: u32 = 600_000;
/// Between two looks at whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// Looks between two questions to the database.
const LOOKS_A_QUESTION: u64 = 10;

impl Tool for TaskOutput {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_output", "Wait for task", Group::Work)
        .read_only()
        .text()
        .terms(&[
            "task",
            "agent",
            "result",
            "await",
            "background",
            "finished",
            "poll",
            "produced",
            "finished yet",
            "report",
            "read",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Became>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        match params.timeout_ms {
            Some(ms) if ms > MOST_MS => {
                Err(ToolError::argument("timeout_ms", format!("takes at most {MOST_MS}, not {ms}")))
            }
            _ => Ok(note("task")),
        }
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let most = match params.block {
            Some(false) => 0,
            _ => params.timeout_ms.unwrap_or(DEFAULT_MS),
        };
        let task = wait(&self.ground, params.task_id, Duration::from_millis(most.into()), cx).await?;
        Ok(became(task))
    }
}

/// The task when it has ended, or when nobody works on it, or after `most`.
pub(super) async fn wait(ground: &Ground, id: TaskId, most: Duration, cx: &Cx<'_>) -> Result<Task, ToolError> {
    let until = Instant::now() + most;
    for looks in 0.. {
        cx.check_cancelled()?;
        if looks % LOOKS_A_QUESTION == 0 {
            let task = ground.look(id, cx).await?;
            let at_work = task.status == Status::InProgress || task.run.is_some() && !task.status.has_ended();
            if !at_work || Instant::now() >= until {
                return Ok(task);
            }
            cx.progress.step(looks / LOOKS_A_QUESTION, None, &answer::line(&task));
        }
        tokio::time::sleep_until(until.min(Instant::now() + LOOK)).await;
    }
    Err(ToolError::cancelled())
}

fn became(task: Task) -> Output {
    let ended = task.status.has_ended();
    let mut said = answer::line(&task);
    if let Some(result) = task.run.as_ref().and_then(|run| run.result.as_deref()) {
        said = format!("{result}\n\n[{said}]");
    }
    let (session, result) = match task.run {
        Some(run) => (Some(run.session), run.result),
        None => (None, None),
    };
    let (task_id, status) = (task.id.to_string(), task.status.name().to_owned());
    let became = Became { task_id, status, ended, session, result, reason: task.reason };
    Output::data(answer::data(&became), said).with_fact("task", task.id.to_string()).with_fact("ended", ended)
}

const EXAMPLES: &[Example] = &[Example {
    title: "A look without waiting",
    files: &[],
    before: &[("task_create", r#"{"title": "Fix the parser", "status": "in_progress", "owner": "ada"}"#)],
    arguments: r#"{"task_id": "t1", "block": false}"#,
    answer: "t1 [in_progress] Fix the parser (ada)",
}];
