//! The calls of one answer: made at once where they do not meet, in order where they do, and answered whatever happens.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nika_contract::{Block, Cancel, Fault, Group, Output, Progress, ToolError, code, text};
use nika_runtime::{Incoming, Outcome, Planned};
use serde_json::Map;
use tokio::task::JoinSet;

use crate::agent::Agent;
use crate::ask;
use crate::conversation::{Line, Unanswered};
use crate::ended::Why;
use crate::happening::{self, Happening, Watch};
use crate::looping::{self, Circling};
use crate::provider::{Arguments, CallResult};
use crate::run::Run;

/// How long a cancelled call may take to end by itself, which leaves nothing half done. Tools look every few
/// milliseconds; one that still runs then is dropped.
const GRACE: Duration = Duration::from_secs(5);

/// A call that can be made.
struct Ready {
    call: Unanswered,
    incoming: Incoming,
}

/// A call that is being made.
struct Busy {
    call: Unanswered,
    plan: Option<Planned>,
}

/// A call that came back: its place among the busy, and what it brought.
struct Back {
    origin: String,
    outcome: Result<Outcome, Fault>,
    took: Duration,
}

impl Agent {
    /// Makes every call that has no result yet, and writes every result down. With a `refusal` none is made, and that
    /// is their answer.
    pub(crate) async fn perform(&mut self, run: &mut Run, refusal: Option<&ToolError>) -> Result<(), Fault> {
        let mut waiting = Vec::new();
        for call in self.talk.unanswered() {
            match refusal.cloned().map_or_else(|| self.ready(run, &call), Err) {
                Ok(incoming) => waiting.push(Ready { call, incoming }),
                Err(error) => self.not_made(run, &call, error)?,
            }
        }
        let mut busy: Vec<Busy> = Vec::new();
        let mut running = JoinSet::new();
        let mut fault = None;
        let cancel = self.cancel.clone();
        let mut patience = pin!(patience(&cancel));
        let mut patient = true;
        loop {
            if !cancel.is_cancelled() && fault.is_none() {
                self.begin(&mut waiting, &mut busy, &mut running);
            }
            let back = tokio::select! {
                back = running.join_next() => back,
                () = &mut patience, if patient => {
                    patient = false;
                    running.abort_all();
                    continue;
                }
            };
            match back {
                None => break,
                Some(Ok(Back { origin, outcome, took })) => {
                    let at =
                        busy.iter().position(|busy| busy.call.origin() == origin).expect("only what began is back");
                    let written = match outcome {
                        Ok(outcome) => {
                            let call = busy.remove(at).call;
                            self.came_back(run, &call, outcome, took)
                        }
                        // It stays among the busy, for an answer below.
                        Err(fault) => Err(fault),
                    };
                    fault = fault.or(written.err());
                }
                Some(Err(error)) if error.is_cancelled() => {}
                // Tools that panic are caught by the pipeline: what panicked here is ours.
                Some(Err(error)) => {
                    fault = fault.or(Some(Fault { code: code::BUG, message: format!("a call's task: {error}") }));
                }
            }
        }
        let error = match &fault {
            Some(fault) => fault.clone().into(),
            None => ToolError::cancelled(),
        };
        // After a fault these lines may fail as well; the first one tells why.
        let began = busy.into_iter().map(|busy| (busy.call, true));
        for (call, began) in began.chain(waiting.into_iter().map(|ready| (ready.call, false))) {
            let written =
                if began { self.given_up(run, &call, error.clone()) } else { self.not_made(run, &call, error.clone()) };
            fault = fault.or(written.err());
        }
        fault.map_or(Ok(()), Err)
    }

    /// A call as the pipeline takes it, if it can be made at all.
    fn ready(&self, run: &Run, call: &Unanswered) -> Result<Incoming, ToolError> {
        run.cards.permit(&self.runtime, &call.call.name)?;
        let arguments = match &call.call.arguments {
            Arguments::Object(fields) => fields.clone(),
            // Some models send nothing where nothing is needed.
            Arguments::Malformed(raw) if raw.trim().is_empty() => Map::new(),
            Arguments::Malformed(raw) => return Err(malformed(&call.call.name, raw, run.cut)),
        };
        let progress = Goes { watch: Arc::clone(&self.watch), place: call.place() };
        Ok(Incoming {
            name: call.call.name.clone(),
            arguments,
            cancel: self.cancel.clone(),
            progress: Arc::new(progress),
            asker: Arc::clone(&self.asker),
            deferral: run.cards.defers(),
            origin: Some(call.origin()),
        })
    }

