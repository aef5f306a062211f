//! What is guarded from one command.
//!
//! All that hold a command off ask here: the watch for what others put there, the look at what stands there, and the
//! recorder, which refuses calls. Were two of them of two minds, one would end a command for what the other lets nobody
//! write.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use nika_guard::classify;
use nika_guard::profile::Profile;

/// Guarded names, whatever their case.
#[derive(Debug)]
pub(crate) struct Guarded {
    names: Vec<PathBuf>,
    folded: HashSet<OsString>,
    /// Directories on the way to one.
    above: HashSet<OsString>,
    roots: Vec<PathBuf>,
    /// What this very command may change.
    opened: Vec<PathBuf>,
}

impl Guarded {
    pub(crate) fn of(profile: &Profile) -> Guarded {
        let names: Vec<PathBuf> = profile.protected.iter().chain(&profile.absent).cloned().collect();
        let folded: HashSet<OsString> = names.iter().map(|path| fold(path.as_os_str())).collect();
        let above = folded.iter().flat_map(|path| Path::new(path).ancestors().skip(1)).map(OsString::from).collect();
        Guarded { names, folded, above, roots: profile.roots.clone(), opened: profile.opened.clone() }
    }

    /// Whether a path is one of them, or lies below one, and the command may not change it all the same. At the top of a root
    /// what is guarded by a part of its name is one, too: such names cannot be listed.
    pub(crate) fn has(&self, path: &Path) -> bool {
        !self.is_opened(path) && path.ancestors().any(|at| self.lists(at) || self.is_guarded_at_top(at))
    }

    /// Whether a path is one of those that can be listed.
    pub(crate) fn lists(&self, path: &Path) -> bool {
        self.folded.contains(&fold(path.as_os_str()))
    }

    /// Whether one of them lies below a path, or would if it existed: a directory that moves takes it along.
    pub(crate) fn is_above(&self, path: &Path) -> bool {
        self.above.contains(&fold(path.as_os_str()))
    }

    pub(crate) fn is_opened(&self, path: &Path) -> bool {
        is_below(path, &self.opened)
    }

    pub(crate) fn is_in_a_root(&self, path: &Path) -> bool {
        is_below(path, &self.roots)
    }

    /// Those that can be listed, as the file system writes them.
    pub(crate) fn names(&self) -> &[PathBuf] {
        &self.names
    }

    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    fn is_guarded_at_top(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.parent() == Some(root)) && path.file_name().is_some_and(guards_itself)
    }
}

/// Whether a name is guarded by itself, though no list has it.
fn guards_itself(name: &OsStr) -> bool {
    !name.eq_ignore_ascii_case(".git") && classify(Path::new(name)).guarded.is_some()
}

fn is_below(path: &Path, all: &[PathBuf]) -> bool {
    all.iter().any(|one| path.starts_with(one))
}

fn fold(path: &OsStr) -> OsString {
    path.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use nika_guard::profile::Access;

    use super::*;

    #[test]
    fn a_name_is_guarded_with_all_below_it_whatever_its_case_and_at_the_top_by_what_it_is_like() {
        let mut profile = Profile::new(Access::Workspace, "/w", "/home/dev");
        profile.protected = vec!["/w/.git/hooks".into(), "/w/.mcp.json".into()];
        profile.absent = vec!["/w/.envrc".into()];
        profile.opened = vec!["/w/.mcp.json".into(), "/w/a.code-workspace".into()];
        let guarded = Guarded::of(&profile);
        let cases = [
            ("/w/.git/hooks", true),
            ("/w/.git/HOOKS/deep/x", true),
            ("/w/.git", false),
            ("/w/.git/hooks.d", false),
            ("/w/.EnvRC", true),
            ("/w/Jenkinsfile", true),
            ("/w/b.code-workspace/below", true),
            ("/w/a.code-workspace", false),
            ("/w/sub/Jenkinsfile", false),
            ("/w/.mcp.json", false),
            ("/w/.MCP.json", true),
            ("/elsewhere/Jenkinsfile", false),
        ];
        for (path, has) in cases {
            assert_eq!(guarded.has(Path::new(path)), has, "{path}");
        }
        assert!(guarded.is_above(Path::new("/w/.GIT")) && !guarded.is_above(Path::new("/w/.git/hooks")));
    }
}
