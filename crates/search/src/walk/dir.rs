//! Touching directories: open without following links, list, and read the
//! ignore files found there.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::{gone, to_path};
use crate::error::SearchError;
use crate::ignores::{EXCLUDE, GITIGNORE, IGNORE, IgnoreFile, Node, RGIGNORE, SORTS};
use crate::list::Kind;
use crate::record::Tally;
use crate::scope::Scope;

/// Not waiting for a FIFO that took the place of what was listed.
const FILE_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);
pub(super) const DIR_FLAGS: OFlags = FILE_FLAGS.union(OFlags::DIRECTORY);

/// Opens a listed file for reading.
pub(crate) fn open_file<P: rustix::path::Arg>(dir: BorrowedFd<'_>, name: P) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, name, FILE_FLAGS, Mode::empty())
}

/// Opens a listed directory.
pub(super) fn open_dir(dir: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, name, DIR_FLAGS, Mode::empty())
}

/// File systems (by the number `statfs` gives) whose regular files are read
/// whole: ext, XFS, Btrfs, tmpfs, overlay, F2FS. Elsewhere a short read says
/// nothing, as in `/proc`.
const WHOLE_READS: &[u32] = &[0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010];

/// Whether a short read of a file listed here means that it ended.
pub(super) fn reads_whole(dir: BorrowedFd<'_>) -> bool {
    rustix::fs::fstatfs(dir).is_ok_and(|s| WHOLE_READS.contains(&(s.f_type as u32)))
}

/// The same directory again, read from its start.
pub(crate) fn reopen_dir(dir: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(dir, c".", DIR_FLAGS, Mode::empty())
}

pub(crate) fn kind_of_mode(t: FileType) -> Kind {
    match t {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// What a directory entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundKind {
    File,
    Dir,
    Link,
    Other,
    /// The file system did not say.
    Unknown,
}

impl From<FileType> for FoundKind {
    fn from(t: FileType) -> Self {
        match t {
            FileType::RegularFile => FoundKind::File,
            FileType::Directory => FoundKind::Dir,
            FileType::Symlink => FoundKind::Link,
            FileType::Unknown => FoundKind::Unknown,
            _ => FoundKind::Other,
        }
    }
}

/// Asks what an entry is.
pub(super) fn kind_of(dir: BorrowedFd<'_>, name: &CStr) -> FoundKind {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode).into(),
        Err(_) => FoundKind::Other,
    }
}

/// The entries of one directory, in buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    raw: Vec<std::mem::MaybeUninit<u8>>,
    names: Vec<u8>,
    items: Vec<Item>,
    ignore_names: bool,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    at: u32,
    len: u32,
    kind: FoundKind,
}

/// The system's buffer: what the C library uses.
const LIST_BYTES: usize = 32 << 10;

/// Names that decide what else counts, and where each is kept in a node.
const IGNORE_NAMES: &[(&[u8], Option<usize>)] = &[
    (b".rgignore", Some(RGIGNORE)),
    (b".ignore", Some(IGNORE)),
    (b".gitignore", Some(GITIGNORE)),
    (b".git", None),
    (b".jj", None),
];

