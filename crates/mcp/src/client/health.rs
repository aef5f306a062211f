//! What is known of a connection beside its answers: the end of what the server complained of, what it said that was no
//! message, why it ended. Errors are made of it.

use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{ToolError, text};

use super::launch::Process;

/// How much of its complaints is kept.
const TAIL_BYTES: usize = 4 << 10;
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
    unauthorised: Option<ToolError>,
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

    /// The server wants to know who asks, and this is what the authorizer says to that.
    pub(crate) fn unauthorised(&self, error: ToolError) {
        self.with(|inner| inner.unauthorised = Some(error));
    }

    /// What the authorizer said to a refusal, once.
    pub(crate) fn take_unauthorised(&self) -> Option<ToolError> {
        self.with(|inner| inner.unauthorised.take())
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
}
