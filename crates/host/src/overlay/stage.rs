//! A layer on another file system than its root: what is to be moved is copied beside its place first.
//!
//! That place is in the root, where commands that run meanwhile may put links. So each step is one name in a directory that
//! was found from an open one, through no link.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use rustix::fs::{
    AtFlags, Dir, Gid, Mode, OFlags, ResolveFlags, Stat, Timespec, Timestamps, Uid, XattrFlags, chownat, fchmod,
    fchown, fsetxattr, fstat, futimens, linkat, mkdir, mkdirat, openat, openat2, readlinkat, symlinkat, utimensat,
};

use super::joined::Joined;
use super::marks::{self, by_handle};
use super::sweep::remove_tree;
use super::walk::{MAX_DEPTH, kind};
use crate::fs::{open_as_owner, parent_as_owner, reopen_with_rights, temp_name, with_rights};

/// A free place for copies in a root: a name in a directory of ours that cannot be listed. A job that runs meanwhile sees
/// that directory, and what is copied may be hidden from it; without the name it comes to none of it.
pub(super) fn place_in(root: &Path) -> PathBuf {
    root.join(temp_name()).join(temp_name())
}

/// Makes it.
pub(super) fn make(place: &Path) -> rustix::io::Result<()> {
    mkdir(above(place), Mode::WUSR | Mode::XUSR)?;
    mkdir(place, Mode::RWXU)
}

/// Removes it with all in it. What is in the directory around it goes first, as who removes a tree makes it so that it can be
/// listed.
pub(super) fn remove(place: &Path) {
    remove_tree(place);
    remove_tree(above(place));
}

/// The same of all that is not one of these copies.
pub(super) fn remove_but(place: &Path, kept: &[PathBuf]) {
    if !kept.iter().any(|copy| copy.starts_with(place)) {
        return remove(place);
    }
    let all = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    for copy in all.filter(|copy| !kept.contains(copy)) {
        if std::fs::remove_file(&copy).is_err() {
            remove_tree(&copy);
        }
    }
}

fn above(place: &Path) -> &Path {
    place.parent().unwrap_or(place)
}

/// Zeros of this length become a hole.
const CHUNK_BYTES: usize = 64 << 10;

/// Copies entries into a directory and remembers their inodes, so that names of one file stay names of one file.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    top: OwnedFd,
    copied: HashMap<(u64, u64), PathBuf>,
    /// Files that what is copied here and there is a name of.
    joined: Option<&'a Joined>,
}

impl<'a> Stage<'a> {
    /// Copies go into the directory `top`; where they are of `joined` files, these get names.
    pub(super) fn within(top: OwnedFd, joined: Option<&'a Joined>) -> Stage<'a> {
        Stage { top, copied: HashMap::new(), joined }
    }

    /// Copies `from` to the free name `to`: content, rights, times, attributes, links as links. What is deeper than what can
    /// be applied is refused.
    pub(super) fn copy(&mut self, from: &Path, to: &OsStr) -> io::Result<()> {
        let (above, name) = parent_as_owner(from)?;
        self.copy_at((&above, name), Path::new(to), 0)
    }

    fn copy_at(&mut self, (above, from): (&OwnedFd, &OsStr), to: &Path, depth: usize) -> io::Result<()> {
        let from = open_as_owner(above, from.as_ref(), OFlags::PATH | OFlags::NOFOLLOW)?;
        let stat = fstat(&from)?;
        let id = (stat.st_dev, stat.st_ino);
        let (dir, name) = self.parent_of(to)?;
        if kind(&stat) == Some(Kind::Link) {
            symlinkat(readlinkat(&from, "", Vec::new())?, &dir, name)?;
            let _ = chownat(&dir, name, owner(&stat).0, owner(&stat).1, AtFlags::SYMLINK_NOFOLLOW);
            return Ok(utimensat(&dir, name, &times(&stat), AtFlags::SYMLINK_NOFOLLOW)?);
        }
        if kind(&stat) == Some(Kind::Directory) {
            if depth > MAX_DEPTH {
                return Err(io::Error::other(format!("it is more than {MAX_DEPTH} directories deep")));
            }
            mkdirat(&dir, name, Mode::RWXU)?;
            let made = openat(&dir, name, DIRECTORY, Mode::empty())?;
            for name in names_in(reopen_with_rights(&from, OFlags::RDONLY | OFlags::DIRECTORY)?)? {
                self.copy_at((&from, &name), &to.join(&name), depth + 1)?;
            }
            return dress(&made, &from, &stat);
        }
        // A device, a FIFO or a socket holds nothing.
        if kind(&stat).is_none() {
            return Ok(());
        }
        if self.joined.is_some_and(|joined| joined.link(id, &dir, name)) {
            return Ok(());
        }
        if let Some(first) = self.copied.get(&id).filter(|_| stat.st_nlink > 1) {
            let (first_dir, first_name) = self.parent_of(first)?;
            return Ok(linkat(&first_dir, first_name, &dir, name, AtFlags::empty())?);
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut made = File::from(openat(&dir, name, flags, Mode::RUSR | Mode::WUSR)?);
        sparse(&mut File::from(reopen_with_rights(&from, OFlags::RDONLY)?), &mut made)?;
        self.copied.insert(id, to.to_path_buf());
        dress(&made, &from, &stat)
    }

    /// The directory of a path below the top, and the last name of it.
    pub(super) fn parent_of<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        Ok((openat2(&self.top, above, DIRECTORY, Mode::empty(), resolve)?, name))
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Gives what was made the owner, rights, attributes and times of what it is a copy of.
fn dress(made: impl AsFd, from: &OwnedFd, stat: &Stat) -> io::Result<()> {
    // Owners differ only where one was given, and who could give it can do so here.
    let _ = fchown(&made, owner(stat).0, owner(stat).1);
    // Losing an attribute that this file system does not take is not worth a refusal.
    let at = by_handle(from);
    for name in marks::attributes(&at) {
        let get = || {
            let mut value = vec![0u8; 64 << 10];
            let length = rustix::fs::getxattr(&at, &*name, &mut value[..])?;
            value.truncate(length);
            Ok(value)
        };
        if let Ok(value) = with_rights(from, get) {
            let _ = fsetxattr(&made, &*name, &value, XattrFlags::empty());
        }
    }
    fchmod(&made, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    Ok(futimens(&made, &times(stat))?)
}

/// Names in a directory. It is not held open: each level of a tree would be.
pub(super) fn names_in(dir: OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let names = Dir::new(dir)?.map(|entry| Ok(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned()));
    names.filter(|name| !matches!(name, Ok(name) if name == "." || name == "..")).collect()
}

fn owner(stat: &Stat) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))
}

fn times(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: stat.st_atime, tv_nsec: stat.st_atime_nsec as _ },
        last_modification: Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec as _ },
    }
}

fn sparse(from: &mut File, to: &mut File) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut length = 0;
    loop {
        let read = from.read(&mut chunk)?;
        if read == 0 {
            return to.set_len(length);
        }
        length += read as u64;
        if chunk[..read].iter().all(|byte| *byte == 0) {
            to.seek(SeekFrom::Start(length))?;
        } else {
            to.write_all(&chunk[..read])?;
        }
    }
}
