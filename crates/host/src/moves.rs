//! Changes of several paths as moves, under one intent: a kill leaves the old state or the new one, and nothing that others
//! wrote is lost. There are two who make moves; they differ in where the new entries wait, and where the former ones go:
//!
//! | | new entries wait | former ones go |
//! |---|---|---|
//! | a set of changes (`fs/sets.rs`) | under temporary names beside their places | under such names, too |
//! | a layer (`overlay/apply.rs`) | in it, or in a copy of it in the root | into it |
//!
//! A name never loses what stands there: that is moved away, looked at, and moved back if it is not what was judged. It
//! goes when all moves are made. The intent is written before anything, and again at the one moment that decides:
//!
//! | phase | on disk | the next start |
//! |---|---|---|
//! | staging | some of the new entries, where they wait | removes them: the old state |
//! | applying | every new entry, whole, and synced | finishes the moves: the new state; where others took a place, or wrote to what goes, the old one |
//! | rolling back | every former entry, where its move put it | moves them back: the old state; what came and others went on with stays |
//!
//! Which moves were made is told by who stands where ([`identity`]); what others wrote to a directory of them, by when it was
//! changed, and nothing of that is removed ([`apart`]). Whoever holds the workspace's lock and finds an intent
//! knows that its writer is dead, and settles it where the directories are that it was begun in ([`ground`]). What is guarded
//! must hold what was judged ([`judged`]); rights that a move gave for a moment go ([`closed`]), and what could not be removed
//! waits for the next start ([`stray`]).

mod apart;
mod closed;
mod ground;
mod identity;
mod in_place;
mod intent;
mod judged;
mod looked;
mod step;
mod stray;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_contract::{Dress, ToolError, code, pathtext};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::fs::{NotMade, Stamp, Workspace, is_absence};
use crate::overlay::by_handle;
pub use apart::Apart;
pub(crate) use closed::Closed;
pub(crate) use ground::Ground;
pub(crate) use identity::Identity;
use identity::{can_be_seen, standing};
pub(crate) use intent::{Intent, Named, Phase, Wanted, settle, wanted};
pub(crate) use judged::{Holds, Judged};
pub(crate) use looked::Looked;
pub(crate) use stray::{Stray, discard};

/// What is done to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
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

/// One move.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    /// In the root.
    #[serde(with = "pathtext")]
    pub(crate) target: PathBuf,
    /// Where the new entry comes from. After a swap the old one lies there.
    #[serde(with = "pathtext")]
    pub(crate) source: PathBuf,
    /// Where an old entry goes that is not swapped.
    #[serde(with = "pathtext")]
    pub(crate) aside: PathBuf,
    pub(crate) act: Act,
    /// Who they are.
    pub(crate) new: Option<Identity>,
    pub(crate) old: Option<Identity>,
    /// Whether the new one is another name of a file that goes in the same set: what others write to that, they write to
    /// both.
    #[serde(default)]
    pub(crate) linked: bool,
    /// Rights and modification time of the old one.
    pub(crate) was: Option<(u32, (i64, u64))>,
    /// What an emptied directory has beside that, where it may have to be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dress: Option<Dress>,
    /// The old directory may hold nothing any more.
    #[serde(default)]
    pub(crate) emptied: bool,
    /// What changed after this in a directory that goes, others changed: by that a start knows it. Of directories alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) old_since: Option<(i64, u64)>,
    /// The same of one that comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) new_since: Option<(i64, u64)>,
    /// What exactly must have stood there; known while the process lives.
    #[serde(skip)]
    pub(crate) stamp: Option<Stamp>,
    /// As what a directory that goes holds must be; known while the process lives.
    #[serde(skip)]
    pub(crate) looked: Option<Arc<Looked>>,
}

impl Step {
    /// One of which nothing is known yet.
    pub(crate) fn new(target: PathBuf, (source, aside): (PathBuf, PathBuf), act: Act) -> Step {
        Step {
            target,
            source,
            aside,
            act,
            new: None,
            old: None,
            linked: false,
            was: None,
            dress: None,
            emptied: false,
            old_since: None,
            new_since: None,
            stamp: None,
            looked: None,
        }
    }

