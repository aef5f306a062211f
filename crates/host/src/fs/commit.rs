//! Changes, made: verified, kept for undo, written apart, renamed into place.
//!
//! ```text
//! lock ─▶ verify ─▶ keep pre-image ─▶ write a nameless file ─▶ sync ─▶ name it ─▶ verify again ─▶ exchange
//!      ─▶ verify what came out ─▶ remove it
//! ```
//!
//! Another file, not the same one written in place: a crash between truncate and write would lose both versions. Its name
//! is exchanged with the old one's, so that what others changed at the last moment is seen and put back, where a rename
//! would have dropped it. The new file has no name until it is whole, so a kill leaves nothing behind but, within a few
//! microseconds, one temporary name that the next start removes. A link has one from the start, and is whole with it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::{Cx, Kind, Preimage, ToolError, code};
use nika_guard::Place;
use rustix::fs::{Access, AtFlags, CWD, FallocateFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::change::Target;
use super::dirs::keep_made;
use super::dress::{dress, wear, worn, worn_by_all};
use super::sets::NotedSet;
use super::unheld::unheld;
use super::{Change, Expect, Fsync, Locked, Stamp, Workspace, Written, errno, is_absence, land, put_away, sha256};

/// Why a change was not made.
#[derive(Debug)]
pub enum NotMade {
    /// What stands there is not what was expected: look again.
    Moved(Place),
    /// Anything else.
    Refused(ToolError),
}

impl From<ToolError> for NotMade {
    fn from(error: ToolError) -> NotMade {
        NotMade::Refused(error)
    }
}

impl From<NotMade> for ToolError {
    fn from(not_made: NotMade) -> ToolError {
        match not_made {
            NotMade::Refused(error) => error,
            NotMade::Moved(place) => ToolError::new(
                code::CHANGED_SINCE_READ,
                format!("{} kept changing while it was being written", place.shown()),
            )
            .hint("read it again and repeat the change"),
        }
    }
}

impl Locked<'_> {
    /// Makes one change, or several as one: all of them or none.
    pub fn commit(&mut self, cx: &Cx<'_>, changes: Vec<Change>) -> Result<Vec<Written>, NotMade> {
        self.commit_and_empty(cx, changes, &[])
    }

    /// The same, and of the directories `emptied` go those in which nothing is left then: the deepest stand first.
    pub fn commit_and_empty(
        &mut self,
        cx: &Cx<'_>,
        changes: Vec<Change>,
        emptied: &[Place],
    ) -> Result<Vec<Written>, NotMade> {
        for change in &changes {
            self.can_make(cx, change)?;
        }
        for dir in emptied {
            self.files.covered(cx.permit.covers_write(&dir.path), dir)?;
        }
        let together = changes.len() > 1 || !emptied.is_empty();
        let mut begun = if together { Some(self.begin_set(&cx.call.0, &changes, emptied)?) } else { None };
        let mut made = Vec::new();
        match self.carry_out(cx, &changes, &mut begun, &mut made) {
            Ok(written) => Ok(written),
            Err(error) => {
                if let Some(stuck) = begun.as_ref().and_then(|begun| begun.stuck.as_ref()) {
                    cx.undo.stands();
                    return Err(NotMade::Refused(stuck.refusal(&ToolError::from(error).message)));
                }
                // Nothing of it was staged, or it was brought back.
                begun.iter().for_each(|begun| self.abandon(begun));
                // The deepest first; one that somebody else has put something in stays.
                for dir in made.iter().rev() {
                    if let Ok((above, name)) = self.files.parent_of(dir) {
                        let _ = rustix::fs::unlinkat(&above, &name, AtFlags::REMOVEDIR);
                    }
                }
                Err(error)
            }
        }
    }

    /// Whether a change is allowed, and what it expects stands there.
    pub fn can_make(&self, cx: &Cx<'_>, change: &Change) -> Result<(), NotMade> {
        self.files.covered(cx.permit.covers_write(&change.place.path), &change.place)?;
        self.files.writable(&change.place)?;
        self.verify(change)?;
        Ok(self.files.replaceable(change)?)
    }

    /// `made`: the directories that were missing above a new file that comes alone.
    fn carry_out(
        &mut self,
        cx: &Cx<'_>,
        changes: &[Change],
        begun: &mut Option<NotedSet>,
        made: &mut Vec<PathBuf>,
    ) -> Result<Vec<Written>, NotMade> {
        let mut written = changes.iter().map(|change| self.keep(cx, change)).collect::<Result<Vec<_>, _>>()?;
        match (changes, begun.as_mut()) {
            (many, Some(begun)) => {
                self.make_dirs(cx, begun)?;
                self.commit_set(begun, many, &mut written)?;
            }
            ([only], None) if matches!(only.target, Target::Absent) => self.take_away(only)?,
            ([only], None) => {
                self.make_parents(cx, &only.place, made)?;
                match self.put(only)? {
                    Some(stamp) => written[0].stamp = Some(stamp),
                    // Two moves, then, and what a kill leaves between them is settled as of a set.
                    None => {
                        let begun = begun.insert(self.begin_set(&cx.call.0, changes, &[])?);
                        self.commit_set(begun, changes, &mut written)?;
                    }
                }
            }
            (_, None) => {}
        }
        Ok(written)
    }

    /// What stands there is what the change expects.
    fn verify(&self, change: &Change) -> Result<(), NotMade> {
        let stat = match self.files.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW) {
            Ok(handle) => Some(rustix::fs::fstat(&handle).map_err(|error| refused(&change.place, error))?),
            Err(error) if is_absence(error) => None,
            Err(error) => return Err(refused(&change.place, error).into()),
        };
        match (&change.expect, stat) {
            (Expect::Absent, None) => Ok(()),
            (Expect::Is { stamp, .. }, Some(stat)) if Stamp::from(&stat) == *stamp => Ok(()),
            _ => Err(NotMade::Moved(change.place.clone())),
        }
    }

    /// Keeps what stands there, before anything is changed.
    fn keep(&self, cx: &Cx<'_>, change: &Change) -> Result<Written, ToolError> {
        let after = match &change.target {
            Target::File { bytes, .. } | Target::Link(bytes) => Some(sha256(bytes)),
            Target::Absent => None,
        };
        let (bytes, hash, mode, links, kind) = match &change.expect {
            Expect::Absent => {
                let kind = if matches!(change.target, Target::Link(_)) { Kind::Link } else { Kind::File };
                (None, None, None, 0, kind)
            }
            Expect::Is { bytes, hash, mode, links, kind, .. } => {
                (Some(bytes.as_slice()), Some(*hash), Some(*mode), *links, *kind)
            }
        };
        let mode_left = match &change.target {
            Target::File { mode: wanted, .. } => wanted.or(mode.filter(|_| kind == Kind::File)),
            Target::Link(_) | Target::Absent => None,
        };
        let handle = || self.files.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW).ok();
        let dress = match (&change.expect, &change.target) {
            (Expect::Is { kind: Kind::File, .. }, Target::Absent | Target::Link(_)) => {
                handle().and_then(|it| worn(&it))
            }
            // What comes in its place brings its own along.
            (Expect::Is { kind: Kind::File, .. }, Target::File { dress, mode, .. })
                if dress.is_some() || mode.is_some() =>
            {
                handle().and_then(|it| worn_by_all(&it))
            }
            // What stays a file keeps it.
            _ => None,
        };
        let (path, dress) = (change.place.path.as_path(), dress.as_ref());
        let linked = links > 1;
        cx.undo.keep(&Preimage { path, kind, bytes, hash, mode, mode_left, after, more: None, dress, linked })?;
        Ok(Written {
            place: change.place.clone(),
            before: hash,
            after,
            stamp: None,
            other_names: links.saturating_sub(1),
        })
    }

    /// The directories above a new file, each noted for undo.
    fn make_parents(&self, cx: &Cx<'_>, place: &Place, made: &mut Vec<PathBuf>) -> Result<(), ToolError> {
        let Some(parent) = place.path.parent() else { return Ok(()) };
        if self.files.open_exact(parent, OFlags::PATH | OFlags::DIRECTORY).is_ok() {
            return Ok(());
        }
        let mut missing: Vec<&Path> = Vec::new();
        let mut at = parent;
        while self.files.open_exact(at, OFlags::PATH | OFlags::DIRECTORY).is_err() {
            missing.push(at);
            at = at.parent().ok_or_else(|| ToolError::new(code::WRITE_FAILED, "no directory above it exists"))?;
        }
        for dir in missing.into_iter().rev() {
            let (above, name) = self.files.parent_of(dir)?;
            match rustix::fs::mkdirat(&above, &name, Mode::from_raw_mode(0o777)) {
                Ok(()) => {
                    made.push(dir.to_path_buf());
                    keep_made(cx, dir)?;
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(self.cannot_make(dir, error)),
            }
        }
        Ok(())
    }

    /// Makes what one change puts in its place. `None` where the file system exchanges no names: nothing is made then.
    fn put(&mut self, change: &Change) -> Result<Option<Stamp>, NotMade> {
        let (dir, name) = self.files.parent_of(&change.place.path)?;
        let file = match (&change.target, &change.expect) {
            // A link is whole as soon as it has a name.
            (Target::Link(to), Expect::Absent) => Some(self.files.link(&dir, &change.place, to, &name)?),
            _ => self.put_apart(change, (&dir, &name))?,
        };
        let Some(file) = file else { return Ok(None) };
        if self.files.fsync == Fsync::Full {
            sync_dir(&dir);
        }
        let stat = rustix::fs::fstat(&file).map_err(|error| refused(&change.place, error))?;
        Ok(Some(Stamp::from(&stat)))
    }

    /// Writes a file apart, or makes a link there, and renames it into place. `None` where names cannot be exchanged.
    fn put_apart(&mut self, change: &Change, (dir, name): (&OwnedFd, &OsStr)) -> Result<Option<File>, NotMade> {
        let temp = temp_name();
        self.note_inflight(change.place.path.parent(), &temp);
        let remove = || rustix::fs::unlinkat(dir, &temp, AtFlags::empty());
        let apart = self.files.make_apart(dir, change, temp.as_ref()).inspect_err(|_| {
            let _ = remove();
        });
        let placed = apart.and_then(|apart| {
            let in_place = self.place(change, (dir, name), &temp, &apart);
            // Under the temporary name may stand what others wrote: only ours is removed.
            if !matches!(in_place, Ok(Placed::Named)) && apart.stands(dir, temp.as_ref()) {
                let _ = remove();
            }
            in_place.map(|placed| match placed {
                Placed::Named => Some(apart.file),
                Placed::Written(file) => Some(file),
                Placed::CannotExchange => None,
            })
        });
        self.note_over(dir, &temp);
        placed
    }

    /// Gives a whole file its name. Where the name that stands there cannot be taken from its file, that is written
    /// instead.
    pub(super) fn place(
        &mut self,
        change: &Change,
        (dir, name): (&OwnedFd, &OsStr),
        temp: &str,
        apart: &Apart,
    ) -> Result<Placed, NotMade> {
        let what = |error: Errno| match error {
            // Something came to stand there meanwhile: nothing is ever overwritten unseen.
            Errno::EXIST => NotMade::Moved(change.place.clone()),
            error => NotMade::Refused(refused(&change.place, error)),
        };
        if matches!(change.expect, Expect::Absent) {
            // A nameless file had no name before that somebody could open it by.
            if !apart.named {
                return apart.name(dir, name).map(|()| Placed::Named).map_err(what);
            }
            land((dir, temp.as_ref()), (dir, name)).map_err(what)?;
            let unheld = self.files.unheld(change, (dir, name), 1);
            if unheld.is_err() && apart.stands(dir, name) {
                let _ = rustix::fs::unlinkat(dir, name, AtFlags::empty());
            }
            return unheld.map(|()| Placed::Named).map_err(NotMade::Refused);
        }
        self.note_exchange(&change.place.path, temp, Some(&apart.file), &change.expect);
        if !apart.named {
            apart.name(dir, temp.as_ref()).map_err(what)?;
        }
        self.verify(change)?;
        match rustix::fs::renameat_with(dir, temp, dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => self.came_out(change, (dir, name), temp, apart).map(|()| Placed::Named),
            // Not every file system exchanges names, and a rename would drop unseen what others wrote there since the look.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(Placed::CannotExchange),
            Err(Errno::NOENT) => Err(NotMade::Moved(change.place.clone())),
            // A file that is mounted by itself, or another user's in a directory like `/tmp`.
            Err(error @ (Errno::BUSY | Errno::PERM | Errno::ACCESS)) => {
                self.write_in_place(change, (dir, name)).unwrap_or_else(|| Err(what(error))).map(Placed::Written)
            }
            Err(error) => Err(what(error)),
        }
    }

    /// Writes a file whose name is not ours to exchange. A kill in between leaves a part of it written; what stood there is
    /// in the undo store. `None` where it cannot be written either, or has other names, which would change with it.
    fn write_in_place(&self, change: &Change, (dir, name): (&OwnedFd, &OsStr)) -> Option<Result<File, NotMade>> {
        let (Target::File { bytes, mode, .. }, Expect::Is { stamp, bytes: before, links: 1, .. }) =
            (&change.target, &change.expect)
        else {
            return None;
        };
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?);
        if Stamp::from(&rustix::fs::fstat(&file).ok()?) != *stamp {
            return Some(Err(NotMade::Moved(change.place.clone())));
        }
        let failed = |error: std::io::Error, and: &str| {
            let message = format!("cannot write {}: {error}{and}", change.place.shown());
            NotMade::Refused(ToolError::new(code::WRITE_FAILED, message))
        };
        // Room for all of it, before anything of it is written.
        match rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes.len().max(1) as u64) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Some(Err(failed(error.into(), ""))),
        }
        if let Err(error) = self.write_over(&mut file, bytes) {
            let and = match self.write_over(&mut file, before) {
                Ok(()) => String::new(),
                Err(again) => format!("; a part of it is written, and what stood there could not be put back: {again}"),
            };
            return Some(Err(failed(error, &and)));
        }
        if let Some(mode) = mode {
            let _ = rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode));
        }
        Some(Ok(file))
    }

    fn write_over(&self, file: &mut File, bytes: &[u8]) -> std::io::Result<()> {
        file.rewind()?;
        file.write_all(bytes)?;
        file.set_len(bytes.len() as u64)?;
        if self.files.fsync == Fsync::Off { Ok(()) } else { file.sync_data() }
    }

    /// Removes what stood in the place of a new file, under the temporary name by now: if it is what was expected. What
    /// others changed since the last look goes back to its place.
    fn came_out(
        &self,
        change: &Change,
        (dir, name): (&OwnedFd, &OsStr),
        temp: &str,
        apart: &Apart,
    ) -> Result<(), NotMade> {
        let stat = rustix::fs::statat(dir, temp, AtFlags::SYMLINK_NOFOLLOW).map_err(|e| refused(&change.place, e))?;
        let expected = matches!(&change.expect, Expect::Is { stamp, .. } if Stamp::from(&stat).same_content(stamp));
        let held = if expected { self.files.unheld(change, (dir, name), 1).err() } else { None };
        if expected && held.is_none() {
            let _ = rustix::fs::unlinkat(dir, temp, AtFlags::empty());
            return Ok(());
        }
        let exchange = || rustix::fs::renameat_with(dir, temp, dir, name, RenameFlags::EXCHANGE);
        let back = exchange().and_then(|()| match apart.stands(dir, temp.as_ref()) {
            true => Ok(()),
            // Others put something in the place of the new file, too: that stands.
            false => exchange(),
        });
        let back = match back {
            // They have removed the new file.
            Err(Errno::NOENT) => land((dir, temp.as_ref()), (dir, name)),
            back => back,
        };
        Err(match back {
            Ok(()) => held.map_or_else(|| NotMade::Moved(change.place.clone()), NotMade::Refused),
            Err(error) => refused(&change.place, error).hint(left_in(temp)).into(),
        })
    }

    /// Moves what goes away from its name, and removes it if it is what was expected. What others changed since the last
    /// look goes back to its place.
    fn take_away(&mut self, change: &Change) -> Result<(), NotMade> {
        let (dir, name) = self.files.parent_of(&change.place.path)?;
        let temp = temp_name();
        self.note_exchange(&change.place.path, &temp, None, &change.expect);
        let taken = match put_away((&dir, &name), (&dir, temp.as_ref())) {
            Ok(()) => went(change, (&dir, &name), &temp),
            Err(Errno::NOENT) => Err(NotMade::Moved(change.place.clone())),
            Err(error) => Err(refused(&change.place, error).into()),
        };
        self.note_over(&dir, &temp);
        taken
    }

    /// Removes directories that an undone call had made, while they are empty.
    pub fn remove_empty_dir(&self, cx: &Cx<'_>, place: &Place) -> Result<bool, ToolError> {
        self.files.covered(cx.permit.covers_write(&place.path), place)?;
        // A directory that is gone, or not empty, is none to remove.
        let Ok((dir, name)) = self.files.parent_of(&place.path) else { return Ok(false) };
        Ok(rustix::fs::unlinkat(&dir, &name, AtFlags::REMOVEDIR).is_ok())
    }
}

