//! That nothing goes meanwhile: for who names contents that no line names yet, or means to take back what one does.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::{Errno, retry_on_intr};

use super::Checkpoints;
use super::tally::on_disk;
use crate::error::StoreError;
use crate::hash::Hash;

/// As long as it lives, no process collects.
#[derive(Debug)]
pub struct Keeping<'a> {
    checkpoints: &'a Checkpoints,
    /// Locked as long as it is open.
    _shared: File,
}

impl Keeping<'_> {
    /// The same as [`crate::Objects::put`]. Whoever saves the name lets go only afterwards.
    pub fn put(&self, bytes: &[u8], known_hash: Option<[u8; 32]>) -> Result<Hash, StoreError> {
        let (hash, written) = self.checkpoints.objects.add(bytes, known_hash)?;
        // When it is collected is decided by who records: this one could not be now.
        if written > 0 {
            let _ = self.checkpoints.tally().map(|tally| tally.add(on_disk(written)));
        }
        Ok(hash)
    }
}

impl Checkpoints {
    /// Waits for a collection to end, and lets none begin.
    pub fn keeping(&self) -> Result<Keeping<'_>, StoreError> {
        let failed = |error: io::Error| StoreError::io("lock", &self.alone_path(), error);
        let file = self.open_alone().map_err(failed)?;
        retry_on_intr(|| flock(&file, FlockOperation::LockShared)).map_err(|errno| failed(errno.into()))?;
        Ok(Keeping { checkpoints: self, _shared: file })
    }

    /// The lock of a collection, unless another one goes on or somebody keeps it from beginning.
    pub(super) fn alone(&self) -> Result<Option<File>, StoreError> {
        let failed = |error: io::Error| StoreError::io("lock", &self.alone_path(), error);
        let file = self.open_alone().map_err(failed)?;
        match retry_on_intr(|| flock(&file, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(failed(errno.into())),
        }
    }

    pub(super) fn alone_path(&self) -> PathBuf {
        self.path.with_extension("lock")
    }

    fn open_alone(&self) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW.bits() as i32;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(self.alone_path())
    }
}
