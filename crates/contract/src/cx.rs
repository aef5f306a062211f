//! What a running call has at hand.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nika_guard::{Effect, Permit, Place};

use crate::code;
use crate::error::ToolError;
use crate::port::{Beside, Clock, Progress, Purse, Replied, Undo};
use crate::session::SessionState;

/// A call's name in the journal, in `undo` and in answers: `c0007-3f2a`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Set once when the caller no longer wants the answer. Cheap to clone and to look at.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the call to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for engines that look at it in their loops.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }
}

/// What is known while a call only says its effects: no permit yet.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The session that calls.
    pub session: &'a SessionState,
}

/// What is known while a call runs.
pub struct Cx<'a> {
    /// What was allowed. Host functions check themselves against it.
    pub permit: &'a Arc<Permit>,
    /// The call's name.
    pub call: &'a CallId,
    /// The session that calls.
    pub session: &'a SessionState,
    /// Whether to stop.
    pub cancel: &'a Cancel,
    /// Who watches.
    pub progress: &'a Arc<dyn Progress>,
    /// Where pre-images go.
    pub undo: &'a dyn Undo,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// What a person answered, where the tool had a question of its own.
    pub reply: Option<&'a Replied>,
    /// What the session may spend.
    pub purse: &'a dyn Purse,
    /// The person and the journal, for what comes up on the way.
    pub beside: &'a dyn Beside,
}

impl Cx<'_> {
    /// Where a tool of one file or directory works: the place that was declared and judged. What the caller wrote is not
    /// looked up a second time, when a link may lead elsewhere.
    pub fn place(&self) -> Result<&Place, ToolError> {
        let place = self.permit.effects().all.iter().find_map(|effect| match effect {
            Effect::Read(place) | Effect::Write(place) => Some(place),
            _ => None,
        });
        place.ok_or_else(|| ToolError::new(code::BUG, "this call declared no place"))
    }

    /// Ends the call here if its caller no longer wants it.
    pub fn check_cancelled(&self) -> Result<(), ToolError> {
        if self.cancel.is_cancelled() { Err(ToolError::cancelled()) } else { Ok(()) }
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("call", self.call).field("session", self.session).finish_non_exhaustive()
    }
}
