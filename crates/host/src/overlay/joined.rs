//! Names that a command gave to files of the root (`ln a b`). Over a layer they are names of a copy; applied, they are names
//! of the file, where that stands as it did and the command could have changed it.
//!
//! Files that are guarded, hidden or withheld by a rule stay without: through another name a job, which has no layer, could
//! write them.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::{Permit, classify};
use rustix::fs::{AtFlags, CWD, OFlags, fstat, linkat, renameat, unlinkat};
use rustix::path::Arg;

use super::marks::by_handle;
use super::sides::beneath;
use super::{Changes, Entry, What};
use crate::fs::{Stamp, Workspace, temp_name};

/// Device and inode.
type File = (u64, u64);

/// A name that the command gave to a file.
#[derive(Debug)]
struct Join {
    path: PathBuf,
    /// The copy in the layer.
    copy: File,
}

/// The files that names were given to, by their copies, and these names.
#[derive(Debug, Default)]
pub(super) struct Joined {
    files: HashMap<File, (PathBuf, Stamp)>,
    joins: Vec<Join>,
    root: PathBuf,
}

impl Changes<'_> {
    /// Looks them up, before anything is applied.
    pub(super) fn joined(&self, files: &Workspace, permit: &Permit) -> Joined {
        let mut all = Joined { root: self.layer.root.clone(), ..Joined::default() };
        for entry in self.entries.iter().filter(comes) {
            let Some((copy, (of, was))) = entry.now.and_then(|now| self.copies.get_key_value(&now.inode())) else {
                continue;
            };
            if !all.files.contains_key(copy) {
                if !self.is_unchanged(of, was) || !self.is_free(files, permit, of) {
                    continue;
                }
                all.files.insert(*copy, (of.clone(), *was));
            }
            all.joins.push(Join { path: entry.path.clone(), copy: *copy });
        }
        all
    }

    /// Whether a file of the root stands as the command saw it.
    fn is_unchanged(&self, path: &Path, was: &Stamp) -> bool {
        beneath(&self.layer.root, path).and_then(|file| fstat(&file).ok()).is_some_and(|now| {
            let now = Stamp::from(&now);
            now == *was && !self.layer.precedes(&now)
        })
    }

    /// Whether nothing keeps the command from changing it.
    fn is_free(&self, files: &Workspace, permit: &Permit, path: &Path) -> bool {
        let (place, by_name) = (files.place(path.to_path_buf()), classify(path));
        let held = self.layer.held.iter().chain(self.layer.protected.iter().flatten());
        let is_held = held.into_iter().any(|held| path.starts_with(held));
        let is_git = path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
        let guarded = place.guarded.is_some() || by_name.guarded.is_some() || by_name.secret.is_some();
        let kept = guarded || is_held || is_git || permit.forbids_change(&place, false);
        !kept && self.layer.may_change(permit, path)
    }

    /// Puts names of the files in the place of the copies in the layer, which moves from here to the root. What cannot be
    /// linked stays a copy.
    pub(super) fn join(&self, joined: &Joined) {
        for one in &joined.joins {
            let Some((above, name)) = one.path.parent().zip(one.path.file_name()) else { continue };
            let Ok(dir) = self.layer.opened(above, OFlags::PATH | OFlags::DIRECTORY) else { continue };
            let temp = temp_name();
            if joined.link(one.copy, &dir, &*temp) && renameat(&dir, &*temp, &dir, name).is_err() {
                let _ = unlinkat(&dir, &*temp, AtFlags::empty());
            }
        }
    }
}

impl Joined {
    /// The files that get names.
    pub(super) fn inodes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.files.values().map(|(_, stamp)| stamp.inode())
    }

    /// Those that hold what they held: as they were, and are.
    pub(super) fn unchanged(&self) -> impl Iterator<Item = (Stamp, Stamp)> {
        self.files.values().filter_map(|(path, was)| {
            let now = Stamp::from(&fstat(beneath(&self.root, path)?).ok()?);
            now.same_content(was).then_some((*was, now))
        })
    }

    /// Gives the file of a copy one name more.
    pub(super) fn link(&self, copy: File, dir: impl AsFd, name: impl Arg) -> bool {
        let Some((path, was)) = self.files.get(&copy) else { return false };
        let Some(file) = beneath(&self.root, path) else { return false };
        // Each name that it gets moves the time of its last change.
        let same = fstat(&file).is_ok_and(|now| Stamp::from(&now).same_content(was));
        same && linkat(CWD, by_handle(&file), dir, name, AtFlags::SYMLINK_FOLLOW).is_ok()
    }
}

fn comes(entry: &&Entry) -> bool {
    entry.kind == Kind::File && matches!(entry.what, What::Created | What::Changed)
}

/// Names that the command gave to files of the root, and that are files of their own after all.
pub(super) fn copies(changes: &Changes<'_>) -> Vec<PathBuf> {
    let root = &changes.layer.root;
    let inode = |path: &Path| fstat(beneath(root, path)?).ok().map(|stat| (stat.st_dev, stat.st_ino));
    let of = |entry: &Entry| Some(changes.copies.get(&entry.now?.inode())?.0.clone());
    let put = changes.entries.iter().filter(comes);
    let apart = put.filter(|entry| of(entry).is_some_and(|of| inode(&of) != inode(&entry.path)));
    apart.map(|entry| entry.path.clone()).collect()
}
