//! One client on stdio: what it said at the handshake, what it still waits for, what we wait for.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use nika_contract::Cancel;
use rmcp::model::{ErrorData, RequestId};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::link::WITHDRAWN;
use crate::message::{self, request_id};
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
        let message = match message::read(line) {
            Ok(message) => message,
            Err(refused) => {
                let (id, why) = *refused;
                if let Some(asked) = message::answers(line) {
                    self.answered(asked, Err(no_answer()));
                }
                return self.out.error(id, why);
            }
        };
        let answer = match (message.error, message.result) {
            (Some(error), _) => Some(Err(error.into())),
            (None, result) => result.map(Ok),
        };
        match (message.method, message.id, answer) {
            (Some(method), Some(id), _) => self.request(method, id, message.params, tasks),
            (Some(method), None, _) => self.notified(&method, &message.params),
            (None, Some(RequestId::Number(id)), Some(answer)) => drop(self.answered(id, answer)),
            // Not an answer to anything asked here.
            (None, id, Some(_)) => drop(id),
            (None, id, None) => {
                // What answers a question of ours and says nothing is no answer to it, and nothing to answer.
                if !matches!(id, Some(RequestId::Number(id)) if self.answered(id, Err(no_answer()))) {
                    let why = "neither a method, nor a result, nor an error";
                    self.out.error(id, ErrorData::invalid_request(why, None));
                }
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

    /// Hands an answer to who waits for it. Whether somebody did is the answer.
    fn answered(&self, id: i64, answer: Result<Value, ProtocolError>) -> bool {
        let waiting = self.asked().as_mut().and_then(|asked| asked.remove(&id));
        // Whoever stopped waiting meanwhile has asked all the same.
        waiting.map(|waiting| drop(waiting.send(answer))).is_some()
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
        let unanswered = self.conn.asked().as_mut().and_then(|asked| asked.remove(&self.id)).is_some();
        if unanswered {
            let params = [("requestId".to_owned(), self.id.into()), ("reason".to_owned(), WITHDRAWN.into())];
            self.conn.out.notification("notifications/cancelled", Object::from_iter(params));
        }
    }
}

/// What a question gets that was answered with what is no answer.
fn no_answer() -> ProtocolError {
    ProtocolError { code: -32600, message: message::NO_ANSWER.to_owned(), data: None }
}
