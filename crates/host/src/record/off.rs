//! What a recorded command may not change.
//!
//! Mounts hold guarded names in its world. They go when somebody outside puts something else in the place of such a name,
//! as every program does that saves a file at once; then a call that changes it is refused here. That alone would hold
//! nobody who swaps the name of a file in the moment between our look and the kernel's.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nika_guard::classify;
use nika_guard::profile::Profile;

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
        let kept: HashSet<OsString> = all.map(|path| folded(path.as_os_str())).collect();
        let above = kept.iter().flat_map(|path| Path::new(path).ancestors().skip(1)).map(OsString::from).collect();
        Off { kept, above, roots: profile.roots.clone(), opened: profile.opened.clone() }
    }

    /// Whether a path is one of them, or lies below one. At the top of a root what is guarded by a part of its name is one,
    /// too: such names cannot be listed.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        let names_one = || path.ancestors().any(|above| self.kept.contains(&folded(above.as_os_str())));
        let at_top = || self.roots.iter().any(|root| path.parent() == Some(root));
        let is_guarded = || path.file_name().is_some_and(|name| classify(Path::new(name)).guarded.is_some());
        let is_git = || path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        !self.opened.iter().any(|opened| path.starts_with(opened))
            && (names_one() || at_top() && !is_git() && is_guarded())
    }

    /// Whether one of them lies below a path, or would if it existed: a directory that moves takes it along.
    pub(super) fn is_above(&self, path: &Path) -> bool {
        self.above.contains(&folded(path.as_os_str()))
    }
}

fn folded(path: &OsStr) -> OsString {
    path.to_ascii_lowercase()
}
