//! What a model is asked and what it answers, whoever serves it.
//!
//! These types are also the transcript's form on disk: a conversation that one provider began can be gone on
//! with by another. What only one provider understands (signed thinking) travels as [`Part::Kept`], verbatim.

pub mod choose;
mod endpoint;
mod prices;
mod retry;
mod scripted;
mod wire;

use std::fmt;

use nika_contract::{BoxFuture, Code, code};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use endpoint::{Adapter, Effort, Endpoint, Key, Patience, Proxies};
pub use prices::{ANY, PriceList, Prices};
pub use retry::{Pause, Retrying, Sleeping};
pub use scripted::Scripted;
pub use wire::Wire;

/// A model behind some wire.
pub trait Provider: Send + Sync + fmt::Debug {
    /// The provider's name: `anthropic`, `scripted`.
    fn name(&self) -> &str;

    /// The model in use.
    fn model(&self) -> &Model;

    /// One request. Pieces reach `sink` as they arrive; the answer is whole, or it is an error. Dropping the
    /// future ends the request.
    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        sink: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>>;
}

impl<P: Provider + ?Sized> Provider for std::sync::Arc<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn model(&self) -> &Model {
        (**self).model()
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        sink: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        (**self).answer(asking, sink)
    }
}

/// Where pieces of an answer go while it comes.
pub type Sink<'a> = dyn FnMut(Piece<'_>) + Send + 'a;

/// What is known about a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// As its provider names it.
    pub id: String,
    /// Tokens of request and answer together.
    pub context_tokens: u64,
    /// Tokens of one answer, where it has to be said.
    pub max_output: Option<u32>,
    /// What a million tokens cost; `None` where nobody said, and then no cost is shown.
    pub prices: Option<Prices>,
}

/// One request to a model.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// What stands before the conversation; equal from turn to turn, so that caches stay warm.
    pub system: &'a str,
    /// The tools, in an order that only ever grows at its end.
    pub tools: &'a [ToolCard],
    /// The conversation.
    pub messages: &'a [Message],
    /// The conversation's name, for caches that want one.
    pub cache_key: &'a str,
    /// A tool that has to be called.
    pub must_call: Option<&'a str>,
}

/// A piece of an answer, for whoever watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The provider began to answer. After a retry it begins anew: what was shown before does not count.
    Began,
    /// Text of the answer.
    Text(&'a str),
    /// The model thinks aloud.
    Thinking(&'a str),
    /// A call is being written: the tool, and characters of arguments so far.
    Calling {
        /// The tool.
        name: &'a str,
        /// Characters of its arguments so far.
        so_far: usize,
    },
    /// The request will be repeated.
    Waiting {
        /// Why.
        why: &'a str,
        /// In how many milliseconds.
        ms: u64,
    },
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCard {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the program on their behalf.
    User,
    /// The model.
    Assistant,
    /// The tools: results of the calls of the message before, in their order.
    Tool,
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image {
        /// `image/png` and the like.
        mime: String,
        /// Its bytes in base64.
        base64: String,
    },
    /// A call of a tool.
    Call(Call),
    /// What came of a call.
    Result(CallResult),
    /// What only `provider` understands, for it to see again exactly as it was: signed thinking.
    Kept {
        /// Whose it is; nobody else is sent it.
        provider: String,
        /// As it came.
        value: Value,
    },
}

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's name for it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Arguments as a model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// What is no JSON object, verbatim.
    Malformed(String),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call's [`Call::id`].
    pub id: String,
    /// The tool, as the call named it.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed or was refused.
    pub is_error: bool,
    /// Pictures, as (mime, base64).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<(String, String)>,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// Text, calls, and what has to be kept, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it took.
    pub usage: Usage,
    /// Milliseconds to the first piece.
    pub first_ms: u64,
    /// Milliseconds in all.
    pub took_ms: u64,
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model has said what it wanted.
    Done,
    /// It waits for its calls.
    Calls,
    /// It reached the most tokens that an answer may have.
    Length,
    /// The provider withheld it.
    Filter,
    /// In the provider's word.
    Other(String),
}

/// Tokens as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Read anew: neither read from nor written to a cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// Written by the model, reasoning included.
    pub output: u64,
    /// Of `output`, what was reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// Everything that was read: what fills the context.
    pub fn read(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Both together.
    pub fn plus(self, more: Usage) -> Usage {
        Usage {
            input: self.input + more.input,
            cache_read: self.cache_read + more.cache_read,
            cache_write: self.cache_write + more.cache_write,
            output: self.output + more.output,
            reasoning: self.reasoning + more.reasoning,
        }
    }

    /// What it cost, in millionths of a US dollar.
    pub fn cost_micros(&self, prices: &Prices) -> u64 {
        let sum = self.input as f64 * prices.input
            + self.cache_read as f64 * prices.cache_read
            + self.cache_write as f64 * prices.cache_write
            + self.output as f64 * prices.output;
        sum.round() as u64
    }
}

/// A request that brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What it was.
    pub kind: Kind,
    /// In words, naming the provider; no key, no body of a request.
    pub message: String,
    /// How long the provider wants to be left alone, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// Kinds of failure, by what can be done about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No key is set, or the one that is was refused (401, 403).
    Key,
    /// No such model or address (404).
    NoModel,
    /// The conversation is too long for the model.
    TooLong,
    /// The provider did not like the request (other 4xx).
    BadRequest,
    /// Too many requests (429).
    Limited,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// The provider failed (other 5xx).
    Server,
    /// The answer ended before its end.
    Cut,
    /// Nothing came in time.
    TimedOut,
    /// The address cannot be reached.
    Unreachable,
    /// A script's expectation was not met, or it had no more to say.
    Script,
    /// What fits nothing else.
    Other,
}

impl Kind {
    /// Whether asking again may help.
    pub fn may_pass(self) -> bool {
        matches!(self, Kind::Limited | Kind::Overloaded | Kind::Server | Kind::Cut | Kind::TimedOut | Kind::Unreachable)
    }

    /// The code it is told with.
    pub fn code(self) -> Code {
        match self {
            Kind::Key => code::MODEL_KEY_REFUSED,
            Kind::NoModel => code::NO_MODEL,
            Kind::TooLong => code::CONVERSATION_TOO_LONG,
            Kind::BadRequest | Kind::Other => code::MODEL_REFUSED,
            Kind::Limited | Kind::Overloaded => code::MODEL_BUSY,
            Kind::Server | Kind::Cut | Kind::TimedOut => code::MODEL_FAILED,
            Kind::Unreachable => code::MODEL_UNREACHABLE,
            Kind::Script => code::SCRIPT_NOT_MET,
        }
    }
}
