//! MCP over streamable HTTP: one endpoint, for clients that show the bearer token.
//!
//! Framing, event streams and the sessions of older revisions are the SDK's; who may come in is
//! settled here, before it sees a byte: the pages that may call, the token, and the names this server goes by.

mod connections;
mod door;
mod ended;
mod form;
mod handler;
mod link;
mod once;
mod pages;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::port::Backend;
use door::Door;
use ended::Minted;
use handler::Handler;
use pages::Pages;

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// The largest request: as on stdio.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Names of this machine as seen from itself.
const LOOPBACK: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// How to serve.
#[derive(Clone)]
pub struct HttpConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What clients must send as `Authorization: Bearer …`. `None` lets everybody in who reaches a
    /// loopback address: for fixtures.
    pub token: Option<String>,
    /// Names beside those of loopback that clients may call this server by (`Host`).
    pub hosts: Vec<String>,
    /// Origins beside those of loopback whose pages may call (`https://app.example.com:443`).
    pub origins: Vec<String>,
}

impl std::fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let token = self.token.as_ref().map(|_| "…");
        f.debug_struct("HttpConfig").field("listen", &self.listen).field("token", &token).finish_non_exhaustive()
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    app: Router,
    address: SocketAddr,
    stop: CancellationToken,
}

impl HttpServer {
    /// Listens. Clients can connect from here on; they are answered by [`HttpServer::run`].
    pub async fn bind(backend: Arc<dyn Backend>, config: HttpConfig) -> io::Result<HttpServer> {
        if config.token.is_none() && !config.listen.ip().is_loopback() {
            let why = "without a token only a loopback address is served";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut origins: Vec<String> =
            LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]).collect();
        origins.extend(config.origins);
        let pages = Pages::new(origins.iter().map(String::as_str)).map_err(|none| {
            let why = format!(
                "{none:?} is no origin of pages: write SCHEME://HOST:PORT, such as https://app.example.com:443"
            );
            io::Error::new(io::ErrorKind::InvalidInput, why)
        })?;
        let listener = TcpListener::bind(config.listen).await?;
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let door = Arc::new(Door::new(config.token.as_deref()));
        let engine = Arc::new(Engine::new(backend));
        let caller = Arc::clone(door.caller());
        let mut hosts: Vec<String> = LOOPBACK.iter().map(|host| (*host).to_owned()).collect();
        if !address.ip().is_loopback() && !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        hosts.extend(config.hosts);
        // Origins are settled by `pages`: a second reading of them, by other rules, could refuse what those let in.
        let sdk = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_max_request_body_bytes(MAX_BODY_BYTES)
            .with_cancellation_token(stop.clone());
        let minted = Arc::new(Minted::new(Arc::clone(&engine), Arc::clone(&caller)));
        let all = Arc::clone(&minted);
        let service = StreamableHttpService::new(
            move || Ok(Handler::new(Arc::clone(&engine), Arc::clone(&caller), Arc::clone(&all))),
            Arc::new(LocalSessionManager::default()),
            sdk,
        );
        // The last is the first that sees a request.
        let app = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(Arc::new(once::Running::default()), once::admit))
            .layer(middleware::from_fn_with_state(minted, ended::attend))
            .layer(middleware::from_fn(form::fit))
            .layer(middleware::from_fn_with_state(door, door::enter))
            .layer(middleware::from_fn_with_state(Arc::new(pages), pages::admit));
        Ok(HttpServer { listener, app, address, stop })
    }

    /// What clients connect to.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves; calls that run then are cancelled.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let token = self.stop;
        // Streams that wait for news would keep the server up for ever.
        connections::serve(self.listener, self.app, stop, move || token.cancel()).await
    }
}
