//! An MCP server that wants a login, and its authorization server, on one port of this machine: good, or wrong in one of
//! the ways that [`Wrong`] names. It counts what it is asked. The MCP server itself is a door: it says 401, 403 or 200.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Nothing.
    Nothing,
    /// Its metadata do not offer S256.
    NoPkce,
    /// Its metadata are another's.
    OtherIssuer,
    /// The server says it is another.
    OtherResource,
    /// Its metadata lead to themselves.
    EndlessRedirects,
    /// Its metadata lead to another host.
    RedirectElsewhere,
    /// Its metadata have no end.
    HugeMetadata,
    /// Its metadata never come.
    Silent,
    /// Its metadata name a token endpoint that is not https, on another machine.
    PlainTokenEndpoint,
    /// It registers nobody.
    NoRegistration,
    /// It does not let the person in.
    Denies,
    /// The browser comes back with another login's state.
    OtherState,
    /// The browser comes back from another.
    OtherIss,
    /// The code is refused.
    NoToken,
    /// The token's type is unknown.
    OddTokenType,
    /// The token would end the header that it is put into.
    TokenWithLineEnd,
    /// Every token is refused at the door.
    RefusesTokens,
    /// Renewals are refused.
    NoRenewal,
    /// It fails inside when a token is to be renewed.
    RenewalFails,
    /// The door wants the right `write` and the token has it not, ever.
    NeverEnough,
}

/// What it was asked.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Clients registered.
    pub registered: usize,
    /// Pages shown.
    pub pages: usize,
    /// Codes exchanged.
    pub codes: usize,
    /// Renewals asked for.
    pub renewals: usize,
    /// Refresh tokens that were used twice.
    pub reused: usize,
    /// The scope of each page, in order.
    pub scopes: Vec<String>,
    /// Tokens that came to the door.
    pub tokens: HashSet<String>,
    /// Forms that came to where tokens are given.
    pub forms: usize,
}

#[derive(Debug, Default)]
struct State {
    asked: Asked,
    given: usize,
    /// Access tokens that hold, with their scopes.
    tokens: HashMap<String, String>,
    refresh: HashSet<String>,
    spent: HashSet<String>,
    /// The challenge and the scope of the last page.
    page: Option<(String, String)>,
    /// The scope that the door wants.
    wants: String,
    /// The authorization server that the door names, where that is another.
    names: Option<String>,
}

