//! What goes wrong between a program and a model, and what is said of it.

use std::sync::Arc;
use std::time::Duration;

use nika_agent::provider::{Adapter, Arguments, Kind, ModelError, Patience, Proxies, Stop, Wire};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::loopback::{End, Loopback, Reply, Standing, ask, calls, endpoint, object, text, user, wire};

const CHAT: &str = include_str!("../wires/openai-chat-text.sse");
const CHAT_CALLS: &str = include_str!("../wires/openai-chat-calls.sse");

async fn fails(provider: &str, adapter: Adapter, reply: Reply) -> ModelError {
    let server = Loopback::with([reply]).await;
    let (answered, _) = ask(&wire(provider, adapter, &server.address), &[user("Hello")]).await;
    answered.expect_err(provider)
}

#[tokio::test]
async fn too_many_requests_say_when_to_come_back() {
    let body =
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "This would exceed\nyour limit"}});
    let error = fails("anthropic", Adapter::Anthropic, Reply::json(429, &body).header("retry-after", "7")).await;
    assert_eq!((error.kind, error.retry_after_ms), (Kind::Limited, Some(7000)));
    assert_eq!(error.message, "anthropic: too many requests (429): This would exceed your limit");
    assert_eq!(error.kind.code().to_string(), "NIKA-804");

    let reply = Reply::json(429, &json!({"error": {"message": "slow down"}})).header("retry-after-ms", "1500");
    assert_eq!(fails("openai-chat", Adapter::OpenAi, reply).await.retry_after_ms, Some(1500));

    // The clock of the tests stands at 1000 s after 1970.
    let reply = Reply::json(429, &json!({})).header("retry-after", "Thu, 01 Jan 1970 00:17:00 GMT");
    assert_eq!(fails("openai-chat", Adapter::OpenAi, reply).await.retry_after_ms, Some(20_000));

    let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": [{"retryDelay": "37s"}]}});
    assert_eq!(fails("gemini", Adapter::Gemini, Reply::json(429, &body)).await.retry_after_ms, Some(37_000));
}

#[tokio::test]
async fn a_failing_server_has_its_kind_on_every_wire() {
    let body = json!({"error": {"message": "no"}});
    let statuses = [(529, Kind::Overloaded), (503, Kind::Overloaded), (500, Kind::Server), (404, Kind::NoModel)];
    for (provider, adapter) in [
        ("anthropic", Adapter::Anthropic),
        ("openai-chat", Adapter::OpenAi),
        ("openai", Adapter::OpenAiResponses),
        ("gemini", Adapter::Gemini),
        ("ollama", Adapter::Ollama),
    ] {
        for (status, kind) in statuses {
            let error = fails(provider, adapter, Reply::json(status, &body)).await;
            assert_eq!(error.kind, kind, "{provider} {status}");
            assert!(error.message.contains(&status.to_string()), "{error}");
        }
    }
}

#[tokio::test]
async fn a_refused_key_is_named_and_not_shown() {
    let body = json!({"error": {"message": "Incorrect API key provided: sk-test-key.", "code": "invalid_api_key"}});
    let error = fails("openai-chat", Adapter::OpenAi, Reply::json(401, &body)).await;
    assert_eq!(error.kind, Kind::Key);
    assert!(!error.kind.may_pass());
    assert_eq!(error.message, "openai-chat: the key was refused (401): Incorrect API key provided: ….");

    // Spent credit comes with the status of a limit, and waiting does not help.
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    assert_eq!(fails("openai-chat", Adapter::OpenAi, Reply::json(429, &body)).await.kind, Kind::Key);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_apart_from_a_bad_request() {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}});
    assert_eq!(fails("anthropic", Adapter::Anthropic, Reply::json(400, &body)).await.kind, Kind::TooLong);
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0: no"}});
    assert_eq!(fails("anthropic", Adapter::Anthropic, Reply::json(400, &body)).await.kind, Kind::BadRequest);
}

#[tokio::test]
async fn a_page_of_html_is_not_repeated() {
    let page = Reply::json(502, &json!(0)).header("content-type", "text/html");
    let error = fails("openai-chat", Adapter::OpenAi, page).await;
    assert_eq!(error.kind, Kind::Server);
    let server = Loopback::with([Reply::stream("<html>welcome</html>"), Reply::stream("<html>welcome</html>")]).await;
    let (answered, _) = ask(&wire("openai-chat", Adapter::OpenAi, &server.address), &[user("Hello")]).await;
    let error = answered.unwrap_err();
    assert!(error.message.contains("another program's"), "{error}");
    assert!(!error.message.contains("welcome"), "{error}");
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for (provider, adapter) in [("openai-compatible", Adapter::OpenAi), ("ollama", Adapter::Ollama)] {
        let (answered, pieces) = ask(&wire(provider, adapter, &address), &[user("Hello")]).await;
        let error = answered.unwrap_err();
        assert_eq!(error.kind, Kind::Unreachable, "{error}");
        assert!(error.message.contains(&address), "{error}");
        assert!(error.message.contains("refused"), "{error}");
        assert!(pieces.is_empty());
    }
}

