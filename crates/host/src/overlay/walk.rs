//! From an upper layer to changes: the upper directory alone is walked, beside what it covers.
//!
//! Nothing is followed: every step is one name below an open directory.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::{Kind, ToolError, code};
use nika_guard::Permit;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, ResolveFlags, Stat, StatxFlags, openat2, statat};
use rustix::io::Errno;

use super::moves::Move;
use super::sides::{DIRECTORY, ITSELF, READ, content};
use super::{Layer, marks};
pub(super) use crate::fs::kind_of as kind;
use crate::fs::{Stamp, errno, look_as_owner, open_as_owner, reopen_as_owner, stat_as_owner};
use crate::moves::Act;
use crate::sandbox::owner;

/// Directories within directories. Deeper ones are refused: each level holds two handles.
pub(super) const MAX_DEPTH: usize = 256;
/// Compared at once.
const CHUNK_BYTES: usize = 128 << 10;

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Nothing stood there.
    Created,
    /// Other content, or another kind of entry.
    Changed,
    /// Nothing stands there any more.
    Deleted,
    /// The same content with other permission bits.
    Mode,
    /// The same content and rights with another modification time.
    Touched,
}

/// A path that a command changed.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Absolute.
    pub path: PathBuf,
    /// What happened.
    pub what: What,
    /// What it is now; of a deleted path, what it was.
    pub kind: Kind,
    /// What stood there.
    pub was: Option<Kind>,
    /// Bytes of content now.
    pub bytes: u64,
    /// Bytes of content before.
    pub was_bytes: u64,
    /// Permission bits now.
    pub mode: Option<u32>,
    /// Permission bits before.
    pub was_mode: Option<u32>,
    /// What stood there is a device, a FIFO or a socket: it cannot be brought back.
    pub was_special: bool,
    /// What stood there is a file with other names, which keep it as it was.
    pub was_linked: bool,
    /// What stood there when the layer was read.
    pub(super) stamp: Option<Stamp>,
    /// What stands there now.
    pub(super) now: Option<Stamp>,
}

/// What stands at a path: kind, bytes of content, and permission bits where they are known.
pub type Stands = (Kind, u64, Option<u32>);

impl Entry {
    /// What would be other at a path where `was` is to become `is`: to be told of, with nothing looked at for applying it.
    pub fn planned(path: &Path, was: Option<Stands>, is: Option<Stands>) -> Entry {
        let what = match (was, is) {
            (None, _) => What::Created,
            (_, None) => What::Deleted,
            _ => What::Changed,
        };
        Entry {
            path: path.to_path_buf(),
            what,
            kind: is.or(was).map_or(Kind::File, |(kind, ..)| kind),
            was: was.map(|(kind, ..)| kind),
            bytes: is.map_or(0, |(_, bytes, _)| bytes),
            was_bytes: was.map_or(0, |(_, bytes, _)| bytes),
            mode: is.and_then(|(.., mode)| mode),
            was_mode: was.and_then(|(.., mode)| mode),
            was_special: false,
            was_linked: false,
            stamp: None,
            now: None,
        }
    }
}

/// All that a layer would change. It lives as long as its layer.
#[derive(Debug)]
pub struct Changes<'l> {
    /// Every path, directories before what is in them.
    pub entries: Vec<Entry>,
    /// Devices, FIFOs and sockets that the command made: they stay in the layer, whatever is applied.
    pub special: Vec<PathBuf>,
    pub(super) moves: Vec<Move>,
    /// Put together by hand, and not by a command.
    pub(super) by_hand: bool,
    /// Directories that were put by hand.
    pub(super) brought: HashSet<PathBuf>,
    /// Those of them that come with what is put in them.
    pub(super) above: HashSet<PathBuf>,
    /// Copies of files that stand as before, by device and inode: the file that each is of, and what that was.
    pub(super) copies: HashMap<(u64, u64), (PathBuf, Stamp)>,
    pub(super) layer: &'l Layer,
}

