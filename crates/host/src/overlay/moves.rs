//! What is done to the root to apply a layer: a handful of renames, each of which can be taken back.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What is done to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    /// The new one comes where nothing stands.
    Put,
    /// The new one and the old one change places.
    Swap,
    /// The old one goes.
    Remove,
    /// The old one gets these permission bits and this modification time.
    Set {
        /// Permission bits.
        mode: u32,
        /// Seconds and nanoseconds.
        mtime: Option<(i64, u64)>,
    },
}

/// One path of a layer that is to be moved as a whole.
#[derive(Debug, Clone)]
pub(super) struct Move {
    /// Absolute, in the root.
    pub(super) path: PathBuf,
    pub(super) act: Act,
    /// The old directory may hold nothing any more when it goes.
    pub(super) emptied: bool,
}

impl Move {
    pub(super) fn new(path: PathBuf, act: Act) -> Move {
        Move { path, act, emptied: false }
    }
}
