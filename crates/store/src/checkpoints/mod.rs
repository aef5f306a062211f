//! Which call changed which path from what: enough to take any one call back.
//!
//! `checkpoints.log` holds one JSON line a changed path, and marks of what was taken back. `line`
//! is its format, `history` makes calls of lines, `hold` says which calls go on, `collect` keeps it bounded; this file
//! writes.
//!
//! Every writer holds the log's shared lock from before the pre-image is put until the line is
//! written; [`Checkpoints::collect`] holds the exclusive one, so it never sees an object whose line
//! is still to come.

mod collect;
mod history;
mod hold;
mod line;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nika_contract::{Preimage, ToolError, Undo};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::{Errno, retry_on_intr};

pub use collect::{Collected, Limits};
pub use history::{CallChanges, Change};
pub use hold::Hold;

use crate::error::StoreError;
use crate::hash::Hash;
use crate::objects::Objects;
use crate::state::State;
use history::Wanted;
use line::{Line, Mark, Record};

/// The call that changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointMeta {
    /// The call's id.
    pub call: String,
    /// Its session.
    pub session: String,
    /// Its tool.
    pub tool: String,
    /// When the call began, in Unix milliseconds: the same for all its changes.
    pub at: u64,
    /// Whether a person was asked about it and said yes.
    pub asked: bool,
}

/// The checkpoints of one workspace, open for recording. Threads may share it.
pub struct Checkpoints {
    path: PathBuf,
    objects: Objects,
    log: Mutex<File>,
}

/// The [`Undo`] of one call.
#[derive(Debug, Clone, Copy)]
pub struct CallUndo<'a> {
    /// Where pre-images go.
    pub checkpoints: &'a Checkpoints,
    /// The call.
    pub meta: &'a CheckpointMeta,
}

impl Undo for CallUndo<'_> {
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError> {
        Ok(self.checkpoints.record(self.meta, preimage)?)
    }
}

impl Checkpoints {
    /// The checkpoints of a state; the log is made when missing.
    pub fn open(state: &State) -> Result<Checkpoints, StoreError> {
        let path = state.checkpoints_path();
        let log = open_log(&path).map_err(|e| StoreError::io("open", &path, e))?;
        Ok(Checkpoints { path, objects: Objects::open(state)?, log: Mutex::new(log) })
    }

    /// The contents that lines name.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Keeps a path as it is before `meta`'s call changes it: the content, then the line.
    pub fn record(&self, meta: &CheckpointMeta, preimage: &Preimage<'_>) -> Result<(), StoreError> {
        self.shared(|log| {
            let before = match preimage.bytes {
                Some(bytes) => Some(self.objects.put(bytes, preimage.hash)?),
                // Content that stays needs no keeping.
                None => preimage.hash.map(Hash).filter(|_| preimage.more.is_some()),
            };
            let record = Record {
                at: meta.at,
                call: meta.call.as_str().into(),
                session: meta.session.as_str().into(),
                tool: meta.tool.as_str().into(),
                path: preimage.path.to_owned(),
                kind: preimage.kind,
                mode: preimage.mode.map(|mode| mode & 0o7777),
                mode_left: preimage.mode_left.map(|mode| mode & 0o7777),
                before,
                after: preimage.after.map(Hash),
                left: preimage.more.map(|more| Box::new(more.into())),
                unasked: !meta.asked,
            };
            self.append(log, &Line::Change(record))
        })
    }

    /// Notes that the call `by` took `call` back. When `by` is itself taken back later, `call` stands
    /// again.
    pub fn mark_undone(&self, call: &str, by: &str) -> Result<(), StoreError> {
        self.shared(|log| self.append(log, &Line::Mark(Mark { undone: call.into(), by: by.into() })))
    }

    /// The last `limit` calls that changed something (of `session`, when named), the newest first.
    pub fn list(&self, limit: usize, session: Option<&str>) -> Result<Vec<CallChanges>, StoreError> {
        self.newest(Wanted { limit, call: None, session })
    }

    /// What one call changed.
    pub fn find(&self, call: &str) -> Result<CallChanges, StoreError> {
        let found = self.newest(Wanted { limit: 1, call: Some(call), session: None })?;
        found.into_iter().next().ok_or_else(|| StoreError::NoSuchCall(call.to_owned()))
    }

    fn newest(&self, wanted: Wanted<'_>) -> Result<Vec<CallChanges>, StoreError> {
        let read = File::open(&self.path).and_then(|file| history::newest(&file, wanted));
        read.map_err(|e| StoreError::io("read", &self.path, e))
    }

    fn append(&self, log: &File, line: &Line<'_>) -> Result<(), StoreError> {
        let failed = |error: io::Error| StoreError::io("write", &self.path, error);
        let text = line.encode().map_err(failed)?;
        let written = retry_on_intr(|| rustix::io::write(log, &text)).map_err(|e| failed(e.into()))?;
        // A piece stays when the disk is full, and readers pass over it: other writers may have
        // appended behind it, so nobody can cut it off.
        if written == text.len() { Ok(()) } else { Err(failed(Errno::NOSPC.into())) }
    }

    /// Runs `act` with the log under its shared lock.
    fn shared<T>(&self, act: impl FnOnce(&File) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock(&mut log, FlockOperation::LockShared)?;
        let result = act(&log);
        let _ = rustix::fs::flock(&*log, FlockOperation::Unlock);
        result
    }

    /// Locks the log that has the name now: a collection may have put another in its place.
    fn lock(&self, log: &mut File, how: FlockOperation) -> Result<(), StoreError> {
        let failed = |doing, errno: Errno| StoreError::io(doing, &self.path, errno);
        loop {
            retry_on_intr(|| rustix::fs::flock(&*log, how)).map_err(|e| failed("lock", e))?;
            if rustix::fs::fstat(&*log).map_err(|e| failed("look at", e))?.st_nlink > 0 {
                return Ok(());
            }
            *log = open_log(&self.path).map_err(|e| StoreError::io("open", &self.path, e))?;
        }
    }
}

impl fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoints").field("path", &self.path).finish_non_exhaustive()
    }
}

fn open_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path)
}

#[cfg(test)]
mod tests;
