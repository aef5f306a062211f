//! A person's commands with a say in calls: what they are told, what they may answer, and what counts when
//! they give no answer.
//!
//! A hook tightens. `allow` is taken for no opinion, and what cannot be read for the hook's `on_failure`.

use std::time::{Duration, Instant};

use nika_contract::{Cancel, Fault, ToolError, code, event, text};
use nika_guard::{Decision, Hook, HookPoint, OnFailure, Source};
use nika_host::proc::{HookEnd, HookRunner};
use nika_store::journal::{redact, redact_text};
use serde_json::{Map, Value, json};

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::before::hear;
use crate::stage::decide;
use crate::stage::end::Stopped;
use crate::stage::lookup::arguments_of;
use crate::stage::parse::Parsed;
use crate::stage::settle::object;

/// Characters of an answer that a hook is shown.
const RESULT_CHARS: usize = 200_000;
/// Characters of a hook's reason or note that are believed to be one.
const REASON_CHARS: usize = 2_000;
/// Characters of what was no answer, for whoever has to mend the hook.
const EXCERPT_CHARS: usize = 200;

/// The hooks of a runtime and the way to run them.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    /// In the order they are asked.
    pub list: Vec<Hook>,
    /// Where they run, and what they find there.
    pub runner: HookRunner,
}

/// What a hook is asked about.
pub(crate) struct About<'a> {
    pub tool: &'a str,
    pub call: &'a str,
    pub session: &'a str,
    pub cancel: &'a Cancel,
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq)]
pub enum HookOutcome {
    /// It gave an answer.
    Decided(HookAnswer),
    /// It failed: with a status or by a signal, and what it complained.
    Crashed(String),
    /// It took longer than this many milliseconds.
    TimedOut(u32),
    /// It could not be started.
    NotFound(String),
    /// What it printed is no answer.
    Malformed(String),
}

/// What a hook may answer.
#[derive(Debug, Clone, PartialEq)]
pub struct HookAnswer {
    /// `allow`, `ask`, `deny` or `none`.
    pub decision: &'static str,
    /// Why.
    pub reason: String,
    /// The arguments that it puts in place of the call's.
    pub arguments: Option<Map<String, Value>>,
    /// For the model, beside the answer.
    pub note: Option<String>,
}

/// One hook, asked about one call.
#[derive(Debug, Clone)]
pub struct HookReport {
    /// The hook.
    pub hook: Hook,
    /// The tool, canonical.
    pub tool: String,
    /// How it ended.
    pub outcome: HookOutcome,
    /// How long it took.
    pub took: Duration,
}

/// What a report means for the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Say {
    Nothing,
    Note(String),
    Ask,
    Deny,
}

const DECISIONS: [&str; 4] = ["allow", "ask", "deny", "none"];

impl HookOutcome {
    /// Its name in the journal.
    pub fn name(&self) -> &'static str {
        match self {
            HookOutcome::Decided(_) => "decided",
            HookOutcome::Crashed(_) => "crashed",
            HookOutcome::TimedOut(_) => "timed-out",
            HookOutcome::NotFound(_) => "not-found",
            HookOutcome::Malformed(_) => "malformed",
        }
    }

    /// What went wrong; empty for a decision.
    pub fn detail(&self) -> String {
        match self {
            HookOutcome::Decided(_) => String::new(),
            HookOutcome::Crashed(why) => format!("it crashed: {why}"),
            HookOutcome::TimedOut(ms) => format!("it took longer than {ms} ms"),
            HookOutcome::NotFound(why) => format!("it could not be started: {why}"),
            HookOutcome::Malformed(why) => format!("its answer cannot be used: {why}"),
        }
    }

    fn of(end: HookEnd, hook: &Hook) -> Result<HookOutcome, ToolError> {
        let excerpt = |text: &str| text::preview(&text::harmless(text), EXCERPT_CHARS);
        Ok(match end {
            HookEnd::Answered(bytes) => match answer(&bytes, hook.point) {
                Ok(answer) => HookOutcome::Decided(answer),
                Err(why) => HookOutcome::Malformed(why),
            },
            HookEnd::Exited(status, complaint) if complaint.is_empty() => {
                HookOutcome::Crashed(format!("status {status}"))
            }
            HookEnd::Exited(status, complaint) => {
                HookOutcome::Crashed(format!("status {status}: {}", excerpt(&complaint)))
            }
            HookEnd::Killed(signal) => HookOutcome::Crashed(format!("signal {signal}")),
            HookEnd::TimedOut => HookOutcome::TimedOut(hook.timeout_ms),
            HookEnd::NotFound(error) => HookOutcome::NotFound(error.to_string()),
            HookEnd::TooMuch(bytes) => HookOutcome::Malformed(format!("more than {bytes} bytes")),
            HookEnd::Io(error) => HookOutcome::Crashed(error.to_string()),
            HookEnd::Cancelled => return Err(ToolError::cancelled()),
        })
    }
}

