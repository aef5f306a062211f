//! Layers that nobody needs any more: thrown away whole, those of dead processes too.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::layer::{IN_MEMORY, LAYERS};

/// Making a layer takes a fraction of this.
const NEW: Duration = Duration::from_secs(60);

/// Removes a directory and all in it, whatever rights a command left there. What cannot be removed stays: the
/// next start tries again.
pub(super) fn remove_tree(dir: &Path) {
    if fs::remove_dir_all(dir).is_ok() {
        return;
    }
    open_up(dir, 0);
    let _ = fs::remove_dir_all(dir);
}

/// Gives the owner all rights to every directory in `dir`.
fn open_up(dir: &Path, depth: usize) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if depth < 1000 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path(), depth + 1);
        }
    }
}

/// Throws away the layers whose owners are dead, but for those in `wanted`, which an intent still names.
pub(crate) fn orphans(state: &Path, wanted: &[PathBuf]) {
    let in_memory = format!("nika-{}-", rustix::process::geteuid().as_raw());
    for (place, start) in [(&state.join(LAYERS), ""), (&PathBuf::from(IN_MEMORY), in_memory.as_str())] {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            let dir = entry.path();
            let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(start));
            if named && is_dead(&dir) && !wanted.contains(&dir) {
                remove_tree(&dir);
            }
        }
    }
}

/// Whether nobody holds a layer's lock. One without a lock is being made right now, or was being removed.
fn is_dead(dir: &Path) -> bool {
    match File::open(dir.join("owner")) {
        Ok(owner) => flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(_) => {
            let changed = fs::symlink_metadata(dir).and_then(|meta| meta.modified()).ok();
            changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > NEW)
        }
    }
}