impl Entries {
    /// Lists a directory.
    pub fn read(&mut self, dir: BorrowedFd<'_>) -> Result<(), Errno> {
        self.names.clear();
        self.items.clear();
        self.ignore_names = false;
        if self.raw.is_empty() {
            self.raw.resize_with(LIST_BYTES, std::mem::MaybeUninit::uninit);
        }
        let mut list = RawDir::new(dir, &mut self.raw);
        while let Some(entry) = list.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes_with_nul();
            if name[0] == b'.' {
                if matches!(name, b".\0" | b"..\0") {
                    continue;
                }
                self.ignore_names |= IGNORE_NAMES.iter().any(|n| n.0 == &name[..name.len() - 1]);
            }
            self.items.push(Item {
                at: self.names.len() as u32,
                len: name.len() as u32,
                kind: entry.file_type().into(),
            });
            self.names.extend_from_slice(name);
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn name(&self, i: usize) -> &CStr {
        let item = self.items[i];
        let bytes = &self.names[item.at as usize..(item.at + item.len) as usize];
        CStr::from_bytes_with_nul(bytes).unwrap_or(c"")
    }

    pub fn kind(&self, i: usize) -> FoundKind {
        self.items[i].kind
    }

    pub fn is_dir(&self, i: usize) -> bool {
        self.kind(i) == FoundKind::Dir
    }

    pub fn sort(&mut self) {
        let names = &self.names;
        self.items.sort_unstable_by_key(|i| &names[i.at as usize..(i.at + i.len) as usize]);
    }

    pub fn has_ignore_names(&self) -> bool {
        self.ignore_names
    }

    /// Which of [`IGNORE_NAMES`] are here, and as what.
    pub fn ignore_names(&self) -> Vec<(&'static [u8], FoundKind)> {
        let all = 0..self.len();
        all.filter(|&i| self.names[self.items[i].at as usize] == b'.')
            .filter_map(|i| IGNORE_NAMES.iter().find(|n| n.0 == self.name(i).to_bytes()).map(|n| (n.0, self.kind(i))))
            .collect()
    }
}

/// What the ignore files of one directory come to.
#[derive(Default)]
pub(super) struct Found {
    pub files: [Option<Arc<IgnoreFile>>; SORTS],
    pub is_repository: bool,
}

/// Reads the ignore files of a directory. A link is not followed, so a linked
/// one counts for nothing, as for git.
pub(super) fn ignore_files(
    dir: BorrowedFd<'_>,
    names: &[(&'static [u8], FoundKind)],
    place: PathBuf,
    tally: &mut Tally,
) -> Found {
    let mut found = Found::default();
    let mut load = |name: &[u8], sort: usize, dir: BorrowedFd<'_>, under: &str| {
        let path = place.join(under).join(to_path(name));
        match open_file(dir, name).and_then(read_small) {
            Ok(text) => {
                let file = IgnoreFile::new(path, &text);
                found.files[sort] = (!file.is_empty()).then(|| Arc::new(file));
            }
            Err(e) if gone(&e) || e == Errno::ISDIR => {}
            Err(e) => tally.unreadable(path, e),
        }
    };
    let mut is_repository = false;
    for (name, kind) in names {
        let sort = IGNORE_NAMES.iter().find(|n| n.0 == *name).and_then(|n| n.1);
        match sort {
            Some(sort) => load(name, sort, dir, ""),
            None => {
                is_repository = true;
                // In a linked worktree `.git` is a file, and the exclude file
                // lies outside the root: the caller may pass it as outer.
                if *name == b".git" && matches!(kind, FoundKind::Dir | FoundKind::Unknown) {
                    let info = open_dir(dir, b".git").and_then(|git| open_dir(git.as_fd(), b"info"));
                    if let Ok(info) = info {
                        load(b"exclude", EXCLUDE, info.as_fd(), ".git/info");
                    }
                }
            }
        }
    }
    found.is_repository = is_repository;
    found
}

/// An ignore file larger than this is cut: it is no longer one.
const MAX_IGNORE_BYTES: usize = 8 << 20;

fn read_small(fd: OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut text = vec![0; 8 << 10];
    let mut len = 0;
    loop {
        match rustix::io::read(&fd, &mut text[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
        if len == text.len() {
            if len >= MAX_IGNORE_BYTES {
                break;
            }
            text.resize(len * 2, 0);
        }
    }
    text.truncate(len);
    Ok(text)
}

/// The nodes from the root to just above the base; `path` becomes the base's.
pub(super) fn ancestors(
    scope: &Scope<'_>,
    path: &mut Vec<u8>,
    mut node: Arc<Node>,
    files: &mut Vec<Arc<IgnoreFile>>,
) -> Result<Arc<Node>, SearchError> {
    let root_from = path.len();
    let mut fd: Option<OwnedFd> = None;
    let mut unread = Tally::default();
    for name in components(scope.base.as_os_str().as_bytes()) {
        let dir = fd.as_ref().map_or(scope.root, |f| f.as_fd());
        if !scope.no_ignore {
            let names: Vec<_> = IGNORE_NAMES
                .iter()
                .filter_map(|n| {
                    rustix::fs::statat(dir, n.0, AtFlags::SYMLINK_NOFOLLOW)
                        .ok()
                        .map(|s| (n.0, FileType::from_raw_mode(s.st_mode).into()))
                })
                .collect();
            let found = ignore_files(dir, &names, to_path(&path[root_from..]), &mut unread);
            files.extend(found.files.iter().flatten().cloned());
            let strip = if path.len() > root_from { path.len() + 1 } else { root_from };
            node = node.child(strip, found.files, found.is_repository);
        }
        let next = open_dir(dir, name);
        if path.len() > root_from {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        // The last may be a file; its parent is all that is needed then.
        fd = next.ok();
        if fd.is_none() {
            break;
        }
    }
    Ok(node)
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|b| *b == b'/').filter(|c| !c.is_empty() && *c != b".")
}

/// What a search starts from.
#[derive(Debug)]
pub(crate) enum Base {
    Dir(OwnedFd),
    /// A regular file, with its path as walked.
    File(OwnedFd, Vec<u8>),
}

/// Opens the base beneath the root, component by component, through no link.
pub(crate) fn open_base(scope: &Scope<'_>) -> Result<Base, SearchError> {
    let path = || scope.base.to_path_buf();
    let io = |e: Errno| match e {
        Errno::NOENT | Errno::NOTDIR => SearchError::BaseNotFound { path: path() },
        Errno::LOOP => SearchError::BaseKind {
            path: path(),
            found: "reached through a symbolic link",
            wanted: "a path without links",
        },
        e => SearchError::Io { path: path(), source: e.into() },
    };
    let names: Vec<&[u8]> = components(scope.base.as_os_str().as_bytes()).collect();
    if scope.base.is_absolute() || names.contains(&&b".."[..]) {
        return Err(SearchError::BaseKind {
            path: path(),
            found: "absolute or climbs with `..`",
            wanted: "a path beneath the root",
        });
    }
    let Some((last, above)) = names.split_last() else {
        let fd = rustix::fs::openat(scope.root, ".", DIR_FLAGS, Mode::empty()).map_err(io)?;
        return Ok(Base::Dir(fd));
    };
    let mut parent: Option<OwnedFd> = None;
    for name in above {
        let dir = parent.as_ref().map_or(scope.root, |f| f.as_fd());
        // `O_DIRECTORY | O_NOFOLLOW` calls a link "not a directory".
        let opened = open_dir(dir, name).map_err(|e| match rustix::fs::statat(dir, *name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(s) if FileType::from_raw_mode(s.st_mode) == FileType::Symlink => Errno::LOOP,
            _ => e,
        });
        parent = Some(opened.map_err(io)?);
    }
    let dir = parent.as_ref().map_or(scope.root, |f| f.as_fd());
    let stat = rustix::fs::statat(dir, *last, AtFlags::SYMLINK_NOFOLLOW).map_err(io)?;
    let wanted = "a directory or a regular file";
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Base::Dir(open_dir(dir, last).map_err(io)?)),
        FileType::RegularFile => {
            let joined = names.join(&b'/');
            if scope.veto.is_some_and(|veto| veto(&joined, false)) {
                return Err(SearchError::BaseWithheld { path: path() });
            }
            let fd = open_file(dir, *last).map_err(io)?;
            // It may have been replaced since it was looked at.
            match rustix::fs::fstat(&fd).map(|s| FileType::from_raw_mode(s.st_mode)) {
                Ok(FileType::RegularFile) => Ok(Base::File(fd, joined)),
                _ => Err(SearchError::BaseKind { path: path(), found: "not a regular file any more", wanted }),
            }
        }
        FileType::Symlink => Err(SearchError::BaseKind { path: path(), found: "a symbolic link", wanted }),
        _ => Err(SearchError::BaseKind { path: path(), found: "a device, FIFO or socket", wanted }),
    }
}