/// The answer that a hook printed. Nothing printed is no opinion.
fn answer(bytes: &[u8], point: HookPoint) -> Result<HookAnswer, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let mut found = HookAnswer { decision: "none", reason: String::new(), arguments: None, note: None };
    if text.trim().is_empty() {
        return Ok(found);
    }
    let quoted = || text::preview(&text::harmless(text.trim()), EXCERPT_CHARS);
    let value: Value = serde_json::from_str(text).map_err(|error| format!("{error}: {}", quoted()))?;
    let Value::Object(fields) = value else { return Err(format!("it is no object: {}", quoted())) };
    for (key, value) in fields {
        let words = |value: &Value| value.as_str().map(|text| text::preview(&text::harmless(text), REASON_CHARS));
        let wrong = || format!("`{key}` is {value}");
        match (key.as_str(), &value) {
            (_, Value::Null) if ["decision", "reason", "arguments", "note"].contains(&key.as_str()) => {}
            ("decision", Value::String(word)) => {
                found.decision = DECISIONS.into_iter().find(|name| name == word).ok_or_else(wrong)?;
            }
            ("reason", value) => found.reason = words(value).ok_or_else(wrong)?,
            ("note", value) => found.note = Some(words(value).ok_or_else(wrong)?),
            ("arguments", Value::Object(_)) if point == HookPoint::After => {
                return Err("`arguments` come too late: the call has been made".into());
            }
            ("arguments", Value::Object(arguments)) => found.arguments = Some(arguments.clone()),
            ("decision" | "arguments", _) => return Err(wrong()),
            _ => return Err(format!("`{key}` is no field of an answer: decision, reason, arguments, note")),
        }
    }
    Ok(found)
}

/// As much of an answer as a hook is shown.
pub(crate) fn seen(text: &str) -> String {
    text::head_and_tail(text, RESULT_CHARS).unwrap_or_else(|| text.to_owned())
}

impl Hooks {
    /// Whether any hook wants to see the arguments of calls of `tool`.
    pub(crate) fn concern(&self, tool: &str) -> bool {
        self.list.iter().any(|hook| hook.concerns(hook.point, tool))
    }

    /// The hooks for a call.
    pub(crate) fn for_call<'a>(&'a self, point: HookPoint, tool: &'a str) -> impl Iterator<Item = &'a Hook> {
        self.list.iter().filter(move |hook| hook.concerns(point, tool))
    }

