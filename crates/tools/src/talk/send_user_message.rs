//! `send_user_message`: a word to the person, without waiting for one.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Herald, Output, Scene, Spec, Spoken, Tool, ToolError};
use nika_guard::{Effect, Effects};
use nika_host::fs::Workspace;
use schemars::JsonSchema;
use serde::Deserialize;

/// Shows the person a message now, while the work goes on. What the work comes to belongs in your answer.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The message.
    pub message: String,
    /// Files to name with it. They must exist; the person sees their paths, not their content.
    pub attachments: Option<Vec<String>>,
    /// proactive where the person did not ask for it. Default normal.
    pub status: Option<Status>,
}

/// Whether the person waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Normal,
    Proactive,
}

/// The tool.
pub struct SendUserMessage {
    /// The files.
    pub files: Arc<Workspace>,
    /// Who shows it.
    pub herald: Arc<dyn Herald>,
}

impl std::fmt::Debug for SendUserMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SendUserMessage").finish_non_exhaustive()
    }
}

impl Tool for SendUserMessage {
    type Params = Params;
    const SPEC: Spec = Spec::new("send_user_message", "Tell the person", Group::Talk)
        .terms(&[
            "message", "tell", "notify", "inform", "user", "human", "status", "progress", "update", "let know",
            "halfway", "person", "report",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        if params.message.trim().is_empty() {
            return Err(ToolError::argument("message", "is empty"));
        }
        let mut effects = Effects::session();
        for path in params.attachments.iter().flatten() {
            effects = effects.and(Effect::Read(self.files.locate_without_git(path)?));
        }
        Ok(effects)
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let mut attachments = Vec::new();
        for path in params.attachments.iter().flatten() {
            // Opened, so that a missing one is named with its near names and a directory is refused.
            let file = self.files.open_file(cx.permit, &self.files.locate_without_git(path)?)?;
            attachments.push(file.place.shown().into_owned());
        }
        let proactive = params.status == Some(Status::Proactive);
        let spoken = Spoken { message: params.message, attachments, proactive };
        let shown = self.herald.say(cx.session.id(), &spoken);
        let with = match spoken.attachments.as_slice() {
            [] => String::new(),
            names => format!(", with {}", names.join(", ")),
        };
        let said = if shown {
            format!("Shown to the person{with}.")
        } else {
            "Not shown: nobody takes messages here. Say it in your answer instead.".to_owned()
        };
        Ok(Output::text(said).with_fact("shown", shown))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "A word and a file",
    files: &[("report.md", "All green.\n")],
    before: &[],
    arguments: r#"{"message": "The tests pass; the report is written.", "attachments": ["report.md"]}"#,
    answer: "with report.md",
}];
