//! Change sets: many paths, all or nothing, whatever kills the process.
//!
//! An *intent* in the state directory says what is under way. It is written before anything and again at
//! the one moment that decides:
//!
//! | phase | on disk | the next start |
//! |---|---|---|
//! | staging | some temporary files, and directories for them | removes them: the old state |
//! | committing | every temporary file, synced | finishes the renames: the new state |
//! | rolling back | a second name for every former file | renames those back: the old state |
//!
//! Whoever holds the workspace's lock and finds an intent knows that its writer is dead.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nika_contract::{Kind, ToolError, code, pathtext};
use nika_guard::Place;
use rustix::fs::{AtFlags, CWD, OFlags, RenameFlags};
use serde::{Deserialize, Serialize};

use super::change::Target;
use super::commit::{refused, sync_dir, temp_name};
use super::dirs::{Emptied, Made};
use super::dress::{bare, worn_by_all};
use super::recovered::{Outcome, Recovered, Why, read_note};
use super::{Change, Expect, Fsync, Locked, NotMade, Stamp, Workspace, Written, sha256};
use crate::{overlay, sandbox, scratch};

#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    version: u32,
    call: String,
    phase: Phase,
    /// Directories that it makes, each before what goes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<Made>,
    /// Directories that it leaves empty, the deepest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    emptied: Vec<Emptied>,
    steps: Vec<Step>,
}

/// A set that was noted.
#[derive(Debug)]
pub(super) struct Begun {
    /// Where it was noted.
    pub(super) file: PathBuf,
    intent: Intent,
}

impl Begun {
    /// The directories that it makes.
    pub(super) fn made(&self) -> &[Made] {
        &self.intent.made
    }

