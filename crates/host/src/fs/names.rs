//! Names that are given where nothing stands, on any file system.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

/// Renames onto nothing: `EXIST` where something stands. Network file systems and some of FUSE cannot do that in one call;
/// there a file has both names for a moment, so that what came to stand there meanwhile is not overwritten either.
pub(crate) fn land((above, from): (&OwnedFd, &OsStr), (dir, to): (&OwnedFd, &OsStr)) -> Result<(), Errno> {
    if let Some(done) = without_replacing((above, from), (dir, to)) {
        return done;
    }
    match linkat(above, from, dir, to, AtFlags::empty()) {
        Ok(()) => unlinkat(above, from, AtFlags::empty()),
        // Directories have no second name, and on some file systems no file has one: the look comes first, then.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => after_a_look((above, from), (dir, to)),
        Err(error) => Err(error),
    }
}

/// The same to a name of our own: one that we made up, or one in a layer. There nobody puts anything, so it goes in one call
/// everywhere, and what others put in its own place meanwhile is not unlinked for it.
pub(crate) fn put_away(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> Result<(), Errno> {
    without_replacing(from, to).unwrap_or_else(|| after_a_look(from, to))
}

/// `None` where the file system cannot.
fn without_replacing(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> Option<Result<(), Errno>> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => None,
        done => Some(done),
    }
}

fn after_a_look((above, from): (&OwnedFd, &OsStr), (dir, to): (&OwnedFd, &OsStr)) -> Result<(), Errno> {
    match statat(dir, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(above, from, dir, to),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}