/// Both servers; they end with this.
#[derive(Debug)]
pub struct LoginServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for LoginServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LoginServer {
    /// Listens on a free port.
    pub async fn start(wrong: Wrong) -> LoginServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, address, wrong, Arc::clone(&shared)));
            }
        });
        LoginServer { address, state, task }
    }

    /// The MCP server's address.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The authorization server's name.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Asked {
        lock(&self.state).asked.clone()
    }

    /// From now on no token that was given holds.
    pub fn forget_tokens(&self) {
        lock(&self.state).tokens.clear();
    }

    /// From now on the door names this authorization server.
    pub fn name(&self, issuer: &str) {
        lock(&self.state).names = Some(issuer.to_owned());
    }

    /// From now on the door wants this right.
    pub fn want(&self, scope: &str) {
        lock(&self.state).wants = scope.to_owned();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request.
struct Request {
    method: String,
    path: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

struct Answer {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

fn answer(status: &'static str, body: &Value) -> Answer {
    Answer { status, headers: vec![("Content-Type", "application/json".into())], body: body.to_string().into_bytes() }
}

fn redirect(to: String) -> Answer {
    Answer { status: "302 Found", headers: vec![("Location", to)], body: Vec::new() }
}

async fn serve(mut stream: TcpStream, address: SocketAddr, wrong: Wrong, state: Arc<Mutex<State>>) {
    let Some(request) = read(&mut stream).await else { return };
    let metadata = request.path.starts_with("/.well-known/oauth-authorization-server");
    if metadata && wrong == Wrong::Silent {
        // Held open, never answered: whoever asks gives up first.
        let _ = stream.read(&mut [0; 1]).await;
        return;
    }
    let answer = route(&request, address, wrong, &state);
    let mut head =
        format!("HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(&answer.body).await;
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&piece[..read]);
    }
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Request { method, path: path.to_owned(), query: pairs(query), headers, body })
}

/// A query or a form.
fn pairs(text: &str) -> HashMap<String, String> {
    text.split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let hex: Vec<u8> = bytes.by_ref().take(2).collect();
                out.push(u8::from_str_radix(&String::from_utf8_lossy(&hex), 16).unwrap_or(b'?'));
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { (byte as char).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn route(request: &Request, address: SocketAddr, wrong: Wrong, state: &Mutex<State>) -> Answer {
    let own = format!("http://{address}");
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/mcp") => door(request, &own, wrong, state),
        ("GET", "/.well-known/oauth-protected-resource/mcp") => {
            let resource = match wrong {
                Wrong::OtherResource => "https://evil.example/mcp".to_owned(),
                _ => format!("{own}/mcp"),
            };
            let named = lock(state).names.clone().unwrap_or(own);
            answer(
                "200 OK",
                &json!({ "resource": resource, "authorization_servers": [named], "scopes_supported": ["read"] }),
            )
        }
        ("GET", "/.well-known/oauth-authorization-server") => metadata(&own, wrong),
        ("POST", "/register") if wrong != Wrong::NoRegistration => {
            lock(state).asked.registered += 1;
            answer("201 Created", &json!({ "client_id": "client-1", "token_endpoint_auth_method": "none" }))
        }
        ("GET", "/authorize") => page(request, &own, wrong, state),
        ("POST", "/token") => token(request, wrong, state),
        _ => answer("404 Not Found", &json!({ "error": "not_found" })),
    }
}

fn metadata(own: &str, wrong: Wrong) -> Answer {
    let here = format!("{own}/.well-known/oauth-authorization-server");
    match wrong {
        Wrong::EndlessRedirects => return redirect(here),
        Wrong::RedirectElsewhere => return redirect("http://localhost:1/metadata".into()),
        Wrong::HugeMetadata => return answer("200 OK", &json!({ "issuer": own, "padding": "x".repeat(8 << 20) })),
        _ => {}
    }
    let mut document = json!({
        "issuer": if wrong == Wrong::OtherIssuer { "https://evil.example" } else { own },
        "authorization_endpoint": format!("{own}/authorize"),
        "token_endpoint": format!("{own}/token"),
        "registration_endpoint": format!("{own}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "scopes_supported": ["read", "write"],
    });
    match wrong {
        Wrong::NoPkce => document["code_challenge_methods_supported"] = json!(["plain"]),
        Wrong::PlainTokenEndpoint => document["token_endpoint"] = "http://evil.example/token".into(),
        Wrong::NoRegistration => drop(document.as_object_mut().and_then(|map| map.remove("registration_endpoint"))),
        _ => {}
    }
    answer("200 OK", &document)
}

fn door(request: &Request, own: &str, wrong: Wrong, state: &Mutex<State>) -> Answer {
    let mut state = lock(state);
    let place = format!("resource_metadata=\"{own}/.well-known/oauth-protected-resource/mcp\"");
    let challenge = |status, more: &str| {
        let mut refused = answer(status, &json!({ "error": "no" }));
        refused.headers.push(("WWW-Authenticate", format!("Bearer {more}{place}")));
        refused
    };
    let Some(token) = request.headers.get("authorization").and_then(|value| value.strip_prefix("Bearer ")) else {
        return challenge("401 Unauthorized", "");
    };
    state.asked.tokens.insert(token.to_owned());
    let Some(scope) = state.tokens.get(token).filter(|_| wrong != Wrong::RefusesTokens) else {
        return challenge("401 Unauthorized", "error=\"invalid_token\", ");
    };
    let wants = if wrong == Wrong::NeverEnough { "write" } else { &state.wants };
    if !wants.is_empty() && (wrong == Wrong::NeverEnough || !scope.split(' ').any(|has| has == wants)) {
        return challenge("403 Forbidden", &format!("error=\"insufficient_scope\", scope=\"{wants}\", "));
    }
    answer("200 OK", &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))
}

/// A page on which somebody has just said yes.
fn page(request: &Request, own: &str, wrong: Wrong, state: &Mutex<State>) -> Answer {
    let mut state = lock(state);
    let said = |name: &str| request.query.get(name).cloned().unwrap_or_default();
    state.asked.pages += 1;
    state.asked.scopes.push(said("scope"));
    state.page = Some((said("code_challenge"), said("scope")));
    let wanted = if wrong == Wrong::OtherState { "another".to_owned() } else { said("state") };
    let iss = if wrong == Wrong::OtherIss { "https://evil.example" } else { own };
    let what = if wrong == Wrong::Denies { "error=access_denied" } else { "code=c0de" };
    redirect(format!("{}?{what}&state={}&iss={}", said("redirect_uri"), encoded(&wanted), encoded(iss)))
}

fn token(request: &Request, wrong: Wrong, state: &Mutex<State>) -> Answer {
    let mut state = lock(state);
    state.asked.forms += 1;
    let form = pairs(&String::from_utf8_lossy(&request.body));
    let said = |name: &str| form.get(name).cloned().unwrap_or_default();
    let refused =
        |error: &str| answer("400 Bad Request", &json!({ "error": error, "error_description": "\u{1b}[31mno" }));
    let scope = match said("grant_type").as_str() {
        "authorization_code" => {
            state.asked.codes += 1;
            let Some((_, scope)) = state.page.take() else { return refused("invalid_grant") };
            if wrong == Wrong::NoToken || said("code") != "c0de" || said("code_verifier").len() < 43 {
                return refused("invalid_grant");
            }
            scope
        }
        "refresh_token" => {
            state.asked.renewals += 1;
            if wrong == Wrong::RenewalFails {
                return answer("503 Service Unavailable", &json!({}));
            }
            let old = said("refresh_token");
            if state.spent.contains(&old) {
                state.asked.reused += 1;
                return refused("invalid_grant");
            }
            if wrong == Wrong::NoRenewal || !state.refresh.remove(&old) {
                return refused("invalid_grant");
            }
            state.spent.insert(old);
            "read".to_owned()
        }
        "client_credentials" => said("scope"),
        _ => return refused("unsupported_grant_type"),
    };
    state.given += 1;
    let (access, refresh) = (format!("access-{}", state.given), format!("refresh-{}", state.given));
    state.tokens.insert(access.clone(), scope.clone());
    state.refresh.insert(refresh.clone());
    let access = if wrong == Wrong::TokenWithLineEnd { "a\r\nx: y".to_owned() } else { access };
    let kind = if wrong == Wrong::OddTokenType { "mac" } else { "bearer" };
    answer(
        "200 OK",
        &json!({ "access_token": access, "token_type": kind, "expires_in": 3600, "refresh_token": refresh, "scope": scope }),
    )
}

/// What a browser would do with a page: opens it and goes where it leads. The address that it ends at; nothing where the
/// page does not come within 10 s.
pub async fn browse(page: &str) -> Option<String> {
    let answer = tokio::time::timeout(Duration::from_secs(10), get(page)).await.ok()??;
    answer.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    })
}

/// The whole answer to a GET.
pub async fn get(url: &str) -> Option<String> {
    ask(url, "GET", "").await
}

/// The whole answer to a request, as it came; `headers` end with a line end each.
pub async fn ask(url: &str, method: &str, headers: &str) -> Option<String> {
    let (host, path) = url.strip_prefix("http://")?.split_once('/')?;
    let mut stream = TcpStream::connect(host).await.ok()?;
    let request =
        format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}
