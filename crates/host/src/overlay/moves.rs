//! What is done to the root to apply a layer: a handful of renames, each of which can be taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::moves::Act;

/// One path of a layer that is to be moved as a whole.
#[derive(Debug, Clone)]
pub(super) struct Move {
    /// Absolute, in the root.
    pub(super) path: PathBuf,
    pub(super) act: Act,
    /// The old directory may hold nothing any more when it goes.
    pub(super) emptied: bool,
}

/// The moves for an overlay, where what a directory holds goes on its own, before it. The second are paths that `is_new`
/// says changed meanwhile.
pub(super) fn one_by_one(moves: &[Move], is_new: &dyn Fn(&Path) -> bool) -> io::Result<(Vec<Move>, Vec<PathBuf>)> {
    let (mut all, mut changed) = (Vec::with_capacity(moves.len()), Vec::new());
    for one in moves {
        let mut one = one.clone();
        let goes = matches!(one.act, Act::Remove | Act::Swap) && !one.emptied;
        if goes && fs::symlink_metadata(&one.path).is_ok_and(|meta| meta.is_dir()) {
            let before = all.len();
            empty(&one.path, &mut all)?;
            changed.extend(all[before..].iter().map(|inner: &Move| inner.path.clone()).filter(|path| is_new(path)));
            one.emptied = true;
        }
        all.push(one);
    }
    Ok((all, changed))
}

/// Removes what a directory holds, from the inside out.
fn empty(dir: &Path, all: &mut Vec<Move>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let is_dir = entry.file_type()?.is_dir();
        if is_dir {
            empty(&entry.path(), all)?;
        }
        all.push(Move { path: entry.path(), act: Act::Remove, emptied: is_dir });
    }
    Ok(())
}

impl Move {
    pub(super) fn new(path: PathBuf, act: Act) -> Move {
        Move { path, act, emptied: false }
    }
}