    /// Runs one. An error is a call that nobody wants any more, or a bug.
    pub(crate) async fn ask(
        &self,
        hook: &Hook,
        about: &About<'_>,
        arguments: &Map<String, Value>,
        result: Option<&Value>,
    ) -> Result<HookReport, ToolError> {
        let (event, dir) = (hook.point.to_string(), self.runner.dir.to_string_lossy().into_owned());
        let mut question = json!({
            "event": event,
            "tool": about.tool,
            "arguments": arguments,
            "session": about.session,
            "call": about.call,
            "cwd": dir,
        });
        if let Some(result) = result {
            question["result"] = result.clone();
        }
        let begun = Instant::now();
        let wall = Duration::from_millis(u64::from(hook.timeout_ms));
        let env = [
            ("NIKA_EVENT", event.as_str()),
            ("NIKA_TOOL", about.tool),
            ("NIKA_SESSION", about.session),
            ("NIKA_CALL", about.call),
            ("NIKA_ROOT", dir.as_str()),
        ];
        let end = match self.runner.start(&hook.command, &env, question.to_string().into_bytes(), wall) {
            Err(end) => end,
            Ok(running) => {
                let cancel = about.cancel.clone();
                // Dropped with the call's future, so that a caller who goes away ends the hook as well.
                let gone = Gone(Cancel::default());
                let unwanted = gone.0.clone();
                let wait = move || running.finish(&|| cancel.is_cancelled() || unwanted.is_cancelled());
                let waited = tokio::task::spawn_blocking(wait).await;
                waited.map_err(|error| ToolError::new(code::BUG, format!("a hook's thread died: {error}")))?
            }
        };
        let outcome = HookOutcome::of(end, hook)?;
        Ok(HookReport { hook: hook.clone(), tool: about.tool.to_owned(), outcome, took: begun.elapsed() })
    }
}

struct Gone(Cancel);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl HookReport {
    /// What it means for the call.
    pub(crate) fn says(&self) -> Say {
        match (&self.outcome, self.hook.on_failure) {
            (HookOutcome::Decided(answer), _) => match answer.decision {
                "deny" => Say::Deny,
                "ask" => Say::Ask,
                _ => Say::Nothing,
            },
            (_, OnFailure::Deny) => Say::Deny,
            (_, OnFailure::Allow) => Say::Nothing,
            (failure, OnFailure::Note) => {
                Say::Note(format!("hook `{}`: {}", self.hook.command.program(), failure.detail()))
            }
        }
    }

    fn answer(&self) -> Option<&HookAnswer> {
        match &self.outcome {
            HookOutcome::Decided(answer) => Some(answer),
            _ => None,
        }
    }

    /// The arguments that it puts in place.
    pub fn rewritten(&self) -> Option<&Map<String, Value>> {
        self.answer()?.arguments.as_ref()
    }

    /// Why it decided so; empty when it gave no reason.
    pub fn reason(&self) -> &str {
        self.answer().map_or("", |answer| &answer.reason)
    }

    /// Its note for the model.
    pub fn note(&self) -> Option<&str> {
        self.answer()?.note.as_deref()
    }

    /// What it decided, in a word: its own, or what its `on_failure` stands for.
    pub fn decision(&self) -> &'static str {
        match (&self.outcome, self.says()) {
            (HookOutcome::Decided(answer), _) => answer.decision,
            (_, Say::Deny) => "deny",
            _ => "none",
        }
    }

    /// Who it is, and why it says so.
    pub fn source(&self) -> Source {
        let why = self.answer().map_or_else(|| self.outcome.detail(), |answer| answer.reason.clone());
        let command = &self.hook.command;
        Source::Hook { program: command.program().to_owned(), at: command.at().to_owned(), why }
    }

    pub(crate) fn log(&self, runtime: &Runtime, session: &Session, about: &About<'_>) -> Result<(), Fault> {
        let line = json!({
            "call": about.call,
            "tool": about.tool,
            "on": self.hook.point.to_string(),
            "hook": redact_text(&self.hook.command.argv().join(" ")),
            "at": self.hook.command.at(),
            "outcome": self.outcome.name(),
            "detail": redact_text(&self.outcome.detail()),
            "decision": self.decision(),
            "reason": self.answer().map(|answer| redact_text(&answer.reason)),
            "arguments": self.rewritten().map(|arguments| redact(&Value::Object(arguments.clone()))),
            "took_us": u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
        });
        session.log(&runtime.log_to(), event::HOOK_RAN, &object(line))
    }
}

