//! `agent`: another agent does a task, with a context of its own.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, lenient};
use nika_guard::{Effect, Effects};
use nika_store::tasks::NewTask;
use schemars::JsonSchema;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::begun::{Begun, begun};
use super::delegate_agent::{self, DelegateAgent, Subtask};
use super::slug;
use crate::sub::{Child, Delegated, Fleet, Order, Report};

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
    /// true: it is told what was said and done in this conversation.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub include_parent_context: Option<bool>,
    /// The session of an agent that you have started: this one knows all that that one did.
    #[serde(alias = "session_id")]
    pub resume_session_id: Option<String>,
    /// Parts for an agent each, as in `delegate_agent`; prompt is told to all.
    #[serde(default, deserialize_with = "some_subtasks")]
    #[schemars(with = "Option<Vec<Subtask>>")]
    pub subtasks: Option<Vec<Subtask>>,
    /// Of subtasks: as in `delegate_agent`.
    pub strategy: Option<String>,
    /// Of subtasks: as in `delegate_agent`.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub continue_on_error: Option<bool>,
    /// Of subtasks: as in `delegate_agent`.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_failures: Option<u32>,
}

fn some_subtasks<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<Subtask>>, D::Error> {
    delegate_agent::subtasks(input).map(|tasks| Some(tasks).filter(|tasks| !tasks.is_empty()))
}

impl Params {
    /// The same as several agents' work; `None` where it is one's.
    fn delegated(&self) -> Result<Option<delegate_agent::Params>, ToolError> {
        let Some(subtasks) = self.subtasks.clone() else {
            let alone = [
                ("strategy", self.strategy.is_some()),
                ("continue_on_error", self.continue_on_error.is_some()),
                ("max_failures", self.max_failures.is_some()),
            ];
            return match alone.iter().find(|(_, said)| *said) {
                Some((field, _)) => Err(ToolError::argument(field, "goes with `subtasks`, which are not there")),
                None => Ok(None),
            };
        };
        let of_one = [
            ("isolation", !matches!(self.isolation.as_deref().map(str::trim), None | Some("" | "none"))),
            ("schema", self.schema.is_some()),
            ("mode", self.mode.is_some()),
            ("name", self.name.is_some()),
        ];
        if let Some((field, _)) = of_one.iter().find(|(_, said)| *said) {
            let why = "is one agent's and goes not with `subtasks`: start several agents, or leave it out";
            return Err(ToolError::argument(field, why));
        }
        // What is said of all holds where a part says nothing itself.
        let subtask = |task: Subtask| Subtask {
            subagent_type: task.subagent_type.or_else(|| self.subagent_type.clone()),
            model: task.model.or_else(|| self.model.clone()),
            ..task
        };
        Ok(Some(delegate_agent::Params {
            subtasks: subtasks.into_iter().map(subtask).collect(),
            strategy: self.strategy.clone(),
            run_in_background: self.run_in_background,
            continue_on_error: self.continue_on_error,
            max_failures: self.max_failures,
            description: Some(self.description.clone()),
            prompt: Some(self.prompt.clone()),
            max_turns: self.max_turns,
            allow_write: self.allow_write,
            allow_shell: self.allow_shell,
            include_parent_context: self.include_parent_context,
            resume_session_id: self.resume_session_id.clone(),
        }))
    }
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
        .text()
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
            "fresh eyes",
            "second opinion",
            "instance",
            "context",
            "another ai",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Answer>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let order = order(params, scene.session.id())?;
        if let Some(several) = params.delegated()? {
            return self.several().effects(&several, scene);
        }
        let spawn = Effects::one(Effect::Spawn("agent".to_owned()));
        Ok(match &order.worktree {
            Some(slug) => spawn.and(Effect::Write(self.fleet.worktree_place(slug))),
            None => spawn,
        })
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        if let Some(several) = params.delegated()? {
            return self.several().preview(&several, cx);
        }
        self.fleet.check(cx.session.id(), params.subagent_type.as_deref(), params.model.as_deref())?;
        self.fleet.check_conversations(cx.session.id(), &order(params, cx.session.id())?)?;
        Ok(Some(params.prompt.clone()))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        if let Some(several) = params.delegated()? {
            return self.several().run(several, cx).await;
        }
        let order = order(&params, cx.session.id())?;
        if params.run_in_background == Some(true) {
            let new = NewTask { title: order.description.clone(), owner: order.name.clone(), ..NewTask::default() };
            let row = self.fleet.start_task(new, order, cx).await?;
            return Ok(begun(&row));
        }
        let mut child = Child::hire(&self.fleet, self.fleet.starter(cx)?, &order).await?;
        let worked = child.work(&order.prompt).await;
        let finished = child.dismiss().await?;
        worked?;
        cx.check_cancelled()?;
        Ok(finished.output())
    }
}

/// The answer, as data.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Answer {
    Ended(Box<Report>),
    Begun(Begun),
    Delegated(Delegated),
}

impl AgentTool {
    fn several(&self) -> DelegateAgent {
        DelegateAgent { fleet: Arc::clone(&self.fleet) }
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
        resume: params.resume_session_id.clone(),
        with_context: params.include_parent_context == Some(true),
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
