//! A run as JSON, an object a line: what happened, as programs read it.

use nika_agent::provider::Usage;
use nika_agent::{Ended, Happening, Watch};
use nika_contract::{Herald, Spoken, ToolError};
use serde_json::{Value, json};

use crate::out;

/// Prints every event as it comes.
#[derive(Debug)]
pub struct Events;

impl Watch for Events {
    fn saw(&self, what: &Happening<'_>) {
        // The last object is printed by the command, with the exit code's reason.
        if let Some(event) = event(what) {
            // A reader that went away does not stop the work.
            let _ = out::json(&event);
        }
    }
}

impl Herald for Events {
    fn say(&self, _: &str, spoken: &Spoken) -> bool {
        let said = json!({
            "event": "message", "text": spoken.message, "attachments": spoken.attachments, "proactive": spoken.proactive,
        });
        out::json(&said).is_ok()
    }
}

/// The event, `None` for what is no event of its own.
pub fn event(what: &Happening<'_>) -> Option<Value> {
    Some(match what {
        Happening::TurnBegan { turn } => json!({ "event": "turn", "turn": turn }),
        Happening::Answering => json!({ "event": "answering" }),
        Happening::Text(text) => json!({ "event": "text", "text": text }),
        Happening::Thinking(text) => json!({ "event": "thinking", "text": text }),
        Happening::Writing { .. } => return None,
        Happening::Waiting { why, ms } => json!({ "event": "waiting", "why": why, "ms": ms }),
        Happening::Spent { usage: of, total, cost_micros, .. } => json!({
            "event": "spent", "usage": usage(of), "total": usage(total), "cost_usd": dollars(*cost_micros),
        }),
        Happening::CallBegan { origin, tool, arguments } => {
            json!({ "event": "call", "id": origin, "tool": tool, "arguments": arguments })
        }
        Happening::CallGoes { origin, done, total, what } => {
            json!({ "event": "progress", "id": origin, "done": done, "total": total, "what": what })
        }
        Happening::CallEnded { origin, tool, call, result, took_ms } => {
            let (ok, code, text, diff) = match result {
                Ok(output) => {
                    let code = output.failed.map(|code| code.to_string());
                    (output.failed.is_none(), code, output.joined_text(), output.diff.clone())
                }
                Err(error) => (false, Some(error.code.to_string()), error.to_string(), None),
            };
            json!({
                "event": "result", "id": origin, "tool": tool, "call_id": call, "ok": ok, "code": code, "text": text,
                "diff": diff, "took_ms": took_ms,
            })
        }
        Happening::Told(text) => json!({ "event": "told", "text": text }),
        Happening::Compacted { before, after, by_model } => {
            json!({ "event": "compacted", "before": before, "after": after, "by_model": by_model })
        }
        Happening::Awaiting { what } => json!({ "event": "awaiting", "what": what }),
        Happening::Agent { name, session, what } => {
            json!({ "event": "agent", "name": name, "session": session, "what": event(what)? })
        }
        Happening::Ended(_) => return None,
    })
}

/// The object that stands for a whole run.
pub fn object(session: &str, ended: &Ended) -> Value {
    let error = ended.why.error();
    json!({
        "event": "ended",
        "ok": error.is_none(),
        "code": error.as_ref().map(|error| error.code.to_string()),
        "message": error.as_ref().map(|error| error.message.as_str()),
        "hint": error.as_ref().and_then(|error| error.hint.as_deref()),
        "session": session,
        "answer": ended.answer,
        "structured": ended.structured,
        "stopped": ended.why.word(),
        "error": error.as_ref().map(told),
        "usage": usage(&ended.usage),
        "cost_usd": dollars(ended.cost_micros),
        "agents": { "usage": usage(&ended.below.usage), "cost_usd": dollars(ended.below.cost_micros) },
        "turns": ended.turns,
        "calls": ended.calls,
    })
}

/// The same object for a run that could not be done; without a session where it did not come so far. Why stands where
/// every command's failure has it, too.
pub fn fault(session: Option<&str>, error: &ToolError) -> Value {
    json!({
        "event": "ended",
        "ok": false,
        "code": error.code.to_string(),
        "message": error.message,
        "hint": error.hint,
        "session": session,
        "answer": null,
        "structured": null,
        "stopped": "fault",
        "error": told(error),
        "usage": null,
        "cost_usd": null,
        "agents": null,
        "turns": 0,
        "calls": 0,
    })
}

fn told(error: &ToolError) -> Value {
    json!({ "code": error.code.to_string(), "message": error.message, "hint": error.hint })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "cache_read": usage.cache_read, "cache_write": usage.cache_write,
        "output": usage.output, "reasoning": usage.reasoning,
    })
}

fn dollars(micros: Option<u64>) -> Option<f64> {
    micros.map(|micros| micros as f64 / 1e6)
}
