//! Change sets: many paths, all or nothing, whatever kills the process.
//!
//! Every new file is written beside its place, whole and synced, under a temporary name; then it changes places with what
//! stands there, as a move of [`crate::moves`], which says what a kill leaves of it and what the next start makes of that.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nika_contract::{Kind, ToolError, code};
use nika_guard::Place;
use rustix::fs::{AtFlags, CWD, OFlags};
use serde::Serialize;

use super::change::Target;
use super::commit::{refused, sync_dir, temp_name};
use super::dirs::{Emptied, Made};
use super::dress::{bare, worn_by_all};
use super::recovered::Why;
use super::unheld::AS_IT_WAS;
use super::{Change, Expect, Fsync, Locked, NotMade, Recovered, Stamp, Workspace, Written, is_guarded, sha256};
use crate::moves::{
    Act, After, Ground, Holds, Identity, Intent, Judged, Mover, Parents, Phase, Step, Stray, is_overlay, settle, wanted,
};
use crate::{overlay, sandbox, scratch};

/// A set that was noted.
#[derive(Debug)]
pub(super) struct NotedSet {
    /// Where it was noted.
    pub(super) file: PathBuf,
    pub(super) intent: Intent,
    /// What could not be removed when it was brought back.
    strays: Vec<Stray>,
    /// Why it could not be brought back: whoever settles it next tries again.
    pub(super) stuck: Option<Stuck>,
}

impl NotedSet {
    /// The directories that it makes.
    pub(super) fn made(&self) -> &[Made] {
        &self.intent.made
    }

    pub(super) fn made_mut(&mut self) -> &mut [Made] {
        &mut self.intent.made
    }
}

/// What keeps a set that failed from being over.
#[derive(Debug)]
pub(crate) enum Stuck {
    /// Not all of it could be brought back.
    Made,
    /// All of it is, and this note still says that it is to be made: it can neither be written nor removed.
    Noted(PathBuf),
}

impl Stuck {
    /// The error of the set, which failed for this reason.
    pub(crate) fn refusal(&self, why: &str) -> ToolError {
        let (what, hint) = match self {
            Stuck::Made => (
                format!(
                    "{}; a part of what was changed before stands, as it could not be taken back",
                    why.trim_end_matches(AS_IT_WAS)
                ),
                "the next call or start tries that again; `undo` takes back what stands then",
            ),
            Stuck::Noted(note) => (
                format!(
                    "{why}; nothing of it stands, but its note {} can neither be changed nor removed, and by that the \
                     next start makes it after all",
                    note.display()
                ),
                "remove the note before that, or take it back with `undo` then",
            ),
        };
        ToolError::new(code::WRITE_FAILED, what).hint(hint)
    }
}

/// Permission bits, and bytes.
type Content<'a> = (u32, &'a [u8]);
/// Where a file stands that goes, and what it was.
type Going<'a> = (&'a Place, &'a Stamp);

/// The files of a set that go: each of them can get one new name in it.
fn going(changes: &[Change]) -> HashMap<Content<'_>, Vec<Going<'_>>> {
    let mut all: HashMap<Content<'_>, Vec<Going<'_>>> = HashMap::new();
    for change in changes {
        let Expect::Is { stamp, bytes, mode, kind: Kind::File, .. } = &change.expect else { continue };
        if !matches!(&change.target, Target::File { bytes: stays, .. } if stays == bytes) {
            all.entry((*mode, bytes.as_slice())).or_default().push((&change.place, stamp));
        }
    }
    all
}

