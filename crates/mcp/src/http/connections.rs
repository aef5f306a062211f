//! Connections: so many at once, each with so long to say what it wants, and none that keeps the server from ending.
//!
//! Whoever reaches the port can open one, also without the token: without bounds they would use up every descriptor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt::set_tcp_user_timeout;
use rustix::process::{Resource, getrlimit};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// How long a request's head may take, and how long a connection may have none.
const HEAD: Duration = Duration::from_secs(30);
/// How long an answer may lie unread.
const UNREAD: Duration = Duration::from_secs(60);
/// How long what is under way when the server ends may take to end, too.
const GRACE: Duration = Duration::from_secs(2);
/// When to try again where the system has no descriptor left.
const AGAIN: Duration = Duration::from_millis(100);

/// A quarter of the descriptors: calls need most of them.
fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok());
    (files.unwrap_or(usize::MAX) / 4).clamp(8, 1024)
}

/// Answers connections until `stop` resolves, and then says so to `ending`.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Router,
    stop: impl Future<Output = ()>,
    ending: impl FnOnce(),
) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(most()));
    let under_way = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Who finds no room waits in the system's own queue.
        let place = tokio::select! {
            place = Arc::clone(&room).acquire_owned() => place.map_err(io::Error::other)?,
            () = &mut stop => break,
        };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // A client that went away, or no descriptor: both pass.
                Err(_) => {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        // What is said at once is heard at once, and who reads nothing is let go of.
        let _ = stream.set_nodelay(true);
        let _ = set_tcp_user_timeout(&stream, UNREAD.as_millis() as u32);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD);
        let served = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
        let served = under_way.watch(served);
        tokio::spawn(async move {
            // A client that breaks off has nobody to hear of it.
            let _ = served.await;
            drop(place);
        });
    }
    drop(listener);
    ending();
    let _ = tokio::time::timeout(GRACE, under_way.shutdown()).await;
    Ok(())
}
