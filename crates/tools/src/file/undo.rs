//! `undo`: takes back what one call did to files, or what the last calls did.
//!
//! Each path goes back to the content kept before the call. Where a later call changed the same path, the
//! later change is kept if both can stand; where they cannot, nothing is taken back and the difference is
//! shown. What undo does is a call like any other, so an undo can be undone.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Kind, Known, Output, Scene, Spec, Tool, ToolError, code};
use nika_edit::merge3;
use nika_guard::{Effect, Effects, Place, classify};
use nika_host::fs::{Change, Expect, Ledger, Seen, Shown, Workspace};
use nika_store::{CallChanges, Checkpoints, Hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::names::{Names, was_linked};
use super::seen::retried;
use super::slot::{Slot, diff};
use super::unmake::Unmaker;
use super::withstood::{Side, changed_after, not_shown, rights};
use crate::lenient;
use crate::told::deleted_directory;

/// Takes back what one call (call_id, see checkpoints) or this session's last calls (steps) did to files.
/// Refused, with the diff, where the same text was changed again since.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The call to take back.
    pub call_id: Option<String>,
    /// Instead: how many of this session's last changing calls. Default 1.
    #[serde(default, deserialize_with = "lenient::number")]
    pub steps: Option<u32>,
    /// Show the diff, change nothing. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub dry_run: Option<bool>,
}

/// The tool.
#[derive(Debug)]
pub struct Undo {
    /// The files.
    pub files: Arc<Workspace>,
    /// What can be taken back.
    pub checkpoints: Arc<Checkpoints>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TakenBack {
    /// Whether nothing was written because `dry_run` was set.
    pub dry_run: bool,
    /// The calls taken back, the newest first.
    pub calls: Vec<String>,
    /// The paths that changed.
    pub paths: Vec<String>,
}

/// What becomes of directories that calls made, the deepest first.
#[derive(Debug, Default)]
struct Dirs {
    go: Vec<Place>,
    /// Something else came to lie in them.
    stay: Vec<Place>,
}

/// Lines of diff that are shown of one path.
const DIFF_LINES: usize = 500;

/// The most calls that one undo takes back.
const MAX_STEPS: u32 = 100;

impl Tool for Undo {
    type Params = Params;
    const SPEC: Spec = Spec::new("undo", "Take back changes", Group::File)
        .destructive()
        .text()
        .event(nika_contract::event::UNDONE)
        .terms(&["revert", "restore", "rollback", "roll", "back", "previous", "mistake", "checkpoint"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<TakenBack>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let session = scene.session.is_lasting().then(|| scene.session.id());
        let mut effects = Effects::default();
        let calls = self.calls(params, session)?;
        let asked = asked_about(&calls);
        let mut named = HashSet::new();
        let changes = calls.iter().flat_map(|call| &call.changes);
        let changes: Vec<_> = changes.filter(|change| named.insert(&change.path)).collect();
        let places = changes.iter().map(|change| self.files.place(change.path.clone())).collect();
        for (change, place) in changes.iter().zip(self.files.with_git_together(places)) {
            if params.dry_run.unwrap_or_default() {
                effects.all.push(Effect::Read(place));
                continue;
            }
            // What is taken back is shown: that is a read. A secret is not shown.
            if classify(&place.path).secret.is_none() {
                effects.all.push(Effect::Read(place.clone()));
            }
            let taken_back = !asked.contains(&change.path);
            effects.all.push(Effect::Write(Place { taken_back, ..place }));
        }
        Ok(effects)
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let session = cx.session.is_lasting().then(|| cx.session.id());
        let calls = self.calls(params, session)?;
        if by_command(&calls) {
            let unmade = self.unmaker(cx, &calls).show()?;
            return Ok(Some(said(&calls, &unmade.paths, (&unmade.diff, &unmade.names), true)));
        }
        let slots = self.play(cx, &calls)?;
        Ok(Some(shown(cx, &slots) + &said_of_dirs(&self.dirs(cx, &calls, &slots)?.go)))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let session = cx.session.is_lasting().then(|| cx.session.id());
        // What is about to be put back is not dropped on the way.
        let _keeping = self.checkpoints.keeping()?;
        let calls = self.calls(&params, session)?;
        let dry_run = params.dry_run.unwrap_or_default();
        if by_command(&calls) {
            let unmade = if dry_run {
                self.unmaker(cx, &calls).show()?
            } else {
                retried(&self.files, cx, |locked| self.unmaker(cx, &calls).make(locked)).await?
            };
            if !dry_run {
                for call in &calls {
                    self.checkpoints.mark_undone(&call.call, &cx.call.0)?;
                }
            }
            return Ok(told(&calls, unmade.paths, (unmade.diff, &unmade.names), dry_run));
        }
        if dry_run {
            let slots = self.play(cx, &calls)?;
            return Ok(answer(cx, &calls, &slots, &self.dirs(cx, &calls, &slots)?, true));
        }
        let (slots, dirs, written) = retried(&self.files, cx, |locked| {
            let slots = self.play(cx, &calls)?;
            let changes: Vec<Change> = slots.values().filter(|slot| slot.differs()).map(Slot::change).collect();
            let made = self.made(&calls);
            let dirs = self.dirs(cx, &calls, &slots)?;
            let written = if changes.is_empty() {
                made.iter().try_for_each(|place| locked.remove_empty_dir(cx, place).map(drop))?;
                Vec::new()
            } else {
                locked.commit_and_empty(cx, changes, &made)?
            };
            Ok((slots, dirs, written))
        })
        .await?;
        let ledger = cx.session.slot::<Ledger>();
        for slot in slots.values() {
            let path = &slot.place.path;
            let there = written.iter().find(|written| written.place.path == *path);
            match there.and_then(|there| Some((there.after?, there.stamp?, slot.now.clone()?))) {
                Some((hash, stamp, bytes)) => {
                    let shown = Shown::default();
                    ledger.brought_back(path, Seen { hash: Some(hash), bytes: Some(bytes.into()), stamp, shown });
                }
                None => ledger.forget_undone(path),
            }
        }
        for call in &calls {
            self.checkpoints.mark_undone(&call.call, &cx.call.0)?;
        }
        Ok(answer(cx, &calls, &slots, &dirs, false))
    }
}

impl Undo {
    /// The calls to take back, the newest first. One that goes on changes more meanwhile: it has to end first.
    fn calls(&self, params: &Params, session: Option<&str>) -> Result<Vec<CallChanges>, ToolError> {
        let calls = self.wanted(params, session)?;
        match calls.iter().find(|call| self.checkpoints.is_held(&call.call)) {
            None => Ok(calls),
            Some(call) => {
                let message = format!("call {} ({}) goes on: what it started still runs", call.call, call.tool);
                Err(ToolError::new(code::UNDO_CONFLICT, message).hint(
                    "end it with `job_stop`, or wait for its end; `checkpoints` lists what else can be taken back",
                ))
            }
        }
    }

