//! What others put into a directory of the command's in the moment in which that stood in the root, before it was taken back.
//! It is no part of what the command left, so the directory is left out with it, and what is of others in it is told.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nika_contract::{Kind, ToolError, code};
use rustix::fs::{Mode, OFlags, RenameFlags, Stat, fstat, open, readlinkat, renameat_with};
use rustix::io::Errno;

use super::aside::take;
use super::sides::{DIRECTORY, ITSELF};
use super::stage::{Stage, names_in};
use super::sweep::remove_tree;
use super::walk::{MAX_DEPTH, bits, kind};
use super::{Changes, Entry, What};
use crate::fs::{Stamp, Workspace, look_as_owner, move_as_owner, open_as_owner, parent_as_owner, temp_name};
use crate::moves::{Act, Step};

/// Looks for it in what `steps` moved into the root and back, and keeps it. Of what lies elsewhere than with the rest of a layer
/// then, the error says where; and which of these are copies that have to stay.
pub(super) fn note(files: &Workspace, layers: &[Changes<'_>], steps: &[Step]) -> Result<(), (ToolError, Vec<PathBuf>)> {
    let apart: Vec<Apart<'_>> = layers.iter().flat_map(|changes| changes.note_theirs(files, steps)).collect();
    if apart.is_empty() {
        return Ok(());
    }
    let lie = apart.iter().map(Apart::told).collect::<Vec<_>>().join("; ");
    let error = ToolError::new(code::CHANGED_SINCE_READ, format!("others changed the same as it was applied; {lie}"));
    Err((error, apart.into_iter().filter_map(|one| Some(one.lies.err()?.0)).collect()))
}

/// What others wrote to what was moved to `target`, and lies elsewhere than with the rest of the layer.
struct Apart<'s> {
    target: &'s Path,
    /// Where it lies then; or where it lies still, and why.
    lies: Result<PathBuf, (PathBuf, io::Error)>,
}

impl Apart<'_> {
    fn told(&self) -> String {
        let wrote = format!("what they wrote to {} lies in", self.target.display());
        match &self.lies {
            Ok(place) => format!("{wrote} {}", place.display()),
            Err((place, why)) => format!("{wrote} {}: {why}", place.display()),
        }
    }
}

impl Changes<'_> {
    fn note_theirs<'s>(&self, files: &Workspace, steps: &'s [Step]) -> Vec<Apart<'s>> {
        let moved: HashSet<&Path> = self.moves.iter().map(|one| &*one.path).collect();
        let known: HashMap<&Path, &Entry> = self.entries.iter().map(|entry| (&*entry.path, entry)).collect();
        let came = |step: &&Step| matches!(step.act, Act::Put | Act::Swap) && moved.contains(&*step.target);
        let mut apart = Vec::new();
        for step in steps.iter().filter(came) {
            let is_copy = step.source != self.inside(&step.target);
            let theirs = of_others(files, (&known, is_copy), step);
            if theirs.is_empty() {
                continue;
            }
            match self.keep_theirs(files, step, is_copy) {
                Some(elsewhere) => apart.push(elsewhere),
                None => self.layer.tried.others(&step.target, theirs),
            }
        }
        apart
    }

    /// A copy goes with its place in the root, so the layer gets what others left of it: where it cannot, the copy has to stay.
    /// What was put together by hand nobody looks at again, so it is kept where it can be read.
    fn keep_theirs<'s>(&self, files: &Workspace, step: &'s Step, is_copy: bool) -> Option<Apart<'s>> {
        let kept = match (self.by_hand, is_copy) {
            (true, _) => set_apart(files, step).map(Some),
            (false, true) => self.take_over(step).map(|()| None),
            (false, false) => Ok(None),
        };
        let lies = kept.map_err(|error| (step.source.clone(), error)).transpose()?;
        Some(Apart { target: &step.target, lies })
    }
}

/// All that is not as the command left it, or may not be, as it cannot be looked at.
fn of_others(files: &Workspace, (known, is_copy): (&HashMap<&Path, &Entry>, bool), step: &Step) -> Vec<PathBuf> {
    let opened =
        parent_as_owner(&step.source).and_then(|(above, name)| open_as_owner(&above, name.as_ref(), DIRECTORY));
    let ours = match opened {
        Ok(ours) => ours,
        // Nothing is in a file or a link, and what did not come back others have.
        Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => return Vec::new(),
        Err(_) => return vec![step.target.clone()],
    };
    let mut look = Look { known, is_copy, seen: HashSet::new(), theirs: Vec::new() };
    let stands = files.look_as_owner(&step.target, DIRECTORY).ok();
    look.within(&ours, stands.as_ref(), &step.target, 0);
    let is_below = |path: &&&Path| path.starts_with(&step.target) && ***path != *step.target;
    let gone = known.keys().filter(is_below).filter(|path| !look.seen.contains(**path));
    let gone = gone.filter(|path| known[**path].what != What::Deleted).map(|path| path.to_path_buf());
    look.theirs.extend(gone);
    look.theirs
}

