//! `delegate_agent`: several agents, in the order in which their tasks depend on each other.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, lenient, text};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::begun::{Begun, begun};
use crate::sub::graph::{Strategy, Tolerance};
use crate::sub::{Delegated, Fleet, Order, Several};

/// Starts an agent for each sub-task, those that wait for nothing at once, and answers when all have ended. An agent
/// is told what those it waits for answered, and nothing else of this conversation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The sub-tasks.
    #[serde(deserialize_with = "subtasks")]
    #[schemars(with = "Vec<Subtask>")]
    pub subtasks: Vec<Subtask>,
    /// topological (default), sequential, or parallel: then nothing may wait.
    pub strategy: Option<String>,
    /// Whether the others go on after a failure. Default false: nothing more is begun.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub continue_on_error: Option<bool>,
    /// With so many failures nothing more is begun.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_failures: Option<u32>,
    /// All of it in a few words, for people.
    pub description: Option<String>,
    /// As in `agent`: one task id for all of it.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub run_in_background: Option<bool>,
    /// What each is told before its own prompt.
    pub prompt: Option<String>,
    /// The most turns of each.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_turns: Option<u32>,
    /// false: none changes anything.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_write: Option<bool>,
    /// false: none runs commands.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_shell: Option<bool>,
    /// true: each is told what was said and done in this conversation.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub include_parent_context: Option<bool>,
    /// As in `agent`, for each.
    #[serde(alias = "session_id")]
    pub resume_session_id: Option<String>,
}

/// A part of the work.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subtask {
    /// Its name, for depends_on. Default: its number, from 1.
    #[serde(alias = "label")]
    pub id: Option<String>,
    /// The whole task.
    pub prompt: String,
    /// In a few words, for people.
    pub description: Option<String>,
    /// Names of those that come before it.
    #[serde(default)]
    pub depends_on: Vec<String>,
    /// As in `agent`.
    pub subagent_type: Option<String>,
    /// As in `agent`.
    pub model: Option<String>,
    /// As in `agent`.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_turns: Option<u32>,
    /// As in `agent`.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_write: Option<bool>,
    /// As in `agent`.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_shell: Option<bool>,
    /// As in `agent`.
    #[serde(alias = "session_id")]
    pub resume_session_id: Option<String>,
}

/// A list of sub-tasks; a text stands for one with that prompt.
pub(super) fn subtasks<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Subtask>, D::Error> {
    let item = |(at, value): (usize, Value)| {
        let value = match value {
            Value::String(prompt) => json!({ "prompt": prompt }),
            value => value,
        };
        serde_json::from_value(value).map_err(|error| D::Error::custom(format!("number {}: {error}", at + 1)))
    };
    Vec::<Value>::deserialize(input)?.into_iter().enumerate().map(item).collect()
}

/// The tool.
#[derive(Debug)]
pub struct DelegateAgent {
    /// The agents.
    pub fleet: Arc<Fleet>,
}

/// Sub-tasks of one call: with more, the answer is longer than anybody reads.
const MOST: usize = 50;

impl Tool for DelegateAgent {
    type Params = Params;
    const SPEC: Spec = Spec::new("delegate_agent", "Delegate to agents", Group::Agent)
        .open_world()
        .text()
        .terms(&[
            "agents",
            "subtasks",
            "delegate",
            "parallel",
            "graph",
            "depends",
            "fan out",
            "orchestrate",
            "subagents",
            "split",
            "distribute",
            "coordinate",
            "several",
            "independent",
            "team",
            "spread",
            "many agents",
            "divide",
            "multiple assistants",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Answer>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        several(params)?;
        Ok(Effects::one(Effect::Spawn("agents".to_owned())))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let several = several(params)?;
        several.check(&self.fleet, cx.session.id())?;
        Ok(Some(shown(params, &several)))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let several = several(&params)?;
        several.check(&self.fleet, cx.session.id())?;
        if params.run_in_background == Some(true) {
            let said = params.description.as_deref().map(str::trim).filter(|said| !said.is_empty());
            let title = said.map_or_else(|| format!("{} sub-tasks", params.subtasks.len()), str::to_owned);
            let prompt = shown(&params, &several);
            let row = self.fleet.start_several(title, prompt, several, cx).await?;
            return Ok(begun(&row));
        }
        let brought = several.run(&self.fleet, self.fleet.starter(cx)?, None).await?;
        cx.check_cancelled()?;
        Ok(brought.output())
    }
}

/// The answer, as data.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Answer {
    Ended(Delegated),
    Begun(Begun),
}

/// The sub-tasks as orders; an error where they cannot be done.
fn several(params: &Params) -> Result<Several, ToolError> {
    let count = params.subtasks.len();
    if count == 0 || count > MOST {
        return Err(ToolError::argument("subtasks", format!("takes 1 to {MOST} of them, not {count}")));
    }
    if let Some(empty) = params.subtasks.iter().position(|task| task.prompt.trim().is_empty()) {
        return Err(ToolError::argument("subtasks", format!("the prompt of number {} is empty", empty + 1)));
    }
    let named = |(at, task): (usize, &Subtask)| {
        let name = task.id.clone().unwrap_or_else(|| (at + 1).to_string());
        (name, task.depends_on.clone(), order(params, task))
    };
    let orders = params.subtasks.iter().enumerate().map(named).collect();
    let strategy = params.strategy.as_deref().map(str::parse).transpose()?.unwrap_or(Strategy::default());
    let tolerance = Tolerance {
        continue_on_error: params.continue_on_error.unwrap_or(params.max_failures.is_some()),
        max_failures: params.max_failures,
    };
    Several::new(orders, strategy, tolerance)
}

fn order(params: &Params, task: &Subtask) -> Order {
    let common = params.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty());
    Order {
        description: task.description.clone().unwrap_or_else(|| text::preview(&task.prompt, 80)),
        prompt: common.map_or_else(|| task.prompt.clone(), |common| format!("{common}\n\n{}", task.prompt)),
        kind: task.subagent_type.clone(),
        name: task.id.clone(),
        model: task.model.clone(),
        max_turns: [params.max_turns, task.max_turns].into_iter().flatten().min(),
        // What all may not, none may.
        no_writes: [params.allow_write, task.allow_write].contains(&Some(false)),
        no_shell: [params.allow_shell, task.allow_shell].contains(&Some(false)),
        resume: task.resume_session_id.clone().or_else(|| params.resume_session_id.clone()),
        with_context: params.include_parent_context == Some(true),
        ..Order::default()
    }
}

/// What a person and the task's row are shown: all of it in a few words, then each sub-task.
fn shown(params: &Params, several: &Several) -> String {
    let above = [&params.description, &params.prompt].into_iter().flatten().cloned();
    let line = |(at, name): (usize, &str)| format!("{name}: {}", text::preview(&params.subtasks[at].prompt, 300));
    above.chain(several.sequence().map(line)).collect::<Vec<_>>().join("\n")
}

const EXAMPLES: &[Example] = &[Example {
    title: "Two at once, then one that needs both",
    files: &[],
    before: &[],
    arguments: r#"{"subtasks": [{"id": "api", "prompt": "List the public API of src/lib.rs.", "subagent_type": "explore"}, {"id": "docs", "prompt": "List what docs/ promises.", "subagent_type": "explore"}, {"id": "gaps", "prompt": "Name what differs.", "depends_on": ["api", "docs"]}]}"#,
    answer: "3 done, 0 failed, 0 skipped.",
}];
