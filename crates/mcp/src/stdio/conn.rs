//! One client on stdio: what it said at the handshake, what it still waits for, what we wait for.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use nika_contract::Cancel;
use rmcp::model::{ErrorData, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::port::{Object, ProtocolError};
use crate::revision::Revision;
use crate::stdio::frame::MAX_LINE_BYTES;
use crate::stdio::out::Out;
use crate::stdio::request::Incoming;

/// The connection.
pub(crate) struct Conn {
    pub(crate) engine: Arc<Engine>,
    pub(crate) out: Arc<Out>,
    handshake: Mutex<Option<Arc<Handshake>>>,
    running: Mutex<HashMap<RequestId, Stop>>,
    asked: Mutex<Asked>,
    next_ask: AtomicI64,
}

/// Who waits for which of our requests; `None` once no answer can come any more.
type Asked = Option<HashMap<i64, oneshot::Sender<Result<Value, ProtocolError>>>>;

/// What `initialize` settled.
pub(crate) struct Handshake {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Object,
}

/// How to stop a request that runs.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    pub(crate) cancel: Cancel,
    pub(crate) token: CancellationToken,
    /// Whether it only ends when it is stopped: a subscription.
    pub(crate) endless: bool,
}

impl Stop {
    fn stop(&self) {
        self.cancel.cancel();
        self.token.cancel();
    }
}

/// Any message. One pass over the line, whatever it is.
#[derive(Deserialize)]
struct Message {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<ErrorData>,
}

