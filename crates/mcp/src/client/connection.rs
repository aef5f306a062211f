//! A connection that is ready: lists, calls and reads, each within its time, cancelled where its caller goes away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_contract::{Cancel, ToolError, code, text};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorCode, InputRequiredResult,
    InputResponses, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequest, ReadResourceRequestParams, ReadResourceResult, RequestId, Resource, ServerResult,
    SubscriptionFilter, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError};
use serde::Serialize;
use serde_json::{Map, Value};

use super::ask::Caller;
use super::handler::Handler;
use super::pipes::MOST_BYTES;
use super::server::Server;

/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// How many times its quiet time a call may take that keeps giving signs of life.
const MOST_TIMES: u32 = 20;
/// Rounds of input that one call may want.
const MOST_ROUNDS: usize = 10;
/// Pages of a list that are asked for: a server whose list has no end has none.
const MOST_PAGES: usize = 50;
/// Tools and resources of one server.
const MOST_LISTED: usize = 2_000;
/// Bytes of a list, all pages together: as much as one message may have.
const MOST_LISTED_BYTES: usize = MOST_BYTES;

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    running: RunningService<RoleClient, Handler>,
    handler: Handler,
}

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// Its own name and version.
    pub title: String,
    /// The revision that is spoken with it.
    pub revision: String,
    /// How it wants to be used, cut and made harmless.
    pub instructions: Option<String>,
}

impl Connection {
    pub(crate) fn new(running: RunningService<RoleClient, Handler>, handler: Handler) -> Connection {
        Connection { running, handler }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.handler.server
    }

