//! One writer at a time, over every process that shares the workspace.
//!
//! Between looking at a file and renaming the new one into place nobody of ours may come in between,
//! or one of two edits is lost. A mutex orders the threads of this process, `flock` the processes.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nika_contract::{ToolError, code};
use nika_guard::Permit;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::inflight::OwnNote;
use super::recovered::Why;
use super::{Recovered, Workspace, errno};

/// How long a call, or a start that has a set to settle, waits for other processes to finish their changes.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How often it looks. A change of one file takes a fraction of this.
pub const LOOK_AGAIN: Duration = Duration::from_micros(500);

#[derive(Debug, Default)]
pub(super) struct State {
    file: Option<File>,
    pub(super) inflight: Option<OwnNote>,
    /// The last look at the directory of intents, so that another process's death is noticed.
    pub(super) sets_mtime: Option<(i64, u64)>,
    /// Notes of sets that could not be settled.
    pub(super) left: HashMap<PathBuf, Why>,
    /// Whether it was said that a set is under way.
    pub(super) noted: bool,
}

/// The right to change files of the workspace, for as long as it lives.
#[derive(Debug)]
pub struct Locked<'a> {
    pub(super) files: &'a Workspace,
    pub(super) state: MutexGuard<'a, State>,
}

impl Locked<'_> {
    pub(crate) fn files(&self) -> &Workspace {
        self.files
    }
}

impl Workspace {
    /// The right to change files, or `None` while another process has it: look again after
    /// [`LOOK_AGAIN`], for at most [`PATIENCE`]. Does not wait, as its caller's thread serves others, too.
    pub fn lock(&self, _permit: &Permit) -> Result<Option<Locked<'_>>, ToolError> {
        self.lock_within(Duration::ZERO)
    }

    /// What became of interrupted change sets since the last call of this, for the journal.
    pub fn take_recovered(&self) -> Vec<Recovered> {
        std::mem::take(&mut self.recovered.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has it told what became of one. Apart from the lock: whoever asks does not wait for a change.
    pub(crate) fn tell(&self, recovered: Recovered) {
        self.recovered.lock().unwrap_or_else(PoisonError::into_inner).push(recovered);
    }

    /// As [`Workspace::lock`], for recovery too: at start there is no call and no permit, and what is
    /// settled was permitted when it began.
    pub(super) fn lock_within(&self, patience: Duration) -> Result<Option<Locked<'_>>, ToolError> {
        let mut state = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if state.file.is_none() {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let file = rustix::fs::open(self.own.join("lock"), flags, Mode::RUSR | Mode::WUSR)
                .map_err(|error| errno("open the workspace's lock", error, code::STATE_UNUSABLE))?;
            state.file = Some(File::from(file));
        }
        let file = state.file.as_ref().expect("opened above");
        let since = Instant::now();
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) if since.elapsed() < patience => std::thread::sleep(LOOK_AGAIN),
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
                Err(error) => return Err(errno("lock the workspace", error, code::STATE_UNUSABLE)),
            }
        }
        let mut locked = Locked { files: self, state };
        locked.settle_orphans();
        Ok(Some(locked))
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if let Some(file) = &self.state.file {
            // It cannot fail on a descriptor that holds the lock; a closed process frees it anyway.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}