/// The stream up to half of its text, whichever way the connection ends.
#[tokio::test]
async fn a_stream_that_is_cut_is_an_error_on_every_wire() {
    let streams = [
        ("anthropic", Adapter::Anthropic, include_str!("../wires/anthropic-calls.sse")),
        ("openai-chat", Adapter::OpenAi, CHAT_CALLS),
        ("openai", Adapter::OpenAiResponses, include_str!("../wires/openai-responses-calls.sse")),
        ("gemini", Adapter::Gemini, include_str!("../wires/gemini-calls.sse")),
        ("mistral", Adapter::Mistral, include_str!("../wires/mistral-calls.sse")),
        ("groq", Adapter::Groq, include_str!("../wires/groq-calls.sse")),
        ("deepseek", Adapter::DeepSeek, include_str!("../wires/deepseek-calls.sse")),
        ("ollama", Adapter::Ollama, include_str!("../wires/ollama-calls.ndjson")),
    ];
    for (provider, adapter, stream) in streams {
        let middle = stream.find("one moment").unwrap();
        let whole_lines = &stream[..=stream[..middle].rfind('\n').unwrap()];
        for end in [End::Closed, End::Broken] {
            let error = fails(provider, adapter, Reply::stream(whole_lines).ends(end)).await;
            assert_eq!(error.kind, Kind::Cut, "{provider} {end:?}: {error}");
            assert!(error.kind.may_pass());
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_has_its_kind() {
    let begun = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n";
    let stream = format!(
        "{begun}event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}}}\n\n"
    );
    let error = fails("anthropic", Adapter::Anthropic, Reply::stream(&stream)).await;
    assert_eq!((error.kind, error.message.as_str()), (Kind::Overloaded, "anthropic: overloaded: Overloaded"));

    // The stream goes on after it, as some servers' do.
    let stream = format!("data: {{\"error\":{{\"type\":\"server_error\",\"message\":\"broke\"}}}}\n\n{CHAT}");
    let error = fails("openai-chat", Adapter::OpenAi, Reply::stream(&stream)).await;
    assert_eq!((error.kind, error.message.as_str()), (Kind::Server, "openai-chat: the server failed: broke"));

    let failed = include_str!("../wires/openai-responses-failed.sse");
    let error = fails("openai", Adapter::OpenAiResponses, Reply::stream(failed)).await;
    assert_eq!(error.kind, Kind::Limited, "{error}");
    assert!(error.message.contains("Rate limit reached"), "{error}");

    let stream =
        "data: {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}\n\n";
    assert_eq!(fails("gemini", Adapter::Gemini, Reply::stream(stream)).await.kind, Kind::Overloaded);
}

#[tokio::test]
async fn malformed_arguments_reach_the_caller_as_they_were_written() {
    let stream = CHAT_CALLS.replace(r#"".txt\"}""#, r#"".txt""#);
    assert_ne!(stream, CHAT_CALLS);
    let server = Loopback::with([Reply::stream(&stream)]).await;
    let (answered, _) = ask(&wire("openai-chat", Adapter::OpenAi, &server.address), &[user("Hello")]).await;
    let answered = answered.unwrap();
    let made = calls(&answered);
    assert_eq!(made[0].arguments, Arguments::Malformed(r#"{"path": "a.txt"#.into()));
    assert_eq!(object(&made[1]), json!({}));
    assert_eq!(answered.stop, Stop::Calls);
}

#[tokio::test]
async fn a_call_of_a_tool_that_nobody_offered_is_passed_on() {
    let stream = CHAT_CALLS.replace("\"list_dir\"", "\"launch_rocket\"");
    let server = Loopback::with([Reply::stream(&stream)]).await;
    let (answered, _) = ask(&wire("openai-chat", Adapter::OpenAi, &server.address), &[user("Hello")]).await;
    assert_eq!(calls(&answered.unwrap())[1].name, "launch_rocket");
}

/// Some servers answer at once though they are asked to stream. They are asked again without, and from then on.
#[tokio::test]
async fn a_server_that_does_not_stream_is_asked_for_the_whole() {
    let call =
        json!({"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}});
    let whole = json!({"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [call]}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}});
    let server = Loopback::with([Reply::json(200, &whole), Reply::json(200, &whole), Reply::json(200, &whole)]).await;
    let model = wire("openai-compatible", Adapter::OpenAi, &server.address);
    for asked in [vec![true, false], vec![true, false, false]] {
        let (answered, pieces) = ask(&model, &[user("Hello")]).await;
        let answered = answered.unwrap();
        assert_eq!(pieces, ["began", "thinking:Hm.", "text:I look."]);
        assert_eq!(object(&calls(&answered)[0]), json!({"path": "a"}));
        assert_eq!((answered.usage.input, answered.usage.output), (10, 3));
        let streamed: Vec<bool> = server.asked().iter().map(|request| request.body["stream"] == json!(true)).collect();
        assert_eq!(streamed, asked);
    }

    let whole = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "It says hello."},
        {"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 9, "totalTokenCount": 14}});
    let server = Loopback::with([Reply::json(200, &whole), Reply::json(200, &whole)]).await;
    let (answered, _) = ask(&wire("gemini", Adapter::Gemini, &server.address), &[user("Hello")]).await;
    let answered = answered.unwrap();
    assert_eq!((text(&answered).as_str(), calls(&answered).len()), ("It says hello.", 1));
    assert_eq!(server.asked()[1].path, "/v1beta/models/some-model:generateContent");
    assert!(format!("{:?}", answered.parts).contains("c2ln"));
}

/// A connection that closes before anything came is cut, and nothing is concluded of the server.
#[tokio::test]
async fn an_empty_answer_is_cut() {
    for adapter in [Adapter::OpenAi, Adapter::Anthropic, Adapter::Gemini, Adapter::OpenAiResponses, Adapter::Ollama] {
        let error = fails("any", adapter, Reply::stream("").ends(End::Closed)).await;
        assert_eq!(error.kind, Kind::Cut, "{adapter:?}: {error}");
    }
}

/// Models that do not think refuse to be asked for their thinking; OpenAI shows it to verified customers alone.
#[tokio::test]
async fn thinking_that_a_model_does_not_give_is_not_asked_for_again() {
    let refuse = |words: &str| Reply::json(400, &json!({"error": {"message": words, "type": "invalid_request_error"}}));
    let answer = || Reply::stream(include_str!("../wires/openai-responses-text.sse"));
    let replies = [
        refuse("Your organization must be verified to generate reasoning summaries."),
        answer(),
        refuse("Encrypted content is not supported with this model."),
        answer(),
    ];
    let server = Loopback::with(replies).await;
    let model = wire("openai", Adapter::OpenAiResponses, &server.address);
    for _ in 0..2 {
        assert_eq!(text(&ask(&model, &[user("Hello")]).await.0.unwrap()), "It says hello.");
    }
    let asked: Vec<_> = server.asked().into_iter().map(|request| request.body).collect();
    assert_eq!(asked[0]["reasoning"], json!({"summary": "detailed"}));
    for second in &asked[1..3] {
        assert_eq!(second["reasoning"], json!({}));
        assert_eq!(second["include"], json!(["reasoning.encrypted_content"]));
    }
    assert!(asked[3].get("reasoning").is_none() && asked[3].get("include").is_none(), "{:#}", asked[3]);

    let server = Loopback::with([
        refuse("Thinking is not enabled for this model"),
        Reply::stream(include_str!("../wires/gemini-text.sse")),
    ])
    .await;
    let (answered, _) = ask(&wire("gemini", Adapter::Gemini, &server.address), &[user("Hello")]).await;
    assert_eq!(text(&answered.unwrap()), "It says hello.");
    // A refusal for any other reason stays one.
    let error = fails("gemini", Adapter::Gemini, refuse("no such field")).await;
    assert_eq!(error.kind, Kind::BadRequest);
}

/// The reason to end came, and the connection closed without the last line: the answer was whole. Once may be an
/// accident; the second time it is the server's way.
#[tokio::test]
async fn a_server_that_leaves_out_the_last_line_is_asked_for_the_whole() {
    let stream = CHAT.replace("data: [DONE]\n\n", "");
    let whole = json!({"id": "1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "It says hello."}}]});
    let (streamed, whole) = (Reply::stream(&stream).ends(End::Closed), Reply::json(200, &whole));
    let server = Loopback::with([streamed.clone(), whole.clone(), streamed, whole.clone(), whole]).await;
    let model = wire("openai-compatible", Adapter::OpenAi, &server.address);
    // What had been shown comes again, and is said to.
    let twice = ["began", "text:It says ", "text:hello.", "began", "text:It says hello."];
    for shown in [&twice[..], &twice, &twice[3..]] {
        let (answered, pieces) = ask(&model, &[user("Hello")]).await;
        assert_eq!(text(&answered.unwrap()), "It says hello.");
        assert_eq!(pieces, shown);
    }
    let streamed: Vec<bool> = server.asked().iter().map(|request| request.body["stream"] == json!(true)).collect();
    assert_eq!(streamed, [true, false, true, false, false]);
}

#[tokio::test]
async fn an_answer_that_reached_its_most_tokens_says_so() {
    let stream = CHAT.replace("\"stop\"", "\"length\"");
    let server = Loopback::with([Reply::stream(&stream)]).await;
    let (answered, _) = ask(&wire("openai-chat", Adapter::OpenAi, &server.address), &[user("Hello")]).await;
    assert_eq!(answered.unwrap().stop, Stop::Length);
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Loopback::with([Reply::stream(CHAT)]).await;
    let moved = Reply::json(307, &json!({})).header("location", &format!("{}/v1/chat/completions", elsewhere.address));
    let error = fails("openai-chat", Adapter::OpenAi, moved).await;
    assert_eq!(error.kind, Kind::BadRequest);
    assert!(elsewhere.asked().is_empty());
}

#[tokio::test]
async fn an_https_address_whose_server_speaks_no_tls_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let (answered, _) = ask(&wire("openai-compatible", Adapter::OpenAi, &address), &[user("Hello")]).await;
    let error = answered.unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable, "{error}");
    assert!(error.message.contains("corrupt message"), "{error}");
}

/// A proxy is used where one is handed in, and not for the hosts that are reached without.
#[tokio::test]
async fn a_proxy_is_used_where_one_is_handed_in() {
    let proxy = Loopback::with([Reply::stream(CHAT)]).await;
    let proxies = |none_for: Option<&str>| Proxies {
        http: Some(proxy.address.clone()),
        https: None,
        none_for: none_for.map(str::to_owned),
    };
    let reach = |address: &str, proxies| {
        let endpoint = endpoint("openai-compatible", Adapter::OpenAi, address);
        Wire::new(endpoint, proxies, Patience::default(), Arc::new(Standing(0))).unwrap()
    };
    let (answered, _) = ask(&reach("http://model.invalid/v1", proxies(None)), &[user("Hello")]).await;
    assert_eq!(text(&answered.unwrap()), "It says hello.");
    assert_eq!(proxy.asked()[0].path, "http://model.invalid/v1/chat/completions");
    let direct = Loopback::with([Reply::stream(CHAT)]).await;
    let (answered, _) = ask(&reach(&direct.address, proxies(Some("localhost,127.0.0.1"))), &[user("Hello")]).await;
    assert_eq!(text(&answered.unwrap()), "It says hello.");
    assert_eq!(direct.asked()[0].path, "/v1/chat/completions");
    assert_eq!(proxy.asked().len(), 1);
}

/// A server that takes the request and says nothing.
#[tokio::test]
async fn silence_ends_after_a_while() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let held = tokio::spawn(async move {
        let mut streams = Vec::new();
        for _ in 0..2 {
            streams.push(listener.accept().await.unwrap().0);
        }
        streams
    });
    for adapter in [Adapter::OpenAi, Adapter::Ollama] {
        let patience = Patience { silence: Duration::from_millis(50), ..Patience::default() };
        let model = Wire::new(endpoint("slow", adapter, &address), Proxies::default(), patience, Arc::new(Standing(0)));
        let error = ask(&model.unwrap(), &[user("Hello")]).await.0.unwrap_err();
        assert_eq!(error.kind, Kind::TimedOut, "{error}");
    }
    assert_eq!(held.await.unwrap().len(), 2);
}

/// Dropping the future closes the connection: the server sees its client leave.
#[tokio::test]
async fn a_request_that_is_dropped_leaves_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = wire("openai-chat", Adapter::OpenAi, &format!("http://{}", listener.local_addr().unwrap()));
    let messages = [user("Hello")];
    let mut asking = Box::pin(ask(&model, &messages));
    let mut stream = tokio::select! {
        _ = &mut asking => panic!("nobody answered"),
        accepted = listener.accept() => accepted.unwrap().0,
    };
    let mut first = [0; 1];
    tokio::select! {
        _ = &mut asking => panic!("nobody answered"),
        read = stream.read_exact(&mut first) => read.unwrap(),
    };
    drop(asking);
    let end = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut Vec::new())).await;
    assert!(end.is_ok(), "the connection is still open");
}
