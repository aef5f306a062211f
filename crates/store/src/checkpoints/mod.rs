//! Which call changed which path from what: enough to take any one call back.
//!
//! `checkpoints.log` holds one JSON line a changed path, and marks of what was taken back. `line`
//! is its format, `history` makes calls of lines, `hold` says which calls go on; this file writes. What is kept is bounded:
//! `tally` knows how much was added, `bound` when that is too much, `collect` what goes, and `keeping` lets nothing go.
//!
//! Every writer holds the log's shared lock from before the pre-image is put until the line is
//! written; [`Checkpoints::collect`] removes only under the exclusive one, so it never takes an object
//! for idle whose line is still to come.

mod bound;
mod collect;
mod history;
mod hold;
mod keeping;
mod line;
mod tally;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Preimage, ToolError, Undo};
use rustix::fs::{FlockOperation, OFlags, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

pub use collect::{Collected, Limits};
pub use history::{CallChanges, Change};
pub use hold::Hold;
pub use keeping::Keeping;

use crate::error::StoreError;
use crate::hash::Hash;
use crate::objects::Objects;
use crate::state::State;
use bound::Bound;
use history::Wanted;
use line::{Line, Mark, Record};
use tally::{BLOCK_BYTES, on_disk};

/// The call that changes something. Its clones are the same call.
#[derive(Debug, Clone)]
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
    /// Whether it has a line already.
    pub begun: Begun,
}

/// Whether a call has a line. Only its first one says that it is that, so that a call whose first lines were dropped while
/// it went on is known for half a call.
#[derive(Debug, Clone, Default)]
pub struct Begun(Arc<AtomicBool>);

/// The checkpoints of one workspace, open for recording. Threads may share it, and clones are the same.
#[derive(Clone)]
pub struct Checkpoints {
    state: State,
    path: PathBuf,
    objects: Arc<Objects>,
    log: Arc<Mutex<File>>,
    bound: Arc<Bound>,
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
        let (objects, log) = (Arc::new(Objects::open(state)?), Arc::new(Mutex::new(log)));
        Ok(Checkpoints { state: state.clone(), path, objects, log, bound: Arc::default() })
    }

    /// The contents that lines name.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Keeps a path as it is before `meta`'s call changes it: the content, then the line.
    pub fn record(&self, meta: &CheckpointMeta, preimage: &Preimage<'_>) -> Result<(), StoreError> {
        let total = self.locked(FlockOperation::LockShared, |log| {
            let (before, written) = match preimage.bytes {
                Some(bytes) => self.objects.add(bytes, preimage.hash).map(|(hash, written)| (Some(hash), written))?,
                // Content that stays needs no keeping.
                None => (preimage.hash.map(Hash).filter(|_| preimage.more.is_some()), 0),
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
                dress: preimage.dress.map(|dress| Box::new(dress.into())),
                unasked: !meta.asked,
                linked: preimage.linked,
                goes_on: meta.begun.0.load(Ordering::Relaxed),
            };
            let grown = self.append(log, &Line::Change(record))?;
            meta.begun.0.store(true, Ordering::Relaxed);
            // Under the lock, too: a collection takes off what it has seen, and must not take off this.
            Ok(self.count(on_disk(written) + grown))
        })?;
        self.collect_when_due(total, meta.at);
        Ok(())
    }

    /// Notes that the call `by` took `call` back. When `by` is itself taken back later, `call` stands
    /// again.
    pub fn mark_undone(&self, call: &str, by: &str) -> Result<(), StoreError> {
        let mark = Line::Mark(Mark { undone: call.into(), by: by.into() });
        self.locked(FlockOperation::LockShared, |log| self.append(log, &mark)).map(drop)
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

    /// Adds a line, and says how many bytes more the log takes on disk.
    fn append(&self, log: &File, line: &Line<'_>) -> Result<u64, StoreError> {
        let failed = |error: io::Error| StoreError::io("write", &self.path, error);
        let text = line.encode().map_err(failed)?;
        let written = retry_on_intr(|| rustix::io::write(log, &text)).map_err(|e| failed(e.into()))?;
        // A piece stays when the disk is full, and readers pass over it: other writers may have
        // appended behind it, so nobody can cut it off.
        if written < text.len() {
            return Err(failed(Errno::NOSPC.into()));
        }
        let end = rustix::fs::seek(log, SeekFrom::Current(0)).map_err(|errno| failed(errno.into()))?;
        Ok((end / BLOCK_BYTES - end.saturating_sub(written as u64) / BLOCK_BYTES) * BLOCK_BYTES)
    }

    /// Runs `act` with the log under its lock.
    fn locked<T>(
        &self,
        how: FlockOperation,
        act: impl FnOnce(&File) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock(&mut log, how)?;
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
mod bound_tests;
#[cfg(test)]
mod tests;
