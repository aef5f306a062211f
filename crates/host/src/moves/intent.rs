//! The note of moves under way, and what a start makes of one that it finds.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nika_contract::{ToolError, pathtext};
use serde::{Deserialize, Serialize};

use super::apart::Apart;
use super::closed::Closed;
use super::ground::Ground;
use super::judged::Judged;
use super::stray::Stray;
use super::{After, Mover, Step};
use crate::fs::{Emptied, Locked, Made, Outcome, Recovered, Why, read_note};
use crate::overlay::remove_tree;

const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    version: u32,
    pub(crate) call: String,
    pub(crate) phase: Phase,
    /// Where they are made: where one of these is not there, nothing is settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) grounds: Vec<Ground>,
    /// Directories that a set makes, each before what goes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<Made>,
    /// Directories that a set leaves empty, the deepest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) emptied: Vec<Emptied>,
    /// Directories that are removed when it is settled: layers, and copies beside the root's files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scratch: Vec<Named>,
    /// What is guarded of what comes, and lies meanwhile where commands may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) judged: Vec<Judged>,
    /// Directories whose rights the moves may lift for a moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) closed: Vec<Closed>,
    /// What a start set apart that would have gone with the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) apart: Vec<Apart>,
    /// What could not be removed of moves that are settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) strays: Vec<Stray>,
    /// Whether the moves are settled, and only what is to be removed is noted here.
    #[serde(default, rename = "is_rest")]
    is_settled: bool,
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
            grounds: Vec::new(),
            made: Vec::new(),
            emptied: Vec::new(),
            scratch: Vec::new(),
            judged: Vec::new(),
            closed: Vec::new(),
            apart: Vec::new(),
            strays: Vec::new(),
            is_settled: false,
            steps: Vec::new(),
        }
    }

    /// What is still to be removed when the moves are settled, if anything is: these strays, and what lies in the root.
    fn rest(&self, strays: Vec<Stray>) -> Option<Intent> {
        let scratch: Vec<Named> =
            self.scratch.iter().filter(|Named(dir)| is_ours(dir) && stands(dir)).cloned().collect();
        let grounds = self.grounds.clone();
        let is_left = !(strays.is_empty() && scratch.is_empty());
        is_left.then(|| Intent { grounds, scratch, strays, is_settled: true, ..Intent::new(&self.call) })
    }

    /// What is still to be removed.
    fn left(&self) -> impl Iterator<Item = &Path> {
        self.scratch.iter().map(|Named(dir)| dir.as_path()).chain(self.strays.iter().map(Stray::path))
    }
}

impl Locked<'_> {
    /// Ends a set: its note goes, unless something is left to be removed. That is tried again by the next start.
    pub(crate) fn end(&mut self, note: &Path, intent: &Intent, strays: Vec<Stray>) {
        let Some(rest) = intent.rest(strays) else { return self.finish(note) };
        // None of it could be removed this time either. By their names: where one went another may have come.
        if intent.is_settled && rest.left().eq(intent.left()) {
            return;
        }
        if !intent.is_settled {
            let left = rest.left().map(Path::to_path_buf).collect();
            self.files().tell(Recovered::of(&rest.call, Outcome::Littered(left)));
        }
        match self.save(note, &rest) {
            Ok(()) => self.settled(),
            // Where that cannot be noted, the note of the moves must go all the same: they are made.
            Err(_) => self.finish(note),
        }
    }
}

/// Settles what a dead process left of its moves. Where it cannot, all stays as it is. There is nothing to tell where only
/// something was to be removed.
pub(crate) fn settle(locked: &mut Locked<'_>, note: &Path) -> Result<Option<Recovered>, Why> {
    let mut intent: Intent = read_note(note, VERSION)?;
    if let Some(ground) = intent.grounds.iter().find(|ground| !ground.is_there(locked.files())) {
        return if intent.is_settled { Ok(None) } else { Err(Why::Away(ground.path.clone())) };
    }
    let mut outcome = match intent.phase {
        Phase::Staging | Phase::RollingBack => Outcome::RolledBack,
        Phase::Applying => finish(locked, note, &mut intent)?,
    };
    let files = locked.files();
    let mut mover = Mover::new(files);
    if intent.phase == Phase::RollingBack {
        // Where one cannot be moved back now, the next start tries again.
        let whole =
            mover.back(&intent.steps, After::Kill(&intent.judged)).map_err(|error| Why::Failed(error.message))?;
        if !whole && outcome == Outcome::RolledBack {
            outcome = Outcome::RolledBackInPart;
        }
    }
    let mut strays = mover.clear(&intent.steps, intent.phase);
    intent.set_apart(locked, note)?;
    let files = locked.files();
    match intent.phase {
        Phase::Applying => files.remove_emptied(&intent.emptied),
        Phase::Staging | Phase::RollingBack => files.unmake(&intent.made),
    }
    intent.closed.iter().for_each(|dir| dir.close(files));
    // Another layer of the same call may stand; and what others changed on top of a set stays.
    let is_void = intent.scratch.is_empty()
        && match intent.phase {
            Phase::Staging => true,
            Phase::Applying => false,
            Phase::RollingBack => Mover::new(files).is_void(&intent.steps),
        };
    // The note goes last: what lies in the root is known by it.
    for Named(dir) in &intent.scratch {
        if is_ours(dir) {
            remove_tree(dir);
        }
    }
    strays.extend(intent.strays.iter().filter(|stray| !stray.goes(files)).cloned());
    locked.end(note, &intent, strays);
    let apart = intent.told();
    Ok((!intent.is_settled).then_some(Recovered { call: intent.call, outcome, apart, is_void }))
}

