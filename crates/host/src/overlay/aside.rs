//! What shall not be applied, moved out of a layer to where it can be read: a command's work is never dropped.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code};
use nika_guard::Permit;
use rustix::fs::{AtFlags, CWD, Mode};
use rustix::io::Errno;

use super::clean::clean;
use super::stage::Stage;
use super::{Changes, Layer, marks, sweep};
use crate::moves::Act;

/// A path whose change is no part of a layer any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// In the root; with all that is below it.
    pub path: PathBuf,
    /// Where what the command left there lies now. `None` where it left nothing.
    pub kept: Option<PathBuf>,
}

impl Changes<'_> {
    /// Takes the changes at `paths` out of the layer, each with as much of its surroundings as goes with it, and
    /// keeps them below `to`. Look at the layer anew afterwards.
    pub fn leave_out(self, permit: &Permit, paths: &[PathBuf], to: &Path) -> Result<Vec<LeftOut>, ToolError> {
        self.layer.permitted(permit)?;
        let mut units: Vec<PathBuf> = paths.iter().map(|path| self.unit(path)).collect();
        units.sort();
        units.dedup_by(|path, before| path.starts_with(&*before));
        let below = |path: &Path| path.strip_prefix(&self.layer.root).unwrap_or(Path::new("")).to_path_buf();
        let mut left = Vec::with_capacity(units.len());
        for path in units {
            let kept = take(&self.inside(&path), &to.join(below(&path))).map_err(|error| {
                ToolError::new(code::WRITE_FAILED, format!("cannot keep {}: {error}", path.display()))
            })?;
            left.push(LeftOut { path, kept });
        }
        Ok(left)
    }

    /// What goes with `path`: an entry that a directory brings can stay out of it; one that a directory replaces or
    /// takes away stands or falls with that.
    fn unit(&self, path: &Path) -> PathBuf {
        let around = self.moves.iter().find(|one| path.starts_with(&one.path));
        let new = self.entries.iter().any(|entry| entry.path == path && entry.was.is_none());
        match around {
            Some(around) if around.act != Act::Put && !new => around.path.clone(),
            _ => path.to_path_buf(),
        }
    }
}

impl Layer {
    /// Keeps all that the command left, below `to`, and leaves nothing to apply.
    pub fn keep(self, permit: &Permit, to: &Path) -> Result<(), ToolError> {
        self.permitted(permit)?;
        if self.is_left(permit) {
            let message = "it waits with what stood in the places of it, for the next start to take the rest back";
            return Err(ToolError::new(code::WRITE_FAILED, message));
        }
        self.remove_stand_ins();
        let failed = |error: std::io::Error| {
            ToolError::new(code::WRITE_FAILED, format!("cannot keep what the command changed: {error}"))
        };
        take(&self.upper(), to).map(drop).map_err(failed)
    }
}

/// Moves what lies at `from` in a layer to `to`. `None`: it only says that nothing stands there any more.
fn take(from: &Path, to: &Path) -> std::io::Result<Option<PathBuf>> {
    let name = std::ffi::CString::new(from.file_name().unwrap_or_default().as_bytes())?;
    let parent = from.parent().map(|parent| rustix::fs::open(parent, DIRECTORY, rustix::fs::Mode::empty()));
    let stat = rustix::fs::lstat(from)?;
    if let Some(parent) = parent.transpose()?
        && marks::is_whiteout(&parent, &name, &stat)
    {
        fs::remove_file(from)?;
        return Ok(None);
    }
    if let Some(parent) = to.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    // With marks it can be read as well.
    let _ = clean(from);
    match renamed(from, to, &stat) {
        Ok(()) => {}
        Err(Errno::XDEV) => {
            let above = rustix::fs::open(to.parent().unwrap_or(Path::new("/")), DIRECTORY, Mode::empty())?;
            let is_free = rustix::fs::lstat(to).is_err();
            match Stage::within(above, None).copy(from, to.file_name().unwrap_or_default()) {
                Ok(()) => remove(from, &stat)?,
                Err(error) => {
                    // On a full disk a part of it was copied: that is said to lie nowhere.
                    if is_free {
                        let _ = remove(to, &stat);
                    }
                    return Err(error);
                }
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(Some(to.to_path_buf()))
}

fn remove(path: &Path, stat: &rustix::fs::Stat) -> std::io::Result<()> {
    if stat.st_mode & libc::S_IFMT != libc::S_IFDIR {
        return fs::remove_file(path);
    }
    sweep::remove_tree(path);
    Ok(())
}

/// A rename, where rights that the command took from itself forbid it, too: a directory that moves must be writable, and so
/// the one that it leaves.
fn renamed(from: &Path, to: &Path, stat: &rustix::fs::Stat) -> rustix::io::Result<()> {
    match rustix::fs::rename(from, to) {
        Err(Errno::ACCESS | Errno::PERM) => {}
        other => return other,
    }
    let mode = |path: &Path, bits| rustix::fs::chmodat(CWD, path, Mode::from_raw_mode(bits & 0o7777), AtFlags::empty());
    let above = from.parent().and_then(|above| Some((above, rustix::fs::lstat(above).ok()?.st_mode)));
    if let Some((above, bits)) = above {
        mode(above, bits | 0o700)?;
    }
    let is_directory = stat.st_mode & libc::S_IFMT == libc::S_IFDIR;
    if is_directory {
        mode(from, stat.st_mode | 0o700)?;
    }
    let done = rustix::fs::rename(from, to);
    if is_directory {
        mode(if done.is_ok() { to } else { from }, stat.st_mode)?;
    }
    if let Some((above, bits)) = above {
        mode(above, bits)?;
    }
    done
}

const DIRECTORY: rustix::fs::OFlags =
    rustix::fs::OFlags::PATH.union(rustix::fs::OFlags::DIRECTORY).union(rustix::fs::OFlags::CLOEXEC);
