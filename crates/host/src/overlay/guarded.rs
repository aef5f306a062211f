//! Which of a command's changes are held back: what becomes code or policy by standing where it stands.
//!
//! | where | held back |
//! |---|---|
//! | what the sandbox of a command without a layer protects | all of it, but for what branches follow (`git switch`, `git branch -m`), where the command line names git |
//! | deeper, where nothing can stand in for a name | what starts code on the user's machine |
//! | anywhere | a link that stands for a directory on the way to such a name |
//! | in a repository that the command made (`git init`, `git clone`) | hooks, links to other repositories, and a configuration that could name a program |
//! | in directories of downloaded packages | of each `.git` the same, new or not, as git goes there from outside; nothing else |
//! | in a repository that is no `.git` | the same, as git takes it for one where somebody stands in it ([`super::embedded`]) |
//! | in the plan of a rebase | commands, unless the command line names git |

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::profile::{brings_commands, is_plain_git_config, leads_to_code, only_follows, starts_code};
use nika_guard::{Permit, classify};

use super::embedded::Embedded;
use super::{Changes, Entry, OfGit, What};
use crate::sandbox::SKIPPED;

/// The longest configuration of a new repository that is looked at. 64 KiB: a clone's has some hundred bytes.
pub(super) const CONFIG_BYTES: u64 = 64 << 10;
/// The longest plan of a rebase that is looked at. 1 MiB: some 10,000 commits.
const PLAN_BYTES: u64 = 1 << 20;

impl Changes<'_> {
    /// The paths that are held back, unless the call names them and was asked about them for what they are.
    pub(super) fn guarded(&self, permit: &Permit) -> Vec<PathBuf> {
        let Some(protected) = &self.layer.protected else {
            let all = self.entries.iter().filter(|entry| classify(&entry.path).guarded.is_some());
            return all.map(|entry| entry.path.clone()).collect();
        };
        let made = self.entries.iter().filter(|entry| {
            entry.was.is_none() && entry.kind == Kind::Directory && entry.path.file_name() == Some(OsStr::new(".git"))
        });
        let made: HashSet<&Path> = made.map(|entry| entry.path.as_path()).collect();
        let embedded = Embedded::of(self, permit);
        // What has another time alone is what it was.
        let changed = self.entries.iter().filter(|one| one.what != What::Touched);
        let held = changed.filter(|entry| {
            // At the top of a root, too, a repository that was not there is judged by what is in it.
            let is_new = entry.path.ancestors().any(|above| made.contains(above));
            let is_way = || entry.is_new_link() && protected.iter().any(|path| path.starts_with(&entry.path));
            let held = !is_new && (entry.path.ancestors().any(|above| protected.contains(above)) || is_way())
                || self.is_deep(permit, entry, &made)
                || embedded.holds(&entry.path)
                || self.is_plan_with_commands(permit, entry);
            held && !self.only_follows(permit, entry)
        });
        held.map(|entry| entry.path.clone()).collect()
    }

    fn is_deep(&self, permit: &Permit, entry: &Entry, made: &HashSet<&Path>) -> bool {
        let below = entry.path.strip_prefix(&self.layer.root).unwrap_or(&entry.path);
        if let Some(git) = entry.path.ancestors().find(|above| made.contains(above)) {
            return self.is_of_new_repository(permit, entry, git);
        }
        let mut around = below.parent().unwrap_or(Path::new("")).components();
        if !around.any(|part| SKIPPED.iter().any(|skipped| part.as_os_str() == *skipped)) {
            return starts_code(below) || entry.is_new_link() && leads_to_code(below);
        }
        // Tools must be able to delete such directories, and to make them anew.
        let is_git = |above: &&Path| above.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        match below.ancestors().find(is_git).filter(|_| entry.is_put()) {
            None => false,
            Some(git) if git == below => entry.kind != Kind::Directory,
            Some(git) => self.is_of_new_repository(permit, entry, &self.layer.root.join(git)),
        }
    }

    /// Whether an entry in `git`, a repository's own directory that nobody may have put a program in, could start one.
    fn is_of_new_repository(&self, permit: &Permit, entry: &Entry, git: &Path) -> bool {
        let inside = entry.path.strip_prefix(git).unwrap_or(Path::new(""));
        if inside == Path::new("config") {
            return !self.is_plain_config(permit, entry);
        }
        let path = Path::new(".git").join(inside);
        match inside.starts_with("hooks") {
            true => is_hook(entry),
            false if inside.as_os_str().is_empty() => false,
            false => starts_code(&path) || entry.is_new_link() && leads_to_code(&path),
        }
    }

    /// Whether the command left a file there that only says what every clone's says.
    pub(super) fn is_plain_config(&self, permit: &Permit, entry: &Entry) -> bool {
        let text = self.after(permit, entry, CONFIG_BYTES).filter(|_| entry.kind == Kind::File);
        text.is_some_and(|text| is_plain_git_config(&text))
    }

    /// Whether git wrote in a repository's configuration what a branch follows, and nothing else.
    fn only_follows(&self, permit: &Permit, entry: &Entry) -> bool {
        let of_git = (self.layer.of_git != OfGit::Nothing) && entry.path.ends_with(".git/config");
        let in_place = entry.kind == Kind::File && entry.was == Some(Kind::File) && entry.mode == entry.was_mode;
        let texts = || Some((self.before(permit, entry, CONFIG_BYTES)?, self.after(permit, entry, CONFIG_BYTES)?));
        of_git && in_place && texts().is_some_and(|(before, after)| only_follows(&before, &after))
    }

    /// `git rebase --continue` runs what the plan says. Git itself writes such commands only where it was told to.
    fn is_plan_with_commands(&self, permit: &Permit, entry: &Entry) -> bool {
        const DIRECTORY: &str = "rebase-merge";
        const PLAN: &str = "git-rebase-todo";
        let name = entry.path.file_name().unwrap_or_default();
        if self.layer.of_git != OfGit::Nothing
            || !entry.is_put()
            || ![DIRECTORY, PLAN].iter().any(|known| name == *known)
        {
            return false;
        }
        let text = || self.after(permit, entry, PLAN_BYTES);
        match entry.kind {
            // Git makes none of these names a link: it would lead to a plan that stands elsewhere.
            Kind::Link => true,
            Kind::Directory => false,
            Kind::File => name == PLAN && text().is_none_or(|text| brings_commands(&text)),
        }
    }
}

impl Entry {
    /// Whether something stands there that did not, or not so. What is gone starts nothing, and what is as it was
    /// nothing new.
    pub(super) fn is_put(&self) -> bool {
        !matches!(self.what, What::Deleted | What::Touched)
    }

    /// Whether it is a link that was not there, or led elsewhere: below it stands what others call something else.
    fn is_new_link(&self) -> bool {
        self.kind == Kind::Link && self.is_put()
    }
}

/// Whether an entry in a directory of hooks may be run; what `git init` puts there is not.
pub(super) fn is_hook(entry: &Entry) -> bool {
    let is_sample = entry.path.extension() == Some(OsStr::new("sample")) || entry.kind == Kind::Directory;
    !is_sample || entry.kind == Kind::Link
}
