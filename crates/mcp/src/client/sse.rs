//! A connection over HTTP with server-sent events, as it was before 2025-03-26: one stream brings every message, whose
//! first event names the address that takes ours. The SDK has none of it any more; servers still do.

use std::io;
use std::sync::Arc;

use nika_contract::{ToolError, code, text};
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::authorizer::{Again, Authorizer, Refusal};
use super::events::{Event, Events};
use super::health::Health;
use super::http::{bare, header};
use super::pipes::MOST_BYTES;

type Incoming = RxJsonRpcMessage<RoleClient>;

/// How often a request is repeated for the authorizer.
const REPEATS: usize = 2;
/// Messages that wait to be heard.
const QUEUED: usize = 64;

/// The connection.
#[derive(Debug)]
pub(crate) struct EventStream {
    door: Door,
    endpoint: Url,
    messages: mpsc::Receiver<Incoming>,
    reader: JoinHandle<()>,
}

/// How requests are made.
#[derive(Debug, Clone)]
struct Door {
    client: reqwest::Client,
    authorizer: Arc<dyn Authorizer>,
    health: Health,
}

impl EventStream {
    /// Opens the stream and waits until it has named the address for messages.
    pub(crate) async fn open(
        client: reqwest::Client,
        url: &str,
        authorizer: Arc<dyn Authorizer>,
        health: Health,
    ) -> Result<EventStream, ToolError> {
        let failed = |why: String| ToolError::new(code::SERVER_UNREACHABLE, format!("{}: {why}", bare(url)));
        let base = Url::parse(url).map_err(|error| failed(error.to_string()))?;
        let door = Door { client, authorizer, health };
        let mut response = door.send(&base, None).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            return Err(failed(format!("it answers with '{kind}' and not with an event stream"))
                .hint("a server of today wants `type: http`"));
        }
        let mut events = Events::default();
        let mut early = Vec::new();
        let endpoint = loop {
            let piece = response.chunk().await.map_err(|error| failed(text::causes(&error.without_url())))?;
            let piece = piece.ok_or_else(|| failed("the stream ended before it began".to_owned()))?;
            let mut named = None;
            for event in events.take(&piece).map_err(|why| failed(why.to_owned()))? {
                match (&named, event.name.as_str()) {
                    (None, "endpoint") => named = Some(event.data),
                    // Nothing was asked yet that it could be an answer to.
                    (None, _) => {}
                    (Some(_), _) => early.push(event),
                }
            }
            if let Some(named) = named {
                break base.join(named.trim()).map_err(|error| failed(format!("its address for messages: {error}")))?;
            }
        };
        if endpoint.origin() != base.origin() {
            let endpoint = bare(endpoint.as_str());
            return Err(failed(format!("it wants its messages at {endpoint}, which is another host")));
        }
        let (send, messages) = mpsc::channel(QUEUED);
        let health = door.health.clone();
        let reader = tokio::spawn(async move {
            let why = hear(&mut response, &mut events, early, &send, &health).await;
            health.breaks(why);
        });
        Ok(EventStream { door, endpoint, messages, reader })
    }
}

/// Passes messages on until the stream ends; why it did.
async fn hear(
    response: &mut reqwest::Response,
    events: &mut Events,
    early: Vec<Event>,
    send: &mpsc::Sender<Incoming>,
    health: &Health,
) -> String {
    let mut next = early;
    loop {
        for event in next.drain(..).filter(|event| event.name == "message") {
            match serde_json::from_str(&event.data) {
                Ok(message) => {
                    if send.send(message).await.is_err() {
                        return "it was let go".to_owned();
                    }
                }
                Err(_) => health.garbled(event.data.as_bytes()),
            }
        }
        next = match response.chunk().await {
            Ok(Some(piece)) => match events.take(&piece) {
                Ok(events) => events,
                Err(why) => return why.to_owned(),
            },
            Ok(None) => return "it ended its stream".to_owned(),
            Err(error) => return text::causes(&error.without_url()),
        };
    }
}

impl Door {
    /// A message to `url`, or a look at its stream.
    async fn send(&self, url: &Url, body: Option<&[u8]>) -> Result<reqwest::Response, ToolError> {
        let unreachable =
            |why: String| ToolError::new(code::SERVER_UNREACHABLE, format!("{}: {why}", bare(url.as_str())));
        let mut repeats = 0;
        loop {
            let mut request = match body {
                None => self.client.get(url.clone()).header(ACCEPT, "text/event-stream"),
                Some(body) => {
                    self.client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_vec())
                }
            };
            for (name, value) in self.authorizer.headers(url.as_str()).await? {
                let (name, value) = header(&name, &value)?;
                request = request.header(name, value);
            }
            let response = request.send().await.map_err(|error| unreachable(text::causes(&error.without_url())))?;
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            if matches!(status.as_u16(), 401 | 403) && repeats < REPEATS {
                let values = response.headers().get_all(WWW_AUTHENTICATE).iter();
                let challenges = values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect();
                let refusal = Refusal { url: url.to_string(), status: status.as_u16(), challenges };
                if self.authorizer.refused(&refusal).await? == Again::Yes {
                    repeats += 1;
                    continue;
                }
                let message = format!("{} refuses us with status {}", bare(url.as_str()), status.as_u16());
                return Err(ToolError::new(code::SERVER_UNAUTHORISED, message)
                    .hint("`headers` of the server, or `nika mcp login`, say who you are"));
            }
            return Err(unreachable(format!("it answers with status {}", status.as_u16())));
        }
    }
}

impl Transport<RoleClient> for EventStream {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (door, endpoint) = (self.door.clone(), self.endpoint.clone());
        async move {
            let body = serde_json::to_vec(&message)?;
            match door.send(&endpoint, Some(&body)).await {
                Ok(_) => Ok(()),
                Err(error) => {
                    let said = error.to_string();
                    door.health.explains(Some(&message), error);
                    Err(io::Error::other(said))
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.reader.abort();
        Ok(())
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// The most that one event may be.
pub(crate) const MOST_EVENT_BYTES: usize = MOST_BYTES;
