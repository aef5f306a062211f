//! A connection over a program's pipes: a message a line.
//!
//! Two tasks read and one writes, so that a server that reads nothing, floods what it complains of, or says things that
//! are no messages holds up nobody. A line over [`MOST_BYTES`] ends the connection: the rest of it would have to be
//! waited for.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::health::Health;
use super::launch::Launched;

type Incoming = RxJsonRpcMessage<RoleClient>;
type Outgoing = TxJsonRpcMessage<RoleClient>;

/// The longest message that is taken.
pub(crate) const MOST_BYTES: usize = 16 << 20;
/// Messages that wait to be written: a server that takes none of so many takes none.
const QUEUED: usize = 64;
/// How long a server may ignore the question which revisions it speaks. Those of before 2026-07-28 should answer it
/// with an error, and some are silent.
const PROBE_PATIENCE: Duration = Duration::from_secs(3);

/// The connection.
#[derive(Debug)]
pub(crate) struct Pipes {
    out: mpsc::Sender<Vec<u8>>,
    messages: mpsc::Receiver<Incoming>,
    /// Weak, so that the end of the reader is the end of the messages.
    answers: mpsc::WeakSender<Incoming>,
    probe: Arc<Mutex<Probe>>,
    tasks: Vec<JoinHandle<()>>,
    health: Health,
}

/// The question which revisions a server speaks.
#[derive(Debug, Default)]
struct Probe {
    open: Option<RequestId>,
    given_up: Option<RequestId>,
}

impl Pipes {
    /// Talks to what was launched.
    pub(crate) fn new(launched: Launched, health: Health) -> Pipes {
        let Launched { stdin, stdout, stderr, process } = launched;
        health.holds(process);
        let (out, queue) = mpsc::channel(QUEUED);
        let (answers, messages) = mpsc::channel(QUEUED);
        let probe = Arc::new(Mutex::new(Probe::default()));
        let weak = answers.downgrade();
        let tasks = vec![
            tokio::spawn(write(stdin, queue)),
            tokio::spawn(read(stdout, answers, Arc::clone(&probe), health.clone())),
            tokio::spawn(listen(stderr, health.clone())),
        ];
        Pipes { out, messages, answers: weak, probe, tasks, health }
    }

    /// Answers the open question in the server's place when it stays silent.
    fn mind(&mut self, id: &RequestId) {
        locked(&self.probe).open = Some(id.clone());
        let (id, probe, answers) = (id.clone(), Arc::clone(&self.probe), self.answers.clone());
        self.tasks.push(tokio::spawn(async move {
            tokio::time::sleep(PROBE_PATIENCE).await;
            let silent = {
                let mut probe = locked(&probe);
                let silent = probe.open.as_ref() == Some(&id);
                if silent {
                    probe.given_up = probe.open.take();
                }
                silent
            };
            if let Some(answers) = answers.upgrade().filter(|_| silent) {
                let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
                let _ = answers.send(Incoming::error(error, Some(id))).await;
            }
        }));
    }
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(&mut self, message: Outgoing) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.mind(&request.id);
        }
        let sent = serde_json::to_vec(&message).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.out.try_send(line).map_err(|_| {
                self.health.breaks("it takes no more messages");
                io::Error::from(io::ErrorKind::BrokenPipe)
            })
        });
        async { sent }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.tasks.drain(..).for_each(|task| task.abort());
        Ok(())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.tasks.drain(..).for_each(|task| task.abort());
    }
}

fn locked(probe: &Mutex<Probe>) -> std::sync::MutexGuard<'_, Probe> {
    probe.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn write(mut stdin: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = queue.recv().await {
        // Whoever does not read has ended, or will be found to be silent: the reader says which.
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, health: Health) {
    let mut piece = vec![0; 8 << 10];
    while let Ok(read @ 1..) = stderr.read(&mut piece).await {
        health.complains(&piece[..read]);
    }
}

async fn read(
    mut stdout: impl AsyncRead + Unpin,
    answers: mpsc::Sender<Incoming>,
    probe: Arc<Mutex<Probe>>,
    health: Health,
) {
    let mut line = Vec::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        let read = match stdout.read(&mut piece).await {
            Ok(0) | Err(_) => {
                health.breaks("it closed its output");
                return;
            }
            Ok(read) => read,
        };
        for part in piece[..read].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.len() > MOST_BYTES {
                health.breaks(format!("it sent a message of more than {} MiB", MOST_BYTES >> 20));
                return;
            }
            if part.last() != Some(&b'\n') {
                continue;
            }
            for message in messages(&line, &health) {
                if !is_late(&message, &probe) && answers.send(message).await.is_err() {
                    return;
                }
            }
            line.clear();
        }
    }
}

/// The messages of a line: one, or the several of a batch, as 2025-03-26 has them.
fn messages(line: &[u8], health: &Health) -> Vec<Incoming> {
    let line = line.trim_ascii();
    let parsed = match line.first() {
        None => return Vec::new(),
        Some(b'[') => serde_json::from_slice(line),
        Some(_) => serde_json::from_slice(line).map(|message| vec![message]),
    };
    parsed.unwrap_or_else(|_| {
        health.garbled(line);
        Vec::new()
    })
}

/// Whether this answers the question that was given up.
fn is_late(message: &Incoming, probe: &Mutex<Probe>) -> bool {
    let id = match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    };
    let mut probe = locked(probe);
    if id.is_some() && id == probe.open.as_ref() {
        probe.open = None;
    }
    id.is_some() && id == probe.given_up.as_ref()
}