    pub(super) fn made_mut(&mut self) -> &mut [Made] {
        &mut self.intent.made
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Staging,
    Committing,
    RollingBack,
}

/// One path of a set. Temporary names lie in the path's own directory.
#[derive(Debug, Serialize, Deserialize)]
struct Step {
    #[serde(with = "pathtext")]
    path: PathBuf,
    /// The new file until it is renamed; `None` when the path is to be absent.
    new: Option<String>,
    /// A second name for what stood there; `None` when nothing did.
    old: Option<String>,
    /// sha256, as hex, of what stood there and what shall.
    before: Option<String>,
    after: Option<String>,
}

const VERSION: u32 = 1;

fn hex(hash: [u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Locked<'_> {
    /// Notes what is to be made together, before anything of it is: a kill from here on is settled by the next start.
    pub(super) fn begin_set(&mut self, call: &str, changes: &[Change], emptied: &[Place]) -> Result<Begun, ToolError> {
        let mut intent = Intent {
            version: VERSION,
            call: call.to_owned(),
            phase: Phase::Staging,
            made: self.files.missing_above(changes),
            emptied: emptied.iter().map(|place| Emptied(place.path.clone())).collect(),
            steps: Vec::new(),
        };
        for change in changes {
            intent.steps.push(Step {
                path: change.place.path.clone(),
                new: (!matches!(change.target, Target::Absent)).then(temp_name),
                old: (!matches!(change.expect, Expect::Absent)).then(temp_name),
                before: change.expect.hash().map(hex),
                after: match &change.target {
                    Target::File { bytes, .. } | Target::Link(bytes) => Some(hex(sha256(bytes))),
                    Target::Absent => None,
                },
            });
        }
        let file = self.files.sets_dir().join(format!("{call}.json"));
        self.save(&file, &intent)?;
        Ok(Begun { file, intent })
    }

    /// Makes verified changes together. Pre-images are kept already.
    pub(super) fn commit_set(
        &mut self,
        begun: &mut Begun,
        changes: &[Change],
        written: &mut [Written],
    ) -> Result<(), NotMade> {
        let Begun { file, intent } = begun;
        // Syncing many files takes long enough for somebody to save one of them: look once more, at the
        // last moment before the set decides.
        let staged = self.stage(changes, intent).and_then(|()| self.still_as_expected(changes));
        let done = staged.and_then(|()| {
            intent.phase = Phase::Committing;
            self.save(file, intent)?;
            Ok(self.forward(intent, false).map(drop)?)
        });
        if let Err(error) = done {
            if intent.phase == Phase::Committing {
                intent.phase = Phase::RollingBack;
                // Brought back even when that cannot be noted: a set that failed must not be finished later.
                let _ = self.save(file, intent);
            }
            self.back(intent, false);
            return Err(error);
        }
        for (change, written) in changes.iter().zip(written) {
            written.stamp = self
                .files
                .open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW)
                .ok()
                .and_then(|handle| rustix::fs::fstat(&handle).ok().map(|stat| Stamp::from(&stat)));
        }
        self.finish(file);
        Ok(())
    }

    /// Notes anew what is to be made together.
    pub(super) fn save_set(&mut self, begun: &Begun) -> Result<(), ToolError> {
        self.save(&begun.file, &begun.intent)
    }

    /// Ends a set of which nothing was made, or that was brought back: with the directories that it made.
    pub(super) fn abandon(&mut self, begun: &Begun) {
        self.files.unmake(begun.made());
        self.finish(&begun.file);
    }

    /// Every new file, whole and synced, under its temporary name; every former one under a second name.
    fn stage(&self, changes: &[Change], intent: &Intent) -> Result<(), NotMade> {
        let mut moved = Vec::new();
        for (change, step) in changes.iter().zip(&intent.steps) {
            let (dir, name) = self.files.parent_of(&change.place.path)?;
            if let Some(old) = &step.old {
                self.second_name(change, &dir, &name, old)?;
            }
            let Some(new) = &step.new else { continue };
            if self.named_anew(changes, change, (&dir, new), &mut moved) {
                // It is the very file, with all that it has.
            } else {
                let apart = self.files.make_apart(&dir, change, new)?;
                if !apart.named {
                    apart.name(&dir, new.as_ref()).map_err(|error| refused(&change.place, error))?;
                }
            }
            // The names of the new files must be on the disk before the intent says so.
            if self.files.fsync != Fsync::Off {
                sync_dir(&dir);
            }
        }
        Ok(())
    }

    /// Gives the file that a change moves here its new name: one of the set that goes, with these bytes and rights and all
    /// else that is wanted. `moved` are those that went elsewhere. Where it cannot be linked, it is written anew.
    fn named_anew(
        &self,
        changes: &[Change],
        change: &Change,
        (dir, new): (&OwnedFd, &str),
        moved: &mut Vec<usize>,
    ) -> bool {
        let Target::File { bytes, mode: Some(mode), dress } = &change.target else { return false };
        let standing =
            || worn_by_all(&self.files.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW).ok()?);
        let wanted = match (dress, &change.expect) {
            (Some(dress), _) => Some(dress.clone()),
            (None, Expect::Is { kind: Kind::File, .. }) => standing(),
            (None, _) => Some(bare()),
        };
        let mut going = changes.iter().enumerate().filter(|(at, _)| !moved.contains(at));
        let found = going.find_map(|(at, from)| {
            let Expect::Is { stamp, bytes: was, mode: had, kind: Kind::File, .. } = &from.expect else { return None };
            let stays = matches!(&from.target, Target::File { bytes, .. } if bytes == was);
            let goes = !stays && had == mode && was == bytes;
            let file = goes.then(|| self.files.open_exact(&from.place.path, OFlags::PATH | OFlags::NOFOLLOW));
            let file = file?.ok()?;
            let is_it = rustix::fs::fstat(&file).is_ok_and(|stat| Stamp::from(&stat).same_content(stamp));
            // A name of the file that stands in the place already would stay beside it: the kernel renames nothing then.
            let is_there = matches!(&change.expect, Expect::Is { stamp: there, .. } if there.same_file(stamp));
            (is_it && !is_there && worn_by_all(&file) == wanted).then_some((at, file))
        });
        let Some((at, file)) = found else { return false };
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let linked = rustix::fs::linkat(CWD, path, dir, new, AtFlags::SYMLINK_FOLLOW).is_ok();
        if linked {
            moved.push(at);
        }
        linked
    }

    /// Another name for what stands there, to go back to. Where the file system has no hard links, or will
    /// not link this file, a copy.
    fn second_name(&self, change: &Change, dir: &OwnedFd, name: &OsStr, old: &str) -> Result<(), NotMade> {
        if rustix::fs::linkat(dir, name, dir, old, AtFlags::empty()).is_ok() {
            return Ok(());
        }
        let Expect::Is { bytes, mode, kind, .. } = &change.expect else { return Ok(()) };
        if *kind == Kind::Link {
            return self.files.link(dir, &change.place, bytes, old.as_ref()).map(drop);
        }
        let target = Target::File { bytes: bytes.clone(), mode: Some(*mode), dress: None };
        let copy = Change { place: change.place.clone(), expect: change.expect.clone(), target };
        let apart = self.files.write_apart(dir, &copy, old)?;
        if !apart.named {
            apart.name(dir, old.as_ref()).map_err(|error| refused(&change.place, error))?;
        }
        Ok(())
    }

