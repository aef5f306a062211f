//! What lies where moves that a kill interrupted left it, and is not to go with them: what others wrote to a directory that a
//! move took along, and what stood in a place that others took since.

use std::path::{Path, PathBuf};

use nika_contract::{ToolError, pathtext};
use serde::{Deserialize, Serialize};

use super::{Act, At, Identity, Intent, Looked, Mover, Phase, Places, Step, standing};
use crate::fs::{Locked, Why, temp_name};
use crate::overlay::take;

/// Something that was set apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// Where it stood, or was to stand.
    #[serde(with = "pathtext")]
    pub path: PathBuf,
    /// Where it lies.
    #[serde(with = "pathtext")]
    pub lies: PathBuf,
}

impl Intent {
    /// Sets apart what must not go with what is removed. Where it is to lie is noted first, so that whoever settles the rest
    /// after another kill can tell it.
    pub(super) fn set_apart(&mut self, locked: &mut Locked<'_>, note: &Path) -> Result<(), Why> {
        let kept = Mover::new(locked.files()).kept(&self.steps, self.phase);
        let kept = kept.map_err(|error| Why::Failed(error.message))?;
        if kept.is_empty() {
            return Ok(());
        }
        let spill = locked.files().state().join("spill");
        let places: Vec<PathBuf> = kept.iter().map(|_| spill.join(format!("others{}", temp_name()))).collect();
        let apart = kept.iter().zip(&places).map(|((path, _), lies)| Apart { path: path.clone(), lies: lies.clone() });
        // A start before may have noted places that nothing came to.
        self.apart = self.told();
        self.apart.extend(apart);
        locked.save(note, self).map_err(|error| Why::Failed(error.message))?;
        for ((path, from), lies) in kept.iter().zip(&places) {
            let failed = |error| format!("what others wrote to {} cannot be kept: {error}", path.display());
            take(from, lies).map_err(|error| Why::Failed(failed(error)))?;
        }
        Ok(())
    }

    /// What was set apart.
    pub(super) fn told(&self) -> Vec<Apart> {
        self.apart.iter().filter(|one| rustix::fs::lstat(&one.lies).is_ok()).cloned().collect()
    }
}

impl Mover<'_> {
    /// Where moves were to lead, and where lies what must not go with them. What moves of a set left stays beside its place.
    fn kept(&mut self, steps: &[Step], phase: Phase) -> Result<Vec<(PathBuf, PathBuf)>, ToolError> {
        let mut kept = Vec::new();
        for step in steps.iter().filter(|step| !step.is_beside()) {
            let Some(places) = self.places_left(step)? else { continue };
            for (at, path) in [(&places.source, &step.source), (&places.aside, &step.aside)] {
                let is_kept = match (standing(at), phase) {
                    (None, _) | (_, Phase::Staging) => false,
                    (Some(there), Phase::Applying) => step.is_old_with_others(at, there),
                    // What is not back by now is not there again.
                    (Some(there), Phase::RollingBack) => {
                        step.old == Some(there) && standing(&places.target) != step.old
                            || step.is_new_with_others(at, there)
                    }
                };
                if is_kept && kept.last().is_none_or(|(_, last)| last != path) {
                    kept.push((step.target.clone(), path.clone()));
                }
            }
        }
        Ok(kept)
    }
}

impl Step {
    /// Whether the new one stands in its place, and others wrote to it: then it stays.
    pub(super) fn is_taken_over(&self, places: &Places<'_>) -> bool {
        standing(&places.target).is_some_and(|there| self.is_new_with_others(&places.target, there))
    }

    fn is_new_with_others(&self, at: &At<'_>, there: Identity) -> bool {
        let since = self.new_since.filter(|_| self.new == Some(there)).map(Looked::since);
        since.is_some_and(|looked| looked.is_other_in(at.0, &at.1))
    }

    fn is_old_with_others(&self, at: &At<'_>, there: Identity) -> bool {
        // Of what was seen then, a start knows nothing.
        let since = self.old_since.map(Looked::since);
        let looked = self.looked.as_deref().or(since.as_ref()).filter(|_| self.old == Some(there));
        looked.is_some_and(|looked| looked.is_other_in(at.0, &at.1))
    }

    /// Whether others wrote to what is in a directory that was moved away, or put something there, since it was judged.
    pub(super) fn takes_others_along(&self, source: &At<'_>, aside: &At<'_>) -> bool {
        let came_out = match self.act {
            Act::Put | Act::Set { .. } => return false,
            Act::Swap if standing(aside).is_none() => source,
            Act::Remove | Act::Swap => aside,
        };
        standing(came_out).is_some_and(|there| self.is_old_with_others(came_out, there))
    }
}