    /// Begins what may run beside what runs. Nothing overtakes a call that it meets, whether that one runs or waits;
    /// a call that cannot be planned meets every other. Each is planned when its turn may have come: what ended
    /// meanwhile may have changed where it would go.
    fn begin(&self, waiting: &mut Vec<Ready>, busy: &mut Vec<Busy>, running: &mut JoinSet<Back>) {
        let mut ahead: Vec<Option<Planned>> = Vec::new();
        let mut at = 0;
        while at < waiting.len() && busy.len() < self.bounds.parallel.max(1) {
            let alone = waiting.len() == 1 && busy.is_empty();
            let plan = if alone { None } else { self.runtime.plan(&self.session, &waiting[at].incoming).ok() };
            let meets = |other: &Option<Planned>| !matches!((&plan, other), (Some(a), Some(b)) if a.beside(b));
            if busy.iter().any(|busy| meets(&busy.plan)) || ahead.iter().any(meets) {
                ahead.push(plan);
                at += 1;
                continue;
            }
            let Ready { call, incoming } = waiting.remove(at);
            self.began(&call);
            let (runtime, session, origin) = (Arc::clone(&self.runtime), Arc::clone(&self.session), call.origin());
            running.spawn(async move {
                let since = Instant::now();
                let outcome = runtime.dispatch(&session, incoming).await;
                Back { origin, outcome, took: since.elapsed() }
            });
            busy.push(Busy { call, plan });
        }
    }

    fn began(&self, call: &Unanswered) {
        let empty = Map::new();
        let arguments = match &call.call.arguments {
            Arguments::Object(fields) => fields,
            Arguments::Malformed(_) => &empty,
        };
        let (tool, arguments) = (text::harmless(&call.call.name), happening::harmless(arguments));
        self.watch.saw(&Happening::CallBegan { origin: &call.place(), tool: &tool, arguments: &arguments });
    }

    fn came_back(&mut self, run: &mut Run, call: &Unanswered, outcome: Outcome, took: Duration) -> Result<(), Fault> {
        let spec = self.runtime.find(&outcome.tool).ok().map(|tool| tool.spec());
        let changes = outcome.result.is_ok() && spec.is_some_and(|spec| !spec.read_only);
        // What an agent below has spent may be its own budget; whether this session's is gone the next turn asks.
        let delegates = spec.is_some_and(|spec| spec.group == Group::Agent);
        if let Err(error) = &outcome.result
            && error.code == code::BUDGET_SPENT
            && !delegates
        {
            run.stop.get_or_insert(Why::Budget(error.clone()));
        }
        let name = Some(outcome.call.0.as_str());
        self.result(run, call, (&outcome.tool, name), &outcome.result, changes, took)?;
        if outcome.tools_changed {
            let loaded = run.cards.grow(&self.runtime, &self.session);
            if !loaded.is_empty() {
                self.talk.write(Line::Loaded(loaded))?;
            }
        }
        Ok(())
    }

    /// Answers a call that is not made.
    pub(crate) fn not_made(&mut self, run: &mut Run, call: &Unanswered, error: ToolError) -> Result<(), Fault> {
        self.began(call);
        self.given_up(run, call, error)
    }

    fn given_up(&mut self, run: &mut Run, call: &Unanswered, error: ToolError) -> Result<(), Fault> {
        let tool = text::preview(&text::harmless(&call.call.name), 80);
        self.result(run, call, (&tool, None), &Err(error), false, Duration::ZERO)
    }

