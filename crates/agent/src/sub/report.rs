//! What an agent brought, as its starter reads it and as data.

use std::path::Path;

use nika_contract::{Block, Output, code};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::child::{Finished, Left, Step, dollars};
use crate::ended::Why;
use crate::provider::Usage;

/// What an agent brought, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Its session: journal and transcript have this name.
    session: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    /// How, in a word; `done` where it did its task.
    ended: &'static str,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    turns: u32,
    calls: u32,
    usage: Usage,
    /// Where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// Its last message.
    result: String,
    /// The object that it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<Value>,
    steps: Vec<Step>,
    /// Where its transcript lies, which no tool reads.
    transcript: String,
    /// The same as a text, for `read`.
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript_text: Option<String>,
    /// What shows its calls, whoever asks.
    shown_by: String,
    /// Its worktree, where that holds work.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<Left>,
    /// What else its starter should know.
    notes: Vec<String>,
}

impl Finished {
    /// Whether it did its task.
    pub fn is_done(&self) -> bool {
        self.ended.why == Why::Done
    }

    /// As data.
    pub(crate) fn report(&self) -> Report {
        let shown = |path: &Path| path.display().to_string();
        Report {
            session: self.session.clone(),
            name: self.name.clone(),
            kind: self.kind.clone(),
            ended: self.ended.why.word(),
            error: self.ended.why.error().map(|error| error.to_string()),
            turns: self.ended.turns,
            calls: self.ended.calls,
            usage: self.ended.usage,
            cost_usd: self.ended.cost_micros.map(dollars),
            result: self.ended.answer.clone(),
            structured: self.ended.structured.clone(),
            steps: self.steps.clone(),
            transcript: shown(&self.transcript),
            transcript_text: self.readable.as_deref().map(shown),
            shown_by: self.shown_by(),
            worktree: self.left.clone(),
            notes: self.notes.clone(),
        }
    }

    /// What shows its calls, whoever asks.
    fn shown_by(&self) -> String {
        format!("nika log show {}", self.session)
    }

    /// For the model that started it.
    pub fn text(&self) -> String {
        format!("{}\n\n{}", self.answer(), self.about())
    }

    /// What it answered: the object alone, where it was asked for one.
    fn answer(&self) -> String {
        let Some(error) = self.ended.why.error() else {
            return self.ended.structured.as_ref().map_or_else(|| self.ended.answer.clone(), Value::to_string);
        };
        let said = format!("The agent {} ended before it was done: {error}", self.name);
        match self.ended.answer.as_str() {
            "" => said,
            last => format!("{said}\n\nIt said last:\n{last}"),
        }
    }

    /// Where it is written down, what it took, and what it left.
    fn about(&self) -> String {
        let Usage { input, cache_read, cache_write, output, .. } = self.ended.usage;
        let mut end = format!(
            "[agent {} ({}), session {}: {} turns, {} calls, {} tokens",
            self.name,
            self.kind,
            self.session,
            self.ended.turns,
            self.ended.calls,
            input + cache_read + cache_write + output
        );
        if let Some(micros) = self.ended.cost_micros {
            end.push_str(&format!(", ${:.4}", dollars(micros)));
        }
        if let Some(path) = &self.readable {
            end.push_str(&format!("; its transcript, for `read`: {}", path.display()));
        }
        end.push_str(&format!("; a person sees what it did with `{}`]", self.shown_by()));
        let mut said = vec![end];
        if let Some(left) = &self.left {
            said.push(format!(
                "[its work is in {} on branch {}: {} paths not committed, {} commits]",
                left.dir.display(),
                left.branch,
                left.changed.len(),
                left.commits
            ));
        }
        said.extend(self.notes.iter().map(|note| format!("[{note}]")));
        said.join("\n\n")
    }

    /// As a tool's answer.
    pub fn output(&self) -> Output {
        let failed = (!self.is_done()).then_some(code::AGENT_FAILED);
        let data = serde_json::to_value(self.report()).unwrap_or_default();
        // Each on its own: whoever wants the object reads the first.
        let content = vec![Block::Text(self.answer()), Block::Text(self.about())];
        Output { content, structured: Some(data), failed, ..Output::default() }
            .with_fact("agent", self.session.as_str())
            .with_fact("turns", self.ended.turns)
    }
}
