//! One request on stdio: which revision it is under, and who answers it.

use std::sync::Arc;

use nika_contract::BoxFuture;
use rmcp::model::{CallToolResponse, ErrorData, ProtocolVersion, RequestId};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::engine::{Call, Extra, unknown_method};
use crate::link::{Link, notification_of};
use crate::port::{ListKind, Object, ProtocolError, Session};
use crate::render;
use crate::revision::{Revision, SPOKEN, key};
use crate::stdio::conn::{Conn, Handshake, Stop};
use crate::stdio::text::Apart;

/// A request that came.
pub(crate) struct Incoming {
    pub(crate) conn: Arc<Conn>,
    pub(crate) id: RequestId,
    pub(crate) stop: Stop,
}

/// Under what it came.
struct Setting {
    revision: Revision,
    capabilities: Capabilities,
}

/// What the client declared, wherever that is kept.
enum Capabilities {
    Handshake(Arc<Handshake>),
    Own(Object),
}

/// Room for a small result.
const SMALL_BYTES: usize = 512;

impl Incoming {
    /// Answers it.
    pub(crate) async fn serve(self, method: String, mut params: Object) {
        let meta = match params.shift_remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Object::new(),
        };
        let names_revision = meta.contains_key(key::PROTOCOL_VERSION);
        let answered = match method.as_str() {
            "initialize" if !names_revision => self.initialize(&params),
            "ping" if !names_revision => {
                self.conn.out.result(&self.id, &json!({}), SMALL_BYTES);
                Ok(())
            }
            _ => match self.setting(&meta) {
                Ok(setting) => self.dispatch(&method, params, meta, setting).await,
                Err(error) => Err(error),
            },
        };
        // A cancelled request gets no answer: the client has forgotten its id.
        if let Err(error) = answered
            && !self.stop.cancel.is_cancelled()
        {
            self.conn.out.error(Some(self.id), error);
        }
    }

    fn initialize(&self, params: &Object) -> Result<(), ErrorData> {
        let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(ErrorData::invalid_params("`protocolVersion` is missing", None));
        };
        let revision = match Revision::parse(wanted) {
            Some(revision) if !revision.is_stateless() => revision,
            _ => Revision::NEWEST_WITH_HANDSHAKE,
        };
        let capabilities = match params.get("capabilities") {
            Some(Value::Object(capabilities)) => capabilities.clone(),
            _ => Object::new(),
        };
        self.conn.shake(Handshake { revision, capabilities });
        self.conn.out.result(&self.id, &self.conn.engine.hello(revision), 4 * SMALL_BYTES);
        Ok(())
    }

    /// What the request itself says comes first, then the handshake.
    fn setting(&self, meta: &Object) -> Result<Setting, ErrorData> {
        let own = match meta.get(key::CLIENT_CAPABILITIES) {
            Some(Value::Object(capabilities)) => Some(capabilities.clone()),
            _ => None,
        };
        let handshake = self.conn.handshake();
        let revision = match (meta.get(key::PROTOCOL_VERSION).and_then(Value::as_str), &handshake) {
            (Some(named), _) => Revision::parse(named).ok_or_else(|| unspoken(named))?,
            (None, Some(handshake)) => handshake.revision,
            (None, None) => {
                let why = format!("say `initialize` first, or name the revision in _meta[{:?}]", key::PROTOCOL_VERSION);
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        let capabilities = match (own, handshake) {
            (Some(own), _) => Capabilities::Own(own),
            (None, _) if revision.is_stateless() => {
                let why = format!("_meta[{:?}] is missing or no object", key::CLIENT_CAPABILITIES);
                return Err(ErrorData::invalid_params(why, None));
            }
            (None, Some(handshake)) => Capabilities::Handshake(handshake),
            (None, None) => Capabilities::Own(Object::new()),
        };
        Ok(Setting { revision, capabilities })
    }

    async fn dispatch(&self, method: &str, params: Object, meta: Object, setting: Setting) -> Result<(), ErrorData> {
        let revision = setting.revision;
        let link = || {
            let link: Arc<dyn Link> =
                Arc::new(StdioLink { conn: Arc::clone(&self.conn), stop: self.stop.clone(), meta, setting });
            link
        };
        let out = &self.conn.out;
        match method {
            "tools/call" => self.call(params, link()).await,
            "tools/list" => {
                let cursor = match params.get("cursor") {
                    None | Some(Value::Null) => None,
                    Some(Value::String(cursor)) => Some(cursor.as_str()),
                    Some(_) => return Err(ErrorData::invalid_params("`cursor` is a string", None)),
                };
                let list = self.conn.engine.list(&Session::Process, cursor, revision)?;
                out.result(&self.id, &list, 16 * 1024);
                Ok(())
            }
            "server/discover" if revision.is_stateless() => {
                out.result(&self.id, &self.conn.engine.discover(), 4 * SMALL_BYTES);
                Ok(())
            }
            "subscriptions/listen" if revision.is_stateless() => {
                self.listen(&params).await;
                Ok(())
            }
            "initialize" | "ping" | "server/discover" | "subscriptions/listen" => Err(unknown_method(method)),
            _ => {
                let answer = self.conn.engine.extra(method, params, "", link()).await?;
                if !self.stop.cancel.is_cancelled() {
                    match answer {
                        Extra::Result(result) => out.result(&self.id, &result, SMALL_BYTES),
                        Extra::Input(input) => out.result(&self.id, &input, SMALL_BYTES),
                    }
                }
                Ok(())
            }
        }
    }

    async fn call(&self, params: Object, link: Arc<dyn Link>) -> Result<(), ErrorData> {
        let call = Call::of(params)?;
        let cancel = self.stop.cancel.clone();
        let response = self.conn.engine.call(call, Session::Process, cancel, link).await?;
        if self.stop.cancel.is_cancelled() {
            return Ok(());
        }
        match response {
            CallToolResponse::Complete(mut result) => {
                let size = render::size_hint(&result);
                match Apart::take(&mut result) {
                    Some(apart) => self.conn.out.result_with(&self.id, &result, &apart, size),
                    None => self.conn.out.result(&self.id, &result, size),
                }
                Ok(())
            }
            CallToolResponse::InputRequired(input) => {
                self.conn.out.result(&self.id, &input, 4 * SMALL_BYTES);
                Ok(())
            }
            _ => Err(ErrorData::internal_error("the engine makes no tasks", None)),
        }
    }

    /// Tells of changed lists until the client cancels: there is no result.
    async fn listen(&self, params: &Object) {
        let mut changes = self.conn.engine.changes();
        let wanted = |name: &str| params.get("notifications").is_some_and(|wanted| wanted[name] == true);
        let prompts_offered = self.conn.engine.hello(Revision::V2026_07_28).capabilities.prompts.is_some();
        let accepted = [
            (ListKind::Tools, "toolsListChanged", wanted("toolsListChanged")),
            (ListKind::Prompts, "promptsListChanged", prompts_offered && wanted("promptsListChanged")),
        ];
        let tagged = |mut params: Object| {
            let id = self.id.clone().into_json_value();
            params.insert("_meta".to_owned(), json!({ key::SUBSCRIPTION_ID: id }));
            params
        };
        let filter: Object =
            accepted.iter().filter(|row| row.2).map(|row| (row.1.to_owned(), Value::Bool(true))).collect();
        let acknowledged = Object::from_iter([("notifications".to_owned(), Value::Object(filter))]);
        self.conn.out.notification("notifications/subscriptions/acknowledged", tagged(acknowledged));
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = self.stop.token.cancelled() => return,
            };
            // What was missed is the same news.
            let lists: &[ListKind] = match &change {
                Ok(list) => std::slice::from_ref(list),
                Err(RecvError::Lagged(_)) => &[ListKind::Tools, ListKind::Prompts],
                Err(RecvError::Closed) => return,
            };
            for list in lists {
                if accepted.iter().any(|row| row.0 == *list && row.2) {
                    self.conn.out.notification(notification_of(*list), tagged(Object::new()));
                }
            }
        }
    }
}

