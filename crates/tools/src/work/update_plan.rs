//! `update_plan`: the session's plan, replaced whole; tasks follow it where that is wanted.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effect, Effects};
use nika_store::plans::{MAX_STEPS, Plan, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::plan_get::{Planned, planned, said};
use super::words::{self, AimWord, PriorityWord};
use super::{Ground, answer, lasting, note};
use crate::lenient;

/// Replaces this session's plan. With sync_tasks each step becomes a task that others see and can take; steps are
/// found again by task_id or the same words, and open tasks of dropped steps are cancelled.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Why the plan is so, or why it changed.
    pub explanation: Option<String>,
    /// The whole plan, in order.
    #[serde(deserialize_with = "items")]
    pub items: Vec<Item>,
    /// Keep tasks in step with the plan. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub sync_tasks: Option<bool>,
}

/// One step.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Item {
    /// What to do.
    #[serde(alias = "title", alias = "content")]
    pub step: String,
    /// Default pending; with sync_tasks, as its task stands.
    pub status: Option<AimWord>,
    /// Its task, or a name of yours for depends_on.
    pub task_id: Option<String>,
    pub description: Option<String>,
    pub priority: Option<PriorityWord>,
    /// What to show while it is in progress.
    #[serde(alias = "activeForm")]
    pub active_form: Option<String>,
    pub owner: Option<String>,
    /// Steps that come first: numbers from 1, or task_ids.
    #[serde(default, deserialize_with = "words::texts")]
    #[schemars(with = "Vec<String>")]
    pub depends_on: Vec<String>,
}

fn items<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Item>, D::Error> {
    words::items(input, "step")
}

/// The tool.
#[derive(Debug)]
pub struct UpdatePlan {
    /// Where the plan is kept.
    pub ground: Arc<Ground>,
}

impl Tool for UpdatePlan {
    type Params = Params;
    const SPEC: Spec = Spec::new("update_plan", "Update plan", Group::Work)
        .idempotent()
        .terms(&["plan", "make", "revise", "steps", "milestones", "outline", "roadmap", "write"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Planned>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene, "plan")?;
        if params.items.is_empty() {
            return Err(ToolError::argument("items", "has no step").hint("`plan_clear` removes the plan"));
        }
        if params.items.len() > MAX_STEPS {
            let why = format!("takes at most {MAX_STEPS} steps, not {}", params.items.len());
            return Err(ToolError::argument("items", why));
        }
        if let Some(at) = params.items.iter().position(|item| item.step.trim().is_empty()) {
            return Err(ToolError::argument(&format!("items[{at}].step"), "says nothing"));
        }
        let plan = note("plan");
        Ok(if params.sync_tasks == Some(true) { plan.and(Effect::Note("task".to_owned())) } else { plan })
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let sync = params.sync_tasks == Some(true);
        let (session, now) = (cx.session.id().to_owned(), cx.clock.unix_ms());
        let steps: Vec<Step> = params.items.into_iter().map(Step::from).collect();
        let plan = Plan { explanation: params.explanation.filter(|text| !text.trim().is_empty()), steps };
        let (plan, mirrored) = self.ground.ask(move |db| db.set_plan(&session, plan, sync, now)).await?;
        let mut text = said(&plan);
        if !mirrored.cancelled.is_empty() {
            text.push_str(&format!("\nNo longer in the plan and cancelled: {}.", answer::list(&mirrored.cancelled)));
        }
        let mut planned = planned(&plan);
        (planned.made, planned.cancelled) = (answer::names(&mirrored.made), answer::names(&mirrored.cancelled));
        let (made, cancelled) = (mirrored.made.len(), mirrored.cancelled.len());
        Ok(Output::data(answer::data(&planned), text)
            .with_fact("steps", plan.steps.len())
            .with_fact("tasks_made", made)
            .with_fact("tasks_cancelled", cancelled))
    }
}

impl From<Item> for Step {
    fn from(item: Item) -> Step {
        let said = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Step {
            step: item.step.trim().to_owned(),
            status: item.status.map(Into::into),
            task_id: said(item.task_id),
            description: said(item.description),
            priority: item.priority.map(Into::into),
            active_form: said(item.active_form),
            owner: said(item.owner),
            depends_on: item.depends_on,
        }
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "A plan of three steps",
        files: &[],
        before: &[],
        arguments: r#"{"explanation": "The parser drops the last line.", "items": [{"step": "Find where", "status": "in_progress"}, {"step": "Mend it"}, {"step": "Test it"}]}"#,
        answer: "1. [in_progress] Find where\n2. [pending] Mend it",
    },
    Example {
        title: "Tasks follow the plan",
        files: &[],
        before: &[],
        arguments: r#"{"items": [{"step": "Mend it"}, {"step": "Test it", "depends_on": ["1"]}], "sync_tasks": true}"#,
        answer: "1. [pending] Mend it (t1)\n2. [blocked] Test it (t2; after t1)",
    },
];