impl Changes<'_> {
    /// Whether there is nothing to apply.
    pub fn is_empty(&self, _permit: &Permit) -> bool {
        self.entries.is_empty()
    }

    /// The content of an entry as it stands in the root; of a link, where it points. `None` where no file or
    /// link stands, or it has more than `max_bytes`.
    pub fn before(&self, permit: &Permit, entry: &Entry, max_bytes: u64) -> Option<Vec<u8>> {
        let wanted = self.layer.may_change(permit, &entry.path) && !entry.was_special;
        content(&self.layer.root, &entry.path, entry.was.filter(|_| wanted)?, max_bytes)
    }

    /// The content of an entry as the command left it.
    pub fn after(&self, permit: &Permit, entry: &Entry, max_bytes: u64) -> Option<Vec<u8>> {
        if entry.what == What::Deleted || !self.layer.may_change(permit, &entry.path) {
            return None;
        }
        self.layer.content(&entry.path, entry.kind, max_bytes)
    }
}

/// Reads a layer.
pub(super) fn changes(layer: &Layer) -> Result<Changes<'_>, ToolError> {
    let (entries, special, moves) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { entries, special, moves, copies: HashMap::new(), layer };
    let upper = directory(CWD, layer.upper().as_os_str(), false).map_err(|error| failed(&layer.root, error))?;
    let lower = directory(CWD, layer.root.as_os_str(), false).map_err(|error| failed(&layer.root, error))?;
    walk.merged(&upper, &lower, &layer.root, 0)?;
    Ok(Changes {
        entries: walk.entries,
        special: walk.special,
        moves: walk.moves,
        by_hand: false,
        brought: HashSet::new(),
        above: HashSet::new(),
        copies: walk.copies,
        layer,
    })
}

/// Whether a directory came to be after a moment; not where its file system does not know.
fn was_made_after(dir: &OwnedFd, moment: (i64, u64)) -> bool {
    let stat = rustix::fs::statx(dir, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME);
    let known = stat.ok().filter(|stat| StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME));
    known.is_some_and(|stat| (stat.stx_btime.tv_sec, u64::from(stat.stx_btime.tv_nsec)) > moment)
}

struct Walk<'l> {
    entries: Vec<Entry>,
    special: Vec<PathBuf>,
    moves: Vec<Move>,
    copies: HashMap<(u64, u64), (PathBuf, Stamp)>,
    layer: &'l Layer,
}

type Walked = Result<(), ToolError>;

