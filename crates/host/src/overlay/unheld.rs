//! That nobody got hold of guarded entries while their copies lay beside their places.

use std::path::Path;

use nika_contract::{Kind, ToolError, code};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, statat};

use super::apply::hash;
use super::{Changes, Entry, What};
use crate::fs::{Workspace, errno, is_guarded, unheld as unheld_at};

/// Refuses what was put in place of `layers`, by copies in their roots, where a guarded file of it can be written by
/// others or holds something else than its layer, or a guarded directory has more in it.
pub(super) fn unheld<'c, 'l: 'c>(
    files: &Workspace,
    layers: impl Iterator<Item = &'c Changes<'l>>,
) -> Result<(), ToolError> {
    let put = |entry: &&Entry| matches!(entry.what, What::Created | What::Changed);
    for changes in layers {
        for entry in changes.entries.iter().filter(put) {
            let place = files.place(entry.path.clone());
            if is_guarded(&place) {
                let (dir, name) = files.parent_of(&entry.path)?;
                let inside = changes.inside(&entry.path);
                match entry.kind {
                    Kind::File => {
                        let failed = |error| {
                            let message = format!("cannot read {}: {error}", entry.path.display());
                            ToolError::new(code::READ_FAILED, message)
                        };
                        let wanted = hash(&inside).map_err(failed)?;
                        // A file of one layer may have several of its names.
                        let names = rustix::fs::lstat(&inside).map_or(1, |stat| u64::from(stat.st_nlink as u32));
                        unheld_at(&place, (&dir, &name), |hash| *hash == wanted, names)?;
                    }
                    Kind::Directory if entry.was != Some(Kind::Directory) => {
                        only_of(&dir, &name, &inside, &entry.path)?
                    }
                    Kind::Directory | Kind::Link => {}
                }
            }
        }
    }
    Ok(())
}

/// Refuses a new directory that has something in it which its layer has not.
fn only_of(dir: &std::os::fd::OwnedFd, name: &std::ffi::OsStr, inside: &Path, path: &Path) -> Result<(), ToolError> {
    use std::os::unix::ffi::OsStrExt;
    let failed = |error| errno(&format!("look into {}", path.display()), error, code::READ_FAILED);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let stands = openat(dir, name, flags, Mode::empty()).map_err(failed)?;
    for entry in Dir::new(stands).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        let is_known = || statat(rustix::fs::CWD, inside.join(name), AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if name != "." && name != ".." && !is_known() {
            let message =
                format!("somebody else put {} there while the directory was on its way", path.join(name).display());
            return Err(ToolError::new(code::NAME_HELD, message)
                .hint("end what runs beside with `job_stop` (`job_list` shows what lives), and repeat the call"));
        }
    }
    Ok(())
}
