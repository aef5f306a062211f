//! Servers at addresses: streamable HTTP, the transport of before, and who is let in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nika_contract::{BoxFuture, Nobody, ToolError, code};
use nika_mcp::client::{Again, Authorizer, Authorizers, ByHeaders, NoPrograms, Pool, Refusal, Server, State};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::{Memory, pool};
use crate::http::{TOKEN, Web};

/// Has the right word only once it was refused.
#[derive(Debug, Default)]
struct Learns {
    refusals: Mutex<Vec<Refusal>>,
    knows: AtomicUsize,
}

#[derive(Debug)]
struct Everywhere(Arc<Learns>);

impl Authorizers for Everywhere {
    fn of(&self, _: &Server) -> Arc<dyn Authorizer> {
        Arc::<Learns>::clone(&self.0)
    }
}

impl Authorizer for Learns {
    fn headers<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        let word = if self.knows.load(Ordering::SeqCst) > 0 { TOKEN } else { "wrong" };
        Box::pin(async move { Ok(vec![("authorization".to_owned(), format!("Bearer {word}"))]) })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        self.refusals.lock().expect("nobody panicked").push(refusal.clone());
        self.knows.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(Again::Yes) })
    }
}

/// Knows that nothing helps.
#[derive(Debug)]
struct GivesUp;

impl Authorizers for GivesUp {
    fn of(&self, _: &Server) -> Arc<dyn Authorizer> {
        Arc::new(GivesUp)
    }
}

impl Authorizer for GivesUp {
    fn headers<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        Box::pin(async { Err(ToolError::new(code::SERVER_UNAUTHORISED, "log in first")) })
    }
}

async fn call(pool: &Arc<Pool>, tool: &str, arguments: Value) -> Result<String, ToolError> {
    let all = nika_mcp::client::tools(pool);
    let call = all.iter().find(|tool| tool.spec().name == "mcp_call_tool").expect("it is one");
    let arguments = json!({"server": "s", "tool": tool, "arguments": arguments});
    let done = super::run(call.as_ref(), arguments, Arc::new(Nobody), &nika_contract::Cancel::default()).await;
    done.0.map(|output| output.joined_text())
}

#[tokio::test]
async fn an_authorizer_is_asked_for_headers_and_hears_of_refusals() {
    let web = Web::open().await;
    let (learns, keep) = (Arc::new(Learns::default()), Arc::new(Memory::default()));
    let value = json!({"url": format!("http://{}/mcp", web.address)});
    let pool = pool(&value, Arc::new(NoPrograms), Arc::new(Everywhere(Arc::clone(&learns))), &keep);
    pool.refresh("s").await.expect("it is let in at the second try");
    let status = &pool.status()[0];
    assert_eq!(status.state, State::Ready);
    assert!(!status.pinned.is_empty());
    let refusals = learns.refusals.lock().expect("nobody panicked").clone();
    assert_eq!((refusals.len(), refusals[0].status), (1, 401));
    assert!(refusals[0].url.ends_with("/mcp"), "{refusals:?}");
    pool.close().await;
}

