//! The marks that the kernel leaves in an upper layer, in both of its name spaces.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, Stat, openat};

const WHITEOUT: &[&CStr] = &[c"user.overlay.whiteout", c"trusted.overlay.whiteout"];
const OPAQUE: &[&CStr] = &[c"user.overlay.opaque", c"trusted.overlay.opaque"];
/// Every mark begins so.
const OURS: &[&[u8]] = &[b"user.overlay.", b"trusted.overlay."];
/// More than all marks of one file take.
const LIST_BYTES: usize = 16 << 10;

/// Whether an entry says that nothing stands there any more: a character device 0:0, or an empty file that is
/// marked so.
pub(super) fn is_whiteout(dir: &OwnedFd, name: &CStr, stat: &Stat) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice => stat.st_rdev == 0,
        FileType::RegularFile if stat.st_size == 0 => {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(dir, name, flags, Mode::empty()).is_ok_and(|file| WHITEOUT.iter().any(|mark| has(&file, mark)))
        }
        _ => false,
    }
}

/// Whether a directory of the layer hides all that the root has there.
pub(super) fn is_opaque(dir: &OwnedFd) -> bool {
    let mut value = [0u8; 4];
    // `x` is another mark: whiteouts of the second form may lie in it.
    OPAQUE.iter().any(|mark| rustix::fs::getxattr(by_handle(dir), *mark, &mut value[..]) == Ok(1) && value[0] == b'y')
}

/// Takes every mark off, so that nothing tells where the file came from.
pub(super) fn take_off(file: &OwnedFd) -> rustix::io::Result<()> {
    let path = by_handle(file);
    for name in marks(&path)? {
        rustix::fs::removexattr(&path, name)?;
    }
    Ok(())
}

/// Names of a file's attributes that are not marks.
pub(super) fn attributes(path: &str) -> Vec<Vec<u8>> {
    names(path).unwrap_or_default().into_iter().filter(|name| !is_mark(name)).collect()
}

fn marks(path: &str) -> rustix::io::Result<Vec<Vec<u8>>> {
    Ok(names(path)?.into_iter().filter(|name| is_mark(name)).collect())
}

fn names(path: &str) -> rustix::io::Result<Vec<Vec<u8>>> {
    let mut list = [0u8; 1024];
    let length = match rustix::fs::listxattr(path, &mut list[..]) {
        Ok(length) => length,
        Err(rustix::io::Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(rustix::io::Errno::RANGE) => {
            let mut list = vec![0u8; LIST_BYTES];
            let length = rustix::fs::listxattr(path, &mut list[..])?;
            return Ok(split(&list[..length]));
        }
        Err(error) => return Err(error),
    };
    Ok(split(&list[..length]))
}

fn split(list: &[u8]) -> Vec<Vec<u8>> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

fn is_mark(name: &[u8]) -> bool {
    OURS.iter().any(|start| name.starts_with(start))
}

fn has(file: &OwnedFd, mark: &CStr) -> bool {
    rustix::fs::getxattr(by_handle(file), mark, &mut [0u8; 64][..]).is_ok()
}

/// A path that works for handles without the right to read, too.
pub(crate) fn by_handle(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
