//! One exchange with addresses that were looked at: request, head, body.

use std::net::SocketAddr;

use nika_contract::{ToolError, code, text};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, redirect};

use super::{Asked, Caps, Got, HEADERS, body};

/// Asks, and takes the answer in. Time as a whole is the caller's.
pub(super) async fn run(agent: &str, asked: &Asked, addresses: &[SocketAddr], caps: &Caps) -> Result<Got, ToolError> {
    let host = asked.address.host();
    let client = client(agent, asked, addresses, caps)?;
    let method = Method::from_bytes(asked.method.as_bytes())
        .map_err(|_| ToolError::argument("method", format!("`{}` is no method", asked.method)))?;
    let mut request = client
        .request(method, asked.address.url().clone())
        .header(ACCEPT, asked.accept)
        .header(ACCEPT_ENCODING, "gzip");
    for (name, value) in headers_of(asked)? {
        request = request.header(name, value);
    }
    if let Some(body) = &asked.body {
        request = request.body(body.clone());
    }
    let head = tokio::time::timeout(caps.head, request.send()).await.map_err(|_| {
        let limit = caps.head.as_secs_f32();
        ToolError::new(code::NET_TIMED_OUT, format!("{host} did not begin to answer within {limit} s"))
    })?;
    let response = head.map_err(|error| failed(host, &error))?;
    // The connection was to one of those, or something between here and there is not what it was taken for.
    let peer = response.remote_addr().filter(|peer| addresses.iter().any(|known| known.ip() == peer.ip()));
    let Some(peer) = peer else {
        return Err(ToolError::new(code::FORBIDDEN_ADDRESS, format!("{host} was answered for by another address")));
    };
    let status = response.status().as_u16();
    let headers = headers(&response);
    let mut got = Got { status, headers, body: Vec::new(), peer };
    // What a redirect says besides is for people without one.
    if got.leads_to().is_none() {
        got.body = take(response, host, &got, caps).await?;
    }
    Ok(got)
}

/// What is sent along, as HTTP has it.
pub(super) fn headers_of(asked: &Asked) -> Result<Vec<(HeaderName, HeaderValue)>, ToolError> {
    let header = |(name, value): &(String, String)| {
        let odd = |what: &str| ToolError::argument("headers", format!("`{}` {what}", name.escape_debug()));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| odd("is no name of a header"))?;
        let value = HeaderValue::from_str(value).map_err(|_| odd("has a value that no header can have"))?;
        Ok((header, value))
    };
    asked.headers.iter().map(header).collect()
}

/// A client for this exchange alone, pinned to the addresses.
fn client(agent: &str, asked: &Asked, addresses: &[SocketAddr], caps: &Caps) -> Result<Client, ToolError> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Where two threads come here at once, the second finds what the first has put there.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = Client::builder()
        .user_agent(agent)
        .redirect(redirect::Policy::none())
        .no_proxy()
        // Bodies are unpacked here, within their caps, whatever other crates have the client's own unpacking built in.
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .referer(false)
        .http1_only()
        .http1_max_headers(HEADERS)
        .pool_max_idle_per_host(0)
        .connect_timeout(caps.connect)
        .resolve_to_addrs(asked.address.host(), addresses);
    if !asked.address.is_secret() {
        // No certificates are read for a connection that has none.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    builder.build().map_err(|error| {
        let message = format!("no connection can be made from here: {}", text::causes(&error));
        ToolError::new(code::UNREACHABLE, message)
    })
}

fn headers(response: &Response) -> Vec<(String, String)> {
    let shown = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), shown(value))).collect()
}

async fn take(mut response: Response, host: &str, got: &Got, caps: &Caps) -> Result<Vec<u8>, ToolError> {
    let about = |error: ToolError| ToolError { message: format!("{host}: {}", error.message), ..error };
    body::announced(response.content_length(), caps).map_err(about)?;
    let mut packed = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| failed(host, &error))? {
        body::add(&mut packed, &piece, caps).map_err(about)?;
    }
    if packed.is_empty() {
        return Ok(packed);
    }
    body::unpack(packed, got.header("content-encoding"), caps).map_err(about)
}

/// What went wrong, in words, without the address that is said beside it.
fn failed(host: &str, error: &reqwest::Error) -> ToolError {
    let why = text::harmless(&text::preview(&text::causes(error), 300)).into_owned();
    if error.is_timeout() {
        return ToolError::new(code::NET_TIMED_OUT, format!("{host} could not be connected to in time"));
    }
    if error.is_connect() {
        return ToolError::new(code::UNREACHABLE, format!("{host} cannot be reached: {why}"));
    }
    ToolError::new(code::NET_BAD_ANSWER, format!("{host} did not answer as HTTP wants it: {why}"))
        .hint("the server may be broken, or no web server; nothing of its answer is shown")
}
