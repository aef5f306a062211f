//! The note of moves under way, and what a start makes of one that it finds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nika_contract::{ToolError, pathtext};
use serde::{Deserialize, Serialize};

use super::{Mover, Step};
use crate::fs::{Emptied, Locked, Made, Outcome, Recovered, Why, read_note};
use crate::overlay::remove_tree;

const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    version: u32,
    pub(crate) call: String,
    pub(crate) phase: Phase,
    /// Directories that a set makes, each before what goes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<Made>,
    /// Directories that a set leaves empty, the deepest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) emptied: Vec<Emptied>,
    /// Directories that are removed when it is settled: layers, and copies beside the root's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scratch: Vec<Named>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    Staging,
    Applying,
    RollingBack,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Named(#[serde(with = "pathtext")] pub(crate) PathBuf);

impl Intent {
    /// Nothing is under way yet.
    pub(crate) fn new(call: &str) -> Intent {
        Intent {
            version: VERSION,
            call: call.to_owned(),
            phase: Phase::Staging,
            made: Vec::new(),
            emptied: Vec::new(),
            scratch: Vec::new(),
            steps: Vec::new(),
        }
    }
}

/// Settles what a dead process left of its moves. Where it cannot, all stays as it is.
pub(crate) fn settle(locked: &mut Locked<'_>, note: &Path) -> Result<Recovered, Why> {
    let mut intent: Intent = read_note(note, VERSION)?;
    let mut outcome = Outcome::RolledBack;
    if intent.phase == Phase::Applying {
        let mut mover = Mover::new(locked.files());
        let whole = mover.forward(&intent.steps, true).map_err(|error| Why::Failed(ToolError::from(error).message))?;
        let goes_back = !whole && mover.can_go_back(&intent.steps);
        drop(mover);
        if goes_back {
            intent.phase = Phase::RollingBack;
            locked.save(note, &intent).map_err(|error| Why::Failed(error.message))?;
        } else {
            outcome = if whole { Outcome::Finished } else { Outcome::FinishedInPart };
        }
    }
    let files = locked.files();
    let mut mover = Mover::new(files);
    if intent.phase == Phase::RollingBack {
        // Where one cannot be moved back now, the next start tries again.
        mover.back(&intent.steps).map_err(|error| Why::Failed(error.message))?;
    }
    mover.clear(&intent.steps, intent.phase);
    match intent.phase {
        Phase::Applying => files.remove_emptied(&intent.emptied),
        Phase::Staging | Phase::RollingBack => files.unmake(&intent.made),
    }
    // Another layer of the same call may stand; and what others changed on top of a set stays.
    let is_void = intent.scratch.is_empty()
        && match intent.phase {
            Phase::Staging => true,
            Phase::Applying => false,
            Phase::RollingBack => mover.is_void(&intent.steps),
        };
    // The note goes last: what lies in the root is known by it.
    for Named(dir) in &intent.scratch {
        if is_ours(dir) {
            remove_tree(dir);
        }
    }
    let _ = std::fs::remove_file(note);
    Ok(Recovered { call: intent.call, outcome, is_void })
}

/// Layers that unsettled intents name, or may name.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    named: Vec<PathBuf>,
    /// When the last intent was written that does not tell us which it names: one that is older.
    may_be: Option<SystemTime>,
}

impl Wanted {
    /// Whether a layer that was made then must stay.
    pub(crate) fn has(&self, dir: &Path, made: Option<SystemTime>) -> bool {
        let may_be = self.may_be.is_some_and(|written| made.is_none_or(|made| made <= written));
        may_be || self.named.iter().any(|named| named == dir)
    }
}

/// What the intents in a directory want.
pub(crate) fn wanted(sets: &Path) -> Wanted {
    let mut wanted = Wanted::default();
    let entries = std::fs::read_dir(sets).into_iter().flatten().flatten().map(|entry| entry.path());
    for note in entries.filter(|path| path.extension().is_some_and(|ext| ext == "json")) {
        match read_note::<Intent>(&note, VERSION) {
            Ok(intent) => wanted.named.extend(intent.scratch.into_iter().map(|Named(dir)| dir)),
            Err(_) => {
                let written = std::fs::metadata(&note).and_then(|meta| meta.modified()).ok();
                wanted.may_be = wanted.may_be.max(written);
            }
        }
    }
    wanted
}

/// Only directories that we name are ever removed.
fn is_ours(dir: &Path) -> bool {
    dir.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(".nika-") || name.starts_with("nika-"))
}
