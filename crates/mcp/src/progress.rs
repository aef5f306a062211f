//! Progress notifications: as often as a person can follow, never backwards.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nika_contract::{Progress, Silent};
use serde_json::Value;

use crate::link::Link;
use crate::port::Object;

/// The least time between two notifications of one call: 25 a second are more than a front end draws.
const PAUSE: Duration = Duration::from_millis(40);

/// What watches a call: the client when it sent a `progressToken`, nobody otherwise.
pub(crate) fn watcher(link: &Arc<dyn Link>) -> Arc<dyn Progress> {
    match link.meta().get("progressToken") {
        Some(token) if token.is_string() || token.is_number() => {
            Arc::new(Ticker { link: Arc::clone(link), token: token.clone(), last: Mutex::new(None) })
        }
        _ => Arc::new(Silent),
    }
}

struct Ticker {
    link: Arc<dyn Link>,
    token: Value,
    last: Mutex<Option<(Instant, u64)>>,
}

impl Progress for Ticker {
    fn step(&self, done: u64, total: Option<u64>, what: &str) {
        let now = Instant::now();
        {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            let finished = total.is_some_and(|total| done >= total);
            if last.is_some_and(|(at, before)| done <= before || (!finished && now.duration_since(at) < PAUSE)) {
                return;
            }
            *last = Some((now, done));
        }
        let mut params = Object::new();
        params.insert("progressToken".to_owned(), self.token.clone());
        params.insert("progress".to_owned(), done.into());
        if let Some(total) = total {
            params.insert("total".to_owned(), total.into());
        }
        if !what.is_empty() {
            params.insert("message".to_owned(), what.into());
        }
        self.link.post("notifications/progress", params);
    }
}
