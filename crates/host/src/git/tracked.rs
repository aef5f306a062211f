//! What a repository's index says of some of its files.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_guard::Permit;
use rustix::fs::{FileType, Stat};
use sha1::{Digest, Sha1};
use sha2::Sha256;

use super::finder::{INDEX_BYTES, read};
use super::index::{Entry, entries, meaning, set_stat};

/// The largest file that is compared with what git has recorded. 16 MiB: of secrets, the longest are stores of keys.
pub(crate) const COMPARED_BYTES: u64 = 16 << 20;
/// The longest log of what `HEAD` was that is read. 16 MiB: some 100,000 moves.
pub(crate) const LOG_BYTES: u64 = 16 << 20;

/// The top of the work tree that `path` lies in, looked for up to `root`. Only where git keeps everything in a directory
/// there: what a `.git` file leads to is not looked at.
pub(crate) fn top_of<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    let top = any_top_of(root, path)?;
    top.join(".git").symlink_metadata().is_ok_and(|meta| meta.is_dir()).then_some(top)
}

/// The same, wherever git keeps its own.
pub(super) fn any_top_of<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    let mut tops = path.ancestors().skip(1).take_while(|above| above.starts_with(root));
    tops.find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// What an index that undo kept, or that stands there, says of every path, as a sum. `None` where it is none that is whole.
pub fn index_sum(_permit: &Permit, index: &[u8]) -> Option<[u8; 32]> {
    meaning(index)
}

/// The index of the work tree at `top`, also where a `.git` file says where it lies.
pub(super) fn index_at(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    if git.symlink_metadata().ok()?.is_dir() {
        return Some(git.join("index"));
    }
    let said = read(&git, 64 << 10).ok()??;
    let place = said.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    Some(top.join(OsStr::from_bytes(place)).join("index"))
}

/// An index, and what it says of some paths.
#[derive(Debug)]
pub(crate) struct Index {
    bytes: Vec<u8>,
    /// Whether objects have 32 bytes in their names.
    long: bool,
    /// When it was written, in seconds.
    written: i64,
    /// By the path from the top of the work tree.
    notes: HashMap<PathBuf, Note>,
}

/// What repositories had recorded before a command for files that it cannot replace, and what they noted of their commits.
#[derive(Debug, Clone, Default)]
pub struct Before {
    /// Of each root, the files, and directories of them.
    held: Vec<(PathBuf, Vec<PathBuf>)>,
    /// By the log of what `HEAD` was.
    then: HashMap<PathBuf, Noted>,
}

/// What a repository notes at one time.
#[derive(Debug, Clone, Default)]
struct Noted {
    /// By the path of each file the object that is recorded; an empty name where a merge waits.
    recorded: HashMap<PathBuf, Vec<u8>>,
    /// Bytes of the log; 0 where there is none.
    log_bytes: u64,
}

impl Before {
    /// For what is at or below `held` in `roots`, where a command may change that.
    pub fn of<'p>(
        permit: &Permit,
        roots: impl Iterator<Item = &'p PathBuf>,
        held: impl Iterator<Item = &'p PathBuf> + Clone,
    ) -> Before {
        if !permit.covers_changes_of_a_command() {
            return Before::default();
        }
        let below = |root: &PathBuf| held.clone().filter(|path| path.starts_with(root)).cloned().collect();
        let held: Vec<(PathBuf, Vec<PathBuf>)> = roots.map(|root| (root.clone(), below(root))).collect();
        Before { then: noted(&held), held }
    }

    /// What is recorded otherwise since then and does not stand so, where git went to another commit meanwhile.
    pub fn behind(&self, _permit: &Permit) -> Vec<PathBuf> {
        self.behind_by(|_| true)
    }

    /// The same for who holds a command that was permitted, of repositories alone whose `logs/HEAD` it may have `touched`: where
    /// others went meanwhile is nothing that it did.
    pub(crate) fn behind_by(&self, touched: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let nothing = Noted::default();
        let now = noted(&self.held).into_iter().filter(|(log, _)| touched(log));
        let of_one = |(log, now): (PathBuf, Noted)| now.behind(self.then.get(&log).unwrap_or(&nothing), &log);
        let mut all: Vec<PathBuf> = now.flat_map(of_one).collect();
        all.sort();
        all
    }
}

