//! What git keeps of a root elsewhere: the root is a linked worktree, whose `.git` is a file.
//!
//! That file is text in the workspace's reach and proves nothing: whoever unpacks an archive can bring one that names
//! anybody's repository. So a repository counts as the root's only when it says so itself, in places that no command
//! writes:
//!
//! | what | has to be |
//! |---|---|
//! | `ROOT/.git` | a file that names `COMMON/worktrees/NAME`, no link on the way |
//! | `COMMON/worktrees/NAME/gitdir` | the name of exactly that file |
//! | `COMMON/worktrees/NAME/commondir` | the name of `COMMON` |
//! | `COMMON` | a repository, apart from all roots |
//! | all of them | of one owner, who is this user; root may work for another |
//!
//! Of such a repository a command may write what git writes when it works in this worktree. Its commands take git's
//! own locks there, beside those of other worktrees: a layer would hide them from each other, and what two commands
//! add to one directory of objects could not both be applied.
//!
//! A submodule has a `.git` file, too. What belongs to it is said by a configuration, which is no proof; nothing of it
//! can be written.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_guard::profile::{Profile, Repository};
use rustix::fs::{FileType, Mode, OFlags, Stat, lstat};

use super::placeholders::is_stand_in;
use crate::fs::plain;

/// Directories of a repository that every worktree writes: history, and what is learned from conflicts or kept apart
/// for its size.
const SHARED: &[&str] = &["objects", "refs", "logs", "reftable", "rr-cache", "lfs"];
/// What in them is the main worktree's.
const OF_MAIN: &[&str] = &["logs/HEAD", "refs/bisect", "refs/worktree", "refs/rewritten"];
/// Files of a repository that every worktree replaces. With `.lock` and `.new` behind their names they are under way.
const REPLACED: &[&str] = &["packed-refs", "shallow"];
/// Of a worktree's own directory: what leads git elsewhere.
const OWN_GUARDED: &[&str] = &["gitdir", "commondir", "config.worktree", "modules"];
/// Of the common one, where they need not be.
const COMMON_GUARDED: &[&str] = &["commondir", "config.worktree"];
/// The longest of git's files of one line: twice the longest path.
const LINE_BYTES: u64 = 8 << 10;

/// A root that is a linked worktree, and its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    root: PathBuf,
    /// The directory that all worktrees share.
    pub common: PathBuf,
    own: PathBuf,
}

impl Linked {
    /// What git keeps of the resolved `root` elsewhere, where both sides say so.
    pub fn of(root: &Path) -> Option<Linked> {
        let dot_git = root.join(".git");
        let named = line(&dot_git)?.strip_prefix(b"gitdir:")?.trim_ascii_start().to_vec();
        let own = plain(&root.join(OsStr::from_bytes(&named)));
        // Also says that nothing on the way is a link.
        if std::fs::canonicalize(&own).ok()? != own {
            return None;
        }
        let worktrees = own.parent().filter(|dir| dir.file_name() == Some(OsStr::new("worktrees")))?;
        let common = worktrees.parent()?;
        let says = |file: &str| Some(plain(&own.join(OsStr::from_bytes(&line(&own.join(file))?))));
        if says("gitdir")? != dot_git || says("commondir")? != common {
            return None;
        }
        let owner = rustix::process::geteuid();
        let owner = if owner.is_root() { lstat(&dot_git).ok()?.st_uid } else { owner.as_raw() };
        let is = |path: &Path, kind| {
            lstat(path).is_ok_and(|stat| stat.st_uid == owner && FileType::from_raw_mode(stat.st_mode) == kind)
        };
        let files = [dot_git, own.join("gitdir"), own.join("commondir"), common.join("HEAD"), common.join("config")];
        let [objects, refs] = ["objects", "refs"].map(|name| common.join(name));
        let directories = [&own, worktrees, common, &objects, &refs];
        let sound = files.iter().all(|path| is(path, FileType::RegularFile))
            && directories.iter().all(|path| is(path, FileType::Directory));
        sound.then(|| Linked { root: root.to_path_buf(), common: common.to_path_buf(), own: own.clone() })
    }

    /// Lets commands under `profile` work in the repository, as far as git does for this worktree. Not where a root
    /// reaches into it already, and not where it holds more than a repository.
    pub fn put_into(&self, profile: &mut Profile) {
        let Linked { root, common, own } = self.clone();
        let meets = |other: &PathBuf| other.starts_with(&common) || common.starts_with(other);
        if profile.roots.iter().any(meets) || profile.home.starts_with(&common) {
            return;
        }
        let Ok(entries) = std::fs::read_dir(&common) else { return };
        let mut open = Vec::new();
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && SHARED.iter().any(|shared| name == *shared) {
                open.push(path);
            } else if !is_replaced(&name) && stat(&path).is_some() {
                profile.protected.push(path);
            }
        }
        open.push(own.clone());
        open.sort();
        profile.protected.extend(OF_MAIN.iter().map(|name| common.join(name)).filter(|path| stat(path).is_some()));
        let guarded = OWN_GUARDED.iter().map(|name| own.join(name));
        for path in guarded.chain(COMMON_GUARDED.iter().map(|name| common.join(name))) {
            match stat(&path) {
                Some(_) if path.starts_with(&own) => profile.protected.push(path),
                Some(_) => {}
                None => profile.absent.push(path),
            }
        }
        profile.repositories.push(Repository { root, common, own, open });
    }
}

/// Whether git replaces it, or it is a lock of somebody: that goes when its time has come.
fn is_replaced(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".lock") || REPLACED.contains(&name.strip_suffix(".new").unwrap_or(&name))
}

/// What stands there, unless it only stands in for something.
fn stat(path: &Path) -> Option<Stat> {
    lstat(path).ok().filter(|stat| !is_stand_in(stat))
}

/// The one line that git's little files hold; none where it is odd.
fn line(path: &Path) -> Option<Vec<u8>> {
    little(path).filter(|text| !text.is_empty() && !text.iter().any(|byte| matches!(byte, b'\n' | b'\0')))
}

/// One of git's little files, without the ends of lines at its end. Whatever lies there is read no further than such
/// a file can be long, and not waited for.
pub(super) fn little(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(LINE_BYTES).read_to_end(&mut text).ok()?;
    while text.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
        text.pop();
    }
    Some(text)
}

#[cfg(test)]
#[path = "linked/tests.rs"]
mod tests;
