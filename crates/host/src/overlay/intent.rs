//! Moves under way, so that a kill leaves the old state or the new one.
//!
//! | phase | on disk | the next start |
//! |---|---|---|
//! | staging | perhaps copies beside the root's files | removes them: the old state |
//! | applying | every new entry, whole, in the layer | finishes the moves: the new state |
//! | rolling back | every former entry, where its move put it | moves them back: the old state |
//!
//! Which moves were made is told by who stands where: a rename keeps inode, size and modification time.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nika_contract::{ToolError, code, pathtext};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, Timespec, Timestamps, openat2, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::moves::Act;
use super::{clean, in_place, marks, sweep};
use crate::fs::{Locked, NotMade, Outcome, Recovered, Stamp, Why, Workspace, read_note};

pub(super) const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) version: u32,
    pub(super) call: String,
    pub(super) phase: Phase,
    /// Directories that are removed when it is settled: layers, and copies beside the root's files.
    pub(super) scratch: Vec<Named>,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    Staging,
    Applying,
    RollingBack,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named(#[serde(with = "pathtext")] pub(super) PathBuf);

/// One move.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    /// In the root.
    #[serde(with = "pathtext")]
    pub(super) target: PathBuf,
    /// Where the new entry comes from. After a swap the old one lies there.
    #[serde(with = "pathtext")]
    pub(super) source: PathBuf,
    /// Where an old entry goes that is not swapped.
    #[serde(with = "pathtext")]
    pub(super) aside: PathBuf,
    pub(super) act: Act,
    /// Who they are: [`identity`].
    pub(super) new: Option<[i64; 4]>,
    pub(super) old: Option<[i64; 4]>,
    /// Rights and modification time before a `Set`.
    pub(super) was: Option<(u32, (i64, u64))>,
    /// The old directory may hold nothing any more.
    #[serde(default)]
    pub(super) emptied: bool,
    /// What exactly must have stood there; known while the process lives.
    #[serde(skip)]
    pub(super) stamp: Option<Stamp>,
}

/// Directories opened a moment ago: many steps in a row share theirs.
#[derive(Debug, Default)]
pub(super) struct Parents {
    last: Option<(PathBuf, OwnedFd)>,
}

impl Parents {
    /// The directory of `path`, in the workspace or else in a directory of our own, and the name in it.
    pub(super) fn of(&mut self, files: &Workspace, path: &Path, own: bool) -> Result<(&OwnedFd, OsString), Errno> {
        // The top of all has no name.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR) };
        if self.last.as_ref().is_none_or(|(last, _)| last != parent) {
            let dir = if own {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
                openat2(CWD, parent, flags, Mode::empty(), resolve)?
            } else {
                files.opened_parent(path)?.0
            };
            self.last = Some((parent.to_path_buf(), dir));
        }
        let (_, dir) = self.last.as_ref().expect("set above");
        Ok((dir, name.to_owned()))
    }
}

pub(super) fn refused(path: &Path, error: Errno) -> ToolError {
    crate::fs::errno(&format!("change {}", path.display()), error, code::WRITE_FAILED)
}

