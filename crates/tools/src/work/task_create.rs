//! `task_create`: a row that every session of the workspace sees; with a prompt, an agent does it at once.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, event, text};
use nika_guard::{Effect, Effects};
use nika_store::tasks::{Changed, NewTask, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::words::{self, AimWord, PriorityWord};
use super::{Ground, answer, note};

/// Creates a task that all sessions of this workspace see. Give title, or prompt to have an agent do it in the
/// background: task_output waits for it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// In a few words. Default: the first line of prompt.
    pub title: Option<String>,
    pub description: Option<String>,
    /// What an agent is told. It starts at once.
    pub prompt: Option<String>,
    /// Default pending; blocked while blocked_by are not completed.
    pub status: Option<AimWord>,
    /// Default normal.
    pub priority: Option<PriorityWord>,
    /// What to show while it is in progress.
    pub active_form: Option<String>,
    /// Who should do it.
    pub owner: Option<String>,
    /// Ids of tasks that wait for it.
    #[serde(default, deserialize_with = "words::ids")]
    #[schemars(with = "Vec<String>")]
    pub blocks: Vec<TaskId>,
    /// Ids of tasks it waits for.
    #[serde(default, deserialize_with = "words::ids")]
    #[schemars(with = "Vec<String>")]
    pub blocked_by: Vec<TaskId>,
    /// The id that it is to have, one that no task has had: `t40`. Default: the next.
    #[serde(default, deserialize_with = "words::some_id")]
    #[schemars(with = "Option<String>")]
    pub task_id: Option<TaskId>,
    /// Anything to keep with it.
    pub metadata: Option<Map<String, Value>>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskCreate {
    /// Where tasks are kept, and who runs agents.
    pub ground: Arc<Ground>,
}

/// Characters of a title that is made of a prompt.
const TITLE_CHARS: usize = 80;

impl Tool for TaskCreate {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_create", "Create task", Group::Work)
        .event(event::TASK_CHANGED)
        .terms(&[
            "task",
            "new",
            "add",
            "issue",
            "ticket",
            "delegate",
            "background",
            "agent",
            "queue",
            "assign",
            "bug",
            "fix",
            "later",
            "open",
            "item",
            "backlog",
            "write down",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Answer>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let Some(_) = prompt(params) else {
            return match title(params) {
                Some(_) => Ok(note("task")),
                None => Err(ToolError::argument("title", "takes a few words, or give a prompt")),
            };
        };
        if self.ground.runner.is_none() {
            let message = "a task with a `prompt` needs an agent to do it, and nothing here can run one";
            return Err(ToolError::new(code::NO_RUNNER, message)
                .hint("leave `prompt` out, with the work in `description`, to keep it for somebody else"));
        }
        if params.status.is_some_and(|status| status != AimWord::Pending) || !params.blocked_by.is_empty() {
            let why = "an agent starts at once: leave `status` and `blocked_by` out";
            return Err(ToolError::argument("prompt", why));
        }
        Ok(note("task").and(Effect::Spawn("agent".to_owned())))
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(prompt(params).map(str::to_owned))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let new = NewTask {
            id: params.task_id,
            title: title(&params).unwrap_or_default(),
            description: params.description.clone(),
            status: params.status.map(Into::into),
            priority: params.priority.map(Into::into),
            active_form: params.active_form.clone(),
            owner: params.owner.clone(),
            blocks: params.blocks.clone(),
            blocked_by: params.blocked_by.clone(),
            metadata: params.metadata.clone().unwrap_or_default(),
            plan: None,
            run: None,
        };
        if let (Some(prompt), Some(runner)) = (prompt(&params), &self.ground.runner) {
            let task = runner.start(new, prompt, cx).await?;
            return Ok(answer::changed(Changed { task, freed: Vec::new(), waiting: Vec::new() }));
        }
        let now = cx.clock.unix_ms();
        Ok(answer::changed(self.ground.ask(move |db| db.add_task(&new, now)).await?))
    }
}

fn prompt(params: &Params) -> Option<&str> {
    params.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty())
}

fn title(params: &Params) -> Option<String> {
    let said = params.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let first = || prompt(params)?.trim().lines().next().map(|line| text::preview(line, TITLE_CHARS));
    said.map(str::to_owned).or_else(first)
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "Something to be done",
        files: &[],
        before: &[],
        arguments: r#"{"title": "Fix the parser", "priority": "high"}"#,
        answer: "t1 [pending] Fix the parser (high)",
    },
    Example {
        title: "After something else",
        files: &[],
        before: &[("task_create", r#"{"title": "Fix the parser"}"#)],
        arguments: r#"{"title": "Release", "blocked_by": ["t1"]}"#,
        answer: "t2 [blocked] Release (waits for t1)",
    },
];
