//! What a recorded command may not change.
//!
//! Mounts hold guarded names in its world. They go when somebody outside puts something else in the place of such a name,
//! as every program does that saves a file at once; then a call that changes it is refused here. That alone would hold
//! nobody who swaps the name of a file in the moment between our look and the kernel's.
//!
//! Nor may it come to what has a temporary name of ours: that is on its way, and may become a guarded file.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nika_guard::profile::Profile;

use crate::fs::is_temp_name;
use crate::sandbox::guards_at_top;

/// What is added to a name for the file that is to take its place.
const LOCK: &str = ".lock";

/// Guarded names; whatever their case.
#[derive(Debug)]
pub(super) struct Off {
    kept: HashSet<OsString>,
    /// Directories on the way to one.
    above: HashSet<OsString>,
    roots: Vec<PathBuf>,
    /// What this very command may change.
    opened: Vec<PathBuf>,
}

impl Off {
    pub(super) fn of(profile: &Profile) -> Off {
        let all = profile.protected.iter().chain(&profile.absent);
        let names: HashSet<OsString> = all.map(|path| folded(path.as_os_str())).collect();
        // Git, and who does as git does, writes there and renames it. Who opened it before has the file then.
        let lock = |name: &OsString| {
            let mut lock = name.clone();
            lock.push(LOCK);
            lock
        };
        let kept: HashSet<OsString> = names.iter().map(lock).chain(names.iter().cloned()).collect();
        let above = names.iter().flat_map(|path| Path::new(path).ancestors().skip(1)).map(OsString::from).collect();
        Off { kept, above, roots: profile.roots.clone(), opened: profile.opened.clone() }
    }

    /// Whether a path is one of them, or lies below one. At the top of a root what is guarded by a part of its name is one,
    /// too: such names cannot be listed.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        let names_one = || path.ancestors().any(|above| self.kept.contains(&folded(above.as_os_str())));
        let at_top = || self.roots.iter().any(|root| path.parent() == Some(root));
        let is_guarded = || path.file_name().is_some_and(guards_at_top);
        self.is_on_its_way(path)
            || !self.opened.iter().any(|opened| path.starts_with(opened)) && (names_one() || at_top() && is_guarded())
    }

    /// Whether a name below a root is one that Nika gives for a while to what it puts in place.
    fn is_on_its_way(&self, path: &Path) -> bool {
        let root = self.roots.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.as_os_str().len());
        let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        below.iter().any(is_temp_name)
    }

    /// Whether one of them lies below a path, or would if it existed: a directory that moves takes it along.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.above.contains(&folded(path.as_os_str()))
    }
}

fn folded(path: &OsStr) -> OsString {
    path.to_ascii_lowercase()
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
