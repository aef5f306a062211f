//! Models behind a network: every provider that the library `genai` speaks to, behind our own trait.
//!
//! The library is not seen outside of this directory. What it leaves to its user is done here: it reads no
//! environment (each request names address, key and model), a stream that breaks off is an error, a server
//! that does not stream is asked once more without, and thinking goes back exactly as it came.

mod answer;
mod ask;
mod client;
mod fault;
mod frames;
mod kept;
mod manner;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use futures_core::Stream;
use genai::chat::{ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, StreamEnd};
use genai::resolver::{AuthData, Endpoint as Address};
use genai::{Headers, ModelIden, ModelSpec, ServiceTarget};
use nika_contract::{BoxFuture, Clock, ToolError};
use serde_json::Value;

use self::answer::Came;
use self::frames::Frames;
use super::endpoint::{Adapter, Endpoint, Patience, Proxies, base};
use super::{Answered, Asking, Kind, Model, ModelError, Piece, Provider, Sink};

/// A model behind a network.
#[derive(Debug)]
pub struct Wire {
    endpoint: Endpoint,
    proxies: Proxies,
    patience: Patience,
    clock: Arc<dyn Clock>,
    client: OnceLock<Result<genai::Client, ModelError>>,
    /// How sure it is that the server does not stream; from [`UNSTREAMED`] on it is asked for whole answers.
    unstreamed: AtomicUsize,
    /// How much of the model's thinking is asked for, as a [`Seen`].
    seen: AtomicU8,
}

/// Sure enough: one answer that was no stream at all, or two that lacked their end. One alone may be an accident.
const UNSTREAMED: usize = 2;

/// How much of a model's thinking a request asks for. Not every model gives all, and some refuse to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Its words, and what has to go back.
    Words,
    /// What has to go back.
    Signatures,
    /// Nothing.
    Nothing,
}

impl Seen {
    fn at(number: u8) -> Seen {
        [Seen::Words, Seen::Signatures].get(usize::from(number)).copied().unwrap_or(Seen::Nothing)
    }
}

impl Wire {
    /// Checks the address; nothing is connected before the first request.
    pub fn new(
        mut endpoint: Endpoint,
        proxies: Proxies,
        patience: Patience,
        clock: Arc<dyn Clock>,
    ) -> Result<Wire, ToolError> {
        endpoint.address = base(endpoint.adapter, &endpoint.address)?;
        let (client, unstreamed, seen) = (OnceLock::new(), AtomicUsize::new(0), AtomicU8::new(Seen::Words as u8));
        Ok(Wire { endpoint, proxies, patience, clock, client, unstreamed, seen })
    }

    fn client(&self) -> Result<&genai::Client, ModelError> {
        let built = self.client.get_or_init(|| {
            let client = client::build(&self.endpoint.address, &self.proxies, self.patience)?;
            genai::Client::builder().with_reqwest(client).build().map_err(|error| self.failed(&error))
        });
        built.as_ref().map_err(ModelError::clone)
    }

    fn failed(&self, error: &genai::Error) -> ModelError {
        fault::read(&self.endpoint, error, self.clock.unix_ms())
    }

    /// The error of a stream. Of a response that failed the library keeps the words alone: its frame says more.
    fn broke(&self, error: &genai::Error, frames: &Frames) -> ModelError {
        match (error, frames.failure()) {
            (genai::Error::StreamParse { model_iden, .. }, Some(body)) => {
                self.failed(&genai::Error::ChatResponse { model_iden: model_iden.clone(), body })
            }
            _ => self.failed(error),
        }
    }

    /// Address, key and model, said outright: of a bare name the library would guess all three.
    fn target(&self) -> ModelSpec {
        let auth = match (&self.endpoint.key, self.endpoint.adapter) {
            (Some(key), _) => AuthData::Key(key.secret().to_owned()),
            (None, Adapter::Ollama) => AuthData::None,
            // The library wants one; a server of one's own reads none.
            (None, _) => AuthData::Key("none".to_owned()),
        };
        ModelSpec::from_target(ServiceTarget {
            endpoint: Address::from_owned(self.endpoint.address.as_str()),
            auth,
            model: ModelIden::new(manner::manner(self.endpoint.adapter).kind, self.endpoint.model.id.as_str()),
        })
    }