    /// Whether its entries wait and go beside its place: then it is of a set, and not of a layer.
    fn is_beside(&self) -> bool {
        self.source.parent() == self.target.parent()
    }

    /// Whether this is the new one, which is of no use where it lies. What was made is made: who still writes to it writes to
    /// one without a name.
    fn is_ours(&self, there: Identity, phase: Phase) -> bool {
        match phase {
            Phase::Staging | Phase::RollingBack => self.is_new(Some(there)),
            Phase::Applying => self.new.is_some_and(|new| new.same_inode(there)),
        }
    }

    /// Whether this is what stood there.
    fn is_former(&self, there: Identity, phase: Phase) -> bool {
        match phase {
            Phase::Staging | Phase::RollingBack => self.old == Some(there),
            Phase::Applying => self.old.is_some_and(|old| old.same_inode(there)),
        }
    }

    /// Whether the former one is of no use any more: the new one is in its place, or it is there itself.
    fn former_goes(&self, places: &Places<'_>, phase: Phase) -> bool {
        match (phase, self.act) {
            (Phase::Staging | Phase::RollingBack, _) => standing(&places.target) == self.old,
            // Where a move takes two calls, the new one has both names for a moment.
            (Phase::Applying, Act::Swap) => {
                self.is_new(standing(&places.target)) || !self.is_new(standing(&places.source))
            }
            (Phase::Applying, _) => true,
        }
    }

    /// Whether this is the new one, as it was made.
    fn is_new(&self, there: Option<Identity>) -> bool {
        match (there, self.new) {
            (Some(there), Some(new)) => there == new || self.linked && there.same_inode(new),
            _ => false,
        }
    }
}

pub(crate) fn refused(path: &Path, error: Errno) -> ToolError {
    crate::fs::errno(&format!("change {}", path.display()), error, code::WRITE_FAILED)
}

/// A directory and a name in it.
type At<'a> = (&'a OwnedFd, OsString);

/// The three places of a step, open.
struct Places<'a> {
    target: At<'a>,
    source: At<'a>,
    aside: At<'a>,
    /// Of what a command did over a layer, more is made good: a set is refused where any program would be.
    of_layer: bool,
}

/// Directories opened a moment ago: many steps in a row share theirs.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Parents {
    /// The directory of `path`, whatever rights that has and those above it, and the name in it.
    pub(crate) fn of(&mut self, files: &Workspace, path: &Path) -> Result<At<'_>, Errno> {
        // The top of all has no name.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR) };
        if self.last.as_ref().is_none_or(|(last, _)| last != parent) {
            let dir = files.look_as_owner(parent, OFlags::PATH | OFlags::DIRECTORY)?;
            self.last = Some((parent.to_path_buf(), dir));
        }
        let (_, dir) = self.last.as_ref().expect("set above");
        Ok((dir, name.to_owned()))
    }

    /// Has an overlay bring a file of its lower part up, as a rename would: there it may get another inode, and a move is
    /// known by that.
    pub(crate) fn copy_up(&mut self, files: &Workspace, path: &Path) {
        let Ok((dir, name)) = self.of(files, path) else { return };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(handle) = rustix::fs::openat(dir, &name, flags, Mode::empty()) else { return };
        let Ok(stat) = rustix::fs::fstat(&handle) else { return };
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile {
            // The rights that it has: any change of them does.
            let _ = rustix::fs::chmod(by_handle(&handle), Mode::from_raw_mode(stat.st_mode & 0o7777));
        }
    }
}

/// Overlays, the kernel's and those of FUSE, which rename no directory that is in their lower part.
const OVERLAYS: [u64; 2] = [0x794c_7630, 0x6573_5546];

/// Whether `dir` may lie in an overlay.
pub(crate) fn is_overlay(dir: &Path) -> bool {
    rustix::fs::statfs(dir).is_ok_and(|fs| OVERLAYS.contains(&(fs.f_type as u64 & 0xffff_ffff)))
}