/// Where it lies then.
fn set_apart(files: &Workspace, step: &Step) -> io::Result<PathBuf> {
    let to = files.state().join("spill").join(format!("others{}", temp_name()));
    take(&step.source, &to).map(|_| to)
}

impl Changes<'_> {
    /// Has the layer what lies at the source of a step, in the place of what that is a copy of.
    fn take_over(&self, step: &Step) -> io::Result<()> {
        let at = self.inside(&step.target);
        let (above, name) = parent_as_owner(&at)?;
        let apart = self.layer.dir.join(temp_name());
        let top = open(&self.layer.dir, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let copied = Stage::within(top, None).copy(&step.source, apart.file_name().unwrap_or_default());
        let taken = copied.and_then(|()| {
            let (dir, copy) = parent_as_owner(&apart)?;
            move_as_owner((&dir, copy), (&above, name), |(dir, copy), (above, name)| {
                renameat_with(dir, copy, above, name, RenameFlags::EXCHANGE)
            })?;
            Ok(())
        });
        // What the layer had; or a part of a copy, on a full disk.
        remove_tree(&apart);
        taken
    }
}

/// A look at a directory of the command's.
struct Look<'a> {
    /// What is known of what the command left in it.
    known: &'a HashMap<&'a Path, &'a Entry>,
    /// Of that, on another file system.
    is_copy: bool,
    seen: HashSet<PathBuf>,
    theirs: Vec<PathBuf>,
}

impl Look<'_> {
    /// `stands`: the directory that is in its place again. Of what is as it was in that the command has no entry.
    fn within(&mut self, ours: &OwnedFd, stands: Option<&OwnedFd>, at: &Path, depth: usize) {
        let names = open_as_owner(ours, ".".as_ref(), OFlags::DIRECTORY).and_then(names_in);
        let Ok(names) = names else { return self.theirs.push(at.to_path_buf()) };
        for name in names {
            let path = at.join(&name);
            let opened = open_as_owner(ours, name.as_ref(), ITSELF).and_then(|it| Ok((fstat(&it)?, it)));
            self.seen.insert(path.clone());
            let (now, itself) = match opened {
                Ok(opened) => opened,
                Err(_) => {
                    self.theirs.push(path);
                    continue;
                }
            };
            let stood = stands.and_then(|stands| look_as_owner(stands, name.as_ref(), ITSELF).ok());
            let is_as_left = match self.known.get(&*path) {
                Some(entry) => is_as_left(entry, self.is_copy, &now),
                None => stood.as_ref().is_some_and(|stood| is_as_it_was(stood, (&itself, &now))),
            };
            match kind(&now) {
                _ if !is_as_left => self.theirs.push(path),
                Some(Kind::Directory) if depth < MAX_DEPTH => {
                    self.within(&itself, stood.as_ref(), &path, depth + 1);
                }
                Some(Kind::Directory) => self.theirs.push(path),
                _ => {}
            }
        }
    }
}

/// Whether it is as the command left it, or a copy of that.
fn is_as_left(entry: &Entry, is_copy: bool, now: &Stat) -> bool {
    if entry.what == What::Deleted || kind(now) != Some(entry.kind) {
        return false;
    }
    // Not every file system keeps rights.
    let same_mode = is_copy || entry.kind == Kind::Link || entry.mode.is_none_or(|mode| mode == bits(now));
    let same_content = entry.kind == Kind::Directory
        || entry.now.as_ref().is_none_or(|left| {
            let ([_, size, sec, nsec], [_, size_now, sec_now, nsec_now]) =
                (left.as_numbers(), Stamp::from(now).as_numbers());
            let same_time =
                (sec, nsec) == (sec_now, nsec_now) || is_copy && is_coarse(nsec_now) && (sec - sec_now).abs() < 3;
            size == size_now && same_time
        });
    same_mode && same_content
}

/// Whether a file system may have cut the time: to milliseconds or more, down to two seconds.
fn is_coarse(nsec: i64) -> bool {
    nsec % 1_000_000 == 0
}

/// The same of a directory or a link that is in both.
fn is_as_it_was(stood: &OwnedFd, (itself, now): (&OwnedFd, &Stat)) -> bool {
    let Ok(was) = fstat(stood) else { return false };
    let target = |link: &OwnedFd| readlinkat(link, "", Vec::new()).ok();
    match (kind(&was), kind(now)) {
        (Some(Kind::Directory), Some(Kind::Directory)) => bits(&was) == bits(now),
        (Some(Kind::Link), Some(Kind::Link)) => target(stood) == target(itself),
        _ => false,
    }
}
