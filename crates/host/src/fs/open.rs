//! Opening and reading what a permit covers.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use nika_contract::text::near_names;
use nika_contract::{Dress, Kind, ToolError, code};
use nika_guard::{Permit, Place};
use rustix::fs::{FileType, OFlags, Stat};
use sha2::{Digest, Sha256};

use super::owned::Rights;
use super::{Workspace, errno, is_absence};

/// Hashed at once.
const CHUNK_BYTES: usize = 64 << 10;

/// What identifies a file's content without reading it: device, inode, size and both times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
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
    pub(crate) fn same_content(&self, other: &Stamp) -> bool {
        (self.dev, self.ino, self.size, self.mtime) == (other.dev, other.ino, other.size, other.mtime)
    }

    /// The same, were its time the one that somebody set.
    pub(crate) fn with_mtime(self, mtime: (i64, u64)) -> Stamp {
        Stamp { mtime, ..self }
    }

    /// Whether both are one file, whatever happened to it.
    pub(crate) fn same_file(&self, other: &Stamp) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Device and inode.
    pub(crate) fn inode(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// When it last changed in any way: seconds and nanoseconds.
    pub(crate) fn changed(&self) -> (i64, u64) {
        self.ctime
    }

    /// Inode, size and modification time: what neither a rename nor a restart of the machine changes.
    pub fn as_numbers(&self) -> [i64; 4] {
        [self.ino as i64, self.size as i64, self.mtime.0, self.mtime.1 as i64]
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

/// What stands at a place, its content not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glance {
    /// `None` for a device, a FIFO or a socket.
    pub kind: Option<Kind>,
    /// Permission bits.
    pub mode: u32,
    /// Bytes.
    pub size: u64,
    /// Inode, size and modification time: what a rename does not change.
    pub numbers: [i64; 4],
    /// Names that a file has.
    pub links: u64,
}

/// sha256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// sha256 of all that can be read, in pieces.
pub(crate) fn sha256_of(from: &mut impl Read) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match from.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().into()),
            read => hasher.update(&chunk[..read]),
        }
    }
}

/// `None` for what is neither file, link nor directory.
pub(crate) fn kind_of(stat: &Stat) -> Option<Kind> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(Kind::File),
        FileType::Symlink => Some(Kind::Link),
        FileType::Directory => Some(Kind::Directory),
        _ => None,
    }
}

impl Workspace {
    /// Opens a regular file. Nothing else is ever opened: not a FIFO, which would block, not a device,
    /// which might act.
    pub fn open_file(&self, permit: &Permit, place: &Place) -> Result<OpenFile, ToolError> {
        self.open_file_by(permit, place, Rights::AsTheyAre)
    }

    pub(super) fn open_file_by(&self, permit: &Permit, place: &Place, rights: Rights) -> Result<OpenFile, ToolError> {
        let what = || format!("read {}", place.shown());
        self.covered(permit.covers_read(&place.path), place)?;
        let handle = self.open_by(&place.path, OFlags::PATH | OFlags::NOFOLLOW, rights).map_err(|error| {
            let refused = errno(&what(), error, code::READ_FAILED);
            if refused.code == code::NOT_FOUND { self.near(permit, place, refused) } else { refused }
        })?;
        let stat = regular(&handle, place)?;
        let file = rights.reopen(&handle).map_err(|error| errno(&what(), error, code::READ_FAILED))?;
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

    /// What stands at an entry, a link not followed. `None` where nothing does.
    pub fn glance(&self, permit: &Permit, place: &Place) -> Result<Option<Glance>, ToolError> {
        self.glance_by(permit, place, Rights::AsTheyAre)
    }

    pub(super) fn glance_by(
        &self,
        permit: &Permit,
        place: &Place,
        rights: Rights,
    ) -> Result<Option<Glance>, ToolError> {
        self.covered(permit.covers_read(&place.path), place)?;
        let what = |error| errno(&format!("read {}", place.shown()), error, code::READ_FAILED);
        let handle = match self.open_by(&place.path, OFlags::PATH | OFlags::NOFOLLOW, rights) {
            Ok(handle) => handle,
            Err(error) if is_absence(error) => return Ok(None),
            Err(error) => return Err(what(error)),
        };
        let stat = rustix::fs::fstat(&handle).map_err(what)?;
        let stamp = Stamp::from(&stat);
        Ok(Some(Glance {
            kind: kind_of(&stat),
            mode: stat.st_mode & 0o7777,
            size: stamp.size,
            numbers: stamp.as_numbers(),
            links: u64::from(stat.st_nlink as u32),
        }))
    }

    /// What a file has beside its content and rights.
    pub fn worn(&self, permit: &Permit, place: &Place) -> Option<Dress> {
        self.covered(permit.covers_read(&place.path), place).ok()?;
        super::worn_by_all(&self.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW).ok()?)
    }

    /// sha256 of a file of any size, read in pieces, or of where a link points.
    pub fn digest(&self, permit: &Permit, place: &Place) -> Result<[u8; 32], ToolError> {
        self.digest_by(permit, place, Rights::AsTheyAre)
    }

    pub(super) fn digest_by(&self, permit: &Permit, place: &Place, rights: Rights) -> Result<[u8; 32], ToolError> {
        self.covered(permit.covers_read(&place.path), place)?;
        let what = |error| errno(&format!("read {}", place.shown()), error, code::READ_FAILED);
        let handle = self.open_by(&place.path, OFlags::PATH | OFlags::NOFOLLOW, rights).map_err(what)?;
        if let Ok(target) = rustix::fs::readlinkat(&handle, "", Vec::new()) {
            return Ok(sha256(target.as_bytes()));
        }
        regular(&handle, place)?;
        let mut file = rights.reopen(&handle).map_err(what)?;
        sha256_of(&mut file)
            .map_err(|error| ToolError::new(code::READ_FAILED, format!("cannot read {}: {error}", place.shown())))
    }

    /// Names of what is in a directory; none where there is no directory.
    pub fn names(&self, permit: &Permit, place: &Place) -> Vec<std::ffi::OsString> {
        self.names_by(permit, place, Rights::AsTheyAre)
    }

    pub(super) fn names_by(&self, permit: &Permit, place: &Place, rights: Rights) -> Vec<std::ffi::OsString> {
        use std::os::unix::ffi::OsStrExt;
        if !permit.covers_read(&place.path) {
            return Vec::new();
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let Ok(entries) = self.open_by(&place.path, flags, rights).and_then(rustix::fs::Dir::new) else {
            return Vec::new();
        };
        let names = entries.flatten().map(|entry| std::ffi::OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        names.filter(|name| name != "." && name != "..").collect()
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
    pub(crate) fn covered(&self, covered: bool, place: &Place) -> Result<(), ToolError> {
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
