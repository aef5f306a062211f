//! What is moved out of a layer must not show that it came from one: marks are taken off, and what is never
//! applied is thrown away.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::marks;
use super::walk::MAX_DEPTH;
use crate::fs::{parent_as_owner, with_rights};

/// Cleans what lies at `path`, in the layer. What lies too deep to be applied keeps its marks.
pub(super) fn clean(path: &Path) -> Result<()> {
    let (above, name) = parent_as_owner(path)?;
    let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
    with_rights(&above, || entry(&above, &name, 0))
}

fn entry(dir: impl std::os::fd::AsFd, name: &CString, depth: usize) -> Result<()> {
    let stat = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => Ok(()),
        FileType::RegularFile => {
            let handle = handle(&dir, name)?;
            with_rights(&handle, || marks::take_off(&handle))
        }
        FileType::Directory => {
            let handle = handle(&dir, name)?;
            with_rights(&handle, || {
                marks::take_off(&handle)?;
                inside(&handle, depth)
            })
        }
        // Whiteouts in a directory that hides all anyway; devices, FIFOs and sockets.
        _ => unlinkat(&dir, name, AtFlags::empty()),
    }
}

fn inside(dir: &OwnedFd, depth: usize) -> Result<()> {
    // Each level takes of the stack, and a command can make more levels than any stack has room for.
    if depth > MAX_DEPTH {
        return Err(Errno::NAMETOOLONG);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = openat(dir, ".", flags, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&open)? {
        names.push(entry?.file_name().to_owned());
    }
    for name in names.iter().filter(|name| name.as_c_str() != c"." && name.as_c_str() != c"..") {
        let stat = statat(&open, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if marks::is_whiteout(&open, name, &stat) {
            unlinkat(&open, name, AtFlags::empty())?;
        } else {
            entry(&open, name, depth + 1)?;
        }
    }
    Ok(())
}

fn handle(dir: impl std::os::fd::AsFd, name: &CString) -> Result<OwnedFd> {
    openat(dir, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}
