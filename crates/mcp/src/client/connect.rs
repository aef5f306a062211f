//! From what configuration says of a server to a connection that is ready: over pipes, streamable HTTP or server-sent
//! events, in the newest revision that both speak.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{ToolError, code, text};
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::IntoTransport;

use super::ask::{Callers, Sampler};
use super::authorizer::Authorizers;
use super::connection::{Connection, unreached};
use super::handler::{Handler, OnChange};
use super::health::Health;
use super::http::{self, Http};
use super::launch::Launch;
use super::pipes::Pipes;
use super::server::{Reach, Server};
use super::sse::EventStream;

/// What connections are made with.
#[derive(Debug, Clone)]
pub struct Ways {
    /// Starts programs.
    pub launch: Arc<dyn Launch>,
    /// Says who we are to addresses.
    pub authorizers: Arc<dyn Authorizers>,
    /// The HTTP client.
    pub http: Arc<Http>,
    /// Asks our model for servers that may.
    pub sampler: Option<Arc<dyn Sampler>>,
    /// The workspace's directories, as URIs.
    pub roots: Arc<Vec<String>>,
}

/// Which handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shake {
    /// Ask which revisions are spoken, and take the handshake of before where that is not understood.
    Newest,
    /// The handshake of before.
    Initialize,
}

/// Why a connection did not come to be.
struct Failed {
    error: ToolError,
    /// It hung up on what it did not understand, or answered it with something else.
    hung_up: bool,
}

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Failed {
        Failed { error, hung_up: false }
    }
}

/// Connects to `server` within its time.
pub(crate) async fn connect(server: &Arc<Server>, ways: &Ways, on_change: OnChange) -> Result<Connection, ToolError> {
    match within(server, ways, Arc::clone(&on_change), Shake::Newest).await {
        Ok(connection) => Ok(connection),
        // Servers of before may end at a message that comes before `initialize`, or answer any message with nothing.
        Err(Failed { hung_up: true, error }) => match within(server, ways, on_change, Shake::Initialize).await {
            Ok(connection) => Ok(connection),
            Err(Failed { hung_up: true, .. }) => Err(error),
            Err(failed) => Err(failed.error),
        },
        Err(failed) => Err(failed.error),
    }
}

async fn within(server: &Arc<Server>, ways: &Ways, on_change: OnChange, shake: Shake) -> Result<Connection, Failed> {
    let health = Health::default();
    let handler = Handler {
        server: Arc::clone(server),
        callers: Arc::new(Callers::default()),
        roots: Arc::clone(&ways.roots),
        sampler: ways.sampler.clone(),
        health: health.clone(),
        on_change,
    };
    let time = Duration::from_millis(server.connect_timeout_ms);
    let ended = tokio::time::timeout(time, attempt(server, ways, handler, shake)).await;
    let failed = match ended {
        Ok(Ok(connection)) => return Ok(connection),
        Ok(Err(failed)) => failed,
        Err(_) => {
            let message = format!(
                "the MCP server '{}' was not ready within {} ms{}",
                server.name,
                server.connect_timeout_ms,
                health.remarks()
            );
            let hint = format!("`mcp.servers.{}.connect_timeout_ms` gives it more time", server.name);
            ToolError::new(code::SERVER_SLOW, message).hint(hint).into()
        }
    };
    let process = tokio::task::spawn_blocking(move || health.end_process());
    let _ = process.await;
    Err(failed)
}

async fn attempt(server: &Arc<Server>, ways: &Ways, handler: Handler, shake: Shake) -> Result<Connection, Failed> {
    let health = handler.health.clone();
    let running = match &server.reach {
        Reach::Program(program) => {
            let launched = ways.launch.launch(server, program).await?;
            serve(handler.clone(), Pipes::new(launched, health.clone()), shake).await
        }
        Reach::Http(address) => {
            let authorizer = ways.authorizers.of(server);
            let transport = http::transport(ways.http.client()?, &address.url, authorizer, health.clone());
            serve(handler.clone(), transport, shake).await
        }
        Reach::Sse(address) => {
            let authorizer = ways.authorizers.of(server);
            let opened = EventStream::open(ways.http.client()?, &address.url, authorizer, health.clone()).await;
            let stream = opened.map_err(|error| unreached(&server.name, error))?;
            // No server that speaks this transport speaks a revision without the handshake.
            serve(handler.clone(), stream, Shake::Initialize).await
        }
    };
    match running {
        Ok(running) => {
            // What failed on the way and was overcome explains nothing that comes.
            health.last_explanation();
            Ok(Connection::new(running, handler))
        }
        Err(error) => Err(explain(server, &error, &health)),
    }
}

async fn serve<T, E, A>(
    handler: Handler,
    transport: T,
    shake: Shake,
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = match shake {
        Shake::Newest => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
        Shake::Initialize => ClientLifecycleMode::Initialize,
    };
    // The SDK's futures are large, and this one lives on every caller's stack otherwise.
    Box::pin(serve_client_with_lifecycle(handler, transport, lifecycle)).await
}

fn explain(server: &Server, error: &ClientInitializeError, health: &Health) -> Failed {
    let name = &server.name;
    if let Some(error) = health.last_explanation() {
        return unreached(name, error).into();
    }
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        let message = format!("the MCP server '{name}' wants to know who asks");
        return ToolError::new(code::SERVER_UNAUTHORISED, message)
            .hint(format!("`nika mcp login {name}`, or `headers` in its configuration, say so"))
            .into();
    }
    let why = match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it was ready".to_owned(),
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let spoken: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            format!("it speaks no revision that is spoken here, but {}", spoken.join(", "))
        }
        ClientInitializeError::TransportError { error, .. } => text::causes(error.error.as_ref()),
        other => text::causes(other),
    };
    let why = nika_contract::text::preview(&nika_contract::text::harmless(&why), 400);
    let message = format!("the MCP server '{name}' cannot be used: {why}{}", health.remarks());
    Failed {
        error: ToolError::new(code::SERVER_UNREACHABLE, message),
        hung_up: matches!(
            error,
            ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::ExpectedInitResult(_)
        ),
    }
}
