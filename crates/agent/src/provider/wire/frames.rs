//! What went over the wire, as far as the library does not tell it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value;

/// The frames of one stream, looked at as they pass.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Frames with something in them.
    count: AtomicUsize,
    /// There were some with nothing in them: remarks, or text that is no event.
    pub blank: AtomicBool,
    /// A chat stream named its reason to end.
    pub finished: AtomicBool,
    /// Ollama said that it is done; older ones give no reason with it.
    pub done: AtomicBool,
    /// Tokens that Anthropic spent on thinking: the library reads them only of whole answers.
    pub thought: AtomicU64,
    /// The error of a response that failed: of it the library keeps the words alone.
    failure: Mutex<Option<Value>>,
}

impl Frames {
    /// Frames with something in them.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The error of a response that failed, as the provider put it.
    pub fn failure(&self) -> Option<Value> {
        self.failure.lock().expect("nothing panics while it holds this lock").take()
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        if frame.data.trim().is_empty() {
            self.blank.store(true, Ordering::Relaxed);
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        // Each frame is looked through for words first: parsing every one again would double the work.
        let has = |words: &str| frame.data.contains(words);
        if has("\"finish_reason\"") {
            let reason = frame.json().and_then(|json| json.pointer("/choices/0/finish_reason").cloned());
            if reason.is_some_and(|reason| reason.is_string()) {
                self.finished.store(true, Ordering::Relaxed);
            }
        } else if has("\"done\"") {
            if frame.json().is_some_and(|json| json.get("done") == Some(&Value::Bool(true))) {
                self.done.store(true, Ordering::Relaxed);
            }
        } else if has("\"thinking_tokens\"") {
            let tokens =
                frame.json().and_then(|json| json.pointer("/usage/output_tokens_details/thinking_tokens")?.as_u64());
            self.thought.store(tokens.unwrap_or(0), Ordering::Relaxed);
        } else if has("response.failed") {
            let error = frame.json().and_then(|json| json.pointer("/response/error").cloned());
            *self.failure.lock().expect("nothing panics while it holds this lock") = error;
        }
    }
}
