//! A layer's changes, made to the root: all of them or none, whatever kills the process.
//!
//! ```text
//! permit ─▶ nobody else's change is overwritten ─▶ pre-images ─▶ intent ─▶ moves ─▶ done
//! ```

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nika_contract::{Before, Cx, Dress, Kind, Known, More, Preimage, ToolError, code};
use nika_guard::{Effect, Extent, Permit, Place, classify};
use rustix::fs::{Mode, OFlags, Stat, fstat, readlinkat};
use sha2::{Digest, Sha256};

use super::clean::clean;
use super::grounds::is_shared;
use super::joined::{self, Joined};
use super::sides::{ITSELF, READ, beneath, standing};
use super::stage;
use super::theirs;
use super::walk::{bits, mtime};
use super::{Changes, Entry, What};
use crate::fs::{Fsync, Locked, NotMade, Stamp, Stuck, Workspace, bare, is_absence, sha256_of, stat_as_owner, worn};
use crate::git::{INDEX_BYTES, meaning};
use crate::moves::{Act, After, Ground, Intent, Mover, Named, Parents, Phase, Step, refused};

/// How much is kept for undo, and from where on a file is told by its stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one file. 64 MiB, as for edits.
    pub file_bytes: u64,
    /// Bytes of one call. 1 GiB: what the undo store keeps of all calls, by default.
    pub call_bytes: u64,
    /// The largest file that is hashed as the command left it. 1 MiB, about a millisecond: a larger one is told
    /// by inode, size and modification time.
    pub hashed_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { file_bytes: 64 << 20, call_bytes: 1 << 30, hashed_bytes: 1 << 20 }
    }
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Paths that were changed in any way.
    pub paths: usize,
    /// What was applied and is too large to be kept: then nothing of it can be taken back.
    pub not_kept: Vec<PathBuf>,
    /// Devices, FIFOs and sockets that the command made, which were left out.
    pub special: Vec<PathBuf>,
    /// Devices, FIFOs and sockets that it took away, which do not come back when the rest is taken back.
    pub not_back: Vec<PathBuf>,
    /// Files that had other names, which keep the former content.
    pub parted: Vec<PathBuf>,
    /// Names that went, of files that have or had others: undo makes files of their own of them.
    pub unnamed: Vec<PathBuf>,
    /// Names that the command gave to files, and that are files of their own after all.
    pub copies: Vec<PathBuf>,
}

/// Why nothing was done. The layer stays as it is.
#[derive(Debug)]
pub enum NotApplied {
    /// Somebody else changed these while the command ran.
    Conflict(Vec<Place>),
    /// These become code or policy; only a call that names the very path may change one.
    Guarded(Vec<Place>),
    /// A rule denies these, whoever changes them.
    Forbidden(Vec<Place>),
    /// These are hidden from the command, and it did away with what stood in for them.
    Hidden(Vec<Place>),
    /// Anything else.
    Refused(ToolError),
}

impl From<ToolError> for NotApplied {
    fn from(error: ToolError) -> NotApplied {
        NotApplied::Refused(error)
    }
}

impl From<NotMade> for NotApplied {
    fn from(not_made: NotMade) -> NotApplied {
        match not_made {
            NotMade::Moved(place) => NotApplied::Conflict(vec![place]),
            NotMade::Refused(error) => NotApplied::Refused(error),
        }
    }
}

impl From<NotApplied> for ToolError {
    fn from(not_applied: NotApplied) -> ToolError {
        match not_applied {
            NotApplied::Refused(error) => error,
            NotApplied::Conflict(places) => {
                ToolError::new(code::CHANGED_SINCE_READ, format!("{}; nothing was applied", changed_meanwhile(&places)))
                    .hint("look at what stands there now, then run the command again")
            }
            NotApplied::Guarded(places) => ToolError::new(
                code::PERMISSION_DENIED,
                format!("the command changed what may become code or policy: {}; nothing was applied", listed(&places)),
            )
            .hint("run it so that it leaves these alone, and change them with `edit` or `write`"),
            NotApplied::Forbidden(places) => ToolError::new(
                code::PERMISSION_DENIED,
                format!("the command changed what a rule denies: {}; nothing was applied", listed(&places)),
            )
            .hint("run it so that it leaves these alone; `nika config` lists the rules"),
            NotApplied::Hidden(places) => ToolError::new(
                code::PERMISSION_DENIED,
                format!("the command changed what is hidden from it: {}; nothing was applied", listed(&places)),
            )
            .hint("run it so that it leaves these alone, or name them in its text, to be asked about"),
        }
    }
}

