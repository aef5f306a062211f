//! What others put into a directory of the command's in the moment in which that stood in the root, before it was taken back.
//! It is no part of what the command left, so the directory is left out with it, and what is of others in it is told.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nika_contract::{Kind, ToolError, code};
use rustix::fs::{AtFlags, OFlags, RenameFlags, fstat, renameat_with, statat};

use super::aside::take;
use super::sides::ITSELF;
use super::stage::{Stage, names_in};
use super::sweep::remove_tree;
use super::walk::{MAX_DEPTH, kind};
use super::{Changes, Entry, What};
use crate::fs::{Stamp, Workspace, look_as_owner, open_as_owner, parent_as_owner, temp_name, with_rights};
use crate::moves::{Act, Step};

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);

/// Looks for it in what `steps` moved into the root and back. A copy goes with its place in the root, so the layer gets what
/// others left of it: where it cannot, the copy has to stay. What was put together by hand nobody looks at again, so it is kept
/// where it can be read. Of both the error says where it lies.
pub(super) fn note(files: &Workspace, layers: &[Changes<'_>], steps: &[Step]) -> Result<(), ToolError> {
    let mut apart = Vec::new();
    for changes in layers {
        let moved: HashSet<&Path> = changes.moves.iter().map(|one| &*one.path).collect();
        let known: HashMap<&Path, &Entry> = changes.entries.iter().map(|entry| (&*entry.path, entry)).collect();
        let came = |step: &&Step| matches!(step.act, Act::Put | Act::Swap) && moved.contains(&*step.target);
        for step in steps.iter().filter(came) {
            let theirs = of_others(files, &known, step);
            if theirs.is_empty() {
                continue;
            }
            let is_copy = step.source != changes.inside(&step.target);
            let lies = match (changes.by_hand, is_copy) {
                (true, _) => Some(set_apart(files, step)),
                (false, true) => {
                    changes.take_over(step).err().map(|error| format!("{}: {error}", step.source.display()))
                }
                (false, false) => None,
            };
            apart.extend(lies.map(|lies| format!("what they wrote to {} lies in {lies}", step.target.display())));
            changes.layer.tried.others(&step.target, theirs);
        }
    }
    if apart.is_empty() {
        return Ok(());
    }
    let message = format!("others changed the same as it was applied; {}", apart.join("; "));
    Err(ToolError::new(code::CHANGED_SINCE_READ, message))
}

fn of_others(files: &Workspace, known: &HashMap<&Path, &Entry>, step: &Step) -> Vec<PathBuf> {
    let mut theirs = Vec::new();
    let opened =
        parent_as_owner(&step.source).and_then(|(above, name)| open_as_owner(&above, name.as_ref(), DIRECTORY));
    if let Ok(ours) = opened {
        let stands = files.look_as_owner(&step.target, DIRECTORY).ok();
        look(known, (&ours, stands.as_ref()), &step.target, 0, &mut theirs);
    }
    theirs
}

fn set_apart(files: &Workspace, step: &Step) -> String {
    let to = files.state().join("spill").join(format!("others{}", temp_name()));
    match take(&step.source, &to) {
        Ok(_) => to.display().to_string(),
        Err(error) => format!("{}: {error}", step.source.display()),
    }
}

impl Changes<'_> {
    /// Has the layer what lies at the source of a step, in the place of what that is a copy of.
    fn take_over(&self, step: &Step) -> std::io::Result<()> {
        let at = self.inside(&step.target);
        let (above, name) = parent_as_owner(&at)?;
        let copy = temp_name();
        let reading = open_as_owner(&above, ".".as_ref(), OFlags::DIRECTORY)?;
        Stage::within(reading, None).copy(&step.source, copy.as_ref())?;
        with_rights(&above, || renameat_with(&above, &*copy, &above, name, RenameFlags::EXCHANGE))?;
        remove_tree(&at.with_file_name(copy));
        Ok(())
    }
}

/// Looks at a directory of the command's; `stands`: the one that is there again.
fn look(
    known: &HashMap<&Path, &Entry>,
    (ours, stands): (&OwnedFd, Option<&OwnedFd>),
    at: &Path,
    depth: usize,
    theirs: &mut Vec<PathBuf>,
) {
    let names = open_as_owner(ours, ".".as_ref(), OFlags::DIRECTORY).and_then(names_in);
    let Ok(names) = names else { return theirs.push(at.to_path_buf()) };
    for name in names {
        let path = at.join(&name);
        let entry = known.get(&*path).copied();
        let stood = stands.and_then(|stands| look_as_owner(stands, name.as_ref(), ITSELF).ok());
        let Ok(now) = with_rights(ours, || statat(ours, &*name, AtFlags::SYMLINK_NOFOLLOW)) else { continue };
        // Of a directory or a link that is as it was there is no entry.
        let is_as_it_was = entry.is_none() && stood.as_ref().and_then(kind_of) == kind(&now);
        match kind(&now) {
            Some(Kind::Directory) if is_as_it_was || entry.is_some() && depth < MAX_DEPTH => {
                match open_as_owner(ours, name.as_ref(), DIRECTORY) {
                    Ok(inner) => look(known, (&inner, stood.as_ref()), &path, depth + 1, theirs),
                    Err(_) => theirs.push(path),
                }
            }
            Some(Kind::Link) if is_as_it_was => {}
            Some(_) if entry.is_some_and(|entry| is_as_left(entry, &Stamp::from(&now))) => {}
            _ => theirs.push(path),
        }
    }
}

fn kind_of(itself: &OwnedFd) -> Option<Kind> {
    kind(&fstat(itself.as_fd()).ok()?)
}

/// Whether a file or link is as the command left it, or a copy of that.
fn is_as_left(entry: &Entry, now: &Stamp) -> bool {
    let content = |stamp: &Stamp| {
        let [_, content @ ..] = stamp.as_numbers();
        content
    };
    // Of what was put by hand nobody looked what it became.
    entry.now.as_ref().map_or(entry.what != What::Deleted, |left| content(left) == content(now))
}
