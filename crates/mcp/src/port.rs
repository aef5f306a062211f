//! What the server needs behind it: somebody who lists tools and runs calls.
//!
//! The program implements [`Backend`] over the pipeline, tests over a few lines. Nothing here knows
//! JSON-RPC, revisions of MCP or the SDK; and what only a conformance fixture wants ([`Extras`],
//! [`Client`], [`Answer::Input`], [`Answer::Error`]) can be ignored by everybody else.

use std::fmt;
use std::sync::Arc;

use nika_contract::{Asker, BoxFuture, Cancel, Fault, Output, Pending, Progress, ToolError};
use serde_json::{Map, Value};

/// A JSON object.
pub type Object = Map<String, Value>;

/// A tool as `tools/list` shows it.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The name a call uses, prefix and dialect applied.
    pub name: String,
    /// A person's name for it; left out of the list when empty.
    pub title: String,
    /// What a model reads.
    pub description: String,
    /// JSON schema of the arguments.
    pub input_schema: Arc<Object>,
    /// JSON schema of [`Output::structured`].
    pub output_schema: Option<Arc<Object>>,
    /// Never changes anything.
    pub read_only: bool,
    /// May remove what was there.
    pub destructive: bool,
    /// Twice is the same as once.
    pub idempotent: bool,
    /// Reaches beyond this machine.
    pub open_world: bool,
}

/// Whose state a call uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    /// Stdio: the process is the session.
    Process,
    /// HTTP: nothing is kept between calls but what a handle names.
    Handle {
        /// Stands for the bearer token (a fingerprint, never the token): a handle is good only for
        /// the caller it was minted for.
        caller: Arc<str>,
        /// What the client passed. `None`: the call gets a new session.
        handle: Option<String>,
    },
}

/// One call.
#[derive(Clone)]
pub struct Request {
    /// As the client wrote it.
    pub name: String,
    /// Without `nika_session`.
    pub arguments: Object,
    /// Whose state it uses.
    pub session: Session,
    /// Set when the client cancels or goes away.
    pub cancel: Cancel,
    /// Tells the client, when it wants to know.
    pub progress: Arc<dyn Progress>,
    /// Puts a question to the client's user, when there is a way.
    pub asker: Arc<dyn Asker>,
    /// The client itself; for fixtures.
    pub client: Arc<dyn Client>,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("name", &self.name).field("session", &self.session).finish_non_exhaustive()
    }
}

/// How a call ended.
#[derive(Debug)]
pub enum Answer {
    /// It ran, or was refused: the model reads why.
    Done(Reply),
    /// The asker said *later*: nothing was done, the client asks its user and calls again.
    NeedsInput(Pending),
    /// No tool has this name (with near names, for the message).
    UnknownTool(String),
    /// Input of the tool's own choosing is needed (2026-07-28 only; for fixtures): requests by key,
    /// and a state that comes back, sealed on the way, as [`Client::state`].
    Input {
        /// `{"method": …, "params": …}` by key.
        requests: Object,
        /// What to remember.
        state: Option<Value>,
    },
    /// An error of the protocol instead of a result (for fixtures).
    Error(ProtocolError),
}

/// What a call that ran, or was refused, brings back.
#[derive(Debug)]
pub struct Reply {
    /// For the model.
    pub output: Result<Output, ToolError>,
    /// The journal's name for the call.
    pub call_id: String,
    /// A handle minted by this call, which the client must be told.
    pub session: Option<String>,
    /// Whether `tools/list` now answers otherwise.
    pub tools_changed: bool,
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtocolError {
    /// `-32602` and the like.
    pub code: i32,
    /// One sentence.
    pub message: String,
    /// What the revision wants beside it.
    pub data: Option<Value>,
}

/// Says a line to the client, as a log message. Whether its revision has those is the answer.
pub type Tell = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Lists tools and runs calls.
pub trait Backend: Send + Sync + 'static {
    /// The server's name.
    fn name(&self) -> String;
    /// Its version.
    fn version(&self) -> String;
    /// What the model is told about roots, mode and sandbox.
    fn instructions(&self) -> String;
    /// The tools that are listed with their schemas. Called for each `tools/list`.
    fn list(&self, session: &Session) -> Vec<Listed>;
    /// Runs one call. Calls run side by side on one thread: blocking work goes elsewhere. A cancelled
    /// call is not dropped but told by `cancel`, so that it ends in the journal as it began there.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Answer, Fault>>;
    /// The client has ended a session: so does what that has at work.
    fn end<'a>(&'a self, _session: &'a Session) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
    /// Whether it has something to say that no request asked for: then [`Backend::listen`] is called.
    fn speaks(&self) -> bool {
        false
    }
    /// Takes a way to say so to the client: a job that ended. Callable from any thread.
    fn listen(&self, _tell: Tell) {}
    /// Prompts, resources, completion, logging: nothing unless a fixture offers it.
    fn extras(&self) -> Option<&dyn Extras> {
        None
    }
}

/// Requests beyond tools, as JSON in and out.
pub trait Extras: Send + Sync {
    /// Capabilities to declare beside `tools`: `{"prompts": {"listChanged": true}, …}`.
    fn capabilities(&self) -> Object;
    /// Answers `method`; the result has the shape its revision wants, without `resultType`.
    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Object,
        client: Arc<dyn Client>,
    ) -> BoxFuture<'a, Result<Answered, ProtocolError>>;
}

/// What [`Extras::request`] answers.
#[derive(Debug)]
pub enum Answered {
    /// The result.
    Result(Object),
    /// As [`Answer::Input`].
    Input {
        /// `{"method": …, "params": …}` by key.
        requests: Object,
        /// What to remember.
        state: Option<Value>,
    },
}

/// A list of which clients may be told that it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
}

/// The client of one request, for fixtures that speak to it directly.
pub trait Client: Send + Sync {
    /// The revision this request is under.
    fn revision(&self) -> String;
    /// The request's `_meta`.
    fn meta(&self) -> Object;
    /// What the client declared.
    fn capabilities(&self) -> Object;
    /// Answers to an earlier [`Answer::Input`], by key.
    fn responses(&self) -> Option<Object>;
    /// The state of an earlier [`Answer::Input`], its seal verified.
    fn state(&self) -> Option<Value>;
    /// `notifications/message`, where the client wants such.
    fn log(&self, level: &str, data: Value) -> BoxFuture<'_, ()>;
    /// `sampling/createMessage` and the like; refused by revisions that have no such requests.
    fn ask(&self, method: &str, params: Object) -> BoxFuture<'_, Result<Value, ProtocolError>>;
    /// Tells everybody who listens that a list changed.
    fn changed(&self, list: ListKind) -> BoxFuture<'_, ()>;
}
