//! The MCP server over HTTP: the token, and sessions by handle.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::world::{World, world};

struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(world: &World, words: &[&str]) -> Server {
    let mut all = vec!["serve", "--http", "127.0.0.1:0"];
    all.extend(words);
    let mut child = world.nika(&all).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    let address = line().split("http://").nth(1).expect("an address").trim_end_matches("/mcp").to_owned();
    let token = line().split("Bearer ").nth(1).unwrap_or_default().trim_end_matches('`').to_owned();
    Server { child, address, token }
}

/// One request of 2026-07-28; the status line and the message in the body.
fn post(server: &Server, token: &str, method: &str, mut params: Value) -> (String, Value) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n\
         {name}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let status = answer.lines().next().unwrap_or_default().to_owned();
    let (from, to) = (answer.find("{\""), answer.rfind('}'));
    let message = from.zip(to).and_then(|(from, to)| serde_json::from_str(&answer[from..=to]).ok());
    (status, message.unwrap_or_else(|| json!({ "raw": answer })))
}

fn call(server: &Server, tool: &str, arguments: Value) -> Value {
    post(server, &server.token, "tools/call", json!({"name": tool, "arguments": arguments})).1
}

#[test]
fn what_is_wrong_with_the_parameters_of_a_call_is_said() {
    let world = world();
    let server = start(&world, &[]);
    for (params, says) in [
        (json!({}), "`name` of the tool is missing"),
        (json!({"name": "read", "arguments": "x"}), "`arguments` is an object"),
        (json!({"name": "read", "arguments": {}, "inputResponses": "x"}), "`inputResponses` is an object"),
    ] {
        let error = &post(&server, &server.token, "tools/call", params).1["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!(says)), "{error}");
    }
}

#[test]
fn only_the_token_opens() {
    let world = world();
    let server = start(&world, &[]);
    assert!(server.token.len() >= 32);
    assert!(post(&server, "wrong", "tools/list", json!({})).0.contains("401"));
    let (status, list) = post(&server, &server.token, "tools/list", json!({}));
    assert!(status.contains("200") && list["result"]["tools"].is_array(), "{status} {list}");
}

#[test]
fn a_handle_is_a_session() {
    let world = world().file("a.txt", "one\n");
    let server = start(&world, &["--mode", "accept-edits"]);
    let read = call(&server, "nika_read", json!({"file_path": "a.txt"}));
    let handle = read["result"]["_meta"]["nika/session"].as_str().unwrap_or_else(|| panic!("{read}")).to_owned();
    let edit = |handle: Option<&str>| {
        let mut arguments = json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"});
        if let Some(handle) = handle {
            arguments["nika_session"] = handle.into();
        }
        call(&server, "nika_edit", arguments)["result"].clone()
    };
    assert_eq!(edit(None)["_meta"]["nika/code"], "NIKA-203");
    assert_eq!(edit(Some("guessed"))["_meta"]["nika/code"], "NIKA-104");
    let done = edit(Some(&handle));
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(world.text("a.txt"), "1\n");
}

#[test]
fn a_token_file_is_used_and_not_printed() {
    let world = world();
    let file = world.path("token");
    let server = start(&world, &["--token-file", file.to_str().expect("UTF-8")]);
    assert_eq!(server.token, "");
    let token = std::fs::read_to_string(&file).expect("it was made");
    assert!(post(&server, token.trim(), "tools/list", json!({})).0.contains("200"));
}

/// A request as it is written; all of the answer.
fn raw(server: &Server, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("it listens");
    let length = body.len();
    let host = &server.address;
    write!(stream, "{head}\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
        .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer.to_lowercase()
}

#[test]
fn pages_of_allowed_origins_may_ask_and_read() {
    let world = world();
    let server = start(&world, &["--allow-origin", "https://app.example.com:443"]);
    let ask = "OPTIONS /mcp HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: \
               authorization,content-type,mcp-protocol-version\r\nOrigin: ";
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    for origin in ["https://app.example.com", "http://localhost:5173"] {
        let may = format!("access-control-allow-origin: {origin}");
        let asked = raw(&server, &format!("{ask}{origin}"), "");
        assert!(asked.starts_with("http/1.1 200") && asked.contains(&may), "{asked}");
        assert!(
            asked.contains("authorization") && asked.contains("access-control-allow-methods: get,post,delete"),
            "{asked}"
        );
        // Without the token nothing is answered, but a page may read why.
        let head = format!("POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nOrigin: {origin}");
        let refused = raw(&server, &head, &list);
        assert!(refused.starts_with("http/1.1 401") && refused.contains(&may), "{refused}");
    }
    for origin in ["https://evil.example", "http://localhost.evil.example", "null"] {
        let asked = raw(&server, &format!("{ask}{origin}"), "");
        assert!(!asked.contains("access-control-allow-origin"), "{origin}: {asked}");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer {}\r\nOrigin: {origin}",
            server.token
        );
        let refused = raw(&server, &head, &list);
        assert!(refused.starts_with("http/1.1 403"), "{origin}: {refused}");
    }
}

#[test]
fn what_is_no_json_is_answered_as_such_and_any_answer_may_be_accepted() {
    let world = world();
    let server = start(&world, &[]);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: */*\r\nAuthorization: Bearer {}",
        server.token
    );
    for body in ["{", "", "[1,", "\u{feff}x"] {
        let answer = raw(&server, &head, body);
        assert!(answer.starts_with("http/1.1 400") && answer.contains("-32700"), "{body:?}: {answer}");
    }
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let answer = raw(&server, &head, &hello.to_string());
    assert!(answer.starts_with("http/1.1 200") && answer.contains("2025-11-25"), "{answer}");
    let other = raw(&server, &head.replace("application/json", "text/plain"), "x");
    assert!(other.starts_with("http/1.1 415"), "{other}");
}

#[test]
fn an_origin_that_is_none_is_a_slip() {
    let world = world();
    for origin in ["app.example.com", "*", "https://app.example.com/page", "https://"] {
        let ended = world.run(&["serve", "--http", "127.0.0.1:0", "--allow-origin", origin]);
        ended.exits(2).complains("is no origin of pages").complains("https://app.example.com:443");
    }
}

#[test]
fn an_address_that_is_none_is_a_slip() {
    let world = world();
    for address in ["99999", "127.0.0.1:99999", "127.0.0.1:x"] {
        world.run(&["serve", "--http", address]).exits(2).complains("is no port");
    }
}

#[test]
fn a_client_that_ends_its_session_ends_what_runs_in_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("beat.sh", "while :; do date +%N > beat; sleep 0.05; done\n");
    let server = start(&world, &["--mode", "workspace", "--list", "all"]);
    let send = |method: &str, session: &str, body: &str| {
        let session = if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{session}MCP-Protocol-Version: 2025-11-25\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            server.address,
            server.token,
            body.len()
        );
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let beat = || std::fs::read_to_string(world.root().join("beat")).unwrap_or_default();
    let changes = || {
        let (first, since) = (beat(), std::time::Instant::now());
        while beat() == first && since.elapsed().as_millis() < 2_000 {
            std::thread::yield_now();
        }
        beat() != first
    };
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let answer = send("POST", "", &hello.to_string());
    let session =
        answer.lines().find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned));
    let session = session.unwrap_or_else(|| panic!("no session: {answer}"));
    send("POST", &session, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    let job = json!({"command": "sh beat.sh", "run_in_background": true});
    let begin =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nika_bash", "arguments": job}});
    let begun = send("POST", &session, &begin.to_string());
    assert!(begun.contains("Started j1"), "{begun}");
    assert!(changes(), "the job is at work: {begun}");
    let ended = send("DELETE", &session, "");
    assert!(ended.starts_with("HTTP/1.1 2"), "{ended}");
    assert!(!changes(), "it ended with its session");
    assert!(!crate::world::exists(world.root().join(".envrc")), "and nothing stands in any more");
}
