//! Whether two change sets are the same: what a person was shown, and what would be applied.
//!
//! Paths, what happens to each, its kind and its permission bits, and what stands in it afterwards. No times, so that
//! a command that does the same again is known again.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nika_contract::{Kind, ToolError, code};
use nika_guard::Permit;
use sha2::{Digest, Sha256};

use super::apply::hash;
use super::sides::READ;
use super::{Changes, Entry, What};

/// Stands for change sets that are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness([u8; 32]);

impl Likeness {
    /// Of everything that the layers would change, but for what stands in files afterwards: a layer that nothing
    /// writes to any more is other only where its root is.
    pub fn of_paths(permit: &Permit, layers: &[Changes<'_>]) -> Likeness {
        let mut all = Sha256::new();
        for changes in layers {
            paths(permit, changes, &mut all);
        }
        Likeness(all.finalize().into())
    }

    /// Of everything that the layers would change. Reads every file in them.
    pub fn of(permit: &Permit, layers: &[Changes<'_>]) -> Result<Likeness, ToolError> {
        let mut all = Sha256::new();
        for changes in layers {
            paths(permit, changes, &mut all);
        }
        Likeness::with_contents(all, layers, &|_| true)
    }

    /// Of what they would change at `those` paths alone.
    pub fn of_those(
        permit: &Permit,
        layers: &[Changes<'_>],
        those: &dyn Fn(&Path) -> bool,
    ) -> Result<Likeness, ToolError> {
        let mut all = Sha256::new();
        for changes in layers {
            changes
                .entries
                .iter()
                .filter(|entry| those(&entry.path))
                .for_each(|entry| path(permit, changes, entry, &mut all));
        }
        Likeness::with_contents(all, layers, those)
    }

    fn with_contents(
        mut all: Sha256,
        layers: &[Changes<'_>],
        those: &dyn Fn(&Path) -> bool,
    ) -> Result<Likeness, ToolError> {
        for changes in layers {
            for entry in changes.entries.iter().filter(|entry| those(&entry.path)) {
                if let (Kind::File, What::Created | What::Changed) = (entry.kind, entry.what) {
                    let file = changes.layer.opened(&entry.path, READ).map_err(std::io::Error::from);
                    let content = file.and_then(hash).map_err(|error| {
                        let message = format!("cannot read {} in the layer: {error}", entry.path.display());
                        ToolError::new(code::READ_FAILED, message)
                    })?;
                    all.update(content);
                }
            }
        }
        Ok(Likeness(all.finalize().into()))
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn paths(permit: &Permit, changes: &Changes<'_>, all: &mut Sha256) {
    part(changes.root(permit).as_os_str().as_bytes(), all);
    changes.entries.iter().for_each(|entry| path(permit, changes, entry, all));
    changes.special.iter().for_each(|path| part(path.as_os_str().as_bytes(), all));
}

fn path(permit: &Permit, changes: &Changes<'_>, entry: &Entry, all: &mut Sha256) {
    part(entry.path.as_os_str().as_bytes(), all);
    let link = match entry.kind {
        Kind::Link => changes.after(permit, entry, u64::MAX),
        Kind::File | Kind::Directory => None,
    };
    part(&link.unwrap_or_default(), all);
    let said = format!("{:?} {:?} {:?} {:?} {:?}", entry.what, entry.kind, entry.was, entry.mode, entry.was_mode);
    part(said.as_bytes(), all);
}

fn part(bytes: &[u8], all: &mut Sha256) {
    all.update((bytes.len() as u64).to_le_bytes());
    all.update(bytes);
}
