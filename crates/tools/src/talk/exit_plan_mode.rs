//! `exit_plan_mode`: a person reads the plan, and only their yes lets the session act again.

use nika_contract::{
    Cx, Example, Group, Inquiry, Offer, Output, PlanMode, Replied, Scene, Spec, Tool, ToolError, code,
};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::Deserialize;

use super::enter_plan_mode::lasting;

/// Shows the plan to the person and asks whether to carry it out. Yes ends plan mode; anything else keeps it, and
/// you read why.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The whole plan, Markdown: what changes where, and how it is checked. They see nothing else.
    pub plan: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct ExitPlanMode;

/// The answer that ends plan mode.
const APPROVE: &str = "Approve";

impl Tool for ExitPlanMode {
    type Params = Params;
    const SPEC: Spec = Spec::new("exit_plan_mode", "Leave plan mode", Group::Talk)
        .terms(&[
            "plan",
            "approve",
            "approval",
            "proposal",
            "ready",
            "implement",
            "begin",
            "implementation",
            "done planning",
            "stop planning",
            "present",
            "submit",
            "finished",
            "user",
        ])
        .examples(EXAMPLES);

    fn effects(&self, _: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene)?;
        if !scene.session.slot::<PlanMode>().is_on() {
            return Err(ToolError::new(code::NOT_PLANNING, "this session is not in plan mode")
                .hint("go on; `enter_plan_mode` begins one"));
        }
        // The session too: what comes with it in the same turn is judged by how it stands afterwards.
        Ok(Effects::one(Effect::Ask).and(Effect::Session))
    }

    fn inquires(&self, params: &Params, _: &Scene<'_>) -> Result<Option<Inquiry>, ToolError> {
        let offer =
            |label: &str, description: &str| Offer { label: label.into(), description: Some(description.into()) };
        let plan = params.plan.as_deref().map(str::trim).filter(|plan| !plan.is_empty());
        Ok(Some(Inquiry {
            id: String::new(),
            tool: String::new(),
            name: None,
            header: Some("Plan".to_owned()),
            text: format!("{}\n\nCarry out this plan?", plan.unwrap_or("The plan stands in the conversation.")),
            options: vec![
                offer(APPROVE, "ends plan mode: the session may act again, as its mode lets it"),
                offer("Keep planning", "nothing is changed yet"),
            ],
            free_text: true,
        }))
    }

    async fn run(&self, _: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let said = match cx.reply {
            Some(Replied::Chosen(label)) if label == APPROVE => return Ok(approved(cx)),
            // A form may give both a choice and words; a yes with conditions is not yet one.
            Some(Replied::Wrote(words)) if words.eq_ignore_ascii_case(APPROVE) => return Ok(approved(cx)),
            Some(Replied::Wrote(words)) => format!("Not approved yet. The person wrote: {words}"),
            Some(Replied::Chosen(_)) => "Not approved yet: the person wants more planning.".to_owned(),
            Some(Replied::Declined { why: Some(why) }) => format!("Not approved: {why}"),
            Some(Replied::Declined { why: None }) => "Not approved: the person declined.".to_owned(),
            Some(Replied::Nobody | Replied::Later) | None => {
                "Nobody can be asked here, so nobody approved. End with the plan as your answer.".to_owned()
            }
        };
        let said = format!("{said}\nPlan mode goes on: this session only looks.");
        Ok(Output::text(said).with_fact("plan_mode", true))
    }
}

fn approved(cx: &Cx<'_>) -> Output {
    cx.session.slot::<PlanMode>().set(false);
    let said = "Approved. Plan mode is over: the session stands as it did before. Carry the plan out.";
    Output::text(said).with_fact("plan_mode", false)
}

const EXAMPLES: &[Example] = &[Example {
    title: "A plan, where nobody is there to approve it",
    files: &[],
    before: &[("enter_plan_mode", "{}")],
    arguments: r##"{"plan": "1. Move the parser into src/parse.rs. 2. Run the tests."}"##,
    answer: "Plan mode goes on",
}];
