//! Where a browser comes back to after a login: a listener on this machine that lives as long as the login. It takes
//! one answer, the one that carries the login's own `state`; whatever else knocks is sent away.

use std::time::Duration;

use nika_contract::{ToolError, code};
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::address::shown;

/// The largest head of a request read.
const MAX_HEAD: usize = 16 << 10;
/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);
const PATH: &str = "/callback";

/// Waits for a browser.
pub(crate) struct Listener {
    listener: TcpListener,
    address: String,
}

/// What an authorization server answers through the browser.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Back {
    pub code: String,
}

impl Listener {
    /// Listens on `port`, or a free one.
    pub async fn open(port: u16) -> Result<Listener, ToolError> {
        let failed = |error: std::io::Error| {
            ToolError::new(
                code::MCP_LOGIN_ADDRESS,
                format!("port {port} of this machine cannot be listened on: {error}"),
            )
            .hint("end what uses it, or set another `oauth.redirect_port` for the server")
        };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        // A number, not `localhost`: that may lead elsewhere, and RFC 8252 advises against it.
        Ok(Listener { listener, address: format!("http://127.0.0.1:{port}{PATH}") })
    }

    /// What authorization servers are told.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The first request that carries `state`: its whole address.
    pub async fn answer(&self, state: &str) -> String {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            let Ok(Some(target)) = tokio::time::timeout(PATIENCE, target(&mut stream)).await else { continue };
            let base = Url::parse(&self.address).expect("our own address");
            let ours = base.join(&target).ok().filter(|url| {
                target.starts_with('/')
                    && url.path() == PATH
                    && url.query_pairs().any(|(name, value)| name == "state" && value == state)
            });
            let (status, text) = match ours {
                Some(_) => ("200 OK", "Nika has the answer. You can close this page; the terminal says how it went."),
                None => ("404 Not Found", "Nothing is here."),
            };
            let page = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
                 Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}",
                text.len()
            );
            let _ = tokio::time::timeout(PATIENCE, async {
                stream.write_all(page.as_bytes()).await?;
                stream.shutdown().await
            })
            .await;
            if let Some(ours) = ours {
                return ours.to_string();
            }
        }
    }
}

/// The target of a GET request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut piece = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        head.extend_from_slice(&piece[..read]);
        if head.len() > MAX_HEAD {
            return None;
        }
    }
    let line = std::str::from_utf8(&head).ok()?.lines().next()?;
    let mut words = line.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}

/// What the browser brought, checked: the login's own `state`, and the authorization server that was asked (RFC 9207).
pub(crate) fn read(address: &str, state: &str, issuer: &str, names_itself: bool) -> Result<Back, ToolError> {
    let foreign = |why: &str| {
        ToolError::new(code::MCP_LOGIN_ANSWER, format!("the answer to the login is not used: {why}"))
            .hint("begin the login again, and use only the page that it shows")
    };
    let url = Url::parse(address.trim()).map_err(|_| foreign("it is no address"))?;
    let one = |wanted: &str| -> Result<Option<String>, ToolError> {
        let mut values = url.query_pairs().filter(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(foreign(&format!("`{wanted}` stands there twice"))),
            (value, None) => Ok(value),
        }
    };
    if one("state")?.as_deref() != Some(state) {
        return Err(foreign("it belongs to another login (`state` differs)"));
    }
    match one("iss")? {
        Some(said) if said != issuer => {
            return Err(foreign(&format!("it comes from '{}', and '{}' was asked", shown(&said), shown(issuer))));
        }
        None if names_itself => return Err(foreign("it does not say who it comes from (`iss` is missing)")),
        _ => {}
    }
    if let Some(error) = one("error")? {
        let more = one("error_description")?.map(|text| format!(": {}", shown(&text))).unwrap_or_default();
        let message = format!("'{}' did not let you in: {}{more}", shown(issuer), shown(&error));
        return Err(ToolError::new(code::MCP_LOGIN_REFUSED, message).hint("begin the login again, and agree there"));
    }
    match one("code")?.filter(|code| !code.is_empty()) {
        Some(code) => Ok(Back { code }),
        None => Err(foreign("it holds no `code`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_must_be_of_this_login_and_of_who_was_asked() {
        let read = |query: &str, names_itself| {
            read(&format!("http://127.0.0.1:9/callback?{query}"), "s1", "https://a.example", names_itself)
        };
        assert_eq!(read("code=c&state=s1", false).unwrap().code, "c");
        assert_eq!(read("code=c&state=s1&iss=https%3A%2F%2Fa.example", true).unwrap().code, "c");
        for (query, names_itself, code) in [
            ("code=c&state=s2", false, code::MCP_LOGIN_ANSWER),
            ("code=c", false, code::MCP_LOGIN_ANSWER),
            ("code=c&state=s1&state=s1", false, code::MCP_LOGIN_ANSWER),
            ("code=c&state=s1", true, code::MCP_LOGIN_ANSWER),
            ("code=c&state=s1&iss=https://a.example/", true, code::MCP_LOGIN_ANSWER),
            ("code=c&state=s1&iss=https://evil.example", false, code::MCP_LOGIN_ANSWER),
            ("state=s1", false, code::MCP_LOGIN_ANSWER),
            ("state=s1&error=access_denied&error_description=no%1b[31m", false, code::MCP_LOGIN_REFUSED),
        ] {
            let error = read(query, names_itself).unwrap_err();
            assert_eq!(error.code, code, "{query}");
            assert!(!error.to_string().contains('\u{1b}'));
        }
    }
}