/// The three places of a step, open.
struct Places<'a> {
    target: (&'a OwnedFd, OsString),
    source: (&'a OwnedFd, OsString),
    aside: (&'a OwnedFd, OsString),
}

fn who((dir, name): &(&OwnedFd, OsString)) -> Option<[i64; 4]> {
    statat(dir, name.as_os_str(), AtFlags::SYMLINK_NOFOLLOW).ok().as_ref().map(identity)
}

/// What tells an entry from another that came to its place, and what a rename keeps: the inode, and as inodes are
/// used again, of all but directories the size and modification time.
pub(super) fn identity(stat: &rustix::fs::Stat) -> [i64; 4] {
    let numbers = Stamp::from(stat).as_numbers();
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory {
        return [numbers[0], 0, 0, 0];
    }
    numbers
}

/// Whether a `Set` is still to be made here or is made already: it moves the modification time.
fn is_set_on(stands: Option<[i64; 4]>, step: &Step) -> bool {
    let Act::Set { mtime: Some((sec, nsec)), .. } = step.act else { return stands.is_some() && stands == step.old };
    let after = step.old.map(|[inode, size, ..]| [inode, size, sec, nsec as i64]);
    stands.is_some() && (stands == step.old || stands == after)
}

/// Makes the moves of `intent`, or takes them back.
pub(super) struct Mover<'a> {
    files: &'a Workspace,
    target: Parents,
    source: Parents,
    aside: Parents,
}

impl<'a> Mover<'a> {
    pub(super) fn new(files: &'a Workspace) -> Mover<'a> {
        Mover { files, target: Parents::default(), source: Parents::default(), aside: Parents::default() }
    }

    /// Makes every move that is not made yet. After a kill (`careful`) a path that others changed stays as they
    /// left it; whether there was none such is the answer. Otherwise one is an error.
    pub(super) fn forward(&mut self, steps: &[Step], careful: bool) -> Result<bool, NotMade> {
        let mut whole = true;
        for step in steps {
            let done = match self.places(step) {
                Ok(places) => make(&places, step, careful).map_err(|error| refused(&step.target, error))?,
                // Its directory is gone with what was in it; the other paths can still be finished.
                Err(_) if careful => false,
                Err(error) => return Err(error.into()),
            };
            if !done && !careful {
                return Err(NotMade::Moved(self.files.place(step.target.clone())));
            }
            whole &= done;
        }
        Ok(whole)
    }

    /// Takes every move back that was made, the last one first.
    pub(super) fn back(&mut self, steps: &[Step]) {
        for step in steps.iter().rev() {
            if let Ok(places) = self.places(step) {
                // What cannot be moved back stays; there is nobody left to tell.
                let _ = take_back(&places, step);
            }
        }
    }

    fn places(&mut self, step: &Step) -> Result<Places<'_>, ToolError> {
        let refused_at = |path| move |error| refused(path, error);
        Ok(Places {
            target: self.target.of(self.files, &step.target, false).map_err(refused_at(&step.target))?,
            source: self.source.of(self.files, &step.source, true).map_err(refused_at(&step.source))?,
            aside: self.aside.of(self.files, &step.aside, true).map_err(refused_at(&step.aside))?,
        })
    }
}

/// Whether the path is as the step leaves it.
fn make(places: &Places<'_>, step: &Step, careful: bool) -> Result<bool, Errno> {
    let Places { target, source, aside } = places;
    let stands = who(target);
    match step.act {
        Act::Put => match stands {
            None if who(source) == step.new => match rename(source, target, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(error),
            },
            stands => Ok(stands.is_some() && stands == step.new),
        },
        Act::Remove => match stands {
            Some(_) if stands == step.old => match rename(target, aside, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(careful || is_expected(aside, step)),
                Err(Errno::XDEV) if step.emptied => unmade(target),
                Err(error) => Err(error),
            },
            Some(_) => Ok(false),
            None => Ok(careful && (who(aside) == step.old || is_unmade(step, aside))),
        },
        Act::Swap => {
            if stands.is_some() && stands == step.new {
                return Ok(true);
            }
            if stands.is_some() && stands == step.old && who(source) == step.new {
                let gone_to = match rename(source, target, RenameFlags::EXCHANGE) {
                    Ok(()) => source,
                    // A file system that cannot exchange: two moves, and nothing stands there between them.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                        rename(target, aside, RenameFlags::empty())?;
                        rename(source, target, RenameFlags::empty())?;
                        aside
                    }
                    Err(error @ (Errno::BUSY | Errno::PERM | Errno::ACCESS)) => {
                        return match in_place::write(source, target, aside, step.old) {
                            // What it is not for.
                            Err(Errno::INVAL) => Err(error),
                            written => written,
                        };
                    }
                    Err(Errno::XDEV) if step.emptied => {
                        if !unmade(target)? {
                            return Ok(false);
                        }
                        rename(source, target, RenameFlags::NOREPLACE)?;
                        return Ok(true);
                    }
                    Err(error) => return Err(error),
                };
                return Ok(careful || is_expected(gone_to, step));
            }
            match in_place::begun(source, target, aside, step.old) {
                Some(in_place::Begun::Whole) => return Ok(true),
                Some(in_place::Begun::Part) => return in_place::write_again(source, target).map(|()| true),
                None => {}
            }
            let went = who(aside) == step.old || is_unmade(step, aside);
            if stands.is_none() && who(source) == step.new && went {
                rename(source, target, RenameFlags::empty())?;
                return Ok(true);
            }
            Ok(false)
        }
        Act::Set { mode, mtime } => {
            if !is_set_on(stands, step) {
                return Ok(false);
            }
            set(target, mode, mtime)?;
            Ok(true)
        }
    }
}

