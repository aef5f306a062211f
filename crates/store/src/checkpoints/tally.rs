//! How much was added since the last collection, by all processes: the length of a file.
//!
//! `checkpoints.added` gets a byte for each block that a content takes, and for each that the log grows by. The length
//! counts, not a number in it: processes append at once without a lock, a number would have to be read and written back.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{OFlags, SeekFrom};
use rustix::io::retry_on_intr;

/// What nearly every file system gives out at least.
pub(super) const BLOCK_BYTES: u64 = 4 << 10;

/// The bytes that a file of `len` takes.
pub(super) fn on_disk(len: u64) -> u64 {
    len.next_multiple_of(BLOCK_BYTES)
}

/// The file.
pub(super) struct Tally(File);

impl Tally {
    pub(super) fn open(path: &Path) -> io::Result<Tally> {
        let flags = OFlags::NOFOLLOW.bits() as i32;
        OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path).map(Tally)
    }

    /// Adds so many bytes, whole blocks, and says how many there are then. The disk may be full: what counts is then
    /// counted another time.
    pub(super) fn add(&self, bytes: u64) -> io::Result<u64> {
        let marks = vec![b'.'; usize::try_from(bytes / BLOCK_BYTES).unwrap_or(usize::MAX)];
        retry_on_intr(|| rustix::io::write(&self.0, &marks))?;
        // Behind what was just appended, by whomever.
        Ok(rustix::fs::seek(&self.0, SeekFrom::Current(0))? * BLOCK_BYTES)
    }

    /// How many bytes there are.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len() * BLOCK_BYTES)
    }

    /// Takes off what a collection has seen. Nobody may add meanwhile.
    pub(super) fn take_off(&self, bytes: u64) -> io::Result<()> {
        let left = self.bytes()?.saturating_sub(bytes);
        self.0.set_len(left / BLOCK_BYTES)
    }
}
