//! From a conversation to the library's request: what each provider takes, refuses or would misread.
//!
//! Pure. What is peculiar to each stands in [`super::manner`].

use genai::chat::{
    Binary, CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, CustomPart, MessageContent,
    ReasoningEffort, Tool, ToolCall, ToolChoice, ToolResponse,
};
use serde_json::{Value, json};

use super::super::endpoint::{Adapter, Effort, Endpoint};
use super::super::{Arguments, Asking, Call, CallResult, Message, Part, Role};
use super::Seen;
use super::kept::Kept;
use super::manner::{Cache, Manner, Results, Thinking, manner, wire_id};

/// The request.
pub(super) fn request(endpoint: &Endpoint, asking: &Asking<'_>) -> ChatRequest {
    let manner = manner(endpoint.adapter);
    let marks = manner.cache == Cache::Marks;
    let mut messages = Vec::with_capacity(asking.messages.len() + 1);
    if !asking.system.is_empty() {
        // A message and not the request's `system`: only a message can be marked for the cache here.
        messages.push(marked(ChatMessage::system(asking.system), marks));
    }
    let turn = asking.messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
    // Two marks, so that the one of the turn before still finds what was written to the cache then.
    let heard = |message: &&Message| message.role != Role::Assistant;
    let latest = asking.messages.iter().filter(heard).count().saturating_sub(2);
    let mut seen = 0;
    for (at, message) in asking.messages.iter().enumerate() {
        let mut said = self::message(endpoint, manner, message, at > turn);
        if message.role != Role::Assistant {
            seen += 1;
            if marks && seen > latest {
                said = said.into_iter().map(|message| marked(message, true)).collect();
            }
        }
        messages.append(&mut said);
    }
    let last = asking.tools.len().saturating_sub(1);
    let tools: Vec<Tool> = asking
        .tools
        .iter()
        .enumerate()
        .map(|(at, card)| {
            let tool = Tool::new(card.name.clone())
                .with_description(card.description.clone())
                .with_schema(card.schema.clone());
            if marks && at == last { tool.with_cache_control(CacheControl::Ephemeral) } else { tool }
        })
        .collect();
    let request = ChatRequest::new(messages);
    if tools.is_empty() { request } else { request.with_tools(tools) }
}

/// Everything beside the conversation.
pub(super) fn options(endpoint: &Endpoint, asking: &Asking<'_>, seen: Seen) -> ChatOptions {
    let manner = manner(endpoint.adapter);
    // All four: without the thinking's signatures a provider refuses to go on after a call.
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_reasoning_content(seen != Seen::Nothing)
        .with_capture_tool_calls(true);
    if let Some(most) = endpoint.model.max_output {
        options = options.with_max_tokens(most);
    }
    if manner.cache == Cache::Key && is_openai(endpoint) {
        options = options.with_prompt_cache_key(asking.cache_key.to_owned());
    }
    if let Some(name) = asking.must_call {
        options = options.with_tool_choice(ToolChoice::Tool { name: name.to_owned() });
    }
    let effort = effort(endpoint, asking.must_call.is_some());
    if seen == Seen::Signatures && endpoint.adapter == Adapter::OpenAiResponses {
        // In place of the library's own, which asks for a summary.
        let word = effort.as_ref().and_then(|effort| match effort {
            ReasoningEffort::Zero => Some("none"),
            effort => effort.as_keyword(),
        });
        let reasoning = word.map_or_else(|| json!({}), |word| json!({ "effort": word }));
        options = options.with_extra_body(json!({ "reasoning": reasoning }));
    }
    match effort {
        Some(effort) => options.with_reasoning_effort(effort),
        None => options,
    }
}

/// Only OpenAI itself is known to take a name for its cache; others may refuse a field they do not know.
fn is_openai(endpoint: &Endpoint) -> bool {
    endpoint.provider == "openai" || endpoint.provider == "openai-chat"
}