fn take_back(places: &Places<'_>, step: &Step) -> Result<(), Errno> {
    let Places { target, source, aside } = places;
    let stands = who(target);
    let ours = stands.is_some() && stands == step.new;
    match step.act {
        Act::Put if ours => rename(target, source, RenameFlags::NOREPLACE),
        // What lies aside came from there, and nowhere else; an overlay may have given it another inode on the way.
        Act::Remove if stands.is_none() && who(aside).is_some() => rename(aside, target, RenameFlags::NOREPLACE),
        Act::Remove if stands.is_none() && is_unmade(step, aside) => made_again(target, step),
        Act::Swap if ours && who(source).is_some() => rename(source, target, RenameFlags::EXCHANGE),
        Act::Swap if ours && who(aside).is_some() => {
            rename(target, source, RenameFlags::empty())?;
            rename(aside, target, RenameFlags::empty())
        }
        Act::Swap if stands.is_none() && who(aside).is_some() => rename(aside, target, RenameFlags::NOREPLACE),
        Act::Swap if in_place::begun(source, target, aside, step.old).is_some() => in_place::write_again(aside, target),
        Act::Swap if stands.is_none() && is_unmade(step, aside) => made_again(target, step),
        Act::Swap if ours && who(source).is_none() && is_unmade(step, aside) => {
            rename(target, source, RenameFlags::NOREPLACE)?;
            made_again(target, step)
        }
        Act::Set { .. } if is_set_on(stands, step) => match step.was {
            Some((mode, mtime)) => set(target, mode, Some(mtime)),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Removes an emptied directory that cannot be renamed: an overlay renames none that is in its lower part. False where
/// something came to lie in it.
fn unmade((dir, name): &(&OwnedFd, OsString)) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(dir, name.as_os_str(), AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an emptied directory that stands nowhere was removed so.
fn is_unmade(step: &Step, aside: &(&OwnedFd, OsString)) -> bool {
    step.emptied && step.old.is_some() && who(aside).is_none()
}

fn made_again(at: &(&OwnedFd, OsString), step: &Step) -> Result<(), Errno> {
    rustix::fs::mkdirat(at.0, at.1.as_os_str(), Mode::RWXU)?;
    step.was.map_or(Ok(()), |(mode, _)| set(at, mode, None))
}

/// Whether what was moved away is what was looked at before.
fn is_expected(at: &(&OwnedFd, OsString), step: &Step) -> bool {
    let Some(stamp) = &step.stamp else { return true };
    let Ok(stat) = statat(at.0, at.1.as_os_str(), AtFlags::SYMLINK_NOFOLLOW) else { return false };
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory {
        return !step.emptied || is_empty(at.0, &at.1);
    }
    Stamp::from(&stat).same_content(stamp)
}

fn is_empty(dir: &OwnedFd, name: &OsStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
        .and_then(rustix::fs::Dir::new)
        .is_ok_and(|entries| entries.flatten().all(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
}

fn rename(from: &(&OwnedFd, OsString), to: &(&OwnedFd, OsString), flags: RenameFlags) -> Result<(), Errno> {
    let go = || rustix::fs::renameat_with(from.0, from.1.as_os_str(), to.0, to.1.as_os_str(), flags);
    match go() {
        Err(Errno::ACCESS | Errno::PERM) => {}
        other => return other,
    }
    // Directories that their owner may not write: the rights are given for this one moment.
    let mut lifted: Vec<(OwnedFd, Mode)> = Vec::new();
    for (dir, name) in [(from.0, OsStr::new(".")), (to.0, OsStr::new(".")), (from.0, &from.1), (to.0, &to.1)] {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(handle) = rustix::fs::openat(dir, name, flags, Mode::empty()) else { continue };
        let Ok(stat) = rustix::fs::fstat(&handle) else { continue };
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        if rustix::fs::chmod(marks::by_handle(&handle), mode | Mode::RWXU).is_ok() {
            lifted.push((handle, mode));
        }
    }
    let done = go();
    for (handle, mode) in lifted.into_iter().rev() {
        let _ = rustix::fs::chmod(marks::by_handle(&handle), mode);
    }
    done
}

fn set(at: &(&OwnedFd, OsString), mode: u32, mtime: Option<(i64, u64)>) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(at.0, at.1.as_os_str(), flags, Mode::empty())?;
    let path = marks::by_handle(&handle);
    let wanted = Mode::from_raw_mode(mode);
    if rustix::fs::fstat(&handle)?.st_mode & 0o7777 != mode {
        rustix::fs::chmod(&path, wanted)?;
    }
    let Some((sec, nsec)) = mtime else { return Ok(()) };
    let omit = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    let last_modification = Timespec { tv_sec: sec, tv_nsec: nsec as _ };
    let times = Timestamps { last_access: omit, last_modification };
    clean::with_rights(&handle, wanted, || rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty()))
}

/// Settles what a dead process left of a layer's moves. Where it cannot, all stays as it is.
pub(crate) fn settle(locked: &Locked<'_>, file: &Path) -> Result<Recovered, Why> {
    let intent: Intent = read_note(file, VERSION)?;
    let mut mover = Mover::new(locked.files());
    let outcome = match intent.phase {
        Phase::Applying => match mover.forward(&intent.steps, true) {
            Ok(true) => Outcome::Finished,
            Ok(false) => Outcome::FinishedInPart,
            Err(error) => return Err(Why::Failed(ToolError::from(error).message)),
        },
        Phase::RollingBack => {
            mover.back(&intent.steps);
            Outcome::RolledBack
        }
        Phase::Staging => Outcome::RolledBack,
    };
    let _ = std::fs::remove_file(file);
    for Named(dir) in &intent.scratch {
        if is_ours(dir) {
            sweep::remove_tree(dir);
        }
    }
    // Another layer of the same call may stand.
    Ok(Recovered { call: intent.call, outcome, is_void: false })
}

/// Layers that unsettled intents name, or may name.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    named: Vec<PathBuf>,
    /// When the last intent was written that does not tell us which it names: one that is older.
    may_be: Option<SystemTime>,
}

impl Wanted {
    /// Whether a layer that was made then must stay.
    pub(super) fn has(&self, dir: &Path, made: Option<SystemTime>) -> bool {
        let may_be = self.may_be.is_some_and(|written| made.is_none_or(|made| made <= written));
        may_be || self.named.iter().any(|named| named == dir)
    }
}

/// What the intents in a directory want.
pub(crate) fn wanted(sets: &Path) -> Wanted {
    let mut wanted = Wanted::default();
    let entries = std::fs::read_dir(sets).into_iter().flatten().flatten().map(|entry| entry.path());
    for note in entries.filter(|path| path.extension().is_some_and(|ext| ext == "layer")) {
        match read_note::<Intent>(&note, VERSION) {
            Ok(intent) => wanted.named.extend(intent.scratch.into_iter().map(|Named(dir)| dir)),
            Err(_) => {
                let written = std::fs::metadata(&note).and_then(|meta| meta.modified()).ok();
                wanted.may_be = wanted.may_be.max(written);
            }
        }
    }
    wanted
}

/// Only directories that we name are ever removed.
fn is_ours(dir: &Path) -> bool {
    dir.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(".nika-") || name.starts_with("nika-"))
}
