//! A layer that no command filled: changes put together one by one, applied as one. So a set of any size is in
//! memory one file at a time.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nika_contract::{Dress, Kind, ToolError, code};
use nika_guard::Permit;
use rustix::fs::{Mode, Stat, chmod};

use super::marks::by_handle;
use super::moves::Move;
use super::sides::{ITSELF, beneath};
use super::walk::{bits, is_linked, kind};
use super::{Changes, Entry, Layer, What};
use crate::fs::{Stamp, dress, wear};
use crate::moves::Act;

impl Layer {
    /// A layer over `root` that nobody mounts. Each change to it is checked against the permit.
    pub(super) fn by_hand(_permit: &Permit, state: &Path, root: &Path) -> Result<Layer, ToolError> {
        Layer::make(state, root)
    }

    /// No changes yet, to be filled with [`Changes::put`] and [`Changes::remove`].
    pub fn blank(&self, _permit: &Permit) -> Changes<'_> {
        Changes {
            entries: Vec::new(),
            special: Vec::new(),
            moves: Vec::new(),
            by_hand: true,
            brought: HashSet::new(),
            above: HashSet::new(),
            copies: HashMap::new(),
            layer: self,
        }
    }
}

impl Changes<'_> {
    /// The root that they are for.
    pub fn root(&self, _permit: &Permit) -> &Path {
        &self.layer.root
    }

    /// Whether a change at `path` belongs to them: below their root, and in no other layer's.
    pub fn take(&self, _permit: &Permit, path: &Path) -> bool {
        let layer = self.layer;
        path.starts_with(&layer.root)
            && path != layer.root
            && !layer.not_in.iter().any(|other| path.starts_with(other) && path != other)
    }

    /// An entry that shall stand at `path`, below the root: a file with these bytes, a link to them, a directory.
    /// In a directory that was put before, it is part of that. `given`: what it has beside these and its permission bits,
    /// when that should not be what stands there has.
    pub fn put(
        &mut self,
        permit: &Permit,
        path: &Path,
        kind_new: Kind,
        bytes: &[u8],
        (mode, given): (Option<u32>, Option<&Dress>),
    ) -> Result<(), ToolError> {
        let failed = |error: std::io::Error| {
            ToolError::new(code::WRITE_FAILED, format!("cannot prepare {}: {error}", path.display()))
        };
        self.allowed(permit, path)?;
        let was = self.stands(path);
        let was_dir = was.as_ref().is_some_and(|was| kind(was) == Some(Kind::Directory));
        let at = self.inside(path);
        if kind_new == Kind::Directory && was_dir {
            return self.set_mode(permit, path, mode);
        }
        if let Some(parent) = at.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let was_file = was.as_ref().filter(|was| kind(was) == Some(Kind::File) && kind_new == Kind::File);
        let mut mode = mode.or_else(|| was_file.map(bits));
        let mut clothe = |file: &File| {
            if given.is_some_and(|given| !wear(file, given)) {
                mode = mode.map(|mode| mode & !0o6000);
            }
        };
        match kind_new {
            Kind::Directory => {
                fs::create_dir(&at).map_err(failed)?;
                clothe(&File::open(&at).map_err(failed)?);
            }
            Kind::Link => symlink(Path::new(std::ffi::OsStr::from_bytes(bytes)), &at).map_err(failed)?,
            Kind::File => {
                let mut file = File::create_new(&at).map_err(failed)?;
                file.write_all(bytes).map_err(failed)?;
                // What stands there was made of the file that comes back, or in its place.
                if let Some(was) = was.as_ref().filter(|was| given.is_none() && kind(was) == Some(Kind::File)) {
                    let former = beneath(&self.layer.root, path);
                    let owner = (was.st_uid, was.st_gid);
                    dress(&file, former.as_ref(), owner, bits(was), false).map_err(|error| failed(error.into()))?;
                }
                clothe(&file);
            }
        }
        if let Some(mode) = mode.filter(|_| kind_new != Kind::Link) {
            // What comes in it is not there yet.
            let mode = if kind_new == Kind::Directory { mode | 0o700 } else { mode };
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).map_err(failed)?;
        }
        let what = if was.is_some() { What::Changed } else { What::Created };
        let now = rustix::fs::lstat(&at).ok();
        self.note(path, what, kind_new, (bytes.len() as u64, mode), was.as_ref()).now = now.as_ref().map(Stamp::from);
        if !self.is_part(path) {
            let act = if was.is_some() { Act::Swap } else { Act::Put };
            self.moves.push(Move { path: path.to_path_buf(), act, emptied: was_dir });
        }
        Ok(())
    }

    /// The directories that are missing above `path`, which the permit names. One comes also in the place of a file or a
    /// link, if the permit names that, too.
    pub fn put_above(&mut self, permit: &Permit, path: &Path) -> Result<(), ToolError> {
        self.allowed(permit, path)?;
        let root = self.layer.root.clone();
        let mut above: Vec<&Path> = path.ancestors().skip(1).take_while(|dir| **dir != root).collect();
        above.reverse();
        for dir in above {
            let was = self.stands(dir);
            let is_dir = was.as_ref().is_some_and(|was| kind(was) == Some(Kind::Directory));
            if is_dir || self.brought.contains(dir) {
                continue;
            }
            if was.is_some() {
                self.allowed(permit, dir)?;
            }
            let at = self.inside(dir);
            let made = fs::create_dir_all(&at).and_then(|()| fs::metadata(&at));
            let mode = made.map(|made| made.permissions().mode() & 0o7777).map_err(|error| {
                ToolError::new(code::WRITE_FAILED, format!("cannot prepare {}: {error}", dir.display()))
            })?;
            let (what, act) = if was.is_some() { (What::Changed, Act::Swap) } else { (What::Created, Act::Put) };
            self.note(dir, what, Kind::Directory, (0, Some(mode)), was.as_ref());
            self.above.insert(dir.to_path_buf());
            if !self.is_part(dir) {
                self.moves.push(Move::new(dir.to_path_buf(), act));
            }
        }
        Ok(())
    }

    /// Other permission bits for what stands at `path`.
    pub fn set_mode(&mut self, permit: &Permit, path: &Path, mode: Option<u32>) -> Result<(), ToolError> {
        self.allowed(permit, path)?;
        let (Some(was), Some(mode)) = (self.stands(path), mode) else { return Ok(()) };
        if let (Some(kind), true) = (kind(&was).filter(|kind| *kind != Kind::Link), bits(&was) != mode) {
            self.note(path, What::Mode, kind, (was.st_size.unsigned_abs(), Some(mode)), Some(&was));
            self.moves.push(Move::new(path.to_path_buf(), Act::Set { mode, mtime: None }));
        }
        Ok(())
    }

    /// Nothing shall stand at `path`, where a file or link stands, or a directory that nothing is left in.
    /// Removed in the order that they are given, after which all else is put.
    pub fn remove(&mut self, permit: &Permit, path: &Path) -> Result<(), ToolError> {
        self.allowed(permit, path)?;
        let Some(was) = self.stands(path) else { return Ok(()) };
        let kind = kind(&was).unwrap_or(Kind::File);
        self.note(path, What::Deleted, kind, (0, None), Some(&was));
        self.moves.push(Move { path: path.to_path_buf(), act: Act::Remove, emptied: kind == Kind::Directory });
        Ok(())
    }

    /// Gives directories the rights that they shall have, from the inside out: nothing comes into them any more.
    pub(super) fn close(&self) -> Result<(), ToolError> {
        let is_directory = |entry: &&Entry| entry.kind == Kind::Directory && self.brought.contains(&entry.path);
        for entry in self.entries.iter().rev().filter(is_directory) {
            let Some(mode) = entry.mode else { continue };
            let handle = self.layer.opened(&entry.path, ITSELF);
            handle.and_then(|dir| chmod(by_handle(&dir), Mode::from_raw_mode(mode))).map_err(|error| {
                ToolError::new(code::WRITE_FAILED, format!("cannot prepare {}: {error}", entry.path.display()))
            })?;
        }
        Ok(())
    }

    fn allowed(&self, permit: &Permit, path: &Path) -> Result<(), ToolError> {
        if permit.covers_write(path) && self.take(permit, path) {
            return Ok(());
        }
        let message = format!("{} is not what this call was allowed to touch", path.display());
        Err(ToolError::new(code::OUT_OF_BOUNDS, message))
    }

    fn stands(&self, path: &Path) -> Option<Stat> {
        // Only a look, to be verified when it is applied. Where a directory on the way is a link by now, nothing does:
        // what its target has under that name is another path.
        rustix::fs::fstat(beneath(&self.layer.root, path)?).ok()
    }

    /// Whether a directory above `path` is brought by this layer.
    fn is_part(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(&self.layer.root));
        !self.brought.is_empty() && above.into_iter().any(|above| self.brought.contains(above))
    }

    fn note(
        &mut self,
        path: &Path,
        what: What,
        kind_now: Kind,
        now: (u64, Option<u32>),
        was: Option<&Stat>,
    ) -> &mut Entry {
        let size = |stat: &Stat| if kind(stat) == Some(Kind::Directory) { 0 } else { stat.st_size.unsigned_abs() };
        if kind_now == Kind::Directory && matches!(what, What::Created | What::Changed) {
            self.brought.insert(path.to_path_buf());
        }
        self.entries.push(Entry {
            path: PathBuf::from(path),
            what,
            kind: kind_now,
            was: was.map(|was| kind(was).unwrap_or(Kind::File)),
            bytes: now.0,
            was_bytes: was.map_or(0, size),
            mode: now.1,
            was_mode: was.map(bits),
            was_special: was.is_some_and(|was| kind(was).is_none()),
            was_linked: was.is_some_and(is_linked),
            stamp: was.map(Stamp::from),
            now: None,
        });
        self.entries.last_mut().expect("pushed above")
    }
}
