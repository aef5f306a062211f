//! What every connection does alike: say who we are, list tools, call one, and hand what is left
//! to the backend's extras. Knows no transport; a [`Link`] is the way back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nika_contract::{Cancel, Pending};
use rmcp::model::{
    CallToolResponse, DiscoverResult, ErrorCode, ErrorData, Implementation, InitializeResult, InputRequests,
    InputRequiredResult, ListToolsResult, ServerCapabilities,
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::ask;
use crate::link::{Changes, Link, LinkedClient, tell_changed};
use crate::port::{Answer, Answered, Backend, ListKind, Object, ProtocolError, Request, Session, Tell};
use crate::progress;
use crate::render;
use crate::revision::{Revision, SPOKEN};
use crate::seal::{Binding, Seal, State};

/// List changes that may wait for one slow listener; more are as good as one.
const CHANGES_KEPT: usize = 16;

/// Levels of messages, as in RFC 5424, from the least on. Ends of jobs are told at `info`.
const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Requests that 2026-07-28 no longer has.
const GONE_WITH_HANDSHAKE: &[&str] = &["logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// A `tools/call`, whoever parsed it.
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Object,
    pub(crate) responses: Option<Object>,
    pub(crate) state: Option<String>,
}

impl Call {
    /// What the parameters of a `tools/call` say.
    pub(crate) fn of(mut params: Object) -> Result<Call, ErrorData> {
        let wrong = |why: &'static str| Err(ErrorData::invalid_params(why, None));
        let name = match params.shift_remove("name") {
            Some(Value::String(name)) => name,
            None => return wrong("`name` of the tool is missing"),
            Some(_) => return wrong("`name` is a string"),
        };
        let arguments = match params.shift_remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            None | Some(Value::Null) => Object::new(),
            Some(_) => return wrong("`arguments` is an object"),
        };
        let responses = match params.shift_remove("inputResponses") {
            Some(Value::Object(responses)) => Some(responses),
            None | Some(Value::Null) => None,
            Some(_) => return wrong("`inputResponses` is an object"),
        };
        let state = match params.shift_remove("requestState") {
            Some(Value::String(state)) => Some(state),
            None | Some(Value::Null) => None,
            Some(_) => return wrong("`requestState` is a string"),
        };
        Ok(Call { name, arguments, responses, state })
    }
}

/// A result of [`Engine::extra`].
pub(crate) enum Extra {
    Result(Object),
    Input(InputRequiredResult),
}

/// The server behind every connection.
pub(crate) struct Engine {
    backend: Arc<dyn Backend>,
    seal: Seal,
    changes: Changes,
    /// Whether the client wants no message of the level at which ends of jobs are told.
    quiet: AtomicBool,
}

impl Engine {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Engine {
        let changes = broadcast::Sender::new(CHANGES_KEPT);
        Engine { backend, seal: Seal::new(), changes, quiet: AtomicBool::new(false) }
    }

