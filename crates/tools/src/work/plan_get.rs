//! `plan_get`: the session's plan, its steps standing where their tasks do.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::plans::Plan;
use nika_store::tasks::{Priority, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ground, answer, lasting, note};

/// Reads this session's plan.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The tool.
#[derive(Debug)]
pub struct PlanGet {
    /// Where the plan is kept.
    pub ground: Arc<Ground>,
}

/// A plan, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Planned {
    /// Why it is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// In order.
    pub items: Vec<Step>,
    /// Tasks that were made for it by this call.
    pub made: Vec<String>,
    /// Tasks that this call cancelled, as the plan no longer names them.
    pub cancelled: Vec<String>,
}

/// One step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Step {
    /// What to do.
    pub step: String,
    /// Where it stands.
    pub status: String,
    /// Its task, or its author's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// In more words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// What to show while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// Who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What comes first.
    pub depends_on: Vec<String>,
}

impl Tool for PlanGet {
    type Params = Params;
    const SPEC: Spec = Spec::new("plan_get", "Read plan", Group::Work)
        .read_only()
        .terms(&["plan", "steps", "next", "outline", "how far", "current", "progress", "where"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Planned>())
    }

    fn effects(&self, _: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene, "plan")?;
        Ok(note("plan"))
    }

    async fn run(&self, _: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let session = cx.session.id().to_owned();
        let plan = self.ground.ask(move |db| db.plan(&session)).await?;
        Ok(match plan {
            Some(plan) => Output::data(answer::data(&planned(&plan)), said(&plan)),
            None => {
                Output::data(answer::data(&planned(&Plan::default())), "There is no plan. `update_plan` makes one.")
                    .with_ours_from(0)
            }
        })
    }
}

/// The plan as data.
pub(super) fn planned(plan: &Plan) -> Planned {
    let step = |step: &nika_store::plans::Step| Step {
        step: step.step.clone(),
        status: step.status.unwrap_or(Status::Pending).name().to_owned(),
        task_id: step.task_id.clone(),
        description: step.description.clone(),
        priority: step.priority.map(|priority: Priority| priority.name().to_owned()),
        active_form: step.active_form.clone(),
        owner: step.owner.clone(),
        depends_on: step.depends_on.clone(),
    };
    Planned {
        explanation: plan.explanation.clone(),
        items: plan.steps.iter().map(step).collect(),
        made: Vec::new(),
        cancelled: Vec::new(),
    }
}

/// The plan in lines: `2. [in_progress] Mend it (t4; after 1)`
pub(super) fn said(plan: &Plan) -> String {
    let mut lines: Vec<String> = plan.explanation.iter().cloned().collect();
    for (at, step) in plan.steps.iter().enumerate() {
        let mut more: Vec<String> = step.task_id.iter().chain(&step.owner).cloned().collect();
        if !step.depends_on.is_empty() {
            more.push(format!("after {}", step.depends_on.join(", ")));
        }
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
        let status = step.status.unwrap_or(Status::Pending);
        lines.push(format!("{}. [{status}] {}{more}", at + 1, step.step));
    }
    lines.join("\n")
}

const EXAMPLES: &[Example] = &[Example {
    title: "Where the plan stands",
    files: &[],
    before: &[("update_plan", r#"{"items": [{"step": "Look", "status": "completed"}, {"step": "Mend"}]}"#)],
    arguments: "{}",
    answer: "1. [completed] Look\n2. [pending] Mend",
}];
