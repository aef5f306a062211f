//! One conversation with each provider, over its own wire: the model thinks, speaks and makes two calls; their
//! results go back; it answers.

use nika_agent::provider::{Adapter, Answered, Effort, Message, Part, Provider, Role, Stop, Usage};
use serde_json::{Value, json};

use crate::loopback::{
    Loopback, Reply, Request, ask, ask_with, calls, endpoint, object, reach, results, text, user, wire,
};

/// What every recorded stream says first.
const SPOKEN: &str = "I look — one moment.";
const THOUGHT: &str = "The file has to be read.";

/// What all of them count but Anthropic's: 1312 read, 1024 of them from the cache, 55 written.
const COUNTED: Usage = Usage { input: 288, cache_read: 1024, cache_write: 0, output: 55, reasoning: 20 };

struct Told {
    first: Answered,
    asked: Vec<Request>,
}

/// The whole conversation; what holds of every provider is checked here.
async fn converse(provider: &str, adapter: Adapter, first: &str, second: &str) -> Told {
    let server = Loopback::with([Reply::stream(first), Reply::stream(second)]).await;
    let model = wire(provider, adapter, &server.address);
    let mut messages = vec![user("What is in a.txt?")];

    let (answered, pieces) = ask(&model, &messages).await;
    let answered = answered.unwrap_or_else(|error| panic!("{provider}: {error}"));
    let of = |kind: &str| pieces.iter().filter_map(|piece| piece.strip_prefix(kind)).collect::<String>();
    assert_eq!(pieces[0], "began", "{provider}: {pieces:?}");
    assert_eq!(of("text:"), SPOKEN, "{provider}");
    assert_eq!(of("thinking:"), if adapter == Adapter::OpenAi { "" } else { THOUGHT }, "{provider}");
    assert!(pieces.iter().any(|piece| piece == "calling:read"), "{provider}: {pieces:?}");
    assert_eq!(text(&answered), SPOKEN, "{provider}");
    assert_eq!(answered.stop, Stop::Calls, "{provider}");
    let made = calls(&answered);
    assert_eq!(made.len(), 2, "{provider}");
    assert_eq!((made[0].name.as_str(), object(&made[0])), ("read", json!({"path": "a.txt"})), "{provider}");
    assert_eq!(object(&made[1]), json!({}), "{provider}");
    assert_ne!(made[0].id, made[1].id, "{provider}");

    messages.push(Message { role: Role::Assistant, parts: answered.parts.clone() });
    messages.push(results(&made));
    let (last, _) = ask(&model, &messages).await;
    let last = last.unwrap_or_else(|error| panic!("{provider}: {error}"));
    assert_eq!((text(&last).as_str(), last.stop), ("It says hello.", Stop::Done), "{provider}");
    let asked = server.asked();
    assert_eq!(asked.len(), 2, "{provider}");
    for request in &asked {
        assert_eq!(request.headers["content-type"], "application/json");
    }
    Told { first: answered, asked }
}

fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer} in {value:#}"))
}

#[tokio::test]
async fn anthropic() {
    let first = include_str!("../wires/anthropic-calls.sse");
    let told = converse("anthropic", Adapter::Anthropic, first, include_str!("../wires/anthropic-text.sse")).await;
    let expected = Usage { input: 12, cache_read: 1000, cache_write: 300, output: 55, reasoning: 20 };
    assert_eq!(told.first.usage, expected);

    let request = &told.asked[0];
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.headers["x-api-key"], "sk-test-key");
    assert_eq!(at(&request.body, "/max_tokens"), 4096);
    assert_eq!(at(&request.body, "/stream"), true);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(*at(&request.body, "/system"), json!([{"type": "text", "text": "Be brief.", "cache_control": mark}]));
    assert_eq!(at(&request.body, "/tools/0/name"), "list_dir");
    assert!(at(&request.body, "/tools/0").get("cache_control").is_none());
    assert_eq!(*at(&request.body, "/tools/1/cache_control"), mark);
    assert_eq!(*at(&request.body, "/tools/1/input_schema/properties/path"), json!({"type": "string"}));

    // Thinking goes back as it came and before everything else; the results are Anthropic's own blocks.
    let messages = at(&told.asked[1].body, "/messages");
    assert_eq!(*at(messages, "/0/content/0/cache_control"), mark);
    assert_eq!(
        *at(messages, "/1/content"),
        json!([
            {"type": "thinking", "thinking": THOUGHT, "signature": "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrk"},
            {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlx"},
            {"type": "text", "text": SPOKEN},
            {"type": "tool_use", "id": "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "name": "read", "input": {"path": "a.txt"}},
            {"type": "tool_use", "id": "toolu_02", "name": "list_dir", "input": {}},
        ])
    );
    assert_eq!(
        *at(messages, "/2"),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_01T1x1fJ34qAmk2tNTrN7Up6", "content": [
                {"type": "text", "text": "hello"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}},
            ]},
            {"type": "tool_result", "tool_use_id": "toolu_02", "content": "NIKA-205 not allowed", "is_error": true,
             "cache_control": {"type": "ephemeral"}},
        ]})
    );
    let marks = told.asked[1].body.to_string().matches("cache_control").count();
    assert_eq!(marks, 4, "Anthropic takes four marks and refuses a fifth");
}

