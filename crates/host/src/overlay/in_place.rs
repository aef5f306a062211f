//! A file whose name cannot be exchanged, as it is mounted by itself or another user's in a directory like `/tmp`: it is
//! written where it stands, and what it held is copied aside before, by which a step that was begun is known again.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

/// A directory and a name in it.
type At<'a> = (&'a OwnedFd, OsString);

/// Copies the target aside, then the source over the target. False where either is no file, or nothing may be written.
pub(super) fn write(source: &At<'_>, target: &At<'_>, aside: &At<'_>) -> bool {
    let kept = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
    opened(target, OFlags::WRONLY).is_some() && copy(target, aside, kept) && write_again(source, target)
}

/// The second half.
pub(super) fn write_again(source: &At<'_>, target: &At<'_>) -> bool {
    copy(source, target, OFlags::WRONLY)
}

/// Whether a step was begun so: the very file stands there, and another lies aside.
pub(super) fn is_begun(stands: Option<[i64; 4]>, old: Option<[i64; 4]>, aside: Option<[i64; 4]>) -> bool {
    let inode = |id: Option<[i64; 4]>| id.map(|[inode, ..]| inode);
    stands.is_some() && inode(stands) == inode(old) && aside.is_some() && inode(aside) != inode(old)
}

fn copy(from: &At<'_>, to: &At<'_>, how: OFlags) -> bool {
    let (Some(mut from), Some(mut to)) = (opened(from, OFlags::RDONLY), opened(to, how)) else { return false };
    let written = io::copy(&mut from, &mut to).and_then(|length| to.set_len(length));
    written.and_then(|()| to.sync_data()).is_ok()
}

fn opened((dir, name): &At<'_>, how: OFlags) -> Option<File> {
    let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name.as_os_str(), flags, Mode::RUSR | Mode::WUSR).ok()?);
    let is_file = fstat(&file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    is_file.then_some(file)
}
