//! MCP over stdin and stdout.
//!
//! The SDK's service loop is left aside here, its types are not. For each request that loop decodes
//! an untagged union of two dozen shapes (copying the arguments for each try), spawns a task and
//! passes two channels: more than the whole rest of a trivial call (`examples/drive.rs` shows both,
//! side by side). Here one task reads, a call that is done at its first poll is answered without
//! another, and the answer is serialised straight into the bytes that are written.

mod conn;
mod frame;
mod out;
mod pipe;
mod request;
mod text;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::engine::Engine;
use crate::port::Backend;
use conn::Conn;
use frame::{Frame, Frames};
use out::{MAX_BACKLOG_BYTES, Out};
use pipe::Pipe;

/// How long calls may take to end after the client's last byte: a script that pipes its requests
/// in wants the answers.
const LINGER: Duration = Duration::from_secs(5);

/// How long cancelled calls may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// Serves the process's stdin and stdout until the client closes them.
///
/// Wants a current-thread runtime with I/O and time enabled: one thread is enough, and a second one
/// costs a wake-up a message.
pub async fn serve_stdio(backend: Arc<dyn Backend>) -> io::Result<()> {
    let (input, output) = (io::stdin(), io::stdout());
    serve_fds(backend, input.as_fd(), output.as_fd()).await
}

/// Serves any two descriptors: pipes, sockets, terminals, files.
pub async fn serve_fds(backend: Arc<dyn Backend>, input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<()> {
    let input = Pipe::reader(input)?;
    let out = Arc::new(Out::new(Pipe::writer(output)?));
    let conn = Arc::new(Conn::new(Arc::new(Engine::new(backend)), Arc::clone(&out)));
    let weak = Arc::downgrade(&conn);
    conn.engine.listen(Arc::new(move |text| weak.upgrade().is_some_and(|conn| conn.say(text))));
    let writer = tokio::spawn({
        let out = Arc::clone(&out);
        async move { out.drain().await }
    });
    let mut tasks = JoinSet::new();
    let ended = read_all(&input, &conn, &mut tasks).await;
    conn.input_ended();
    if ended.is_ok() {
        let lingered = tokio::time::timeout(LINGER, async {
            tokio::select! {
                () = async { while tasks.join_next().await.is_some() {} } => {}
                () = out.closed() => {}
            }
        });
        let _ = lingered.await;
    }
    conn.cancel_all();
    let _ = tokio::time::timeout(GRACE, async {
        while tasks.join_next().await.is_some() {}
        out.at_most(0).await;
    })
    .await;
    // Awaited, so that the descriptors are closed when this returns.
    tasks.shutdown().await;
    writer.abort();
    let _ = writer.await;
    ended
}

/// Reads and starts until the input ends, or nobody is there to read the answers.
async fn read_all(input: &Pipe, conn: &Arc<Conn>, tasks: &mut JoinSet<()>) -> io::Result<()> {
    let mut frames = Frames::new();
    loop {
        tokio::select! {
            biased;
            count = input.read(frames.room()) => {
                if count? == 0 {
                    if let Some(Frame::Line(line)) = frames.rest() {
                        conn.line(line, tasks);
                    }
                    return Ok(());
                }
            }
            () = conn.out.closed() => return Ok(()),
            Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
        }
        while let Some(frame) = frames.next() {
            match frame {
                Frame::Line(line) => conn.line(line, tasks),
                Frame::TooLong => conn.too_long(),
            }
            conn.out.at_most(MAX_BACKLOG_BYTES).await;
        }
        if input.is_direct() {
            // A file is always ready: the calls it holds get their turn here.
            tokio::task::yield_now().await;
        }
    }
}
