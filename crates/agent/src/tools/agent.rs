//! `agent`: another agent does a task, with a context of its own.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, lenient};
use nika_guard::{Effect, Effects};
use nika_store::tasks::NewTask;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::slug;
use crate::sub::{Child, Fleet, Order};

/// Starts another agent for a task and answers with its last message. It sees nothing of this conversation: prompt
/// says everything it needs. Several calls in one answer run at once. Use it for searches through much and for work
/// that stands on its own; what you can do in a few calls, do yourself. It may never do more than you.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The task in three to five words, for people.
    pub description: String,
    /// The whole task.
    pub prompt: String,
    /// general (default), explore (finds and answers, changes nothing), plan, verify, or one of the project's own.
    pub subagent_type: Option<String>,
    /// What to call it.
    pub name: Option<String>,
    /// Another model than this one.
    pub model: Option<String>,
    /// Answers at once with a task id; you are told when it has ended. Nobody is asked on its behalf.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub run_in_background: Option<bool>,
    /// worktree: it works on a branch in a directory of its own, which is kept when it holds work.
    pub isolation: Option<String>,
    /// The mode it stands in at most: read-only, ask, …
    pub mode: Option<String>,
    /// The most turns it may take.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_turns: Option<u32>,
    /// false: it changes nothing.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_write: Option<bool>,
    /// false: it runs no commands.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_shell: Option<bool>,
    /// The JSON schema of the object that it is to answer with.
    pub schema: Option<Map<String, Value>>,
}

/// The tool.
#[derive(Debug)]
pub struct AgentTool {
    /// The agents.
    pub fleet: Arc<Fleet>,
}

impl Tool for AgentTool {
    type Params = Params;
    const SPEC: Spec = Spec::new("agent", "Start agent", Group::Agent)
        .open_world()
        .terms(&[
            "subagent",
            "sub-agent",
            "delegate",
            "task",
            "worker",
            "parallel",
            "explore",
            "research",
            "worktree",
            "helper",
            "assistant",
            "investigate",
            "spawn",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let order = order(params, scene.session.id())?;
        let spawn = Effects::one(Effect::Spawn("agent".to_owned()));
        Ok(match &order.worktree {
            Some(slug) => spawn.and(Effect::Write(self.fleet.worktree_place(slug))),
            None => spawn,
        })
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        self.fleet.check(cx.session.id(), params.subagent_type.as_deref(), params.model.as_deref())?;
        Ok(Some(params.prompt.clone()))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let order = order(&params, cx.session.id())?;
        if params.run_in_background == Some(true) {
            let new = NewTask { title: order.description.clone(), owner: order.name.clone(), ..NewTask::default() };
            let row = self.fleet.start_task(new, order, cx).await?;
            let session = row.run.as_ref().map(|run| run.session.clone());
            let text = format!(
                "It works in the background as task {}. You are told when it has ended; `task_output` waits for it and \
                 `task_stop` ends it.",
                row.id
            );
            let data = json!({"task_id": row.id.to_string(), "session": session, "status": row.status.name()});
            return Ok(Output::data(data, text).with_fact("task", row.id.to_string()));
        }
        let mut child = Child::hire(&self.fleet, self.fleet.starter(cx)?, &order).await?;
        let worked = child.work(&order.prompt).await;
        let finished = child.dismiss().await?;
        worked?;
        cx.check_cancelled()?;
        Ok(finished.output())
    }
}

fn order(params: &Params, session: &str) -> Result<Order, ToolError> {
    for (field, text) in [("description", &params.description), ("prompt", &params.prompt)] {
        if text.trim().is_empty() {
            return Err(ToolError::argument(field, "takes a few words"));
        }
    }
    let worktree = match params.isolation.as_deref().map(str::trim) {
        None | Some("" | "none") => None,
        Some("worktree") => Some(slug(params.name.as_deref(), &params.description, &(session, &params.prompt))),
        Some(other) => {
            let why = format!("takes worktree, not '{}'", nika_contract::text::preview(other, 60));
            return Err(ToolError::argument("isolation", why));
        }
    };
    Ok(Order {
        description: params.description.trim().to_owned(),
        prompt: params.prompt.clone(),
        kind: params.subagent_type.clone(),
        name: params.name.clone(),
        model: params.model.clone(),
        mode: params.mode.clone(),
        max_turns: params.max_turns,
        no_writes: params.allow_write == Some(false),
        no_shell: params.allow_shell == Some(false),
        worktree,
        wanted: params.schema.clone().map(Value::Object),
        ..Order::default()
    })
}

const EXAMPLES: &[Example] = &[Example {
    title: "A search that would fill this conversation",
    files: &[],
    before: &[],
    arguments: r#"{"description": "Find the session code", "subagent_type": "explore", "prompt": "Where are sessions kept, and who writes them?"}"#,
    answer: "src/session.rs:12",
}];
