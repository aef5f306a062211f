//! *End*: the journal's second line, whichever way the call ended.

use std::time::Instant;

use nika_contract::code::Code;
use nika_contract::{AnyTool, Block, CallId, Fault, MAX_OUTPUT_CHARS, Pending, ToolError, code, event, text};
use nika_guard::Decision;
use nika_store::journal::{redact, redact_text};
use serde_json::{Map, Value, json};

use crate::dispatch::{Outcome, Runtime};
use crate::gateway::Shown;
use crate::session::Session;
use crate::stage::begin::Begun;
use crate::stage::refresh;
use crate::stage::settle::object;
use crate::stage::shape::Shaped;
use crate::wording::Wording;

/// Why a call did not run to its end.
pub(crate) enum Stopped {
    /// Before a decision: no such tool, arguments that do not fit, a path that cannot be.
    Error(ToolError),
    /// A deferred tool showed its schema.
    Loaded(ToolError),
    /// The verdict was no.
    Refused { error: ToolError, decision: Decision, decided_by: String },
    /// A person has to be asked by the caller, who then calls again.
    Later(Box<Pending>),
    /// It ran and failed.
    Failed { error: ToolError, decided_by: String },
    /// The journal was lost on the way.
    Fault(Fault),
}

impl Stopped {
    /// The same, of a call that was judged again because of `found`: a refusal says that.
    pub(crate) fn after(self, found: Option<&ToolError>) -> Stopped {
        match (self, found) {
            (Stopped::Refused { mut error, decision, decided_by }, Some(found)) => {
                error.message = format!("{}: {}", found.message, error.message);
                Stopped::Refused { error, decision, decided_by }
            }
            (other, _) => other,
        }
    }

    /// The same, of a call whose arguments a hook rewrote: an error says what the caller never sent.
    pub(crate) fn of_rewritten(mut self, told: Option<&str>) -> Stopped {
        if let (Stopped::Error(error) | Stopped::Refused { error, .. } | Stopped::Failed { error, .. }, Some(told)) =
            (&mut self, told)
        {
            error.message = format!("{}\n{told}", error.message);
        }
        self
    }
}

impl From<ToolError> for Stopped {
    fn from(error: ToolError) -> Stopped {
        Stopped::Error(error)
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Stopped {
        Stopped::Fault(fault)
    }
}

/// Characters of an error's message that the journal keeps.
const MESSAGE_CHARS: usize = 240;

/// Stands for the missing second line. A caller that goes away drops the call wherever it waits; the
/// journal then says that it was cancelled.
pub(crate) struct Unended<'r> {
    runtime: &'r Runtime,
    session: &'r Session,
    call: CallId,
    tool: String,
    since: Instant,
    armed: bool,
    error: ToolError,
}

impl<'r> Unended<'r> {
    pub(crate) fn new(runtime: &'r Runtime, session: &'r Session, begun: &Begun) -> Unended<'r> {
        let (call, tool) = (begun.call.clone(), begun.tool.clone());
        Unended { runtime, session, call, tool, since: begun.since, armed: true, error: ToolError::cancelled() }
    }

    pub(crate) fn end(mut self, begun: Begun, carried: Result<Shaped, Stopped>) -> Result<Outcome, Fault> {
        let carried = carried.map_err(|stopped| match stopped {
            Stopped::Error(error) => Stopped::Error(self.told(error)),
            Stopped::Failed { error, decided_by } => Stopped::Failed { error: self.told(error), decided_by },
            other => other,
        });
        let ended = end(self.runtime, self.session, begun, carried);
        match &ended {
            Ok(_) => self.armed = false,
            Err(fault) => self.error = fault.clone().into(),
        }
        ended
    }

    /// An error in the names that the caller was shown.
    fn told(&self, error: ToolError) -> ToolError {
        let tools = self.runtime.tools();
        let tool = tools.all().find(|tool| tool.spec().name == self.tool);
        Wording::new(self.runtime.parts.dialect, &self.tool, tool.map(AnyTool::input_schema)).error(error)
    }
}

impl Drop for Unended<'_> {
    fn drop(&mut self) {
        if self.armed {
            let line = Ended::default().line((&self.call, &self.tool, self.since), Some(&self.error));
            // Nobody is left to hear of a fault here; the next call meets it.
            let _ = self.session.log(&self.runtime.log_to(), event::CALL_ENDED, &line);
        }
    }
}

