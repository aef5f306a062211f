//! A model that says what a file tells it to, and looks at what it is asked.
//!
//! For demonstrations and tests: no network, no key, and the same words each time. Where a script expects
//! something of the request and it is otherwise, the answer is an error that names file, line and difference.

mod check;
mod form;

use std::collections::BTreeMap;
use std::sync::Mutex;

use nika_contract::BoxFuture;
use serde_json::Value;

use super::Stop;
use super::{Answered, Arguments, Asking, Call, Kind, Message, Model, ModelError, Part, Piece, Provider, Role, Sink};
use form::{Script, Turn};

/// The provider's name.
const NAME: &str = "scripted";

/// Characters of a piece of text: few, so that whoever watches sees several.
const PIECE_CHARS: usize = 16;

/// A model that follows a script.
#[derive(Debug)]
pub struct Scripted {
    file: String,
    script: Script,
    model: Model,
    /// How far each conversation is, by the script's part and the conversation's name.
    places: Mutex<BTreeMap<(usize, String), usize>>,
}

impl Scripted {
    /// Reads a script; `file` is how errors name it.
    pub fn parse(file: &str, text: &str) -> Result<Scripted, ModelError> {
        let script = form::parse(text).map_err(|why| unmet(format!("{file}: {why}")))?;
        let model = Model {
            id: file.rsplit('/').next().unwrap_or(file).to_owned(),
            context_tokens: script.context_tokens,
            max_output: None,
            prices: script.prices,
        };
        Ok(Scripted { file: file.to_owned(), script, model, places: Mutex::new(BTreeMap::new()) })
    }

    fn ask(&self, asking: &Asking<'_>, sink: &mut Sink<'_>) -> Result<Answered, ModelError> {
        let (part, told) =
            self.script.parts.iter().enumerate().find(|(_, part)| check::concerns(&part.when, asking)).ok_or_else(
                || unmet(format!("{}: no conversation of the script is meant for this request", self.file)),
            )?;
        let key = (part, asking.cache_key.to_owned());
        let at = {
            let mut places = self.places.lock().expect("nothing panics while it holds this lock");
            let at =
                places.entry(key).or_insert_with(|| if told.repeat { 0 } else { begin(&told.turns, asking.messages) });
            let now = if told.repeat && !told.turns.is_empty() { *at % told.turns.len() } else { *at };
            *at += 1;
            now
        };
        let Some(turn) = told.turns.get(at) else {
            let had = told.turns.len();
            return Err(unmet(format!("{}: the script has no more turns (it had {had})", self.file)));
        };
        if let Err(difference) = check::met(&turn.value.expect, asking) {
            let line = turn.referenced.line();
            return Err(unmet(format!("{}, line {line}, turn {}: {difference}", self.file, at + 1)));
        }
        play(&turn.value, at, sink)
    }
}

/// Where a conversation that this process did not begin goes on: after as many turns as it has answers.
fn begin(turns: &[form::Placed<Turn>], messages: &[Message]) -> usize {
    let answers = messages.iter().filter(|message| message.role == Role::Assistant).count();
    let mut left = answers;
    turns
        .iter()
        .position(|turn| {
            if left == 0 {
                return true;
            }
            // A fault brought no answer.
            if turn.value.fault.is_none() {
                left -= 1;
            }
            false
        })
        .unwrap_or(turns.len())
}

fn play(turn: &Turn, at: usize, sink: &mut Sink<'_>) -> Result<Answered, ModelError> {
    let said = turn.fault.is_none() || !turn.say.is_empty() || !turn.think.is_empty();
    if said {
        sink(Piece::Began);
    }
    for piece in pieces(&turn.think) {
        sink(Piece::Thinking(piece));
    }
    for piece in pieces(&turn.say) {
        sink(Piece::Text(piece));
    }
    if let Some(fault) = &turn.fault {
        let message = format!("{NAME}: {}", fault.said);
        return Err(ModelError { kind: fault.kind, message, retry_after_ms: turn.retry_after_ms });
    }
    let mut parts = Vec::new();
    if !turn.think.is_empty() {
        parts.push(Part::Kept { provider: NAME.to_owned(), value: Value::String(turn.think.clone()) });
    }
    if !turn.say.is_empty() {
        parts.push(Part::Text(turn.say.clone()));
    }
    for (nth, call) in turn.calls.iter().enumerate() {
        let arguments = match &call.raw {
            Some(raw) => Arguments::Malformed(raw.clone()),
            None => Arguments::Object(call.arguments.clone()),
        };
        let so_far = match &arguments {
            Arguments::Object(map) => serde_json::to_string(map).map_or(0, |text| text.chars().count()),
            Arguments::Malformed(raw) => raw.chars().count(),
        };
        sink(Piece::Calling { name: &call.tool, so_far });
        let id = call.id.clone().unwrap_or_else(|| format!("call_{}_{}", at + 1, nth + 1));
        parts.push(Part::Call(Call { id, name: call.tool.clone(), arguments }));
    }
    let stop = match &turn.stop {
        Some(stop) => stop.clone(),
        None if turn.calls.is_empty() => Stop::Done,
        None => Stop::Calls,
    };
    Ok(Answered { parts, stop, usage: turn.usage.into(), first_ms: 0, took_ms: 0 })
}

/// Text in several pieces, cut between characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(PIECE_CHARS).map_or(rest.len(), |(at, _)| at);
        let (piece, left) = rest.split_at(end);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

fn unmet(message: String) -> ModelError {
    ModelError { kind: Kind::Script, message, retry_after_ms: None }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        NAME
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        sink: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        Box::pin(async move { self.ask(asking, sink) })
    }
}
