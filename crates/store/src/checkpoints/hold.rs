//! Which calls still change paths: those with work that goes on when they have been answered.
//!
//! Each is a file in `recording/` that its process holds locked. One that nobody locks is left of a dead process: its
//! call changes nothing any more, and what it had begun can be taken back as it stands.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock, fstat};
use rustix::io::{Errno, retry_on_intr};

use super::Checkpoints;
use crate::error::StoreError;
use crate::id;

const DIR: &str = "recording";

/// That a call goes on. Dropped, it has come to its end.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Checkpoints {
    /// Says that `call` goes on changing paths, for as long as the answer lives.
    pub fn hold(&self, call: &str) -> Result<Hold, StoreError> {
        let path = self.held_path(call)?;
        let failed = |error: io::Error| StoreError::io("make", &path, error);
        let dir = path.parent().unwrap_or(Path::new("/"));
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        loop {
            let file = opened(&path, true).map_err(failed)?;
            retry_on_intr(|| flock(&file, FlockOperation::LockExclusive)).map_err(|error| failed(error.into()))?;
            // Whoever looked in between may have taken it for a dead one's, and removed it.
            if fstat(&file).is_ok_and(|stat| stat.st_nlink > 0) {
                return Ok(Hold { path, _file: file });
            }
        }
    }

    /// Whether `call` goes on changing paths, in this process or another.
    pub fn is_held(&self, call: &str) -> bool {
        let Ok(path) = self.held_path(call) else { return false };
        let file = match opened(&path, false) {
            Ok(file) => file,
            // Who cannot look does not know that it has ended.
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => true,
            Ok(()) => {
                let _ = std::fs::remove_file(&path);
                false
            }
            Err(_) => true,
        }
    }

    /// Removes what dead processes left of calls that had changed nothing yet, and so stand in no list.
    pub(super) fn clear_holds(&self) {
        for entry in std::fs::read_dir(self.path.with_file_name(DIR)).into_iter().flatten().flatten() {
            // Looking removes one that nobody locks.
            let _ = entry.file_name().to_str().is_some_and(|call| self.is_held(call));
        }
    }

    fn held_path(&self, call: &str) -> Result<PathBuf, StoreError> {
        Ok(self.path.with_file_name(DIR).join(id::check(call)?))
    }
}

fn opened(path: &Path, make: bool) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    OpenOptions::new().read(true).write(true).create(make).truncate(false).mode(0o600).custom_flags(flags).open(path)
}
