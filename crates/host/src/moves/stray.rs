//! What lies beside a place of no use any more and could not be removed: the next start tries again, and takes nothing for it
//! that came to have its name since.

use std::path::{Path, PathBuf};

use nika_contract::pathtext;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{At, Identity, standing};
use crate::fs::{Workspace, is_absence, is_temp_name};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stray {
    #[serde(with = "pathtext")]
    path: PathBuf,
    inode: i64,
}

impl Stray {
    /// Removes the temporary name at `path`, where `there` stands; what it is, if it cannot.
    pub(super) fn unless_removed(at: &At<'_>, path: &Path, there: Identity) -> Option<Stray> {
        let removed = discard(at);
        removed.is_err().then(|| Stray { path: path.to_path_buf(), inode: there.inode() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is gone, or is by now.
    pub(super) fn goes(&self, files: &Workspace) -> bool {
        let (dir, name) = match files.opened_parent(&self.path) {
            Ok(found) => found,
            Err(error) => return is_absence(error),
        };
        let at = (&dir, name);
        let is_it = standing(&at).is_some_and(|there| there.inode() == self.inode);
        !is_it || discard(&at).is_ok()
    }
}

/// Removes a temporary name. Only names that we make are ever removed.
pub(crate) fn discard((dir, name): &At<'_>) -> Result<(), Errno> {
    if !is_temp_name(name) {
        return Ok(());
    }
    match rustix::fs::unlinkat(dir, name.as_os_str(), AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        removed => removed,
    }
}