#[tokio::test]
async fn a_refusal_without_a_way_out_says_so() {
    let web = Web::open().await;
    let value = json!({"url": format!("http://{}/mcp", web.address)});
    let barred = pool(&value, Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
    assert_eq!(barred.refresh("s").await.expect_err("no headers").code, code::SERVER_UNAUTHORISED);
    let given_up = pool(&value, Arc::new(NoPrograms), Arc::new(GivesUp), &Arc::default());
    assert_eq!(given_up.refresh("s").await.expect_err("no way").message, "log in first");
    let with = json!({"url": value["url"], "headers": {"Authorization": format!("Bearer {TOKEN}")}});
    let let_in = pool(&with, Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
    let_in.refresh("s").await.expect("the configuration's headers let it in");
}

#[tokio::test]
async fn where_nobody_listens_the_address_and_the_cause_are_said_without_a_key() {
    for kind in ["http", "sse"] {
        let nobody = json!({"type": kind, "url": "http://127.0.0.1:9/mcp?key=hush"});
        let nobody = pool(&nobody, Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
        let error = nobody.refresh("s").await.expect_err("nobody listens");
        assert_eq!(error.code, code::SERVER_UNREACHABLE);
        for part in ["'s'", "http://127.0.0.1:9/mcp: ", "refused"] {
            assert!(error.message.contains(part), "{kind}: {part}: {error}");
        }
        assert!(!error.to_string().contains("hush"), "{kind}: {error}");
    }
}

/// Lets the first requests through, and then wants a login.
#[derive(Debug, Default)]
struct Forgets(AtomicUsize);

#[derive(Debug)]
struct ToForget(Arc<Forgets>);

impl Authorizers for ToForget {
    fn of(&self, _: &Server) -> Arc<dyn Authorizer> {
        Arc::<Forgets>::clone(&self.0)
    }
}

impl Authorizer for Forgets {
    fn headers<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        let forgotten = self.0.load(Ordering::SeqCst) > 0;
        Box::pin(async move {
            match forgotten {
                true => Err(ToolError::new(code::MCP_LOGIN_EXPIRED, "log in again")),
                false => Ok(Vec::new()),
            }
        })
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        Box::pin(async { Ok(Again::No) })
    }
}

#[tokio::test]
async fn a_login_that_is_wanted_in_the_middle_is_said_over_the_old_transport_too() {
    let (url, forgets) = (old_server("/messages").await, Arc::new(Forgets::default()));
    let value = json!({"type": "sse", "url": url});
    let pool = pool(&value, Arc::new(NoPrograms), Arc::new(ToForget(Arc::clone(&forgets))), &Arc::default());
    call(&pool, "echo", json!({})).await.expect("it answers");
    forgets.0.store(1, Ordering::SeqCst);
    let error = call(&pool, "echo", json!({})).await.expect_err("it is forgotten");
    assert_eq!((error.code, error.message.as_str()), (code::MCP_LOGIN_EXPIRED, "log in again"));
}

/// A server of before 2025-03-26; where its messages go is `endpoint`.
async fn old_server(endpoint: &'static str) -> String {
    chatty_server("", endpoint).await
}

/// The same, saying something before it says where its messages go.
async fn chatty_server(before: &'static str, endpoint: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/sse", listener.local_addr().expect("an address"));
    let (events, queue) = mpsc::unbounded_channel::<String>();
    let queue = Arc::new(tokio::sync::Mutex::new(queue));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, before, endpoint, events.clone(), Arc::clone(&queue)));
        }
    });
    url
}

async fn serve(
    mut stream: TcpStream,
    before: &str,
    endpoint: &str,
    events: mpsc::UnboundedSender<String>,
    queue: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<String>>>,
) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                if head.starts_with("GET") {
                    break;
                }
                let message: Value = serde_json::from_str(body).expect("a message");
                let _ = events.send(answer(&message).to_string());
                let _ =
                    stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await;
                return;
            }
        }
        match stream.read(&mut piece).await {
            Ok(read @ 1..) => request.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let _ = stream.write_all(format!("{head}{before}event: endpoint\ndata: {endpoint}\n\n").as_bytes()).await;
    let mut queue = queue.lock().await;
    while let Some(event) = queue.recv().await {
        if event != "null" && stream.write_all(format!("event: message\ndata: {event}\n\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(message: &Value) -> Value {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": message["params"]["arguments"].to_string()}]}),
        _ => return Value::Null,
    };
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

#[tokio::test]
async fn a_server_of_the_old_transport_is_spoken_to() {
    let url = old_server("/messages?s=1").await;
    let pool = pool(&json!({"type": "sse", "url": url}), Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
    let said = call(&pool, "echo", json!({"word": "é"})).await.expect("it answers");
    assert!(said.ends_with("{\"word\":\"é\"}"), "{said}");
    assert_eq!(pool.status()[0].about.as_ref().expect("it said").1, "2024-11-05");
}

#[tokio::test]
async fn what_is_said_before_there_is_an_address_is_not_kept() {
    // Each an answer to a question that was not asked: heard later, it would pass for one of those that are.
    let before = "data: {\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-1,\"message\":\"early\"}}\n\n";
    let url = chatty_server(before, "/messages").await;
    let pool = pool(&json!({"type": "sse", "url": url}), Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
    let said = call(&pool, "echo", json!({"word": "é"})).await.expect("it answers");
    assert!(said.ends_with("{\"word\":\"é\"}"), "{said}");
}

#[tokio::test]
async fn a_server_that_wants_its_messages_elsewhere_gets_none() {
    let url = old_server("http://127.0.0.2:1/messages").await;
    let pool = pool(&json!({"type": "sse", "url": url}), Arc::new(NoPrograms), Arc::new(ByHeaders), &Arc::default());
    let error = pool.refresh("s").await.expect_err("another host");
    assert!(error.message.contains("another host"), "{error}");
}