/// Makes the moves that are not made yet, or says by the phase that those which are go back: others took the place of one,
/// or wrote to what one takes along, or what comes is not what was judged.
fn finish(locked: &mut Locked<'_>, note: &Path, intent: &mut Intent) -> Result<Outcome, Why> {
    let mut mover = Mover::new(locked.files());
    let unproven = mover.unproven(&intent.judged, &intent.steps);
    let whole = mover.forward(&intent.steps, true).map_err(|error| Why::Failed(ToolError::from(error).message))?;
    let outcome = match mover.proves(&unproven) {
        Err(error) => Outcome::Refused(error.message),
        Ok(()) if whole && !mover.takes_others_along(&intent.steps) => return Ok(Outcome::Finished),
        Ok(()) if mover.can_go_back(&intent.steps) => Outcome::RolledBack,
        Ok(()) => return Ok(Outcome::FinishedInPart),
    };
    intent.phase = Phase::RollingBack;
    locked.save(note, intent).map_err(|error| Why::Failed(error.message))?;
    Ok(outcome)
}

/// Layers that unsettled intents name, or may name.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    named: Vec<PathBuf>,
    /// When the last intent was written that does not tell us which it names: one that is older.
    may_be: Option<SystemTime>,
    /// Notes of moves that are not settled, and why one cannot be used, if it cannot.
    pub(crate) unsettled: Vec<(PathBuf, Option<Why>)>,
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
            Ok(intent) => {
                wanted.named.extend(intent.scratch.into_iter().map(|Named(dir)| dir));
                if !intent.is_settled {
                    wanted.unsettled.push((note, None));
                }
            }
            Err(why) => {
                let written = std::fs::metadata(&note).and_then(|meta| meta.modified()).ok();
                wanted.may_be = wanted.may_be.max(written);
                wanted.unsettled.push((note, Some(why)));
            }
        }
    }
    wanted
}

fn stands(dir: &Path) -> bool {
    rustix::fs::lstat(dir).is_ok()
}

/// Only directories that we name are ever removed.
fn is_ours(dir: &Path) -> bool {
    dir.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(".nika-") || name.starts_with("nika-"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::fs::{Workspace, temp_name};
    use crate::moves::{Identity, Parents};
    use crate::overlay::tests::World;

    /// A directory stands for any entry that the system does not let go.
    #[test]
    fn what_cannot_be_removed_is_told_once_and_its_note_is_not_written_again() {
        let world = World::new();
        let files = world.files();
        let (stray, note) = (world.root.join(temp_name()), world.state.join("sets/c1.json"));
        std::fs::create_dir(&stray).unwrap();
        let mut parents = Parents::default();
        let at = parents.of(&files, &stray).unwrap();
        let there = Identity::of(&rustix::fs::lstat(&stray).unwrap());
        let left = Stray::unless_removed(&at, &stray, there).expect("it is a directory");
        let outcomes =
            |files: &Workspace| files.take_recovered().into_iter().map(|one| one.outcome).collect::<Vec<_>>();
        world.with(|locked, _| {
            locked.end(&note, &Intent::new("c1"), vec![left]);
            assert_eq!(outcomes(locked.files()), [Outcome::Littered(vec![stray.clone()])]);
        });
        let written = || std::fs::metadata(&note).map(|meta| (meta.ino(), meta.mtime_nsec(), meta.len())).unwrap();
        let first = written();
        for _ in 0..3 {
            assert_eq!(outcomes(&world.files()), []);
            assert_eq!(written(), first);
        }
        std::fs::remove_dir(&stray).unwrap();
        assert_eq!(outcomes(&world.files()), []);
        assert!(!note.exists());
    }

    /// As many are left then as were before.
    #[test]
    fn what_is_left_is_noted_by_name() {
        let world = World::new();
        let [gone, came] = [temp_name(), temp_name()].map(|name| world.root.join(name));
        let note = world.state.join("sets/c1.json");
        let named = |dir: &Path| vec![Named(dir.to_path_buf())];
        let settled = Intent { is_settled: true, ..Intent::new("c1") };
        world.with(|locked, _| {
            std::fs::create_dir(&came).unwrap();
            let before = Intent { scratch: named(&gone), ..settled };
            locked.save(&note, &before).unwrap();
            let stray = {
                let mut parents = Parents::default();
                let at = parents.of(locked.files(), &came).unwrap();
                let there = Identity::of(&rustix::fs::lstat(&came).unwrap());
                Stray::unless_removed(&at, &came, there).expect("it is a directory")
            };
            locked.end(&note, &before, vec![stray]);
            let noted: Intent = read_note(&note, VERSION).unwrap();
            assert_eq!(noted.left().collect::<Vec<_>>(), [came.as_path()]);
        });
    }

    /// As it was before a note said where it was begun, what was judged and what could not be removed.
    #[test]
    fn a_note_in_its_first_form_is_understood() {
        let world = World::new();
        let [target, beside] = ["a", &temp_name()].map(|name| world.root.join(name));
        std::fs::write(&target, "old").unwrap();
        std::fs::write(&beside, "new").unwrap();
        let id = |path: &Path| Identity::of(&rustix::fs::lstat(path).unwrap());
        let note = serde_json::json!({"version": 1, "call": "c1", "phase": "applying", "steps": [{
            "target": target, "source": beside, "aside": beside.with_file_name(temp_name()), "act": "swap",
            "new": id(&beside), "old": id(&target), "was": null,
        }]});
        std::fs::write(world.state.join("sets/c1.json"), note.to_string()).unwrap();
        let settled = world.files().take_recovered();
        assert_eq!(settled, [Recovered::of("c1", Outcome::Finished)]);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert!(!beside.exists());
    }
}