    async fn ask(&self, asking: &Asking<'_>, sink: &mut Sink<'_>) -> Result<Answered, ModelError> {
        let client = self.client()?;
        let request = ask::request(&self.endpoint, asking);
        let mut heard = Heard { sink, first: None, began: Instant::now() };
        loop {
            let seen = Seen::at(self.seen.load(Ordering::Relaxed));
            let options = self.options(asking, seen);
            match self.once(client, request.clone(), &options, &mut heard).await {
                Ok(came) => return Ok(self.answered(came, asking, &heard)),
                Err(error) => match fault::wants_less(self.endpoint.adapter, &error, seen) {
                    // Nothing was answered: the request was refused for what it asked besides.
                    Some(less) => self.seen.store(less as u8, Ordering::Relaxed),
                    None => return Err(error),
                },
            }
        }
    }

    fn options(&self, asking: &Asking<'_>, seen: Seen) -> ChatOptions {
        let options = ask::options(&self.endpoint, asking, seen)
            .with_stream_header_timeout(self.patience.silence)
            .with_stream_read_timeout(self.patience.silence);
        let mut headers = self.endpoint.headers.clone();
        if let (Some(key), Adapter::Ollama) = (&self.endpoint.key, self.endpoint.adapter) {
            // The library sends Ollama no key; one behind a gate wants it.
            headers.push(("Authorization".to_owned(), format!("Bearer {}", key.secret())));
        }
        if headers.is_empty() { options } else { options.with_extra_headers(Headers::from(headers)) }
    }

    /// Streams, or asks for the whole where the server is known or found not to stream.
    async fn once(
        &self,
        client: &genai::Client,
        request: ChatRequest,
        options: &ChatOptions,
        heard: &mut Heard<'_, '_>,
    ) -> Result<Came, ModelError> {
        if self.unstreamed.load(Ordering::Relaxed) >= UNSTREAMED {
            return self.at_once(client, request, options, heard).await;
        }
        let doubt = match self.stream(client, request.clone(), options, heard).await? {
            Streamed::Came(came) => return Ok(*came),
            Streamed::NotAtAll => UNSTREAMED,
            Streamed::WithoutEnd => {
                // What was shown comes again.
                (heard.sink)(Piece::Began);
                1
            }
        };
        let came = self.at_once(client, request, options, heard).await?;
        self.unstreamed.fetch_add(doubt, Ordering::Relaxed);
        Ok(came)
    }

    async fn stream(
        &self,
        client: &genai::Client,
        request: ChatRequest,
        options: &ChatOptions,
        heard: &mut Heard<'_, '_>,
    ) -> Result<Streamed, ModelError> {
        let frames = Arc::new(Frames::default());
        let options = options.clone().with_raw_frame_sink_arc(frames.clone());
        let opened = client.exec_chat_stream(self.target(), request, Some(&options)).await;
        let mut stream = opened.map_err(|error| self.failed(&error))?.stream;
        let mut of_calls = Vec::new();
        // The first error ends it, though some streams would go on after one.
        while let Some(event) = next(&mut stream).await.transpose().map_err(|error| self.broke(&error, &frames))? {
            match event {
                // `Start` says only that a request is about to be sent.
                ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
                ChatStreamEvent::ThoughtSignatureChunk(_) => heard.began(),
                ChatStreamEvent::Chunk(chunk) => heard.piece(Piece::Text(&chunk.content)),
                ChatStreamEvent::ReasoningChunk(chunk) => heard.piece(Piece::Thinking(&chunk.content)),
                ChatStreamEvent::ToolCallChunk(chunk) => {
                    let call = chunk.tool_call;
                    let so_far = match &call.fn_arguments {
                        Value::String(text) => text.chars().count(),
                        whole => whole.to_string().chars().count(),
                    };
                    heard.piece(Piece::Calling { name: &call.fn_name, so_far });
                    if self.endpoint.adapter == Adapter::Gemini {
                        of_calls.push(call.thought_signatures.unwrap_or_default());
                    }
                }
                ChatStreamEvent::End(end) => return self.ended(end, of_calls, &frames, heard),
            }
        }
        self.endless(&frames)
    }

