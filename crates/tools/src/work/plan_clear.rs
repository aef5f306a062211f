//! `plan_clear`: no plan any more; with it go the open tasks that it made, where that is wanted.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ground, answer, lasting, note};
use crate::lenient;

/// Removes this session's plan.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Also cancel tasks that the plan made and nobody began. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub sync_tasks: Option<bool>,
}

/// The tool.
#[derive(Debug)]
pub struct PlanClear {
    /// Where the plan is kept.
    pub ground: Arc<Ground>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cleared {
    /// Whether there was a plan.
    pub cleared: bool,
    /// Tasks that were cancelled.
    pub cancelled: Vec<String>,
}

impl Tool for PlanClear {
    type Params = Params;
    const SPEC: Spec = Spec::new("plan_clear", "Remove plan", Group::Work)
        .destructive()
        .idempotent()
        .terms(&["plan", "discard", "reset", "abandon", "delete", "throw away", "get rid of"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Cleared>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene, "plan")?;
        let plan = note("plan");
        Ok(if params.sync_tasks == Some(true) { plan.and(Effect::Note("task".to_owned())) } else { plan })
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let sync = params.sync_tasks == Some(true);
        let (session, now) = (cx.session.id().to_owned(), cx.clock.unix_ms());
        let gone = self.ground.ask(move |db| db.clear_plan(&session, sync, now)).await?;
        let cancelled = gone.as_ref().map(|mirrored| mirrored.cancelled.clone()).unwrap_or_default();
        let text = match (&gone, cancelled.as_slice()) {
            (None, _) => "There was no plan.".to_owned(),
            (Some(_), []) => "The plan is gone.".to_owned(),
            (Some(_), ids) => format!("The plan is gone, and cancelled: {}.", answer::list(ids)),
        };
        let cleared = Cleared { cleared: gone.is_some(), cancelled: answer::names(&cancelled) };
        Ok(Output::data(answer::data(&cleared), text).with_fact("tasks_cancelled", cancelled.len()))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "Give up a plan and its tasks",
    files: &[],
    before: &[("update_plan", r#"{"items": ["Look", "Mend"], "sync_tasks": true}"#)],
    arguments: r#"{"sync_tasks": true}"#,
    answer: "The plan is gone, and cancelled: t1, t2.",
}];
