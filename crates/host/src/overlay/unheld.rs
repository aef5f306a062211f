//! What is guarded of entries that are copied into the root, where others could get hold of the copies: what each must hold.

use std::os::fd::OwnedFd;

use nika_contract::{Kind, ToolError, code};

use super::apply::hash;
use super::sides::READ;
use super::stage::names_in;
use super::{Changes, Entry, What};
use crate::fs::{Workspace, is_guarded};
use crate::moves::{Holds, Judged, Named};

impl Changes<'_> {
    /// Guarded files, which must hold what the layer has of them, and new guarded directories, in which nothing else may be.
    pub(super) fn judged(&self, files: &Workspace) -> Result<Vec<Judged>, ToolError> {
        let put = |entry: &&Entry| matches!(entry.what, What::Created | What::Changed);
        let guarded = |entry: &&Entry| is_guarded(&files.place(entry.path.clone()));
        let mut all = Vec::new();
        for entry in self.entries.iter().filter(put).filter(guarded) {
            let open = |flags| self.layer.opened(&entry.path, flags).map_err(std::io::Error::from);
            let holds = match entry.kind {
                Kind::File => open(READ).and_then(content),
                Kind::Directory if entry.was != Some(Kind::Directory) => open(READ).and_then(names),
                Kind::Directory | Kind::Link => continue,
            };
            let failed = |error| {
                let message = format!("cannot read {}: {error}", entry.path.display());
                ToolError::new(code::READ_FAILED, message)
            };
            all.push(Judged { path: entry.path.clone(), holds: holds.map_err(failed)? });
        }
        Ok(all)
    }
}

/// A file of one layer may have several of its names.
fn content(file: OwnedFd) -> std::io::Result<Holds> {
    let names = u64::from(rustix::fs::fstat(&file)?.st_nlink as u32);
    Ok(Holds::Content { sha256: hash(file)?, names })
}

fn names(dir: OwnedFd) -> std::io::Result<Holds> {
    let names = names_in(dir)?.into_iter().map(|name| Named(name.into()));
    Ok(Holds::Only(names.collect()))
}
