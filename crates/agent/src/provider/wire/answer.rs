//! From what the library brings to an answer of ours.
//!
//! Pure.

use std::collections::BTreeSet;

use genai::chat::{ContentPart, StopReason, ToolCall, Usage as Counted};
use serde_json::{Map, Value};

use super::super::endpoint::Adapter;
use super::super::{Arguments, Call, Message, Part, Stop, Usage};
use super::kept::Kept;
use super::manner::{Thinking, manner};

/// What came, before it is told apart.
#[derive(Debug, Default)]
pub(super) struct Came {
    /// Thinking, text and calls, as the library orders them.
    pub content: Vec<ContentPart>,
    /// Thinking in words, where it is not in `content`.
    pub reasoning: Option<String>,
    /// Signatures of each call in turn, as they came with it.
    pub of_calls: Vec<Vec<String>>,
    /// Why it ended.
    pub stop: Option<StopReason>,
    /// What it took.
    pub usage: Option<Counted>,
    /// Tokens spent on thinking, where `usage` does not say.
    pub thought: u64,
}

/// The answer's parts and its reason to end.
pub(super) fn parts(provider: &str, adapter: Adapter, came: Came, earlier: &[Message]) -> (Vec<Part>, Stop) {
    let thinking = manner(adapter).thinking;
    let mut names = Names::of(adapter, earlier);
    let mut said = Vec::new();
    let mut calls = Vec::new();
    let mut texts = false;
    for part in came.content {
        match part {
            ContentPart::Text(text) if !text.is_empty() => said.push(Part::Text(text)),
            ContentPart::ToolCall(call) => {
                let signatures = came.of_calls.get(calls.len()).cloned().unwrap_or_default();
                let id = names.name(&call);
                if adapter == Adapter::Gemini && !signatures.is_empty() {
                    said.push(Kept::OfCall { call: id.clone(), signatures }.part(provider));
                }
                calls.push(Part::Call(Call { id, name: call.fn_name, arguments: arguments(call.fn_arguments) }));
            }
            ContentPart::ThoughtSignature(text) => said.push(Kept::Signature { text }.part(provider)),
            ContentPart::ReasoningContent(text) => {
                texts = true;
                said.push(Kept::Text { text }.part(provider));
            }
            ContentPart::Custom(custom) => said.push(Kept::Block { data: custom.data }.part(provider)),
            ContentPart::Text(_) | ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {}
        }
    }
    // Words that nobody signed are of use to those only who want them back within the turn.
    if let Some(text) = came.reasoning.filter(|text| thinking == Thinking::ThisTurn && !texts && !text.is_empty()) {
        said.insert(0, Kept::Text { text }.part(provider));
    }
    let stop = stop(came.stop, !calls.is_empty());
    said.append(&mut calls);
    (said, stop)
}

/// Gives every call a name of its own. Some servers give none, or begin anew with each answer.
struct Names {
    taken: BTreeSet<String>,
    gemini: bool,
    next: usize,
}