impl Locked<'_> {
    /// Notes what is to be made together, before anything of it is: a kill from here on is settled by the next start.
    pub(super) fn begin_set(
        &mut self,
        call: &str,
        changes: &[Change],
        emptied: &[Place],
    ) -> Result<NotedSet, ToolError> {
        let mut intent = Intent::new(call);
        let roots: Vec<PathBuf> = self.files.roots().map(Path::to_path_buf).collect();
        let grounds = overlay::grounds(&roots, changes.iter().map(|change| &change.place.path));
        intent.grounds = grounds.iter().filter_map(|dir| Ground::of(self.files, dir)).collect();
        intent.made = self.files.missing_above(changes);
        intent.emptied = emptied.iter().map(|place| Emptied(place.path.clone())).collect();
        for change in changes {
            let beside = || change.place.path.with_file_name(temp_name());
            let (old, stamp) = match &change.expect {
                Expect::Absent => (None, None),
                Expect::Is { stamp, .. } => (Some(Identity::of_file(stamp)), Some(*stamp)),
            };
            let act = match (&change.target, &change.expect) {
                (Target::Absent, _) => Act::Remove,
                (_, Expect::Absent) => Act::Put,
                (_, Expect::Is { .. }) => Act::Swap,
            };
            let step = Step::new(change.place.path.clone(), (beside(), beside()), act);
            intent.steps.push(Step { old, stamp, ..step });
        }
        let file = self.files.sets_dir().join(format!("{call}.json"));
        self.save(&file, &intent)?;
        Ok(NotedSet { file, intent, strays: Vec::new(), stuck: None })
    }

    /// Makes verified changes together. Pre-images are kept already.
    pub(super) fn commit_set(
        &mut self,
        begun: &mut NotedSet,
        changes: &[Change],
        written: &mut [Written],
    ) -> Result<(), NotMade> {
        let NotedSet { file, intent, strays, stuck } = begun;
        // Syncing many files takes long enough for somebody to save one of them: look once more, at the
        // last moment before the set decides.
        let staged = self.stage(changes, intent).and_then(|()| self.still_as_expected(changes));
        let done = staged.and_then(|()| {
            intent.phase = Phase::Applying;
            self.save(file, intent)?;
            Mover::new(self.files).make(&intent.steps)?;
            // What stood there still lies beside it, so all can be taken back.
            Ok(intent.judged.iter().try_for_each(|one| one.check(self.files))?)
        });
        if let Err(error) = done {
            if intent.phase == Phase::Applying {
                *stuck = self.bring_back(file, intent).err();
            }
            if stuck.is_none() {
                *strays = Mover::new(self.files).clear(&intent.steps, intent.phase);
            }
            return Err(error);
        }
        let strays = Mover::new(self.files).clear(&intent.steps, intent.phase);
        self.files.remove_emptied(&intent.emptied);
        for (change, written) in changes.iter().zip(written) {
            written.stamp = self
                .files
                .open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW)
                .ok()
                .and_then(|handle| rustix::fs::fstat(&handle).ok().map(|stat| Stamp::from(&stat)));
        }
        self.end(file, intent, strays);
        Ok(())
    }

    /// Takes back what was made of moves that failed, which must not be finished later. Where not all of it is, or the note
    /// says otherwise, nothing of it may be removed: whoever settles it next finds all that it needs.
    pub(crate) fn bring_back(&mut self, file: &Path, intent: &mut Intent) -> Result<(), Stuck> {
        intent.phase = Phase::RollingBack;
        let noted = self.save(file, intent).is_ok();
        match Mover::new(self.files).back(&intent.steps, After::Failure) {
            Ok(_) if noted => Ok(()),
            // A full disk: what is in the note is not so any more.
            Ok(_) if std::fs::remove_file(file).is_ok() || !file.exists() => Ok(()),
            // A disk that may not be written any more.
            Ok(_) => Err(Stuck::Noted(file.to_path_buf())),
            Err(_) => {
                if !noted {
                    let _ = self.save(file, intent);
                }
                Err(Stuck::Made)
            }
        }
    }

    /// Notes anew what is to be made together.
    pub(super) fn save_set(&mut self, begun: &NotedSet) -> Result<(), ToolError> {
        self.save(&begun.file, &begun.intent)
    }

    /// Ends a set of which nothing was made, or that was brought back: with the directories that it made.
    pub(super) fn abandon(&mut self, begun: &NotedSet) {
        self.files.unmake(begun.made());
        self.end(&begun.file, &begun.intent, begun.strays.clone());
    }

    /// Every new file, whole and synced, under its temporary name.
    pub(super) fn stage(&self, changes: &[Change], intent: &mut Intent) -> Result<(), NotMade> {
        let mut going = going(changes);
        let mut parents = Parents::default();
        for (change, step) in changes.iter().zip(&mut intent.steps) {
            if step.act != Act::Put && step.target.parent().is_some_and(is_overlay) {
                parents.copy_up(self.files, &step.target);
            }
            if step.act == Act::Remove {
                continue;
            }
            let (dir, new) = self.files.parent_of(&step.source)?;
            // The very file, with all that it has, or another.
            let file = match self.named_anew(change, (&dir, &new), &mut going) {
                Some(file) => {
                    step.linked = true;
                    file
                }
                None => {
                    let apart = self.files.make_apart(&dir, change, &new)?;
                    if !apart.named {
                        apart.name(&dir, &new).map_err(|error| refused(&change.place, error))?;
                    }
                    apart.file
                }
            };
            let stat = rustix::fs::fstat(&file).map_err(|error| refused(&change.place, error))?;
            step.new = Some(Identity::of(&stat));
            if let Target::File { bytes, .. } = &change.target
                && is_guarded(&change.place)
            {
                // One that is moved keeps all its names.
                let holds = Holds::Content { sha256: sha256(bytes), names: u64::from(stat.st_nlink as u32) };
                intent.judged.push(Judged { path: change.place.path.clone(), holds });
            }
            // The names of the new files must be on the disk before the intent says so.
            if self.files.fsync != Fsync::Off {
                sync_dir(&dir);
            }
        }
        Ok(())
    }

    /// Gives the file that a change moves here its new name: one of the set that goes, with these bytes and rights and all
    /// else that is wanted. Where it cannot be linked, it is written anew.
    fn named_anew<'a>(
        &self,
        change: &'a Change,
        (dir, new): (&OwnedFd, &OsStr),
        going: &mut HashMap<Content<'a>, Vec<Going<'_>>>,
    ) -> Option<File> {
        let Target::File { bytes, mode: Some(mode), dress } = &change.target else { return None };
        let going = going.get_mut(&(*mode, bytes.as_slice())).filter(|going| !going.is_empty())?;
        let standing =
            || worn_by_all(&self.files.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW).ok()?);
        let wanted = match (dress, &change.expect) {
            (Some(dress), _) => Some(dress.clone()),
            (None, Expect::Is { kind: Kind::File, .. }) => standing(),
            (None, _) => Some(bare()),
        };
        let found = going.iter().enumerate().find_map(|(at, (place, stamp))| {
            let file = self.files.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
            let is_it = rustix::fs::fstat(&file).is_ok_and(|stat| Stamp::from(&stat).same_content(stamp));
            // A name of the file that stands in the place already would stay beside it: the kernel renames nothing then.
            let is_there = matches!(&change.expect, Expect::Is { stamp: there, .. } if there.same_file(stamp));
            (is_it && !is_there && worn_by_all(&file) == wanted).then_some((at, file))
        });
        let (at, file) = found?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, path, dir, new, AtFlags::SYMLINK_FOLLOW).ok()?;
        going.remove(at);
        Some(File::from(file))
    }

    /// What stands at every path is still what was verified. A name that a file got for its new place has moved
    /// the change time, so identity, size and modification time decide here.
    fn still_as_expected(&self, changes: &[Change]) -> Result<(), NotMade> {
        for change in changes {
            let stat = match self.files.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW) {
                Ok(handle) => Some(rustix::fs::fstat(&handle).map_err(|error| refused(&change.place, error))?),
                Err(_) => None,
            };
            let same = match (&change.expect, stat) {
                (Expect::Absent, None) => true,
                (Expect::Is { stamp, .. }, Some(stat)) => Stamp::from(&stat).same_content(stamp),
                _ => false,
            };
            if !same {
                return Err(NotMade::Moved(change.place.clone()));
            }
        }
        Ok(())
    }

    pub(crate) fn save(&mut self, file: &Path, intent: &impl Serialize) -> Result<(), ToolError> {
        let broken = |error: std::io::Error| {
            ToolError::new(code::STATE_UNUSABLE, format!("cannot note the change set in {}: {error}", file.display()))
        };
        self.note_under_way();
        let temp = file.with_extension("tmp");
        let json = serde_json::to_vec(intent).map_err(|error| broken(error.into()))?;
        let written = self.write_note(&temp, &json).and_then(|()| std::fs::rename(&temp, file));
        if let Err(error) = written {
            // On a full disk, half of it.
            let _ = std::fs::remove_file(&temp);
            if !file.exists() {
                self.settled();
            }
            return Err(broken(error));
        }
        if self.files.fsync != Fsync::Off {
            File::open(self.files.sets_dir()).and_then(|dir| dir.sync_all()).map_err(broken)?;
        }
        Ok(())
    }

    fn write_note(&self, file: &Path, json: &[u8]) -> std::io::Result<()> {
        let mut out = File::create(file)?;
        out.write_all(json)?;
        if self.files.fsync == Fsync::Off { Ok(()) } else { out.sync_data() }
    }

    pub(crate) fn finish(&mut self, file: &Path) {
        let _ = std::fs::remove_file(file);
        self.settled();
    }

    /// Says that none is under way any more.
    pub(crate) fn settled(&mut self) {
        self.note_settled();
        self.state.sets_mtime = self.files.sets_mtime();
    }

    /// Settles what dead processes left. Called with the lock held; costs one `stat` when nothing changed.
    pub(super) fn settle_orphans(&mut self) {
        let mtime = self.files.sets_mtime();
        if mtime.is_none() || mtime == self.state.sets_mtime {
            return;
        }
        let mut settled = Vec::new();
        let entries = std::fs::read_dir(self.files.sets_dir()).into_iter().flatten().flatten();
        // All of them first: a note may be written anew.
        let entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        for path in entries {
            match path.extension().and_then(|ext| ext.to_str()) {
                Some("json") => settled.push((settle(self, &path), path)),
                Some("inflight") => self.settle_inflight(&path),
                Some("tmp") => drop(std::fs::remove_file(&path)),
                _ => {}
            }
        }
        if !settled.is_empty() {
            for (settled, note) in settled {
                match settled {
                    Ok(recovered) => recovered.into_iter().for_each(|one| self.files.tell(one)),
                    Err(why) => self.leave(note, why),
                }
            }
            self.note_settled();
        }
        self.state.sets_mtime = self.files.sets_mtime();
    }
}

