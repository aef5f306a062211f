//! The client's end of two pipes, as raw as the wire.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinHandle;

use crate::backend::Scene;

/// Nothing here takes so long, and nothing here is waited for without an end.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A client.
pub struct Peer {
    pub scene: Arc<Scene>,
    input: Option<Sender>,
    output: BufReader<Receiver>,
    server: JoinHandle<std::io::Result<()>>,
    next: i64,
    /// Sent with each request: the `_meta` of 2026-07-28.
    meta: Option<Value>,
}

/// Two pipes with a server behind them: what to write to, what to read from.
pub fn pipes(scene: Arc<Scene>) -> (Sender, Receiver, JoinHandle<std::io::Result<()>>) {
    let (server_in, input) = rustix::pipe::pipe().expect("a pipe");
    let (output, server_out) = rustix::pipe::pipe().expect("a pipe");
    let server = tokio::spawn(async move { nika_mcp::serve_fds(scene, server_in.as_fd(), server_out.as_fd()).await });
    (Sender::from_owned_fd(input).expect("a pipe"), Receiver::from_owned_fd(output).expect("a pipe"), server)
}

impl Peer {
    /// A client that has said nothing.
    pub fn silent() -> Peer {
        let scene = Arc::new(Scene::default());
        let (input, output, server) = pipes(Arc::clone(&scene));
        Peer { scene, input: Some(input), output: BufReader::new(output), server, next: 1, meta: None }
    }

    /// A client of an older revision, after the handshake.
    pub async fn legacy(revision: &str, capabilities: Value) -> Peer {
        let mut peer = Peer::silent();
        let client = json!({ "name": "peer", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
        let hello = peer.ask("initialize", params).await;
        assert_eq!(hello["result"]["protocolVersion"], revision);
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        peer
    }

    /// A client of 2026-07-28.
    pub fn modern(capabilities: Value) -> Peer {
        let mut peer = Peer::silent();
        peer.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        peer
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().expect("still open").write_all(bytes).await.expect("the server reads");
    }

    pub async fn send(&mut self, message: Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    pub async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.output.read_line(&mut line)).await;
        read.expect("in time").expect("readable");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a request; the id is returned.
    pub async fn request(&mut self, method: &str, mut params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        if let Some(meta) = &self.meta {
            let meta = meta.as_object().expect("an object").clone();
            let own = params.as_object_mut().expect("an object").entry("_meta").or_insert_with(|| json!({}));
            own.as_object_mut().expect("an object").extend(meta);
        }
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    /// Sends a request and takes the next message for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub async fn call(&mut self, tool: &str, text: &str) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": { "text": text } })).await
    }

    /// Closes the input and reads what is left, to the end.
    pub async fn hang_up(mut self) -> Vec<Value> {
        drop(self.input.take());
        let mut rest = Vec::new();
        let mut line = String::new();
        while tokio::time::timeout(PATIENCE, self.output.read_line(&mut line)).await.expect("in time").expect("read")
            > 0
        {
            rest.push(serde_json::from_str(&line).expect("JSON"));
            line.clear();
        }
        self.server.await.expect("no panic").expect("no error");
        rest
    }
}
