//! The client's side of a connection, as the SDK wants it: what we offer, and what becomes of what a server asks or
//! tells us.

// Roots, sampling and logging are deprecated by 2026-07-28; servers of before ask for them.
#![expect(deprecated)]

use std::path::Path;
use std::sync::Arc;

use nika_contract::text;
use nika_guard::Budget;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, CreateMessageRequestMethod, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorData, Implementation, InputRequest, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};

use super::ask::{self, Caller, Callers, Sampler};
use super::health::Health;
use super::server::Server;

/// Told that a server's list of tools is another one.
pub(crate) type OnChange = Arc<dyn Fn() + Send + Sync>;

/// Answers one server.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) server: Arc<Server>,
    pub(crate) callers: Arc<Callers>,
    pub(crate) roots: Arc<Vec<String>>,
    pub(crate) sampler: Option<Arc<dyn Sampler>>,
    pub(crate) health: Health,
    pub(crate) on_change: OnChange,
}

impl std::fmt::Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handler").field("server", &self.server.name).finish_non_exhaustive()
    }
}

/// A directory as a root's URI.
pub fn root_uri(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

impl Handler {
    fn roots(&self) -> Value {
        let roots: Vec<Value> = self.roots.iter().map(|uri| json!({ "uri": uri })).collect();
        json!({ "roots": roots })
    }

    /// Asks our model for the server, on the account of the call that is at work.
    async fn sample(&self, caller: Option<&Caller>, params: &Value) -> Result<Value, ErrorData> {
        let refused = |why: String| ErrorData::invalid_request(why, None);
        let sampler = match &self.sampler {
            Some(sampler) if self.server.sampling => sampler,
            _ => return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>()),
        };
        let sample = ask::sample(&self.server.name, params).map_err(refused)?;
        let Some(caller) = caller else {
            return Err(refused("no call is at work that this could be asked for".to_owned()));
        };
        let _waits = caller.is_waited_for();
        caller.till.pay(vec![(Budget::ModelCalls, 1)]).await.map_err(|error| refused(error.message))?;
        let sampled = tokio::select! {
            sampled = sampler.sample(&sample) => sampled.map_err(refused)?,
            () = caller.till.closed() => return Err(refused("the call that this was asked for is over".to_owned())),
        };
        // What was paid for is handed over; where it was too much, the next question is refused.
        let _ = caller.till.pay(sampled.took).await;
        Ok(json!({
            "role": "assistant",
            "content": { "type": "text", "text": sampled.text },
            "model": sampled.model,
            "stopReason": if sampled.cut { "maxTokens" } else { "endTurn" },
        }))
    }

    /// What a result that needs input asks for, answered for the call that waits.
    pub(crate) async fn input(&self, caller: &Caller, request: &InputRequest) -> Result<Value, ErrorData> {
        let value = |params: Result<Value, serde_json::Error>| params.unwrap_or_default();
        match request {
            InputRequest::Elicitation(request) => {
                Ok(ask::elicit(caller, &self.server.name, &value(serde_json::to_value(&request.params))).await)
            }
            InputRequest::CreateMessage(request) => {
                self.sample(Some(caller), &value(serde_json::to_value(&request.params))).await
            }
            InputRequest::ListRoots(_) => Ok(self.roots()),
            _ => Err(ErrorData::invalid_request("this input is not known here", None)),
        }
    }
}

/// One of our values as one of the SDK's; both are of the same specification.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut offered = json!({ "elicitation": { "form": {}, "url": {} }, "roots": {} });
        if self.server.sampling && self.sampler.is_some() {
            offered["sampling"] = json!({});
        }
        let capabilities = serde_json::from_value(offered).unwrap_or_default();
        // Of the handshake; where there is none, each request says its own.
        ClientConfig::new(capabilities, Implementation::new("nika", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(&params).unwrap_or_default();
        typed(self.callers.elicit(&self.server.name, &params).await)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let caller = self.callers.asked();
        typed(self.sample(caller.as_deref(), &serde_json::to_value(&params).unwrap_or_default()).await?)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        typed(self.roots())
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let what = params.message.as_deref().unwrap_or("working");
        let what = text::preview(&text::harmless(what), 120);
        self.callers.progress(&params.progress_token, params.progress, params.total, &what);
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let said = match &params.data {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.health.complains(format!("{}\n", text::preview(&said, 400)).as_bytes());
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        (self.on_change)();
    }
}
