//! Whether others wrote to what is in a directory that was moved away, or put something there, since it was looked at. With the
//! directory that would go, too.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, statat};
use rustix::io::Errno;

use crate::fs::Stamp;
use crate::overlay::with_rights;

/// Directories within directories: what is deeper is in no layer.
const MAX_DEPTH: usize = 256;

/// What was seen below a root before anything was moved.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// What is not among those below may not have changed after this.
    pub(crate) began: (i64, u64),
    /// By device and inode.
    pub(crate) seen: HashMap<(u64, u64), Stamp>,
    /// Files of which the moves take another name away, or give them one, which changes the time of their last change; and the
    /// time of what they hold, where they set it.
    pub(crate) renamed: HashMap<(u64, u64), Option<(i64, u64)>>,
}

impl Looked {
    /// Whether something in a directory is not as it was seen, or may not be, as it cannot be looked into. A move of it changes
    /// nothing in it, and what is no directory has nothing in it.
    pub(super) fn is_other_in(&self, above: &OwnedFd, name: &OsStr) -> bool {
        self.is_other_below(above, name, 0)
    }

    fn is_other_below(&self, above: &OwnedFd, name: &OsStr, depth: usize) -> bool {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::openat(above, name, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(error) => return !matches!(error, Errno::NOTDIR | Errno::LOOP),
        };
        let Ok(stat) = rustix::fs::fstat(&dir) else { return true };
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        // One that its owner may not read goes, too.
        with_rights(&dir, mode, || self.holds_other(&dir, depth)).unwrap_or(true)
    }

    fn holds_other(&self, dir: &OwnedFd, depth: usize) -> Result<bool, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for entry in rustix::fs::Dir::new(rustix::fs::openat(dir, c".", flags, Mode::empty())?)? {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = statat(dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if self.is_other(&stat) || is_dir && (depth >= MAX_DEPTH || self.is_other_below(dir, name, depth + 1)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A file whose other name goes still has the size and time that it had. Whether that time has come yet says nothing.
    fn is_other(&self, stat: &Stat) -> bool {
        let now = Stamp::from(stat);
        match (self.seen.get(&now.inode()), self.renamed.get(&now.inode())) {
            (Some(seen), Some(set)) => {
                !seen.same_content(&now) && !set.is_some_and(|time| seen.with_mtime(time).same_content(&now))
            }
            (Some(seen), None) => *seen != now,
            (None, _) => now.changed() > self.began,
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::overlay::tests::World;

    /// What is in a directory that goes, and that nobody could look at, others may have changed.
    #[test]
    fn what_cannot_be_looked_into_may_be_another() {
        let world = World::new();
        let root = File::open(&world.root).unwrap().into();
        for name in ["own", "other"] {
            fs::create_dir_all(world.root.join(name).join("closed/inner")).unwrap();
        }
        fs::write(world.root.join("own/closed/inner/a"), "a").unwrap();
        let is_root = rustix::process::geteuid().is_root();
        let closed = world.root.join("own/closed");
        for dir in ["", "own", "own/closed", "own/closed/inner", "other"].into_iter().filter(|_| is_root) {
            std::os::unix::fs::chown(world.root.join(dir), Some(1000), Some(1000)).unwrap();
        }
        for closed in [&closed, &world.root.join("other/closed")] {
            rustix::fs::chmod(closed, Mode::empty()).unwrap();
        }
        let began = |began| Looked { began, ..Looked::default() };
        let future = began((i64::MAX, 0));
        let as_user = || {
            // SAFETY: it is of this thread alone, which ends.
            unsafe { libc::setfsuid(1000) };
            ["own", "other", "own/none"].map(|name| future.is_other_in(&root, name.as_ref()))
        };
        let looked = std::thread::scope(|scope| scope.spawn(as_user).join().unwrap());
        assert_eq!(looked, [false, is_root, true]);
        assert_eq!(rustix::fs::stat(&closed).unwrap().st_mode & 0o7777, 0, "as it was");
        fs::write(world.root.join("file"), "a").unwrap();
        assert!(!future.is_other_in(&root, "file".as_ref()) && began((0, 0)).is_other_in(&root, "own".as_ref()));
        // Deeper than what is in any layer.
        assert!(future.is_other_below(&root, "own".as_ref(), MAX_DEPTH));
    }
}
