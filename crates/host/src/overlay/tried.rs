//! What a try to apply a layer does to it and to the root, though all of its moves were taken back. The next look at the layer
//! must take none of that for the command's doing, or for others'.
//!
//! | what a try does | what it would be taken for |
//! |---|---|
//! | takes the marks off what it moves | a directory that the command replaced would be one that it added to: what it removed would stay |
//! | moves entries of the root away and back | others' change, by the time of the last one |
//! | leaves in the layer what others wrote to that while it stood in the root | what the command left |

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fs::Stamp;

#[derive(Debug, Default)]
pub(super) struct Tried(Mutex<Traces>);

#[derive(Debug, Default)]
struct Traces {
    replacing: HashSet<PathBuf>,
    came_back: HashSet<Stamp>,
    others: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Tried {
    /// What lies at these paths of the layer replaces what stands there, whatever its marks say from now on.
    pub(super) fn replacing<'p>(&self, paths: impl Iterator<Item = &'p PathBuf>) {
        self.traces().replacing.extend(paths.cloned());
    }

    pub(super) fn replaces(&self, path: &Path) -> bool {
        self.traces().replacing.contains(path)
    }

    /// These stand where they stood, untouched but for the moves.
    pub(super) fn came_back(&self, stamps: Vec<Stamp>) {
        self.traces().came_back.extend(stamps);
    }

    /// Whether the last change of what bears `stamp` was that it came back.
    pub(super) fn moved(&self, stamp: &Stamp) -> bool {
        self.traces().came_back.contains(stamp)
    }

    /// Others wrote what lies at these paths of the layer, in what it moved to `target`.
    pub(super) fn others(&self, target: &Path, paths: Vec<PathBuf>) {
        self.traces().others.insert(target.to_path_buf(), paths);
    }

    pub(super) fn has_of_others(&self, target: &Path) -> bool {
        self.traces().others.contains_key(target)
    }

    /// Those at or below a path, sorted.
    pub(super) fn others_in(&self, path: &Path) -> Vec<PathBuf> {
        let traces = self.traces();
        let mut all: Vec<PathBuf> =
            traces.others.values().flatten().filter(|other| other.starts_with(path)).cloned().collect();
        all.sort();
        all.dedup();
        all
    }

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