impl Noted {
    fn behind(&self, then: &Noted, log: &Path) -> Vec<PathBuf> {
        let added =
            || read(log, LOG_BYTES).ok().flatten().and_then(|log| Some(went(log.get(then.log_bytes as usize..)?)));
        let went = (self.log_bytes > then.log_bytes).then(added).flatten().unwrap_or_default();
        if !went.elsewhere {
            return Vec::new();
        }
        let stays = |path: &&PathBuf| !self.recorded.contains_key(*path) && path.symlink_metadata().is_ok();
        let gone = then.recorded.keys().filter(|path| went.at_once && stays(path));
        let other = self.recorded.iter().filter(|(path, object)| {
            let stands = || read(path, COMPARED_BYTES).ok().flatten();
            then.recorded.get(*path) != Some(*object)
                && !object.is_empty()
                && stands().is_none_or(|content| {
                    let is_it = |content: &[u8]| blob(content, object.len()) == **object;
                    !is_it(&content) && !is_it(&with_plain_ends(&content))
                })
        });
        gone.chain(other.map(|(path, _)| path)).cloned().collect()
    }
}

fn noted(held: &[(PathBuf, Vec<PathBuf>)]) -> HashMap<PathBuf, Noted> {
    let mut all: HashMap<PathBuf, Noted> = HashMap::new();
    for (root, paths) in held {
        let tops: HashSet<&Path> = paths.iter().filter_map(|path| any_top_of(root, path)).collect();
        for top in tops {
            let wanted: HashSet<&Path> = paths.iter().filter_map(|path| path.strip_prefix(top).ok()).collect();
            let is_wanted = |path: &Path| path.ancestors().any(|above| wanted.contains(above));
            let Some(file) = index_at(top) else { continue };
            let Some(index) = Index::of(&file, is_wanted) else { continue };
            let log = file.with_file_name("logs").join("HEAD");
            let log = log.canonicalize().unwrap_or(log);
            let one = all.entry(log).or_insert_with_key(|log| Noted {
                log_bytes: log.metadata().map_or(0, |meta| meta.len()),
                ..Noted::default()
            });
            one.recorded.extend(index.notes.into_iter().map(|(path, note)| match note {
                Note::File { object, .. } => (top.join(path), object),
                Note::Sides => (top.join(path), Vec::new()),
            }));
        }
    }
    all
}

/// What a log of `HEAD` tells of going to other commits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Went {
    /// Git went to another commit and was to put its files in place.
    pub elsewhere: bool,
    /// It did before anything was committed: what is recorded no more is not what somebody took out.
    pub at_once: bool,
}

/// Reads lines of such a log. Whatever moves `HEAD` goes elsewhere, but for these, which are to change records alone.
pub(crate) fn went(log: &[u8]) -> Went {
    const STAYS: &[&str] = &["commit", "reset"];
    let (mut all, mut committed) = (Went::default(), false);
    for line in String::from_utf8_lossy(log).lines() {
        let Some((head, said)) = line.split_once('\t') else { continue };
        let mut words = head.split(' ');
        let moved = words.next().zip(words.next()).is_some_and(|(from, to)| from != to);
        let verb = said.split([' ', ':', '(']).next().unwrap_or_default();
        let goes = moved && !STAYS.contains(&verb);
        all.elsewhere |= goes;
        all.at_once |= goes && !committed;
        committed |= verb == "commit";
    }
    all
}

/// The name that git gives to a file's content, in so many bytes.
fn blob(content: &[u8], length: usize) -> Vec<u8> {
    let head = format!("blob {}\0", content.len());
    hash(&[head.as_bytes(), content], length == 32)
}

