//! What ends a walk before its end: somebody else, or the clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::record::Cut;

/// Asked between files and inside large ones.
#[derive(Debug)]
pub(crate) struct Stop<'a> {
    cancel: Option<&'a AtomicBool>,
    deadline: Option<Instant>,
    cancelled: AtomicBool,
    late: AtomicBool,
}

impl<'a> Stop<'a> {
    pub fn new(cancel: Option<&'a AtomicBool>, timeout: Option<Duration>) -> Stop<'a> {
        // A timeout beyond what the clock can say is none.
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        Stop { cancel, deadline, cancelled: AtomicBool::new(false), late: AtomicBool::new(false) }
    }

    pub fn now(&self) -> bool {
        if self.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            self.cancelled.store(true, Ordering::Relaxed);
            return true;
        }
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            self.late.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }

    /// Writes down what ended the walk, if anything did.
    pub fn note(&self, cut: &mut Cut) {
        cut.cancelled |= self.cancelled.load(Ordering::Relaxed);
        cut.timeout |= self.late.load(Ordering::Relaxed);
    }
}
