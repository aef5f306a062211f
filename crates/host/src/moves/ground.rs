//! The directories that a set of moves was begun in. Its note may be found while a file system is not mounted: there, nothing
//! is to be finished or taken back, and what others put in the mount point meanwhile is none of the note's business.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nika_contract::pathtext;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::is_overlay;
use crate::fs::{Workspace, birth_id};
use crate::overlay::by_handle;

/// A directory that must stand there, and no other one, when a note is settled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ground {
    #[serde(with = "pathtext")]
    pub(crate) path: PathBuf,
    /// Its inode and when it came to be. Not its device, whose number another order of mounts changes, nor its mount, which
    /// is another one each time. `None` in an overlay: there a directory may get another inode with the next mount, and
    /// another time with the first change in it.
    id: Option<[i64; 3]>,
}

impl Ground {
    pub(crate) fn of(files: &Workspace, path: &Path) -> Option<Ground> {
        let dir = opened(files, path)?;
        let id = if lies_in_overlay(&dir) { None } else { Some(birth_id(&dir, "")?) };
        Some(Ground { path: path.to_path_buf(), id })
    }

    pub(crate) fn is_there(&self, files: &Workspace) -> bool {
        let Some(dir) = opened(files, &self.path) else { return false };
        match (self.id, birth_id(&dir, "")) {
            (None, _) => lies_in_overlay(&dir),
            // Where the file system did not say when it came to be, or does no more, the inode has to do.
            (Some([inode, born @ ..]), Some([there, came @ ..])) => {
                there == inode && (came == born || came == [0, 0] || born == [0, 0])
            }
            (Some(_), None) => false,
        }
    }
}

/// As the moves reach it: a process that runs for long may have another directory open under that path.
fn opened(files: &Workspace, path: &Path) -> Option<OwnedFd> {
    files.open_exact(path, OFlags::PATH | OFlags::DIRECTORY).ok()
}

fn lies_in_overlay(dir: &OwnedFd) -> bool {
    is_overlay(Path::new(&by_handle(dir)))
}
