//! A small HTTP server for one test: it answers what it is told to, and keeps what it was asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use nika_agent::provider::{
    Adapter, Answered, Arguments, Asking, Call, CallResult, Endpoint, Key, Message, Model, ModelError, Part, Patience,
    Piece, Provider, Proxies, Role, ToolCard, Wire,
};
use nika_contract::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server was asked.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// Names in small letters.
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Whole,
    /// The connection closes, and nothing says whether that was all.
    Closed,
    /// The connection closes before what was promised.
    Broken,
}

/// What a server answers.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
    end: End,
}

impl Reply {
    /// A stream of events, or of lines.
    pub fn stream(body: &str) -> Reply {
        Reply {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
            body: body.into(),
            end: End::Whole,
        }
    }

    pub fn json(status: u16, body: &Value) -> Reply {
        let headers = vec![("content-type".into(), "application/json".into())];
        Reply { status, headers, body: body.to_string(), end: End::Whole }
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn ends(mut self, end: End) -> Reply {
        self.end = end;
        self
    }
}

/// A server on a free port of this machine.
#[derive(Debug)]
pub struct Loopback {
    pub address: String,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Loopback {
    /// Answers with each reply once, in order, and to nobody afterwards.
    pub async fn with(replies: impl IntoIterator<Item = Reply>) -> Loopback {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (replies, seen) = (replies.into_iter().collect::<Vec<_>>(), asked.clone());
        tokio::spawn(async move {
            for reply in replies {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, reply, &seen).await;
            }
        });
        Loopback { address, asked }
    }

    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, reply: Reply, seen: &Mutex<Vec<Request>>) {
    let mut bytes = Vec::new();
    let request = loop {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the client left in the middle of its request");
        if let Some(request) = parse(&bytes) {
            break request;
        }
    };
    seen.lock().unwrap().push(request);
    let mut head = format!("HTTP/1.1 {} Reason\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    match reply.end {
        End::Whole => write!(head, "content-length: {}\r\n\r\n", reply.body.len()).unwrap(),
        End::Broken => write!(head, "content-length: {}\r\n\r\n", reply.body.len() + 100).unwrap(),
        End::Closed => head.push_str("\r\n"),
    }
    stream.write_all(head.as_bytes()).await.unwrap();
    // An odd size, so that pieces end within events, within lines and within characters.
    for piece in reply.body.as_bytes().chunks(53) {
        stream.write_all(piece).await.unwrap();
        stream.flush().await.unwrap();
    }
    stream.shutdown().await.ok();
}

fn parse(bytes: &[u8]) -> Option<Request> {
    let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..head_end]).unwrap();
    let mut lines = head.split("\r\n");
    let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let body = bytes.get(head_end + 4..head_end + 4 + length)?;
    Some(Request { path, headers, body: serde_json::from_slice(body).unwrap_or(Value::Null) })
}

/// A clock that stands.
#[derive(Debug)]
pub struct Standing(pub u64);

impl Clock for Standing {
    fn unix_ms(&self) -> u64 {
        self.0
    }
}

pub fn endpoint(provider: &str, adapter: Adapter, address: &str) -> Endpoint {
    Endpoint {
        provider: provider.into(),
        adapter,
        address: address.into(),
        key: Some(Key::new("sk-test-key")),
        model: Model { id: "some-model".into(), context_tokens: 100_000, max_output: Some(4096), prices: None },
        effort: None,
        headers: Vec::new(),
    }
}

pub fn wire(provider: &str, adapter: Adapter, address: &str) -> Wire {
    reach(endpoint(provider, adapter, address))
}

pub fn reach(endpoint: Endpoint) -> Wire {
    Wire::new(endpoint, Proxies::default(), Patience::default(), Arc::new(Standing(1_000_000))).unwrap()
}

pub fn tools() -> Vec<ToolCard> {
    let card = |name: &str| ToolCard {
        name: name.into(),
        description: format!("The tool {name}."),
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    vec![card("list_dir"), card("read")]
}

pub fn user(text: &str) -> Message {
    Message { role: Role::User, parts: vec![Part::Text(text.into())] }
}

/// One request, and the pieces as text: `began`, `text:…`, `thinking:…`, `calling:NAME`, `waiting:MS`.
pub async fn ask(provider: &dyn Provider, messages: &[Message]) -> (Result<Answered, ModelError>, Vec<String>) {
    ask_with(provider, messages, None).await
}

pub async fn ask_with(
    provider: &dyn Provider,
    messages: &[Message],
    must_call: Option<&str>,
) -> (Result<Answered, ModelError>, Vec<String>) {
    let tools = tools();
    let asking = Asking { system: "Be brief.", tools: &tools, messages, cache_key: "session-1", must_call };
    let mut pieces = Vec::new();
    let mut sink = |piece: Piece<'_>| {
        pieces.push(match piece {
            Piece::Began => "began".to_owned(),
            Piece::Text(text) => format!("text:{text}"),
            Piece::Thinking(text) => format!("thinking:{text}"),
            Piece::Calling { name, .. } => format!("calling:{name}"),
            Piece::Waiting { ms, .. } => format!("waiting:{ms}"),
        });
    };
    let answered = provider.answer(&asking, &mut sink).await;
    (answered, pieces)
}

/// Text of an answer.
pub fn text(answered: &Answered) -> String {
    let texts = answered.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Calls of an answer.
pub fn calls(answered: &Answered) -> Vec<Call> {
    let calls = answered.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call.clone()),
        _ => None,
    });
    calls.collect()
}

/// What stands in an object of arguments.
pub fn object(call: &Call) -> Value {
    match &call.arguments {
        Arguments::Object(map) => Value::Object(map.clone()),
        Arguments::Malformed(raw) => panic!("malformed arguments: {raw}"),
    }
}

/// The message that answers the calls: the first got text and a picture, the others failed.
pub fn results(calls: &[Call]) -> Message {
    let parts = calls.iter().enumerate().map(|(at, call)| {
        Part::Result(CallResult {
            id: call.id.clone(),
            name: call.name.clone(),
            text: if at == 0 { "hello".into() } else { "NIKA-205 not allowed".into() },
            is_error: at > 0,
            images: if at == 0 { vec![("image/png".into(), "aGVsbG8=".into())] } else { Vec::new() },
        })
    });
    Message { role: Role::Tool, parts: parts.collect() }
}