impl Walk<'_> {
    /// A directory that stands in both: each name in the upper one says something of its own.
    fn merged(&mut self, up: &OwnedFd, low: &OwnedFd, at: &Path, depth: usize) -> Walked {
        for name in names(up, at, depth)? {
            self.name(up, low, &name, at.join(OsStr::from_bytes(name.as_bytes())), depth)?;
        }
        Ok(())
    }

    fn name(&mut self, up: &OwnedFd, low: &OwnedFd, name: &CString, path: PathBuf, depth: usize) -> Walked {
        let now = statat(up, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(&path, error))?;
        if self.layer.stands_in(&path, &now) {
            return Ok(());
        }
        let was = self.stands(low, name, &path)?;
        if marks::is_whiteout(up, name, &now) {
            if let Some(was) = was {
                self.gone(low, name, &path, &was, depth)?;
                self.moves.push(Move::new(path, Act::Remove));
            }
            return Ok(());
        }
        match (kind(&now), &was) {
            (None, _) => self.special.push(path),
            (Some(Kind::Directory), Some(was)) if kind(was) == Some(Kind::Directory) => {
                let inner = Entered::of(up, name, &path)?;
                let covered = covered(low, name, &path)?;
                // A directory that the command made bears the mark, too. Where somebody else made one of that name
                // meanwhile, it replaces nothing: what is in both comes together.
                let replaces = || marks::is_opaque(&inner.dir) && !was_made_after(&covered, self.layer.began);
                if self.layer.tried.replaces(&path) || replaces() {
                    self.note(&path, What::Changed, Some(&now), Some(was));
                    self.fresh(&inner.dir, Some(&covered), &path, depth + 1)?;
                    self.moves.push(Move::new(path, Act::Swap));
                    return Ok(());
                }
                let closes = self.other_mode(&path, &now, was);
                let before = self.moves.len();
                self.merged(&inner.dir, &covered, &path, depth + 1)?;
                self.moves.extend(closes);
                // Where something in it moves, it gets a time by that.
                let moves_in_it = self.moves[before..].iter().any(|one| one.path.parent() == Some(&path));
                if mtime(&now) != mtime(was) && !moves_in_it {
                    self.note(&path, What::Touched, Some(&now), Some(was));
                    self.moves.push(Move::new(path, Act::Set { mode: bits(&now), mtime: Some(mtime(&now)) }));
                }
            }
            (Some(Kind::Directory), _) => {
                self.note(&path, told(&was), Some(&now), was.as_ref());
                let inner = Entered::of(up, name, &path)?;
                self.fresh(&inner.dir, None, &path, depth + 1)?;
                self.moves.push(Move::new(path, if was.is_some() { Act::Swap } else { Act::Put }));
            }
            (Some(kind), Some(was)) => self.beside(up, low, name, path, (&now, kind), was, depth)?,
            (Some(_), None) => {
                self.note(&path, What::Created, Some(&now), None);
                self.moves.push(Move::new(path, Act::Put));
            }
        }
        Ok(())
    }

    /// Other rights of a directory that stays. What is in it moves after it has them, unless they keep its owner out: then
    /// this is the move to be made after those.
    fn other_mode(&mut self, path: &Path, now: &Stat, was: &Stat) -> Option<Move> {
        if bits(now) == bits(was) {
            return None;
        }
        self.note(path, What::Mode, Some(now), Some(was));
        let set = Move::new(path.to_path_buf(), Act::Set { mode: bits(now), mtime: None });
        if bits(now) & 0o700 != 0o700 {
            return Some(set);
        }
        self.moves.push(set);
        None
    }

    /// A file or link where something stands.
    #[expect(clippy::too_many_arguments, reason = "two sides of one name")]
    fn beside(
        &mut self,
        up: &OwnedFd,
        low: &OwnedFd,
        name: &CString,
        path: PathBuf,
        (now, kind_now): (&Stat, Kind),
        was: &Stat,
        depth: usize,
    ) -> Walked {
        if kind(was) == Some(kind_now) && self.same(up, low, name, &path, now, was)? {
            let (other_mode, moved) = (bits(now) != bits(was), mtime(now) != mtime(was));
            if !moved && is_linked(now) {
                self.copies.entry((now.st_dev, now.st_ino)).or_insert_with(|| (path.clone(), Stamp::from(was)));
            }
            // A link has no rights of its own, and its time tells nobody anything.
            if kind_now == Kind::File && (other_mode || moved) {
                let what = if other_mode { What::Mode } else { What::Touched };
                self.note(&path, what, Some(now), Some(was));
                self.moves.push(Move::new(path, Act::Set { mode: bits(now), mtime: Some(mtime(now)) }));
            }
            return Ok(());
        }
        self.note(&path, What::Changed, Some(now), Some(was));
        if kind(was) == Some(Kind::Directory) {
            let covered = covered(low, name, &path)?;
            self.all_gone(&covered, &path, depth + 1)?;
        }
        self.moves.push(Move::new(path, Act::Swap));
        Ok(())
    }

    /// A directory that replaces whatever the root has there: nothing moves but the directory as a whole, so
    /// these are only notes.
    fn fresh(&mut self, up: &OwnedFd, low: Option<&OwnedFd>, at: &Path, depth: usize) -> Walked {
        let names_now = names(up, at, depth)?;
        for name in &names_now {
            let path = at.join(OsStr::from_bytes(name.as_bytes()));
            let now = statat(up, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed(&path, error))?;
            let was = match low {
                Some(low) => self.stands(low, name, &path)?,
                None => None,
            };
            if marks::is_whiteout(up, name, &now) {
                if let (Some(low), Some(was)) = (low, was) {
                    self.gone(low, name, &path, &was, depth)?;
                }
                continue;
            }
            let Some(kind_now) = kind(&now) else {
                self.special.push(path.clone());
                if let (Some(low), Some(was)) = (low, was) {
                    self.gone(low, name, &path, &was, depth)?;
                }
                continue;
            };
            let dir_was = match (low, &was) {
                (Some(low), Some(was)) if kind(was) == Some(Kind::Directory) => Some(covered(low, name, &path)?),
                _ => None,
            };
            let what = match (low, &was) {
                (Some(low), Some(was)) if kind(was) == Some(kind_now) => {
                    let same = kind_now == Kind::Directory || self.same(up, low, name, &path, &now, was)?;
                    match (same, bits(&now) == bits(was)) {
                        (true, true) => Some(What::Touched),
                        (true, false) => Some(What::Mode),
                        (false, _) => Some(What::Changed),
                    }
                }
                _ => Some(told(&was)),
            };
            // Of a directory that stands as before there is nothing to say, but a file is another one now.
            if let Some(what) = what.filter(|what| *what != What::Touched || kind_now == Kind::File) {
                self.note(&path, what, Some(&now), was.as_ref());
            }
            if kind_now == Kind::Directory {
                let inner = Entered::of(up, name, &path)?;
                self.fresh(&inner.dir, dir_was.as_ref(), &path, depth + 1)?;
            } else if let Some(dir_was) = dir_was {
                self.all_gone(&dir_was, &path, depth + 1)?;
            }
        }
        if let Some(low) = low {
            for name in names(low, at, depth)?.into_iter().filter(|name| names_now.binary_search(name).is_err()) {
                let path = at.join(OsStr::from_bytes(name.as_bytes()));
                if let Some(was) = self.stands(low, &name, &path)? {
                    self.gone(low, &name, &path, &was, depth)?;
                }
            }
        }
        Ok(())
    }

    /// An entry of the root that goes, with all that is in it.
    fn gone(&mut self, low: &OwnedFd, name: &CString, path: &Path, was: &Stat, depth: usize) -> Walked {
        self.note(path, What::Deleted, None, Some(was));
        if kind(was) == Some(Kind::Directory) {
            let covered = covered(low, name, path)?;
            self.all_gone(&covered, path, depth + 1)?;
        }
        Ok(())
    }

    fn all_gone(&mut self, low: &OwnedFd, at: &Path, depth: usize) -> Walked {
        for name in names(low, at, depth)? {
            let path = at.join(OsStr::from_bytes(name.as_bytes()));
            if let Some(was) = self.stands(low, &name, &path)? {
                self.gone(low, &name, &path, &was, depth)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, path: &Path, what: What, now: Option<&Stat>, was: Option<&Stat>) {
        let size = |stat: &Stat| stat.st_size.unsigned_abs();
        let is_dir = |stat: &&Stat| kind(stat) != Some(Kind::Directory);
        self.entries.push(Entry {
            path: path.to_path_buf(),
            what,
            kind: now.or(was).and_then(kind).unwrap_or(Kind::File),
            was: was.map(|was| kind(was).unwrap_or(Kind::File)),
            bytes: now.filter(is_dir).map_or(0, size),
            was_bytes: was.filter(is_dir).map_or(0, size),
            mode: now.map(bits),
            was_mode: was.map(bits),
            was_special: was.is_some_and(|was| kind(was).is_none()),
            was_linked: was.is_some_and(is_linked),
            stamp: was.map(Stamp::from),
            now: now.map(Stamp::from),
        });
    }

    /// What the root has under a name. A mount of its own is no part of what the overlay covered.
    fn stands(&self, low: &OwnedFd, name: &CString, path: &Path) -> Result<Option<Stat>, ToolError> {
        match stat_as_owner(low, OsStr::from_bytes(name.as_bytes())) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Whether two files have the same bytes and attributes, or two links the same target.
    fn same(
        &self,
        up: &OwnedFd,
        low: &OwnedFd,
        name: &CString,
        path: &Path,
        now: &Stat,
        was: &Stat,
    ) -> Result<bool, ToolError> {
        if now.st_size != was.st_size {
            return Ok(false);
        }
        if kind(now) == Some(Kind::Link) {
            let name = Path::new(OsStr::from_bytes(name.as_bytes()));
            let target = |link: rustix::io::Result<OwnedFd>| {
                link.and_then(|link| rustix::fs::readlinkat(link, "", Vec::new())).map_err(|error| failed(path, error))
            };
            return Ok(target(open_as_owner(up, name, ITSELF))? == target(look_as_owner(low, name, ITSELF))?);
        }
        let name = Path::new(OsStr::from_bytes(name.as_bytes()));
        // One that cannot be read counts as changed: both are kept apart then.
        let (Ok(a), Ok(b)) = (open_as_owner(up, name, READ), look_as_owner(low, name, READ)) else {
            return Ok(false);
        };
        let attributes = |file: &OwnedFd| {
            let path = marks::by_handle(file);
            let mut all: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for name in marks::attributes(&path) {
                let mut value = vec![0u8; 4096];
                let length = rustix::fs::getxattr(&path, &*name, &mut value[..]).unwrap_or(0);
                value.truncate(length);
                all.push((name, value));
            }
            all.sort();
            all
        };
        if attributes(&a) != attributes(&b) {
            return Ok(false);
        }
        equal(File::from(a), File::from(b))
            .map_err(|error| ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", path.display())))
    }
}

fn equal(mut a: File, mut b: File) -> std::io::Result<bool> {
    let size = a.metadata()?.len();
    let chunk = usize::try_from(size).unwrap_or(CHUNK_BYTES).clamp(1, CHUNK_BYTES);
    let (mut one, mut other) = (vec![0; chunk], vec![0; chunk]);
    let mut left = size;
    while left > 0 {
        let most = chunk.min(usize::try_from(left).unwrap_or(chunk));
        a.read_exact(&mut one[..most])?;
        if b.read_exact(&mut other[..most]).is_err() || one[..most] != other[..most] {
            return Ok(false);
        }
        left -= most as u64;
    }
    Ok(true)
}

/// Names in a directory, sorted.
fn names(dir: &OwnedFd, at: &Path, depth: usize) -> Result<Vec<CString>, ToolError> {
    if depth > MAX_DEPTH {
        let message = format!("{} lies more than {MAX_DEPTH} directories deep", at.display());
        return Err(ToolError::new(code::BAD_PATH, message));
    }
    let mut names = Vec::new();
    let entries = match Dir::read_from(dir) {
        Err(Errno::ACCESS) => reopen_as_owner(dir, OFlags::RDONLY | OFlags::DIRECTORY).and_then(Dir::new),
        other => other,
    };
    for entry in entries.map_err(|error| failed(at, error))? {
        let name = entry.map_err(|error| failed(at, error))?.file_name().to_owned();
        if name.as_c_str() != c"." && name.as_c_str() != c".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A directory of the layer, open to be looked into. It has the rights again that the command left it as soon as nobody does: of
/// many that are closed, one is open at once.
struct Entered {
    dir: OwnedFd,
    /// Rights that were lifted for that.
    lifted: Option<Mode>,
}

impl Entered {
    fn of(up: &OwnedFd, name: &CString, path: &Path) -> Result<Entered, ToolError> {
        match directory(up, &**name, false).and_then(searchable) {
            Ok(dir) => Ok(Entered { dir, lifted: None }),
            Err(Errno::ACCESS) => Entered::closed(up, name).map_err(|error| failed(path, error)),
            Err(error) => Err(failed(path, error)),
        }
    }

    fn closed(up: &OwnedFd, name: &CString) -> rustix::io::Result<Entered> {
        let flags = DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(up, name, flags, Mode::empty())?;
        let mode = Mode::from_raw_mode(bits(&rustix::fs::fstat(&handle)?));
        rustix::fs::chmod(marks::by_handle(&handle), mode | Mode::RWXU)?;
        let mut entered = Entered { dir: handle, lifted: Some(mode) };
        entered.dir = directory(up, &**name, false)?;
        Ok(entered)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(mode) = self.lifted {
            let _ = rustix::fs::chmod(marks::by_handle(&self.dir), mode);
        }
    }
}

/// Opens a directory to read its names. `same_mount`: not across a mount, which the overlay did not show.
pub(super) fn directory(
    dir: impl std::os::fd::AsFd,
    name: impl rustix::path::Arg,
    same_mount: bool,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    if same_mount {
        resolve |= ResolveFlags::NO_XDEV | ResolveFlags::BENEATH;
    }
    openat2(dir, name, flags, Mode::empty(), resolve)
}

/// A directory of the root.
fn covered(low: &OwnedFd, name: &CString, path: &Path) -> Result<OwnedFd, ToolError> {
    let open = || directory(low, &**name, true);
    let opened = match open() {
        Err(Errno::ACCESS) => owner::opened(open),
        other => other,
    };
    opened.map_err(|error| failed(path, error))
}

/// The same directory, if what its names are can be looked at as well.
fn searchable(dir: OwnedFd) -> rustix::io::Result<OwnedFd> {
    directory(&dir, c".", false).map(|_| dir)
}

fn failed(path: &Path, error: Errno) -> ToolError {
    errno(&format!("look at what the command did to {}", path.display()), error, code::READ_FAILED)
}

fn told(was: &Option<Stat>) -> What {
    if was.is_some() { What::Changed } else { What::Created }
}

pub(super) fn bits(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}

/// Whether it is a file with several names.
pub(super) fn is_linked(stat: &Stat) -> bool {
    kind(stat) == Some(Kind::File) && stat.st_nlink > 1
}

pub(super) fn mtime(stat: &Stat) -> (i64, u64) {
    (stat.st_mtime, stat.st_mtime_nsec)
}