fn unspoken(named: &str) -> ErrorData {
    match serde_json::from_value::<ProtocolVersion>(named.into()) {
        Ok(named) => ErrorData::unsupported_protocol_version(named, SPOKEN),
        Err(error) => ErrorData::invalid_params(error.to_string(), None),
    }
}

/// The way back.
struct StdioLink {
    conn: Arc<Conn>,
    stop: Stop,
    meta: Object,
    setting: Setting,
}

impl Link for StdioLink {
    fn revision(&self) -> Revision {
        self.setting.revision
    }

    fn meta(&self) -> &Object {
        &self.meta
    }

    fn capabilities(&self) -> &Object {
        match &self.setting.capabilities {
            Capabilities::Handshake(handshake) => &handshake.capabilities,
            Capabilities::Own(capabilities) => capabilities,
        }
    }

    fn post(&self, method: &'static str, params: Object) {
        if !self.stop.cancel.is_cancelled() {
            self.conn.out.notification(method, params);
        }
    }

    fn ask<'a>(&'a self, method: &'a str, params: Object) -> BoxFuture<'a, Result<Value, ProtocolError>> {
        if self.setting.revision.is_stateless() {
            let message = "this revision has no requests to the client".to_owned();
            return Box::pin(async { Err(ProtocolError { code: -32600, message, data: None }) });
        }
        Box::pin(self.conn.ask(method, params))
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.stop.token.cancelled())
    }
}
