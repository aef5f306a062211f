//! `enter_plan_mode`: from now on the session only looks, and so does every agent that works for it.

use nika_contract::{Cx, Example, Group, Output, PlanMode, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;

/// Makes the session read-only while you work out a plan. exit_plan_mode shows the plan to the person, and only
/// their yes ends it. For work whose direction they should see first.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The tool.
#[derive(Debug)]
pub struct EnterPlanMode;

impl Tool for EnterPlanMode {
    type Params = Params;
    const SPEC: Spec = Spec::new("enter_plan_mode", "Enter plan mode", Group::Talk)
        .idempotent()
        .terms(&[
            "plan",
            "planning",
            "before acting",
            "read-only",
            "design",
            "think first",
            "proposal",
            "switch",
            "no changes",
            "draft",
            "stop changing",
            "without editing",
        ])
        .examples(EXAMPLES);

    fn effects(&self, _: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene)?;
        Ok(Effects::session())
    }

    async fn run(&self, _: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        cx.session.slot::<PlanMode>().set(true);
        let said = "Plan mode: until a person approves the plan, this session and its agents only look. Read, search \
                    and ask; then give the whole plan to exit_plan_mode.";
        Ok(Output::text(said).with_fact("plan_mode", true))
    }
}

/// Plan mode in a session that ends with its call would bind nobody.
pub(super) fn lasting(scene: &Scene<'_>) -> Result<(), ToolError> {
    if scene.session.is_lasting() {
        return Ok(());
    }
    Err(ToolError::new(code::NEEDS_SESSION, "plan mode lasts as long as its session, and this one ends with the call")
        .hint("name a session: `nika call --session NAME …`"))
}

const EXAMPLES: &[Example] =
    &[Example { title: "Plan first", files: &[], before: &[], arguments: "{}", answer: "only look" }];
