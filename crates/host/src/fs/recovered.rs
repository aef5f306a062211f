//! What became of a change set that a kill interrupted. One whose note cannot be used is left as it stands, and that is
//! told: what was changed of it and what was not is a person's to decide, and the note is kept.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Locked;
use crate::moves::Apart;

/// A change set that a kill interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The call that was under way.
    pub call: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What would have gone with what was removed: what others wrote to it, and what they left no place for.
    pub apart: Vec<Apart>,
    /// Whether nothing of the call stands: there is nothing to take back.
    pub is_void: bool,
}

impl Recovered {
    /// One of which something may stand, and nothing was set apart.
    pub(crate) fn of(call: &str, outcome: Outcome) -> Recovered {
        Recovered { call: call.to_owned(), outcome, apart: Vec::new(), is_void: false }
    }

    /// One that is left as its note says.
    pub(super) fn left(note: PathBuf, why: Why) -> Recovered {
        let call = note.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Recovered::of(&call, Outcome::Left { note, why })
    }
}

/// What became of it, and where that lies which was set apart.
impl fmt::Display for Recovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.outcome)?;
        self.apart.iter().try_for_each(|one| {
            write!(f, "; what would have gone with {} is kept in {}", one.path.display(), one.lies.display())
        })
    }
}

/// What became of an interrupted set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All of it was made.
    Finished,
    /// All of it but what others changed meanwhile.
    FinishedInPart,
    /// Nothing of it.
    RolledBack,
    /// Nothing of it but where others went on with what came, or what stood before is nowhere any more.
    RolledBackInPart,
    /// Nothing of it, as what was to come was not what was judged, in these words.
    Refused(String),
    /// These temporary names, which could not be removed: also of a set that was made without an interruption.
    Littered(Vec<PathBuf>),
    /// Whatever the kill left.
    Left {
        /// Where it was noted.
        note: PathBuf,
        /// Why it was not settled.
        why: Why,
    },
}

/// Why a set was not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Its note cannot be read.
    Unreadable,
    /// A newer Nika wrote the note.
    Newer,
    /// This directory is not there, or another one stands there.
    Away(PathBuf),
    /// Others changed files for as long as a start waits.
    Busy,
    /// Something else is in the way, in these words.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Finished => f.write_str("finished"),
            Outcome::FinishedInPart => f.write_str("finished but for paths that others changed meanwhile"),
            Outcome::RolledBack => f.write_str("rolled back"),
            Outcome::RolledBackInPart => f.write_str("rolled back but for paths that others changed meanwhile"),
            Outcome::Refused(why) => write!(f, "rolled back: {why}"),
            Outcome::Littered(left) => {
                let left: Vec<String> = left.iter().map(|path| path.display().to_string()).collect();
                write!(f, "left {}, which could not be removed; each start tries that again", left.join(", "))
            }
            Outcome::Left { why: Why::Unreadable, .. } => f.write_str("its note cannot be read"),
            Outcome::Left { why: Why::Newer, .. } => f.write_str("a newer Nika wrote its note"),
            Outcome::Left { why: Why::Away(dir), .. } => {
                write!(f, "{} is not the directory in which it was begun, as if that were not mounted", dir.display())
            }
            Outcome::Left { why: Why::Busy, .. } => {
                f.write_str("other processes of Nika kept changing files, and its turn did not come")
            }
            Outcome::Left { why: Why::Failed(why), .. } => f.write_str(why),
        }
    }
}

/// Reads a note of this version.
pub(crate) fn read_note<T: DeserializeOwned>(note: &Path, version: u32) -> Result<T, Why> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let json = std::fs::read(note).map_err(|error| Why::Failed(format!("its note cannot be opened: {error}")))?;
    match serde_json::from_slice::<Versioned>(&json) {
        Ok(of) if of.version > version => Err(Why::Newer),
        Ok(of) if of.version == version => serde_json::from_slice(&json).map_err(|_| Why::Unreadable),
        _ => Err(Why::Unreadable),
    }
}

impl Locked<'_> {
    /// Leaves a set that could not be settled, and has it told once.
    pub(super) fn leave(&mut self, note: PathBuf, why: Why) {
        if self.state.left.insert(note.clone(), why.clone()).as_ref() == Some(&why) {
            return;
        }
        self.files.tell(Recovered::left(note, why));
    }

    /// Whether this is the note of a set that a start can settle: this one's or a newer Nika's, now or later.
    pub(super) fn can_be_settled(&self, note: &Path) -> bool {
        let is_set = note.extension().is_some_and(|ext| ext == "json");
        is_set && self.state.left.get(note) != Some(&Why::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use rustix::fs::{FlockOperation, flock};
    use serde_json::{Value, json};

    use super::*;
    use crate::overlay::tests::World;

    /// Any other workspace, as the lock is one for all.
    fn somebody_has_the_lock(world: &World) -> File {
        let file = File::create(world.files().own_state().join("lock")).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    }

    fn noted(world: &World, more: &[(&str, Value)]) -> PathBuf {
        let mut note = json!({"version": 1, "call": "c1", "phase": "staging", "steps": []});
        more.iter().for_each(|(name, value)| note[*name] = value.clone());
        let file = world.state.join("sets/c1.json");
        std::fs::write(&file, note.to_string()).unwrap();
        file
    }

    #[test]
    fn a_set_whose_turn_does_not_come_is_told() {
        let world = World::new();
        let files = world.files();
        let lock = somebody_has_the_lock(&world);
        let note = noted(&world, &[]);
        files.recover(Duration::ZERO);
        assert_eq!(files.take_recovered(), [Recovered::left(note.clone(), Why::Busy)]);
        drop(lock);
        files.recover(Duration::ZERO);
        let rolled_back = Recovered { is_void: true, ..Recovered::of("c1", Outcome::RolledBack) };
        assert_eq!(files.take_recovered(), [rolled_back]);
        assert!(!note.exists());
    }

    #[test]
    fn a_start_that_can_settle_nothing_waits_for_nobody() {
        let patience = Duration::from_secs(3600);
        for (of, more, why) in [
            ("a newer Nika", ("version", json!(2)), Some(Why::Newer)),
            ("a set that is made", ("is_rest", json!(true)), None),
        ] {
            let world = World::new();
            let files = world.files();
            let _lock = somebody_has_the_lock(&world);
            let note = noted(&world, &[more]);
            files.recover(patience);
            let told: Vec<Recovered> = why.map(|why| Recovered::left(note, why)).into_iter().collect();
            assert_eq!(files.take_recovered(), told, "{of}");
        }
    }
}
