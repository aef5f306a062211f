//! Which of a command's changes are held back: what becomes code or policy by standing where it stands.
//!
//! | where | held back |
//! |---|---|
//! | what the sandbox of a command without a layer protects | all of it |
//! | deeper, where nothing can stand in for a name | what starts code on the user's machine |
//! | in a repository that the command made (`git init`, `git clone`) | hooks, links to other repositories, and a configuration that could name a program |
//! | in directories of downloaded packages | nothing, as there |

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::profile::{is_plain_git_config, starts_code};
use nika_guard::{Permit, classify};

use super::{Changes, Entry};
use crate::sandbox::SKIPPED;

/// The longest configuration of a new repository that is looked at. 64 KiB: a clone's has some hundred bytes.
const CONFIG_BYTES: u64 = 64 << 10;

impl Changes<'_> {
    /// The paths that are held back, unless the call names them.
    pub(super) fn guarded(&self, permit: &Permit) -> Vec<PathBuf> {
        let Some(protected) = &self.layer.protected else {
            let all = self.entries.iter().filter(|entry| classify(&entry.path).guarded.is_some());
            return all.map(|entry| entry.path.clone()).collect();
        };
        let made = self.entries.iter().filter(|entry| {
            entry.was.is_none() && entry.kind == Kind::Directory && entry.path.file_name() == Some(OsStr::new(".git"))
        });
        let made: HashSet<&Path> = made.map(|entry| entry.path.as_path()).collect();
        let held = self.entries.iter().filter(|entry| {
            entry.path.ancestors().any(|above| protected.contains(above)) || self.is_deep(permit, entry, &made)
        });
        held.map(|entry| entry.path.clone()).collect()
    }

    fn is_deep(&self, permit: &Permit, entry: &Entry, made: &HashSet<&Path>) -> bool {
        let below = entry.path.strip_prefix(&self.layer.root).unwrap_or(&entry.path);
        let mut around = below.parent().unwrap_or(Path::new("")).components();
        if around.any(|part| SKIPPED.iter().any(|skipped| part.as_os_str() == *skipped)) {
            return false;
        }
        match entry.path.ancestors().find(|above| made.contains(above)) {
            None => starts_code(below),
            Some(git) => self.is_of_new_repository(permit, entry, git),
        }
    }

    fn is_of_new_repository(&self, permit: &Permit, entry: &Entry, git: &Path) -> bool {
        let inside = entry.path.strip_prefix(git).unwrap_or(Path::new(""));
        let is_sample = entry.path.extension() == Some(OsStr::new("sample")) || entry.kind == Kind::Directory;
        if inside == Path::new("config") {
            let text = self.after(permit, entry, CONFIG_BYTES).filter(|_| entry.kind == Kind::File);
            return !text.is_some_and(|text| is_plain_git_config(&text));
        }
        match inside.starts_with("hooks") {
            true => !is_sample || entry.kind == Kind::Link,
            false => !inside.as_os_str().is_empty() && starts_code(&Path::new(".git").join(inside)),
        }
    }
}