    /// Whether it is of no use any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.running.is_closed() || self.running.peer().is_transport_closed()
    }

    /// What the server says of itself.
    pub(crate) fn about(&self) -> About {
        let Some(info) = self.running.peer().peer_info() else { return About::default() };
        let title = info.server_info.as_ref().map(|own| format!("{} {}", own.name, own.version)).unwrap_or_default();
        About {
            title: text::preview(&text::harmless(&title), 80),
            revision: info.protocol_version.as_str().to_owned(),
            instructions: info.instructions.as_deref().map(super::answer::described),
        }
    }

    fn is_stateless(&self) -> bool {
        let info = self.running.peer().peer_info();
        info.is_some_and(|info| info.protocol_version >= ProtocolVersion::V_2026_07_28)
    }

    /// Hears of changes of the list of tools, where the server has to be asked to tell.
    pub(crate) fn watch(&self) {
        let tells =
            self.running.peer().peer_info().is_some_and(|info| {
                info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true))
            });
        if !tells || !self.is_stateless() {
            return;
        }
        let (peer, on_change) = (self.running.peer().clone(), Arc::clone(&self.handler.on_change));
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            // A server that promised and does not tell is asked again when it is connected to anew.
            let Ok(mut changes) = peer.listen(filter).await else { return };
            while let Ok(Some(_)) = changes.next().await {
                on_change();
            }
        });
    }

    /// All tools, page by page.
    pub(crate) async fn tools(&self, caller: &Arc<Caller>, cancel: &Cancel) -> Result<Vec<Tool>, ToolError> {
        let has = self.running.peer().peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        let request = |page| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let read = |result| match result {
            ServerResult::ListToolsResult(page) => Some((page.tools, page.next_cursor)),
            _ => None,
        };
        if has { self.pages(caller, cancel, request, read).await } else { Ok(Vec::new()) }
    }

    /// All resources, page by page.
    pub(crate) async fn resources(&self, caller: &Arc<Caller>, cancel: &Cancel) -> Result<Vec<Resource>, ToolError> {
        let has = self.running.peer().peer_info().is_none_or(|info| info.capabilities.resources.is_some());
        let request = |page| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
        let read = |result| match result {
            ServerResult::ListResourcesResult(page) => Some((page.resources, page.next_cursor)),
            _ => None,
        };
        if has { self.pages(caller, cancel, request, read).await } else { Ok(Vec::new()) }
    }

    /// What a server lists, page by page, within bounds; `read` takes a page and where the next begins. All pages
    /// together have the time of one call: a server that gives pages forever gives no sign of life with them.
    async fn pages<T: Serialize>(
        &self,
        caller: &Arc<Caller>,
        cancel: &Cancel,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest,
        read: impl Fn(ServerResult) -> Option<(Vec<T>, Option<String>)>,
    ) -> Result<Vec<T>, ToolError> {
        let (began, time) = (Instant::now(), Duration::from_millis(self.server().timeout_ms));
        let listing = async {
            let (mut all, mut bytes) = (Vec::new(), 0);
            let mut cursor = None;
            for _ in 0..MOST_PAGES {
                let page = PaginatedRequestParams::default().with_cursor(cursor.take());
                let answer = self.ask(request(page), caller, cancel).await?;
                let (listed, next) = read(answer).ok_or_else(|| self.odd())?;
                bytes += listed.iter().map(size).sum::<usize>();
                if bytes > MOST_LISTED_BYTES {
                    let what = format!("lists more than {} MiB", MOST_LISTED_BYTES >> 20);
                    return Err(self.error(code::SERVER_REFUSED, &what));
                }
                all.extend(listed);
                cursor = next.filter(|_| all.len() < MOST_LISTED);
                if cursor.is_none() {
                    break;
                }
            }
            all.truncate(MOST_LISTED);
            Ok(all)
        };
        tokio::time::timeout(time, listing).await.unwrap_or_else(|_| Err(self.slow(began.elapsed())))
    }

    /// Calls a tool, by the server's own name for it.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Arc<Caller>,
        cancel: &Cancel,
    ) -> Result<CallToolResult, ToolError> {
        let _at_work = self.handler.callers.enter(caller);
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..MOST_ROUNDS {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            match self.ask(request, caller, cancel).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    (params.input_responses, params.request_state) = self.input(wanted, caller).await?;
                }
                _ => return Err(self.odd()),
            }
        }
        Err(self.endless())
    }

    /// Reads a resource.
    pub(crate) async fn read(
        &self,
        uri: &str,
        caller: &Arc<Caller>,
        cancel: &Cancel,
    ) -> Result<ReadResourceResult, ToolError> {
        let _at_work = self.handler.callers.enter(caller);
        let mut params = ReadResourceRequestParams::new(uri);
        for _ in 0..MOST_ROUNDS {
            let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params.clone()));
            match self.ask(request, caller, cancel).await? {
                ServerResult::ReadResourceResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(wanted) => {
                    (params.input_responses, params.request_state) = self.input(wanted, caller).await?;
                }
                _ => return Err(self.odd()),
            }
        }
        Err(self.endless())
    }

    async fn input(
        &self,
        wanted: InputRequiredResult,
        caller: &Caller,
    ) -> Result<(Option<InputResponses>, Option<String>), ToolError> {
        let requests = wanted.input_requests.unwrap_or_default();
        if requests.is_empty() {
            if wanted.request_state.is_none() {
                return Err(self.odd());
            }
            // It asks to be asked again; not at once.
            tokio::time::sleep(LOOK * 5).await;
        }
        let mut responses = InputResponses::new();
        for (key, request) in &requests {
            let response = self.handler.input(caller, request).await.map_err(|error| {
                let what = "wants what it is not given";
                self.error(code::SERVER_REFUSED, &format!("{what}: {}", error.message))
            })?;
            responses.insert(key.clone(), response);
        }
        Ok(((!responses.is_empty()).then_some(responses), wanted.request_state))
    }

    /// One request, within the server's time: a quiet time that signs of life begin anew.
    async fn ask(
        &self,
        request: ClientRequest,
        caller: &Arc<Caller>,
        cancel: &Cancel,
    ) -> Result<ServerResult, ToolError> {
        let quiet = Duration::from_millis(self.server().timeout_ms);
        let (began, mut quiet_since, mut stirs) = (Instant::now(), Instant::now(), caller.stirs());
        let sending = self.running.peer().send_request_with_option(request, PeerRequestOptions::no_options());
        let handle = match tokio::time::timeout(quiet, sending).await {
            Ok(sent) => sent.map_err(|error| self.failed(&error, None))?,
            Err(_) => return Err(self.slow(began.elapsed())),
        };
        caller.waits_for(handle.progress_token.clone());
        let mut pending = Pending(Some(handle));
        loop {
            let Some(handle) = &mut pending.0 else { return Err(self.odd()) };
            let id = handle.id.clone();
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    pending.0 = None;
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return answer.map_err(|error| self.failed(&error, Some(&id)));
                }
                () = tokio::time::sleep(LOOK) => {}
            }
            if cancel.is_cancelled() {
                return Err(ToolError::cancelled());
            }
            if caller.is_asked() || caller.stirs() != stirs {
                (quiet_since, stirs) = (Instant::now(), caller.stirs());
            }
            let over = !caller.is_asked() && began.elapsed() > quiet * MOST_TIMES;
            if quiet_since.elapsed() > quiet || over {
                return Err(self.slow(began.elapsed()));
            }
        }
    }

    fn error(&self, code: nika_contract::Code, what: &str) -> ToolError {
        ToolError::new(code, format!("the MCP server '{}' {what}", self.server().name))
    }

    fn odd(&self) -> ToolError {
        self.error(code::SERVER_REFUSED, "gave an answer to another question")
    }

    fn endless(&self) -> ToolError {
        self.error(code::SERVER_REFUSED, &format!("wanted input more than {MOST_ROUNDS} times"))
    }

    fn slow(&self, after: Duration) -> ToolError {
        let remarks = self.handler.health.remarks();
        self.error(code::SERVER_SLOW, &format!("did not answer within {} ms{remarks}", after.as_millis()))
            .hint(format!("`mcp.servers.{}.timeout_ms` gives it more time", self.server().name))
    }

    /// Why the request `id` failed.
    fn failed(&self, error: &ServiceError, id: Option<&RequestId>) -> ToolError {
        if let Some(error) = id.and_then(|id| self.handler.health.explanation(id)) {
            return unreached(&self.server().name, error);
        }
        let remarks = || self.handler.health.remarks();
        match error {
            ServiceError::McpError(error) => {
                let said = text::preview(&text::harmless(&error.message), 400);
                let unknown = matches!(error.code, ErrorCode::METHOD_NOT_FOUND | ErrorCode::RESOURCE_NOT_FOUND);
                let code = if unknown { code::NO_SUCH_FOREIGN } else { code::SERVER_REFUSED };
                self.error(code, &format!("refused ({}): {said}", error.code.0))
            }
            ServiceError::TransportClosed => self
                .error(code::SERVER_DIED, &format!("ended before it answered{}", remarks()))
                .hint("it is started again for the next call"),
            ServiceError::TransportSend(error) => {
                let why = text::preview(&text::harmless(&text::causes(error.error.as_ref())), 400);
                self.error(code::SERVER_DIED, &format!("could not be asked: {why}{}", remarks()))
            }
            ServiceError::Cancelled { .. } => self.error(code::SERVER_DIED, "gave the call up"),
            other => self.error(code::SERVER_REFUSED, &format!("cannot be understood: {other}")),
        }
    }
}

impl Connection {
    /// Why it is of no use any more.
    pub(crate) fn ended(&self) -> ToolError {
        self.failed(&ServiceError::TransportClosed, None)
    }

    /// Lets it go and waits until its program is gone.
    pub(crate) async fn close(&self) {
        self.running.cancellation_token().cancel();
        let health = self.handler.health.clone();
        let _ = tokio::task::spawn_blocking(move || health.end_process()).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let health = self.handler.health.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || health.end_process())),
            Err(_) => health.end_process(),
        }
    }
}

/// An error of the way to a server, with the server's name.
pub(crate) fn unreached(server: &str, error: ToolError) -> ToolError {
    if error.code != code::SERVER_UNREACHABLE {
        return error;
    }
    ToolError { message: format!("the MCP server '{server}' cannot be reached: {}", error.message), ..error }
}

/// Bytes of one of a list.
fn size(listed: &impl Serialize) -> usize {
    serde_json::to_vec(listed).map_or(0, |bytes| bytes.len())
}

/// A request without an answer. Dropped, it is cancelled at the server.
struct Pending(Option<RequestHandle<RoleClient>>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(handle.cancel(Some("nobody waits for it any more".to_owned())));
        }
    }
}
