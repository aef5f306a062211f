//! What is known of a connection beside its answers: the end of what the server complained of, what it said that was no
//! message, why it ended, and why single requests failed where the SDK's error has no room for it. Errors are made of
//! it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{ToolError, text};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};

use super::launch::Process;

/// How much of its complaints is kept.
const TAIL_BYTES: usize = 4 << 10;
/// Failed requests whose reasons are kept at once.
const MOST_EXPLAINED: usize = 32;
/// How much of it an error shows.
const SHOWN_CHARS: usize = 1_000;

/// Shared by a connection's parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Health(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    complaints: Vec<u8>,
    garbage: Option<String>,
    garbled: usize,
    broke: Option<String>,
    /// By the request that failed; no request where a notification or a stream did.
    explained: VecDeque<(Option<RequestId>, ToolError)>,
    process: Option<Box<dyn Process>>,
}

impl Health {
    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The process that answers.
    pub(crate) fn holds(&self, process: Box<dyn Process>) {
        self.with(|inner| inner.process = Some(process));
    }

    /// Ends the process, if there is one; what is known stays. Waits for its end: not for an async thread.
    pub(crate) fn end_process(&self) {
        let process = self.with(|inner| inner.process.take());
        drop(process);
    }

    /// It complained.
    pub(crate) fn complains(&self, bytes: &[u8]) {
        self.with(|inner| {
            inner.complaints.extend_from_slice(bytes);
            let over = inner.complaints.len().saturating_sub(TAIL_BYTES);
            inner.complaints.drain(..over);
        });
    }

    /// It said something that is no message.
    pub(crate) fn garbled(&self, line: &[u8]) {
        self.with(|inner| {
            inner.garbled += 1;
            let shown = &line[..line.len().min(TAIL_BYTES)];
            inner.garbage = Some(text::preview(&text::harmless(&String::from_utf8_lossy(shown)), 120));
        });
    }

    /// The connection is of no use any more; the first reason counts.
    pub(crate) fn breaks(&self, why: impl Into<String>) {
        self.with(|inner| _ = inner.broke.get_or_insert_with(|| why.into()));
    }

    /// Why `message` failed, in our words: that somebody has to log in, or that nobody listens there.
    pub(crate) fn explains(&self, message: Option<&ClientJsonRpcMessage>, error: ToolError) {
        let id = match message {
            Some(JsonRpcMessage::Request(request)) => Some(request.id.clone()),
            _ => None,
        };
        self.with(|inner| {
            inner.explained.retain(|(known, _)| *known != id);
            inner.explained.push_back((id, error));
            // Those of requests that nobody waited for.
            if inner.explained.len() > MOST_EXPLAINED {
                inner.explained.pop_front();
            }
        });
    }

    /// Why the request `id` failed; once.
    pub(crate) fn explanation(&self, id: &RequestId) -> Option<ToolError> {
        self.with(|inner| {
            let at = inner.explained.iter().position(|(known, _)| known.as_ref() == Some(id))?;
            inner.explained.remove(at).map(|(_, error)| error)
        })
    }

    /// Why the last of what failed did, and nothing of it any more: for a connection that did not come to be.
    pub(crate) fn last_explanation(&self) -> Option<ToolError> {
        self.with(|inner| std::mem::take(&mut inner.explained).pop_back().map(|(_, error)| error))
    }

    /// All of it, for the end of an error's message: nothing, or something that begins with a semicolon.
    pub(crate) fn remarks(&self) -> String {
        self.with(|inner| {
            let mut said: Vec<String> = inner.broke.iter().cloned().collect();
            said.extend(inner.process.iter().flat_map(|process| process.remarks()));
            if let Some(garbage) = &inner.garbage {
                said.push(format!("{} of its lines were no messages, the last: {garbage}", inner.garbled));
            }
            let tail = String::from_utf8_lossy(&inner.complaints);
            let tail = tail.trim();
            let mut out: String = said.iter().map(|said| format!("; {said}")).collect();
            if !tail.is_empty() {
                let start = tail.char_indices().rev().nth(SHOWN_CHARS - 1).map_or(0, |(at, _)| at);
                out.push_str(&format!("; it complained:\n{}", text::harmless(&tail[start..])));
            }
            out
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_flood_is_kept_and_made_harmless() {
        let health = Health::default();
        for _ in 0..1000 {
            health.complains(&[b'x'; 1000]);
        }
        health.complains(b"\x1b[2Jboom\n");
        health.breaks("it closed its output");
        health.breaks("later");
        let remarks = health.remarks();
        assert!(remarks.starts_with("; it closed its output; it complained:\n"), "{remarks}");
        assert!(remarks.ends_with("x␛[2Jboom") && remarks.chars().count() < 1_100, "{remarks}");
    }

    #[test]
    fn a_reason_is_that_of_its_request_and_of_no_other() {
        let health = Health::default();
        let request = |id: i64| -> ClientJsonRpcMessage {
            let ping = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            serde_json::from_value(ping).expect("a request")
        };
        let error = |said: &str| ToolError::new(nika_contract::code::MCP_LOGIN_NEEDED, said);
        health.explains(Some(&request(1)), error("one"));
        health.explains(None, error("a stream"));
        health.explains(Some(&request(2)), error("two"));
        let said = |id: i64| health.explanation(&RequestId::Number(id)).map(|error| error.message);
        assert_eq!((said(3), said(1), said(1)), (None, Some("one".into()), None));
        assert_eq!(health.last_explanation().map(|error| error.message).as_deref(), Some("two"));
        assert_eq!((said(2), health.last_explanation()), (None, None));
        for id in 0..1_000 {
            health.explains(Some(&request(id)), error("nobody waits"));
        }
        assert!(said(0).is_none() && said(999).is_some());
    }
}
