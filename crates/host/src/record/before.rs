//! What stands at a place: looked at, kept, and told from what stood there before.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use nika_contract::{Dress, Kind};
use rustix::fs::{OFlags, Stat, fstat, readlinkat};
use rustix::io::Errno;

use super::sight::Found;
use crate::fs::{
    Stamp, Workspace, is_absence, kind_of, look_as_owner, sha256, sha256_of, stat_as_owner, worn, worn_by_all,
};
use crate::sandbox::is_stand_in;

/// What stands, or stood, at a place. Its content is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None` for a device, a FIFO or a socket.
    pub(super) kind: Option<Kind>,
    pub(super) mode: u32,
    pub(super) bytes: u64,
    pub(super) stamp: Stamp,
    /// Names that the file has.
    pub(super) links: u64,
}

impl From<&Stat> for Entry {
    fn from(stat: &Stat) -> Entry {
        let kind = kind_of(stat);
        Entry {
            kind,
            mode: stat.st_mode & 0o7777,
            bytes: if kind == Some(Kind::Directory) { 0 } else { stat.st_size.unsigned_abs() },
            stamp: Stamp::from(stat),
            links: u64::from(stat.st_nlink as u32),
        }
    }
}

/// What stands under a name; a link is not followed.
pub(super) fn look(dir: &OwnedFd, name: &OsStr) -> Result<Option<Entry>, Errno> {
    match stat_as_owner(dir, name) {
        // Of ours, and gone with the command.
        Ok(stat) if is_stand_in(&stat) => Ok(None),
        Ok(stat) => Ok(Some(Entry::from(&stat))),
        Err(error) if is_absence(error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What stands at a place; nothing where there is no such place.
pub(super) fn look_at(found: Option<&Found>) -> Result<Option<Entry>, Errno> {
    found.map_or(Ok(None), |found| look(&found.dir, &found.name))
}

/// What stands at a place at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// `None` where nothing does.
    pub(super) entry: Option<Entry>,
    /// sha256 of its content, where that was looked at.
    pub(super) hash: Option<[u8; 32]>,
}

impl Standing {
    /// As it is now; nothing where there is no such place. Larger contents than `most` are not hashed.
    pub(super) fn at(found: Option<&Found>, most: u64) -> Result<Standing, Errno> {
        let Some(found) = found else { return Ok(Standing { entry: None, hash: None }) };
        let entry = look(&found.dir, &found.name)?;
        let hash = match entry {
            Some(Entry { kind: Some(kind), bytes, .. }) if bytes <= most => hash(&found.dir, &found.name, kind, most),
            _ => None,
        };
        Ok(Standing { entry, hash })
    }

    /// Whether something else stands there by now: of another kind or with another content.
    pub(super) fn is_gone(&self, found: Option<&Found>) -> bool {
        let Ok(now) = look_at(found) else { return false };
        let (was, now) = match (self.entry, now) {
            (Some(was), Some(now)) => (was, now),
            (was, now) => return was.is_some() != now.is_some(),
        };
        // A device, a FIFO or a socket has no content.
        if was.stamp == now.stamp || was.kind != now.kind || was.kind.is_none() {
            return was.kind != now.kind;
        }
        let hash = |found: &Found| hash(&found.dir, &found.name, now.kind?, was.bytes.max(1));
        match (self.hash, found.and_then(hash)) {
            (Some(then), now) => now != Some(then),
            (None, _) => !was.stamp.same_content(&now.stamp),
        }
    }
}

/// The content of what stands there: of a link, where it points; of a directory, nothing. `None` where it has more than
/// `most` bytes or is another thing by now.
pub(super) fn content(dir: &OwnedFd, name: &OsStr, kind: Kind, most: u64) -> Option<Vec<u8>> {
    match kind {
        Kind::Directory => Some(Vec::new()),
        Kind::Link => Some(readlinkat(itself(dir, name).ok()?, "", Vec::new()).ok()?.into_bytes()),
        Kind::File => {
            let mut file = opened(dir, name)?;
            let size = file.metadata().ok()?.len();
            if size > most {
                return None;
            }
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
            (&mut file).take(most + 1).read_to_end(&mut bytes).ok()?;
            Some(bytes).filter(|bytes| bytes.len() as u64 <= most)
        }
    }
}

/// What a file or directory has of its own beside its content and permission bits. What comes to stand there may be
/// somebody else's where root runs the command: the owner is said then in any case.
pub(super) fn dress(found: &Found, was: &Entry) -> Option<Dress> {
    if !matches!(was.kind, Some(Kind::File | Kind::Directory)) {
        return None;
    }
    let handle = itself(&found.dir, &found.name).ok()?;
    if rustix::process::geteuid().is_root() { worn_by_all(&handle) } else { worn(&handle) }
}

/// sha256 of a content, read in pieces; `None` where it has more than `most` bytes by now: it may grow under our eyes.
pub(super) fn hash(dir: &OwnedFd, name: &OsStr, kind: Kind, most: u64) -> Option<[u8; 32]> {
    if kind != Kind::File {
        return content(dir, name, kind, u64::MAX).map(|bytes| sha256(&bytes));
    }
    let mut file = opened(dir, name)?.take(most.saturating_add(1));
    let all = sha256_of(&mut file).ok()?;
    (file.limit() > 0).then_some(all)
}

fn itself(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    look_as_owner(dir, name.as_ref(), OFlags::PATH | OFlags::NOFOLLOW)
}

/// A regular file, open for reading. Looked at before it is opened: a FIFO would keep us waiting, a device might act.
fn opened(dir: &OwnedFd, name: &OsStr) -> Option<File> {
    let handle = itself(dir, name).ok()?;
    let stat = fstat(&handle).ok()?;
    (kind_of(&stat) == Some(Kind::File)).then(|| Workspace::reopen_as_owner(&handle).ok()).flatten()
}
