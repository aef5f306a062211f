//! What git did in a layer, by its own notes: its index tells how each file was when git put it there.
//!
//! So `git switch` is told from a script beside it. A file counts as git's where the index in the layer notes it with the
//! size and time that it has; one that is gone, where the index notes it no more and did before.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::Permit;

use super::{Changes, Entry, What};
use crate::fs::Stamp;
use crate::git::{Index, top_of};

impl Changes<'_> {
    /// Of `paths`, which are changed here, those that git changed; a directory, where that holds for each of `paths` in it.
    /// None where the command line names no git.
    pub fn noted_by_git(&self, _permit: &Permit, paths: &[PathBuf]) -> Vec<PathBuf> {
        if !self.layer.with_git || paths.is_empty() {
            return Vec::new();
        }
        let wanted: HashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let of: Vec<&Entry> = self.entries.iter().filter(|entry| wanted.contains(entry.path.as_path())).collect();
        let (dirs, files): (Vec<&Entry>, Vec<&Entry>) = of.into_iter().partition(|entry| entry.kind == Kind::Directory);
        let mut tops: HashMap<&Path, Vec<&Entry>> = HashMap::new();
        for entry in files.iter().copied() {
            if let Some(top) = top_of(&self.layer.root, &entry.path) {
                tops.entry(top).or_default().push(entry);
            }
        }
        let noted: HashSet<&Path> = tops.into_iter().flat_map(|(top, entries)| self.noted_in(top, entries)).collect();
        let whole = |dir: &&Entry| {
            let mut within = files.iter().filter(|entry| entry.path.starts_with(&dir.path)).peekable();
            within.peek().is_some() && within.all(|entry| noted.contains(entry.path.as_path()))
        };
        let dirs = dirs.into_iter().filter(whole).map(|dir| dir.path.clone());
        let mut all: Vec<PathBuf> = noted.iter().map(|path| path.to_path_buf()).chain(dirs).collect();
        all.sort();
        all
    }

    /// Of `entries` of the repository at `top`, those that git changed.
    fn noted_in<'e>(&self, top: &Path, entries: Vec<&'e Entry>) -> Vec<&'e Path> {
        let below = |entry: &'e Entry| entry.path.strip_prefix(top).unwrap_or(&entry.path);
        let wanted: HashSet<&Path> = entries.iter().map(|entry| below(entry)).collect();
        let index = top.join(".git/index");
        let Some(before) = Index::of(&index, |path| wanted.contains(path)) else { return Vec::new() };
        let Some(now) = Index::of(&self.inside(&index), |path| wanted.contains(path)) else { return Vec::new() };
        let is_gits = |entry: &&'e Entry| match entry.what {
            What::Deleted => before.has(below(entry)) && !now.has(below(entry)),
            _ => {
                let stat = rustix::fs::lstat(self.inside(&entry.path));
                stat.is_ok_and(|stat| now.tells_of(below(entry), &stat))
            }
        };
        entries.into_iter().filter(is_gits).map(|entry| entry.path.as_path()).collect()
    }

    /// Changes of what is hidden from the command that git did not make: a stand-in that is gone, replaced, or somewhere else.
    pub(super) fn unnoted(&self, permit: &Permit) -> Vec<PathBuf> {
        if self.layer.stand_ins.is_empty() {
            return Vec::new();
        }
        let inodes: HashSet<(u64, u64)> = self.layer.stand_ins.values().map(Stamp::inode).collect();
        let is_one = |entry: &&Entry| {
            let moved = entry.now.as_ref().is_some_and(|now| inodes.contains(&now.inode()));
            moved || self.layer.stand_ins.contains_key(&entry.path)
        };
        let of: Vec<PathBuf> = self.entries.iter().filter(is_one).map(|entry| entry.path.clone()).collect();
        let noted: HashSet<PathBuf> = self.noted_by_git(permit, &of).into_iter().collect();
        let is_stand_in = |path: &PathBuf| {
            let now = self.entries.iter().find(|entry| entry.path == *path).and_then(|entry| entry.now.as_ref());
            now.is_some_and(|now| inodes.contains(&now.inode()))
        };
        of.into_iter().filter(|path| !noted.contains(path) || is_stand_in(path)).collect()
    }
}
