//! A server that can misbehave in every way that a test wants, behind pipes that are no process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nika_contract::{BoxFuture, ToolError};
use nika_mcp::client::{Launch, Launched, Process, Program, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

/// How it takes the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// It knows `initialize` and answers other things with an error.
    Legacy,
    /// It speaks 2026-07-28 and nothing else.
    Modern,
    /// It ends when anything but `initialize` comes first.
    HangsUp,
    /// It says nothing at all.
    Mute,
}

/// How it answers `tools/list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Its tools, on one page.
    Whole,
    /// Page after page, each after so many milliseconds.
    Endless(u64),
    /// Page after page, each with so many bytes of description.
    Heavy(usize),
    /// Not at all.
    Never,
    /// With an error.
    Fails,
}

/// The server, shared by all its starts.
#[derive(Debug)]
pub struct Peer {
    pub era: Era,
    pub tools: Mutex<Vec<Value>>,
    pub listing: Mutex<Listing>,
    /// Everything that it was sent.
    pub heard: Mutex<Vec<Value>>,
    pub starts: AtomicUsize,
}

impl Peer {
    pub fn new(era: Era, tools: Vec<Value>) -> Arc<Peer> {
        let listing = Mutex::new(Listing::Whole);
        Arc::new(Peer { era, tools: Mutex::new(tools), listing, heard: Mutex::default(), starts: AtomicUsize::new(0) })
    }

    pub fn lists(&self, listing: Listing) {
        *self.listing.lock().expect("nobody panicked") = listing;
    }

    pub fn heard(&self, method: &str) -> Vec<Value> {
        let all = self.heard.lock().expect("nobody panicked");
        all.iter().filter(|message| message["method"] == method).cloned().collect()
    }
}

/// A tool that does what its name says.
pub fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

#[derive(Debug)]
pub struct Scripted(pub Arc<Peer>);

#[derive(Debug)]
struct Task(tokio::task::JoinHandle<()>);

impl Process for Task {
    fn remarks(&self) -> Vec<String> {
        if self.0.is_finished() { vec!["it is over".to_owned()] } else { Vec::new() }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Launch for Scripted {
    fn launch<'a>(&'a self, _: &'a Server, _: &'a Program) -> BoxFuture<'a, Result<Launched, ToolError>> {
        self.0.starts.fetch_add(1, Ordering::SeqCst);
        let (stdin, their_in) = tokio::io::duplex(1 << 20);
        let (stdout, their_out) = tokio::io::duplex(1 << 20);
        let (stderr, their_err) = tokio::io::duplex(1 << 16);
        let session = Session {
            peer: Arc::clone(&self.0),
            out: their_out,
            err: their_err,
            greeted: false,
            asked: None,
            insists: false,
        };
        let task = tokio::spawn(session.run(their_in));
        Box::pin(async move {
            Ok(Launched {
                stdin: Box::new(stdin),
                stdout: Box::new(stdout),
                stderr: Box::new(stderr),
                process: Box::new(Task(task)),
            })
        })
    }
}

struct Session {
    peer: Arc<Peer>,
    out: DuplexStream,
    err: DuplexStream,
    greeted: bool,
    /// The call that waits for an answer of ours.
    asked: Option<Value>,
    /// Whether it asks again.
    insists: bool,
}