fn changed_meanwhile(places: &[Place]) -> String {
    format!("while the command ran, somebody else changed {}", listed(places))
}

/// Names that an error lists.
const LISTED: usize = 10;

fn listed(places: &[Place]) -> String {
    let mut names: Vec<String> = places.iter().take(LISTED).map(|place| place.shown().into_owned()).collect();
    if places.len() > LISTED {
        names.push(format!("{} more", places.len() - LISTED));
    }
    names.join(", ")
}

/// What [`Locked::apply`] leaves out of layers, whoever says yes to the rest.
#[derive(Debug, Default)]
pub struct HeldBack {
    /// What becomes code or policy, and the call does not name.
    pub guarded: Vec<Place>,
    /// What a rule denies, or has asked about, and the call does not name.
    pub forbidden: Vec<Place>,
    /// What is hidden from the command, and changed otherwise than by git as it notes.
    pub hidden: Vec<Place>,
}

impl HeldBack {
    /// Looks at every change.
    pub fn of(files: &Workspace, permit: &Permit, layers: &[Changes<'_>]) -> HeldBack {
        let mut all = HeldBack::default();
        for changes in layers.iter().filter(|changes| changes.layer.by_command) {
            let told = changes.entries.iter().filter(|entry| entry.what != What::Touched);
            for entry in told.filter(|entry| !permit.names_write(&entry.path)) {
                let place = files.place(entry.path.clone());
                if permit.forbids_change(&place, entry.kind == Kind::Directory) {
                    all.forbidden.push(place);
                }
            }
        }
        for changes in layers {
            let held = changes.guarded(permit).into_iter().filter(|path| !names(permit, path));
            all.guarded.extend(held.map(|path| files.place(path)));
            all.hidden.extend(changes.unnoted(permit).into_iter().map(|path| files.place(path)));
        }
        all
    }
}

/// So many files are synced one by one; more are synced with their file system.
const SYNCED_ALONE: usize = 32;

impl Locked<'_> {
    /// Applies layers, as one. Pre-images go to the call's undo before anything is changed.
    pub fn apply(&mut self, cx: &Cx<'_>, layers: &[Changes<'_>], bounds: &Bounds) -> Result<Applied, NotApplied> {
        if cx.permit.rehearses() {
            let message = "a command that nobody said yes to yet changes nothing";
            return Err(ToolError::new(code::PERMISSION_DENIED, message).into());
        }
        self.permitted(cx.permit, layers)?;
        self.undisturbed(layers)?;
        cx.check_cancelled()?;
        let mut applied =
            Applied { special: layers.iter().flat_map(|c| c.special.clone()).collect(), ..Applied::default() };
        self.keep_all(cx, layers, bounds, &mut applied)?;
        self.move_all(cx, layers).inspect_err(|why| {
            if let NotApplied::Conflict(_) = why {
                came_to_nothing(cx, layers);
            }
        })?;
        applied.paths = layers.iter().map(|changes| changes.entries.len()).sum();
        let linked = |what: What| {
            let parts = move |entry: &&Entry| entry.what == what && entry.was_linked;
            let parted = layers.iter().flat_map(move |changes| changes.entries.iter().filter(parts));
            parted.map(|entry| entry.path.clone()).collect()
        };
        (applied.parted, applied.unnamed) = (linked(What::Changed), linked(What::Deleted));
        applied.copies = layers.iter().flat_map(joined::copies).collect();
        Ok(applied)
    }

    /// Every path is one that the call may write, and none is guarded that it does not name.
    fn permitted(&self, permit: &Permit, layers: &[Changes<'_>]) -> Result<(), NotApplied> {
        for changes in layers {
            for entry in &changes.entries {
                let place = self.files().place(entry.path.clone());
                // What is in a directory was judged; that it comes with it follows.
                let follows = entry.what == What::Created && changes.above.contains(&entry.path);
                self.files().covered(follows || changes.layer.may_change(permit, &entry.path), &place)?;
                self.files().writable(&place)?;
            }
        }
        let opened: Vec<Place> = layers
            .iter()
            .flat_map(|changes| changes.layer.made_readable())
            .map(|path| self.files().place(path))
            .collect();
        if !opened.is_empty() {
            let message = format!("the command changed the rights of what is hidden from it: {}", listed(&opened));
            let hint = "what stands in for these has nothing of their content, and git may have recorded that";
            return Err(ToolError::new(code::PERMISSION_DENIED, message).hint(hint).into());
        }
        let HeldBack { guarded, forbidden, hidden } = HeldBack::of(self.files(), permit, layers);
        match (forbidden.is_empty(), guarded.is_empty(), hidden.is_empty()) {
            (false, _, _) => Err(NotApplied::Forbidden(forbidden)),
            (true, false, _) => Err(NotApplied::Guarded(guarded)),
            (true, true, false) => Err(NotApplied::Hidden(hidden)),
            (true, true, true) => Ok(()),
        }
    }

    /// Nobody else changed what is to be replaced, nor put something where a new entry goes.
    fn undisturbed(&self, layers: &[Changes<'_>]) -> Result<(), NotApplied> {
        let mut conflicts = Vec::new();
        let mut parents = Parents::default();
        for changes in layers {
            for entry in &changes.entries {
                let now = self.stat(&mut parents, &entry.path)?;
                let same = match (&entry.stamp, &now) {
                    (None, None) => true,
                    (Some(stamp), Some(now)) if entry.is_merged() => stamp.same_file(&Stamp::from(now)),
                    (Some(stamp), Some(now)) => *stamp == Stamp::from(now) && !changes.is_disturbed(stamp),
                    _ => false,
                };
                let theirs = changes.layer.tried.has_of_others(&entry.path);
                if theirs || !(same || now.is_some() && changes.is_no_other(entry)) {
                    conflicts.push(self.files().place(entry.path.clone()));
                }
            }
        }
        if conflicts.is_empty() { Ok(()) } else { Err(NotApplied::Conflict(conflicts)) }
    }

    pub(super) fn stat(&self, parents: &mut Parents, path: &Path) -> Result<Option<Stat>, ToolError> {
        let stands = parents.of(self.files(), path);
        match stands.and_then(|(dir, name)| stat_as_owner(dir, &name)) {
            Ok(stat) => Ok(Some(stat)),
            // Directories that the layer brings, too, also where a file or a link stands. Moves go through no link.
            Err(error) if is_absence(error) => Ok(None),
            Err(error) => Err(refused(path, error)),
        }
    }

    /// Keeps what stood at every path, and notes what the command leaves there.
    fn keep_all(
        &self,
        cx: &Cx<'_>,
        layers: &[Changes<'_>],
        bounds: &Bounds,
        applied: &mut Applied,
    ) -> Result<(), ToolError> {
        let mut kept_bytes = 0;
        for changes in layers {
            for entry in changes.entries.iter().filter(|entry| entry.what != What::Touched) {
                let (after, left_as) = changes.left(entry, bounds)?;
                let mut more = More {
                    left: Some(entry.kind).filter(|_| entry.what != What::Deleted),
                    left_as,
                    was_as: entry
                        .stamp
                        .filter(|_| entry.was_bytes > bounds.hashed_bytes)
                        .map(|stamp| stamp.as_numbers()),
                    before: Before::Kept,
                    known: Known::Whole,
                };
                let mut bytes = None;
                let mut hash = None;
                match entry.was {
                    None => {}
                    // It has no content that could be kept, and what the command put there can go.
                    Some(_) if entry.was_special => applied.not_back.push(entry.path.clone()),
                    Some(_) if entry.what == What::Mode && entry.kind == Kind::File => {
                        (more.before, hash) = (Before::Same, after);
                    }
                    Some(Kind::Directory) => bytes = Some(Vec::new()),
                    Some(_) => {
                        let fits =
                            entry.was_bytes <= bounds.file_bytes && kept_bytes + entry.was_bytes <= bounds.call_bytes;
                        bytes = changes.before(cx.permit, entry, bounds.file_bytes).filter(|_| fits);
                        match &bytes {
                            Some(bytes) => kept_bytes += bytes.len() as u64,
                            None => {
                                more.before = Before::Lost;
                                applied.not_kept.push(entry.path.clone());
                            }
                        }
                    }
                }
                let dress = changes.worn(entry);
                cx.undo.keep(&Preimage {
                    path: &entry.path,
                    kind: entry.was.unwrap_or(entry.kind),
                    bytes: bytes.as_deref(),
                    hash,
                    mode: entry.was_mode,
                    mode_left: entry.mode,
                    after,
                    more: Some(more),
                    dress: dress.as_ref(),
                    linked: entry.was_linked,
                })?;
            }
        }
        Ok(())
    }

    /// Makes the moves, under an intent, or none of them.
    fn move_all(&mut self, cx: &Cx<'_>, layers: &[Changes<'_>]) -> Result<(), NotApplied> {
        let joined: Vec<Joined> = layers.iter().map(|changes| changes.joined(self.files(), cx.permit)).collect();
        layers.iter().try_for_each(Changes::make_ready)?;
        let copied: Vec<Option<PathBuf>> =
            layers.iter().map(|changes| changes.is_elsewhere().then(|| stage::place_in(&changes.layer.root))).collect();
        let mut intent = self.intended(&cx.call.0, layers, &copied);
        let file = self.files().sets_dir().join(format!("{}.json", cx.call.0));
        if copied.iter().any(Option::is_some) {
            self.save(&file, &intent)?;
        }
        let staged = self.plan(layers, (&copied, &joined), &mut intent);
        let is_staged = staged.is_ok();
        let done = staged.and_then(|()| self.make_planned(layers, &copied, (&file, &mut intent)));
        if done.is_err() {
            if let Err(stuck) = self.take_back(&file, &mut intent) {
                return done.map_err(|error| left(cx, layers, &stuck, error));
            }
            self.note_back(layers, &intent.steps, &joined);
            // Before that nothing of it stood in the root.
            if is_staged {
                self.note_theirs(layers, &copied, (&file, &mut intent))?;
            }
        }
        self.end_moves(&copied, (&file, intent));
        done?;
        if self.files().fsync() == Fsync::Full {
            layers.iter().for_each(|changes| sync_fs(&changes.layer.root));
        }
        Ok(())
    }

    /// Where the moves are made, and what is removed when they are settled.
    fn intended(&self, call: &str, layers: &[Changes<'_>], copied: &[Option<PathBuf>]) -> Intent {
        let mut intent = Intent::new(call);
        intent.grounds.extend(layers.iter().flat_map(|changes| changes.grounds(self.files())));
        let copies = copied.iter().flatten().flat_map(|place| [Some(place.as_path()), place.parent()]).flatten();
        let scratch = layers.iter().map(|changes| &*changes.layer.dir).chain(copies);
        intent.scratch.extend(scratch.map(|dir| Named(dir.to_path_buf())));
        intent
    }

    /// Makes what was planned, and looks at what is guarded of it where it stands then.
    fn make_planned(
        &mut self,
        layers: &[Changes<'_>],
        copied: &[Option<PathBuf>],
        (file, intent): (&Path, &mut Intent),
    ) -> Result<(), NotApplied> {
        self.sync(layers, copied)?;
        // One rename onto nothing happens or does not: there is nothing to settle.
        let alone = matches!(intent.steps.as_slice(), [only] if only.act == Act::Put);
        if !alone || !intent.closed.is_empty() || copied.iter().any(Option::is_some) {
            intent.phase = Phase::Applying;
            self.save(file, intent)?;
        }
        Mover::new(self.files()).make(&intent.steps)?;
        Ok(intent.judged.iter().try_for_each(|one| one.check(self.files()))?)
    }

    /// Takes back what was made of it.
    fn take_back(&mut self, file: &Path, intent: &mut Intent) -> Result<(), Stuck> {
        match intent.phase {
            Phase::Applying => self.bring_back(file, intent),
            _ => Mover::new(self.files()).back(&intent.steps, After::Failure).map(drop).map_err(|_| Stuck::Made),
        }
    }

    /// Removes the copies, and the note with them. The layers themselves go with their owners.
    fn end_moves(&mut self, copied: &[Option<PathBuf>], (file, mut intent): (&Path, Intent)) {
        copied.iter().flatten().for_each(|place| stage::remove(place));
        let is_copy = |dir: &Path| copied.iter().flatten().any(|copy| copy == dir || copy.parent() == Some(dir));
        intent.scratch.retain(|Named(dir)| is_copy(dir));
        self.end(file, &intent, Vec::new());
    }

    /// Notes what others put into what was moved in and back. What cannot be kept with the rest stays where it lies.
    fn note_theirs(
        &mut self,
        layers: &[Changes<'_>],
        copied: &[Option<PathBuf>],
        (file, intent): (&Path, &mut Intent),
    ) -> Result<(), NotApplied> {
        theirs::note(self.files(), layers, &intent.steps).map_err(|(error, kept)| {
            copied.iter().flatten().for_each(|place| stage::remove_but(place, &kept));
            intent.scratch.clear();
            self.end(file, intent, Vec::new());
            error.into()
        })
    }

    /// Notes of what was moved away and back that nobody else changed it.
    fn note_back(&self, layers: &[Changes<'_>], steps: &[Step], joined: &[Joined]) {
        let mut parents = Parents::default();
        let mut back: Vec<(Stamp, Stamp)> = Vec::new();
        for step in steps {
            let Ok(Some(now)) = self.stat(&mut parents, &step.target) else { continue };
            let (stamp, is) = (Stamp::from(&now), Some((bits(&now), mtime(&now))));
            back.extend(step.stamp.filter(|was| was.same_content(&stamp) && step.was == is).map(|was| (was, stamp)));
        }
        // A name that a file got and lost again moved the time of its last change.
        back.extend(joined.iter().flat_map(Joined::unchanged));
        for layer in layers.iter().map(|changes| changes.layer) {
            let unchanged = back.iter().filter(|(was, _)| !layer.precedes(was));
            layer.tried.came_back(unchanged.map(|(_, now)| *now).collect());
        }
    }

    /// What replaces a file is on the disk before it does, unless that is left to the system.
    fn sync(&self, layers: &[Changes<'_>], copied: &[Option<PathBuf>]) -> Result<(), NotApplied> {
        if self.files().fsync() == Fsync::Off {
            return Ok(());
        }
        for (changes, copied) in layers.iter().zip(copied) {
            let replaces = |entry: &&Entry| entry.what == What::Changed && entry.kind == Kind::File;
            let replaced: Vec<&Entry> = changes.entries.iter().filter(replaces).collect();
            if copied.is_some() || replaced.len() > SYNCED_ALONE {
                sync_fs(copied.as_deref().unwrap_or(&changes.layer.dir));
                continue;
            }
            for entry in replaced {
                let file = changes.layer.opened(&entry.path, READ);
                file.and_then(|file| rustix::fs::fdatasync(&file)).map_err(|error| {
                    ToolError::new(code::WRITE_FAILED, format!("cannot sync {}: {error}", entry.path.display()))
                })?;
            }
        }
        Ok(())
    }
}

/// Leaves to the next start what could not be taken back: what stood in the places of it may lie in the layers, and whoever
/// settles it finds it by the note.
fn left(cx: &Cx<'_>, layers: &[Changes<'_>], stuck: &Stuck, error: NotApplied) -> NotApplied {
    layers.iter().for_each(|changes| changes.layer.leave());
    cx.undo.stands();
    let why = match error {
        NotApplied::Conflict(places) => changed_meanwhile(&places),
        error => ToolError::from(error).message,
    };
    NotApplied::Refused(stuck.refusal(&why))
}

impl Entry {
    /// A directory that stays is changed by whoever makes a file in it: that is no conflict.
    pub(super) fn is_merged(&self) -> bool {
        matches!(self.what, What::Mode | What::Touched) && self.kind == Kind::Directory
    }
}

impl Changes<'_> {
    /// Has what moves out of the layer be as it shall stand in the root.
    fn make_ready(&self) -> Result<(), NotApplied> {
        if self.by_hand {
            self.close()?;
        }
        let replacing = self.moves.iter().filter(|one| one.act == Act::Swap);
        self.layer.tried.replacing(replacing.map(|one| &one.path));
        for one in self.moves.iter().filter(|one| matches!(one.act, Act::Put | Act::Swap)) {
            clean(&self.inside(&one.path)).map_err(|error| refused(&one.path, error))?;
        }
        Ok(())
    }

    /// Whether what bears `stamp` changed while the command ran. What is put together by hand was looked at
    /// entry by entry, whenever the layer was made.
    pub(super) fn is_disturbed(&self, stamp: &Stamp) -> bool {
        !self.by_hand && self.layer.precedes(stamp)
    }

    /// Where its moves lead to, and where they come from.
    fn grounds(&self, files: &Workspace) -> Vec<Ground> {
        let from = self.layer.dir.parent().filter(|_| !self.is_elsewhere());
        from.into_iter().chain([&*self.layer.root]).filter_map(|dir| Ground::of(files, dir)).collect()
    }

    /// Where an entry lies in the layer.
    pub(super) fn inside(&self, path: &Path) -> PathBuf {
        self.layer.inside(path)
    }

    /// Whether a rename from the layer into the root cannot work.
    fn is_elsewhere(&self) -> bool {
        self.layer.in_memory || !is_shared(&self.layer.dir, &self.layer.root)
    }

    /// What stands at a path has of its own and loses: with it, or as another stands there then.
    fn worn(&self, entry: &Entry) -> Option<Dress> {
        let goes = matches!(entry.what, What::Changed | What::Deleted) && !entry.was_special;
        if !goes || !matches!(entry.was, Some(Kind::File | Kind::Directory)) {
            return None;
        }
        let was = worn(&beneath(&self.layer.root, &entry.path)?);
        let now = match entry.what {
            What::Deleted => None,
            _ => self.layer.opened(&entry.path, ITSELF).ok().and_then(|handle| worn(&handle)),
        };
        // Where only what stands there now has anything of its own, that is not left to what comes back.
        (entry.what == What::Deleted || now != was).then(|| was.or((now.is_some()).then(bare))).flatten()
    }

    /// How the command left a path: the hash of it, or for a large file its stamp.
    fn left(&self, entry: &Entry, bounds: &Bounds) -> Result<LeftAs, ToolError> {
        if entry.what == What::Deleted {
            return Ok((None, None));
        }
        // Rights alone are set on the file that stands there.
        let open = |flags| match entry.what {
            What::Mode => standing(&self.layer.root, &entry.path, flags).map_err(std::io::Error::from),
            _ => self.layer.opened(&entry.path, flags).map_err(std::io::Error::from),
        };
        let itself = || open(ITSELF);
        let failed = |error: std::io::Error| {
            ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", entry.path.display()))
        };
        match entry.kind {
            Kind::Directory => Ok((Some(Sha256::digest(b"").into()), None)),
            Kind::Link => {
                let target = itself().and_then(|link| Ok(readlinkat(&link, "", Vec::new())?)).map_err(failed)?;
                Ok((Some(Sha256::digest(target.as_bytes()).into()), None))
            }
            // Of an index it counts what it says: whoever asks for the status writes it anew.
            Kind::File if entry.path.ends_with(".git/index") && entry.bytes <= INDEX_BYTES => {
                let mut bytes = Vec::new();
                open(READ).and_then(|file| File::from(file).read_to_end(&mut bytes)).map_err(failed)?;
                Ok((Some(meaning(&bytes).unwrap_or_else(|| Sha256::digest(&bytes).into())), None))
            }
            Kind::File if entry.bytes > bounds.hashed_bytes && !self.is_elsewhere() => {
                let stat = itself().and_then(|file| Ok(fstat(&file)?)).map_err(failed)?;
                Ok((None, Some(Stamp::from(&stat).as_numbers())))
            }
            Kind::File => open(READ).and_then(hash).map(|hash| (Some(hash), None)).map_err(failed),
        }
    }
}

/// Notes that nothing of what was kept for undo was changed after all: what others did to it meanwhile is not the call's. A
/// later try keeps what it changes again.
fn came_to_nothing(cx: &Cx<'_>, layers: &[Changes<'_>]) {
    let entries = layers.iter().flat_map(|changes| &changes.entries);
    for entry in entries.filter(|entry| entry.what != What::Touched) {
        let more = More { left: None, left_as: None, was_as: None, before: Before::Kept, known: Known::Unchanged };
        // Without that line, undo finds something else there than the call meant to leave, and says so.
        let _ = cx.undo.keep(&Preimage {
            path: &entry.path,
            kind: entry.was.unwrap_or(entry.kind),
            bytes: None,
            hash: None,
            mode: None,
            mode_left: None,
            after: None,
            more: Some(more),
            dress: None,
            linked: false,
        });
    }
}

/// sha256 of a content or link target, or numbers of a large file.
type LeftAs = (Option<[u8; 32]>, Option<[i64; 4]>);

/// The sha256 of a file.
pub(super) fn hash(file: OwnedFd) -> std::io::Result<[u8; 32]> {
    sha256_of(&mut File::from(file))
}

fn sync_fs(dir: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(dir) = rustix::fs::open(dir, flags, Mode::empty()) {
        let _ = rustix::fs::syncfs(&dir);
    }
}

/// Whether the permit names this very path, and whoever gave it was asked about it for what it is.
fn names(permit: &Permit, path: &Path) -> bool {
    let was_asked = |place: &Place| place.guarded.is_some() || classify(&place.path).asked().is_some();
    permit.effects().all.iter().any(|effect| match effect {
        Effect::Write(place) => place.extent == Extent::One && place.path == path && was_asked(place),
        _ => false,
    })
}