#[tokio::test]
async fn openai_chat() {
    let first = include_str!("../wires/openai-chat-calls.sse");
    let told = converse("openai-chat", Adapter::OpenAi, first, include_str!("../wires/openai-chat-text.sse")).await;
    assert_eq!(told.first.usage, COUNTED);

    let request = &told.asked[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], "Bearer sk-test-key");
    assert_eq!(at(&request.body, "/prompt_cache_key"), "session-1");
    assert_eq!(at(&request.body, "/stream_options/include_usage"), true);
    assert_eq!(*at(&request.body, "/messages/0"), json!({"role": "system", "content": "Be brief."}));
    assert_eq!(at(&request.body, "/tools/1/function/name"), "read");
    assert_eq!(at(&request.body, "/tools/1/function/parameters/type"), "object");

    let messages = at(&told.asked[1].body, "/messages");
    assert_eq!(at(messages, "/2/content"), SPOKEN);
    assert_eq!(at(messages, "/2/tool_calls/0/id"), "call_DkSzY6Jd");
    assert_eq!(at(messages, "/2/tool_calls/0/function/arguments"), r#"{"path":"a.txt"}"#);
    assert_eq!(at(messages, "/2/tool_calls/1/function/arguments"), "{}");
    assert_eq!(*at(messages, "/3"), json!({"role": "tool", "tool_call_id": "call_DkSzY6Jd", "content": "hello"}));
    assert_eq!(
        *at(messages, "/4"),
        json!({"role": "tool", "tool_call_id": "call_E2", "content": "NIKA-205 not allowed"})
    );
    // Results take no pictures there: they follow as the person's.
    assert_eq!(at(messages, "/5/role"), "user");
    assert_eq!(at(messages, "/5/content/1/image_url/url"), "data:image/png;base64,aGVsbG8=");
}

#[tokio::test]
async fn openai_responses() {
    let first = include_str!("../wires/openai-responses-calls.sse");
    let second = include_str!("../wires/openai-responses-text.sse");
    let told = converse("openai", Adapter::OpenAiResponses, first, second).await;
    assert_eq!(told.first.usage, COUNTED);

    let request = &told.asked[0];
    assert_eq!(request.path, "/v1/responses");
    assert_eq!(at(&request.body, "/store"), false);
    assert_eq!(*at(&request.body, "/include"), json!(["reasoning.encrypted_content"]));
    assert_eq!(at(&request.body, "/prompt_cache_key"), "session-1");
    assert_eq!(at(&request.body, "/max_output_tokens"), 4096);
    assert_eq!(at(&request.body, "/tools/1/name"), "read");
    assert!(request.body.to_string().contains("Be brief."));

    let input = at(&told.asked[1].body, "/input").as_array().unwrap().clone();
    let of = |kind: &str| input.iter().find(|item| item["type"] == kind).unwrap_or_else(|| panic!("no {kind}")).clone();
    assert_eq!(of("reasoning")["encrypted_content"], "gAAAAABoISQ24OyVRYbk");
    assert_eq!(of("function_call")["arguments"], r#"{"path":"a.txt"}"#);
    assert_eq!(
        of("function_call_output"),
        json!({"type": "function_call_output", "call_id": "call_DkSzY6Jd", "output": "hello"})
    );
    let place = |kind: &str| input.iter().position(|item| item["type"] == kind).unwrap();
    assert!(place("reasoning") < place("function_call"), "{input:#?}");
}

#[tokio::test]
async fn gemini() {
    let first = include_str!("../wires/gemini-calls.sse");
    let told = converse("gemini", Adapter::Gemini, first, include_str!("../wires/gemini-text.sse")).await;
    assert_eq!(told.first.usage, COUNTED);

    let request = &told.asked[0];
    assert_eq!(request.path, "/v1beta/models/some-model:streamGenerateContent?alt=sse");
    assert_eq!(request.headers["x-goog-api-key"], "sk-test-key");
    assert_eq!(at(&request.body, "/systemInstruction/parts/0/text"), "Be brief.");
    assert_eq!(at(&request.body, "/generationConfig/maxOutputTokens"), 4096);
    assert_eq!(at(&request.body, "/tools/0/functionDeclarations/1/name"), "read");

    // The signature goes back on the call that it came with, and on no other.
    let contents = at(&told.asked[1].body, "/contents");
    let parts = at(contents, "/1/parts").as_array().unwrap();
    let signed: Vec<&Value> = parts.iter().filter(|part| part.get("thoughtSignature").is_some()).collect();
    assert_eq!(signed.len(), 1, "{contents:#}");
    assert_eq!(signed[0]["thoughtSignature"], "CswBAXLI2nwMdJvMR8SOtDzbdaF1m5wK");
    assert_eq!(signed[0]["functionCall"]["args"], json!({"path": "a.txt"}));
    assert!(signed[0]["functionCall"].get("id").is_none(), "Gemini gave no name for the call");
    let answers = at(contents, "/2/parts").as_array().unwrap();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["functionResponse"]["name"], "read");
    assert_eq!(answers[0]["functionResponse"]["response"]["content"], "hello");
}

