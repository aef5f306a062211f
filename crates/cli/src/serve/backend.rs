//! The pipeline behind the protocol: whose session a call uses, and what of an outcome the client is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nika_contract::{BoxFuture, Fault, ToolError, code};
use nika_mcp::{Answer, Listed, Reply, Request};
use nika_runtime::{Incoming, Outcome, Session};
use serde_json::{Map, Value};

use crate::compose::{Built, Shape};
use crate::crew;
use crate::serve::handles::Handles;
use crate::serve::instructions;
use crate::time;

/// How clients come in.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    /// The process is the session.
    Stdio,
    /// A session is a handle, and so many are kept.
    Http {
        /// The most sessions kept at once.
        sessions: usize,
    },
}

/// What `nika_mcp` serves.
#[derive(Debug)]
pub struct Backend {
    built: Arc<Built>,
    pid: u32,
    shape: Shape,
    over_http: bool,
    process: Arc<Session>,
    handles: Handles,
    minted: AtomicU64,
}

impl Backend {
    /// A backend over the pipeline.
    pub fn new(built: Arc<Built>, pid: u32, shape: &Shape, way: Way) -> Backend {
        let started = time::compact(built.clock.unix_ms());
        let process = Arc::new(built.runtime.session(format!("mcp-{started}-{pid}"), true));
        let sessions = match way {
            Way::Stdio => 0,
            Way::Http { sessions } => sessions,
        };
        Backend {
            pid,
            shape: shape.clone(),
            over_http: matches!(way, Way::Http { .. }),
            process,
            handles: Handles::new(sessions),
            minted: AtomicU64::new(0),
            built,
        }
    }

    /// The client is gone: what its session has at work ends.
    pub async fn end(&self) {
        crew::end(&self.built, self.process.id()).await;
    }

    /// The session of a request; `None` for a new one.
    fn known(&self, session: &nika_mcp::Session) -> Result<Option<Arc<Session>>, ToolError> {
        match session {
            nika_mcp::Session::Process => Ok(Some(Arc::clone(&self.process))),
            nika_mcp::Session::Handle { handle: None, .. } => Ok(None),
            nika_mcp::Session::Handle { caller, handle: Some(handle) } => {
                let found = self.handles.find(caller, handle).ok_or_else(|| {
                    ToolError::new(code::UNKNOWN_SESSION, "the session handle is not known here, or no longer")
                        .hint("call without `nika_session`: the answer carries a new handle; then read files again")
                })?;
                Ok(Some(found))
            }
        }
    }

    /// A session for a caller that came without a handle.
    fn fresh(&self) -> Arc<Session> {
        let number = self.minted.fetch_add(1, Ordering::Relaxed);
        let now = time::compact(self.built.clock.unix_ms());
        Arc::new(self.built.runtime.session(format!("http-{now}-{}-{number}", self.pid), true))
    }
}

impl nika_mcp::Backend for Backend {
    fn name(&self) -> String {
        "nika".to_owned()
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn speaks(&self) -> bool {
        !self.over_http
    }

    fn listen(&self, tell: nika_mcp::Tell) {
        self.built.bell.answer(tell);
    }

    fn instructions(&self) -> String {
        instructions::write(&self.built, &self.shape, self.over_http)
    }

    fn list(&self, session: &nika_mcp::Session) -> Vec<Listed> {
        let session = self.known(session).ok().flatten();
        self.built.runtime.list(session.as_deref()).into_iter().map(listed).collect()
    }

    fn end<'a>(&'a self, session: &'a nika_mcp::Session) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let nika_mcp::Session::Handle { caller, handle: Some(handle) } = session else { return };
            let Some(session) = self.handles.end(caller, handle) else { return };
            crew::end(&self.built, session.id()).await;
            let jobs = Arc::clone(&self.built.jobs);
            // Gone when it has ended, whoever still waits for that.
            let _ = tokio::task::spawn_blocking(move || jobs.end_session(session.id())).await;
        })
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let (session, caller) = match (self.known(&request.session), request.session) {
                (Err(error), _) => return Ok(refused(error)),
                (Ok(Some(session)), _) => (session, None),
                (Ok(None), nika_mcp::Session::Handle { caller, .. }) => (self.fresh(), Some(caller)),
                (Ok(None), nika_mcp::Session::Process) => (Arc::clone(&self.process), None),
            };
            let incoming = Incoming {
                name: request.name.clone(),
                arguments: request.arguments,
                cancel: request.cancel,
                progress: request.progress,
                asker: request.asker,
                deferral: true,
                origin: None,
            };
            crew::enrol(&self.built, &session, &incoming);
            let outcome = self.built.runtime.dispatch(&session, incoming).await?;
            // Kept only now: an answer that says "ask and call again" does not tell the handle.
            let mint = || caller.map(|caller| self.handles.mint(caller, Arc::clone(&session)));
            let text = self.built.runtime.find(&outcome.tool).is_ok_and(|tool| tool.spec().text);
            Ok(answer(&request.name, outcome, text, mint))
        })
    }
}

fn refused(error: ToolError) -> Answer {
    Answer::Done(Reply { output: Err(error), call_id: String::new(), session: None, tools_changed: false })
}

/// Of a tool whose answer is its `text`, data stay here.
fn answer(asked_for: &str, outcome: Outcome, text: bool, mint: impl FnOnce() -> Option<String>) -> Answer {
    let Outcome { call, tool, mut result, question, tools_changed } = outcome;
    if let Ok(output) = &mut result
        && text
    {
        output.structured = None;
    }
    if let Some(question) = question {
        return Answer::NeedsInput(question);
    }
    match result {
        // Through the gateway the name is an argument, and a wrong one is the tool's answer.
        Err(error) if error.code == code::UNKNOWN_TOOL && is_same(asked_for, &tool) => {
            Answer::UnknownTool(error.to_string())
        }
        output => Answer::Done(Reply { output, call_id: call.0, session: mint(), tools_changed }),
    }
}

fn is_same(asked_for: &str, tool: &str) -> bool {
    asked_for.strip_prefix("nika_").unwrap_or(asked_for) == tool
}

fn listed(tool: nika_runtime::Listed) -> Listed {
    Listed {
        name: tool.name,
        title: tool.title.to_owned(),
        description: tool.description,
        input_schema: Arc::new(object(tool.input_schema)),
        output_schema: tool.output_schema.filter(|_| !tool.spec.text).map(|schema| Arc::new(object(schema))),
        read_only: tool.spec.read_only,
        destructive: tool.spec.destructive,
        idempotent: tool.spec.idempotent,
        open_world: tool.spec.open_world,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