/// Removes what bore a name, and bears a temporary one by now.
fn went(change: &Change, (dir, name): (&OwnedFd, &OsStr), temp: &str) -> Result<(), NotMade> {
    let what = |error| refused(&change.place, error);
    let stat = rustix::fs::statat(dir, temp, AtFlags::SYMLINK_NOFOLLOW).map_err(what)?;
    let is_it = matches!(&change.expect, Expect::Is { stamp, .. } if Stamp::from(&stat).same_content(stamp));
    let removed = if is_it { rustix::fs::unlinkat(dir, temp, AtFlags::empty()).map_err(what) } else { Ok(()) };
    if is_it && removed.is_ok() {
        return Ok(());
    }
    land((dir, temp.as_ref()), (dir, name)).map_err(|error| what(error).hint(left_in(temp)))?;
    removed?;
    Err(NotMade::Moved(change.place.clone()))
}

/// Where somebody finds what could not be put back.
fn left_in(temp: &str) -> String {
    format!("what others wrote there at the last moment is in {temp} beside it")
}

/// What came of a new file that was to get its name.
pub(super) enum Placed {
    /// It has it.
    Named,
    /// This one, which has it, is written instead.
    Written(File),
    /// It could only have it by a rename that drops unseen what stands there.
    CannotExchange,
}

