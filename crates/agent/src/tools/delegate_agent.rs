//! `delegate_agent`: several agents, in the order in which their tasks depend on each other.

use std::collections::VecDeque;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, lenient, text};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::sub::graph::{Fate, Node, Strategy, Tolerance, batches, before};
use crate::sub::{Child, Finished, Fleet, Order, Starter};

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
    /// Whether a failure leaves the others going. Default false: nothing more is begun.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub continue_on_error: Option<bool>,
    /// With so many failures nothing more is begun.
    #[serde(default, deserialize_with = "lenient::number")]
    pub max_failures: Option<u32>,
    /// All of it in a few words, for people.
    pub description: Option<String>,
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
/// Characters of one answer that those who wait for it are told.
const TOLD_CHARS: usize = 8_000;

/// What is known of the sub-tasks once they can be done.
struct Plan {
    names: Vec<String>,
    batches: Vec<Vec<usize>>,
    before: Vec<std::collections::BTreeSet<usize>>,
    tolerance: Tolerance,
}

impl Plan {
    fn of(params: &Params) -> Result<Plan, ToolError> {
        let count = params.subtasks.len();
        if count == 0 || count > MOST {
            return Err(ToolError::argument("subtasks", format!("takes 1 to {MOST} of them, not {count}")));
        }
        if let Some(empty) = params.subtasks.iter().position(|task| task.prompt.trim().is_empty()) {
            return Err(ToolError::argument("subtasks", format!("the prompt of number {} is empty", empty + 1)));
        }
        let name = |(at, task): (usize, &Subtask)| task.id.clone().unwrap_or_else(|| (at + 1).to_string());
        let names: Vec<String> = params.subtasks.iter().enumerate().map(name).collect();
        let nodes: Vec<Node<'_>> = names
            .iter()
            .zip(&params.subtasks)
            .map(|(name, task)| (name.as_str(), task.depends_on.as_slice()))
            .collect();
        let strategy = params.strategy.as_deref().map(str::parse).transpose()?.unwrap_or(Strategy::default());
        let (batches, before) = (batches(&nodes, strategy)?, before(&nodes));
        let tolerance = Tolerance {
            continue_on_error: params.continue_on_error.unwrap_or(params.max_failures.is_some()),
            max_failures: params.max_failures,
        };
        Ok(Plan { names, batches, before, tolerance })
    }
}

/// What became of a sub-task.
enum Became {
    Finished(Box<Finished>),
    Failed(ToolError),
    Skipped(&'static str),
}

impl Tool for DelegateAgent {
    type Params = Params;
    const SPEC: Spec = Spec::new("delegate_agent", "Delegate to agents", Group::Agent)
        .open_world()
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
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Plan::of(params)?;
        Ok(Effects::one(Effect::Spawn("agents".to_owned())))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let plan = Plan::of(params)?;
        self.check(params, cx)?;
        let line = |at: &usize| format!("{}: {}", plan.names[*at], text::preview(&params.subtasks[*at].prompt, 300));
        let above = [&params.description, &params.prompt].into_iter().flatten().cloned();
        let shown: Vec<String> = above.chain(plan.batches.iter().flatten().map(line)).collect();
        Ok(Some(shown.join("\n")))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let plan = Plan::of(&params)?;
        self.check(&params, cx)?;
        let mut became: Vec<Option<Became>> = plan.names.iter().map(|_| None).collect();
        for batch in &plan.batches {
            self.batch(batch, &plan, &params, &mut became, cx).await?;
        }
        cx.check_cancelled()?;
        let became = became.into_iter().map(|one| one.unwrap_or(Became::Skipped("it was never begun")));
        Ok(answer(&plan, became.collect()))
    }
}

impl DelegateAgent {
    /// Asked of every one before the first begins.
    fn check(&self, params: &Params, cx: &Cx<'_>) -> Result<(), ToolError> {
        for task in &params.subtasks {
            self.fleet.check(cx.session.id(), task.subagent_type.as_deref(), task.model.as_deref())?;
            self.fleet.check_conversations(cx.session.id(), &order(params, task, &[], &Default::default(), &[]))?;
        }
        Ok(())
    }

