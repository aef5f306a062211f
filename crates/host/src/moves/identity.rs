//! Who stands under a name, by what a rename keeps: so it is told which moves were made.

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::At;
use crate::fs::{Stamp, is_absence, stat_as_owner};

/// What tells an entry from another that came to its place: the inode, and as inodes are used again, of all but directories
/// the size and modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity([i64; 4]);

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Identity {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Identity([stat.st_ino as i64, 0, 0, 0]),
            _ => Identity::of_file(&Stamp::from(stat)),
        }
    }

    /// That of a file or link.
    pub(crate) fn of_file(stamp: &Stamp) -> Identity {
        Identity(stamp.as_numbers())
    }

    /// Whether both are one, whatever was written to it.
    pub(super) fn same_inode(self, other: Identity) -> bool {
        self.inode() == other.inode()
    }

    pub(super) fn inode(self) -> i64 {
        self.0[0]
    }

    /// The same with another modification time.
    pub(super) fn modified(self, (sec, nsec): (i64, u64)) -> Identity {
        let Identity([inode, size, ..]) = self;
        Identity([inode, size, sec, nsec as i64])
    }
}

/// What cannot be looked at is not the same as nothing.
pub(super) fn can_be_seen((dir, name): &At<'_>) -> Result<(), Errno> {
    match stat_as_owner(dir, name) {
        Err(error) if !is_absence(error) => Err(error),
        _ => Ok(()),
    }
}

/// Who stands there, where it [`can_be_seen`].
pub(super) fn standing((dir, name): &At<'_>) -> Option<Identity> {
    stat_as_owner(dir, name).ok().as_ref().map(Identity::of)
}