    /// A result: for the model, the transcript and the watcher.
    fn result(
        &mut self,
        run: &mut Run,
        call: &Unanswered,
        (tool, name): (&str, Option<&str>),
        result: &Result<Output, ToolError>,
        changes: bool,
        took: Duration,
    ) -> Result<(), Fault> {
        run.calls += 1;
        let tool = &*text::harmless(tool);
        let mut answer = read_by_model(&call.call.id, &call.call.name, result);
        let arguments = match &call.call.arguments {
            Arguments::Object(fields) => serde_json::to_string(fields).unwrap_or_default(),
            Arguments::Malformed(raw) => raw.clone(),
        };
        let waited = looping::has_waited(tool, took);
        match run.circles.note((tool, &arguments, &answer.text), changes, waited) {
            Circling::No => {}
            Circling::Told(times) => answer.text.push_str(&looping::told(times)),
            Circling::Stop(times) => {
                run.stop.get_or_insert(Why::Looping { tool: tool.to_owned(), times });
            }
        }
        let line = Line::Result { of: call.of, index: call.index, call: name.map(str::to_owned), result: answer };
        self.talk.write(line)?;
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.watch.saw(&Happening::CallEnded { origin: &call.place(), tool, call: name, result, took_ms });
        Ok(())
    }
}

/// Returns when a cancelled call has had its time.
async fn patience(cancel: &Cancel) {
    ask::cancelled(cancel).await;
    tokio::time::sleep(GRACE).await;
}

/// Hands a call's progress to the watcher.
struct Goes {
    watch: Arc<dyn Watch>,
    place: String,
}

impl Progress for Goes {
    fn step(&self, done: u64, total: Option<u64>, what: &str) {
        self.watch.saw(&Happening::CallGoes { origin: &self.place, done, total, what: &text::harmless(what) });
    }
}

/// An answer as the model reads it.
fn read_by_model(id: &str, name: &str, result: &Result<Output, ToolError>) -> CallResult {
    let (id, name) = (id.to_owned(), name.to_owned());
    let output = match result {
        Ok(output) => output,
        Err(error) => return CallResult { id, name, text: error.to_string(), is_error: true, images: Vec::new() },
    };
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for block in &output.content {
        match block {
            Block::Text(text) => texts.push(text.clone()),
            Block::Image { mime, data } => images.push(((*mime).to_owned(), STANDARD.encode(data))),
            Block::Audio { mime, data } => texts.push(format!("[{mime}, {} bytes]", data.len())),
            // The text that was cut names the file already.
            Block::Link { .. } => {}
            Block::Resource { uri, text, .. } => texts.push(format!("[{uri}]\n{text}")),
        }
    }
    if texts.is_empty() && images.is_empty() {
        texts.push("(done; it has nothing to say)".to_owned());
    }
    CallResult { id, name, text: texts.join("\n"), is_error: output.failed.is_some(), images }
}

/// Says what is wrong with arguments that are no JSON object.
fn malformed(tool: &str, raw: &str, cut: bool) -> ToolError {
    let why = match serde_json::from_str::<serde_json::Value>(raw) {
        Ok(serde_json::Value::Array(_)) => "they are a list".to_owned(),
        Ok(_) => "they are a single value".to_owned(),
        Err(error) => {
            let line = raw.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            let start = error.column().saturating_sub(30);
            let near: String = line.chars().skip(start).take(40).collect();
            format!("{error}, near `{}`", text::harmless(&near))
        }
    };
    let tool = text::preview(&text::harmless(tool), 80);
    let message = format!("the arguments of `{tool}` are no JSON object: {why}; the call was not made");
    let hint = match cut {
        true => "the answer reached the most tokens that it may have: do it in several shorter calls",
        false => {
            "call it again with a JSON object; quotation marks, backslashes and line breaks in strings are escaped"
        }
    };
    ToolError::new(code::BAD_ARGUMENTS, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_arguments_are_answered_with_what_is_wrong() {
        for (raw, cut, want) in [
            (r#"{"a": "x"#, false, "EOF while parsing a string at line 1 column 8"),
            (r#"{"a": 1,, "b": 2}"#, false, "near `{\"a\": 1,, \"b\": 2}`"),
            ("[1]", false, "they are a list"),
            ("\"x\"", false, "a single value"),
            ("{\"content\": \"line", true, "several shorter calls"),
        ] {
            let said = malformed("write", raw, cut).to_string();
            assert!(said.starts_with("NIKA-100") && said.contains(want), "{raw}: {said}");
        }
    }
}
