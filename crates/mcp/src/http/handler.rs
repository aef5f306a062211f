//! The SDK's handler: each of its methods hands its request to the engine.

#![expect(deprecated, reason = "the SDK marks what 2026-07-28 dropped; older revisions still have it")]

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::Cancel;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, DiscoverResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::broadcast::error::RecvError;

use crate::engine::{Call, Engine, Extra};
use crate::http::ended::Minted;
use crate::http::link::{link, revision};
use crate::port::{ListKind, Object, Session};
use crate::render::{META_SESSION, SESSION_ARGUMENT};
use crate::revision::{Revision, SPOKEN};

/// One for each session of an older revision, one for each request of a newer.
pub(crate) struct Handler {
    engine: Arc<Engine>,
    caller: Arc<str>,
    all: Arc<Minted>,
    /// The handle that was minted in this session of the transport, for clients that do not pass
    /// it on: in revisions with sessions the session says as much as the argument.
    minted: Mutex<Option<String>>,
}

impl Handler {
    pub(crate) fn new(engine: Arc<Engine>, caller: Arc<str>, all: Arc<Minted>) -> Handler {
        Handler { engine, caller, all, minted: Mutex::default() }
    }

    fn session(&self, handle: Option<String>) -> Session {
        let handle = handle.or_else(|| self.minted.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Session::Handle { caller: Arc::clone(&self.caller), handle }
    }

    /// Has the engine's extras answer `method`.
    async fn extra(
        &self,
        method: &str,
        params: impl Serialize,
        context: RequestContext<RoleServer>,
    ) -> Result<Extra, ErrorData> {
        let params = match serde_json::to_value(params) {
            Ok(Value::Object(params)) => params,
            _ => Object::new(),
        };
        let (link, mouth) = link(&context);
        mouth.attend(self.engine.extra(method, params, &self.caller, link)).await
    }

    /// The same, where the answer cannot be a question.
    async fn plain<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
        context: RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        match self.extra(method, params, context).await? {
            Extra::Result(result) => typed(result),
            Extra::Input(_) => Err(ErrorData::internal_error(format!("{method} cannot ask"), None)),
        }
    }
}

fn typed<T: DeserializeOwned>(result: Object) -> Result<T, ErrorData> {
    serde_json::from_value(Value::Object(result)).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl Drop for Handler {
    fn drop(&mut self) {
        if let Some(handle) = self.minted.get_mut().unwrap_or_else(PoisonError::into_inner) {
            self.all.forget(handle);
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.engine.hello(Revision::NEWEST_WITH_HANDSHAKE)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(SPOKEN)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        Ok(self.engine.discover())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let handle = context.meta.0.0.get(META_SESSION).and_then(Value::as_str).map(str::to_owned);
        self.engine.list(&self.session(handle), cursor.as_deref(), revision(&context))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.engine.find(name, &self.session(None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut arguments = request.arguments.unwrap_or_default();
        let handle = match arguments.shift_remove(SESSION_ARGUMENT) {
            Some(Value::String(handle)) => Some(handle),
            None | Some(Value::Null) => None,
            Some(_) => {
                return Err(ErrorData::invalid_params(format!("`{SESSION_ARGUMENT}` is a string"), None));
            }
        };
        let call = Call {
            name: request.name.into_owned(),
            arguments,
            responses: request.input_responses.map(|responses| responses.into_iter().collect()),
            state: request.request_state,
        };
        let cancel = Cancel::default();
        let (link, mouth) = link(&context);
        let work = self.engine.call(call, self.session(handle), cancel.clone(), link);
        let stopped = async {
            let mut work = std::pin::pin!(work);
            tokio::select! {
                response = &mut work => response,
                () = context.ct.cancelled() => {
                    cancel.cancel();
                    work.await
                }
            }
        };
        let response = mouth.attend(stopped).await?;
        if let CallToolResponse::Complete(result) = &response
            && let Some(handle) = crate::render::minted_session(result)
        {
            self.all.note(&context, handle);
            *self.minted.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.to_owned());
        }
        Ok(response)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.engine.changes();
        let sink = context.sink().clone();
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                () = context.cancelled() => return Ok(()),
            };
            // What was missed is the same news. A list that was not asked for is refused by the sink.
            match change {
                Ok(ListKind::Tools) => drop(sink.notify_tool_list_changed().await),
                Ok(ListKind::Prompts) => drop(sink.notify_prompt_list_changed().await),
                Err(RecvError::Lagged(_)) => {
                    drop(sink.notify_tool_list_changed().await);
                    drop(sink.notify_prompt_list_changed().await);
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.plain("completion/complete", request, context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.plain::<Value>("logging/setLevel", request, context).await.map(drop)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.plain("prompts/list", request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.extra("prompts/get", request, context).await? {
            Extra::Result(result) => typed(result).map(GetPromptResponse::Complete),
            Extra::Input(input) => Ok(GetPromptResponse::InputRequired(input)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.plain("resources/list", request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.plain("resources/templates/list", request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.extra("resources/read", request, context).await? {
            Extra::Result(result) => typed(result).map(ReadResourceResponse::Complete),
            Extra::Input(input) => Ok(ReadResourceResponse::InputRequired(input)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.plain::<Value>("resources/subscribe", request, context).await.map(drop)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.plain::<Value>("resources/unsubscribe", request, context).await.map(drop)
    }
}
