//! *Checkpoint*: from here on the call has a place for pre-images. The host refuses to change a file
//! whose pre-image was not kept, so nothing that a call does to files is beyond undo.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nika_contract::{AnyTool, Clock, Held, Known, Lasting, Preimage, Prepared, Replied, ToolError, Undo, event};
use nika_guard::Permit;
use nika_store::{CheckpointMeta, Checkpoints};
use serde_json::{Map, Value, json};

use crate::dispatch::Runtime;
use crate::session::{Scribe, Session};
use crate::stage::before::Wishes;
use crate::stage::begin::Begun;
use crate::stage::inquire::Informed;
use crate::stage::settle::{Permitted, object};

/// A call that can be taken back.
pub(crate) struct Armed<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    pub permit: Arc<Permit>,
    pub decided_by: String,
    pub undo: CallUndo<'r>,
    pub wishes: Wishes,
    pub reply: Option<Replied>,
    pub held: Option<Held>,
}

pub(crate) fn arm<'r>(runtime: &'r Runtime, session: &'r Session, begun: &Begun, informed: Informed<'r>) -> Armed<'r> {
    let Informed { permitted, reply } = informed;
    let Permitted { tool, prepared, permit, decided_by, wishes, held } = permitted;
    let meta = CheckpointMeta {
        call: begun.call.0.clone(),
        session: session.id().to_owned(),
        tool: begun.tool.clone(),
        at: begun.at_ms,
        asked: permit.answered_by().is_some(),
        begun: nika_store::checkpoints::Begun::default(),
    };
    Armed {
        tool,
        prepared,
        permit,
        decided_by,
        undo: CallUndo { runtime, session, meta, kept: AtomicBool::new(false) },
        wishes,
        reply,
        held,
    }
}

/// Keeps pre-images in the store and a line in the journal.
pub(crate) struct CallUndo<'r> {
    runtime: &'r Runtime,
    session: &'r Session,
    meta: CheckpointMeta,
    kept: AtomicBool,
}

impl CallUndo<'_> {
    pub(crate) fn clock(&self) -> &dyn Clock {
        self.runtime.parts.clock.as_ref()
    }
}

impl Undo for CallUndo<'_> {
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError> {
        self.runtime.parts.checkpoints.record(&self.meta, preimage)?;
        self.kept.store(true, Ordering::Relaxed);
        // That it was not changed after all only an undo has to know.
        if preimage.more.is_some_and(|more| more.known == Known::Unchanged) {
            return Ok(());
        }
        let logged = self.session.log(&self.runtime.log_to(), event::CHECKPOINT, &line(&self.meta.call, preimage));
        logged.map_err(ToolError::from)
    }

    fn void(&self) {
        if self.kept.load(Ordering::Relaxed) {
            // A call that is its own taker-back stands in no list; where even that cannot be written, an
            // undo finds every path as it was.
            let _ = self.runtime.parts.checkpoints.mark_undone(&self.meta.call, &self.meta.call);
        }
    }

    fn stands(&self) {
        self.kept.store(false, Ordering::Relaxed);
    }

    fn lasting(&self) -> Result<Option<Lasting>, ToolError> {
        let checkpoints = Arc::clone(&self.runtime.parts.checkpoints);
        let call = self.meta.call.clone();
        let hold = Box::new(checkpoints.hold(&call)?);
        let undo = Arc::new(Late { checkpoints, meta: self.meta.clone(), scribe: self.session.scribe() });
        Ok(Some(Lasting { call, undo, hold }))
    }
}

/// The same, when the call has ended. A call that failed is not void for it: what goes on has changed what it changed.
struct Late {
    checkpoints: Arc<Checkpoints>,
    meta: CheckpointMeta,
    scribe: Scribe,
}

impl Undo for Late {
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError> {
        self.checkpoints.record(&self.meta, preimage)?;
        // The journal has what came of it. Of what has begun only the undo store has to know.
        if preimage.more.is_none_or(|more| matches!(more.known, Known::Whole | Known::Settled)) {
            // It is kept, whatever becomes of the line; a journal that is lost is met by the session's next call.
            let _ = self.scribe.log(event::CHECKPOINT, &line(&self.meta.call, preimage));
        }
        Ok(())
    }

    fn tell_handled(&self, files: &[PathBuf]) {
        let paths: Vec<_> = files.iter().map(|path| path.to_string_lossy()).collect();
        let _ = self.scribe.log(event::GUARDED_HANDLED, &object(json!({"call": self.meta.call, "paths": paths})));
    }
}

fn line(call: &str, preimage: &Preimage<'_>) -> Map<String, Value> {
    let hex =
        |hash: Option<[u8; 32]>| hash.map(|hash| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    object(json!({
        "call": call,
        "path": preimage.path.to_string_lossy(),
        "before": hex(preimage.hash),
        "after": hex(preimage.after),
        "mode": preimage.mode,
    }))
}