    fn wanted(&self, params: &Params, session: Option<&str>) -> Result<Vec<CallChanges>, ToolError> {
        if let Some(id) = &params.call_id {
            if params.steps.is_some() {
                return Err(ToolError::argument("steps", "give `call_id` or `steps`, not both"));
            }
            let call = self.checkpoints.find(id)?;
            if let Some(by) = &call.undone_by {
                let message = format!("call {id} was taken back already, by {by}");
                return Err(ToolError::new(code::NOTHING_TO_UNDO, message).hint(format!("to have it again, undo {by}")));
            }
            return Ok(vec![call]);
        }
        let steps = params.steps.unwrap_or(1);
        if steps == 0 || steps > MAX_STEPS {
            return Err(ToolError::argument("steps", format!("takes 1 to {MAX_STEPS}, not {steps}")));
        }
        // Undone calls, and the undos themselves, are passed over: the next undo takes the next older call.
        let calls = self.standing(steps as usize, session)?;
        if calls.is_empty() {
            let whose = if session.is_some() { "this session" } else { "any session" };
            let message = format!("no call of {whose} changed a file that is not taken back yet");
            return Err(
                ToolError::new(code::NOTHING_TO_UNDO, message).hint("`checkpoints` lists what can be taken back")
            );
        }
        if calls.len() < steps as usize {
            let there = calls.len();
            let message = format!("{steps} calls are to be taken back, and {there} can be");
            return Err(ToolError::new(code::NOTHING_TO_UNDO, message).hint(format!("steps={there} takes back all")));
        }
        Ok(calls)
    }

    /// The last calls that stand, at most `most`. Undone calls, and the undos themselves, are passed over, however many lie
    /// between: the next undo takes the next older call.
    fn standing(&self, most: usize, session: Option<&str>) -> Result<Vec<CallChanges>, ToolError> {
        let mut window = most * 4 + 50;
        loop {
            let recent = self.checkpoints.list(window, session)?;
            let is_all = recent.len() < window;
            let standing = recent.into_iter().filter(|call| call.undone_by.is_none() && call.tool != "undo");
            let calls: Vec<CallChanges> = standing.take(most).collect();
            if is_all || calls.len() == most {
                return Ok(calls);
            }
            window *= 4;
        }
    }

