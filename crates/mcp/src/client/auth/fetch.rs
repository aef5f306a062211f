//! The few requests of a login: documents and forms, bounded in time and size. A redirect is followed for a document
//! and within its host; a form that carries a secret goes where it was addressed or nowhere.

use std::sync::OnceLock;
use std::time::Duration;

use nika_contract::{ToolError, code, text};
use reqwest::{Method, StatusCode, Url, header};
use serde_json::Value;

use super::super::http::Proxies;
use super::address::{same_origin, shown};

/// The largest answer read: real documents have a few KiB.
const MAX_BYTES: usize = 256 << 10;
/// Redirects of one document.
const MAX_REDIRECTS: usize = 3;

/// How long one request of a login may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until a connection stands: 10 s.
    pub connect: Duration,
    /// Until the answer is whole: 20 s.
    pub whole: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connect: Duration::from_secs(10), whole: Duration::from_secs(20) }
    }
}

/// Makes the requests of logins. No client is built before the first.
#[derive(Debug, Default)]
pub struct Fetch {
    proxies: Proxies,
    limits: Limits,
    plain: OnceLock<Result<reqwest::Client, String>>,
    tls: OnceLock<Result<reqwest::Client, String>>,
}

/// What came back.
pub(crate) struct Fetched {
    pub status: StatusCode,
    body: Vec<u8>,
}

impl Fetched {
    /// The body, where it is JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// How a client says who it is in the header of a form.
pub(crate) struct Basic<'a> {
    pub id: &'a str,
    pub secret: &'a str,
}

impl Fetch {
    /// Reaches out through these proxies, within these limits.
    pub fn new(proxies: Proxies, limits: Limits) -> Fetch {
        Fetch { proxies, limits, ..Fetch::default() }
    }

    /// A document, wherever it lies within its host. `None` where there is none.
    pub(crate) async fn document(&self, url: &Url) -> Result<Option<Value>, ToolError> {
        let mut at = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let request = self.client(&at)?.request(Method::GET, at.clone()).header(header::ACCEPT, "application/json");
            let (answer, location) = self.send(&at, request).await?;
            if answer.status.is_redirection() {
                let next = location
                    .and_then(|to| at.join(&to).ok())
                    .ok_or_else(|| unreached(&at, "it redirects to nowhere"))?;
                if !same_origin(&at, &next) {
                    return Err(unreached(&at, &format!("it redirects to another host, '{}'", shown(next.as_str()))));
                }
                at = next;
                continue;
            }
            return match answer.status {
                StatusCode::OK => match answer.json() {
                    Some(document @ Value::Object(_)) => Ok(Some(document)),
                    // A page for people where a document is expected: as good as none.
                    _ => Ok(None),
                },
                status if status.is_client_error() => Ok(None),
                status => Err(unreached(&at, &format!("it answers {status}"))),
            };
        }
        Err(unreached(url, "it redirects again and again"))
    }

    /// Sends a form.
    pub(crate) async fn form(
        &self,
        url: &Url,
        form: &[(&str, String)],
        basic: Option<Basic<'_>>,
    ) -> Result<Fetched, ToolError> {
        let mut text = Url::parse("http://form/").expect("a constant address");
        text.query_pairs_mut().extend_pairs(form);
        let mut request = self
            .client(url)?
            .request(Method::POST, url.clone())
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(text.query().unwrap_or_default().to_owned());
        if let Some(basic) = basic {
            // RFC 6749 wants both encoded as in a form before they are joined.
            request = request.basic_auth(encoded(basic.id), Some(encoded(basic.secret)));
        }
        self.answered(url, request).await
    }

    /// Sends JSON.
    pub(crate) async fn json(&self, url: &Url, body: &Value) -> Result<Fetched, ToolError> {
        let request = self
            .client(url)?
            .request(Method::POST, url.clone())
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.to_string());
        self.answered(url, request).await
    }

    /// What a server says to somebody who brings no token: the values of `WWW-Authenticate`, where it refuses.
    pub(crate) async fn challenges(&self, server: &Url) -> Result<Vec<String>, ToolError> {
        let request = self
            .client(server)?
            .request(Method::POST, server.clone())
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            .timeout(self.limits.whole);
        // The body is left alone: it may be a stream without an end.
        let response = request.send().await.map_err(|error| unreached(server, &text::causes(&error.without_url())))?;
        let values = response.headers().get_all(header::WWW_AUTHENTICATE);
        Ok(values.iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect())
    }

    async fn answered(&self, url: &Url, request: reqwest::RequestBuilder) -> Result<Fetched, ToolError> {
        let (answer, _) = self.send(url, request).await?;
        if answer.status.is_redirection() {
            return Err(unreached(url, "it redirects, and what was sent goes nowhere else"));
        }
        Ok(answer)
    }

    async fn send(&self, url: &Url, request: reqwest::RequestBuilder) -> Result<(Fetched, Option<String>), ToolError> {
        let failed = |error: reqwest::Error| unreached(url, &text::causes(&error.without_url()));
        let mut response = request.timeout(self.limits.whole).send().await.map_err(failed)?;
        let status = response.status();
        let location = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).map(str::to_owned);
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BYTES {
                return Err(unreached(url, "its answer is larger than 256 KiB"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok((Fetched { status, body }, location))
    }

    fn client(&self, url: &Url) -> Result<&reqwest::Client, ToolError> {
        let https = url.scheme() == "https";
        let cell = if https { &self.tls } else { &self.plain };
        cell.get_or_init(|| self.build(https)).as_ref().map_err(|why| unreached(url, why))
    }

    fn build(&self, https: bool) -> Result<reqwest::Client, String> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Where two threads come here at once, the second finds what the first has put there.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("nika/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(self.limits.connect)
            .pool_max_idle_per_host(1);
        if !https {
            // No certificates are looked for: a machine without any still reaches its own servers.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        if let Some(proxy) = if https { &self.proxies.https } else { &self.proxies.http } {
            let proxy = reqwest::Proxy::all(proxy.as_str()).map_err(|error| format!("the proxy's address: {error}"))?;
            let none_for = self.proxies.none_for.as_deref().and_then(reqwest::NoProxy::from_string);
            builder = builder.proxy(proxy.no_proxy(none_for));
        }
        builder.build().map_err(|error| text::causes(&error))
    }
}

fn encoded(text: &str) -> String {
    let mut url = Url::parse("http://form/").expect("a constant address");
    url.query_pairs_mut().append_key_only(text);
    url.query().unwrap_or_default().to_owned()
}

fn unreached(url: &Url, why: &str) -> ToolError {
    let mut place = url.clone();
    place.set_query(None);
    ToolError::new(code::MCP_LOGIN_UNREACHED, format!("'{place}' gives no usable answer: {why}"))
        .hint("look whether it can be reached from here, and whether a proxy is needed; then try again")
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn names_and_secrets_are_encoded_as_in_a_form() {
        assert_eq!(encoded("plain-Text_1.2"), "plain-Text_1.2");
        assert_eq!(encoded("a:b c%&=é"), "a%3Ab+c%25%26%3D%C3%A9");
    }
}
