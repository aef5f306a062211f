//! What is seen of an agent at work: one kind of thing for a live view, a stream of JSON, and the parent of an agent.
//!
//! Whatever a model wrote is made harmless here, once, before anybody sees it: a watcher may print all of it.

use std::borrow::Cow;

use nika_contract::{Output, ToolError, text};
use serde_json::{Map, Value};

use crate::ended::Ended;
use crate::provider::{Piece, Usage};

/// Somebody who watches an agent. Called from where the work is done: hand it on, and do not wait.
pub trait Watch: Send + Sync {
    /// Something happened.
    fn saw(&self, what: &Happening<'_>);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn saw(&self, _: &Happening<'_>) {}
}

/// Something that happened. No text in it can steer a terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening<'a> {
    /// A turn began: the model is asked.
    TurnBegan {
        /// Its number in this run, from 1.
        turn: u32,
    },
    /// The model began to answer. After a retry it begins anew: what was shown of this turn's answer does not count.
    Answering,
    /// A piece of its answer.
    Text(&'a str),
    /// A piece of what it thinks aloud.
    Thinking(&'a str),
    /// It is writing a call.
    Writing {
        /// The tool.
        tool: &'a str,
        /// Characters of its arguments so far.
        so_far: usize,
    },
    /// The request failed and will be repeated.
    Waiting {
        /// Why.
        why: &'a str,
        /// In how many milliseconds.
        ms: u64,
    },
    /// The answer is there and accounted for.
    Spent {
        /// What it took.
        usage: Usage,
        /// What it cost in millionths of a US dollar, where prices are known.
        cost: Option<u64>,
        /// The run so far, agents below it included.
        total: Usage,
        /// What the run has cost so far, likewise.
        cost_micros: Option<u64>,
    },
    /// A call began.
    CallBegan {
        /// Tells the calls of one conversation apart: `4.0` is the first call of the transcript's fourth line.
        origin: &'a str,
        /// The tool, as the model named it.
        tool: &'a str,
        /// Its arguments.
        arguments: &'a Map<String, Value>,
    },
    /// A call that runs says how far it is.
    CallGoes {
        /// Which one.
        origin: &'a str,
        /// Units done.
        done: u64,
        /// Of how many, when that is known.
        total: Option<u64>,
        /// What is being done.
        what: &'a str,
    },
    /// A call ended. Every call that ends has begun, and each that began ends.
    CallEnded {
        /// Which one.
        origin: &'a str,
        /// The tool, canonical where there is one.
        tool: &'a str,
        /// The journal's name for it; a call that could not be made has none.
        call: Option<&'a str>,
        /// Its answer, with the diff of what it changed.
        result: &'a Result<Output, ToolError>,
        /// Milliseconds from its beginning.
        took_ms: u64,
    },
    /// The model is told something that it did not ask for: a job ended, it goes in circles.
    Told(&'a str),
    /// The model has said all that it wanted, and what it set to work in the background is waited for.
    Awaiting {
        /// What is at work, by name.
        what: &'a str,
    },
    /// The conversation became too long, and its older part a summary.
    Compacted {
        /// Messages before.
        before: usize,
        /// Messages left.
        after: usize,
        /// Whether the model wrote the summary; otherwise it is a list of what was done.
        by_model: bool,
    },
    /// Something happened to an agent that works for this one.
    Agent {
        /// What it is called; another one may be called so, too.
        name: &'a str,
        /// Its session, which is its alone.
        session: &'a str,
        /// What happened.
        what: &'a Happening<'a>,
    },
    /// The run ended.
    Ended(&'a Ended),
}

/// Tells of a piece of an answer.
pub(crate) fn piece(watch: &dyn Watch, piece: Piece<'_>) {
    match piece {
        Piece::Began => watch.saw(&Happening::Answering),
        Piece::Text(said) => watch.saw(&Happening::Text(&text::harmless(said))),
        Piece::Thinking(said) => watch.saw(&Happening::Thinking(&text::harmless(said))),
        Piece::Calling { name, so_far } => watch.saw(&Happening::Writing { tool: &text::harmless(name), so_far }),
        Piece::Waiting { why, ms } => watch.saw(&Happening::Waiting { why: &text::harmless(why), ms }),
    }
}

/// Arguments that cannot steer a terminal.
pub(crate) fn harmless(arguments: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    if arguments.iter().all(|(key, value)| is_harmless(key) && all_harmless(value)) {
        return Cow::Borrowed(arguments);
    }
    Cow::Owned(arguments.iter().map(|(key, value)| (text::harmless(key).into_owned(), made_harmless(value))).collect())
}

fn is_harmless(said: &str) -> bool {
    matches!(text::harmless(said), Cow::Borrowed(_))
}

fn all_harmless(value: &Value) -> bool {
    match value {
        Value::String(said) => is_harmless(said),
        Value::Array(items) => items.iter().all(all_harmless),
        Value::Object(fields) => fields.iter().all(|(key, value)| is_harmless(key) && all_harmless(value)),
        _ => true,
    }
}

fn made_harmless(value: &Value) -> Value {
    match value {
        Value::String(said) => text::harmless(said).into(),
        Value::Array(items) => items.iter().map(made_harmless).collect(),
        Value::Object(fields) => {
            let safe = |(key, value): (&String, &Value)| (text::harmless(key).into_owned(), made_harmless(value));
            Value::Object(fields.iter().map(safe).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_shown_without_what_steers_a_terminal() {
        let Value::Object(plain) = json!({"a": "one\ntwo", "n": 3, "l": ["x"]}) else { unreachable!("an object") };
        assert!(matches!(harmless(&plain), Cow::Borrowed(_)));
        let Value::Object(odd) = json!({"a\u{1b}": [{"b": "\u{1b}[2J"}]}) else { unreachable!("an object") };
        assert_eq!(json!(*harmless(&odd)), json!({"a␛": [{"b": "␛[2J"}]}));
    }
}
