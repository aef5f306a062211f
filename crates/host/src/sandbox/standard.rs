//! Standard input and output as a command in a sandbox has them.
//!
//! A descriptor from outside stands on a mount of the outside: through it, a file that was only opened to be read can have
//! its mode changed, and be opened anew to be written; and so can a device that everybody uses. So what is read, and
//! devices, are opened anew on a read-only copy of their mount. (A read-only mount of a device keeps nobody from writing to
//! the device.) What was opened to be written stays: whoever opened it shares the place in it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, SeekFrom, Stat, fcntl_getfl, fstat, open, readlink, seek, tell};
use rustix::io::Errno;

use super::mounts::{copy, place};
use super::{Refusal, base};
use crate::overlay::by_handle;

/// For standard input, output and error what takes the place of the given one, or of what is inherited; None where that
/// stays. Asked while the mounts are as they are outside.
pub(super) fn in_place_of(given: &[Option<OwnedFd>; 3]) -> Result<[Option<OwnedFd>; 3], Refusal> {
    let mut own = [None, None, None];
    for (at, (own, given)) in own.iter_mut().zip(given).enumerate() {
        let fd = given.as_ref().map_or(base::borrow(at as i32), AsFd::as_fd);
        *own = anew(fd).map_err(|error| Refusal::of("standard input and output that only are that", "open", error))?;
    }
    Ok(own)
}

fn anew(fd: BorrowedFd<'_>) -> Result<Option<OwnedFd>, Errno> {
    let (Ok(stat), Ok(flags)) = (fstat(fd), fcntl_getfl(fd)) else { return Ok(None) };
    let is_read = flags & OFlags::ACCMODE == OFlags::RDONLY;
    let is_file = match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice => false,
        FileType::RegularFile if is_read && stat.st_nlink > 0 => true,
        _ => return Ok(None),
    };
    match read_only(fd, &stat, flags & (OFlags::ACCMODE | OFlags::NONBLOCK)) {
        Ok(own) if is_file => {
            seek(&own, SeekFrom::Start(tell(fd)?))?;
            Ok(Some(own))
        }
        Ok(own) => Ok(Some(own)),
        // Whoever may not open it may not change it either; a terminal may be one of another world, without a name here.
        Err(Errno::ACCESS | Errno::PERM) => Ok(None),
        Err(_) if !is_file => Ok(None),
        Err(error) => Err(error),
    }
}

/// What `fd` stands for, opened on a copy of its mount that is read-only.
fn read_only(fd: BorrowedFd<'_>, stat: &Stat, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = readlink(format!("/proc/self/fd/{}", fd.as_raw_fd()), Vec::new())?;
    let at = place(Path::new(OsStr::from_bytes(path.to_bytes())))?;
    let found = fstat(&at)?;
    if (found.st_dev, found.st_ino, found.st_rdev) != (stat.st_dev, stat.st_ino, stat.st_rdev) {
        return Err(Errno::NOENT);
    }
    let tree = copy(&at, false)?;
    let failed = |error: std::io::Error| error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error);
    base::mount_attributes(tree.as_raw_fd(), c"", false, libc::MOUNT_ATTR_RDONLY, 0).map_err(failed)?;
    open(by_handle(&tree), flags | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
}
