//! What git did in a layer, by its own notes: its index tells how each file was when git put it there.
//!
//! So `git switch` is told from a script beside it. Where the command line is nothing but git, all of it is git's. Beside
//! others, a file counts as git's where the index in the layer notes it with the size and time that it has, or as one that a
//! merge has not decided; one that is gone, where the index notes it no more and did before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use nika_contract::Kind;
use nika_guard::Permit;

use super::sides::content;
use super::{Changes, Entry, Layer, What};
use crate::git::{COMPARED_BYTES, Index, top_of};

/// What a command line has of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfGit {
    /// It names none.
    Nothing,
    /// Something in it is git, or a program that works with it.
    Something,
    /// Every command in it is git.
    All,
}

impl Layer {
    /// Whether git keeps what it records of `path` in the layer.
    pub fn has_records_of(&self, _permit: &Permit, path: &Path) -> bool {
        path.starts_with(&self.root) && top_of(&self.root, path).is_some()
    }
}

impl Changes<'_> {
    /// Of `paths`, which are changed here, those that git changed; a directory, where that holds for each of `paths` in it.
    pub fn noted_by_git(&self, _permit: &Permit, paths: &[PathBuf]) -> Vec<PathBuf> {
        if self.layer.of_git == OfGit::Nothing || paths.is_empty() {
            return Vec::new();
        }
        let wanted: HashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let of: Vec<&Entry> = self.entries.iter().filter(|entry| wanted.contains(entry.path.as_path())).collect();
        let (dirs, files): (Vec<&Entry>, Vec<&Entry>) = of.into_iter().partition(|entry| entry.kind == Kind::Directory);
        let by_top = self.by_top(files.iter().copied());
        let noted: HashSet<&Path> = by_top.into_iter().flat_map(|(top, all)| self.noted_in(top, all)).collect();
        // How many of the files in a directory are, of how many.
        let mut within: BTreeMap<&Path, (usize, usize)> = BTreeMap::new();
        for entry in &files {
            for above in entry.path.ancestors().skip(1).filter(|above| wanted.contains(above)) {
                let (gits, all) = within.entry(above).or_default();
                *gits += usize::from(noted.contains(entry.path.as_path()));
                *all += 1;
            }
        }
        let is_whole = |dir: &&Entry| within.get(dir.path.as_path()).is_some_and(|(gits, all)| gits == all);
        let dirs = dirs.into_iter().filter(is_whole).map(|dir| dir.path.clone());
        let mut all: Vec<PathBuf> = noted.iter().map(|path| path.to_path_buf()).chain(dirs).collect();
        all.sort();
        all
    }

    /// By the tops of their work trees.
    fn by_top<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> HashMap<&'e Path, Vec<&'e Entry>> {
        let mut tops: HashMap<&Path, Vec<&Entry>> = HashMap::new();
        for entry in entries {
            if let Some(top) = top_of(&self.layer.root, &entry.path) {
                tops.entry(top).or_default().push(entry);
            }
        }
        tops
    }

    /// Of `entries` of the repository at `top`, those that git changed.
    fn noted_in<'e>(&self, top: &Path, entries: Vec<&'e Entry>) -> Vec<&'e Path> {
        if self.layer.of_git == OfGit::All {
            return entries.into_iter().map(|entry| entry.path.as_path()).collect();
        }
        let below = |entry: &'e Entry| entry.path.strip_prefix(top).unwrap_or(&entry.path);
        let wanted: HashSet<&Path> = entries.iter().map(|entry| below(entry)).collect();
        let index = top.join(".git/index");
        let of = |index: &Path| Index::of(index, |path| wanted.contains(path));
        // Where git wrote none, it put no file of this work tree in place.
        let (before, now) = (of(&index), of(&self.inside(&index)));
        let Some((before, now)) = before.zip(now) else {
            return entries.into_iter().filter(|one| is_of_worktree(one)).map(|one| one.path.as_path()).collect();
        };
        let is_gits = |entry: &&'e Entry| match entry.what {
            _ if is_of_worktree(entry) => true,
            What::Deleted => before.has(below(entry)) && !now.has(below(entry)),
            _ => {
                let stat = rustix::fs::lstat(self.inside(&entry.path));
                now.is_undecided(below(entry)) || stat.is_ok_and(|stat| now.tells_of(below(entry), &stat))
            }
        };
        entries.into_iter().filter(is_gits).map(|entry| entry.path.as_path()).collect()
    }

    /// Changes of what is hidden from the command that do not count: a stand-in that stands somewhere else, with the file that
    /// it stood for; one that is gone or replaced, where git did not do that. And where nobody was asked, or beside a script,
    /// not even git may replace what it had not recorded: a hook of its may have done that.
    pub(super) fn unnoted(&self, permit: &Permit) -> Vec<PathBuf> {
        if self.layer.stand_ins.is_empty() {
            return Vec::new();
        }
        let inodes: HashMap<(u64, u64), &PathBuf> =
            self.layer.stand_ins.iter().map(|(path, one)| (one.stamp.inode(), path)).collect();
        let stood_for = |entry: &Entry| entry.now.as_ref().and_then(|now| inodes.get(&now.inode())).copied();
        let mut moved: HashSet<&Path> = HashSet::new();
        let mut of: Vec<&Entry> = Vec::new();
        for entry in &self.entries {
            let stands_for = stood_for(entry);
            moved.extend(stands_for.into_iter().flat_map(|path| [path.as_path(), entry.path.as_path()]));
            if stands_for.is_some() || self.layer.stand_ins.contains_key(&entry.path) {
                of.push(entry);
            }
        }
        let paths: Vec<PathBuf> = of.iter().map(|entry| entry.path.clone()).collect();
        let noted: HashSet<PathBuf> = self.noted_by_git(permit, &paths).into_iter().collect();
        let asked = self.layer.of_git == OfGit::All && permit.answered_by().is_some();
        let lost = if asked { HashSet::new() } else { self.unrecorded(of.iter().copied()) };
        let counts = |path: &Path| noted.contains(path) && !moved.contains(path) && !lost.contains(path);
        paths.into_iter().filter(|path| !counts(path)).collect()
    }

    /// Of hidden files that are replaced or gone, those that git could not bring back.
    fn unrecorded<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> HashSet<&'e Path> {
        let mut lost = HashSet::new();
        for (top, entries) in self.by_top(entries.filter(|entry| entry.was.is_some())) {
            let below = |entry: &'e Entry| entry.path.strip_prefix(top).unwrap_or(&entry.path);
            let wanted: HashSet<&Path> = entries.iter().map(|entry| below(entry)).collect();
            let index = Index::of(&top.join(".git/index"), |path| wanted.contains(path));
            let is_recorded = |entry: &Entry, index: &Index| {
                let was = content(&self.layer.root, &entry.path, Kind::File, COMPARED_BYTES);
                was.is_some_and(|was| index.holds_as_text(entry.path.strip_prefix(top).unwrap_or(&entry.path), &was))
            };
            let all = entries.iter().filter(|entry| !index.as_ref().is_some_and(|index| is_recorded(entry, index)));
            lost.extend(all.map(|entry| entry.path.as_path()));
        }
        lost
    }
}

/// Whether it belongs to what git keeps of another work tree: without that, what `git worktree add` made is none.
fn is_of_worktree(entry: &Entry) -> bool {
    let mut inside = entry.path.components().map(Component::as_os_str).skip_while(|part| *part != ".git");
    match (inside.next(), inside.next()) {
        (Some(_), Some(first)) => first == "worktrees",
        (Some(_), None) => entry.kind == Kind::File,
        (None, _) => false,
    }
}
