//! What others put into a directory of the command's in the moment in which that stood in the root, before it was taken back.
//! It is theirs, and no part of what the command left.
//!
//! | what | becomes |
//! |---|---|
//! | a new name, where the directory that stands there again has none such | it comes to stand in that |
//! | what they wrote to a file of the command's, or put where only the command has a directory | it stays with that, and is told |

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, open, statat};

use super::stage::Stage;
use super::walk::{MAX_DEPTH, directory, kind};
use super::{Changes, Entry, What};
use crate::fs::{Stamp, Workspace, land, temp_name};
use crate::moves::{Act, Step};

/// Gives others what is theirs in what `steps` moved into the root and back.
pub(super) fn give_back(files: &Workspace, layers: &[Changes<'_>], steps: &[Step]) {
    for changes in layers {
        let moved: HashSet<&Path> = changes.moves.iter().map(|one| &*one.path).collect();
        let known = changes.entries.iter().map(|entry| (&*entry.path, entry)).collect();
        let mut theirs = Theirs { known, left: Vec::new() };
        for step in steps.iter().filter(|step| matches!(step.act, Act::Put | Act::Swap)) {
            if !moved.contains(&*step.target) {
                continue;
            }
            let Ok(ours) = directory(CWD, &step.source, false) else { continue };
            let stands = files.open_exact(&step.target, OFlags::RDONLY | OFlags::DIRECTORY).ok();
            let before = theirs.left.len();
            theirs.look(&ours, stands.as_ref(), &step.target, 0);
            // A copy in the root goes now, and the layer is what is kept.
            for path in &theirs.left[before..] {
                let from = step.source.join(path.strip_prefix(&step.target).unwrap_or(path));
                let to = changes.inside(path);
                if from != to {
                    let _ = keep(&from, &to);
                }
            }
        }
        changes.layer.tried.others(theirs.left);
    }
}

struct Theirs<'a> {
    known: HashMap<&'a Path, &'a Entry>,
    /// What stays where it is.
    left: Vec<PathBuf>,
}

impl Theirs<'_> {
    /// Looks at a directory of the command's; `stands`: the one that is there again.
    fn look(&mut self, ours: &OwnedFd, stands: Option<&OwnedFd>, at: &Path, depth: usize) {
        let Ok(entries) = Dir::read_from(ours) else { return };
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let path = at.join(name);
            let Ok(now) = statat(ours, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let known = self.known.get(&*path).copied();
            let stood = stands.and_then(|stands| statat(stands, name, AtFlags::SYMLINK_NOFOLLOW).ok());
            match kind(&now) {
                // Of a directory or link that is as it was there is no entry.
                Some(Kind::Directory) if known.is_some() || stood.as_ref().and_then(kind) == Some(Kind::Directory) => {
                    let below = stands.and_then(|stands| directory(stands, name, false).ok());
                    if let (Ok(inner), true) = (directory(ours, name, false), depth < MAX_DEPTH) {
                        self.look(&inner, below.as_ref(), &path, depth + 1);
                    }
                }
                Some(Kind::Link) if known.is_none() && stood.is_some() => {}
                Some(_) if known.is_some_and(|known| is_as_left(known, &Stamp::from(&now))) => {}
                Some(_) => {
                    let lands = |stands: &OwnedFd| known.is_none() && land((ours, name), (stands, name)).is_ok();
                    if !stands.is_some_and(lands) {
                        self.left.push(path);
                    }
                }
                None => {}
            }
        }
    }
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

/// Copies what lies at `from` into the place of what lies at `to`, once all of it is there.
fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
    let above = to.parent().unwrap_or(Path::new("/"));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let whole = temp_name();
    Stage::within(open(above, flags, Mode::empty())?, None).copy(from, whole.as_ref())?;
    std::fs::rename(above.join(whole), to)
}