impl Workspace {
    /// Settles what interrupted change sets left, at start. The lock is one for all workspaces, and who holds it settles
    /// only those of its own: where one is to be settled here, this waits for it. Nothing else is worth waiting for, as what
    /// lies beside whole files does no harm.
    pub(super) fn recover(&self, patience: Duration) {
        let wanted = wanted(&self.sets_dir());
        overlay::orphans(&self.state, &wanted);
        scratch::orphans(&self.state);
        self.roots().for_each(sandbox::clear_left);
        let empty = std::fs::read_dir(self.sets_dir()).is_ok_and(|mut entries| entries.next().is_none());
        if empty {
            return;
        }
        let can_be_settled = wanted.unsettled.iter().any(|(_, unusable)| unusable.is_none());
        let why = match self.lock_within(if can_be_settled { patience } else { Duration::ZERO }) {
            Ok(Some(_)) => return,
            Ok(None) => Why::Busy,
            Err(error) => Why::Failed(error.message),
        };
        // The set of a process that lives may have been made meanwhile.
        for (note, unusable) in wanted.unsettled.into_iter().filter(|(note, _)| note.exists()) {
            self.tell(Recovered::left(note, unusable.unwrap_or_else(|| why.clone())));
        }
    }

    pub(crate) fn sets_dir(&self) -> PathBuf {
        self.state.join("sets")
    }

