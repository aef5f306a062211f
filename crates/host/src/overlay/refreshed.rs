//! What others wrote of git's meanwhile that is nothing else: the same branch, fetched twice; and an index in which they
//! told git nothing: `git status` looks at the files anew and notes how they are, and every prompt and editor runs it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use rustix::fs::{CWD, Mode, OFlags, fstat, openat};

use super::{Changes, Entry};
use crate::fs::Stamp;
use crate::git::{INDEX_BYTES, meaning, read};

/// The largest record of git's that is compared with what others wrote. 1 MiB: a branch has 41 bytes.
const SAME_BYTES: u64 = 1 << 20;

/// An index as it was when a layer was made: held open, as git replaces the whole file.
#[derive(Debug)]
pub(super) struct IndexBefore {
    path: PathBuf,
    file: File,
    stamp: Stamp,
}

impl IndexBefore {
    /// Of the repository at the top of `root`.
    pub(super) fn of(root: &Path) -> Option<IndexBefore> {
        let path = root.join(".git/index");
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, &path, flags, Mode::empty()).ok()?);
        let stamp = Stamp::from(&fstat(&file).ok()?);
        Some(IndexBefore { path, file, stamp })
    }

    /// What it said of every path; `None` where somebody wrote into it since.
    fn meaning(&self) -> Option<[u8; 32]> {
        let now = fstat(&self.file).ok()?;
        if !self.stamp.same_content(&Stamp::from(&now)) {
            return None;
        }
        let size = u64::try_from(now.st_size).ok().filter(|size| *size <= INDEX_BYTES)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        meaning(&bytes)
    }
}

impl Changes<'_> {
    /// Whether what others put at an entry's path is nothing else to git: the same that the command left there, as where both
    /// fetched; or an index for which files were looked at anew.
    pub(super) fn is_no_other(&self, entry: &Entry) -> bool {
        let is_gits = entry.path.components().any(|part| part.as_os_str() == ".git");
        is_gits && entry.kind == Kind::File && (self.is_only_refreshed(entry) || self.is_the_same(entry))
    }

    fn is_the_same(&self, entry: &Entry) -> bool {
        let now = || read(&entry.path, SAME_BYTES).ok().flatten();
        let left = self.layer.content(&entry.path, Kind::File, SAME_BYTES);
        left.is_some_and(|left| now() == Some(left))
    }

    fn is_only_refreshed(&self, entry: &Entry) -> bool {
        let Some(before) = self.layer.index_before.as_ref().filter(|before| before.path == entry.path) else {
            return false;
        };
        let now = || read(&entry.path, INDEX_BYTES).ok().flatten().and_then(|bytes| meaning(&bytes));
        before.meaning().is_some_and(|before| now() == Some(before))
    }
}
