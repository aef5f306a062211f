//! Streamable HTTP: who may come in, both eras, and sessions by handle.

use std::net::SocketAddr;
use std::sync::Arc;

use nika_mcp::{HttpConfig, HttpServer};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::backend::Scene;
use crate::peer::PATIENCE;

pub const TOKEN: &str = "a-token-of-some-length";

/// A server, and a client that is only sockets.
pub struct Web {
    pub address: SocketAddr,
    pub scene: Arc<Scene>,
    headers: Vec<(String, String)>,
}

/// What came back.
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Web {
    pub async fn open() -> Web {
        Web::open_to(&[]).await
    }

    /// One that pages of these origins may call, too.
    pub async fn open_to(origins: &[&str]) -> Web {
        let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        let scene = Arc::new(Scene::default());
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = HttpConfig { listen, token: Some(TOKEN.into()), hosts: Vec::new(), origins };
        let server = HttpServer::bind(scene.clone(), config).await.expect("a free port");
        let address = server.address();
        tokio::spawn(server.run(std::future::pending()));
        let accept = "application/json, text/event-stream";
        let headers = [
            ("Host", address.to_string()),
            ("Authorization", format!("Bearer {TOKEN}")),
            ("Content-Type", "application/json".into()),
            ("Accept", accept.into()),
        ];
        Web { address, scene, headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec() }
    }

    /// Sets a header from here on; an empty value takes it away.
    pub fn set(&mut self, name: &str, value: &str) -> &mut Web {
        self.headers.retain(|header| header.0 != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    async fn connect(&self, body: &str) -> TcpStream {
        self.connect_by("POST", body).await
    }

    async fn connect_by(&self, method: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!("{method} /mcp HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("sent");
        // A server that refuses at the door may not read the rest.
        let _ = stream.write_all(body.as_bytes()).await;
        stream
    }

    pub async fn post(&self, message: Value) -> Response {
        self.send("POST", &message.to_string()).await
    }

    /// Sends anything by any method.
    pub async fn send(&self, method: &str, body: &str) -> Response {
        let mut stream = self.connect_by(method, body).await;
        let mut bytes = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("in time").expect("read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Response { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// A request of 2026-07-28.
    pub async fn modern(&mut self, method: &str, mut params: Value, capabilities: Value) -> Response {
        self.set("MCP-Protocol-Version", "2026-07-28").set("Mcp-Method", method);
        self.set("Mcp-Name", params["name"].as_str().unwrap_or_default());
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        self.post(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await
    }

    /// Shakes hands as an older client does, and stays in the session.
    pub async fn shake_hands(&mut self, capabilities: Value) {
        let mut hello = hello();
        hello["params"]["capabilities"] = capabilities;
        let session = self.post(hello).await.header("mcp-session-id").expect("a session");
        self.set("Mcp-Session-Id", &session).set("MCP-Protocol-Version", "2025-11-25");
        assert_eq!(self.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await.status, 202);
    }

    /// A stream of what a request brings, event by event.
    pub async fn events(&self, message: Value) -> Events {
        Events(BufReader::new(self.connect(&message.to_string()).await))
    }

    /// The stream of what belongs to no request.
    pub async fn news(&self) -> Events {
        Events(BufReader::new(self.connect_by("GET", "").await))
    }

    /// A call of an older revision, inside the session that the handshake made.
    async fn legacy(&self, method: &str, params: Value) -> Response {
        self.post(json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params })).await
    }
}

impl Response {
    pub fn header(&self, name: &str) -> Option<String> {
        let name = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&name)).map(str::to_owned)
    }

    /// Every message of the body, as JSON or as events.
    pub fn messages(&self) -> Vec<Value> {
        let lines = self.body.lines();
        let found = lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap_or(line)).ok());
        found.filter(Value::is_object).collect()
    }

    pub fn last(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {}\n{}", self.head, self.body))
    }
}

/// Messages as they come.
pub struct Events(BufReader<TcpStream>);