    fn unmaker<'a>(&'a self, cx: &'a Cx<'a>, calls: &'a [CallChanges]) -> Unmaker<'a> {
        Unmaker { files: &self.files, checkpoints: &self.checkpoints, cx, calls }
    }

    /// The directories that the calls made, the deepest first: they go where nothing is left in them.
    fn made(&self, calls: &[CallChanges]) -> Vec<Place> {
        let made = calls.iter().flat_map(|call| &call.changes).filter(|change| change.kind == Kind::Directory);
        let mut made: Vec<PathBuf> =
            made.filter(|change| change.before.is_none()).map(|change| change.path.clone()).collect();
        made.sort_by_key(|path| std::cmp::Reverse(path.as_os_str().len()));
        made.into_iter().map(|path| self.files.place(path)).collect()
    }

    /// What becomes of those that stand.
    fn dirs(&self, cx: &Cx<'_>, calls: &[CallChanges], slots: &BTreeMap<PathBuf, Slot>) -> Result<Dirs, ToolError> {
        let gone = slots.values().filter(|slot| slot.now.is_none());
        let mut gone: HashSet<PathBuf> = gone.map(|slot| slot.place.path.clone()).collect();
        let mut dirs = Dirs::default();
        for dir in self.made(calls) {
            let stands = self.files.glance(cx.permit, &dir)?.and_then(|glance| glance.kind);
            if stands != Some(Kind::Directory) {
                continue;
            }
            let names = self.files.names(cx.permit, &dir);
            if names.iter().all(|name| gone.contains(&dir.path.join(name))) {
                gone.insert(dir.path.clone());
                dirs.go.push(dir);
            } else {
                dirs.stay.push(dir);
            }
        }
        Ok(dirs)
    }

    /// Plays the calls backwards on the files as they stand.
    fn play(&self, cx: &Cx<'_>, calls: &[CallChanges]) -> Result<BTreeMap<PathBuf, Slot>, ToolError> {
        let mut slots: BTreeMap<PathBuf, Slot> = BTreeMap::new();
        for call in calls {
            for change in call.changes.iter().filter(|change| change.kind != Kind::Directory) {
                if !slots.contains_key(&change.path) {
                    let place = self.files.place(change.path.clone());
                    slots.insert(change.path.clone(), Slot::look(&self.files, cx, &place)?);
                }
                let slot = slots.get_mut(&change.path).expect("inserted above");
                slot.now = self.back(cx, call, change, slot)?;
                slot.mode = rights(call, change, &slot.place, slot.mode.or(slot.own_mode()))?;
                slot.kind = change.kind;
                slot.dress = change.dress.clone().or(slot.dress.take());
            }
        }
        Ok(slots)
    }