fn end(runtime: &Runtime, session: &Session, begun: Begun, carried: Result<Shaped, Stopped>) -> Result<Outcome, Fault> {
    let mut ended = Ended { ok: false, tools_changed: false, ..Ended::default() };
    let mut question = None;
    let mut answered = None;
    let result = match carried {
        Ok(shaped) => {
            answered = Some((name_of(&shaped), facts(&begun, &shaped)));
            ended.tools_changed = take_shown(session);
            ended.ok = shaped.output.failed.is_none();
            ended.code = shaped.output.failed;
            ended.decision = Some("allow");
            ended.decided_by = shaped.decided_by;
            ended.chars = shaped.chars;
            ended.spilled = shaped.spilled;
            Ok(shaped.output)
        }
        Err(Stopped::Fault(fault)) => return Err(fault),
        Err(Stopped::Error(error)) => Err(error),
        Err(Stopped::Loaded(error)) => {
            ended.tools_changed = true;
            Err(error)
        }
        Err(Stopped::Refused { error, decision, decided_by }) => {
            ended.decision = Some(decision.name());
            ended.decided_by = decided_by;
            Err(error)
        }
        Err(Stopped::Failed { error, decided_by }) => {
            ended.decision = Some("allow");
            ended.decided_by = decided_by;
            Err(error)
        }
        Err(Stopped::Later(asked)) => {
            ended.decision = Some("ask");
            let text = match asked.as_ref() {
                Pending::Permission(question) => question.text.clone(),
                Pending::Inquiry(inquiry) => inquiry.text.clone(),
            };
            let error = ToolError::new(code::PERMISSION_DENIED, text);
            question = Some(*asked);
            Err(error)
        }
    };
    ended.tools_changed |= refresh::take_changed(session);
    let result = result.map_err(|mut error| {
        session.hide(&mut error.message);
        error.hint.iter_mut().for_each(|hint| session.hide(hint));
        harmless(error)
    });
    let line = ended.line((&begun.call, &begun.tool, begun.since), result.as_ref().err());
    let last = (event::CALL_ENDED, &line);
    let logged = match &answered {
        Some((event, facts)) => session.log_together(&runtime.log_to(), &[(event, facts), last]),
        None => session.log_together(&runtime.log_to(), &[last]),
    };
    let result = match (logged, result) {
        (Ok(()), result) => result,
        // It was made: whoever asked for it must know what came of it. The next call is not made.
        (Err(fault), Ok(mut output)) => {
            output
                .content
                .push(Block::Text(format!("[this call was made, and its end is in no journal: {}]", fault.message)));
            Ok(output)
        }
        (Err(fault), Err(_)) => return Err(fault),
    };
    let Begun { call, tool, .. } = begun;
    Ok(Outcome { call, tool, result, question, tools_changed: ended.tools_changed })
}

/// An error that cannot steer a terminal nor fill a context: it may quote a file.
fn harmless(error: ToolError) -> ToolError {
    let safe = |text: String| {
        let text = text::harmless(&text).into_owned();
        text::head_and_tail(&text, MAX_OUTPUT_CHARS).unwrap_or(text)
    };
    ToolError { code: error.code, message: safe(error.message), hint: error.hint.map(safe) }
}

/// The session loads what `tool_search` has shown.
fn take_shown(session: &Session) -> bool {
    let shown = session.state.slot::<Shown>();
    let names = std::mem::take(&mut *shown.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    // Each is loaded; counting, unlike `any`, does not stop at the first that is news.
    names.into_iter().filter(|name| session.load(name)).count() > 0
}

/// What the journal calls an answer.
fn name_of(shaped: &Shaped) -> &'static str {
    shaped.spec.event.filter(|_| !shaped.output.only_shown).unwrap_or(event::TOOL_RESULT)
}

fn facts(begun: &Begun, shaped: &Shaped) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("call".into(), begun.call.0.as_str().into());
    if name_of(shaped) == event::TOOL_RESULT {
        fields.insert("tool".into(), shaped.spec.name.into());
    }
    for (name, value) in &shaped.output.facts {
        fields.insert((*name).into(), redact(value));
    }
    fields
}

#[derive(Default)]
struct Ended {
    ok: bool,
    /// Why an answer is that of a failure.
    code: Option<Code>,
    decision: Option<&'static str>,
    decided_by: String,
    chars: usize,
    spilled: Option<String>,
    tools_changed: bool,
}

impl Ended {
    fn line(&self, (call, tool, since): (&CallId, &str, Instant), error: Option<&ToolError>) -> Map<String, Value> {
        object(json!({
            "call": call.0,
            "tool": tool,
            "ok": self.ok,
            "code": error.map(|error| error.code).or(self.code).map(|code| code.to_string()),
            // The message of a failed edit quotes the file.
            "message": error.map(|error| redact_text(&text::preview(&error.message, MESSAGE_CHARS))),
            "decision": self.decision,
            "source": redact_text(&self.decided_by),
            "took_us": u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX),
            "chars": self.chars,
            "spilled": self.spilled,
        }))
    }
}
