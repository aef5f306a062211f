//! `change_set`: many changes over many files, all of them or none.
//!
//! The set is played through on the files as they stand, in memory, in order: an edit sees what an earlier
//! one did, a file can be made and then edited, moved and then edited. What comes out, one final state a
//! path, is verified and committed as one. `dry_run` stops before that and shows the same diff.

use std::path::Path;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Kind, Output, Scene, Spec, Tool, ToolError, code};
use nika_edit::{Level, Replace, plan, rebase};
use nika_guard::{Effect, Effects, Place};
use nika_host::fs::{Change, Expect, Ledger, Shown, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::edit::{applied, outside, overlaps, plan_on_seen, refusal};
use super::notebook_edit::{self, Cell, CellType, EditMode};
use super::reshape;
use super::seen::{Base, MAX_BYTES, by_command, fits, keep_former, known, note, retried, stale, unread};
use super::slot::{Slot, diff};
use super::write::without_nul;
use crate::lenient;

/// Makes many changes over many files at once: all of them or none. Changes apply in order. Read files
/// before you edit them. With dry_run it only returns the diff.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The changes, in order.
    pub changes: Vec<Item>,
    /// Show the diff, change nothing. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub dry_run: Option<bool>,
}

/// One change.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(try_from = "Map<String, Value>")]
#[schemars(!try_from)]
pub struct Item(Step);

/// What a change may be.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
enum Step {
    /// Replace text in a file that was read.
    Edit {
        file_path: String,
        old_string: String,
        new_string: String,
        #[serde(default, deserialize_with = "lenient::switch")]
        replace_all: Option<bool>,
    },
    /// Make a new file.
    Create { file_path: String, content: String },
    /// Move or rename a file.
    Move {
        file_path: String,
        /// Its new path.
        to: String,
    },
    /// Delete a file.
    Delete { file_path: String },
    /// Change a notebook cell, as notebook_edit.
    Cell {
        file_path: String,
        cell_id: Option<String>,
        #[serde(default, deserialize_with = "lenient::number")]
        cell_index: Option<u32>,
        new_source: Option<String>,
        cell_type: Option<CellType>,
        edit_mode: Option<EditMode>,
    },
}

/// Other names that a field of a change goes by.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("op", &["action", "type", "kind"]),
    ("file_path", &["path", "notebook_path", "from"]),
    ("to", &["new_path", "destination", "to_path"]),
    ("old_string", &["old_text"]),
    ("new_string", &["new_text"]),
];

/// What a change without `op` must be, by a field that only it has.
const TELLING: &[(&str, &str)] =
    &[("old_string", "edit"), ("content", "create"), ("to", "move"), ("new_source", "cell"), ("cell_id", "cell")];

impl TryFrom<Map<String, Value>> for Item {
    type Error = String;

    fn try_from(mut map: Map<String, Value>) -> Result<Item, String> {
        for (name, others) in OTHER_NAMES {
            if !map.contains_key(*name)
                && let Some(other) = others.iter().find(|other| map.contains_key(**other))
                && let Some(value) = map.shift_remove(*other)
            {
                map.insert((*name).to_owned(), value);
            }
        }
        if !map.contains_key("op")
            && let Some((_, op)) = TELLING.iter().find(|(field, _)| map.contains_key(*field))
        {
            map.insert("op".into(), Value::from(*op));
        }
        map.retain(|_, value| !value.is_null());
        serde_json::from_value(Value::Object(map))
            .map(Item)
            .map_err(|error| format!("{error}; `op` is edit, create, move, delete or cell"))
    }
}

