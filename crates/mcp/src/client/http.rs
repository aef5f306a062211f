//! A connection over streamable HTTP: the SDK's, with the [`Authorizer`] asked for every request and heard about every
//! refusal. The client under it is made when the first address is used and not before.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use futures_core::stream::BoxStream;
use nika_contract::{ToolError, code, text};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::authorizer::{Again, Authorizer, Refusal};
use super::health::Health;
use super::pipes::MOST_BYTES;

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// How often a request is repeated for the authorizer: once for a new token, once for a wider one.
const REPEATS: usize = 2;
/// Redirects that are followed, all on the same host.
const REDIRECTS: usize = 3;

/// Proxies, as the environment names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http://`.
    pub http: Option<String>,
    /// For `https://`.
    pub https: Option<String>,
    /// Hosts that are reached without one, joined by commas.
    pub none_for: Option<String>,
}

/// The HTTP client that all servers share.
#[derive(Debug, Default)]
pub struct Http {
    proxies: Proxies,
    client: OnceLock<reqwest::Client>,
}

impl Http {
    /// Nothing is opened yet.
    pub fn new(proxies: Proxies) -> Http {
        Http { proxies, client: OnceLock::new() }
    }

    pub(crate) fn client(&self) -> Result<reqwest::Client, ToolError> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        // Without any certificates on the machine an `http://` address is reached all the same.
        let built = build(&self.proxies, true).or_else(|_| build(&self.proxies, false));
        let client = built.map_err(|error| {
            ToolError::new(code::SERVER_UNREACHABLE, format!("no HTTP client can be had here: {error}"))
        })?;
        Ok(self.client.get_or_init(|| client).clone())
    }
}

fn build(proxies: &Proxies, certificates: bool) -> Result<reqwest::Client, reqwest::Error> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Where two threads come here at once, the second finds what the first has put there.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("nika/", env!("CARGO_PKG_VERSION")))
        // To another host a redirect would carry headers that were meant for this one.
        .redirect(reqwest::redirect::Policy::custom(|attempt| {
            let from = attempt.previous().first();
            let stays = from.is_some_and(|from| from.origin() == attempt.url().origin());
            if stays && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
        }))
        .no_proxy();
    if !certificates {
        builder = builder.tls_certs_only(std::iter::empty());
    }
    let none_for = proxies.none_for.as_deref().and_then(reqwest::NoProxy::from_string);
    if let Some(proxy) = &proxies.http {
        builder = builder.proxy(reqwest::Proxy::http(proxy.as_str())?.no_proxy(none_for.clone()));
    }
    if let Some(proxy) = &proxies.https {
        builder = builder.proxy(reqwest::Proxy::https(proxy.as_str())?.no_proxy(none_for));
    }
    builder.build()
}

/// A connection to `url`.
pub(crate) fn transport(
    client: reqwest::Client,
    url: &str,
    authorizer: Arc<dyn Authorizer>,
    health: Health,
) -> StreamableHttpClientTransport<Guarded> {
    let config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(MOST_BYTES);
    StreamableHttpClientTransport::with_client(Guarded { client, authorizer, health }, config)
}

/// The SDK's use of an HTTP client, guarded by an authorizer.
#[derive(Debug, Clone)]
pub(crate) struct Guarded {
    client: reqwest::Client,
    authorizer: Arc<dyn Authorizer>,
    health: Health,
}

impl Guarded {
    /// `attempt` with the authorizer's headers; repeated where a refusal taught it something.
    async fn authorised<T, F>(
        &self,
        url: &str,
        message: Option<&ClientJsonRpcMessage>,
        own: Headers,
        attempt: impl Fn(Headers) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let give_up = |error: ToolError| {
            let said = error.to_string();
            self.health.explains(message, error);
            StreamableHttpError::UnexpectedServerResponse(said.into())
        };
        let mut repeats = 0;
        loop {
            let headers = self.authorizer.headers(url).await.map_err(give_up)?;
            // Anew each time: a token that is gone must not be sent again.
            let mut own = own.clone();
            for (name, value) in headers {
                let (name, value) = header(&name, &value).map_err(give_up)?;
                own.insert(name, value);
            }
            let failure = match attempt(own).await {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let Some(refusal) = refusal(url, &failure).filter(|_| repeats < REPEATS) else {
                if let StreamableHttpError::Client(error) = failure {
                    return Err(StreamableHttpError::Client(self.unreached(url, message, error)));
                }
                return Err(failure);
            };
            match self.authorizer.refused(&refusal).await {
                Ok(Again::Yes) => repeats += 1,
                Ok(Again::No) => return Err(failure),
                Err(error) => return Err(give_up(error)),
            }
        }
    }

    /// Says where nobody was reached, and why: the SDK's error says neither.
    fn unreached(&self, url: &str, message: Option<&ClientJsonRpcMessage>, error: reqwest::Error) -> reqwest::Error {
        let error = error.without_url();
        let why = format!("{}: {}", bare(url), text::causes(&error));
        self.health.explains(message, ToolError::new(code::SERVER_UNREACHABLE, why));
        error
    }
}

/// An address as errors show it. What stands behind a `?` may be a key.
pub(crate) fn bare(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// A header as the wire takes it. The value is a secret, and no part of an error.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ToolError> {
    match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => {
            let message = format!("the header '{}' cannot be sent", name.escape_debug());
            Err(ToolError::new(code::SERVER_UNREACHABLE, message)
                .hint("a header's name is of letters, digits and `-`; its value is one line of printable characters"))
        }
    }
}

/// The refusal in a failure, where it is one.
fn refusal(url: &str, failure: &Failure) -> Option<Refusal> {
    let refused = |status, challenges| Some(Refusal { url: url.to_owned(), status, challenges });
    match failure {
        StreamableHttpError::AuthRequired(error) => refused(401, vec![error.www_authenticate_header.clone()]),
        StreamableHttpError::InsufficientScope(error) => refused(403, vec![error.www_authenticate_header.clone()]),
        // So the SDK says a refusal without a challenge.
        StreamableHttpError::UnexpectedServerResponse(said) if said.starts_with("HTTP 401") => refused(401, Vec::new()),
        StreamableHttpError::UnexpectedServerResponse(said) if said.starts_with("HTTP 403") => refused(403, Vec::new()),
        StreamableHttpError::Client(error) => match error.status().map(|status| status.as_u16()) {
            Some(status @ (401 | 403)) => refused(status, Vec::new()),
            _ => None,
        },
        _ => None,
    }
}

impl StreamableHttpClient for Guarded {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post_message_with_max_sse_event_size(uri, message, session_id, auth, headers, MOST_BYTES).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.authorised(&uri, Some(&message), headers, |headers| {
            let (uri, message, session, auth) = (uri.clone(), message.clone(), session_id.clone(), auth.clone());
            self.client.post_message_with_max_sse_event_size(uri, message, session, auth, headers, most)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.authorised(&uri, None, headers, |headers| {
            self.client.delete_session(uri.clone(), session.clone(), auth.clone(), headers)
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event, auth, headers, MOST_BYTES).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        self.authorised(&uri, None, headers, |headers| {
            let (uri, session, last, auth) = (uri.clone(), session_id.clone(), last_event.clone(), auth.clone());
            self.client.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, most)
        })
        .await
    }
}