/// The sum that git makes of it, of 20 bytes or of 32.
pub(super) fn hash(parts: &[&[u8]], long: bool) -> Vec<u8> {
    if long {
        return parts.iter().fold(Sha256::new(), |all, part| all.chain_update(part)).finalize().to_vec();
    }
    parts.iter().fold(Sha1::new(), |all, part| all.chain_update(part)).finalize().to_vec()
}

/// Content as git records it where it ends lines as the platform does.
fn with_plain_ends(content: &[u8]) -> Vec<u8> {
    let ends = |at: usize| content[at] == b'\r' && content.get(at + 1) == Some(&b'\n');
    (0..content.len()).filter(|at| !ends(*at)).map(|at| content[at]).collect()
}

/// Has the entry that begins at `at` note the time and size of `now`.
fn set_as(bytes: &mut [u8], at: usize, now: &Stat) -> Option<()> {
    let seconds = u32::try_from(now.st_mtime).ok()?;
    let nanoseconds = u32::try_from(now.st_mtime_nsec).unwrap_or_default();
    set_stat(bytes, at, (seconds, nanoseconds), (now.st_size.unsigned_abs() & 0xFFFF_FFFF) as u32)
}

/// What it says of one.
#[derive(Debug)]
enum Note {
    /// A file, and how it was when git last looked at it.
    File {
        /// Where in the index that stands.
        at: usize,
        /// When anything of it changed last, in seconds.
        ctime: u32,
        /// Seconds and nanoseconds.
        mtime: (u32, u32),
        size: u32,
        object: Vec<u8>,
    },
    /// The sides of a merge that nobody has decided.
    Sides,
}

impl Index {
    /// The index at `file`, for those of `wanted` that it has. `None` where there is none, or one that cannot be read, or
    /// that is split.
    pub(crate) fn of(file: &Path, wanted: impl Fn(&Path) -> bool) -> Option<Index> {
        let bytes = read(file, INDEX_BYTES).ok()??;
        let written = rustix::fs::lstat(file).ok()?.st_mtime;
        Index::from_bytes(bytes, written, wanted)
    }

