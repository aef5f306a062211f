//! What a try to apply a layer does to it and to the root, though all of its moves were taken back. The next look at the layer
//! must take none of that for the command's doing, or for others'.
//!
//! | what a try does | what it would be taken for |
//! |---|---|
//! | takes the marks off what it moves | a directory that the command replaced would be one that it added to: what it removed would stay |
//! | moves entries of the root away and back | others' change, by the time of the last one |

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fs::Stamp;

#[derive(Debug, Default)]
pub(super) struct Tried(Mutex<Traces>);

#[derive(Debug, Default)]
struct Traces {
    replacing: HashSet<PathBuf>,
    came_back: HashSet<Stamp>,
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

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