    /// The content of a path without what the call did to it.
    fn back(
        &self,
        cx: &Cx<'_>,
        call: &CallChanges,
        change: &nika_store::Change,
        slot: &Slot,
    ) -> Result<Option<Vec<u8>>, ToolError> {
        let now = slot.now.as_deref().map(Hash::of);
        let former = change.before.map(|hash| self.checkpoints.objects().get(&hash)).transpose()?;
        if now == change.after {
            return Ok(former);
        }
        // Somebody took it back by hand.
        if now == change.before {
            return Ok(slot.now.clone());
        }
        // What the call left is a later call's former content, or what the session still takes the file for.
        let seen = || cx.session.slot::<Ledger>().seen(&change.path);
        let as_seen = |hash: Hash| seen().filter(|seen| seen.hash == Some(hash.0)).and_then(|seen| seen.bytes);
        let after = change.after.and_then(|hash| {
            let kept = self.checkpoints.objects().get(&hash).ok();
            kept.or_else(|| as_seen(hash).map(|bytes| bytes.to_vec()))
        });
        if let (Some(after), Some(former), Some(now)) = (&after, &former, &slot.now)
            && let Ok(merged) = merge3(after, former, now)
        {
            return Ok(Some(merged.bytes));
        }
        let side = |bytes: Option<&[u8]>| bytes.map_or(Side::Nothing, |bytes| Side::Text(bytes.to_vec()));
        let (now, former) = (side(slot.now.as_deref()), side(former.as_deref()));
        Err(changed_after(cx, call, &slot.place, after.is_some(), &now, &former))
    }
}

/// Whether a command made some of these changes: there may be many, of any size and kind.
fn by_command(calls: &[CallChanges]) -> bool {
    calls.iter().flat_map(|call| &call.changes).any(|change| change.more.is_some())
}

/// The paths where a person's yes is, or may be, behind what stands or stood there: an asked call's, those of an undo,
/// which would do again what it took back, and what is not known to be the call's as it was killed.
fn asked_about(calls: &[CallChanges]) -> HashSet<&PathBuf> {
    let by_asked = |call: &CallChanges| call.asked || call.tool == "undo";
    let cut_off = |change: &nika_store::Change| change.more.is_some_and(|more| more.known == Known::Begun);
    let all = calls.iter().flat_map(|call| call.changes.iter().map(move |change| (call, change)));
    all.filter(|(call, change)| by_asked(call) || cut_off(change)).map(|(_, change)| &change.path).collect()
}

/// How the paths would change; of secrets, that they would.
fn shown(cx: &Cx<'_>, slots: &BTreeMap<PathBuf, Slot>) -> String {
    let (withheld, open): (Vec<&Slot>, Vec<&Slot>) =
        slots.values().partition(|slot| cx.permit.withholds(&slot.place.path));
    let secrets = withheld.into_iter().filter(|slot| slot.differs()).map(|slot| not_shown(&slot.place));
    diff(open, DIFF_LINES) + &secrets.collect::<String>()
}

/// What the lines of a diff do not tell: the directories that go.
fn said_of_dirs(dirs: &[Place]) -> String {
    dirs.iter().map(|dir| deleted_directory(&dir.shown())).collect()
}

fn answer(cx: &Cx<'_>, calls: &[CallChanges], slots: &BTreeMap<PathBuf, Slot>, dirs: &Dirs, dry_run: bool) -> Output {
    let diff = shown(cx, slots) + &said_of_dirs(&dirs.go);
    let places = slots.values().filter(|slot| slot.differs()).map(|slot| &slot.place).chain(&dirs.go);
    let mut names = names(calls, slots);
    dirs.stay.iter().for_each(|dir| names.stays(&dir.shown()));
    told(calls, places.map(|place| place.shown().into_owned()).collect(), (diff, &names), dry_run)
}

/// What becomes of files with several names.
fn names(calls: &[CallChanges], slots: &BTreeMap<PathBuf, Slot>) -> Names {
    let mut names = Names::default();
    for slot in slots.values().filter(|slot| slot.differs() && slot.kind == Kind::File) {
        let stands = match &slot.origin {
            Expect::Is { stamp, links, kind: Kind::File, .. } => Some((stamp.as_numbers(), *links)),
            _ => None,
        };
        match slot.now {
            Some(_) => names.replaced(slot.place.shown().into_owned(), stands, was_linked(calls, &slot.place.path)),
            None => names.removed(stands),
        }
    }
    names
}

/// How many paths, what a diff does not say, and the diff.
fn said(calls: &[CallChanges], paths: &[String], (diff, names): (&str, &Names), dry_run: bool) -> String {
    let verb = if dry_run { "Would take back" } else { "Took back" };
    let what: Vec<String> = calls.iter().map(|call| format!("{} ({})", call.call, call.tool)).collect();
    let paths = match paths.len() {
        0 if names.any_differs() => "0 paths; the next `undo` goes on from there".to_owned(),
        0 => "0 paths, as each is as it was before; the next `undo` goes on from there".to_owned(),
        1 => "1 path".to_owned(),
        count => format!("{count} paths"),
    };
    format!("{verb} {}: {paths}.\n{}{diff}", what.join(", "), names.said())
}

fn told(calls: &[CallChanges], paths: Vec<String>, (diff, names): (String, &Names), dry_run: bool) -> Output {
    let result = TakenBack { dry_run, calls: calls.iter().map(|call| call.call.clone()).collect(), paths };
    let mut output = Output::text(said(calls, &result.paths, (&diff, names), dry_run))
        .with_fact("dry_run", dry_run)
        .with_fact(if dry_run { "would_undo" } else { "undone" }, result.calls.clone())
        .with_fact("paths", result.paths.clone())
        .with_diff(diff)
        .only_shown(dry_run);
    output.structured = serde_json::to_value(&result).ok();
    output
}

const EXAMPLES: &[Example] = &[Example {
    title: "The last change",
    files: &[("a.txt", "one\n")],
    before: &[
        ("read", r#"{"file_path": "a.txt"}"#),
        ("edit", r#"{"file_path": "a.txt", "old_string": "one", "new_string": "two"}"#),
    ],
    arguments: "{}",
    answer: "+one",
}];