/// Tells `null` from nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Conn {
    /// Says a line to the client, once it has shaken hands and unless it set a level above such lines: the newest
    /// revision has no messages of the server's own.
    /// Whether it was said is the answer.
    pub(crate) fn say(&self, text: &str) -> bool {
        let shaken = self.handshake.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let wanted = shaken && !self.engine.is_quiet();
        if wanted {
            let params = json!({ "level": "info", "logger": "nika", "data": text });
            if let Value::Object(params) = params {
                self.out.notification("notifications/message", params);
            }
        }
        wanted
    }

    pub(crate) fn new(engine: Arc<Engine>, out: Arc<Out>) -> Conn {
        Conn {
            engine,
            out,
            handshake: Mutex::default(),
            running: Mutex::default(),
            asked: Mutex::new(Some(HashMap::new())),
            next_ask: AtomicI64::new(1),
        }
    }

    /// Takes one line. What does not end at once runs on in `tasks`.
    pub(crate) fn line(self: &Arc<Conn>, line: &[u8], tasks: &mut JoinSet<()>) {
        if line.first() == Some(&b'[') {
            return self.out.error(None, not_one_message(line));
        }
        let message: Message = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) if error.is_data() => {
                let why = format!("not a JSON-RPC message: {error}");
                return self.out.error(id_of(line), ErrorData::invalid_request(why, None));
            }
            Err(error) => {
                return self.out.error(id_of(line), ErrorData::parse_error(format!("not JSON: {error}"), None));
            }
        };
        let id = match message.id.map(request_id) {
            None => None,
            Some(Some(id)) => Some(id),
            Some(None) => {
                let why = "an id is a string or a whole number";
                return self.out.error(None, ErrorData::invalid_request(why, None));
            }
        };
        if message.jsonrpc.as_deref() != Some("2.0") {
            return self.out.error(id, ErrorData::invalid_request("`jsonrpc` is \"2.0\" in every message", None));
        }
        let params = match message.params {
            Some(Value::Object(params)) => params,
            None | Some(Value::Null) => Object::new(),
            Some(_) => return self.out.error(id, ErrorData::invalid_params("`params` is an object", None)),
        };
        match (message.method, id) {
            (Some(method), Some(id)) => self.request(method, id, params, tasks),
            (Some(method), None) => self.notified(&method, &params),
            (None, Some(RequestId::Number(id))) if message.result.is_some() || message.error.is_some() => {
                self.answered(id, message.result, message.error);
            }
            // Not an answer to anything asked here.
            (None, id) if message.result.is_some() || message.error.is_some() => drop(id),
            (None, id) => {
                let why = "neither a method, nor a result, nor an error";
                if let Some(RequestId::Number(asked)) = id
                    && self.asked().as_ref().is_some_and(|all| all.contains_key(&asked))
                {
                    return self.answered(asked, None, Some(ErrorData::invalid_request(why, None)));
                }
                self.out.error(id, ErrorData::invalid_request(why, None));
            }
        }
    }

    /// A line was too long to be kept.
    pub(crate) fn too_long(&self) {
        let why = format!("a message is at most {MAX_LINE_BYTES} bytes");
        self.out.error(None, ErrorData::invalid_request(why, None));
    }

    fn request(self: &Arc<Conn>, method: String, id: RequestId, params: Object, tasks: &mut JoinSet<()>) {
        if !self.running().is_empty() && self.running().contains_key(&id) {
            let why = format!("a request with id {id} is still running");
            return self.out.error(Some(id), ErrorData::invalid_request(why, None));
        }
        let stop = Stop { endless: method == "subscriptions/listen", ..Stop::default() };
        let incoming = Incoming { conn: Arc::clone(self), id: id.clone(), stop: stop.clone() };
        let mut work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(incoming.serve(method, params));
        // Most requests are done at their first poll. The others are polled again as a task of their
        // own, which is when they learn whom to wake.
        if let Poll::Ready(()) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return;
        }
        self.running().insert(id.clone(), stop);
        let conn = Arc::clone(self);
        tasks.spawn(async move {
            let _done = Done { conn, id };
            work.await;
        });
    }

    fn notified(&self, method: &str, params: &Object) {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId").cloned().and_then(request_id)
            && let Some(stop) = self.running().get(&id)
        {
            stop.stop();
        }
    }

    /// What the handshake settled, if there was one.
    pub(crate) fn handshake(&self) -> Option<Arc<Handshake>> {
        self.handshake.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A handshake was made; a second one replaces the first.
    pub(crate) fn shake(&self, handshake: Handshake) {
        *self.handshake.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(handshake));
    }

    /// Sends a request to the client and waits for what it answers.
    pub(crate) async fn ask(&self, method: &str, params: Object) -> Result<Value, ProtocolError> {
        let gone = || ProtocolError { code: -32000, message: "the client is gone".to_owned(), data: None };
        let id = self.next_ask.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        match self.asked().as_mut() {
            Some(asked) => asked.insert(id, sender),
            None => return Err(gone()),
        };
        let _withdraw = Withdraw { conn: self, id };
        self.out.request(id, method, params);
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    fn answered(&self, id: i64, result: Option<Value>, error: Option<ErrorData>) {
        let waiting = self.asked().as_mut().and_then(|asked| asked.remove(&id));
        if let Some(waiting) = waiting {
            let answer = match error {
                Some(error) => Err(error.into()),
                None => Ok(result.unwrap_or_default()),
            };
            let _ = waiting.send(answer);
        }
    }

    /// The client's last byte came: nothing that waits for another can end.
    pub(crate) fn input_ended(&self) {
        *self.asked() = None;
        self.running().values().filter(|stop| stop.endless).for_each(Stop::stop);
    }

    /// Stops everything.
    pub(crate) fn cancel_all(&self) {
        self.running().values().for_each(Stop::stop);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<RequestId, Stop>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Strikes a request off the list when it ends, by panic too.
struct Done {
    conn: Arc<Conn>,
    id: RequestId,
}

impl Drop for Done {
    fn drop(&mut self) {
        self.conn.running().remove(&self.id);
    }
}

/// Forgets a question that nobody waits for any longer, and takes it back from the client.
struct Withdraw<'a> {
    conn: &'a Conn,
    id: i64,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let waits = self.conn.asked().as_mut().is_some_and(|asked| asked.remove(&self.id).is_some());
        if waits {
            // Else a client would show the question for ever.
            let mut params = Object::new();
            params.insert("requestId".to_owned(), self.id.into());
            params.insert("reason".to_owned(), "nobody waits for the answer any longer".into());
            self.conn.out.notification("notifications/cancelled", params);
        }
    }
}

/// An id as the SDK has it; `None` for what cannot be one.
fn request_id(value: Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// The id of what is no message, where it can be told: whoever waits for an answer gets one. What stands elsewhere in the
/// line does not matter here, be it text that no string can hold. An answer's id is one of ours, and the client may have
/// the same among its own: it is not given back.
fn id_of(line: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Request {
        id: Option<Value>,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    serde_json::from_slice::<Request>(line).ok()?.id.and_then(request_id)
}

/// An array: no revision spoken here has batches.
fn not_one_message(line: &[u8]) -> ErrorData {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => ErrorData::invalid_request("one message a line: no revision spoken here has batches", None),
        Err(error) => ErrorData::parse_error(format!("not JSON: {error}"), None),
    }
}