    /// What it means that no end came.
    fn endless(&self, frames: &Frames) -> Result<Streamed, ModelError> {
        if frames.count() == 0 && frames.blank.load(Ordering::Relaxed) {
            // Something was sent that is no event.
            return Ok(Streamed::NotAtAll);
        }
        if frames.finished.load(Ordering::Relaxed) {
            // It said why it ended, and left the last line out.
            return Ok(Streamed::WithoutEnd);
        }
        Err(fault::cut(&self.endpoint))
    }

    fn ended(
        &self,
        end: StreamEnd,
        of_calls: Vec<Vec<String>>,
        frames: &Frames,
        heard: &mut Heard<'_, '_>,
    ) -> Result<Streamed, ModelError> {
        let feigned = manner::manner(self.endpoint.adapter).feigns_end
            && end.captured_stop_reason.is_none()
            && !frames.done.load(Ordering::Relaxed);
        if feigned {
            return self.endless(frames);
        }
        heard.began();
        let thought = frames.thought.load(Ordering::Relaxed);
        Ok(Streamed::Came(Box::new(Came {
            content: end.captured_content.map(genai::chat::MessageContent::into_parts).unwrap_or_default(),
            reasoning: end.captured_reasoning_content,
            of_calls,
            stop: end.captured_stop_reason,
            usage: end.captured_usage,
            thought,
        })))
    }

    async fn at_once(
        &self,
        client: &genai::Client,
        request: ChatRequest,
        options: &ChatOptions,
        heard: &mut Heard<'_, '_>,
    ) -> Result<Came, ModelError> {
        let asked = client.exec_chat(self.target(), request, Some(options));
        let response = tokio::time::timeout(self.patience.whole, asked).await.map_err(|_| ModelError {
            kind: Kind::TimedOut,
            message: format!("{}: no answer in {} s", self.endpoint.provider, self.patience.whole.as_secs()),
            retry_after_ms: None,
        })?;
        let response = response.map_err(|error| self.failed(&error))?;
        if let Some(reasoning) = response.reasoning_content.as_deref().filter(|text| !text.is_empty()) {
            heard.piece(Piece::Thinking(reasoning));
        }
        let content = response.content.into_parts();
        for part in &content {
            if let genai::chat::ContentPart::Text(text) = part {
                heard.piece(Piece::Text(text));
            }
        }
        heard.began();
        let of_calls = content
            .iter()
            .filter_map(|part| match part {
                genai::chat::ContentPart::ToolCall(call) => Some(call.thought_signatures.clone().unwrap_or_default()),
                _ => None,
            })
            .collect();
        Ok(Came {
            content,
            reasoning: response.reasoning_content,
            of_calls,
            stop: response.stop_reason,
            usage: Some(response.usage),
            thought: 0,
        })
    }

    fn answered(&self, mut came: Came, asking: &Asking<'_>, heard: &Heard<'_, '_>) -> Answered {
        let usage = answer::usage(came.usage.take(), came.thought);
        let (parts, stop) = answer::parts(&self.endpoint.provider, self.endpoint.adapter, came, asking.messages);
        let took_ms = millis(heard.began);
        Answered { parts, stop, usage, first_ms: heard.first.unwrap_or(took_ms), took_ms }
    }
}

impl Provider for Wire {
    fn name(&self) -> &str {
        &self.endpoint.provider
    }

    fn model(&self) -> &Model {
        &self.endpoint.model
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        sink: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        Box::pin(self.ask(asking, sink))
    }
}

enum Streamed {
    Came(Box<Came>),
    /// The answer was no stream; nothing of it was understood.
    NotAtAll,
    /// The answer was whole but for the line that says so, without which the library gives nothing out.
    WithoutEnd,
}

/// Passes pieces on and knows when the first came.
struct Heard<'a, 's> {
    sink: &'a mut Sink<'s>,
    first: Option<u64>,
    began: Instant,
}

impl Heard<'_, '_> {
    fn began(&mut self) {
        if self.first.is_none() {
            self.first = Some(millis(self.began));
            (self.sink)(Piece::Began);
        }
    }

    fn piece(&mut self, piece: Piece<'_>) {
        self.began();
        (self.sink)(piece);
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

async fn next(stream: &mut ChatStream) -> Option<genai::Result<ChatStreamEvent>> {
    poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await
}