impl Step {
    fn name(&self) -> &'static str {
        match self {
            Step::Edit { .. } => "edit",
            Step::Create { .. } => "create",
            Step::Move { .. } => "move",
            Step::Delete { .. } => "delete",
            Step::Cell { .. } => "cell",
        }
    }

    /// What is wrong with it whatever the file holds.
    fn check(&self) -> Result<(), ToolError> {
        match self {
            Step::Edit { file_path, old_string, new_string, replace_all } => {
                let all = replace_all.unwrap_or_default();
                let replace = Replace { old: old_string, new: new_string, all };
                replace.check().map_err(|error| refusal(&error, file_path))
            }
            Step::Cell { file_path, cell_id, cell_index, new_source, cell_type, edit_mode } => {
                let cell = Cell {
                    id: cell_id.as_deref(),
                    index: *cell_index,
                    source: new_source.as_deref(),
                    kind: *cell_type,
                    mode: *edit_mode,
                };
                cell.edit("").check().map_err(|error| notebook_edit::refusal(&error, file_path))
            }
            Step::Create { content, .. } => without_nul("content", content),
            Step::Move { .. } | Step::Delete { .. } => Ok(()),
        }
    }

    /// Whether nothing stands at its path afterwards.
    fn takes_away(&self) -> bool {
        matches!(self, Step::Move { .. } | Step::Delete { .. })
    }

    fn path(&self) -> &str {
        match self {
            Step::Edit { file_path, .. }
            | Step::Create { file_path, .. }
            | Step::Move { file_path, .. }
            | Step::Delete { file_path }
            | Step::Cell { file_path, .. } => file_path,
        }
    }
}

/// The tool.
#[derive(Debug)]
pub struct ChangeSet {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The result, as data.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Changed {
    /// Whether nothing was written because `dry_run` was set.
    pub dry_run: bool,
    /// Paths that are new.
    pub created: Vec<String>,
    /// Paths with other content.
    pub changed: Vec<String>,
    /// Paths that are gone.
    pub deleted: Vec<String>,
}

/// The most changes in one set.
const MAX_CHANGES: usize = 1000;

/// Lines of diff that are shown of one path.
const DIFF_LINES: usize = 2000;

/// The most bytes of a set's files together: they are all in memory, before and after.
const MAX_SET_BYTES: u64 = 8 * MAX_BYTES;

impl Tool for ChangeSet {
    type Params = Params;
    const SPEC: Spec = Spec::new("change_set", "Change many files", Group::File)
        .destructive()
        .text()
        .event(nika_contract::event::TOOL_WRITE)
        .terms(&[
            "batch",
            "multiple",
            "several",
            "atomic",
            "transaction",
            "together",
            "rename",
            "move",
            "delete",
            "remove",
            "refactor",
            "patch",
            "once",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Changed>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        if params.changes.is_empty() || params.changes.len() > MAX_CHANGES {
            let count = params.changes.len();
            return Err(ToolError::argument("changes", format!("takes 1 to {MAX_CHANGES} changes, not {count}")));
        }
        for (index, Item(step)) in params.changes.iter().enumerate() {
            step.check().map_err(|error| numbered(index, step, error))?;
        }
        let dry = params.dry_run.unwrap_or_default();
        let mut effects = Effects::default();
        let mut declare = |effect| {
            if !effects.all.contains(&effect) {
                effects.all.push(effect);
            }
        };
        let all = self.places(params)?;
        for dir in reshape::emptied(&going(&params.changes, &all), &coming(&params.changes, &all)) {
            declare(if dry {
                Effect::Read(self.files.place(dir.to_owned()))
            } else {
                Effect::Write(self.files.place(dir.to_owned()))
            });
        }
        for (item, places) in params.changes.iter().zip(all) {
            for (index, place) in places.into_iter().enumerate() {
                // What is deleted or moved away is shown in the diff: that is a read, of a secret too.
                let shows = index == 0 && matches!(item.0, Step::Delete { .. } | Step::Move { .. });
                if dry || shows {
                    declare(Effect::Read(place.clone()));
                }
                if !dry {
                    declare(Effect::Write(place));
                }
            }
        }
        Ok(effects)
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(diff(&self.play(cx, params)?, DIFF_LINES)))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        if params.dry_run.unwrap_or_default() {
            return Ok(answer(&self.play(cx, &params)?, true));
        }
        let (slots, written) = retried(&self.files, cx, |locked| {
            let slots = self.play(cx, &params)?;
            if reshape::is_needed(&slots) {
                let written = reshape::commit(&self.files, cx, locked, &slots)?;
                return Ok((slots, written));
            }
            let changes: Vec<Change> = slots.iter().filter(|slot| slot.differs()).map(Slot::change).collect();
            let written = if changes.is_empty() { Vec::new() } else { locked.commit(cx, changes)? };
            Ok((slots, written))
        })
        .await?;
        if written.is_empty() {
            let text = "The changes cancel each other out; nothing was written.";
            let nothing = serde_json::to_value(Changed::default()).ok();
            return Ok(Output { structured: nothing, ..Output::text(text) });
        }
        for written in written {
            let slot = slots.iter().find(|slot| slot.place.path == written.place.path);
            let bytes = slot.and_then(|slot| slot.now.clone());
            let known = slot.filter(|slot| slot.known).map(|slot| slot.shown.clone());
            match (bytes, written.after, written.stamp, known) {
                (Some(bytes), Some(hash), Some(stamp), Some(shown)) => {
                    note(cx, &written.place, bytes, hash, stamp, shown);
                }
                _ => cx.session.slot::<Ledger>().forget(&written.place.path),
            }
        }
        Ok(answer(&slots, false))
    }
}

impl ChangeSet {
    /// The places of each change. What is moved or deleted is the entry itself, also when it is a link.
    fn places(&self, params: &Params) -> Result<Vec<Vec<Place>>, ToolError> {
        let taken = params.changes.iter().enumerate().filter(|(_, item)| item.0.takes_away());
        let taken: Vec<(usize, Place)> =
            taken.filter_map(|(index, item)| Some((index, self.files.locate_entry(item.0.path()).ok()?))).collect();
        let gone: Vec<&Path> = taken.iter().map(|(_, place)| place.path.as_path()).collect();
        // Below what the set takes away a file can come to stand, though nothing can be there yet.
        let below_gone = |text: &str, error: ToolError| match self.files.locate_in_command(text) {
            Ok(place) if !text.ends_with('/') && reshape::is_below_gone(&place.path, &gone) => Ok(place),
            _ => Err(error),
        };
        let at = |(index, item): (usize, &Item)| {
            let step = &item.0;
            let earlier: Vec<&Path> =
                taken.iter().filter(|(at, _)| *at < index).map(|(_, place)| place.path.as_path()).collect();
            let located = |text: &str, is_entry: bool| {
                let place = if is_entry { self.files.locate_entry(text) } else { self.files.locate_file(text) };
                // A link that leads nowhere is a place all the same, when the set has taken it away before.
                let place = place.or_else(|error| match self.files.locate_entry(text) {
                    Ok(link) if earlier.contains(&link.path.as_path()) => Ok(link),
                    _ => below_gone(text, error),
                })?;
                match through_gone(&place, &earlier) {
                    None => Ok(place),
                    // The link itself is gone by then.
                    Some((_, false)) => self.files.locate_entry(text),
                    Some((link, true)) => Err(ToolError::new(
                        code::NOT_FOUND,
                        format!("{text} leads through {link}, a link that an earlier change of the set takes away"),
                    )
                    .hint(format!("name the file by where it lies: {}", place.shown()))),
                }
            };
            let mut places = vec![located(step.path(), step.takes_away())];
            if let Step::Move { to, .. } = step {
                places.push(located(to, true));
            }
            places.into_iter().collect::<Result<_, _>>().map_err(|error| numbered(index, step, error))
        };
        let all = params.changes.iter().enumerate().map(at).collect::<Result<Vec<Vec<Place>>, ToolError>>()?;
        let counts: Vec<usize> = all.iter().map(Vec::len).collect();
        let mut together = self.files.with_git_together(all.into_iter().flatten().collect()).into_iter();
        Ok(counts.into_iter().map(|count| together.by_ref().take(count).collect()).collect())
    }