    /// What stands at every path is still what was verified. The second name has moved the change time, so
    /// identity, size and modification time decide here.
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

    /// Finishes a committing set. After a kill a path may have been changed by others: `careful` leaves
    /// such a path as it is. Whether every path could be finished is the answer.
    fn forward(&self, intent: &Intent, careful: bool) -> Result<bool, ToolError> {
        let mut whole = true;
        for step in &intent.steps {
            let place = self.files.place(step.path.clone());
            let (dir, name) = match self.files.parent_of(&step.path) {
                Ok(found) => found,
                // Its directory is gone with what was in it; the other paths can still be finished.
                Err(_) if careful => {
                    whole = false;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let ours = !careful || self.stands(&step.path, &step.before) || self.stands(&step.path, &step.after);
            whole &= ours;
            match &step.new {
                Some(new) if ours => match self.rename(&dir, new, &name, !careful && step.before.is_none()) {
                    Ok(()) => {}
                    Err(rustix::io::Errno::NOENT) if careful => {}
                    Err(error) => return Err(refused(&place, error)),
                },
                Some(new) => self.files.discard(&step.path, new),
                None if ours => match rustix::fs::unlinkat(&dir, &name, AtFlags::empty()) {
                    Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                    Err(error) => return Err(refused(&place, error)),
                },
                None => {}
            }
        }
        for step in &intent.steps {
            if let Some(old) = &step.old {
                self.files.discard(&step.path, old);
            }
        }
        self.files.remove_emptied(&intent.emptied);
        Ok(whole)
    }

    fn rename(&self, dir: &OwnedFd, from: &str, to: &OsStr, onto_nothing: bool) -> rustix::io::Result<()> {
        if onto_nothing {
            return rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE);
        }
        rustix::fs::renameat(dir, from, dir, to)
    }

    /// Brings a set back to where it began. After a kill a path that others changed stays as they left it.
    fn back(&self, intent: &Intent, careful: bool) {
        for step in &intent.steps {
            let ours = !careful || self.stands(&step.path, &step.before) || self.stands(&step.path, &step.after);
            if intent.phase == Phase::RollingBack
                && ours
                && let Ok((dir, name)) = self.files.parent_of(&step.path)
            {
                match &step.old {
                    // Two names of one file: rename would do nothing, so the discard below removes it.
                    Some(old) => drop(rustix::fs::renameat(&dir, old, &dir, &name)),
                    None if self.stands(&step.path, &step.after) => {
                        let _ = rustix::fs::unlinkat(&dir, &name, AtFlags::empty());
                    }
                    None => {}
                }
            }
            for temp in [&step.new, &step.old].into_iter().flatten() {
                self.files.discard(&step.path, temp);
            }
        }
    }

    /// Whether exactly this stands at `path`.
    fn stands(&self, path: &Path, hash: &Option<String>) -> bool {
        let Ok(handle) = self.files.open_exact(path, OFlags::PATH | OFlags::NOFOLLOW) else { return hash.is_none() };
        let Some(hash) = hash else { return false };
        let bytes = match rustix::fs::readlinkat(&handle, "", Vec::new()) {
            Ok(target) => Some(target.into_bytes()),
            Err(_) => Workspace::reopen(&handle).ok().and_then(|mut file| {
                let mut bytes = Vec::new();
                std::io::Read::read_to_end(&mut file, &mut bytes).ok().map(|_| bytes)
            }),
        };
        bytes.is_some_and(|bytes| hex(sha256(&bytes)) == *hash)
    }

    pub(crate) fn save(&mut self, file: &Path, intent: &impl Serialize) -> Result<(), ToolError> {
        let broken = |error: std::io::Error| {
            ToolError::new(code::STATE_UNUSABLE, format!("cannot note the change set in {}: {error}", file.display()))
        };
        self.note_under_way();
        let temp = file.with_extension("tmp");
        let json = serde_json::to_vec(intent).map_err(|error| broken(error.into()))?;
        let mut out = File::create(&temp).map_err(broken)?;
        out.write_all(&json).map_err(broken)?;
        if self.files.fsync != Fsync::Off {
            out.sync_data().map_err(broken)?;
        }
        std::fs::rename(&temp, file).map_err(broken)?;
        if self.files.fsync != Fsync::Off {
            File::open(self.files.sets_dir()).and_then(|dir| dir.sync_all()).map_err(broken)?;
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, file: &Path) {
        let _ = std::fs::remove_file(file);
        self.note_settled();
        self.state.sets_mtime = self.files.sets_mtime();
    }

    /// Settles what dead processes left. Called with the lock held; costs one `stat` when nothing changed.
    pub(super) fn settle_orphans(&mut self) {
        let mtime = self.files.sets_mtime();
        if mtime.is_none() || mtime == self.state.sets_mtime {
            return;
        }
        let own_inflight = self.files.inflight_path();
        let mut settled = Vec::new();
        let entries = std::fs::read_dir(self.files.sets_dir()).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| *path != own_inflight) {
            match path.extension().and_then(|ext| ext.to_str()) {
                Some("json") => settled.push((self.settle_set(&path), path)),
                Some("layer") => settled.push((overlay::settle(self, &path), path)),
                Some("inflight") => {
                    // We hold the lock, so whoever wrote this is between two changes or dead.
                    if let Ok(note) = std::fs::read(&path) {
                        self.files.settle_inflight(&note);
                    }
                    if !self.files.lives(&path) {
                        let _ = std::fs::remove_file(&path);
                    }
                }
                Some("tmp") => drop(std::fs::remove_file(&path)),
                _ => {}
            }
        }
        if !settled.is_empty() {
            for (settled, note) in settled {
                match settled {
                    Ok(recovered) => self.state.recovered.push(recovered),
                    Err(why) => self.leave(note, why),
                }
            }
            self.note_settled();
        }
        self.state.sets_mtime = self.files.sets_mtime();
    }

    /// Settles a set that was interrupted. Where it cannot, all stays as it is.
    fn settle_set(&self, file: &Path) -> Result<Recovered, Why> {
        let intent: Intent = read_note(file, VERSION)?;
        let outcome = match intent.phase {
            Phase::Committing => match self.forward(&intent, true) {
                Ok(true) => Outcome::Finished,
                Ok(false) => Outcome::FinishedInPart,
                Err(error) => return Err(Why::Failed(error.message)),
            },
            Phase::Staging | Phase::RollingBack => {
                self.back(&intent, true);
                self.files.unmake(&intent.made);
                Outcome::RolledBack
            }
        };
        let is_void = match intent.phase {
            Phase::Staging => true,
            Phase::Committing => false,
            // What others changed on top of it stays.
            Phase::RollingBack => intent.steps.iter().all(|step| self.stands(&step.path, &step.before)),
        };
        let _ = std::fs::remove_file(file);
        Ok(Recovered { call: intent.call, outcome, is_void })
    }
}

impl Workspace {
    /// Settles what an interrupted change set left, at start. Whoever holds the lock now has settled it
    /// already, so nobody waits here.
    pub(super) fn recover(&self) {
        overlay::orphans(&self.state, &overlay::wanted(&self.sets_dir()));
        scratch::orphans(&self.state);
        self.roots().for_each(sandbox::clear_left);
        let empty = std::fs::read_dir(self.sets_dir()).is_ok_and(|mut entries| entries.next().is_none());
        if !empty {
            drop(self.lock_within(std::time::Duration::ZERO));
        }
    }

    pub(crate) fn sets_dir(&self) -> PathBuf {
        self.state.join("sets")
    }

    pub(super) fn sets_mtime(&self) -> Option<(i64, u64)> {
        let stat = rustix::fs::stat(self.sets_dir()).ok()?;
        Some((stat.st_mtime, stat.st_mtime_nsec))
    }

    /// Whether the process that a note is named for lives.
    fn lives(&self, note: &Path) -> bool {
        let pid = note.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        pid.and_then(rustix::process::Pid::from_raw).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }

    /// Removes a temporary name beside `path`. Only names that we make are ever removed.
    pub(super) fn discard(&self, path: &Path, temp: &str) {
        if temp.starts_with(".nika-")
            && temp.ends_with(".tmp")
            && let Ok((dir, _)) = self.parent_of(path)
        {
            let _ = rustix::fs::unlinkat(&dir, temp, AtFlags::empty());
        }
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
