//! An MCP client over stdio, written by hand: lines of JSON out, lines of JSON in.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub struct Peer {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    /// `_meta` of every request: what 2026-07-28 wants there.
    meta: Option<Value>,
    /// What else came, so far.
    pub heard: Vec<Value>,
}

/// All text of a tool's result.
pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

impl Peer {
    pub fn start(mut command: Command) -> Peer {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        Peer { child, to, from, next: 0, meta: None, heard: Vec::new() }
    }

    pub fn initialize(&mut self, revision: &str) -> Value {
        self.initialize_with(revision, json!({}))
    }

    pub fn initialize_with(&mut self, revision: &str, capabilities: Value) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": client});
        let answer = self.request("initialize", params);
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// From here on every request names this revision and capabilities, and there is no handshake.
    pub fn stateless(&mut self, revision: &str, capabilities: Value) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
    }

    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.write(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let message = self.read();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// The next request of the server's.
    pub fn asked(&mut self) -> Value {
        loop {
            let message = self.read();
            if message.get("method").is_some() && message.get("id").is_some() {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Answers it.
    pub fn answers(&mut self, asked: &Value, result: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    }

    pub fn tells(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The result of the request that was sent last.
    pub fn next_result(&mut self) -> Value {
        loop {
            let message = self.read();
            if message["id"] == self.next && message.get("method").is_none() {
                return message["result"].clone();
            }
            self.heard.push(message);
        }
    }

    /// A call's result; the text of its first block is at `content[0].text`.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    pub fn names(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes the server's input and waits for its end.
    pub fn end(mut self) -> i32 {
        drop(self.to.take());
        self.child.wait().expect("it ends").code().unwrap_or(-1)
    }

    /// SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    fn write(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("it was not closed");
        writeln!(to, "{message}").and_then(|()| to.flush()).expect("the server reads");
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).expect("the server writes"), 0, "the server went away");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}