    pub(super) fn sets_mtime(&self) -> Option<(i64, u64)> {
        let stat = rustix::fs::stat(self.sets_dir()).ok()?;
        Some((stat.st_mtime, stat.st_mtime_nsec))
    }

    /// What stands at an entry, a link not followed, for undo and for deleting. `None` where nothing does.
    pub fn look(
        &self,
        permit: &nika_guard::Permit,
        place: &Place,
        max_bytes: u64,
    ) -> Result<Option<Expect>, ToolError> {
        self.covered(permit.covers_read(&place.path), place)?;
        let handle = match self.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW) {
            Ok(handle) => handle,
            Err(error) if super::is_absence(error) => return Ok(None),
            Err(error) => return Err(super::errno(&format!("read {}", place.shown()), error, code::READ_FAILED)),
        };
        let stat = rustix::fs::fstat(&handle)
            .map_err(|error| super::errno(&format!("read {}", place.shown()), error, code::READ_FAILED))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Symlink {
            let target = rustix::fs::readlinkat(&handle, "", Vec::new())
                .map_err(|error| super::errno(&format!("read {}", place.shown()), error, code::READ_FAILED))?;
            let bytes = target.into_bytes();
            return Ok(Some(Expect::Is {
                stamp: Stamp::from(&stat),
                hash: sha256(&bytes),
                bytes,
                mode: stat.st_mode & 0o7777,
                owner: (stat.st_uid, stat.st_gid),
                links: 1,
                kind: Kind::Link,
            }));
        }
        let now = self.read_file(permit, place, max_bytes)?;
        let hash = sha256(&now.bytes);
        Ok(Some(Expect::of(now, hash)))
    }
}
