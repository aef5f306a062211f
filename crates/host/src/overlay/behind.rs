//! What git recorded in a layer and could not put in place there. It says so on its standard error, where a script may
//! throw it away, and goes on: the next commit would take back what the others were for these files.
//!
//! | what git's index in the layer says of a held file | it could not, where |
//! |---|---|
//! | other content than before, and not what stands there | git put other files in place, or went to another commit |
//! | nothing any more, and the file stands there | git went to another commit before anything was committed |
//!
//! Otherwise only records were meant: `git reset HEAD~1`, `git rm --cached`. What git says of such a file counts as well.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::Permit;

use super::sides::content;
use super::walk::kind;
use super::{Changes, Entry, What};
use crate::git::{COMPARED_BYTES, Index, LOG_BYTES, Went, went};

impl Changes<'_> {
    /// The files that git could not put in place: they are held or hidden from the command.
    pub fn behind(&self, permit: &Permit) -> Vec<PathBuf> {
        let is_index = |entry: &&Entry| entry.is_put() && entry.was.is_some() && entry.path.ends_with(".git/index");
        let tops = self.entries.iter().filter(is_index).filter_map(|entry| entry.path.parent()?.parent());
        let mut all: Vec<PathBuf> = tops.flat_map(|top| self.behind_in(permit, top)).collect();
        all.sort();
        all
    }

    /// Whether git went to another commit in a work tree of which it tracks held files. What it could not put in place there
    /// no record tells any more, once it has committed all that stood there.
    pub fn goes_elsewhere(&self, permit: &Permit) -> bool {
        let logs = self.entries.iter().filter(|entry| entry.is_put() && entry.path.ends_with(".git/logs/HEAD"));
        let tops: Vec<&Path> = logs.filter_map(|entry| entry.path.ancestors().nth(3)).collect();
        tops.into_iter().any(|top| self.went(permit, top).elsewhere && self.tracks_held(top))
    }

    /// What the command cannot replace, by the paths from the top of a work tree.
    fn held_in<'t>(&'t self, top: &Path) -> HashSet<&'t Path> {
        self.layer.held.iter().filter_map(|path| path.strip_prefix(top).ok()).collect()
    }

    fn tracks_held(&self, top: &Path) -> bool {
        let held = self.held_in(top);
        let is_held = |path: &Path| path.ancestors().any(|above| held.contains(above));
        let index = top.join(".git/index");
        let tracks = |index: &Path| Index::of(index, is_held).is_some_and(|index| index.files().next().is_some());
        !held.is_empty() && (tracks(&index) || tracks(&self.inside(&index)))
    }

    fn behind_in(&self, permit: &Permit, top: &Path) -> Vec<PathBuf> {
        let held = self.held_in(top);
        let is_held = |path: &Path| path.ancestors().any(|above| held.contains(above));
        let put = self.entries.iter().filter(|entry| entry.is_put() && entry.kind != Kind::Directory);
        let put: HashSet<&Path> = put.filter_map(|entry| entry.path.strip_prefix(top).ok()).collect();
        let index = top.join(".git/index");
        let of = |index: &Path| Index::of(index, |path| put.contains(path) || is_held(path));
        let (false, Some(before), Some(now)) = (held.is_empty(), of(&index), of(&self.inside(&index))) else {
            return Vec::new();
        };
        let is_gits = |path: &Path| {
            let stat = rustix::fs::lstat(self.inside(&top.join(path)));
            stat.is_ok_and(|stat| now.tells_of(path, &stat))
        };
        let is_as_noted = |path: &Path| {
            let stat = rustix::fs::lstat(top.join(path));
            !put.contains(path) && stat.is_ok_and(|stat| now.tells_of(path, &stat))
        };
        let is_in_place = |path: &Path| {
            put.contains(path) && is_gits(path)
                || is_as_noted(path)
                || self.seen_at(permit, &top.join(path)).is_some_and(|content| now.holds(path, &content))
        };
        let other: Vec<&Path> = now.files().filter(|path| now.records(path) != before.records(path)).collect();
        let (held, free): (Vec<&Path>, Vec<&Path>) = other.into_iter().partition(|path| is_held(path));
        let Went { elsewhere, at_once } = self.went(permit, top);
        let is_new = |path: &Path| now.records(path).is_some_and(|object| self.made_object(top, object));
        let places = elsewhere || free.into_iter().any(|path| put.contains(path) && is_gits(path) && !is_new(path));
        let other = held.into_iter().filter(|path| places && !is_in_place(path));
        let stays = |path: &&Path| is_held(path) && !now.has(path) && self.seen_at(permit, &top.join(path)).is_some();
        let gone = before.files().filter(|path| at_once && stays(path));
        other.chain(gone).map(|path| top.join(path)).collect()
    }

    /// What git notes of going to other commits.
    fn went(&self, permit: &Permit, top: &Path) -> Went {
        let log = top.join(".git/logs/HEAD");
        let Some(entry) = self.entries.iter().find(|entry| entry.path == log) else { return Went::default() };
        let from = usize::try_from(entry.was_bytes).unwrap_or(usize::MAX);
        self.after(permit, entry, LOG_BYTES).map(|log| went(log.get(from..).unwrap_or(&log))).unwrap_or_default()
    }

    /// Whether an object was made in the layer: somebody told git of that content, and no commit had it before.
    fn made_object(&self, top: &Path, object: &[u8]) -> bool {
        let name: String = object.iter().map(|byte| format!("{byte:02x}")).collect();
        let (within, rest) = name.split_at(2);
        rustix::fs::lstat(self.inside(&top.join(".git/objects").join(within).join(rest))).is_ok()
    }

    /// Of files that git says it could not take away, by their names from the top of a work tree, those that are held. What a
    /// command prints besides may look alike.
    pub fn held_among(&self, _permit: &Permit, said: &[String]) -> Vec<PathBuf> {
        let within = |path: &Path| self.layer.held.iter().any(|held| path.starts_with(held));
        let is_held = |name: &String| {
            let path = self.layer.root.join(name);
            within(&path) || self.layer.held.iter().any(|held| held.ends_with(name))
        };
        said.iter().filter(|name| is_held(name)).map(|name| self.layer.root.join(name)).collect()
    }

    /// What stands at a path, seen through the layer.
    fn seen_at(&self, permit: &Permit, path: &Path) -> Option<Vec<u8>> {
        match self.entries.iter().find(|entry| entry.path == path && entry.what != What::Touched) {
            Some(entry) => self.after(permit, entry, COMPARED_BYTES),
            None => {
                let kind = kind(&rustix::fs::lstat(path).ok()?)?;
                content(&self.layer.root, path, kind, COMPARED_BYTES)
            }
        }
    }
}
