//! What is done to the root to apply a layer: a handful of renames, each of which can be taken back.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use rustix::fs::{OFlags, Stat};
use rustix::io::Result;

use super::sides::DIRECTORY;
use super::stage::names_in;
use super::walk::kind;
use crate::fs::{Workspace, look_as_owner, reopen_as_owner, stat_as_owner};
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
pub(super) fn one_by_one(
    files: &Workspace,
    moves: &[Move],
    is_new: &dyn Fn(&Stat) -> bool,
) -> Result<(Vec<Move>, Vec<PathBuf>)> {
    let (mut all, mut changed) = (Vec::with_capacity(moves.len()), Vec::new());
    for one in moves {
        let mut one = one.clone();
        let goes = matches!(one.act, Act::Remove | Act::Swap) && !one.emptied;
        if goes && let Ok(dir) = files.look_as_owner(&one.path, DIRECTORY) {
            empty(&dir, &one.path, (&mut all, &mut changed), is_new)?;
            one.emptied = true;
        }
        all.push(one);
    }
    Ok((all, changed))
}

/// Removes what a directory holds, from the inside out.
fn empty(
    dir: &OwnedFd,
    at: &Path,
    (all, changed): (&mut Vec<Move>, &mut Vec<PathBuf>),
    is_new: &dyn Fn(&Stat) -> bool,
) -> Result<()> {
    for name in names_in(reopen_as_owner(dir, OFlags::DIRECTORY)?)? {
        let (path, stat) = (at.join(&name), stat_as_owner(dir, &name)?);
        let is_dir = kind(&stat) == Some(Kind::Directory);
        if is_dir {
            empty(&look_as_owner(dir, name.as_ref(), DIRECTORY)?, &path, (all, changed), is_new)?;
        }
        if is_new(&stat) {
            changed.push(path.clone());
        }
        all.push(Move { path, act: Act::Remove, emptied: is_dir });
    }
    Ok(())
}

impl Move {
    pub(super) fn new(path: PathBuf, act: Act) -> Move {
        Move { path, act, emptied: false }
    }
}
