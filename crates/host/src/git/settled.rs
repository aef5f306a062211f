//! Indexes for commands that only look, in repositories whose secrets are hidden from them.
//!
//! What was written in the second in which the index was, or later, git reads to know whether it is unchanged. A hidden
//! file it cannot read. So Nika reads it, and such a command is shown a copy of the index which is newer than that file.
//! What else that copy would have git trust, it is told to read.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nika_guard::Permit;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, Timespec, Timestamps, futimens, linkat, lstat, open};
use rustix::io::Errno;

use super::finder::read;
use super::tracked::{COMPARED_BYTES, Index, any_top_of, index_at};
use crate::overlay::by_handle;

/// Files by their paths from the top of a work tree, as they look now.
type Files<'p> = Vec<(&'p Path, Stat)>;

/// For each repository of `roots` that needs one: where its index lies, and the copy to show there, which is kept in `dir`.
pub fn settled_indexes(_permit: &Permit, dir: &Path, roots: &[PathBuf], hidden: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    let mut tops: Vec<(&Path, PathBuf, Files<'_>)> = Vec::new();
    for path in hidden {
        let Some(root) = roots.iter().find(|root| path.starts_with(root)) else { continue };
        let (Some(top), Ok(now)) = (any_top_of(root, path), lstat(path)) else { continue };
        let Ok(below) = path.strip_prefix(top) else { continue };
        match tops.iter_mut().find(|(other, ..)| *other == top) {
            Some((.., files)) => files.push((below, now)),
            None => {
                let index = index_at(top).and_then(|index| fs::canonicalize(index).ok());
                tops.extend(index.map(|index| (top, index, vec![(below, now)])));
            }
        }
    }
    let copies = tops.into_iter().filter_map(|(top, index, mut files)| {
        let written = lstat(&index).ok()?;
        files.retain(|(_, now)| now.st_mtime >= written.st_mtime);
        let copy = (!files.is_empty()).then(|| settled(dir, top, &index, &written, &files).ok().flatten())?;
        copy.map(|copy| (index, copy))
    });
    copies.collect()
}

/// The copy for one repository, made unless it is there. `None` where it would say nothing else.
fn settled(
    dir: &Path,
    top: &Path,
    index: &Path,
    written: &Stat,
    files: &[(&Path, Stat)],
) -> io::Result<Option<PathBuf>> {
    let mut of_repository = DefaultHasher::new();
    top.hash(&mut of_repository);
    let mut of_files = DefaultHasher::new();
    let looks =
        |stat: &Stat| (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec);
    (looks(written), files.iter().map(|(path, now)| (path, looks(now))).collect::<Vec<_>>()).hash(&mut of_files);
    let own = format!("{:016x}-", of_repository.finish());
    let copy = dir.join(format!("{own}{:016x}", of_files.finish()));
    if let Ok(known) = fs::symlink_metadata(&copy) {
        return Ok((known.len() > 0).then_some(copy));
    }
    // One that is empty says that there is nothing to say.
    let (bytes, time) = vouched(top, index, files).unwrap_or_default();
    fs::create_dir_all(dir)?;
    for old in fs::read_dir(dir)?.flatten().filter(|old| old.file_name().to_string_lossy().starts_with(&own)) {
        let _ = fs::remove_file(old.path());
    }
    let nameless = open(dir, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR)?;
    File::from(nameless.try_clone()?).write_all(&bytes)?;
    let modified = Timespec { tv_sec: time, tv_nsec: 0 };
    futimens(&nameless, &Timestamps { last_access: modified, last_modification: modified })?;
    match linkat(CWD, by_handle(&nameless), CWD, &copy, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) | Err(Errno::EXIST) => Ok((!bytes.is_empty()).then_some(copy)),
        Err(error) => Err(error.into()),
    }
}

/// An index that says of those of `files` which are unchanged that they are, and the time that it has to have.
fn vouched(top: &Path, index: &Path, files: &[(&Path, Stat)]) -> Option<(Vec<u8>, i64)> {
    let index = Index::of(index, |path| files.iter().any(|(file, _)| *file == path))?;
    let holds = |path: &Path| {
        read(&top.join(path), COMPARED_BYTES).ok().flatten().is_some_and(|now| index.holds_as_text(path, &now))
    };
    let unchanged = files.iter().filter(|(path, _)| index.has(path) && holds(path));
    let unchanged: Vec<(&Path, Stat)> = unchanged.copied().collect();
    index.settled(&unchanged)
}
