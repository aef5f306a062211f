//! Repositories that are called anything but `.git`. Git takes a directory for a repository's own by what stands in it,
//! so whoever stands there, or in a directory of it, and asks for a status, runs what its configuration names.
//!
//! Git wants `HEAD`, `objects` and `refs`; the latter two may lie where `commondir` says. Which of these parts came last
//! does not matter: one that makes a repository of what lay there before is held back itself.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::Permit;
use nika_guard::profile::is_plain_git_config;
use rustix::fs::Dir;

use super::guarded::{CONFIG_BYTES, is_hook};
use super::sides::{beneath, content};
use super::walk::directory;
use super::{Changes, Entry, What};

/// What git knows such a directory by.
const PARTS: &[&str] = &["HEAD", "objects", "refs"];
/// Where else its parts lie.
const ELSEWHERE: &str = "commondir";
const CONFIG: &str = "config";
/// One more of them, where `config` says so; also of a linked worktree.
const OF_WORKTREE: &str = "config.worktree";
const HOOKS: &str = "hooks";

/// What is held back of such repositories.
#[derive(Debug, Default)]
pub(super) struct Embedded<'c> {
    held: HashSet<&'c Path>,
}

impl<'c> Embedded<'c> {
    pub(super) fn of(changes: &'c Changes<'_>, permit: &'c Permit) -> Embedded<'c> {
        let dirs: HashSet<&Path> = changes.entries.iter().filter_map(concerned).collect();
        if dirs.is_empty() {
            return Embedded::default();
        }
        let mut inside: HashMap<&Path, Vec<&'c Entry>> = HashMap::new();
        for entry in &changes.entries {
            let parents = entry.path.ancestors().skip(1).take(2);
            for dir in parents.filter_map(|parent| dirs.get(parent)) {
                inside.entry(dir).or_default().push(entry);
            }
        }
        let mut held = HashSet::new();
        for (dir, entries) in inside {
            Directory { changes, permit, dir, entries }.hold(&mut held);
        }
        Embedded { held }
    }

    pub(super) fn holds(&self, path: &Path) -> bool {
        self.held.contains(path)
    }
}

/// The directory that an entry may make a repository, or of a repository something else.
fn concerned(entry: &Entry) -> Option<&Path> {
    let (name, parent) = (entry.path.file_name()?, entry.path.parent()?);
    let is_part = PARTS.iter().chain(&[ELSEWHERE, CONFIG, OF_WORKTREE, HOOKS]).any(|part| name == *part);
    let dir = match parent.file_name() == Some(OsStr::new(HOOKS)) {
        true if !is_part => parent.parent()?,
        _ => Some(parent).filter(|_| is_part)?,
    };
    // Those are known by their name.
    let by_name = dir.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    (entry.is_put() && !by_name).then_some(dir)
}

struct Directory<'c, 'l> {
    changes: &'c Changes<'l>,
    permit: &'c Permit,
    dir: &'c Path,
    /// Those in it, and in its directories.
    entries: Vec<&'c Entry>,
}

impl<'c> Directory<'c, '_> {
    fn hold(&self, held: &mut HashSet<&'c Path>) {
        let is_new = |name: &&str| self.entry(name).is_some_and(|entry| entry.was.is_none() && entry.is_put());
        let mut hold = |names: &[&str]| {
            held.extend(names.iter().filter_map(|name| self.entry(name)).map(|entry| entry.path.as_path()));
        };
        let is_whole = PARTS.iter().all(|part| self.stands(part));
        let is_linked = self.stands("HEAD") && self.stands(ELSEWHERE);
        let is_odd = |entry: &&Entry| entry.is_put() && !self.changes.is_plain_config(self.permit, entry);
        if (is_whole || is_linked) && self.entry(OF_WORKTREE).as_ref().is_some_and(is_odd) {
            hold(&[OF_WORKTREE]);
        }
        if is_linked {
            match self.entry(ELSEWHERE).is_some_and(Entry::is_put) {
                true => hold(&[ELSEWHERE]),
                false if is_new(&"HEAD") => hold(&["HEAD"]),
                false => {}
            }
        }
        if !is_whole {
            return;
        }
        let last: Vec<&str> = PARTS.iter().copied().filter(|part| is_new(part)).collect();
        match self.entry(CONFIG) {
            Some(config) if is_odd(&config) => hold(&[CONFIG]),
            Some(config) if config.is_put() => {}
            // What stood there before goes on, whether or not it got another time or mode.
            _ if !last.is_empty() && self.stands(CONFIG) && !self.has_plain_config() => hold(&last),
            _ => {}
        }
        if !last.is_empty() && self.has_hooks() {
            hold(&last);
        }
        let hooks = self.dir.join(HOOKS);
        let of_hooks = |entry: &&&Entry| entry.path.starts_with(&hooks) && entry.is_put() && is_hook(entry);
        held.extend(self.entries.iter().filter(of_hooks).map(|entry| entry.path.as_path()));
    }

    fn entry(&self, name: &str) -> Option<&'c Entry> {
        let path = self.dir.join(name);
        self.entries.iter().find(|entry| entry.path == path).copied()
    }

    /// Whether something of that name stands there when the layer is applied.
    fn stands(&self, name: &str) -> bool {
        match self.entry(name) {
            Some(entry) => entry.what != What::Deleted,
            None => beneath(&self.changes.layer.root, &self.dir.join(name)).is_some(),
        }
    }

    /// Of the one that stood there before.
    fn has_plain_config(&self) -> bool {
        let (root, path) = (&self.changes.layer.root, self.dir.join(CONFIG));
        let stands = beneath(root, &path).and_then(|handle| rustix::fs::fstat(&handle).ok());
        let text = || content(root, &path, Kind::File, CONFIG_BYTES);
        stands.is_none_or(|_| text().is_some_and(|text| is_plain_git_config(&text)))
    }

    /// Whether one stood there before that is no sample.
    fn has_hooks(&self) -> bool {
        let Some(handle) = beneath(&self.changes.layer.root, &self.dir.join(HOOKS)) else { return false };
        // Through a handle that can be read. What cannot be, a file or a link, git might.
        let Ok(names) = directory(&handle, OsStr::new("."), false).and_then(Dir::new) else { return true };
        let mut names = names.flatten().map(|entry| PathBuf::from(OsStr::from_bytes(entry.file_name().to_bytes())));
        let is_sample = |name: &PathBuf| name.extension() == Some(OsStr::new("sample"));
        names.any(|name| name != Path::new(".") && name != Path::new("..") && !is_sample(&name))
    }
}
