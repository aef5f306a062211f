//! Names that are given where nothing stands, on any file system.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, RenameFlags, linkat, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::is_temp_name;

/// Renames onto nothing: `EXIST` where something stands. Network file systems and some of FUSE cannot do that in one call;
/// there a file has both names for a moment, so that what came to stand there meanwhile is not overwritten either.
pub(crate) fn land((above, from): (&OwnedFd, &OsStr), (dir, to): (&OwnedFd, &OsStr)) -> Result<(), Errno> {
    match renameat_with(above, from, dir, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return done,
    }
    // To a name that we made up nobody puts anything. So what goes there goes in one call, and what others put in its own
    // place meanwhile is not unlinked for it.
    if !is_temp_name(to) {
        match linkat(above, from, dir, to, AtFlags::empty()) {
            Ok(()) => return unlinkat(above, from, AtFlags::empty()),
            // Directories have no second name, and on some file systems no file has one: the look comes first, then.
            Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => {}
            Err(error) => return Err(error),
        }
    }
    match statat(dir, to, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(above, from, dir, to),
        Ok(_) => Err(Errno::EXIST),
        Err(error) => Err(error),
    }
}
