//! Directories that their owner may not write. A move into one, or of one, gives its owner the rights for a moment, and a
//! kill in that moment leaves them given.

use std::path::{Path, PathBuf};

use nika_contract::pathtext;
use rustix::fs::{FileType, Mode, OFlags, Stat, chmod, fstat};
use serde::{Deserialize, Serialize};

use super::{Act, Step};
use crate::fs::Workspace;
use crate::overlay::by_handle;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Closed {
    #[serde(with = "pathtext")]
    pub(crate) path: PathBuf,
    inode: u64,
    mode: u32,
}

impl Closed {
    /// What is noted of an entry at `path`, if it is such a directory.
    pub(crate) fn of(path: &Path, stat: &Stat) -> Option<Closed> {
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let is_closed = is_directory && !mode.contains(Mode::RWXU);
        is_closed.then(|| Closed { path: path.to_path_buf(), inode: stat.st_ino, mode: mode.as_raw_mode() })
    }

    /// Whether a step gives it other rights.
    pub(crate) fn is_set_by(&self, step: &Step) -> bool {
        step.target == self.path && matches!(step.act, Act::Set { mode, .. } if mode != self.mode)
    }

    /// Takes the rights away again, if they are those that were given: other ones are somebody's wish.
    pub(super) fn close(&self, files: &Workspace) {
        let Ok(dir) = files.open_exact(&self.path, OFlags::PATH | OFlags::DIRECTORY) else { return };
        let Ok(stat) = fstat(&dir) else { return };
        let mode = Mode::from_raw_mode(self.mode);
        let given = (mode | Mode::RWXU).as_raw_mode();
        if stat.st_ino == self.inode && stat.st_mode & 0o7777 == given {
            let _ = chmod(by_handle(&dir), mode);
        }
    }
}