impl Events {
    pub async fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("in time");
            assert_ne!(read.expect("readable"), 0, "the stream ended");
            if let Some(message) = line.trim().strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok()) {
                return message;
            }
        }
    }
}

pub fn hello() -> Value {
    let client = json!({ "name": "web", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[tokio::test]
async fn only_the_token_opens() {
    let mut web = Web::open().await;
    assert_eq!(web.post(hello()).await.status, 200);
    for wrong in ["", "Bearer wrong", "Basic YTpi", "Bearer", &format!("Bearer {TOKEN}x")] {
        let refused = web.set("Authorization", wrong).post(hello()).await;
        assert_eq!(refused.status, 401, "{wrong:?}");
        assert!(refused.head.contains("www-authenticate: bearer"), "{}", refused.head);
        assert!(!refused.body.contains(TOKEN));
    }
    let listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let config = HttpConfig { listen, token: None, hosts: Vec::new(), origins: Vec::new() };
    assert!(HttpServer::bind(Arc::new(Scene::default()), config).await.is_err(), "open to the world");
}

#[tokio::test]
async fn a_page_from_elsewhere_stays_out() {
    let mut web = Web::open().await;
    let own = web.address.to_string();
    for (origin, host, want) in [
        ("", own.as_str(), 200),
        ("http://localhost:5173", &own, 200),
        (&format!("http://{own}"), &own, 200),
        ("http://evil.example.com", &own, 403),
        ("http://127.0.0.1.evil.example.com", &own, 403),
        ("null", &own, 403),
        ("", "evil.example.com", 403),
    ] {
        let response = web.set("Origin", origin).set("Host", host).post(hello()).await;
        assert_eq!(response.status, want, "{origin} {host}: {}", response.body);
    }
}

#[tokio::test]
async fn an_older_client_has_a_session_of_the_transport() {
    let mut web = Web::open().await;
    let first = web.post(hello()).await;
    assert_eq!(first.last()["result"]["protocolVersion"], "2025-11-25");
    let session = first.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
    let session = session.to_owned();
    web.set("Mcp-Session-Id", &session).set("MCP-Protocol-Version", "2025-11-25");
    assert_eq!(web.post(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await.status, 202);
    let list = web.legacy("tools/list", json!({})).await.last();
    let echo = &list["result"]["tools"][0];
    assert_eq!(echo["inputSchema"]["properties"]["nika_session"]["type"], "string", "{echo}");

    let minted = web.legacy("tools/call", json!({ "name": "whoami" })).await.last();
    assert_eq!(minted["result"]["_meta"]["nika/session"], "s-1");
    assert!(minted["result"]["content"][1]["text"].as_str().is_some_and(|text| text.contains("nika_session=\"s-1\"")));
    // The transport's session says as much as the argument.
    let known = web.legacy("tools/call", json!({ "name": "whoami" })).await.last();
    assert_eq!(known["result"]["content"][0]["text"], "known");
    assert_eq!(web.set("Mcp-Session-Id", "made-up").legacy("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn a_newer_client_passes_its_handle() {
    let mut web = Web::open().await;
    let found = web.modern("server/discover", json!({}), json!({})).await.last();
    assert_eq!(found["result"]["supportedVersions"][2], "2026-07-28");
    let call = |handle: Value| json!({ "name": "whoami", "arguments": { "nika_session": handle } });
    for _ in 0..2 {
        let new = web.modern("tools/call", json!({ "name": "whoami" }), json!({})).await.last();
        assert_eq!(new["result"]["_meta"]["nika/session"], "s-1", "each is alone");
    }
    let known = web.modern("tools/call", call("s-1".into()), json!({})).await.last();
    assert_eq!(known["result"]["content"][0]["text"], "known");
    let unknown = web.modern("tools/call", call("s-2".into()), json!({})).await.last();
    assert_eq!(unknown["result"]["_meta"]["nika/code"], "NIKA-104");
    let wrong = web.modern("tools/call", call(7.into()), json!({})).await.last();
    assert_eq!(wrong["error"]["code"], -32602);
    let nope = web.modern("tools/call", json!({ "name": "nope" }), json!({})).await.last();
    assert_eq!(nope["error"]["code"], -32602);
}

#[tokio::test]
async fn a_newer_client_is_asked_by_a_result() {
    let mut web = Web::open().await;
    let forms = json!({ "elicitation": {} });
    let call = json!({ "name": "ask", "arguments": { "text": "a.rs" } });
    let nobody = web.modern("tools/call", call.clone(), json!({})).await.last();
    assert_eq!(nobody["result"]["content"][0]["text"], "nobody");
    let asked = web.modern("tools/call", call.clone(), forms.clone()).await.last();
    assert_eq!(asked["result"]["resultType"], "input_required");
    let mut retry = call;
    retry["inputResponses"] = json!({ "permission": { "action": "accept", "content": { "answer": "yes" } } });
    retry["requestState"] = asked["result"]["requestState"].clone();
    let done = web.modern("tools/call", retry.clone(), forms.clone()).await.last();
    assert_eq!(done["result"]["content"][0]["text"], "yes by the client's user");
    retry["requestState"] = "forged".into();
    assert_eq!(web.modern("tools/call", retry, forms).await.last()["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_call() {
    let mut web = Web::open().await;
    web.modern("tools/list", json!({}), json!({})).await;
    web.set("Mcp-Method", "tools/call").set("Mcp-Name", "wait");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "wait", "arguments": { "text": "long" }, "_meta": meta });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let stream = web.connect(&call.to_string()).await;
    let begun = web.scene.until_some(&web.scene.begun);
    tokio::time::timeout(PATIENCE, begun).await.expect("begun");
    drop(stream);
    let cancelled = web.scene.until_some(&web.scene.cancelled);
    tokio::time::timeout(PATIENCE, cancelled).await.expect("cancelled");
}

/// The SDK finds the stream of an answer by the request's id: a second request under it got the first one's answer.
#[tokio::test]
async fn an_id_that_is_being_answered_is_not_taken_again() {
    let mut web = Web::open().await;
    web.shake_hands(json!({})).await;
    let call = |tool: &str| {
        let params = json!({ "name": tool, "arguments": { "text": "long" } });
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
    };
    let first = web.connect(&call("wait").to_string()).await;
    tokio::time::timeout(PATIENCE, web.scene.until_some(&web.scene.begun)).await.expect("begun");
    let second = web.post(call("echo")).await.last();
    assert_eq!((&second["id"], &second["error"]["code"]), (&json!(7), &json!(-32600)), "{second}");
    assert!(second["error"]["message"].as_str().expect("a text").contains("still running"), "{second}");
    // Another session has ids of its own.
    let session = web.headers.iter().find(|header| header.0 == "Mcp-Session-Id").expect("one").1.clone();
    web.set("Mcp-Session-Id", "").shake_hands(json!({})).await;
    assert!(web.post(call("echo")).await.last()["result"].is_object());
    web.set("Mcp-Session-Id", &session);
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(web.post(cancelled).await.status, 202);
    tokio::time::timeout(PATIENCE, web.scene.until_some(&web.scene.cancelled)).await.expect("cancelled");
    drop(first);
}

#[tokio::test]
async fn a_client_that_says_half_a_request_does_not_keep_the_server_from_ending() {
    for half in
        ["POST /mcp HTTP/1.1\r\nHost: loc", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", ""]
    {
        let config = HttpConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: Some(TOKEN.into()),
            hosts: Vec::new(),
            origins: Vec::new(),
        };
        let server = HttpServer::bind(Arc::new(Scene::default()), config).await.expect("a free port");
        let mut client = TcpStream::connect(server.address()).await.expect("it listens");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async move { drop(stopped.await) }));
        client.write_all(half.as_bytes()).await.expect("sent");
        tokio::task::yield_now().await;
        stop.send(()).expect("it runs");
        let ended = tokio::time::timeout(PATIENCE, running).await.expect("it ends");
        ended.expect("it is whole").expect("it served");
        drop(client);
    }
}
