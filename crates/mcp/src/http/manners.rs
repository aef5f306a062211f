//! What clients and browsers expect of any server and the SDK does not give: pages of allowed origins may read the answers,
//! `Accept: */*` takes what there is, and what is no JSON is answered as a message that is none.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header, request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::LOOPBACK;

/// What the SDK wants of every POST.
const BOTH: &str = "application/json, text/event-stream";
/// Headers of the protocol that a page sends.
const SENT: [HeaderName; 8] = [
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
    header::ACCEPT,
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("last-event-id"),
];
/// And those that it has to read.
const READ: [HeaderName; 3] = [
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
    header::WWW_AUTHENTICATE,
];

/// Answers what browsers ask before a page may call, and says in each answer whose pages may read it.
pub(super) fn for_pages(origins: Vec<String>) -> CorsLayer {
    let allowed = move |origin: &HeaderValue, _: &request::Parts| {
        let named = |origin: &str| origins.iter().any(|known| without_default(known) == without_default(origin));
        origin.to_str().is_ok_and(|origin| is_loopback(origin) || named(origin))
    };
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(allowed))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(SENT)
        .expose_headers(READ)
}

/// An origin as browsers send it: without the port that its scheme has anyway.
fn without_default(origin: &str) -> &str {
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    origin.strip_suffix(port).unwrap_or(origin)
}

/// Whether an origin is a page of this machine, on any port.
fn is_loopback(origin: &str) -> bool {
    let Some(host) = origin.strip_prefix("http://") else { return false };
    LOOPBACK.iter().any(|name| {
        let port = host.strip_prefix(name);
        port.is_some_and(|port| {
            port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
        })
    })
}

/// Widens an `Accept` that takes anything, and says of what cannot be read what it is.
pub(super) async fn plain(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    let accepts = headers.get(header::ACCEPT).map(|value| value.to_str().unwrap_or_default().to_owned());
    if accepts.is_none_or(|accepts| accepts.split(',').any(|kind| kind.trim().starts_with("*/*"))) {
        headers.insert(header::ACCEPT, HeaderValue::from_static(BOTH));
    }
    let is_json = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_json = is_json.is_some_and(|kind| kind.trim_start().starts_with("application/json"));
    let response = next.run(request).await;
    if response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE || !is_json {
        return response;
    }
    let error = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": -32700, "message": "Parse error: the body is no JSON-RPC message"},
    });
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], error.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn pages_of_this_machine_are_known() {
        for origin in ["http://localhost", "http://localhost:3000", "http://127.0.0.1:80", "http://[::1]:9"] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in
            ["http://localhost.evil.example", "http://localhost:3000.evil", "https://evil.example", "null", "http://"]
        {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
