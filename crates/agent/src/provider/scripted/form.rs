//! The form of a script, and how it is read.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};
use serde_json::{Map, Value};

use super::super::{Kind, Prices, Stop, Usage};

/// A value that knows its line.
pub(super) type Placed<T> = serde_saphyr::Spanned<T>;

/// A whole script.
#[derive(Debug)]
pub(super) struct Script {
    pub context_tokens: u64,
    pub prices: Option<Prices>,
    /// The first that concerns a request plays. The script's own turns come last, and concern every request.
    pub parts: Vec<Conversation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "context_tokens")]
    context_tokens: u64,
    #[serde(default)]
    prices: Option<Prices>,
    #[serde(default)]
    turns: Vec<Placed<Turn>>,
    #[serde(default)]
    conversations: Vec<Conversation>,
}

/// As many as the models of the day have at least: a script seldom means to be compacted.
fn context_tokens() -> u64 {
    200_000
}

/// The turns of one conversation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conversation {
    #[serde(default)]
    pub when: When,
    /// Begins again after its last turn.
    #[serde(default)]
    pub repeat: bool,
    pub turns: Vec<Placed<Turn>>,
}

/// Which requests a conversation is meant for; all that is said has to hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    #[serde(default)]
    pub name_begins: Option<String>,
    #[serde(default)]
    pub system_contains: Option<String>,
    #[serde(default)]
    pub first_user_contains: Option<String>,
    #[serde(default)]
    pub last_user_contains: Option<String>,
}

/// One answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    #[serde(default)]
    pub expect: Expect,
    #[serde(default)]
    pub think: String,
    #[serde(default)]
    pub say: String,
    #[serde(default)]
    pub calls: Vec<ScriptedCall>,
    #[serde(default)]
    pub usage: Tokens,
    #[serde(default, deserialize_with = "stop")]
    pub stop: Option<Stop>,
    #[serde(default, deserialize_with = "fault")]
    pub fault: Option<&'static Fault>,
    #[serde(default)]
    pub retry_after_ms: Option<u64>,
}

/// A call that the model makes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    #[serde(default)]
    pub id: Option<String>,
    pub tool: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Instead of `arguments`: text that is no JSON object.
    #[serde(default)]
    pub raw: Option<String>,
}

/// What the turn says it took.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Tokens {
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    reasoning: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let Tokens { input, cache_read, cache_write, output, reasoning } = tokens;
        Usage { input, cache_read, cache_write, output, reasoning }
    }
}

/// What has to hold of a request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    pub tools_include: Vec<String>,
    pub tools_exclude: Vec<String>,
    pub system_contains: Vec<String>,
    pub last_user_contains: Option<String>,
    pub messages: Option<usize>,
    pub must_call: Option<String>,
    pub results: Vec<ExpectResult>,
}

/// What has to hold of the latest result of a call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectResult {
    /// The call; without it, the first result of the last message.
    #[serde(default)]
    pub id: Option<String>,
    #[serde(default)]
    pub contains: Option<String>,
    #[serde(default)]
    pub lacks: Option<String>,
    /// `NIKA-208` or `208`.
    #[serde(default, deserialize_with = "word")]
    pub code: Option<String>,
    #[serde(default)]
    pub is_error: Option<bool>,
}

/// A failure that a script can play.
#[derive(Debug)]
pub(super) struct Fault {
    word: &'static str,
    pub kind: Kind,
    pub said: &'static str,
}

const FAULTS: &[Fault] = &[
    Fault { word: "cut", kind: Kind::Cut, said: "the answer ended before its end" },
    Fault { word: "timeout", kind: Kind::TimedOut, said: "nothing came in time" },
    Fault { word: "unreachable", kind: Kind::Unreachable, said: "the address cannot be reached" },
    Fault { word: "too_long", kind: Kind::TooLong, said: "the conversation is too long for the model" },
    Fault { word: "400", kind: Kind::BadRequest, said: "the request was refused (400)" },
    Fault { word: "401", kind: Kind::Key, said: "the key was refused (401)" },
    Fault { word: "404", kind: Kind::NoModel, said: "there is no such model (404)" },
    Fault { word: "429", kind: Kind::Limited, said: "too many requests (429)" },
    Fault { word: "500", kind: Kind::Server, said: "the server failed (500)" },
    Fault { word: "503", kind: Kind::Overloaded, said: "overloaded (503)" },
    Fault { word: "529", kind: Kind::Overloaded, said: "overloaded (529)" },
];

fn fault<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'static Fault>, D::Error> {
    let Some(word) = word(from)? else { return Ok(None) };
    let known = || FAULTS.iter().map(|fault| fault.word).collect::<Vec<_>>().join(", ");
    let found = FAULTS.iter().find(|fault| fault.word == word);
    found.map(Some).ok_or_else(|| D::Error::custom(format!("`{word}` is no fault; there are {}", known())))
}

fn stop<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Stop>, D::Error> {
    Ok(word(from)?.map(|word| match word.as_str() {
        "done" => Stop::Done,
        "calls" => Stop::Calls,
        "length" => Stop::Length,
        "filter" => Stop::Filter,
        _ => Stop::Other(word),
    }))
}

/// A word, or a number written without quotes: `fault: 429`.
fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    struct Word;
    impl Visitor<'_> for Word {
        type Value = String;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a word or a number")
        }
        fn visit_str<E>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
        fn visit_u64<E>(self, number: u64) -> Result<String, E> {
            Ok(number.to_string())
        }
        fn visit_i64<E>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }
    }
    from.deserialize_any(Word).map(Some)
}

/// Reads a script.
pub(super) fn parse(text: &str) -> Result<Script, String> {
    // A snippet of the file would stand in the middle of a one-line message.
    let options = serde_saphyr::options! { with_snippet: false };
    let file: File = serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())?;
    let File { context_tokens, prices, turns, conversations: mut parts } = file;
    if turns.is_empty() && parts.is_empty() {
        return Err("the script has neither `turns` nor `conversations`".into());
    }
    for call in parts.iter().flat_map(|part| &part.turns).chain(&turns).flat_map(|turn| &turn.value.calls) {
        if call.raw.is_some() && !call.arguments.is_empty() {
            return Err(format!("a call of `{}` has both `arguments` and `raw`", call.tool));
        }
    }
    if !turns.is_empty() {
        parts.push(Conversation { when: When::default(), repeat: false, turns });
    }
    Ok(Script { context_tokens, prices, parts })
}