    fn play(&self, cx: &Cx<'_>, params: &Params) -> Result<Vec<Slot>, ToolError> {
        let mut slots: Vec<Slot> = Vec::new();
        for ((index, item), places) in params.changes.iter().enumerate().zip(self.places(params)?) {
            // What goes is held, too: undo keeps it.
            let bytes = |slot: &Slot| slot.now.as_ref().map_or(0, Vec::len) + slot.before().map_or(0, <[u8]>::len);
            let held = |slots: &[Slot]| slots.iter().map(bytes).sum::<usize>();
            let done = self.step(cx, &mut slots, &item.0, &places).and_then(|()| match held(&slots) as u64 {
                bytes if bytes > MAX_SET_BYTES => Err(ToolError::new(
                    code::TOO_LARGE,
                    format!("the set's files have more than {MAX_SET_BYTES} bytes together"),
                )),
                _ => Ok(()),
            });
            done.map_err(|error| numbered(index, &item.0, error))?;
        }
        Ok(slots)
    }

    fn step(&self, cx: &Cx<'_>, slots: &mut Vec<Slot>, step: &Step, places: &[Place]) -> Result<(), ToolError> {
        let [place, rest @ ..] = places else { return Err(ToolError::new(code::BUG, "a change has a place")) };
        let shown = place.shown().into_owned();
        match step {
            Step::Edit { old_string, new_string, replace_all, .. } => {
                let replace = Replace { old: old_string, new: new_string, all: replace_all.unwrap_or_default() };
                let at = self.text_slot(cx, slots, place)?;
                let slot = &mut slots[at];
                let now = slot.now.as_deref().unwrap_or_default();
                // Others changed the file since it was read: the edit is placed in what was read, then moved.
                let (made, seen) = match &slot.seen {
                    None => (plan(now, &replace).map_err(|error| refusal(&error, &shown))?, None),
                    Some(seen) => {
                        let on_seen = plan_on_seen(seen, now, &replace, &shown)?;
                        let moved = rebase(seen, now, &on_seen).map_err(|overlap| overlaps(&overlap, &shown))?;
                        (moved.plan, Some(on_seen.apply(seen)))
                    }
                };
                fits(made.new_len(), place)?;
                let bytes = applied(&made, now, &shown)?;
                slot.rewrite(bytes);
                slot.seen = seen;
                if made.level != Level::Exact {
                    slot.outside.push_str(&format!("[{shown}: an old_string matched but for blanks at line ends]\n"));
                }
            }
            Step::Cell { cell_id, cell_index, new_source, cell_type, edit_mode, .. } => {
                let at = self.text_slot(cx, slots, place)?;
                if slots[at].seen.is_some() {
                    return Err(stale(place));
                }
                let bytes = slots[at].now.as_deref().unwrap_or_default();
                let cell = Cell {
                    id: cell_id.as_deref(),
                    index: *cell_index,
                    source: new_source.as_deref(),
                    kind: *cell_type,
                    mode: *edit_mode,
                };
                let made = notebook_edit::plan(bytes, cell).map_err(|error| notebook_edit::refusal(&error, &shown))?;
                let bytes = made.plan.apply(bytes);
                slots[at].rewrite(bytes);
            }
            Step::Create { content, .. } => {
                let at = self.new_slot(cx, slots, place)?;
                vacant(slots, &slots[at])?;
                slots[at].kind = Kind::File;
                slots[at].known = true;
                slots[at].shown = Shown::All;
                slots[at].now = Some(content.as_bytes().to_vec());
            }
            Step::Delete { .. } => {
                let at = self.slot(cx, slots, place)?;
                self.unchanged(cx, &slots[at])?;
                slots[at].now.take().ok_or_else(|| missing(place))?;
                nothing_below(slots, place)?;
            }
            Step::Move { .. } => {
                let [to] = rest else { return Err(ToolError::new(code::BUG, "a move has two places")) };
                let from = self.slot(cx, slots, place)?;
                self.unchanged(cx, &slots[from])?;
                let bytes = slots[from].now.take().ok_or_else(|| missing(place))?;
                nothing_below(slots, place)?;
                let to = self.new_slot(cx, slots, to)?;
                vacant(slots, &slots[to])?;
                // What was moved here in this set brought its own rights along, and its owner.
                let (mode, dress) = match slots[from].mode {
                    Some(mode) => (Some(mode), slots[from].dress.take()),
                    None => (slots[from].own_mode(), self.files.worn(cx.permit, place)),
                };
                (slots[to].kind, slots[to].known) = (slots[from].kind, slots[from].known);
                (slots[to].mode, slots[to].dress) = (mode, dress);
                slots[to].shown = slots[from].shown.clone();
                slots[to].now = Some(bytes);
            }
        }
        Ok(())
    }

