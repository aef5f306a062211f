//! The two sides of a path: what stands in the root, and what a layer has in its place. Neither is what a link leads to, nor
//! lies behind one, and rights that keep its owner out hide nothing.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use nika_contract::Kind;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::{Errno, Result};

use super::Layer;
use crate::fs::{look_as_owner, open_as_owner};

/// How a thing is opened to be looked at.
pub(super) const ITSELF: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);
/// The same, where only a directory is meant.
pub(super) const DIRECTORY: OFlags = ITSELF.union(OFlags::DIRECTORY);
/// How a file is opened to be read: what turns out to be none blocks nobody, and does nothing.
pub(super) const READ: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// What stands at `path`, which lies below `root`.
pub(super) fn beneath(root: &Path, path: &Path) -> Option<OwnedFd> {
    standing(root, path, ITSELF).ok()
}

/// The same, opened so.
pub(super) fn standing(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd> {
    look_as_owner(&top(root)?, below(root, path)?, flags)
}

/// What it holds: of a link, where it points. `None` where nothing of that kind stands, or it has more than `max_bytes`.
pub(super) fn content(root: &Path, path: &Path, kind: Kind, max_bytes: u64) -> Option<Vec<u8>> {
    held(kind, max_bytes, |flags| standing(root, path, flags))
}

impl Layer {
    /// What the layer has at a path, opened so.
    pub(super) fn opened(&self, path: &Path, flags: OFlags) -> Result<OwnedFd> {
        open_as_owner(&top(&self.upper())?, below(&self.root, path)?, flags)
    }

    /// What that holds.
    pub(super) fn content(&self, path: &Path, kind: Kind, max_bytes: u64) -> Option<Vec<u8>> {
        held(kind, max_bytes, |flags| self.opened(path, flags))
    }
}

fn held(kind: Kind, max_bytes: u64, open: impl Fn(OFlags) -> Result<OwnedFd>) -> Option<Vec<u8>> {
    match kind {
        Kind::Directory => None,
        Kind::Link => Some(rustix::fs::readlinkat(open(ITSELF).ok()?, "", Vec::new()).ok()?.into_bytes()),
        Kind::File => {
            let file = File::from(open(READ).ok()?);
            let size = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
            if size > max_bytes {
                return None;
            }
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
            file.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
            Some(bytes).filter(|bytes| bytes.len() as u64 <= max_bytes)
        }
    }
}

fn top(dir: &Path) -> Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, dir, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS)
}

fn below<'p>(root: &Path, path: &'p Path) -> Result<&'p Path> {
    let below = path.strip_prefix(root).map_err(|_| Errno::INVAL)?;
    Ok(if below.as_os_str().is_empty() { Path::new(".") } else { below })
}