/// After what moves go back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum After<'a> {
    /// One of them failed a moment ago.
    Failure,
    /// Who made them was killed. Of what comes, this is guarded: it goes back, whatever others made of it.
    Kill(&'a [Judged]),
}

impl After<'_> {
    /// Whether the new one of a step stays where it stands.
    fn stays(self, step: &Step, places: &Places<'_>) -> bool {
        let After::Kill(judged) = self else { return false };
        let is_guarded = || judged.iter().any(|one| one.path.starts_with(&step.target));
        step.cannot_return(places) || step.is_taken_over(places) && !is_guarded()
    }
}

/// Makes the moves of an intent, or takes them back.
pub(crate) struct Mover<'a> {
    files: &'a Workspace,
    target: Parents,
    source: Parents,
    aside: Parents,
}

impl<'a> Mover<'a> {
    pub(crate) fn new(files: &'a Workspace) -> Mover<'a> {
        Mover { files, target: Parents::default(), source: Parents::default(), aside: Parents::default() }
    }

    /// Makes every move that is not made yet. After a kill (`careful`) a path that others changed stays as they
    /// left it; whether there was none such is the answer. Otherwise one is an error.
    pub(crate) fn forward(&mut self, steps: &[Step], careful: bool) -> Result<bool, NotMade> {
        let mut whole = true;
        for step in steps {
            let places = if careful { self.places_left(step)? } else { Some(self.places(step)?) };
            let done = match places {
                Some(places) => Some(step.make(&places, careful).map_err(|error| refused(&step.target, error))?),
                // Its directory is gone with what was in it; the other paths can still be finished. Or it was settled, but for
                // the note.
                None => None,
            };
            let done = done.unwrap_or_else(|| self.stands_as_made(step));
            if !done && !careful {
                return Err(NotMade::Moved(self.files.place(step.target.clone())));
            }
            whole &= done;
        }
        Ok(whole)
    }

    /// Makes every move of a set that is under way, and looks once more at what came out of the names: programs that had a
    /// file open may have written to it since.
    pub(crate) fn make(&mut self, steps: &[Step]) -> Result<(), NotMade> {
        self.forward(steps, false)?;
        for step in steps {
            // The directory of the place itself may have gone with a later move.
            let (source, aside) = beside(self.files, (&mut self.source, &mut self.aside), step)?;
            if !step.is_kept(&source, &aside) || step.takes_others_along(&source, &aside) {
                return Err(NotMade::Moved(self.files.place(step.target.clone())));
            }
        }
        Ok(())
    }

    /// Takes every move back that was made, the last one first. An error where one could not be, when all others are: then
    /// what stood there still lies where its move put it. After a kill what stood there may lie nowhere any more, and no later
    /// start would find it, or others went on with what came: the new one stays then; whether there was none such is the answer.
    pub(crate) fn back(&mut self, steps: &[Step], after: After<'_>) -> Result<bool, ToolError> {
        let (mut whole, mut all, mut again) = (true, Ok(()), Vec::new());
        for step in steps.iter().rev() {
            let back = match self.places(step) {
                Ok(places) if after.stays(step, &places) => {
                    whole = false;
                    continue;
                }
                Ok(places) => {
                    again.extend(step.is_to_be_made_again(&places).then_some(step));
                    step.take_back(&places).map_err(|error| refused(&step.target, error))
                }
                Err(error) => Err(error),
            };
            // Others removed the directory with what was in it; or it was settled, but for the note.
            if back.is_err() && self.is_gone(step) {
                whole &= !self.stands_as_made(step);
                continue;
            }
            all = all.and(back);
        }
        // What went back into these moved their times.
        for step in again {
            if let Ok(places) = self.places(step) {
                step.give_time_back(&places);
            }
        }
        all.map(|()| whole)
    }

    /// Whether a move cannot be made as others took its place, or would take along what they wrote, and all that stood at the
    /// other ones is there still: then none of them is better than half of a move.
    pub(crate) fn can_go_back(&mut self, steps: &[Step]) -> bool {
        let mut is_blocked = false;
        for step in steps {
            let Ok(places) = self.places(step) else { return false };
            if step.is_cleared(&places) {
                return false;
            }
            is_blocked |= step.is_blocked(&places) || step.takes_others_along(&places.source, &places.aside);
        }
        is_blocked
    }

    /// Whether a move took along what others wrote.
    fn takes_others_along(&mut self, steps: &[Step]) -> bool {
        steps
            .iter()
            .any(|step| self.places(step).is_ok_and(|places| step.takes_others_along(&places.source, &places.aside)))
    }

    /// Whether the place of a step is as it leaves it.
    fn stands_as_made(&mut self, step: &Step) -> bool {
        let stands = self.target.of(self.files, &step.target).map(|target| standing(&target));
        match step.act {
            Act::Put | Act::Swap => stands.is_ok_and(|stands| stands.is_some() && stands == step.new),
            Act::Remove => stands.is_ok_and(|stands| stands.is_none()),
            Act::Set { .. } => false,
        }
    }

    /// Whether a directory of a step's places is no more.
    fn is_gone(&mut self, step: &Step) -> bool {
        self.target.of(self.files, &step.target).is_err_and(is_absence)
            || self.source.of(self.files, &step.source).is_err_and(is_absence)
            || self.aside.of(self.files, &step.aside).is_err_and(is_absence)
    }

    /// Whether what stood at every path stands there.
    pub(crate) fn is_void(&mut self, steps: &[Step]) -> bool {
        steps.iter().all(|step| self.places(step).is_ok_and(|places| standing(&places.target) == step.old))
    }

    /// Removes what lies beside the places of a set: new ones that are of no use any more, and former ones where others
    /// stand as they should. What others put there at the last moment, and what could not go back as yet others put something
    /// in its place, stays. Those that could not be removed are the answer.
    pub(crate) fn clear(&mut self, steps: &[Step], phase: Phase) -> Vec<Stray> {
        let mut strays = Vec::new();
        for step in steps.iter().filter(|step| step.is_beside()) {
            let Ok(places) = self.places(step) else { continue };
            let former_goes = step.former_goes(&places, phase);
            for (at, path) in [(&places.source, &step.source), (&places.aside, &step.aside)] {
                let Some(there) = standing(at) else { continue };
                // Nothing was moved yet.
                let is_new = phase == Phase::Staging || step.is_ours(there, phase);
                // Where a move takes two calls, a kill came between them.
                let is_second_name = standing(&places.target) == Some(there);
                if is_new || is_second_name || former_goes && step.is_former(there, phase) {
                    strays.extend(Stray::unless_removed(at, path, there));
                }
            }
        }
        strays
    }

    /// The same, unless a directory of these is no more.
    fn places_left(&mut self, step: &Step) -> Result<Option<Places<'_>>, ToolError> {
        if self.is_gone(step) { Ok(None) } else { self.places(step).map(Some) }
    }

    fn places(&mut self, step: &Step) -> Result<Places<'_>, ToolError> {
        let target = self.target.of(self.files, &step.target).map_err(|error| refused(&step.target, error))?;
        let (source, aside) = beside(self.files, (&mut self.source, &mut self.aside), step)?;
        for at in [&target, &source, &aside] {
            can_be_seen(at).map_err(|error| refused(&step.target, error))?;
        }
        Ok(Places { target, source, aside, of_layer: !step.is_beside() })
    }
}

/// Where the new entry of a step waits and where the old one goes.
fn beside<'a>(
    files: &Workspace,
    (source, aside): (&'a mut Parents, &'a mut Parents),
    step: &Step,
) -> Result<(At<'a>, At<'a>), ToolError> {
    let source = source.of(files, &step.source).map_err(|error| refused(&step.source, error))?;
    let aside = aside.of(files, &step.aside).map_err(|error| refused(&step.aside, error))?;
    Ok((source, aside))
}