/// A new file or link, whole, not yet in its place.
pub(super) struct Apart {
    /// A link, only as what it is: it can be looked at.
    pub(super) file: File,
    /// Whether it has its temporary name already.
    pub(super) named: bool,
}

impl Apart {
    /// Whether `name` in `dir` is its name.
    fn stands(&self, dir: &OwnedFd, name: &OsStr) -> bool {
        let there = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(there), Ok(own)) = (there, rustix::fs::fstat(&self.file)) else { return false };
        Stamp::from(&there).same_file(&Stamp::from(&own))
    }

    /// Names a nameless file; fails where something stands.
    pub(super) fn name(&self, dir: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
        let at = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(CWD, &at, dir, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Workspace {
    /// Whether a place may be written at all: our own read-only roots never are.
    pub(crate) fn writable(&self, place: &Place) -> Result<(), ToolError> {
        match self.root_of(&place.path) {
            Some(root) if !root.writable => {
                Err(ToolError::new(code::OUT_OF_BOUNDS, format!("{} is Nika's own and read-only", place.shown())))
            }
            _ => Ok(()),
        }
    }

    /// Whether this user may write what stands there. A file is replaced, for which the directory's rights would do: so
    /// what is kept from being written would be written all the same.
    fn replaceable(&self, change: &Change) -> Result<(), ToolError> {
        let (Expect::Is { mode, kind: Kind::File, .. }, Target::File { .. }) = (&change.expect, &change.target) else {
            return Ok(());
        };
        let handle = self
            .open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW)
            .map_err(|error| refused(&change.place, error))?;
        // The kernel's own answer knows of access lists, of who we are and of what root may.
        let at = format!("/proc/self/fd/{}", handle.as_raw_fd());
        match rustix::fs::accessat(CWD, &at, Access::WRITE_OK, AtFlags::empty()) {
            Err(Errno::ACCESS) => {
                let shown = change.place.shown();
                let message = format!("cannot write {shown}: it is read-only for this user (mode {mode:04o})");
                Err(ToolError::new(code::WRITE_FAILED, message)
                    .hint("if it is meant to change, `chmod u+w` through bash lets its owner write it"))
            }
            // What else is wrong with it, writing finds.
            _ => Ok(()),
        }
    }

    /// Whether what a change put under a name is what it was to put at its place, with no more names than `most`, and nobody
    /// else's to write.
    pub(super) fn unheld(&self, change: &Change, at: (&OwnedFd, &OsStr), most: u64) -> Result<(), ToolError> {
        match &change.target {
            Target::File { bytes, .. } => unheld(&change.place, at, |hash| *hash == sha256(bytes), most),
            Target::Link(_) | Target::Absent => Ok(()),
        }
    }

    /// The directory that holds a resolved path, and the name in it.
    pub(crate) fn parent_of(&self, path: &Path) -> Result<(OwnedFd, std::ffi::OsString), ToolError> {
        self.opened_parent(path).map_err(|error| {
            let parent = path.parent().unwrap_or(path);
            errno(&format!("write in {}", self.shown(parent)), error, code::WRITE_FAILED)
        })
    }

    /// The same, with the system's own word where it refuses.
    pub(crate) fn opened_parent(&self, path: &Path) -> rustix::io::Result<(OwnedFd, std::ffi::OsString)> {
        // The top of all has no name.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR) };
        let dir = self.open_exact(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        Ok((dir, name.to_owned()))
    }

    /// What a change puts in its place, not there yet.
    pub(super) fn make_apart(&self, dir: &OwnedFd, change: &Change, temp: &OsStr) -> Result<Apart, NotMade> {
        match &change.target {
            Target::Link(to) => {
                let file = self.link(dir, &change.place, to, temp)?;
                Ok(Apart { file, named: true })
            }
            _ => self.write_apart(dir, change, temp),
        }
    }

    /// A new link of this name, for `place`.
    fn link(&self, dir: &OwnedFd, place: &Place, to: &[u8], name: &OsStr) -> Result<File, NotMade> {
        let what = |error: Errno| match error {
            Errno::EXIST => NotMade::Moved(place.clone()),
            error => NotMade::Refused(refused(place, error)),
        };
        rustix::fs::symlinkat(Path::new(OsStr::from_bytes(to)), dir, name).map_err(what)?;
        let itself = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(dir, name, itself, Mode::empty()).map(File::from).map_err(what)
    }

    /// The new bytes in a file without a name (or, where the file system has no such files, named
    /// `temp`), with the rights of the old one, synced.
    fn write_apart(&self, dir: &OwnedFd, change: &Change, temp: &OsStr) -> Result<Apart, NotMade> {
        let Target::File { bytes, mode, dress: given } = &change.target else {
            return Err(ToolError::new(code::BUG, "only files are written apart").into());
        };
        let mode_of_new = Mode::from_raw_mode(0o666);
        let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let (fd, named) = match rustix::fs::openat(dir, ".", nameless, mode_of_new) {
            Ok(fd) => (fd, false),
            // Network and FAT file systems, and some that containers mount.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
                (
                    rustix::fs::openat(dir, temp, flags, mode_of_new).map_err(|error| refused(&change.place, error))?,
                    true,
                )
            }
            Err(error) => return Err(refused(&change.place, error).into()),
        };
        let mut file = File::from(fd);
        let what = |error: std::io::Error| {
            ToolError::new(code::WRITE_FAILED, format!("cannot write {}: {error}", change.place.shown()))
        };
        file.write_all(bytes).map_err(what)?;
        let mut rights = *mode;
        match (given, &change.expect) {
            (Some(given), expect) => {
                rights = rights.or(expect.mode());
                if !wear(&file, given) {
                    rights = rights.map(|mode| mode & !0o6000);
                }
            }
            (None, Expect::Is { bytes: before, mode: former, owner, kind: Kind::File, .. }) => {
                let former_file = self.open_exact(&change.place.path, OFlags::PATH | OFlags::NOFOLLOW).ok();
                dress(&file, former_file.as_ref(), *owner, *former, before == bytes)
                    .map_err(|error| refused(&change.place, error))?;
            }
            // A link's rights say nothing of a file's.
            (None, Expect::Absent | Expect::Is { .. }) => {}
        }
        if let Some(mode) = rights {
            let _ = rustix::fs::fchmod(&file, Mode::from_raw_mode(mode));
        }
        if self.fsync != Fsync::Off {
            file.sync_data().map_err(what)?;
        }
        // Before others can come to it by a name: it is asked then whether anybody has it open for writing.
        let at = format!("/proc/self/fd/{}", file.as_raw_fd());
        let itself = rustix::fs::open(at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        Ok(Apart { file: itself.map_err(|error| refused(&change.place, error))?.into(), named })
    }
}

pub(super) fn refused(place: &Place, error: Errno) -> ToolError {
    errno(&format!("write {}", place.shown()), error, code::WRITE_FAILED)
}

pub(super) fn sync_dir(dir: &OwnedFd) {
    // An O_PATH handle cannot be synced; reopen it to read.
    if let Ok(dir) = rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::fs::fsync(dir);
    }
}

/// Whether a name is one that [`temp_name`] may have picked, also where a file system tells no case.
pub(crate) fn is_temp_name(name: &OsStr) -> bool {
    let name = name.to_ascii_lowercase();
    let word = name.as_bytes().strip_prefix(b".nika-").and_then(|rest| rest.strip_suffix(b".tmp"));
    word.is_some_and(|word| word.len() == 16 && word.iter().all(u8::is_ascii_hexdigit))
}

/// A name that no other writer picks.
pub(crate) fn temp_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    // A fresh RandomState is seeded by the system for each thread and counted up after.
    format!(".nika-{:016x}.tmp", RandomState::new().hash_one(std::process::id()))
}
