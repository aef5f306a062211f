//! Whether a person trusts what a repository brings.
//!
//! Trust is bound to two things: to *which* repository (its canonical git common directory, see
//! [`place`]) and to *what* it brings (names and bytes of the files in [`brings::BRINGS`]). When either changes,
//! the person is asked again. Trust lets project and local configuration loosen; it grants nothing by
//! itself, and no file of a repository can claim it.
//!
//! Records lie in the user's state directory, one JSON line each, 0600, replaced whole by rename.

mod brings;
mod place;
mod store;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use brings::Brought;

use crate::config::ConfigError;
use store::Record;

/// How a project directory stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The repository brings none of the files that trust is about.
    Nothing,
    /// A person trusts exactly these files here.
    Trusted,
    /// Nobody was asked yet.
    Unasked,
    /// Trusted once; these files have changed, come or gone since.
    Changed {
        /// Relative to the project directory.
        files: Vec<String>,
    },
    /// A configuration says `trusted: false`, which wins over any grant.
    Refused {
        /// `file:line`.
        at: String,
    },
}

impl Trust {
    /// Whether what the repository brings may loosen.
    pub fn holds(&self) -> bool {
        *self == Trust::Trusted
    }

    /// One line for a person.
    pub fn describe(&self) -> String {
        match self {
            Trust::Nothing => "nothing to trust: the repository brings no configuration".into(),
            Trust::Trusted => "trusted".into(),
            Trust::Unasked => "not trusted: `nika trust` would let the repository's configuration loosen".into(),
            Trust::Changed { files } => {
                format!("not trusted any more: changed since `nika trust`: {}", files.join(", "))
            }
            Trust::Refused { at } => format!("not trusted: {at} says `trusted: false`"),
        }
    }

    /// `state` in one word, with what it carries.
    pub fn to_json(&self) -> Value {
        match self {
            Trust::Nothing => json!({ "state": "nothing" }),
            Trust::Trusted => json!({ "state": "trusted" }),
            Trust::Unasked => json!({ "state": "unasked" }),
            Trust::Changed { files } => json!({ "state": "changed", "files": files }),
            Trust::Refused { at } => json!({ "state": "refused", "at": at }),
        }
    }
}

/// How `project_dir` stands, `trusted: false` in configuration aside: `config::load` knows that too.
///
/// `said` are files whose bytes were read already, by name: trust must hold for these very bytes, not for
/// what lies there a moment later.
pub fn status(project_dir: &Path, store: &Path, said: &[(&str, &[u8])]) -> Result<Trust, ConfigError> {
    let here = place::of(project_dir)?;
    let records = store::read(store)?;
    let own = records.iter().find(|record| record.is_at(&here));
    // Another worktree of the same repository, the same way down: its trust counts where the bytes do.
    let kin: Vec<&Record> = records.iter().filter(|record| record.is_kin(&here)).collect();
    if own.is_none() && kin.is_empty() {
        let any = !said.is_empty() || brings::any(&here)?;
        return Ok(if any { Trust::Unasked } else { Trust::Nothing });
    }
    let mut brought = brings::read(&here)?;
    for (name, bytes) in said {
        brought.replace(name, bytes);
    }
    match own {
        Some(record) if record.files == brought => Ok(Trust::Trusted),
        None if kin.iter().any(|record| record.files == brought) => Ok(Trust::Trusted),
        _ if brought.is_empty() => Ok(Trust::Nothing),
        Some(record) => Ok(Trust::Changed { files: record.files.differences(&brought) }),
        None => Ok(Trust::Unasked),
    }
}

/// What tells without reading whether anything changed of what the repository brings, or of `files`.
pub fn stamps<'f>(project_dir: &Path, files: impl Iterator<Item = &'f Path>) -> Stamps {
    let brought = place::of(project_dir).and_then(|here| brings::stamps(&here)).ok();
    let stamp = |path: &Path| std::fs::metadata(path).ok().as_ref().map(brings::stamp);
    Stamps { brought, files: files.map(stamp).collect() }
}

/// See [`stamps`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamps {
    brought: Option<Brought>,
    files: Vec<Option<String>>,
}

/// The directories above `project_dir` whose manifests count there, the nearest first: up to the top of the
/// repository, or of the file system where there is none.
pub fn above(project_dir: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    Ok(place::of(project_dir)?.above)
}

/// What the repository brings now: show it to the person before [`grant`].
pub fn brought(project_dir: &Path) -> Result<Brought, ConfigError> {
    brings::read(&place::of(project_dir)?)
}

/// Trusts what the repository brings now, and answers with it.
pub fn grant(project_dir: &Path, store: &Path) -> Result<Brought, ConfigError> {
    let here = place::of(project_dir)?;
    let files = brings::read(&here)?;
    if let Some(why) = files.unbound.first() {
        let why =
            "trust binds to names and bytes, and this ".to_owned() + why.split_once(' ').map_or("", |(_, why)| why);
        return Err(ConfigError::Unusable { file: files.unbound[0].clone(), why });
    }
    store::change(store, |records| {
        records.retain(|record| !record.is_at(&here));
        records.push(Record::new(&here, files.clone()));
    })?;
    Ok(files)
}

/// Takes back the trust in this repository, its other worktrees included. Whether there was any.
pub fn revoke(project_dir: &Path, store: &Path) -> Result<bool, ConfigError> {
    let here = place::of(project_dir)?;
    if !store::read(store)?.iter().any(|record| record.repository == here.repository) {
        return Ok(false);
    }
    store::change(store, |records| records.retain(|record| record.repository != here.repository))?;
    Ok(true)
}
