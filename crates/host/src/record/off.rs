//! What a recorded command may not change.
//!
//! Mounts hold guarded names in its world. They go when somebody outside puts something else in the place of such a name,
//! as every program does that saves a file at once; then a call that changes it is refused here. That alone would hold
//! nobody who swaps the name of a file in the moment between our look and the kernel's.
//!
//! Nor may it come to what has a temporary name of ours: that is on its way, and may become a guarded file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nika_guard::profile::Profile;

use crate::fs::is_temp_name;
use crate::sandbox::Guarded;

/// What is added to a name for the file that is to take its place.
const LOCK: &[u8] = b".lock";

/// See the module's page.
#[derive(Debug)]
pub(super) struct Off(Guarded);

impl Off {
    pub(super) fn of(profile: &Profile) -> Off {
        Off(Guarded::of(profile))
    }

    /// Whether a path is one of them, or lies below one.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        self.is_on_its_way(path) || self.0.has(path) || self.is_lock(path)
    }

    /// Whether a guarded name is locked by a path: git, and who does as git does, writes there and renames it. Who opened it
    /// before has the file then.
    fn is_lock(&self, path: &Path) -> bool {
        let locks_one = |at: &Path| unlocked(at).is_some_and(|at| self.0.lists(at));
        !self.0.is_opened(path) && path.ancestors().any(locks_one)
    }

    /// Whether a name below a root is one that Nika gives for a while to what it puts in place.
    fn is_on_its_way(&self, path: &Path) -> bool {
        let roots = self.0.roots().iter();
        let root = roots.filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len());
        let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.iter().any(is_temp_name)
    }

    pub(super) fn is_in_a_root(&self, path: &Path) -> bool {
        self.0.is_in_a_root(path)
    }

    /// Whether one of them lies below a path, or would if it existed: a directory that moves takes it along.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.0.is_above(path)
    }
}

/// The path that this one is the lock of.
fn unlocked(path: &Path) -> Option<&Path> {
    let path = path.as_os_str().as_bytes();
    let (locked, lock) = path.split_at_checked(path.len().checked_sub(LOCK.len())?)?;
    lock.eq_ignore_ascii_case(LOCK).then(|| Path::new(OsStr::from_bytes(locked)))
}

#[cfg(test)]
mod tests {
    use nika_guard::profile::Access;

    use super::*;

    #[test]
    fn what_is_on_its_way_is_kept_wherever_it_lies_and_whatever_else_may_be_changed() {
        let mut profile = Profile::new(Access::Workspace, "/w", "/home/dev");
        profile.roots = vec!["/w/.nika-00000000000000aa.tmp/r".into()];
        profile.opened = profile.roots.clone();
        profile.protected = vec!["/r/.git/config".into()];
        let off = Off::of(&profile);
        for (name, kept) in [("config", true), ("config.lock", true), ("CONFIG.LOCK", true), ("index.lock", false)] {
            assert_eq!(off.keeps(&Path::new("/r/.git").join(name)), kept, "{name}");
        }
        assert!(off.is_above(Path::new("/r/.git")) && !off.is_above(Path::new("/r/.git/config.lock")));
        let cases = [
            (".nika-0123456789abcdef.tmp", true),
            (".nika-0123456789abcdef.tmp/0", true),
            ("deep/.NIKA-0123456789ABCDEF.TMP/1/x", true),
            (".nika-0123456789abcde.tmp", false),
            (".nika-0123456789abcdeg.tmp", false),
            ("nika-0123456789abcdef.tmp", false),
            ("plain", false),
        ];
        for (name, kept) in cases {
            assert_eq!(off.keeps(&profile.roots[0].join(name)), kept, "{name}");
        }
    }
}