fn effort(endpoint: &Endpoint, forced: bool) -> Option<ReasoningEffort> {
    let effort = match endpoint.effort {
        // Anthropic refuses to be told which tool to call while it thinks.
        Some(_) if forced && endpoint.adapter == Adapter::Anthropic => return Some(ReasoningEffort::Zero),
        Some(Effort::Off) => ReasoningEffort::Zero,
        Some(Effort::Low) => ReasoningEffort::Low,
        Some(Effort::Medium) => ReasoningEffort::Medium,
        Some(Effort::High) => ReasoningEffort::High,
        // The library takes `-high` and the like off a model's name and makes an effort of it. A budget, which
        // these adapters do not send, keeps the name as it was written.
        None => {
            let speaks_chat = matches!(
                endpoint.adapter,
                Adapter::OpenAi | Adapter::OpenAiResponses | Adapter::Mistral | Adapter::Groq
            );
            let misread = speaks_chat && ReasoningEffort::from_model_name(&endpoint.model.id).0.is_some();
            return misread.then_some(ReasoningEffort::Budget(0));
        }
    };
    Some(effort)
}

fn marked(message: ChatMessage, mark: bool) -> ChatMessage {
    if mark { message.with_options(CacheControl::Ephemeral) } else { message }
}

fn message(endpoint: &Endpoint, manner: Manner, message: &Message, this_turn: bool) -> Vec<ChatMessage> {
    match message.role {
        Role::User => {
            let parts: Vec<ContentPart> = message.parts.iter().filter_map(heard).collect();
            if parts.is_empty() { Vec::new() } else { vec![ChatMessage::user(MessageContent::from_parts(parts))] }
        }
        Role::Assistant => {
            let parts = spoken(endpoint, manner, &message.parts, this_turn);
            if parts.is_empty() { Vec::new() } else { vec![ChatMessage::assistant(MessageContent::from_parts(parts))] }
        }
        Role::Tool => results(manner, &message.parts),
    }
}

/// A part of what a person says.
fn heard(part: &Part) -> Option<ContentPart> {
    match part {
        Part::Text(text) if is_text(text) => Some(ContentPart::Text(text.clone())),
        Part::Image { mime, base64 } => Some(image(mime, base64)),
        _ => None,
    }
}

/// Whether it is sent: Anthropic refuses text without a letter in it.
fn is_text(text: &str) -> bool {
    !text.trim().is_empty()
}

fn image(mime: &str, base64: &str) -> ContentPart {
    ContentPart::Binary(Binary::from_base64(mime, base64, None))
}

/// What the model said, as its own provider, or another, takes it back.
fn spoken(endpoint: &Endpoint, manner: Manner, parts: &[Part], this_turn: bool) -> Vec<ContentPart> {
    let kept: Vec<Kept> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Kept { provider, value } if *provider == endpoint.provider => Kept::read(value),
            _ => None,
        })
        .collect();
    let calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    let texts = parts.iter().any(|part| matches!(part, Part::Text(text) if is_text(text)));
    if !calls && !texts {
        // An answer that was cut off while the model still thought: thinking alone is refused.
        return Vec::new();
    }
    let mut said: Vec<ContentPart> = kept
        .iter()
        .filter_map(|kept| match (kept, manner.thinking) {
            (_, Thinking::Never) => None,
            (Kept::Text { text }, Thinking::ThisTurn) => {
                (this_turn && calls).then(|| ContentPart::ReasoningContent(text.clone()))
            }
            (Kept::Text { text }, Thinking::Signed) => Some(ContentPart::ReasoningContent(text.clone())),
            (Kept::Signature { text }, _) => Some(ContentPart::ThoughtSignature(text.clone())),
            (Kept::Block { data }, _) => Some(ContentPart::Custom(CustomPart { model_iden: None, data: data.clone() })),
            (Kept::OfCall { .. }, _) => None,
        })
        .collect();
    for part in parts {
        match part {
            Part::Text(text) if is_text(text) => said.push(ContentPart::Text(text.clone())),
            Part::Call(call) => said.push(ContentPart::ToolCall(tool_call(manner, call, &kept))),
            _ => {}
        }
    }
    said
}

fn tool_call(manner: Manner, call: &Call, kept: &[Kept]) -> ToolCall {
    let signatures = kept.iter().find_map(|kept| match kept {
        Kept::OfCall { call: id, signatures } if *id == call.id => Some(signatures.clone()),
        _ => None,
    });
    ToolCall {
        call_id: wire_id(manner.ids, &call.id).into_owned(),
        fn_name: call.name.clone(),
        fn_arguments: match &call.arguments {
            Arguments::Object(map) => Value::Object(map.clone()),
            // Every provider wants an object back, or text that holds one.
            Arguments::Malformed(raw) => json!({ "malformed_arguments": raw }),
        },
        thought_signatures: signatures,
    }
}

