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
use super::index::{Entry, entries, set_stat};

/// The largest file that is compared with what git has recorded. 16 MiB.
const COMPARED_BYTES: u64 = 16 << 20;

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

/// What repositories have recorded for some files, by their paths.
#[derive(Debug, Default)]
pub struct Recorded(HashMap<PathBuf, Vec<u8>>);

impl Recorded {
    /// For what is at or below `paths` in `root`, where a command may change that.
    pub fn of(permit: &Permit, root: &Path, paths: &[PathBuf]) -> Recorded {
        if !permit.covers_changes_of_a_command() {
            return Recorded::default();
        }
        let tops: HashSet<&Path> = paths.iter().filter_map(|path| any_top_of(root, path)).collect();
        let mut all = HashMap::new();
        for top in tops {
            let wanted: HashSet<&Path> = paths.iter().filter_map(|path| path.strip_prefix(top).ok()).collect();
            let is_wanted = |path: &Path| path.ancestors().any(|above| wanted.contains(above));
            let Some(index) = index_at(top).and_then(|file| Index::of(&file, is_wanted)) else { continue };
            all.extend(index.notes.into_iter().map(|(path, note)| match note {
                Note::File { object, .. } => (top.join(path), object),
                Note::Sides => (top.join(path), Vec::new()),
            }));
        }
        Recorded(all)
    }

    /// What is recorded otherwise since `before`, and does not stand there so.
    pub fn not_in_place(&self, _permit: &Permit, before: &Recorded) -> Vec<PathBuf> {
        let gone = before.0.keys().filter(|path| !self.0.contains_key(*path) && path.symlink_metadata().is_ok());
        let other = self.0.iter().filter(|(path, object)| {
            let stands = || read(path, COMPARED_BYTES).ok().flatten();
            before.0.get(*path) != Some(*object)
                && stands().is_none_or(|content| blob(&content, object.len()) != **object)
        });
        let mut all: Vec<PathBuf> = gone.chain(other.map(|(path, _)| path)).cloned().collect();
        all.sort();
        all
    }
}

/// The name that git gives to a file's content, in so many bytes.
fn blob(content: &[u8], length: usize) -> Vec<u8> {
    let head = format!("blob {}\0", content.len());
    hash(&[head.as_bytes(), content], length == 32)
}

fn hash(parts: &[&[u8]], long: bool) -> Vec<u8> {
    if long {
        return parts.iter().fold(Sha256::new(), |all, part| all.chain_update(part)).finalize().to_vec();
    }
    parts.iter().fold(Sha1::new(), |all, part| all.chain_update(part)).finalize().to_vec()
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
        let parsed = |long: bool| {
            let mut notes = HashMap::new();
            let shared = entries(&bytes, long, |entry: &Entry<'_>| {
                let path = Path::new(OsStr::from_bytes(entry.name));
                if wanted(path) {
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

    /// Has it note a file of `size` bytes at `path` that was last changed some seconds before the index was written.
    /// The seconds.
    pub(crate) fn note_as_sure(&mut self, path: &Path, size: u64) -> Option<i64> {
        let Some(Note::File { at, .. }) = self.notes.get(path) else { return None };
        let long_before = u32::try_from(self.written - 10).ok()?;
        set_stat(&mut self.bytes, *at, (long_before, 0), (size & 0xFFFF_FFFF) as u32)?;
        Some(long_before.into())
    }

    /// Has it note `was` again, where it notes the time that [`Index::note_as_sure`] gave; whether it does.
    pub(crate) fn note_as_it_is(&mut self, path: &Path, given: i64, was: &Stat) -> bool {
        let Some(Note::File { at, mtime, .. }) = self.notes.get(path) else { return false };
        if (i64::from(mtime.0), mtime.1) != (given, 0) {
            return false;
        }
        set_as(&mut self.bytes, *at, was).is_some()
    }

    /// Its bytes, and a time in seconds to give them, at which git knows that `unchanged` are, as they look now. `None` where
    /// it has none of them.
    pub(crate) fn settled(mut self, unchanged: &[(&Path, Stat)]) -> Option<(Vec<u8>, i64)> {
        let time = unchanged.iter().map(|(_, now)| now.st_mtime).max()? + 1;
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
