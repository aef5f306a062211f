//! The form of a request: what its client accepts, and what is said of a body that is no message.
//!
//! The SDK wants both media types by name and answers a body that it cannot read with a text: here what HTTP means by
//! `*/*` is spelled out for it, and such an answer is put as JSON-RPC does, in the words that stdio has for it.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use memchr::memmem;
use rmcp::model::{ErrorData, JsonRpcError, RequestId};

use crate::engine::Call;
use crate::http::MAX_BODY_BYTES;
use crate::message;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the SDK wants to be accepted.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Ranges of media types by which a client accepts JSON, and those by which it accepts events.
const JSON: &[&str] = &["application/json", "application/*", "*/*"];
const EVENTS: &[&str] = &["text/event-stream", "text/*", "*/*"];

/// Hands a request on in the form that the SDK takes, and what it cannot read back as an error of JSON-RPC.
pub(crate) async fn fit(request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let wanted = if parts.method == Method::GET { &[EVENTS][..] } else { &[JSON, EVENTS] };
    if accepts(&parts.headers, wanted) {
        parts.headers.insert(header::ACCEPT, BOTH);
    }
    if parts.method != Method::POST || !is_json(&parts.headers) {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let body = match tokio::time::timeout(PATIENCE, to_bytes(body, MAX_BODY_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            let why = format!("A message is at most {MAX_BODY_BYTES} bytes, and comes whole.\n");
            return (StatusCode::PAYLOAD_TOO_LARGE, why).into_response();
        }
        Err(_) => {
            let why = format!("A message comes within {} seconds.\n", PATIENCE.as_secs());
            return (StatusCode::REQUEST_TIMEOUT, why).into_response();
        }
    };
    let again = parts.clone();
    let response = next.clone().run(Request::from_parts(parts, Body::from(Bytes::clone(&body)))).await;
    // That its session is not there a client has to hear; without one, "not found" is said of the method.
    let names_session = again.headers.contains_key("mcp-session-id");
    let is_found = response.status().is_success() || response.status() == StatusCode::NOT_FOUND && !names_session;
    if let Some(refused) = is_found.then(|| misfit(&body)).flatten() {
        return refused;
    }
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    if let Some(asked) = message::answers(&body) {
        // Whoever asked waits for an answer: this is none, and no better one will come.
        let error = ErrorData::invalid_request(message::NO_ANSWER, None);
        let instead = serde_json::to_vec(&JsonRpcError::new(Some(RequestId::Number(asked)), error)).unwrap_or_default();
        drop(next.run(Request::from_parts(again, Body::from(instead))).await);
    }
    unread(&body)
}

/// What is said of a call of a tool whose parameters are none: the SDK takes it for a method that it does not know.
fn misfit(body: &[u8]) -> Option<Response> {
    memmem::find(body, b"tools/call")?;
    let message = message::read(body).ok().filter(|message| message.method.as_deref() == Some("tools/call"))?;
    let error = Call::of(message.params).err()?;
    Some(axum::Json(JsonRpcError::new(Some(message.id?), error)).into_response())
}

/// What is said of a body of JSON that the SDK took for none.
fn unread(body: &[u8]) -> Response {
    let (id, error) = match message::read(body) {
        Err(refused) => *refused,
        Ok(message) => (message.id, ErrorData::invalid_request("not a message of this protocol", None)),
    };
    (StatusCode::BAD_REQUEST, axum::Json(JsonRpcError::new(id, error))).into_response()
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| essence(value).eq_ignore_ascii_case("application/json"))
}

/// Whether each of `wanted` is accepted by one of its ranges. Without the header everything is.
fn accepts(headers: &HeaderMap, wanted: &[&[&str]]) -> bool {
    let values = || headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<&str> = values().flat_map(|value| value.split(',')).filter(|range| !is_excluded(range)).collect();
    let named = |kinds: &[&str]| ranges.iter().any(|range| kinds.iter().any(|kind| essence(range) == *kind));
    !headers.contains_key(header::ACCEPT) || wanted.iter().all(|kinds| named(kinds))
}

/// Whether a range carries the weight zero: `text/html;q=0`.
fn is_excluded(range: &str) -> bool {
    let weights = range.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
    let zero = |weight: &str| weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0);
    weights.into_iter().any(|(name, weight)| name.trim().eq_ignore_ascii_case("q") && zero(weight))
}

/// A media type without its parameters.
fn essence(value: &str) -> String {
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_what_http_says() {
        for (accept, want) in [
            (None, true),
            (Some("*/*"), true),
            (Some("application/json, */*;q=0.1"), true),
            (Some("application/*, text/*"), true),
            (Some("Application/JSON;charset=utf-8, text/event-stream"), true),
            (Some("application/json"), false),
            (Some("text/event-stream"), false),
            (Some("text/html"), false),
            (Some("*/*;q=0"), false),
            (Some(""), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(header::ACCEPT, accept.parse().expect("a header"));
            }
            assert_eq!(accepts(&headers, &[JSON, EVENTS]), want, "{accept:?}");
        }
    }
}