    /// The same of its bytes, which were written at a time in seconds.
    pub(crate) fn from_bytes(bytes: Vec<u8>, written: i64, wanted: impl Fn(&Path) -> bool) -> Option<Index> {
        let parsed = |long: bool| {
            let mut notes = HashMap::new();
            let shared = entries(&bytes, long, |entry: &Entry<'_>| {
                let path = Path::new(OsStr::from_bytes(entry.name));
                if wanted(path) && !entry.is_only_told_of() {
                    let Entry { at, ctime, mtime, size, object, .. } = *entry;
                    let file = || Note::File { at, ctime, mtime, size, object: object.to_vec() };
                    notes.insert(path.to_path_buf(), if entry.is_side { Note::Sides } else { file() });
                }
            })?;
            shared.is_none().then_some(notes)
        };
        let (long, notes) = parsed(false).map(|notes| (false, notes)).or_else(|| Some((true, parsed(true)?)))?;
        Some(Index { bytes, long, written, notes })
    }

    /// Whether it has this one.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.notes.contains_key(path)
    }

    /// Those that it has as files, of which somebody decided.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.notes.iter().filter(|(_, note)| matches!(note, Note::File { .. })).map(|(path, _)| path.as_path())
    }

    /// The name of the object that it has recorded for a file.
    pub(crate) fn records(&self, path: &Path) -> Option<&[u8]> {
        match self.notes.get(path) {
            Some(Note::File { object, .. }) => Some(object),
            _ => None,
        }
    }

    /// Whether it notes `now`, which stands at `path`, as it is: git put it there, or has compared it.
    pub(crate) fn tells_of(&self, path: &Path, now: &Stat) -> bool {
        let Some(Note::File { mtime, size, .. }) = self.notes.get(path) else { return false };
        let kind = FileType::from_raw_mode(now.st_mode);
        // Git may be built to note whole seconds.
        let nanoseconds = mtime.1 == 0 || u64::from(mtime.1) == now.st_mtime_nsec;
        matches!(kind, FileType::RegularFile | FileType::Symlink)
            && i64::from(mtime.0) == now.st_mtime
            && nanoseconds
            && u64::from(*size) == now.st_size.unsigned_abs() & 0xFFFF_FFFF
    }

    /// Whether it has the sides of a merge for this one, and no decision.
    pub(crate) fn is_undecided(&self, path: &Path) -> bool {
        matches!(self.notes.get(path), Some(Note::Sides))
    }

    /// Whether git, with only `now` to go by, knows that the file is unchanged: what was written in the second in which the
    /// index was, or later, it reads.
    pub(crate) fn is_sure_of(&self, path: &Path, now: &Stat) -> bool {
        let Some(Note::File { ctime, .. }) = self.notes.get(path) else { return false };
        self.tells_of(path, now) && now.st_mtime < self.written && i64::from(*ctime) == now.st_ctime
    }

    /// Whether `content` is what it has recorded for `path`, byte for byte.
    pub(crate) fn holds(&self, path: &Path, content: &[u8]) -> bool {
        let Some(Note::File { object, .. }) = self.notes.get(path) else { return false };
        *object == blob(content, object.len())
    }

    /// The same, where git may have given the file other ends of lines than are recorded: only where it has the size that the
    /// index notes, as one that somebody gave these has not.
    pub(crate) fn holds_as_text(&self, path: &Path, content: &[u8]) -> bool {
        let Some(Note::File { size, .. }) = self.notes.get(path) else { return false };
        self.holds(path, content)
            || u32::try_from(content.len()).ok() == Some(*size) && self.holds(path, &with_plain_ends(content))
    }

    /// Has it note a file of `size` bytes at `path` that was last changed some seconds before the index was written.
    /// The seconds.
    pub(crate) fn note_as_sure(&mut self, path: &Path, size: u64) -> Option<i64> {
        let Some(Note::File { at, .. }) = self.notes.get(path) else { return None };
        let long_before = u32::try_from(self.written - 10).ok()?;
        set_stat(&mut self.bytes, *at, (long_before, 0), (size & 0xFFFF_FFFF) as u32)?;
        Some(long_before.into())
    }

    /// Has it note `was` again, where it notes the time that [`Index::note_as_sure`] gave; whether it does.
    pub(crate) fn note_as_it_was(&mut self, path: &Path, given: i64, was: &Stat) -> bool {
        let Some(Note::File { at, mtime, .. }) = self.notes.get(path) else { return false };
        if (i64::from(mtime.0), mtime.1) != (given, 0) {
            return false;
        }
        set_as(&mut self.bytes, *at, was).is_some()
    }

    /// Its bytes, and a time in seconds to give them, at which git knows that `unchanged` are, as they look now. `None` where
    /// it has none of them.
    pub(crate) fn settled(mut self, unchanged: &[(&Path, Stat)]) -> Option<(Vec<u8>, i64)> {
        let time = unchanged.iter().map(|(_, now)| now.st_mtime).max()?.saturating_add(1);
        let mut others = Vec::new();
        entries(&self.bytes, self.long, |entry| {
            if (self.written..time).contains(&entry.mtime.0.into()) {
                others.push((entry.at, entry.mtime));
            }
        })?;
        // Git reads whatever it has noted as empty, and is not.
        others.into_iter().try_for_each(|(at, mtime)| set_stat(&mut self.bytes, at, mtime, 0))?;
        for (path, now) in unchanged {
            let Some(Note::File { at, .. }) = self.notes.get(*path) else { return None };
            set_as(&mut self.bytes, *at, now)?;
        }
        Some((self.into_bytes()?, time))
    }

    /// Its bytes, with the sum at their end.
    pub(crate) fn into_bytes(mut self) -> Option<Vec<u8>> {
        let sum = if self.long { 32 } else { 20 };
        let body = self.bytes.len().checked_sub(sum)?;
        // Git can be told to write none.
        if self.bytes[body..].iter().any(|byte| *byte != 0) {
            let sum = hash(&[&self.bytes[..body]], self.long);
            self.bytes[body..].copy_from_slice(&sum);
        }
        Some(self.bytes)
    }
}