impl Names {
    fn of(adapter: Adapter, earlier: &[Message]) -> Names {
        let parts = earlier.iter().flat_map(|message| &message.parts);
        let taken: BTreeSet<String> = parts
            .filter_map(|part| match part {
                Part::Call(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
        Names { next: taken.len(), taken, gemini: adapter == Adapter::Gemini }
    }

    fn name(&mut self, call: &ToolCall) -> String {
        let mut id = call.call_id.clone();
        while id.is_empty() || self.taken.contains(&id) {
            id = if self.gemini {
                // The library knows by this form that the name is not Gemini's, and does not send it.
                format!("call#{}#{}", call.fn_name, self.next)
            } else {
                format!("call_{}", self.next)
            };
            self.next += 1;
        }
        self.taken.insert(id.clone());
        id
    }
}

/// Arguments as the model meant them. Text that is no JSON comes as a string; nothing at all means none.
fn arguments(value: Value) -> Arguments {
    match value {
        Value::Object(map) => Arguments::Object(map),
        Value::Null => Arguments::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Arguments::Object(Map::new()),
        // Some models write the object as a string of JSON.
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(map)) => Arguments::Object(map),
            _ => Arguments::Malformed(text),
        },
        other => Arguments::Malformed(other.to_string()),
    }
}

fn stop(reason: Option<StopReason>, calls: bool) -> Stop {
    match reason {
        Some(StopReason::MaxTokens(_)) => Stop::Length,
        Some(StopReason::ContentFilter(_)) => Stop::Filter,
        // Several providers end with `stop` or `completed` and have calls all the same.
        _ if calls => Stop::Calls,
        Some(StopReason::Other(word)) => Stop::Other(word),
        Some(StopReason::ToolCall(_) | StopReason::Completed(_) | StopReason::StopSequence(_)) | None => Stop::Done,
    }
}

/// Tokens, told apart. The library counts what came from or went to a cache as read, too.
pub(super) fn usage(counted: Option<Counted>, thought: u64) -> Usage {
    let Some(counted) = counted else { return Usage::default() };
    let number = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    let read = number(counted.prompt_tokens);
    let details = counted.prompt_tokens_details.unwrap_or_default();
    let (cache_read, cache_write) = (number(details.cached_tokens), number(details.cache_creation_tokens));
    let reasoning = number(counted.completion_tokens_details.unwrap_or_default().reasoning_tokens).max(thought);
    Usage {
        input: read.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        // A provider that thought and said nothing counts the thinking alone.
        output: number(counted.completion_tokens).max(reasoning),
        reasoning,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: Value) -> ContentPart {
        ContentPart::ToolCall(ToolCall {
            call_id: id.into(),
            fn_name: "read".into(),
            fn_arguments: arguments,
            thought_signatures: None,
        })
    }

    #[test]
    fn arguments_are_an_object_or_are_kept_as_they_were_written() {
        let object = |value: Value| Arguments::Object(value.as_object().unwrap().clone());
        assert_eq!(arguments(json!({"a": 1})), object(json!({"a": 1})));
        assert_eq!(arguments(Value::Null), object(json!({})));
        assert_eq!(arguments(json!("")), object(json!({})));
        assert_eq!(arguments(json!("{\"a\": 1}")), object(json!({"a": 1})));
        assert_eq!(arguments(json!("{\"a\": ")), Arguments::Malformed("{\"a\": ".into()));
        assert_eq!(arguments(json!([1])), Arguments::Malformed("[1]".into()));
        assert_eq!(arguments(json!("[1]")), Arguments::Malformed("[1]".into()));
    }

    #[test]
    fn two_calls_never_have_the_same_name_in_a_conversation() {
        let earlier = [Message {
            role: super::super::super::Role::Assistant,
            parts: vec![Part::Call(Call {
                id: "call_0".into(),
                name: "read".into(),
                arguments: Arguments::Object(Map::new()),
            })],
        }];
        let came = Came {
            content: vec![call("call_0", json!({})), call("call_1", json!({})), call("", json!({}))],
            ..Came::default()
        };
        let (said, stop) = parts("p", Adapter::OpenAi, came, &earlier);
        let ids: Vec<&str> = said
            .iter()
            .filter_map(|part| match part {
                Part::Call(call) => Some(call.id.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(ids, ["call_1", "call_2", "call_3"]);
        assert_eq!(stop, Stop::Calls);
    }

    #[test]
    fn every_reason_to_end_has_its_meaning() {
        let of = |word: &str, calls| stop(Some(StopReason::from(word.to_owned())), calls);
        assert_eq!(of("end_turn", false), Stop::Done);
        assert_eq!(of("stop", true), Stop::Calls);
        assert_eq!(of("max_tokens", true), Stop::Length);
        assert_eq!(of("incomplete", false), Stop::Length);
        assert_eq!(of("refusal", false), Stop::Filter);
        assert_eq!(of("pause_turn", false), Stop::Other("pause_turn".into()));
        assert_eq!(stop(None, true), Stop::Calls);
    }

    #[test]
    fn what_was_read_is_told_apart_from_what_the_cache_gave() {
        let counted: Counted = serde_json::from_value(json!({
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_creation_tokens": 30},
            "completion_tokens": 7,
            "completion_tokens_details": {"reasoning_tokens": 5}
        }))
        .unwrap();
        let usage = usage(Some(counted), 0);
        assert_eq!(usage, Usage { input: 10, cache_read: 60, cache_write: 30, output: 7, reasoning: 5 });
        assert_eq!(usage.read(), 100);
    }
}