/// What a call would become that nobody makes.
#[derive(Debug)]
pub struct Rehearsal {
    /// The tool, canonical.
    pub tool: String,
    /// How many hooks such a call has.
    pub in_force: usize,
    /// Each hook that ran, in its order.
    pub reports: Vec<HookReport>,
    /// The arguments as the hooks left them.
    pub arguments: Map<String, Value>,
    /// What would be decided and who says so, or why the call would end before that.
    pub verdict: Result<(Decision, String), ToolError>,
}

impl Runtime {
    /// Asks the hooks about a call that is not made. Runs them; writes no journal and touches nothing else.
    pub async fn rehearse(
        &self,
        session: &Session,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Rehearsal, ToolError> {
        let found = self.find(name)?;
        let tool = found.as_ref();
        let cancel = Cancel::default();
        let about = About { tool: tool.spec().name, call: "rehearsal", session: session.id(), cancel: &cancel };
        let mut reports = Vec::new();
        // As they were written, where they do not fit the dialect that they were written in.
        let translated = arguments_of(self, tool, name, arguments.clone());
        let mut last = translated.as_ref().unwrap_or(&arguments).clone();
        let mut told = |report: &HookReport| {
            last = report.rewritten().cloned().unwrap_or_else(|| std::mem::take(&mut last));
            reports.push(report.clone());
            Ok(())
        };
        let parsed = translated.and_then(|arguments| {
            let prepared = tool.parse(Value::Object(arguments.clone()))?;
            Ok(Parsed { tool, prepared, arguments: Some(arguments) })
        });
        let heard = match parsed {
            Err(error) => Err(Stopped::Error(error)),
            Ok(parsed) => hear(self, &about, parsed, &mut told).await,
        };
        let verdict = match heard.and_then(|heard| decide::decide(session, heard)) {
            Ok(judged) => {
                let source = judged.verdict.decisive().map(|reason| reason.source.to_string()).unwrap_or_default();
                Ok((judged.verdict.decision, source))
            }
            Err(Stopped::Error(error) | Stopped::Refused { error, .. }) => Err(error),
            Err(_) => Err(ToolError::cancelled()),
        };
        let made_up = json!({"text": "", "structured": null});
        if !matches!(verdict, Err(_) | Ok((Decision::Deny, _))) {
            for hook in self.parts.hooks.for_call(HookPoint::After, about.tool) {
                reports.push(self.parts.hooks.ask(hook, &about, &last, Some(&made_up)).await?);
            }
        }
        let of = |point| self.parts.hooks.for_call(point, about.tool).count();
        let in_force = of(HookPoint::Before) + of(HookPoint::After);
        Ok(Rehearsal { tool: about.tool.to_owned(), in_force, reports, arguments: last, verdict })
    }

    /// The hooks in force.
    pub fn hooks(&self) -> &[Hook] {
        &self.parts.hooks.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_strictly() {
        let read = |text: &str| answer(text.as_bytes(), HookPoint::Before);
        for (text, decision) in [
            ("", "none"),
            (" \n", "none"),
            ("{}", "none"),
            ("{\"decision\": null}", "none"),
            ("{\"decision\": \"allow\"}", "allow"),
            ("{\"decision\": \"deny\", \"reason\": \"no\", \"note\": \"x\"}", "deny"),
        ] {
            assert_eq!(read(text).expect(text).decision, decision);
        }
        for text in [
            "yes",
            "[]",
            "\"deny\"",
            "{\"decision\": \"block\"}",
            "{\"decision\": true}",
            "{\"Decision\": \"deny\"}",
            "{\"decision\": \"deny\"} {}",
            "{\"arguments\": []}",
            "{\"reason\": 3}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(answer(b"{\"arguments\": {}}", HookPoint::After).is_err());
        assert!(answer(&[0xff], HookPoint::Before).is_err());
    }
}