#[tokio::test]
async fn mistral() {
    let first = include_str!("../wires/mistral-calls.sse");
    let told = converse("mistral", Adapter::Mistral, first, include_str!("../wires/openai-chat-text.sse")).await;
    assert_eq!(told.first.usage, Usage { reasoning: 0, ..COUNTED });

    let body = &told.asked[1].body;
    assert_eq!(told.asked[1].path, "/v1/chat/completions");
    assert!(body.get("prompt_cache_key").is_none());
    // It takes thinking back in the form in which it gave it.
    assert_eq!(
        *at(body, "/messages/2/content/0"),
        json!({"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]})
    );
    assert_eq!(at(body, "/messages/2/tool_calls/0/id"), "D681PevKs");
    assert!(at(body, "/messages/3/content").as_str().unwrap().starts_with("hello\n[1 picture(s) left out"));
}

#[tokio::test]
async fn groq() {
    let first = include_str!("../wires/groq-calls.sse");
    let told = converse("groq", Adapter::Groq, first, include_str!("../wires/openai-chat-text.sse")).await;
    assert_eq!(told.first.usage, COUNTED);
    assert_eq!(told.asked[0].path, "/openai/v1/chat/completions");
    // It refuses to see thinking again.
    assert!(!told.asked[1].body.to_string().contains(THOUGHT));
}

#[tokio::test]
async fn deepseek() {
    let first = include_str!("../wires/deepseek-calls.sse");
    let told = converse("deepseek", Adapter::DeepSeek, first, include_str!("../wires/openai-chat-text.sse")).await;
    assert_eq!(told.first.usage, COUNTED);
    assert_eq!(at(&told.asked[1].body, "/messages/2/reasoning_content"), THOUGHT);
}

#[tokio::test]
async fn thinking_of_an_earlier_turn_does_not_go_back_to_deepseek() {
    let first = include_str!("../wires/deepseek-calls.sse");
    let text = include_str!("../wires/openai-chat-text.sse");
    let server = Loopback::with([Reply::stream(first), Reply::stream(text)]).await;
    let model = wire("deepseek", Adapter::DeepSeek, &server.address);
    let (answered, _) = ask(&model, &[user("What is in a.txt?")]).await;
    let answered = answered.unwrap();
    let made = calls(&answered);
    let messages = [
        user("What is in a.txt?"),
        Message { role: Role::Assistant, parts: answered.parts },
        results(&made),
        user("And b.txt?"),
    ];
    ask(&model, &messages).await.0.unwrap();
    assert!(!server.asked()[1].body.to_string().contains("reasoning_content"));
}

#[tokio::test]
async fn ollama() {
    let first = include_str!("../wires/ollama-calls.ndjson");
    let told = converse("ollama", Adapter::Ollama, first, include_str!("../wires/ollama-text.ndjson")).await;
    assert_eq!(told.first.usage, Usage { input: 1312, output: 55, ..Usage::default() });

    assert_eq!(told.asked[0].path, "/api/chat");
    assert_eq!(told.asked[0].headers["authorization"], "Bearer sk-test-key");
    let messages = at(&told.asked[1].body, "/messages");
    assert_eq!(*at(messages, "/2/tool_calls/0/function/arguments"), json!({"path": "a.txt"}));
    // Each result in a message of its own.
    assert_eq!(*at(messages, "/3"), json!({"role": "tool", "content": "hello"}));
    assert_eq!(*at(messages, "/4"), json!({"role": "tool", "content": "NIKA-205 not allowed"}));
    assert_eq!(*at(messages, "/5/images"), json!(["aGVsbG8="]));
}

#[tokio::test]
async fn any_address_that_speaks_as_openai_does() {
    let first = include_str!("../wires/openai-chat-calls.sse");
    let server = Loopback::with([Reply::stream(first)]).await;
    let mut endpoint = endpoint("openai-compatible", Adapter::OpenAi, &format!("{}/llm/v3", server.address));
    endpoint.key = None;
    endpoint.headers = vec![("x-tenant".into(), "ours".into())];
    // The library would take this for the model `mixtral` thinking hard.
    endpoint.model.id = "mixtral-high".into();
    let (answered, _) = ask(&reach(endpoint), &[user("Hello")]).await;
    assert_eq!(text(&answered.unwrap()), SPOKEN);
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/llm/v3/chat/completions");
    assert_eq!(asked.headers["x-tenant"], "ours");
    assert_eq!(at(&asked.body, "/model"), "mixtral-high");
    assert!(asked.body.get("reasoning_effort").is_none());
    assert!(asked.body.get("prompt_cache_key").is_none());
}

#[tokio::test]
async fn effort_is_asked_for_and_a_tool_that_must_be_called_is_named() {
    let text = include_str!("../wires/anthropic-text.sse");
    let server = Loopback::with([Reply::stream(text), Reply::stream(text)]).await;
    let mut endpoint = endpoint("anthropic", Adapter::Anthropic, &server.address);
    endpoint.model.id = "claude-sonnet-4-6".into();
    endpoint.effort = Some(Effort::High);
    let model = reach(endpoint);
    ask(&model, &[user("Hello")]).await.0.unwrap();
    ask_with(&model, &[user("Hello")], Some("read")).await.0.unwrap();
    let asked = server.asked();
    assert_eq!(at(&asked[0].body, "/thinking/type"), "adaptive");
    assert!(asked[0].body.get("tool_choice").is_none());
    // Anthropic refuses both at once.
    assert_eq!(*at(&asked[1].body, "/tool_choice"), json!({"type": "tool", "name": "read"}));
    assert!(asked[1].body.get("thinking").is_none(), "{:#}", asked[1].body);
}

/// A conversation that one provider began goes on with each of the others: no thinking of the first, no name
/// of a call that the second would refuse, no arguments that are no object.
#[tokio::test]
async fn a_conversation_goes_on_with_another_provider() {
    let server = Loopback::with([Reply::stream(include_str!("../wires/anthropic-calls.sse"))]).await;
    let (answered, _) = ask(&wire("anthropic", Adapter::Anthropic, &server.address), &[user("Look")]).await;
    let mut parts = answered.unwrap().parts;
    for part in &mut parts {
        if let Part::Call(call) = part
            && call.name == "list_dir"
        {
            call.arguments = nika_agent::provider::Arguments::Malformed("{\"path\": ".into());
            call.id = "call#list_dir#1".into();
        }
    }
    let said = Message { role: Role::Assistant, parts };
    // What is kept survives the disk.
    let said: Message = serde_json::from_str(&serde_json::to_string(&said).unwrap()).unwrap();
    let made: Vec<_> = said
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(call.clone()),
            _ => None,
        })
        .collect();
    let messages = [user("Look"), said, results(&made)];
    let chat = include_str!("../wires/openai-chat-text.sse");
    let others = [
        ("openai-chat", Adapter::OpenAi, chat),
        ("openai", Adapter::OpenAiResponses, include_str!("../wires/openai-responses-text.sse")),
        ("gemini", Adapter::Gemini, include_str!("../wires/gemini-text.sse")),
        ("mistral", Adapter::Mistral, chat),
        ("groq", Adapter::Groq, chat),
        ("deepseek", Adapter::DeepSeek, chat),
        ("ollama", Adapter::Ollama, include_str!("../wires/ollama-text.ndjson")),
        ("another-anthropic", Adapter::Anthropic, include_str!("../wires/anthropic-text.sse")),
    ];
    for (provider, adapter, reply) in others {
        let server = Loopback::with([Reply::stream(reply)]).await;
        let model = wire(provider, adapter, &server.address);
        assert_eq!(model.name(), provider);
        let (answered, _) = ask(&model, &messages).await;
        assert_eq!(text(&answered.unwrap()), "It says hello.", "{provider}");
        let body = server.asked()[0].body.to_string();
        for gone in [THOUGHT, "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrk", "redacted_thinking"] {
            assert!(!body.contains(gone), "{provider}: {body}");
        }
        assert!(body.contains("malformed_arguments"), "{provider}: {body}");
        if adapter != Adapter::Gemini {
            assert!(!body.contains("call#"), "{provider}: {body}");
        }
        if adapter == Adapter::Mistral {
            let id = at(&server.asked()[0].body, "/messages/2/tool_calls/0/id").as_str().unwrap().to_owned();
            assert_eq!(id.len(), 9);
            assert_eq!(at(&server.asked()[0].body, "/messages/3/tool_call_id"), &json!(id));
        }
    }
}