    /// The slot of a path, looked at on first use.
    fn slot(&self, cx: &Cx<'_>, slots: &mut Vec<Slot>, place: &Place) -> Result<usize, ToolError> {
        if let Some(at) = slots.iter().position(|slot| slot.place.path == place.path) {
            return Ok(at);
        }
        const BY_COMMAND: &str = "a command can move or delete it";
        slots.push(Slot::look(&self.files, cx, place).map_err(|error| by_command(error, BY_COMMAND))?);
        Ok(slots.len() - 1)
    }

    /// The slot of a path where a file comes to stand: where a directory does, nothing may be left in it.
    fn new_slot(&self, cx: &Cx<'_>, slots: &mut Vec<Slot>, place: &Place) -> Result<usize, ToolError> {
        let is_emptied =
            slots.iter().any(|slot| slot.now.is_none() && reshape::is_below_gone(&slot.place.path, &[&place.path]));
        match self.slot(cx, slots, place) {
            Err(error) if error.code == code::NOT_A_FILE && is_emptied => {
                reshape::vacated(&self.files, cx, slots, place)?;
                slots.push(Slot::of_dir(place));
                Ok(slots.len() - 1)
            }
            slot => slot,
        }
    }

    /// The slot of a file whose text is changed: the session must know it as it stands.
    fn text_slot(&self, cx: &Cx<'_>, slots: &mut Vec<Slot>, place: &Place) -> Result<usize, ToolError> {
        if let Some(at) = slots.iter().position(|slot| slot.place.path == place.path) {
            return match &slots[at] {
                Slot { now: None, .. } => Err(missing(place)),
                Slot { known: false, .. } => Err(unread(place)),
                _ => Ok(at),
            };
        }
        let known = known(&self.files, cx, place)?;
        let shown = known.shown_of(&known.now.bytes);
        let seen = match known.base {
            Base::Current => None,
            Base::Stale(seen) => Some(seen.to_vec()),
            Base::Lost => return Err(stale(place)),
        };
        let at = self.slot(cx, slots, place)?;
        if slots[at].origin.hash() != Some(known.hash) {
            return Err(stale(place));
        }
        if let Some(seen) = &seen {
            slots[at].outside = outside(seen, slots[at].before().unwrap_or_default(), &place.shown());
        }
        slots[at].known = true;
        slots[at].shown = shown;
        slots[at].seen = seen;
        Ok(at)
    }