    /// Does one batch, as many at once as there are seats.
    async fn batch(
        &self,
        batch: &[usize],
        plan: &Plan,
        params: &Params,
        became: &mut [Option<Became>],
        cx: &Cx<'_>,
    ) -> Result<(), ToolError> {
        let mut waiting: VecDeque<usize> = batch.iter().copied().collect();
        // Dropped with the call, and all that is at work in it.
        let mut at_work = JoinSet::new();
        while !waiting.is_empty() || !at_work.is_empty() {
            let room = self.fleet.free_seats().max(usize::from(at_work.is_empty()));
            for _ in 0..room {
                let Some(at) = waiting.pop_front() else { break };
                if let Some(why) = plan.tolerance.stops(&fates(became), &plan.before[at]) {
                    became[at] = Some(Became::Skipped(why));
                    continue;
                }
                if cx.cancel.is_cancelled() {
                    became[at] = Some(Became::Skipped("the call was cancelled"));
                    continue;
                }
                let order = order(params, &params.subtasks[at], &plan.names, &plan.before[at], became);
                let (fleet, starter) = (Arc::clone(&self.fleet), self.fleet.starter(cx)?);
                at_work.spawn(async move { (at, one(&fleet, starter, &order).await) });
            }
            let Some(done) = at_work.join_next().await else { continue };
            let (at, done) = done.map_err(|error| ToolError::new(code::BUG, format!("an agent crashed: {error}")))?;
            became[at] = match done {
                Ok(finished) => Some(Became::Finished(Box::new(finished))),
                // Somebody else took the seat: it waits its turn while others of ours are at work.
                Err(error) if error.code == code::TOO_MANY_AGENTS && !at_work.is_empty() => {
                    waiting.push_back(at);
                    None
                }
                Err(error) => Some(Became::Failed(error)),
            };
        }
        Ok(())
    }
}

async fn one(fleet: &Arc<Fleet>, starter: Starter, order: &Order) -> Result<Finished, ToolError> {
    let mut child = Child::hire(fleet, starter, order).await?;
    let worked = child.work(&order.prompt).await;
    let finished = child.dismiss().await?;
    worked.map(|_| finished)
}

fn fates(became: &[Option<Became>]) -> Vec<Fate> {
    let fate = |one: &Option<Became>| match one {
        None => Fate::Open,
        Some(Became::Finished(finished)) if finished.is_done() => Fate::Done,
        Some(Became::Finished(_) | Became::Failed(_)) => Fate::Failed,
        Some(Became::Skipped(_)) => Fate::Skipped,
    };
    became.iter().map(fate).collect()
}

/// The sub-task as an order, with what those before it answered.
fn order(
    params: &Params,
    task: &Subtask,
    names: &[String],
    before: &std::collections::BTreeSet<usize>,
    became: &[Option<Became>],
) -> Order {
    let common = params.prompt.as_deref().filter(|prompt| !prompt.trim().is_empty());
    let mut prompt = common.map_or_else(|| task.prompt.clone(), |common| format!("{common}\n\n{}", task.prompt));
    for at in before {
        if let Some(Became::Finished(finished)) = &became[*at] {
            let said = &finished.ended.answer;
            let said = text::head_and_tail(said, TOLD_CHARS).unwrap_or_else(|| said.clone());
            prompt.push_str(&format!("\n\n<answer of=\"{}\">\n{said}\n</answer>", text::preview(&names[*at], 80)));
        }
    }
    let description = task.description.clone().unwrap_or_else(|| text::preview(&task.prompt, 80));
    Order {
        description,
        prompt,
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

fn answer(plan: &Plan, became: Vec<Became>) -> Output {
    let mut rows = Vec::new();
    let mut said = Vec::new();
    let mut counts = [0_u64; 3];
    for (name, one) in plan.names.iter().zip(became) {
        let (place, status, text, data) = match one {
            Became::Finished(finished) if finished.is_done() => (0, "done", finished.text(), finished.data()),
            Became::Finished(finished) => (1, "failed", finished.text(), finished.data()),
            Became::Failed(error) => (1, "failed", error.to_string(), json!({"error": error.to_string()})),
            Became::Skipped(why) => (2, "skipped", why.to_owned(), json!({"why": why})),
        };
        counts[place] += 1;
        said.push(format!("## {} [{status}]\n{text}", text::preview(name, 80)));
        rows.push(json!({"id": name, "status": status, "agent": data}));
    }
    let [done, failed, skipped] = counts;
    said.insert(0, format!("{done} done, {failed} failed, {skipped} skipped."));
    let data: Value = json!({"done": done, "failed": failed, "skipped": skipped, "subtasks": rows});
    let worst = (failed + skipped > 0).then_some(code::SUBTASKS_FAILED);
    Output { failed: worst, ..Output::data(data, said.join("\n\n")) }
        .with_fact("done", done)
        .with_fact("failed", failed)
}

const EXAMPLES: &[Example] = &[Example {
    title: "Two at once, then one that needs both",
    files: &[],
    before: &[],
    arguments: r#"{"subtasks": [{"id": "api", "prompt": "List the public API of src/lib.rs.", "subagent_type": "explore"}, {"id": "docs", "prompt": "List what docs/ promises.", "subagent_type": "explore"}, {"id": "gaps", "prompt": "Name what differs.", "depends_on": ["api", "docs"]}]}"#,
    answer: "3 done, 0 failed, 0 skipped.",
}];
