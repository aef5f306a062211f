//! What is moved where to apply layers: the steps of an intent. What lies on another file system than its place is copied
//! beside that first.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Kind, ToolError, code};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, Stat, fstat};
use rustix::io::Errno;

use super::apply::NotApplied;
use super::joined::Joined;
use super::moves::{Move, one_by_one};
use super::sides::beneath;
use super::stage::{self, Stage};
use super::walk::{bits, kind, mtime};
use super::{Changes, Entry};
use crate::fs::{Locked, Stamp, worn_by_all};
use crate::moves::{Act, Closed, Identity, Intent, Looked, Parents, Step, is_overlay, refused};

/// Files of which moves take names away, or give them some, by device and inode; and the time that they set.
type Renamed = HashMap<(u64, u64), Option<(i64, u64)>>;

impl Locked<'_> {
    /// Says what is moved where, after copying what lies on another file system.
    pub(super) fn plan(
        &self,
        layers: &[Changes<'_>],
        (copied, joined): (&[Option<PathBuf>], &[Joined]),
        intent: &mut Intent,
    ) -> Result<(), NotApplied> {
        let renamed = renamed(layers, joined);
        for ((changes, copied), joined) in layers.iter().zip(copied).zip(joined) {
            let first = intent.steps.len();
            let mut plan = Plan::of(self, (changes, copied.as_deref(), joined), &renamed, intent)?;
            let moves = if plan.is_overlay { self.one_by_one(changes)? } else { changes.moves.clone() };
            for (at, one) in moves.iter().enumerate() {
                let step = plan.step(at, one, intent)?;
                intent.steps.push(step);
            }
            // Nothing of it stands in the root yet.
            let mut since: Vec<_> =
                intent.steps[first..].iter_mut().filter_map(|step| step.new_since.as_mut()).collect();
            if !since.is_empty() {
                let now = just_before(&plan.top).map_err(|error| refused(plan.own, error))?;
                since.iter_mut().for_each(|since| **since = now);
            }
        }
        Closed::drop_set(&mut intent.closed, &intent.steps);
        Ok(())
    }

    /// The moves on an overlay, unless somebody changed meanwhile what goes with a directory.
    fn one_by_one(&self, changes: &Changes<'_>) -> Result<Vec<Move>, NotApplied> {
        let is_new = |stat: &Stat| changes.is_disturbed(&Stamp::from(stat));
        let (moves, changed) = one_by_one(self.files(), &changes.moves, &is_new).map_err(|error| {
            let message = format!("cannot look into {}: {error}", changes.layer.root.display());
            ToolError::new(code::READ_FAILED, message)
        })?;
        match changed.is_empty() {
            true => Ok(moves),
            false => Err(NotApplied::Conflict(changed.into_iter().map(|path| self.files().place(path)).collect())),
        }
    }

    /// The directory of a path, if its owner may not write it, and no step before was about it.
    fn closed_above(&self, parents: &mut Parents, path: &Path, before: &[Step]) -> Option<Closed> {
        let above = path.parent()?;
        if before.last().is_some_and(|step| step.target.parent() == Some(above)) {
            return None;
        }
        let (dir, _) = parents.of(self.files(), path).ok()?;
        Closed::of(above, &rustix::fs::fstat(dir).ok()?)
    }
}

/// One layer's part of an intent.
struct Plan<'a> {
    locked: &'a Locked<'a>,
    changes: &'a Changes<'a>,
    known: HashMap<&'a Path, &'a Entry>,
    looked: Arc<Looked>,
    is_overlay: bool,
    /// Where copies lie, if what comes is copied.
    copied: Option<&'a Path>,
    /// Where former entries go: there, or the layer.
    own: &'a Path,
    top: OwnedFd,
    stage: Stage<'a>,
    parents: Parents,
    sources: Parents,
}