    /// Whether messages at level `info` are to be left out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Relaxed)
    }

    /// Every list that changes from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<ListKind> {
        self.changes.subscribe()
    }

    /// Has the backend say what no request asked for.
    pub(crate) fn listen(&self, tell: Tell) {
        if self.backend.speaks() {
            self.backend.listen(tell);
        }
    }

    /// The answer to `initialize`.
    pub(crate) fn hello(&self, revision: Revision) -> InitializeResult {
        let mut capabilities = Object::from_iter([("tools".to_owned(), json!({ "listChanged": true }))]);
        if self.backend.speaks() && !revision.is_stateless() {
            capabilities.insert("logging".to_owned(), json!({}));
        }
        if let Some(extras) = self.backend.extras() {
            capabilities.extend(extras.capabilities());
        }
        let capabilities: ServerCapabilities = serde_json::from_value(Value::Object(capabilities)).unwrap_or_default();
        let mut hello = InitializeResult::new(capabilities)
            .with_server_info(Implementation::new(self.backend.name(), self.backend.version()))
            .with_protocol_version(revision.version());
        hello.instructions = Some(self.backend.instructions()).filter(|text| !text.is_empty());
        hello
    }

    /// The answer to `server/discover`.
    pub(crate) fn discover(&self) -> DiscoverResult {
        DiscoverResult::from_server_info(SPOKEN.to_vec(), self.hello(Revision::V2026_07_28))
    }

    /// The answer to `tools/list`. All tools are one page, so any cursor is one we did not give.
    pub(crate) fn list(
        &self,
        session: &Session,
        cursor: Option<&str>,
        revision: Revision,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = cursor {
            return Err(ErrorData::invalid_params(format!("cursor {cursor:?} was not given by this server"), None));
        }
        let over_http = matches!(session, Session::Handle { .. });
        let tools = self.backend.list(session).into_iter().map(|listed| render::tool(listed, over_http)).collect();
        let mut list = ListToolsResult::with_all_items(tools);
        if revision.is_stateless() {
            list.ttl_ms = Some(0);
            list.cache_scope = Some(rmcp::model::CacheScope::Private);
        } else {
            list.result_type = None;
        }
        Ok(list)
    }

    /// One tool of the list, as it is listed over HTTP.
    pub(crate) fn find(&self, name: &str, session: &Session) -> Option<rmcp::model::Tool> {
        let listed = self.backend.list(session).into_iter().find(|listed| listed.name == name)?;
        Some(render::tool(listed, true))
    }

    /// The client has ended a session.
    pub(crate) async fn end(&self, session: &Session) {
        self.backend.end(session).await;
    }

    /// The answer to `tools/call`.
    pub(crate) async fn call(
        &self,
        call: Call,
        session: Session,
        cancel: Cancel,
        link: Arc<dyn Link>,
    ) -> Result<CallToolResponse, ErrorData> {
        let revision = link.revision();
        let (caller, handle) = match &session {
            Session::Process => (Arc::from(""), None),
            Session::Handle { caller, handle } => (Arc::clone(caller), handle.clone()),
        };
        // A yes in one session is none in another.
        let session_of = handle.unwrap_or_default();
        let binding = || Binding::new(&[&*caller, "tools/call", &call.name, &session_of]);
        let state = call.state.as_deref().map(|sealed| self.seal.open(sealed, &binding())).transpose()?;
        let (earlier, own) = match state {
            Some(State::Question { id, asking, mut answered }) => {
                let answer = call.responses.as_ref().and_then(|responses| responses.get(ask::KEY));
                // An answer that was used already is none, nor are those before it: the questions are put again.
                match answer.filter(|_| self.seal.spend(asking)) {
                    Some(answer) => answered.push((id, answer.clone())),
                    None => answered.clear(),
                }
                (answered, None)
            }
            Some(State::Own(own)) => (Vec::new(), Some(own)),
            None => (Vec::new(), None),
        };
        let request = Request {
            name: call.name.clone(),
            arguments: call.arguments,
            session,
            cancel,
            progress: progress::watcher(&link),
            asker: ask::asker(&link, earlier.clone()),
            client: Arc::new(LinkedClient {
                link: Arc::clone(&link),
                changes: self.changes.clone(),
                responses: call.responses,
                state: own,
            }),
        };
        let answer = self.backend.call(request).await;
        match answer.map_err(|fault| ErrorData::internal_error(fault.to_string(), None))? {
            Answer::Done(reply) => {
                if reply.tools_changed {
                    tell_changed(&*link, &self.changes, ListKind::Tools);
                }
                Ok(CallToolResponse::Complete(render::result(reply, revision)))
            }
            Answer::NeedsInput(pending) => {
                let (params, id) = match pending {
                    Pending::Permission(question) => (ask::form(&question, revision), question.id),
                    Pending::Inquiry(inquiry) => (ask::inquiry_form(&inquiry, revision), inquiry.id),
                };
                let request = json!({ "method": "elicitation/create", "params": params });
                let requests = Object::from_iter([(ask::KEY.to_owned(), request)]);
                let state = self.seal.close(&self.seal.question(id, earlier), &binding())?;
                input_required(requests, Some(state), revision).map(CallToolResponse::InputRequired)
            }
            Answer::Input { requests, state } => {
                let state = state.map(|state| self.seal.close(&State::Own(state), &binding())).transpose()?;
                input_required(requests, state, revision).map(CallToolResponse::InputRequired)
            }
            // Both eras want -32602 for a name that is no tool: the method exists, its parameter is wrong.
            Answer::UnknownTool(message) => Err(ErrorData::invalid_params(message, None)),
            Answer::Error(error) => Err(error.into()),
        }
    }

    /// Whatever else a fixture offers.
    pub(crate) async fn extra(
        &self,
        method: &str,
        mut params: Object,
        caller: &str,
        link: Arc<dyn Link>,
    ) -> Result<Extra, ErrorData> {
        let revision = link.revision();
        if method == "logging/setLevel" && self.backend.speaks() && !revision.is_stateless() {
            let level = params.get("level").and_then(Value::as_str).unwrap_or_default();
            let Some(at) = LEVELS.iter().position(|known| *known == level) else {
                return Err(ErrorData::invalid_params(format!("`level` is one of {}", LEVELS.join(", ")), None));
            };
            self.quiet.store(!LEVELS[at..].contains(&"info"), Ordering::Relaxed);
            return Ok(Extra::Result(Object::new()));
        }
        let extras = match self.backend.extras() {
            Some(extras) if !(revision.is_stateless() && GONE_WITH_HANDSHAKE.contains(&method)) => extras,
            _ => return Err(unknown_method(method)),
        };
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str).unwrap_or_default();
        let binding = Binding::new(&[caller, method, name]);
        let own = match params.remove("requestState") {
            Some(Value::String(sealed)) => match self.seal.open(&sealed, &binding)? {
                State::Own(own) => Some(own),
                State::Question { .. } => None,
            },
            _ => None,
        };
        let responses = match params.remove("inputResponses") {
            Some(Value::Object(responses)) => Some(responses),
            _ => None,
        };
        let client = Arc::new(LinkedClient { link, changes: self.changes.clone(), responses, state: own });
        match extras.request(method, params, client).await? {
            Answered::Result(mut result) => {
                if revision.is_stateless() {
                    result.entry("resultType").or_insert_with(|| "complete".into());
                    if method.ends_with("/list") || method == "resources/read" {
                        result.entry("ttlMs").or_insert_with(|| 0.into());
                        result.entry("cacheScope").or_insert_with(|| "private".into());
                    }
                }
                Ok(Extra::Result(result))
            }
            Answered::Input { requests, state } => {
                let state = state.map(|state| self.seal.close(&State::Own(state), &binding)).transpose()?;
                input_required(requests, state, revision).map(Extra::Input)
            }
        }
    }
}

fn input_required(
    requests: Object,
    state: Option<String>,
    revision: Revision,
) -> Result<InputRequiredResult, ErrorData> {
    if !revision.is_stateless() {
        return Err(ErrorData::internal_error("a question became a result in a revision without such results", None));
    }
    let requests: InputRequests = serde_json::from_value(Value::Object(requests))
        .map_err(|error| ErrorData::internal_error(format!("not an input request: {error}"), None))?;
    Ok(InputRequiredResult::new(Some(requests), state))
}

/// -32601.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method {method:?} in this revision"), None)
}

impl From<ProtocolError> for ErrorData {
    fn from(error: ProtocolError) -> ErrorData {
        ErrorData::new(ErrorCode(error.code), error.message, error.data)
    }
}

impl From<ErrorData> for ProtocolError {
    fn from(error: ErrorData) -> ProtocolError {
        ProtocolError { code: error.code.0, message: error.message.into_owned(), data: error.data }
    }
}
