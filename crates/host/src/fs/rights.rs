//! What rights keep from their own owner, too. A look changes none of them (`sandbox/owner.rs`); a move gives them for that one
//! moment. Root is not kept from anything, and who does not own a thing comes no further than without.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, chmod, fstat, openat2, statat};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

use crate::overlay::by_handle;
use crate::sandbox::owner;

/// Does `act`; where the rights of what `handle` is forbid it, with all rights of the owner for that moment.
pub(crate) fn with_rights<T>(handle: &OwnedFd, act: impl Fn() -> Result<T>) -> Result<T> {
    let refused = match act() {
        Err(error @ (Errno::ACCESS | Errno::PERM)) => error,
        other => return other,
    };
    let (at, mode) = (by_handle(handle), Mode::from_raw_mode(fstat(handle)?.st_mode & 0o7777));
    chmod(&at, mode | Mode::RWXU).map_err(|_| refused)?;
    let done = act();
    chmod(&at, mode)?;
    done
}

/// What bears a name in `dir`, a link not followed.
pub(crate) fn stat_as_owner(dir: &OwnedFd, name: &OsStr) -> Result<Stat> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::ACCESS) => fstat(look_as_owner(dir, Path::new(name), OFlags::PATH | OFlags::NOFOLLOW)?),
        other => other,
    }
}

/// Opens what lies at `path`, below `dir` and through no link, whatever rights the directories on the way have, and it itself.
/// None is changed, not even for a moment: where they forbid it, a process opens it that has all rights on what is its user's,
/// and on nothing else, as it is in a user namespace of its own.
pub(crate) fn look_as_owner(dir: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    match beneath(dir, path, flags) {
        Err(Errno::ACCESS) => {
            let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
            owner::opened(|| beneath(dir, &*path, flags))
        }
        other => other,
    }
}

/// Opens, to read it, what a handle of any kind stands for, whatever rights it has.
pub(crate) fn reopen_as_owner(itself: &OwnedFd, flags: OFlags) -> Result<OwnedFd> {
    let at = CString::new(by_handle(itself)).map_err(|_| Errno::INVAL)?;
    let open = || rustix::fs::openat(CWD, &*at, flags | OFlags::CLOEXEC, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => owner::opened(open),
        other => other,
    }
}

/// As [`look_as_owner`], in a layer, where nobody minds that rights are given for a moment.
pub(crate) fn open_as_owner(dir: &OwnedFd, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    match beneath(dir, path, flags) {
        Err(Errno::ACCESS) => {}
        other => return other,
    }
    let itself = OFlags::PATH | OFlags::NOFOLLOW;
    let mut at: Option<OwnedFd> = None;
    for name in path.iter() {
        let above = at.as_ref().unwrap_or(dir);
        at = Some(with_rights(above, || beneath(above, name, itself))?);
    }
    let at = at.ok_or(Errno::ACCESS)?;
    if flags.contains(OFlags::DIRECTORY) && !is_directory(&fstat(&at)?) {
        return Err(Errno::NOTDIR);
    }
    if flags.contains(OFlags::PATH) {
        return Ok(at);
    }
    // The handle's name is a link, of the kernel's own.
    reopen_with_rights(&at, flags.difference(OFlags::NOFOLLOW))
}

/// Opens, to read it, what a handle of a layer stands for.
pub(crate) fn reopen_with_rights(itself: &OwnedFd, flags: OFlags) -> Result<OwnedFd> {
    let at = by_handle(itself);
    with_rights(itself, || rustix::fs::openat(CWD, &*at, flags | OFlags::CLOEXEC, Mode::empty()))
}

/// The directory of an absolute path that goes through no link, and the last name of it.
pub(crate) fn parent_as_owner(path: &Path) -> Result<(OwnedFd, &OsStr)> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR) };
    let slash = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let below = above.strip_prefix("/").map_err(|_| Errno::INVAL)?;
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    Ok((open_as_owner(&slash, below, OFlags::PATH | OFlags::DIRECTORY)?, name))
}

/// A directory, and a name in it.
type At<'a> = (&'a OwnedFd, &'a OsStr);

/// Gives an entry another name: a directory that moves must be writable, and so must those that it leaves and comes into.
pub(crate) fn move_as_owner(from: At<'_>, to: At<'_>, how: impl Fn(At<'_>, At<'_>) -> Result<()>) -> Result<()> {
    match how(from, to) {
        Err(Errno::ACCESS | Errno::PERM) => {}
        other => return other,
    }
    let mut given: Vec<(String, Mode)> = Vec::new();
    let mut give = |dir: &OwnedFd| {
        let mode = fstat(dir).map(|stat| Mode::from_raw_mode(stat.st_mode & 0o7777));
        let at = by_handle(dir);
        given.extend(mode.ok().filter(|mode| chmod(&at, *mode | Mode::RWXU).is_ok()).map(|mode| (at, mode)));
    };
    give(from.0);
    give(to.0);
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |(dir, name): At<'_>| rustix::fs::openat(dir, name, flags, Mode::empty()).ok();
    let moved = [open(from), open(to)];
    moved.iter().flatten().for_each(&mut give);
    let done = how(from, to);
    for (at, mode) in given.into_iter().rev() {
        let _ = chmod(&at, mode);
    }
    done
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS).union(ResolveFlags::NO_SYMLINKS);

fn beneath(dir: &OwnedFd, path: impl Arg, flags: OFlags) -> Result<OwnedFd> {
    openat2(dir, path, flags | OFlags::CLOEXEC, Mode::empty(), BENEATH)
}