    /// A file that the session has read is not moved or deleted in a state it has not seen.
    fn unchanged(&self, cx: &Cx<'_>, slot: &Slot) -> Result<(), ToolError> {
        let seen = cx.session.slot::<Ledger>().seen(&slot.place.path).and_then(|seen| seen.hash);
        match (seen, slot.origin.hash()) {
            (Some(seen), Some(now)) if seen != now => Err(stale(&slot.place)),
            _ => Ok(()),
        }
    }
}

/// The first link, taken away by then, that a place was named through; and whether the name goes on below it.
fn through_gone(place: &Place, gone: &[&Path]) -> Option<(String, bool)> {
    let mut names = place.by_all_names().skip(1);
    names.find_map(|name| {
        let link = gone.iter().find(|gone| name.path.starts_with(gone))?;
        let shown = name.path.ancestors().find(|above| above == link)?;
        let below = name.path != shown;
        let parts = name.path.components().count() - shown.components().count();
        let named = Path::new(name.shown().as_ref()).ancestors().nth(parts)?.display().to_string();
        Some((named, below))
    })
}

/// Where something goes that stands there.
fn going<'p>(changes: &[Item], places: &'p [Vec<Place>]) -> Vec<&'p Path> {
    let going = changes.iter().zip(places).filter(|(item, _)| item.0.takes_away());
    going.filter_map(|(_, places)| places.first()).map(|place| place.path.as_path()).collect()
}

/// Where a file comes to stand.
fn coming<'p>(changes: &[Item], places: &'p [Vec<Place>]) -> Vec<&'p Path> {
    let coming =
        changes.iter().zip(places).filter(|(item, _)| matches!(item.0, Step::Create { .. } | Step::Move { .. }));
    coming.filter_map(|(_, places)| places.last()).map(|place| place.path.as_path()).collect()
}

/// Whether a file can come to stand there: nothing does, and neither above nor below it another one of the set.
fn vacant(slots: &[Slot], slot: &Slot) -> Result<(), ToolError> {
    let (place, path) = (slot.place.shown(), &slot.place.path);
    if slot.now.is_some() {
        return Err(ToolError::new(code::ALREADY_EXISTS, format!("{place} exists")));
    }
    let others = || slots.iter().filter(|other| other.place.path != *path && other.now.is_some());
    if let Some(above) = others().find(|other| path.starts_with(&other.place.path)) {
        let above = above.place.shown();
        return Err(ToolError::new(
            code::NOT_A_FILE,
            format!("{above} is a file in this set, and {place} lies below it"),
        )
        .hint("changes apply in order: what is in the way is deleted or moved first"));
    }
    nothing_below(slots, &slot.place)
}

