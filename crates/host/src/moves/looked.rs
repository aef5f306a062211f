//! Whether others wrote to what is in a directory that was moved away, or put something there, since it was looked at. With the
//! directory that would go, too.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::Errno;

use crate::fs::{Stamp, look_as_owner, reopen_as_owner, stat_as_owner};

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
    /// Nothing was seen: whatever changed after this is another.
    pub(super) fn since(began: (i64, u64)) -> Looked {
        Looked { began, ..Looked::default() }
    }

    /// Whether something in a directory is not as it was seen, or may not be, as it cannot be looked into. A move of it changes
    /// nothing in it, and what is no directory has nothing in it.
    pub(super) fn is_other_in(&self, above: &OwnedFd, name: &OsStr) -> bool {
        self.is_other_below(above, name, 0)
    }

    fn is_other_below(&self, above: &OwnedFd, name: &OsStr, depth: usize) -> bool {
        // One that its owner may not read goes, too.
        match look_as_owner(above, name.as_ref(), OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW) {
            Ok(dir) => self.holds_other(&dir, depth).unwrap_or(true),
            Err(error) => !matches!(error, Errno::NOTDIR | Errno::LOOP),
        }
    }

    fn holds_other(&self, dir: &OwnedFd, depth: usize) -> Result<bool, Errno> {
        for entry in rustix::fs::Dir::new(reopen_as_owner(dir, OFlags::RDONLY | OFlags::DIRECTORY)?)? {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let stat = stat_as_owner(dir, name)?;
            let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
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
mod tests {
    use std::fs::{self, File};

    use rustix::fs::Mode;

    use super::*;
    use crate::overlay::tests::World;

    /// What is in a directory that goes, and that nobody could look at, others may have changed.
    #[test]
    fn what_cannot_be_looked_into_may_be_another() {
        let world = World::new();
        let root = File::open(&world.root).unwrap().into();
        let closed = world.root.join("own/closed");
        fs::create_dir_all(closed.join("inner")).unwrap();
        fs::write(closed.join("inner/a"), "a").unwrap();
        fs::write(world.root.join("file"), "a").unwrap();
        rustix::fs::chmod(&closed, Mode::empty()).unwrap();
        let began = |began| Looked { began, ..Looked::default() };
        let future = began((i64::MAX, 0));
        let looked = ["own", "file", "own/none"].map(|name| future.is_other_in(&root, name.as_ref()));
        assert_eq!(looked, [false, false, true]);
        assert!(began((0, 0)).is_other_in(&root, "own".as_ref()));
        // Deeper than what is in any layer.
        assert!(future.is_other_below(&root, "own".as_ref(), MAX_DEPTH));
        assert_eq!(rustix::fs::stat(&closed).unwrap().st_mode & 0o7777, 0, "as it was");
        rustix::fs::chmod(&closed, Mode::RWXU).unwrap();
    }
}