impl<'a> Plan<'a> {
    /// Makes the places that it needs.
    fn of(
        locked: &'a Locked<'a>,
        (changes, copied, joined): (&'a Changes<'a>, Option<&'a Path>, &'a Joined),
        renamed: &Renamed,
        intent: &mut Intent,
    ) -> Result<Plan<'a>, NotApplied> {
        let own = copied.unwrap_or(&changes.layer.dir);
        match copied {
            None => changes.join(joined),
            Some(_) => {
                // What lies in the root meanwhile, commands that run beside can come to.
                intent.judged.extend(changes.judged(locked.files())?);
                stage::make(own).map_err(|error| refused(&changes.layer.root, error))?;
            }
        }
        let failed = |error| refused(own, error);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = || rustix::fs::openat2(CWD, own, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).map_err(failed);
        let top = opened()?;
        if !changes.moves.is_empty() {
            match rustix::fs::mkdirat(&top, "old", Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error).into()),
            }
        }
        Ok(Plan {
            locked,
            changes,
            known: changes.entries.iter().map(|entry| (&*entry.path, entry)).collect(),
            looked: Arc::new(changes.looked(renamed)),
            is_overlay: is_overlay(&changes.layer.root),
            copied,
            own,
            stage: Stage::within(opened()?, Some(joined)),
            top,
            parents: Parents::default(),
            sources: Parents::default(),
        })
    }

    fn step(&mut self, at: usize, one: &Move, intent: &mut Intent) -> Result<Step, NotApplied> {
        let old = self.stands(one)?;
        let (source, new) = self.waits(at, one)?;
        let aside = self.own.join("old").join(at.to_string());
        intent.closed.extend(old.iter().chain(&new).filter_map(|stat| Closed::of(&one.path, stat)));
        intent.closed.extend(self.locked.closed_above(&mut self.parents, &one.path, &intent.steps));
        let is_dir = |stat: &Option<Stat>| stat.as_ref().and_then(kind) == Some(Kind::Directory);
        let looked = (!self.changes.by_hand && !one.emptied).then(|| Arc::clone(&self.looked));
        Ok(Step {
            target: one.path.clone(),
            // A step that moves nothing in needs no place to move it from.
            source: if new.is_some() { source } else { aside.clone() },
            aside,
            act: one.act,
            new: new.as_ref().map(Identity::of),
            linked: false,
            old: old.as_ref().map(Identity::of),
            was: old.as_ref().map(|stat| (bits(stat), mtime(stat))),
            // A directory of the lower part of an overlay may have to be removed instead of moved.
            dress: (self.is_overlay && one.emptied)
                .then(|| worn_by_all(&beneath(&self.changes.layer.root, &one.path)?))
                .flatten(),
            emptied: one.emptied,
            old_since: looked.as_ref().filter(|_| is_dir(&old)).map(|looked| looked.began),
            new_since: is_dir(&new).then_some(self.changes.layer.began),
            stamp: old.as_ref().map(Stamp::from),
            looked,
        })
    }

    /// What stands at the path of a move: what is known of it, as keeping that took a while. On an overlay, when it is in the
    /// part where things are moved.
    fn stands(&mut self, one: &Move) -> Result<Option<Stat>, NotApplied> {
        let conflict = || NotApplied::Conflict(vec![self.locked.files().place(one.path.clone())]);
        let stands = self.locked.stat(&mut self.parents, &one.path)?;
        if self.known.get(&*one.path).is_some_and(|entry| !self.changes.is_as_known(entry, stands.as_ref())) {
            return Err(conflict());
        }
        if !self.is_overlay {
            return Ok(stands);
        }
        if matches!(one.act, Act::Remove | Act::Swap) {
            self.parents.copy_up(self.locked.files(), &one.path);
        }
        let now = self.locked.stat(&mut self.parents, &one.path)?;
        if still_holds(stands.as_ref(), now.as_ref()) { Ok(now) } else { Err(conflict()) }
    }

    /// Where the new entry of a move waits, if it has one, and what it is.
    fn waits(&mut self, at: usize, one: &Move) -> Result<(PathBuf, Option<Stat>), NotApplied> {
        let mut source = self.changes.inside(&one.path);
        if !matches!(one.act, Act::Put | Act::Swap) {
            return Ok((source, None));
        }
        if let Some(dir) = self.copied {
            let copy = dir.join(at.to_string());
            self.stage.copy(&source, at.to_string().as_ref()).map_err(|error| {
                ToolError::new(code::WRITE_FAILED, format!("cannot copy {}: {error}", one.path.display()))
            })?;
            source = copy;
        }
        let waits = self.locked.stat(&mut self.sources, &source)?;
        Ok((source, Some(waits.ok_or_else(|| refused(&one.path, Errno::NOENT))?)))
    }
}

