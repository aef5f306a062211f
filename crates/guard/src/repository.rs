//! What git would find where a command runs, as data: the settings of a repository.
//!
//! A repository's configuration names programs: filters, drivers that show a difference, aliases. A command that
//! only reads runs them all the same, so whoever judges it has to know them. The host looks ([`Repositories`]); this
//! says what it found, and reads the text of a configuration as git does ([`config::read`]).

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub mod config;

/// One line of a configuration that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Section and name in lower case, what stands between them as it is written: `filter.LFS.clean`.
    pub key: String,
    /// Its value; empty where none is written.
    pub value: String,
    /// Whether it stands in the person's own or the system's configuration, which no repository brings along.
    pub own: bool,
}

/// What git would read in one directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// Everything that is set: by the system, the person, the repository, and the repositories in it that git
    /// looks into by itself.
    pub settings: Vec<Setting>,
    /// Places outside of the workspace that git reads since what lies in it says so: another's repository or files, where
    /// its links lead.
    pub elsewhere: Vec<PathBuf>,
    /// Those that it reads only to verify signatures: the lists of who may sign.
    pub signers: Vec<PathBuf>,
    /// Why not all of these could be told.
    pub unknown_signers: Option<String>,
    /// Why not all of it could be read.
    pub unknown: Option<String>,
}

/// Looks what git would find in a directory.
pub trait Repositories: Debug + Send + Sync {
    /// The repository that `dir` lies in, with the settings of the person and the system; those alone where it lies
    /// in none.
    fn at(&self, dir: &Path) -> Arc<Repository>;

    /// The top of the work tree that `dir` lies in, where `git rev-parse --show-toplevel` is certain to print it. On paper
    /// none is known: it may lie above the workspace, and where git fails nothing is printed, so that a path begins at `/`.
    fn top(&self, _dir: &Path) -> Option<PathBuf> {
        None
    }

    /// The links in the workspace that a path with wildcards may mean, or that lie on its way. None where there is too much
    /// to look at. On paper there are no links.
    fn links(&self, _pattern: &Path) -> Option<Vec<PathBuf>> {
        Some(Vec::new())
    }

    /// Whether Python would take something in `dir` for a module of one of these names. On paper nothing is known to be
    /// there.
    fn has_python_module(&self, _dir: &Path, _names: &[&str]) -> bool {
        false
    }

    /// Whether one of these files, with this text in it, lies in `dir` or above it in the workspace; an empty text is
    /// in every file and every directory. On paper none is known to.
    fn has_file(&self, _dir: &Path, _names: &[&str], _text: &str) -> bool {
        false
    }
}

/// What is assumed of roots that nobody has looked at: each is the top of a work tree of which nothing is configured.
/// Whoever judges by it should say so; a host that can look must.
#[derive(Debug, Clone)]
pub struct Assumed(pub Vec<PathBuf>);

impl Repositories for Assumed {
    fn at(&self, _dir: &Path) -> Arc<Repository> {
        Arc::default()
    }

    fn top(&self, dir: &Path) -> Option<PathBuf> {
        let around = self.0.iter().filter(|root| dir.starts_with(root));
        around.max_by_key(|root| root.as_os_str().len()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_root_is_taken_for_the_top() {
        let assumed = Assumed(vec!["/w".into(), "/w/repo".into()]);
        for (dir, top) in [("/w/repo/src", Some("/w/repo")), ("/w/x", Some("/w")), ("/w", Some("/w")), ("/x", None)] {
            assert_eq!(assumed.top(Path::new(dir)), top.map(PathBuf::from), "{dir}");
        }
    }
}
