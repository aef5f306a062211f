//! What the engine needs from the connection a request came over. Stdio and HTTP each have one.

use std::sync::Arc;

use nika_contract::BoxFuture;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::port::{Client, ListKind, Object, ProtocolError};
use crate::revision::{Revision, key};

/// Why a client need no longer answer what it was asked.
pub(crate) const WITHDRAWN: &str = "the call that asked has ended";

/// The way back to the client of one request.
pub(crate) trait Link: Send + Sync {
    /// The revision the request is under.
    fn revision(&self) -> Revision;
    /// The request's `_meta`.
    fn meta(&self) -> &Object;
    /// What the client declared, at the handshake or in this request.
    fn capabilities(&self) -> &Object;
    /// Sends a notification, before the result of this request.
    fn post(&self, method: &'static str, params: Object);
    /// Sends a request and waits for its result. Only before 2026-07-28.
    fn ask<'a>(&'a self, method: &'a str, params: Object) -> BoxFuture<'a, Result<Value, ProtocolError>>;
    /// Resolves when the client no longer wants an answer.
    fn cancelled(&self) -> BoxFuture<'_, ()>;
}

/// Lists that changed, for all who listen (2026-07-28: `subscriptions/listen`).
pub(crate) type Changes = broadcast::Sender<ListKind>;

/// Tells the client of `link`, and all who listen, that a list changed.
pub(crate) fn tell_changed(link: &dyn Link, changes: &Changes, list: ListKind) {
    if !link.revision().is_stateless() {
        link.post(notification_of(list), Object::new());
    }
    // Nobody listening is no error.
    let _ = changes.send(list);
}

/// The notification for a list.
pub(crate) fn notification_of(list: ListKind) -> &'static str {
    match list {
        ListKind::Tools => "notifications/tools/list_changed",
        ListKind::Prompts => "notifications/prompts/list_changed",
    }
}

/// A [`Link`] as fixtures see it.
pub(crate) struct LinkedClient {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) changes: Changes,
    pub(crate) responses: Option<Object>,
    pub(crate) state: Option<Value>,
}

impl Client for LinkedClient {
    fn revision(&self) -> String {
        self.link.revision().date().to_owned()
    }

    fn meta(&self) -> Object {
        self.link.meta().clone()
    }

    fn capabilities(&self) -> Object {
        self.link.capabilities().clone()
    }

    fn responses(&self) -> Option<Object> {
        self.responses.clone()
    }

    fn state(&self) -> Option<Value> {
        self.state.clone()
    }

    fn log(&self, level: &str, data: Value) -> BoxFuture<'_, ()> {
        // 2026-07-28: only a request that names a level gets log messages.
        if !self.link.revision().is_stateless() || self.link.meta().contains_key(key::LOG_LEVEL) {
            let params = Object::from_iter([("level".to_owned(), level.into()), ("data".to_owned(), data)]);
            self.link.post("notifications/message", params);
        }
        Box::pin(async {})
    }

    fn ask(&self, method: &str, params: Object) -> BoxFuture<'_, Result<Value, ProtocolError>> {
        let method = method.to_owned();
        Box::pin(async move { self.link.ask(&method, params).await })
    }

    fn changed(&self, list: ListKind) -> BoxFuture<'_, ()> {
        tell_changed(&*self.link, &self.changes, list);
        Box::pin(async {})
    }
}