impl Changes<'_> {
    /// Whether what stands at an entry's path is what it was when the layer was read: the same but for the change time,
    /// which a name that it got since moves, or else nothing else to git.
    fn is_as_known(&self, entry: &Entry, now: Option<&Stat>) -> bool {
        let now = now.map(Stamp::from);
        match (&entry.stamp, &now) {
            (None, None) => true,
            (Some(stamp), Some(now)) if entry.is_merged() => stamp.same_file(now),
            (Some(stamp), Some(now)) if stamp.same_content(now) => true,
            (_, Some(_)) => self.is_no_other(entry),
            (Some(_), None) => false,
        }
    }

    /// What was seen when the layer was read.
    fn looked(&self, renamed: &Renamed) -> Looked {
        let seen = self.entries.iter().filter_map(|entry| entry.stamp).map(|stamp| (stamp.inode(), stamp));
        Looked { began: self.layer.began, seen: seen.collect(), renamed: renamed.clone() }
    }
}

fn renamed(layers: &[Changes<'_>], joined: &[Joined]) -> Renamed {
    let mut all: Renamed = joined.iter().flat_map(Joined::inodes).map(|inode| (inode, None)).collect();
    for changes in layers {
        let moved: HashMap<&Path, &Move> = changes.moves.iter().map(|one| (&*one.path, one)).collect();
        for entry in changes.entries.iter().filter(|entry| entry.was != Some(Kind::Directory)) {
            let (Some(one), Some(stamp)) = (moved.get(&*entry.path), entry.stamp) else { continue };
            let set = match one.act {
                Act::Set { mtime, .. } => mtime,
                Act::Put | Act::Swap | Act::Remove => None,
            };
            let known = all.entry(stamp.inode()).or_default();
            *known = set.or(*known);
        }
    }
    all
}

/// Whether what was brought up is what stood there. It may have another inode by that, and as long as it takes, others who
/// write to it wait: they come right after.
fn still_holds(stood: Option<&Stat>, now: Option<&Stat>) -> bool {
    match (stood, now) {
        (Some(stood), Some(now)) if kind(stood) == kind(now) => {
            kind(now) == Some(Kind::Directory) || (stood.st_size, mtime(stood)) == (now.st_size, mtime(now))
        }
        (stood, now) => stood.is_none() && now.is_none(),
    }
}

/// How often a clock is read again that stands still, and the time between: longer than a kernel of coarse times leaves it so.
const READ_AGAIN: usize = 20;
const A_MOMENT: Duration = Duration::from_millis(1);

/// The last moment before now, by the clock of the file system that a directory of ours lies in: whatever is changed from now on
/// is changed after it.
fn just_before(dir: &OwnedFd) -> Result<(i64, u64), Errno> {
    before_next(|| {
        let mode = Mode::from_raw_mode(fstat(dir)?.st_mode & 0o7777);
        rustix::fs::fchmod(dir, mode)?;
        fstat(dir).map(|now| (now.st_ctime, now.st_ctime_nsec))
    })
}

/// The last moment before the next one that a clock says. What is ours was written by the first at the latest, and a kernel of
/// coarse times says the same one for some milliseconds, one of fine times another where it was asked for the one before.
fn before_next(mut clock: impl FnMut() -> Result<(i64, u64), Errno>) -> Result<(i64, u64), Errno> {
    let first = clock()?;
    let mut now = clock()?;
    for _ in 0..READ_AGAIN {
        if now != first {
            break;
        }
        std::thread::sleep(A_MOMENT);
        now = clock()?;
    }
    let (sec, nsec) = now;
    Ok(nsec.checked_sub(1).map_or((sec - 1, 999_999_999), |nsec| (sec, nsec)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where it was taken for a moment before them, what is ours would count as written by others.
    #[test]
    fn what_was_written_in_one_moment_with_the_look_at_the_clock_is_not_behind_it() {
        let says = |all: &[(i64, u64)]| {
            let mut all = all.iter();
            let mut last = (0, 0);
            before_next(|| {
                last = all.next().copied().unwrap_or(last);
                Ok(last)
            })
            .unwrap()
        };
        let ours = (5, 999_999_000);
        assert_eq!(says(&[ours, ours, ours, (6, 0)]), (5, 999_999_999));
        assert_eq!(says(&[ours, (5, 999_999_001)]), ours);
        // It stands still for longer.
        assert_eq!(says(&[ours]), (5, 999_998_999));
    }
}
