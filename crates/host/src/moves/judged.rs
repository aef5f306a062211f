//! What becomes code or policy, and what exactly was judged of it. Before it stands in its place it lies under another name,
//! where commands of other sessions may write: so its content is looked at when it stands there, by whoever put it there,
//! also by the start that finishes the moves of a process that was killed.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code, pathtext};
use rustix::fs::{Dir, OFlags};
use serde::{Deserialize, Serialize};

use super::{At, Mover, Named, Parents, Step, refused, standing};
use crate::fs::{Workspace, errno, look_as_owner, unheld};

/// A guarded entry that comes, by itself or in a directory.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    #[serde(with = "pathtext")]
    pub(crate) path: PathBuf,
    pub(crate) holds: Holds,
}

/// What it holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Holds {
    /// Content with this sha256, in a file of no more names.
    Content { sha256: [u8; 32], names: u64 },
    /// Nothing but entries of these names.
    Only(Vec<Named>),
}

impl Judged {
    /// Refuses what stands in the place where it is something else, or where somebody can still write it.
    pub(crate) fn check(&self, files: &Workspace) -> Result<(), ToolError> {
        let mut parents = Parents::default();
        let (dir, name) = parents.of(files, &self.path).map_err(|error| refused(&self.path, error))?;
        match &self.holds {
            Holds::Content { sha256, names } => {
                let place = files.place(self.path.clone());
                unheld(&place, (dir, &name), |hash| hash == sha256, *names)
            }
            Holds::Only(known) => self.has_only(known, (dir, &name)),
        }
    }

    fn has_only(&self, known: &[Named], (dir, name): (&OwnedFd, &OsStr)) -> Result<(), ToolError> {
        let failed = |error| errno(&format!("look into {}", self.path.display()), error, code::READ_FAILED);
        let known: HashSet<&OsStr> = known.iter().map(|Named(name)| name.as_os_str()).collect();
        let stands = look_as_owner(dir, name.as_ref(), OFlags::DIRECTORY | OFlags::NOFOLLOW).map_err(failed)?;
        for entry in Dir::new(stands).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." && !known.contains(name) {
                let shown = self.path.join(name);
                let message = format!("somebody else put {} there while the directory was on its way", shown.display());
                return Err(ToolError::new(code::NAME_HELD, message)
                    .hint("end what runs beside with `job_stop` (`job_list` shows what lives), and repeat the call"));
            }
        }
        Ok(())
    }
}

impl Mover<'_> {
    /// Of what was judged, that which a kill left before it was looked at: it still waits, or it is a new file exactly as it
    /// was made. What is in a directory that stands in its place already may be others' work of since then. Where a former
    /// entry is removed already, all was looked at before.
    pub(super) fn unproven<'i>(&mut self, judged: &'i [Judged], steps: &'i [Step]) -> Vec<(&'i Judged, &'i Step)> {
        if judged.is_empty() || steps.iter().any(|step| self.places(step).is_ok_and(|places| step.is_cleared(&places)))
        {
            return Vec::new();
        }
        let by_target: HashMap<&Path, &Step> = steps.iter().map(|step| (&*step.target, step)).collect();
        let of = |one: &'i Judged| one.path.ancestors().find_map(|above| by_target.get(above).copied());
        let all = judged.iter().filter_map(|one| Some((one, of(one)?)));
        let unproven = all.filter(|(one, step)| {
            self.places(step).is_ok_and(|places| {
                let is_it = one.path == step.target && step.is_as_made(&places.target);
                is_it || step.is_as_made(&places.source)
            })
        });
        unproven.collect()
    }

    /// Refuses where one that stands in its place by now is not what was judged.
    pub(super) fn proves(&mut self, unproven: &[(&Judged, &Step)]) -> Result<(), ToolError> {
        for (one, step) in unproven {
            if self.places(step).is_ok_and(|places| step.is_as_made(&places.target)) {
                one.check(self.files)?;
            }
        }
        Ok(())
    }
}

impl Step {
    /// Whether the new one stands there, and by its size and time nobody wrote to it.
    fn is_as_made(&self, at: &At<'_>) -> bool {
        self.new.is_some() && standing(at) == self.new
    }
}
