//! Layers that nobody needs any more: thrown away whole, those of dead processes too.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock, openat, statat, unlinkat,
};

use rustix::io::{Errno, retry_on_intr};

use super::layer::{IN_MEMORY, LAYERS};
use super::marks;
use crate::fs::temp_name;
use crate::moves::Wanted;

/// Making a layer in memory, where no lock says that one is being made, takes a fraction of this.
const NEW: Duration = Duration::from_secs(60);

/// How often a directory is emptied in which new entries come to be, and the time between.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The lock of a layer's owner.
const OWNER: &CStr = c"owner";

/// So many directories within directories are open at once. What lies deeper is moved up first.
const OPEN: usize = 32;

/// Removes a directory and all in it, however deep it is and whatever rights a command left there. What cannot be removed
/// stays: the next start tries again.
///
/// Every step is one name below an open directory: no path is too long. No call within a call either, as in
/// `fs::remove_dir_all`: a command makes directories deeper than any stack.
pub(crate) fn remove_tree(dir: &Path) {
    for _ in 0..TRIES {
        empty(dir);
        match rustix::fs::rmdir(dir) {
            // Whoever writes there is being killed, and has not heard of it yet.
            Err(Errno::NOTEMPTY | Errno::EXIST) => std::thread::sleep(BETWEEN_TRIES),
            _ => return,
        }
    }
}

fn empty(dir: &Path) {
    let Some(mut top) = Level::open(CWD, c"", dir) else { return };
    // Taken last, so that what stays is known for what nobody owns.
    top.left.sort_by_key(|(name, _)| name.as_c_str() != OWNER);
    let mut open = vec![top];
    while let Some(level) = open.last_mut() {
        let Some((name, is_directory)) = level.left.pop() else {
            let emptied = open.pop();
            if let (Some(emptied), Some(above)) = (emptied, open.last()) {
                let _ = unlinkat(&above.dir, &emptied.name, AtFlags::REMOVEDIR);
            }
            continue;
        };
        if !is_directory {
            let _ = unlinkat(&level.dir, &name, AtFlags::empty());
        } else if open.len() < OPEN {
            let below = open.last().and_then(|level| Level::open(&level.dir, &name, &name));
            open.extend(below);
        } else {
            move_up(&mut open, &name);
        }
    }
}

/// Moves a directory of the last one to the first one, whose turn comes again.
fn move_up(open: &mut [Level], name: &CStr) {
    let [top, .., last] = open else { return };
    let Ok(to) = CString::new(temp_name()) else { return };
    // Its entry `..` changes as well, for which it must be writable.
    let _ = writable(&last.dir, name);
    if rustix::fs::renameat_with(&last.dir, name, &top.dir, &to, RenameFlags::NOREPLACE).is_ok() {
        top.left.push((to, true));
    }
}

/// A directory that is being emptied.
struct Level {
    dir: OwnedFd,
    /// In the one above.
    name: CString,
    /// What is in it still; whether it is a directory.
    left: Vec<(CString, bool)>,
}

impl Level {
    fn open(above: impl AsFd, name: &CStr, at: impl rustix::path::Arg + Copy) -> Option<Level> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let _ = writable(&above, at);
        let dir = openat(above, at, flags, Mode::empty()).ok()?;
        let mut left = Vec::new();
        for entry in Dir::read_from(&dir).ok()?.flatten() {
            let name = entry.file_name();
            let is_directory = match entry.file_type() {
                FileType::Unknown => statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
                kind => kind == FileType::Directory,
            };
            if name != c"." && name != c".." {
                left.push((name.to_owned(), is_directory));
            }
        }
        Some(Level { dir, name: name.to_owned(), left })
    }
}

/// Gives the owner all rights to a directory, where some are missing.
fn writable(above: impl AsFd, name: impl rustix::path::Arg) -> rustix::io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(above, name, flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode & 0o7777);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    rustix::fs::chmod(marks::by_handle(&handle), mode | Mode::RWXU)
}

/// Says that a layer is being made in `layers`, while it lives.
pub(super) fn making(layers: &Path) -> Option<File> {
    let layers = File::open(layers).ok()?;
    retry_on_intr(|| flock(&layers, FlockOperation::LockShared)).ok()?;
    Some(layers)
}

/// Throws away the layers whose owners are dead, but for those that an intent still wants.
pub(crate) fn orphans(state: &Path, wanted: &Wanted) {
    let in_memory = format!("nika-{}-", rustix::process::geteuid().as_raw());
    let layers = state.join(LAYERS);
    let mut dead = dead_in(Path::new(IN_MEMORY), &in_memory, false);
    // While we hold this, nobody makes one there. If somebody does, what is left there goes at a later start.
    let alone = File::open(&layers).ok().filter(|dir| flock(dir, FlockOperation::NonBlockingLockExclusive).is_ok());
    if alone.is_some() {
        dead.extend(dead_in(&layers, "", true));
    }
    drop(alone);
    // The lock is the first that is made in a layer, and never written.
    let made = |dir: &Path| fs::metadata(dir.join("owner")).and_then(|meta| meta.modified()).ok();
    for dir in dead.iter().filter(|dir| !wanted.has(dir, made(dir))) {
        remove_tree(dir);
    }
}

/// The layers in `place`, of this start of a name, that nobody owns.
fn dead_in(place: &Path, start: &str, nobody_makes: bool) -> Vec<PathBuf> {
    let named = |entry: &fs::DirEntry| entry.file_name().to_str().is_some_and(|name| name.starts_with(start));
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries.filter(named).map(|entry| entry.path()).filter(|dir| is_dead(dir, nobody_makes)).collect()
}

/// Whether nobody holds a layer's lock. One without a lock was being made or removed when its owner died, or is now. Where
/// everybody may make directories, those of others are theirs.
fn is_dead(dir: &Path, nobody_makes: bool) -> bool {
    let is_ours = |meta: &fs::Metadata| meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw();
    let Some(meta) = fs::symlink_metadata(dir).ok().filter(is_ours) else { return false };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(dir.join("owner"), flags, Mode::empty()) {
        Ok(owner) => flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok(),
        Err(_) if nobody_makes => true,
        Err(_) => meta.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|age| age > NEW),
    }
}