fn results(manner: Manner, parts: &[Part]) -> Vec<ChatMessage> {
    let results = parts.iter().filter_map(|part| match part {
        Part::Result(result) => Some(result),
        _ => None,
    });
    if manner.results == Results::Block {
        let blocks: Vec<ContentPart> = results
            .map(|result| ContentPart::Custom(CustomPart { model_iden: None, data: block(manner, result) }))
            .collect();
        return if blocks.is_empty() {
            Vec::new()
        } else {
            vec![ChatMessage::tool(MessageContent::from_parts(blocks))]
        };
    }
    let mut responses: Vec<ToolResponse> = Vec::new();
    let mut pictures: Vec<ContentPart> = Vec::new();
    for result in results {
        let mut text = told(result);
        if !result.images.is_empty() {
            if manner.results == Results::TextOnly {
                text.push_str(&format!("\n[{} picture(s) left out: this model is not shown any]", result.images.len()));
            } else {
                pictures.push(ContentPart::Text(format!("Pictures of the result of `{}`:", result.name)));
                pictures.extend(result.images.iter().map(|(mime, base64)| image(mime, base64)));
            }
        }
        let id = wire_id(manner.ids, &result.id).into_owned();
        responses.push(ToolResponse::new(id, text).with_fn_name(result.name.clone()));
    }
    let mut said: Vec<ChatMessage> = if manner.results == Results::Apart {
        // Together, the library would send only the last.
        responses.into_iter().map(|one| ChatMessage::tool(MessageContent::from_tool_responses(vec![one]))).collect()
    } else if responses.is_empty() {
        Vec::new()
    } else {
        vec![ChatMessage::tool(MessageContent::from_tool_responses(responses))]
    };
    if !pictures.is_empty() {
        said.push(ChatMessage::user(MessageContent::from_parts(pictures)));
    }
    said
}

/// Anthropic's own block: the library's carries neither pictures nor whether the call failed.
fn block(manner: Manner, result: &CallResult) -> Value {
    let content = if result.images.is_empty() {
        Value::String(result.text.clone())
    } else {
        let text = (!result.text.is_empty()).then(|| json!({ "type": "text", "text": result.text }));
        let pictures = result.images.iter().map(|(mime, base64)| {
            json!({ "type": "image", "source": { "type": "base64", "media_type": mime, "data": base64 } })
        });
        Value::Array(text.into_iter().chain(pictures).collect())
    };
    let mut block =
        json!({ "type": "tool_result", "tool_use_id": wire_id(manner.ids, &result.id), "content": content });
    if result.is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

/// A result as text. A failure that does not say so by a code is marked.
fn told(result: &CallResult) -> String {
    if result.is_error && !result.text.starts_with("NIKA-") {
        format!("Error: {}", result.text)
    } else {
        result.text.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Model;

    #[test]
    fn text_of_nothing_and_thinking_alone_are_not_sent() {
        let endpoint = Endpoint {
            provider: "anthropic".into(),
            adapter: Adapter::Anthropic,
            address: "http://localhost/v1/".into(),
            key: None,
            model: Model { id: "m".into(), context_tokens: 1, max_output: None, prices: None },
            effort: None,
            headers: Vec::new(),
        };
        let kept = || Kept::Signature { text: "sig".into() }.part("anthropic");
        let blank = || Part::Text("\n\n".into());
        let call = Call { id: "c".into(), name: "read".into(), arguments: Arguments::Malformed("{".into()) };
        let message = |role, parts| Message { role, parts };
        let messages = [
            message(Role::User, vec![Part::Text("go".into()), blank()]),
            message(Role::Assistant, vec![kept(), blank()]),
            message(Role::User, vec![blank()]),
            message(Role::Assistant, vec![kept(), blank(), Part::Call(call)]),
        ];
        let asking = Asking { system: "", tools: &[], messages: &messages, cache_key: "k", must_call: None };
        let sent: Vec<usize> =
            request(&endpoint, &asking).messages.iter().map(|message| message.content.parts().len()).collect();
        assert_eq!(sent, [1, 2], "one text; a signature and a call");
    }

    #[test]
    fn a_failure_is_marked_once() {
        let mut result = CallResult {
            id: "1".into(),
            name: "read".into(),
            text: "NIKA-208 nothing there".into(),
            is_error: true,
            images: Vec::new(),
        };
        assert_eq!(told(&result), "NIKA-208 nothing there");
        result.text = "nothing there".into();
        assert_eq!(told(&result), "Error: nothing there");
        result.is_error = false;
        assert_eq!(told(&result), "nothing there");
    }
}
