//! Which repository a directory belongs to, found by reading files; no git program runs.
//!
//! The answer is an identity that no other directory can claim. A `.git` file names a directory, and
//! anybody can write one that names somebody else's: so a linked worktree counts as its repository only
//! when that repository's own `worktrees/NAME/gitdir` points back here. Whatever does not verify
//! (a spoof, a link, a submodule, `--separate-git-dir`) is known by its own directory instead.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::config::ConfigError;

/// A project directory and its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// `git:` with the common directory, or `dir:` with the top directory.
    pub repository: String,
    /// Canonical.
    pub dir: PathBuf,
    /// From the top of the working tree down to `dir`; empty at the top.
    pub below: String,
    /// The directories above `dir` that belong to it, the nearest first.
    pub above: Vec<PathBuf>,
}

/// Where `project_dir` stands.
pub(super) fn of(project_dir: &Path) -> Result<Place, ConfigError> {
    let dir = fs::canonicalize(project_dir).map_err(|error| ConfigError::Unusable {
        file: project_dir.display().to_string(),
        why: format!("cannot be opened: {error}"),
    })?;
    let found = dir.ancestors().find(|top| fs::symlink_metadata(top.join(".git")).is_ok());
    let top = found.unwrap_or(&dir).to_path_buf();
    let within = |above: &&Path| found.is_none_or(|top| above.starts_with(top));
    let above = dir.ancestors().skip(1).take_while(within).map(Path::to_path_buf).collect();
    let repository = match common_dir(&top) {
        Some(common) => format!("git:{}", text(&common)),
        None => format!("dir:{}", text(&top)),
    };
    let below = dir.strip_prefix(&top).map(text).unwrap_or_default();
    Ok(Place { repository, dir, below, above })
}

/// The git common directory of the working tree at the canonical `top`, where it proves to be that.
fn common_dir(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    let kind = fs::symlink_metadata(&dot_git).ok()?.file_type();
    if kind.is_dir() {
        // A `commondir` inside it could name anybody's repository: a main working tree has none.
        return Some(dot_git);
    }
    if !kind.is_file() {
        return None;
    }
    let git_dir = fs::canonicalize(top.join(line(&dot_git)?.strip_prefix("gitdir:")?.trim_start())).ok()?;
    let back = fs::canonicalize(git_dir.join(line(&git_dir.join("gitdir"))?)).ok()?;
    let common = fs::canonicalize(git_dir.join(line(&git_dir.join("commondir"))?)).ok()?;
    let listed = git_dir.parent() == Some(&common.join("worktrees"));
    (back == dot_git && listed).then_some(common)
}

/// The one line that git's little files hold, at most 8 KiB: twice the longest path.
fn line(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(8 << 10).read_to_string(&mut text).ok()?;
    let line = text.trim_end_matches(['\n', '\r']);
    (!line.is_empty() && !line.contains(['\n', '\0'])).then(|| line.to_owned())
}

/// A path as text that no other path has.
pub(super) fn text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        // `\x:` starts no absolute path, and a relative one of that name is not worth telling apart.
        None => format!("\\x:{}", path.as_os_str().as_bytes().escape_ascii()),
    }
}
