//! What shall not be applied, moved out of a layer to where it can be read: a command's work is never dropped.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code};
use nika_guard::Permit;
use rustix::fs::{AtFlags, Mode, OFlags, open, renameat, unlinkat};
use rustix::io::Errno;

use super::clean::clean;
use super::stage::Stage;
use super::{Changes, Layer, marks, sweep};
use crate::fs::{move_as_owner, parent_as_owner, stat_as_owner, with_rights};
use crate::moves::Act;

/// A path whose change is no part of a layer any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// In the root; with all that is below it.
    pub path: PathBuf,
    /// Where what the command left there lies now. `None` where it left nothing.
    pub kept: Option<PathBuf>,
    /// What of it others wrote, while it stood in the root for a moment.
    pub others: Vec<PathBuf>,
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
            let others = self.layer.tried.others_in(&path);
            left.push(LeftOut { path, kept, others });
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
pub(crate) fn take(from: &Path, to: &Path) -> std::io::Result<Option<PathBuf>> {
    let (dir, name) = parent_as_owner(from)?;
    let stat = stat_as_owner(&dir, name)?;
    if marks::is_whiteout(&dir, &CString::new(name.as_bytes())?, &stat) {
        with_rights(&dir, || unlinkat(&dir, name, AtFlags::empty()))?;
        return Ok(None);
    }
    let around = to.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(around)?;
    let (above, new) = (open(around, DIRECTORY, Mode::empty())?, to.file_name().unwrap_or_default());
    // With marks it can be read as well.
    let _ = clean(from);
    match move_as_owner((&dir, name), (&above, new), |(dir, name), (above, new)| renameat(dir, name, above, new)) {
        Ok(()) => {}
        Err(Errno::XDEV) => {
            let is_free = rustix::fs::lstat(to).is_err();
            match Stage::within(above, None).copy(from, new) {
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

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
