//! One name in a directory, held so that no link can lead a change elsewhere.
//!
//! What is made and removed from outside on behalf of a command lies among what commands write: between a look and a step
//! any directory on the way may be replaced by a link. So the directory is opened once, through no link at all, and every
//! step is one name in it.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawMode, RenameFlags, ResolveFlags, Stat, fchmod, fstat, linkat, mkdirat,
    mknodat, openat, openat2, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

/// A name, which may be free, and the directory that it is in.
#[derive(Debug)]
pub(super) struct Entry {
    dir: std::sync::Arc<OwnedFd>,
    name: OsString,
}

impl Entry {
    /// The name at `path`, which is absolute. `LOOP` where a link is on the way.
    pub(super) fn at(path: &Path) -> Result<Entry, Errno> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(Entry { dir: dir.into(), name: name.to_owned() })
    }

    /// Another name in its directory.
    pub(super) fn beside(&self, name: impl AsRef<OsStr>) -> Entry {
        Entry { dir: self.dir.clone(), name: name.as_ref().to_owned() }
    }

    /// What is there, a link itself.
    pub(super) fn stat(&self) -> Result<Stat, Errno> {
        statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// An empty directory of this mode, whatever the umask.
    pub(super) fn make_directory(&self, mode: RawMode) -> Result<(), Errno> {
        mkdirat(&self.dir, &self.name, Mode::from_raw_mode(mode))?;
        self.set_mode(mode)
    }

    /// A file of this mode and content.
    pub(super) fn make_file(&self, mode: RawMode, content: &[u8]) -> Result<(), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.dir, &self.name, flags, Mode::from_raw_mode(mode))?;
        rustix::io::write(&file, content)?;
        fchmod(&file, Mode::from_raw_mode(mode))
    }

    /// A whiteout, or a socket.
    pub(super) fn make_node(&self, kind: FileType, mode: RawMode) -> Result<(), Errno> {
        mknodat(&self.dir, &self.name, kind, Mode::from_raw_mode(mode), 0)?;
        if kind == FileType::Socket { self.set_mode(mode) } else { Ok(()) }
    }

    /// Gives back what the umask took away, to what was made and not to what a link leads to by now.
    fn set_mode(&self, mode: RawMode) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(&self.dir, &self.name, flags, Mode::empty())?;
        match fstat(&handle)?.st_mode {
            now if now & 0o7777 == mode || FileType::from_raw_mode(now) == FileType::Symlink => Ok(()),
            _ => rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode)),
        }
    }

    /// Makes it a second name of `other`.
    pub(super) fn link_to(&self, other: &Entry) -> Result<(), Errno> {
        linkat(&other.dir, &other.name, &self.dir, &self.name, AtFlags::empty())
    }

    /// Gives what is there the name `to`, if that is free.
    pub(super) fn rename_to(&self, to: &Entry) -> Result<(), Errno> {
        renameat_with(&self.dir, &self.name, &to.dir, &to.name, RenameFlags::NOREPLACE)
    }

    /// Removes it; a directory only if it is empty.
    pub(super) fn remove(&self) -> Result<(), Errno> {
        let is_directory = FileType::from_raw_mode(self.stat()?.st_mode) == FileType::Directory;
        unlinkat(&self.dir, &self.name, if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() })
    }
}
