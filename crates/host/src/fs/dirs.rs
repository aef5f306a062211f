//! Directories that a set of changes makes above its new files, and those that it leaves empty.
//!
//! | what is missing | is noted | is made |
//! |---|---|---|
//! | the topmost one | its temporary name, and before it gets its own, who it is | under that name, then renamed |
//! | one in it | who it is, with it | in it, while it has the temporary name |
//!
//! So a kill leaves none that is not known for ours: what has a temporary name is, and what has its own is told by who it is
//! from what others made there since.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nika_contract::{Cx, Kind, Preimage, ToolError, code, pathtext};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use serde::{Deserialize, Serialize};

use super::change::Target;
use super::commit::{sync_dir, temp_name};
use super::sets::NotedSet;
use super::{Change, Fsync, Locked, NotMade, Workspace, errno, land, sha256};

/// One that was missing.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    #[serde(with = "pathtext")]
    path: PathBuf,
    /// Of the topmost one, until it is whole.
    temp: Option<String>,
    /// Who it is: inode, and when it came to be.
    id: Option<[i64; 3]>,
}

/// One that goes with what is in it, if nothing else is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Emptied(#[serde(with = "pathtext")] pub(super) PathBuf);

impl Workspace {
    /// What is missing above the new files of a set, each before what goes in it.
    pub(super) fn missing_above(&self, changes: &[Change]) -> Vec<Made> {
        let mut missing: BTreeSet<&Path> = BTreeSet::new();
        for change in changes.iter().filter(|change| !matches!(change.target, Target::Absent)) {
            let above = change.place.path.ancestors().skip(1);
            missing.extend(above.take_while(|dir| self.open_exact(dir, OFlags::PATH | OFlags::DIRECTORY).is_err()));
        }
        let topmost = |path: &Path| path.parent().is_none_or(|above| !missing.contains(above));
        let made = |path: &&Path| Made { path: path.to_path_buf(), temp: topmost(path).then(temp_name), id: None };
        missing.iter().map(made).collect()
    }

    /// The directories that a set made, while they are empty: others may have put something in one.
    pub(crate) fn unmake(&self, dirs: &[Made]) {
        for dir in dirs.iter().rev() {
            for at in [Some(staged(dirs, &dir.path)), dir.id.map(|_| dir.path.clone())].into_iter().flatten() {
                let Ok((above, name)) = self.parent_of(&at) else { continue };
                if at != dir.path || birth_id(&above, &name) == dir.id {
                    let _ = rustix::fs::unlinkat(&above, &name, AtFlags::REMOVEDIR);
                }
            }
        }
    }

    /// Those that a set leaves empty, the deepest first.
    pub(crate) fn remove_emptied(&self, dirs: &[Emptied]) {
        for Emptied(dir) in dirs {
            if let Ok((above, name)) = self.parent_of(dir) {
                let _ = rustix::fs::unlinkat(&above, &name, AtFlags::REMOVEDIR);
            }
        }
    }
}

impl Locked<'_> {
    /// Makes what is missing above the new files of a set, each noted for undo.
    pub(super) fn make_dirs(&mut self, cx: &Cx<'_>, begun: &mut NotedSet) -> Result<(), NotMade> {
        if begun.made().is_empty() {
            return Ok(());
        }
        for at in 0..begun.made().len() {
            let dirs = begun.made();
            let (above, name) = self.files().parent_of(&staged(dirs, &dirs[at].path))?;
            rustix::fs::mkdirat(&above, &name, Mode::from_raw_mode(0o777))
                .map_err(|error| self.cannot_make(&dirs[at].path, error))?;
            let id = birth_id(&above, &name);
            begun.made_mut()[at].id = id;
        }
        self.save_set(begun)?;
        for dir in begun.made() {
            let Some(temp) = &dir.temp else { continue };
            let (above, name) = self.files().parent_of(&dir.path)?;
            match land((&above, temp.as_ref()), (&above, &name)) {
                Ok(()) => {}
                // Others made it meanwhile, or something else in its place.
                Err(Errno::EXIST) => {
                    return Err(match self.files().open_exact(&dir.path, OFlags::PATH | OFlags::DIRECTORY) {
                        Ok(_) => NotMade::Moved(self.files().place(dir.path.clone())),
                        Err(error) => self.cannot_make(&dir.path, error).into(),
                    });
                }
                Err(error) => return Err(self.cannot_make(&dir.path, error).into()),
            }
            if self.files().fsync() != Fsync::Off {
                sync_dir(&above);
            }
        }
        for dir in begun.made() {
            keep_made(cx, &dir.path)?;
        }
        Ok(())
    }

    pub(super) fn cannot_make(&self, dir: &Path, error: Errno) -> ToolError {
        errno(&format!("make the directory {}", self.files().shown(dir)), error, code::WRITE_FAILED)
    }
}

/// Notes for undo that a directory was made.
pub(super) fn keep_made(cx: &Cx<'_>, dir: &Path) -> Result<(), ToolError> {
    cx.undo.keep(&Preimage {
        path: dir,
        kind: Kind::Directory,
        bytes: None,
        hash: None,
        mode: None,
        mode_left: None,
        after: Some(sha256(b"")),
        more: None,
        dress: None,
        linked: false,
    })
}

/// Where a directory lies until the topmost missing one, itself or one around it, has its own name.
fn staged(dirs: &[Made], path: &Path) -> PathBuf {
    let around = dirs.iter().find(|dir| dir.temp.is_some() && path.starts_with(&dir.path));
    let temp = around.and_then(|top| Some(top.path.with_file_name(top.temp.as_ref()?)));
    match (around.and_then(|top| path.strip_prefix(&top.path).ok()), temp) {
        (Some(below), Some(temp)) if below.as_os_str().is_empty() => temp,
        (Some(below), Some(temp)) => temp.join(below),
        _ => path.to_path_buf(),
    }
}

/// Who a directory is. Inodes are used again, so the time at which it came to be is a part of it, where the file system
/// knows that.
pub(crate) fn birth_id(above: impl AsFd, name: impl Arg) -> Option<[i64; 3]> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    let stat = rustix::fs::statx(above, name, flags, StatxFlags::INO | StatxFlags::BTIME).ok()?;
    let knows = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    let birth = if knows { [stat.stx_btime.tv_sec, i64::from(stat.stx_btime.tv_nsec)] } else { [0, 0] };
    Some([stat.stx_ino as i64, birth[0], birth[1]])
}
