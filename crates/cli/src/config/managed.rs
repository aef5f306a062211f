//! Whether the administrator's word is theirs: nobody else may write the files of that layer, nor a directory on the way to
//! them. Its rules hold against everybody, so what anybody could have put there, or taken away, is not used.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{getegid, geteuid};

use super::ConfigError;
use super::manifests::BESIDE;

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
/// In such a directory everybody removes and renames only what is theirs.
const STICKY: u32 = 0o1000;

/// Refuses the layer of `config` where somebody else may write it.
pub(super) fn check(config: &Path) -> Result<(), ConfigError> {
    let Some(dir) = config.parent().filter(|dir| dir.exists()) else { return Ok(()) };
    let mut all = BTreeSet::new();
    for path in [dir.to_owned(), config.to_owned(), dir.join(BESIDE)] {
        // Where links lead, too.
        for way in [fs::canonicalize(&path).ok(), Some(path)].into_iter().flatten() {
            all.extend(way.ancestors().map(PathBuf::from));
        }
    }
    for path in all {
        if let Some((what, remedy)) = fs::metadata(&path).ok().as_ref().and_then(flaw) {
            let file = path.display().to_string();
            let why = format!("{what}, and what it holds is the administrator's word; mend it with `{remedy} {file}`");
            return Err(ConfigError::Unusable { file, why });
        }
    }
    Ok(())
}

/// Who else may write it, and what would change that.
fn flaw(meta: &Metadata) -> Option<(String, &'static str)> {
    let (mode, is_ours) = (meta.mode() & 0o7777, meta.uid() == geteuid().as_raw());
    if meta.uid() != 0 && !is_ours && !is_unknown_here(meta.uid()) {
        return Some((format!("it belongs to user {}", meta.uid()), "chown root"));
    }
    if meta.is_dir() && mode & STICKY != 0 {
        return None;
    }
    if mode & OTHERS_WRITE != 0 {
        return Some((format!("everybody may write it (mode {mode:04o})"), "chmod o-w"));
    }
    let is_own_group = meta.gid() == 0 || is_ours && meta.gid() == getegid().as_raw();
    (mode & GROUP_WRITES != 0 && !is_own_group)
        .then(|| (format!("group {} may write it (mode {mode:04o})", meta.gid()), "chmod g-w"))
}

/// Whether this is who stands for every user whom this user namespace does not know: in a container or a sandbox, root
/// of the machine.
fn is_unknown_here(uid: u32) -> bool {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let knows_all = read("/proc/self/uid_map").split_whitespace().eq(["0", "0", "4294967295"]);
    !knows_all && read("/proc/sys/kernel/overflowuid").trim().parse() == Ok(uid)
}