/// Refuses a set with a file below what is a file itself, or was one until now.
fn nothing_below(slots: &[Slot], place: &Place) -> Result<(), ToolError> {
    let gone = [place.path.as_path()];
    let below = slots.iter().find(|other| other.now.is_some() && reshape::is_below_gone(&other.place.path, &gone));
    let Some(below) = below else { return Ok(()) };
    let (place, below) = (place.shown(), below.place.shown());
    Err(ToolError::new(code::NOT_A_FILE, format!("{below} is a file in this set, and lies below {place}"))
        .hint("changes apply in order: what is in the way is deleted or moved first"))
}

fn missing(place: &Place) -> ToolError {
    ToolError::new(code::NOT_FOUND, format!("{} does not exist", place.shown()))
}

/// An error as the refusal of the whole set. Arguments are counted from 1, as people count. The error's own words stand
/// last: they may end with a text that is to be sent as it stands.
fn numbered(index: usize, step: &Step, error: ToolError) -> ToolError {
    let message = format!(
        "nothing was changed, as change {} ({} {}) is refused: {} {}",
        index + 1,
        step.name(),
        step.path(),
        error.code,
        error.message
    );
    ToolError { code: code::CHANGE_SET_REFUSED, message, hint: error.hint }
}

fn answer(slots: &[Slot], dry_run: bool) -> Output {
    let paths = |wanted: fn(&Slot) -> bool| {
        slots.iter().filter(|slot| wanted(slot)).map(|slot| slot.place.shown().into_owned()).collect::<Vec<_>>()
    };
    let changed = Changed {
        dry_run,
        created: paths(|slot| slot.before().is_none() && slot.now.is_some()),
        changed: paths(|slot| slot.before().is_some() && slot.now.is_some() && slot.differs()),
        deleted: paths(|slot| slot.before().is_some() && slot.now.is_none()),
    };
    let diff = diff(slots, DIFF_LINES);
    let verb = if dry_run { "Would change" } else { "Changed" };
    let counts = format!(
        "{} created, {} changed, {} deleted",
        changed.created.len(),
        changed.changed.len(),
        changed.deleted.len()
    );
    let outside: String = slots.iter().map(|slot| slot.outside.clone() + &other_names(slot)).collect();
    let mut output = Output::text(format!("{verb} as one: {counts}.\n{diff}{outside}"))
        .with_fact("dry_run", dry_run)
        .with_fact("created", changed.created.clone())
        .with_fact("changed", changed.changed.clone())
        .with_fact("deleted", changed.deleted.clone())
        .with_diff(diff)
        .only_shown(dry_run);
    output.structured = serde_json::to_value(&changed).ok();
    output
}

/// What becomes of the other names of a file that has another content.
fn other_names(slot: &Slot) -> String {
    let names = match &slot.origin {
        Expect::Is { links, kind: Kind::File, .. } if slot.now.is_some() && slot.differs() => links.saturating_sub(1),
        _ => 0,
    };
    keep_former(&slot.place.shown(), names)
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "Rename a file and what refers to it",
        files: &[("util.rs", "pub fn f() {}\n"), ("main.rs", "mod util;\n")],
        before: &[("read", r#"{"file_path": "main.rs"}"#)],
        arguments: r#"{"changes": [
            {"op": "move", "file_path": "util.rs", "to": "helpers.rs"},
            {"op": "edit", "file_path": "main.rs", "old_string": "mod util;", "new_string": "mod helpers;"}
        ]}"#,
        answer: "1 created, 1 changed, 1 deleted",
    },
    Example {
        title: "A notebook's cell and the data that it reads",
        files: &[
            (
                "plot.ipynb",
                r##"{"cells": [{"cell_type": "code", "id": "load", "metadata": {}, "execution_count": null, "outputs": [], "source": ["open('old.csv')"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"##,
            ),
            ("old.csv", "1,2\n"),
        ],
        before: &[("read", r#"{"file_path": "plot.ipynb"}"#)],
        arguments: r#"{"changes": [
            {"op": "move", "file_path": "old.csv", "to": "new.csv"},
            {"op": "cell", "file_path": "plot.ipynb", "cell_id": "load", "new_source": "open('new.csv')"}
        ]}"#,
        answer: "1 created, 1 changed, 1 deleted",
    },
    Example {
        title: "What a set would do",
        files: &[("a.txt", "a\n")],
        before: &[],
        arguments: r#"{"changes": [{"op": "delete", "file_path": "a.txt"}], "dry_run": true}"#,
        answer: "Would change as one",
    },
];
