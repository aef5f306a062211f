//! Opening and reading what a permit covers.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use nika_contract::text::near_names;
use nika_contract::{ToolError, code};
use nika_guard::{Permit, Place};
use rustix::fs::{FileType, OFlags, Stat};
use sha2::{Digest, Sha256};

use super::{Workspace, errno};

/// What identifies a file's content without reading it: device, inode, size and both times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    dev: u64,
    ino: u64,
    size: u64,
    mtime: (i64, u64),
    ctime: (i64, u64),
}

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Stamp {
        Stamp {
            dev: stat.st_dev,
            ino: stat.st_ino,
            size: stat.st_size.unsigned_abs(),
            mtime: (stat.st_mtime, stat.st_mtime_nsec),
            ctime: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl Stamp {
    /// Whether both are one file with the same size and modification time: all but the change time, which
    /// a new name moves too.
    pub(super) fn same_content(&self, other: &Stamp) -> bool {
        (self.dev, self.ino, self.size, self.mtime) == (other.dev, other.ino, other.size, other.mtime)
    }

    /// When the file last changed in any way, in milliseconds since 1970.
    pub fn changed_unix_ms(&self) -> u64 {
        u64::try_from(self.ctime.0).unwrap_or(0).saturating_mul(1000).saturating_add(self.ctime.1 / 1_000_000)
    }
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    /// Where it lies.
    pub place: Place,
    /// The handle.
    pub file: File,
    /// Bytes, when it was opened.
    pub size: u64,
    /// What it was when it was opened.
    pub stamp: Stamp,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    pub(super) links: u64,
}

/// A regular file with its bytes.
#[derive(Debug)]
pub struct FileNow {
    /// The file.
    pub open: OpenFile,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// sha256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

impl Workspace {
    /// Opens a regular file. Nothing else is ever opened: not a FIFO, which would block, not a device,
    /// which might act.
    pub fn open_file(&self, permit: &Permit, place: &Place) -> Result<OpenFile, ToolError> {
        let what = || format!("read {}", place.shown());
        self.covered(permit.covers_read(&place.path), place)?;
        let handle = self.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW).map_err(|error| {
            let refused = errno(&what(), error, code::READ_FAILED);
            if refused.code == code::NOT_FOUND { self.near(permit, place, refused) } else { refused }
        })?;
        let stat = regular(&handle, place)?;
        let file = Self::reopen(&handle).map_err(|error| errno(&what(), error, code::READ_FAILED))?;
        Ok(OpenFile {
            place: place.clone(),
            file,
            size: stat.st_size.unsigned_abs(),
            stamp: Stamp::from(&stat),
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            links: u64::from(stat.st_nlink as u32),
        })
    }

    /// Reads a whole regular file of at most `max_bytes`.
    pub fn read_file(&self, permit: &Permit, place: &Place, max_bytes: u64) -> Result<FileNow, ToolError> {
        let mut open = self.open_file(permit, place)?;
        let bytes = open.read_all(max_bytes)?;
        Ok(FileNow { open, bytes })
    }

    /// Opens a directory to list or search it.
    pub fn open_dir(&self, permit: &Permit, place: &Place) -> Result<OwnedFd, ToolError> {
        self.covered(permit.covers_read(&place.path), place)?;
        self.open_exact(&place.path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW).map_err(|error| {
            if error == rustix::io::Errno::NOTDIR && self.exists(place) {
                return ToolError::new(code::NOT_A_FILE, format!("{} is not a directory", place.shown()));
            }
            let refused = errno(&format!("open {}", place.shown()), error, code::READ_FAILED);
            if refused.code == code::NOT_FOUND { self.near(permit, place, refused) } else { refused }
        })
    }

    /// Whether something stands at a resolved place; a directory, or not.
    pub fn is_dir(&self, permit: &Permit, place: &Place) -> bool {
        permit.covers_read(&place.path)
            && self.open_exact(&place.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW).is_ok()
    }

    pub(super) fn exists(&self, place: &Place) -> bool {
        self.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW).is_ok()
    }

    /// Done is within declared, or nothing is done.
    pub(super) fn covered(&self, covered: bool, place: &Place) -> Result<(), ToolError> {
        if self.is_own_state(&place.path) {
            let message = format!("{} is Nika's own state, which no call touches", place.shown());
            return Err(ToolError::new(code::OUT_OF_BOUNDS, message));
        }
        if covered {
            return Ok(());
        }
        Err(ToolError::new(
            code::OUT_OF_BOUNDS,
            format!("{} is not what this call was allowed to touch", place.shown()),
        ))
    }

    /// The refusal, with names of siblings that look like the missing one.
    fn near(&self, permit: &Permit, place: &Place, refused: ToolError) -> ToolError {
        let (Some(parent), Some(name)) = (place.path.parent(), place.path.file_name()) else { return refused };
        let siblings =
            self.names_in(parent).into_iter().filter(|sibling| permit.may_mention(self.place(parent.join(sibling))));
        let near = near_names(&name.to_string_lossy(), siblings, 3);
        if near.is_empty() {
            return refused.hint("`glob` finds files by pattern");
        }
        let shown: Vec<String> = near.iter().map(|name| self.shown(&parent.join(name))).collect();
        refused.hint(format!("did you mean {}?", shown.join(" or ")))
    }

    /// At most a thousand names in a directory of the workspace.
    fn names_in(&self, dir: &Path) -> Vec<String> {
        let Ok(fd) = self.open_exact(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW) else {
            return Vec::new();
        };
        let Ok(entries) = rustix::fs::Dir::new(fd) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "." && name != "..").take(1000).collect()
    }
}

impl OpenFile {
    /// The whole file, if it has at most `max_bytes`.
    pub fn read_all(&mut self, max_bytes: u64) -> Result<Vec<u8>, ToolError> {
        let too_large = |size: u64| {
            ToolError::new(
                code::TOO_LARGE,
                format!("{} has {size} bytes; this takes at most {max_bytes}", self.place.shown()),
            )
            .hint("read a part with `offset` and `limit`, or search it with `grep`")
        };
        if self.size > max_bytes {
            return Err(too_large(self.size));
        }
        // One spare byte lets the read that finds the end be the one that fills the buffer.
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0) + 1);
        let read = (&mut self.file).take(max_bytes + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", self.place.shown()))
        })?;
        if bytes.len() as u64 > max_bytes {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(bytes)
    }
}

/// The status of a regular file, or why it is none.
pub(super) fn regular(handle: &OwnedFd, place: &Place) -> Result<Stat, ToolError> {
    let stat = rustix::fs::fstat(handle)
        .map_err(|error| errno(&format!("read {}", place.shown()), error, code::READ_FAILED))?;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(stat),
        FileType::Directory => {
            return Err(ToolError::new(code::NOT_A_FILE, format!("{} is a directory", place.shown()))
                .hint("`list_dir` shows what is in it"));
        }
        FileType::Symlink => "a link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "of an unknown kind",
    };
    Err(ToolError::new(code::NOT_A_FILE, format!("{} is {kind}, not a regular file", place.shown())))
}
