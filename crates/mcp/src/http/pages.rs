//! Which web pages may call, and what their browsers must hear before they let them.
//!
//! A browser asks first (a preflight, which carries no token) and hides an answer that does not name the page. So an
//! origin that may call is settled before the token, and every answer to it says so, a refusal too.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What the endpoint answers.
const METHODS: &str = "GET,POST,DELETE";

/// Headers that a page may send.
const MAY_SEND: &[&str] = &[
    "Authorization",
    "Content-Type",
    "Accept",
    "Last-Event-ID",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
    "Mcp-Method",
    "Mcp-Name",
];

/// What the names of arguments that travel as headers begin with.
const ARGUMENT: &str = "mcp-param-";

/// Headers that a page may read.
const MAY_READ: &str = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate";

/// Seconds for which a browser need not ask again. A server that is started anew may allow other pages.
const MAX_AGE_SECONDS: &str = "600";

const PRIVATE_NETWORK_WANTED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_NETWORK_ALLOWED: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins whose pages may call.
pub(crate) struct Pages(Vec<Allowed>);

struct Allowed {
    origin: Origin,
    /// Whether its port does not matter.
    any_port: bool,
}

#[derive(PartialEq, Eq)]
struct Origin {
    /// Empty for `null`, the origin of what has none.
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Pages {
    /// Of origins as they are written: `https://app.example.com:443`, with `*` for any port and without for
    /// the port that its scheme has anyway. `Err` is one that is none.
    pub(crate) fn new<'a>(written: impl IntoIterator<Item = &'a str>) -> Result<Pages, String> {
        let allowed = written.into_iter().map(|text| Allowed::read(text).ok_or_else(|| text.to_owned()));
        allowed.collect::<Result<_, _>>().map(Pages)
    }

    fn let_in(&self, value: &HeaderValue) -> bool {
        let origin = value.to_str().ok().and_then(Origin::read);
        origin.is_some_and(|origin| self.0.iter().any(|allowed| allowed.is(&origin)))
    }
}

impl Allowed {
    fn read(text: &str) -> Option<Allowed> {
        let text = text.trim();
        let bare = text.strip_suffix(":*");
        let origin = Origin::read(bare.unwrap_or(text))?;
        let portless = origin.port.is_none() && !origin.scheme.is_empty();
        (bare.is_none() || portless).then_some(Allowed { any_port: bare.is_some(), origin })
    }

    fn is(&self, origin: &Origin) -> bool {
        let Origin { scheme, host, .. } = &self.origin;
        *scheme == origin.scheme && *host == origin.host && (self.any_port || self.origin.port() == origin.port())
    }
}

impl Origin {
    fn read(text: &str) -> Option<Origin> {
        if text.eq_ignore_ascii_case("null") {
            return Some(Origin { scheme: String::new(), host: String::new(), port: None });
        }
        let uri = Uri::try_from(text).ok()?;
        let (scheme, authority) = (uri.scheme_str()?.to_ascii_lowercase(), uri.authority()?);
        let bare = matches!(uri.path(), "" | "/") && uri.query().is_none() && !authority.as_str().contains('@');
        bare.then(|| Origin { scheme, host: authority.host().to_ascii_lowercase(), port: authority.port_u16() })
    }

    /// Browsers leave out a port that the scheme implies.
    fn port(&self) -> Option<u16> {
        self.port.or(match self.scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        })
    }
}

/// Refuses a page that may not call; answers the browser of one that may, and names its origin in what it is answered.
pub(crate) async fn admit(State(pages): State<Arc<Pages>>, request: Request, next: Next) -> Response {
    // Which of two counts is read differently by different programs.
    if request.headers().get_all(header::HOST).iter().count() > 1 {
        return (StatusCode::BAD_REQUEST, [(header::CONNECTION, "close")], "A request has one Host.\n").into_response();
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let origin = match (origins.next(), origins.next()) {
        (None, _) => None,
        (Some(origin), None) if pages.let_in(origin) => Some(origin.clone()),
        _ => {
            let body = "Pages of this origin may not call: start `nika serve --http` with `--allow-origin ORIGIN`.\n";
            return (StatusCode::FORBIDDEN, [(header::VARY, "Origin"), (header::CONNECTION, "close")], body)
                .into_response();
        }
    };
    let asks = request.method() == Method::OPTIONS
        && origin.is_some()
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks { preflight(request.headers()) } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(MAY_READ));
    }
    response
}

fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::OK.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE_SECONDS));
    if let Ok(may_send) = HeaderValue::from_str(&may_send(asked)) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, may_send);
    }
    // A page of the net that reaches for this machine is asked about that, too.
    if asked.get(PRIVATE_NETWORK_WANTED).is_some_and(|wanted| wanted == "true") {
        headers.insert(PRIVATE_NETWORK_ALLOWED, HeaderValue::from_static("true"));
    }
    response
}

/// [`MAY_SEND`], with the arguments among what was asked for: `*` would not cover a token.
fn may_send(asked: &HeaderMap) -> String {
    let asked = asked.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|value| value.to_str().ok());
    let arguments = asked
        .flat_map(|names| names.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .filter(|name| name.as_str().starts_with(ARGUMENT));
    let mut names = MAY_SEND.join(", ");
    arguments.for_each(|name| names.extend([", ", name.as_str()]));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_its_scheme_its_host_and_its_port() {
        for (written, origin, want) in [
            ("https://app.example.com:443", "https://app.example.com", true),
            ("https://app.example.com:443", "https://app.example.com:443", true),
            ("https://app.example.com:443", "HTTPS://APP.example.com", true),
            ("https://app.example.com:443", "https://app.example.com:8443", false),
            ("https://app.example.com:443", "http://app.example.com:443", false),
            ("https://app.example.com:443", "https://app.example.com.evil.org", false),
            ("https://app.example.com:443", "https://app.example.com@evil.org", false),
            ("https://app.example.com:443", "https://evil.org/https://app.example.com", false),
            ("https://app.example.com", "https://app.example.com:8443", false),
            ("https://app.example.com", "https://app.example.com", true),
            ("https://app.example.com/", "https://app.example.com:443", true),
            ("https://app.example.com:*", "https://app.example.com:8443", true),
            ("tauri://localhost", "tauri://localhost", true),
            ("http://localhost:*", "http://localhost:5173", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "http://localhost.evil.org", false),
            ("http://[::1]:*", "http://[::1]:5173", true),
            ("http://localhost:*", "null", false),
            ("null", "null", true),
            ("null", "http://localhost", false),
            ("http://localhost:*", "", false),
        ] {
            let pages = Pages::new([written]).unwrap_or_else(|why| panic!("{why}"));
            let value = HeaderValue::from_str(origin).expect("a header");
            assert_eq!(pages.let_in(&value), want, "{written}: {origin}");
        }
        for none in ["app.example.com", "", "https://", "https://a.org:*:1", "https://a.org:1:*", "null:*", "*"] {
            assert_eq!(Pages::new([none]).err().as_deref(), Some(none));
        }
    }
}