impl Session {
    async fn run(mut self, stdin: DuplexStream) {
        let mut lines = BufReader::new(stdin).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
            self.peer.heard.lock().expect("nobody panicked").push(message.clone());
            if !self.answer(&message).await {
                return;
            }
        }
    }

    async fn say(&mut self, message: Value) {
        let _ = self.out.write_all(format!("{message}\n").as_bytes()).await;
    }

    async fn ask(&mut self) {
        self.say(json!({"jsonrpc": "2.0", "id": "ask", "method": "elicitation/create", "params": form()})).await;
    }

    async fn result(&mut self, id: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    async fn error(&mut self, id: &Value, code: i64, message: &str) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})).await;
    }

    /// False where it ends.
    async fn answer(&mut self, message: &Value) -> bool {
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        let era = self.peer.era;
        if era == Era::Mute {
            return true;
        }
        let capabilities = json!({"tools": {"listChanged": true}, "resources": {}});
        match method {
            "" => {
                // The answer to what it asked. One that insists takes nothing but a no.
                if self.insists && message["result"]["action"] == "accept" {
                    self.ask().await;
                } else if let Some(call) = self.asked.take() {
                    let said = if message["error"].is_null() { &message["result"] } else { &message["error"] };
                    self.result(&call, json!({"content": [{"type": "text", "text": said.to_string()}]})).await;
                }
            }
            "initialize" if era != Era::Modern => {
                self.greeted = true;
                let info = json!({"name": "scripted", "version": "1"});
                let instructions = "Use me well.";
                let revision = &message["params"]["protocolVersion"];
                self.result(
                    id,
                    json!({"protocolVersion": revision, "capabilities": capabilities, "serverInfo": info, "instructions": instructions}),
                )
                .await;
            }
            _ if era == Era::HangsUp && !self.greeted => return false,
            "server/discover" if era == Era::Modern => {
                self.result(id, json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})).await;
            }
            "tools/list" if !self.lists_plainly(id).await => {}
            "tools/list" => {
                let mut result = json!({"tools": *self.peer.tools.lock().expect("nobody panicked")});
                if era == Era::Modern {
                    result["resultType"] = "complete".into();
                    result["ttlMs"] = 0.into();
                    result["cacheScope"] = "private".into();
                }
                self.result(id, result).await;
            }
            "resources/list" => {
                self.result(id, json!({"resources": [{"uri": "docs://a", "name": "A\u{1b}"}]})).await;
            }
            "resources/read" => {
                let uri = &message["params"]["uri"];
                self.result(id, json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": "inside"}]})).await;
            }
            "tools/call" => return self.call(id, &message["params"]).await,
            "ping" => self.result(id, json!({})).await,
            _ if id.is_null() => {}
            _ => self.error(id, -32601, "no such method").await,
        }
        true
    }

    /// Whether its list is to be answered plainly; anything else is done here.
    async fn lists_plainly(&mut self, id: &Value) -> bool {
        let listing = *self.peer.listing.lock().expect("nobody panicked");
        match listing {
            Listing::Whole => return true,
            Listing::Endless(after_ms) => {
                tokio::time::sleep(std::time::Duration::from_millis(after_ms)).await;
                self.result(id, json!({"tools": [], "nextCursor": "more"})).await;
            }
            Listing::Heavy(bytes) => {
                let heavy =
                    json!({"name": "heavy", "description": "x".repeat(bytes), "inputSchema": {"type": "object"}});
                self.result(id, json!({"tools": [heavy], "nextCursor": "more"})).await;
            }
            Listing::Never => {}
            Listing::Fails => self.error(id, -32000, "not now").await,
        }
        false
    }

    async fn call(&mut self, id: &Value, params: &Value) -> bool {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        match params["name"].as_str().unwrap_or_default() {
            "die" => {
                let _ = self.err.write_all(b"out of cheese\n").await;
                return false;
            }
            "hang" => {}
            "flood" => {
                for _ in 0..200 {
                    let _ = self.err.write_all(&[b'x'; 4096]).await;
                }
                self.result(id, text("flooded")).await;
            }
            "huge" => {
                let _ = self.out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":").await;
                let piece = vec![b'1'; 1 << 20];
                for _ in 0..50 {
                    if self.out.write_all(&piece).await.is_err() {
                        return false;
                    }
                }
            }
            "garbage" => {
                let _ = self.out.write_all(b"hello \x1b[2J\n\xff\xfe\n{\"jsonrpc\": 3}\n\n[]\n").await;
                self.result(id, text("in spite of it")).await;
            }
            "fail" => {
                self.result(id, json!({"content": [{"type": "text", "text": "no such bug"}], "isError": true})).await;
            }
            "refuse" => self.error(id, -32000, "not on a Sunday").await,
            "elicit" if self.peer.era == Era::Modern => {
                if params["inputResponses"].is_null() {
                    let asked = json!({"method": "elicitation/create", "params": form()});
                    self.result(
                        id,
                        json!({"resultType": "input_required", "inputRequests": {"q": asked}, "requestState": "s1"}),
                    )
                    .await;
                } else {
                    let said = format!("{} {}", params["inputResponses"]["q"], params["requestState"]);
                    let mut result = text(&said);
                    result["resultType"] = "complete".into();
                    self.result(id, result).await;
                }
            }
            "elicit" | "insist" => {
                self.asked = Some(id.clone());
                self.insists = params["name"] == "insist";
                self.ask().await;
            }
            "sample" => {
                self.asked = Some(id.clone());
                let params =
                    json!({"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 9});
                self.say(json!({"jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage", "params": params}))
                    .await;
            }
            "roots" => {
                self.asked = Some(id.clone());
                self.say(json!({"jsonrpc": "2.0", "id": "ask", "method": "roots/list"})).await;
            }
            "slowly" => {
                let token = &params["_meta"]["progressToken"];
                for step in 1..=3 {
                    tokio::time::sleep(std::time::Duration::from_millis(800)).await;
                    let params = json!({"progressToken": token, "progress": step, "total": 3, "message": "on it"});
                    self.say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})).await;
                }
                self.result(id, text("slow and steady")).await;
            }
            "chatter" => {
                for _ in 0..200 {
                    self.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
                }
                self.result(id, text("said again and again")).await;
            }
            "grow" => {
                self.peer.tools.lock().expect("nobody panicked").push(tool("grown"));
                self.say(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})).await;
                self.result(id, text("grown")).await;
            }
            _ => {
                let mut result = text(&format!("you said {}", params["arguments"]));
                if self.peer.era == Era::Modern {
                    result["resultType"] = "complete".into();
                }
                self.result(id, result).await;
            }
        }
        true
    }
}

fn form() -> Value {
    json!({
        "message": "Which \u{1b}colour?",
        "requestedSchema": {
            "type": "object",
            "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
            "required": ["colour"],
        },
    })
}
