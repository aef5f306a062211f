//! One cell replaced, inserted or deleted, as a plan on the notebook's bytes.
//!
//! A code cell whose source is replaced loses its outputs and execution count: they belong to
//! what is gone, and stale results mislead whoever reads the notebook next.

use std::ops::Range;

use super::json::{Kind, Value};
use super::style::Style;
use super::{CellKind, Document, NotebookError};
use crate::encoding::Encoding;
use crate::find::Level;
use crate::lines::Shape;
use crate::plan::{Change, Plan};

/// What to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Replace,
    Insert,
    Delete,
}

/// A change of one cell. With `Insert`, the new cell comes after the one with this id, or gets
/// this index, or comes first when neither is given.
#[derive(Clone, Copy, Debug)]
pub struct CellEdit<'a> {
    pub op: Op,
    /// A cell's id; `cell-3` also names the cell with index 3.
    pub id: Option<&'a str>,
    /// From 0.
    pub index: Option<usize>,
    /// Must be given to insert; on replace, changes the type.
    pub kind: Option<CellKind>,
    /// Must be given to insert; on replace, may be left out to change only the type.
    pub source: Option<&'a str>,
    /// Id for a new cell, used where the format has ids (4.5). A number is added when taken.
    pub new_id: &'a str,
}

impl CellEdit<'_> {
    /// What is wrong with it whatever the notebook holds.
    pub fn check(&self) -> Result<(), NotebookError> {
        match (self.op, self.id, self.index) {
            (_, Some(_), Some(_)) => Err(NotebookError::IdAndIndex),
            (Op::Replace | Op::Delete, None, None) => Err(NotebookError::NoCell),
            (Op::Insert, ..) if self.kind.is_none() => Err(NotebookError::NeedsKind),
            (Op::Insert, ..) if self.source.is_none() => Err(NotebookError::NeedsSource),
            (Op::Replace, ..) if self.source.is_none() && self.kind.is_none() => Err(NotebookError::NeedsSource),
            _ => Ok(()),
        }
    }
}

/// A worked-out change of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellChange {
    /// See [`Plan::apply`] and [`Plan::diff`].
    pub plan: Plan,
    pub op: Op,
    /// The cell's index, after an insert, before a delete.
    pub index: usize,
    pub id: Option<String>,
    pub kind: String,
    /// Outputs that were dropped because their source is gone.
    pub cleared_outputs: usize,
    pub cleared_execution_count: bool,
    /// Attachments that were dropped because a code cell has none.
    pub dropped_attachments: usize,
    /// Cells in the notebook afterwards.
    pub cells: usize,
}

/// Works out the change of one cell. Nothing is changed yet.
pub fn plan(bytes: &[u8], edit: &CellEdit<'_>) -> Result<CellChange, NotebookError> {
    let document = Document::of(bytes)?;
    edit.check()?;
    let Some(list) = document.root.get("cells").filter(|cells| cells.is_array() && document.nbformat >= 4) else {
        return Err(NotebookError::OldFormat { nbformat: document.nbformat });
    };
    let work = Work {
        text: document.text,
        style: Style::of(document.text, &document.root, &document.cells()),
        document: &document,
        list,
    };
    match edit.op {
        Op::Replace => work.replace(bytes, edit),
        Op::Insert => work.insert(bytes, edit),
        Op::Delete => work.delete(bytes, edit),
    }
}

/// What nbformat lets no cell of this type have.
fn not_of(kind: &str) -> &'static [&'static str] {
    if kind == CellKind::Code.name() { &["attachments"] } else { &["execution_count", "outputs"] }
}

struct Work<'a> {
    text: &'a str,
    document: &'a Document<'a>,
    list: &'a Value,
    style: Style,
}

/// Depths at which a notebook's parts stand: cells, their members, lines of source.
const CELL: usize = 2;
const MEMBER: usize = 3;
const LINE: usize = 4;

impl Work<'_> {
    fn find(&self, edit: &CellEdit<'_>) -> Result<(usize, &Value), NotebookError> {
        let cells = self.list.items();
        let at = |index: usize| {
            cells
                .get(index)
                .map(|cell| (index, cell))
                .ok_or(NotebookError::IndexOutOfRange { index, cells: cells.len() })
        };
        let Some(id) = edit.id else { return at(edit.index.ok_or(NotebookError::NoCell)?) };
        let known: Vec<Option<String>> = cells.iter().map(|cell| self.document.id(cell)).collect();
        let matching: Vec<usize> =
            (0..cells.len()).filter(|n| known.get(*n).is_some_and(|known| known.as_deref() == Some(id))).collect();
        match matching.as_slice() {
            [index] => at(*index),
            [] => match id.strip_prefix("cell-").and_then(|n| n.parse().ok()) {
                Some(index) => at(index),
                None => {
                    let ids = known.into_iter().flatten().collect();
                    Err(NotebookError::CellNotFound { id: id.to_owned(), ids, cells: cells.len() })
                }
            },
            more => Err(NotebookError::AmbiguousId { id: id.to_owned(), count: more.len() }),
        }
    }

    fn kind_of(&self, cell: &Value) -> String {
        cell.get("cell_type").and_then(|kind| kind.string(self.text)).unwrap_or_else(|| "unknown".into())
    }

    fn replace(&self, bytes: &[u8], edit: &CellEdit<'_>) -> Result<CellChange, NotebookError> {
        let (index, cell) = self.find(edit)?;
        let Kind::Object(members) = &cell.kind else { return Err(NotebookError::BadCell { index }) };
        if edit.source.is_none() && edit.kind.is_none() {
            return Err(NotebookError::NeedsSource);
        }
        let was = self.kind_of(cell);
        let kind = edit.kind.map_or(was.as_str(), |kind| kind.name());
        let old_source = cell.get("source").and_then(|source| source.text(self.text));
        let new_source = edit.source.filter(|new| old_source.as_deref() != Some(*new));
        if new_source.is_none() && kind == was {
            return Err(NotebookError::NoChange { index });
        }
        let mut changes = Vec::new();
        let mut added = Vec::new();
        if let Some(source) = new_source {
            match cell.get("source") {
                Some(value) => changes.push((value.at.clone(), self.new_source(value, source))),
                None => added.push(("source", self.style.source(source, LINE, None))),
            }
        }
        if kind != was {
            match cell.get("cell_type") {
                Some(value) => changes.push((value.at.clone(), self.style.quote(kind))),
                None => added.push(("cell_type", self.style.quote(kind))),
            }
        }
        let mut cleared_outputs = 0;
        let mut cleared_execution_count = false;
        if kind == "code" {
            // Only the type changed: the outputs of a cell that is still code stay.
            for (name, empty) in [("execution_count", "null"), ("outputs", "[]")] {
                match cell.get(name) {
                    None if was != "code" => added.push((name, empty.to_owned())),
                    Some(value) if new_source.is_some() => {
                        let is_empty = matches!(value.kind, Kind::Null) || value.is_array() && value.items().is_empty();
                        if !is_empty {
                            cleared_outputs += value.items().len();
                            cleared_execution_count |= name == "execution_count";
                            changes.push((value.at.clone(), empty.to_owned()));
                        }
                    }
                    _ => {}
                }
            }
        }
        let removed = if kind == was { &[][..] } else { not_of(kind) };
        let goes = |name: &str| cell.get(name).filter(|_| removed.contains(&name));
        cleared_outputs += goes("outputs").map_or(0, |outputs| outputs.items().len());
        cleared_execution_count |= goes("execution_count").is_some_and(|count| !matches!(count.kind, Kind::Null));
        let dropped_attachments = goes("attachments").map_or(0, |attachments| attachments.members().len());
        // Where nothing stays, what is added takes the place of all.
        let none_stays = members.iter().all(|member| removed.contains(&member.name.as_str()));
        if !none_stays {
            changes.extend(self.removals(cell, removed));
        }
        if !added.is_empty() {
            changes.push(self.addition(cell, none_stays, &added));
        }
        Ok(CellChange {
            plan: self.placed(bytes, changes),
            op: edit.op,
            index,
            id: self.document.id(cell),
            kind: kind.to_owned(),
            cleared_outputs,
            cleared_execution_count,
            dropped_attachments,
            cells: self.list.items().len(),
        })
    }

    /// A source in the shape that the old one has; lines that stay keep their very bytes.
    fn new_source(&self, old: &Value, source: &str) -> String {
        let items = old.items();
        if !old.is_array() || items.is_empty() {
            return self.style.source(source, LINE, Some(old.is_array()));
        }
        let raw = |value: &Value| self.text.get(value.at.clone()).unwrap_or_default().to_owned();
        let lines: Vec<&str> = source.split_inclusive('\n').collect();
        let olds: Vec<Option<String>> = items.iter().map(|item| item.string(self.text)).collect();
        let same = |a: &Option<String>, b: &&str| a.as_deref() == Some(*b);
        let head = olds.iter().zip(&lines).take_while(|(a, b)| same(a, b)).count();
        let most = olds.len().min(lines.len()) - head;
        let tail = olds.iter().rev().zip(lines.iter().rev()).take(most).take_while(|(a, b)| same(a, b)).count();
        if lines.is_empty() {
            return "[]".into();
        }
        let mut parts: Vec<String> = items.iter().take(head).map(raw).collect();
        parts.extend(lines.iter().take(lines.len() - tail).skip(head).map(|line| self.style.quote(line)));
        parts.extend(items.iter().skip(items.len() - tail).map(raw));
        // The file's own spacing inside this list.
        let (first, last) = (items.first().map_or(0..0, |v| v.at.clone()), items.last().map_or(0..0, |v| v.at.clone()));
        let open = self.text.get(old.at.start + 1..first.start).unwrap_or_default();
        let close = self.text.get(last.end..old.at.end - 1).unwrap_or_default();
        let between = match items {
            [a, b, ..] => self.text.get(a.at.end..b.at.start).unwrap_or(",").to_owned(),
            _ if open.contains('\n') => format!(",{open}"),
            _ => self.style.between(LINE).replace(['\n', '\r'], ""),
        };
        format!("[{open}{}{close}]", parts.join(&between))
    }

    fn insert(&self, bytes: &[u8], edit: &CellEdit<'_>) -> Result<CellChange, NotebookError> {
        let kind = edit.kind.ok_or(NotebookError::NeedsKind)?;
        let source = edit.source.ok_or(NotebookError::NeedsSource)?;
        let cells = self.list.items();
        let index = match (edit.id, edit.index) {
            (None, None) => 0,
            (None, Some(index)) if index <= cells.len() => index,
            (None, Some(index)) => return Err(NotebookError::IndexOutOfRange { index, cells: cells.len() }),
            (Some(_), _) => self.find(edit)?.0 + 1,
        };
        let has_ids = (self.document.nbformat, self.document.minor) >= (4, 5);
        let id = if has_ids { Some(self.free_id(edit.new_id)?) } else { None };
        let cell = self.new_cell(kind, source, id.as_deref(), index);
        let change = match (cells.first(), index.checked_sub(1).and_then(|n| cells.get(n))) {
            (None, _) => {
                let inside = self.list.at.start + 1..self.list.at.end - 1;
                (inside, format!("{}{cell}{}", self.style.open(CELL), self.style.open(CELL - 1)))
            }
            (Some(first), None) => (first.at.start..first.at.start, format!("{cell}{}", self.between_cells())),
            (Some(_), Some(before)) => (before.at.end..before.at.end, format!("{}{cell}", self.between_cells())),
        };
        Ok(CellChange {
            plan: self.placed(bytes, vec![change]),
            op: edit.op,
            index,
            id,
            kind: kind.name().to_owned(),
            cleared_outputs: 0,
            cleared_execution_count: false,
            dropped_attachments: 0,
            cells: cells.len() + 1,
        })
    }

    fn free_id(&self, wanted: &str) -> Result<String, NotebookError> {
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if wanted.is_empty() || wanted.len() > 64 || !wanted.chars().all(valid) {
            return Err(NotebookError::BadNewId { id: wanted.to_owned() });
        }
        let taken: Vec<String> = self.list.items().iter().filter_map(|cell| self.document.id(cell)).collect();
        let numbered = (2..).map(|n| format!("{}-{n}", wanted.get(..wanted.len().min(56)).unwrap_or(wanted)));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !taken.contains(name)).ok_or(NotebookError::BadNewId { id: wanted.to_owned() })
    }

    fn new_cell(&self, kind: CellKind, source: &str, id: Option<&str>, index: usize) -> String {
        let mut members: Vec<(&str, String)> = vec![("cell_type", self.style.quote(kind.name()))];
        if kind == CellKind::Code {
            members.push(("execution_count", "null".into()));
        }
        members.extend(id.map(|id| ("id", self.style.quote(id))));
        members.push(("metadata", "{}".into()));
        if kind == CellKind::Code {
            members.push(("outputs", "[]".into()));
        }
        members.push(("source", self.style.source(source, LINE, None)));
        // In the order that a neighbour of this kind has, if there is one.
        let cells = self.list.items();
        let near = |n: &&Value| self.kind_of(n) == kind.name();
        let neighbour = cells.iter().take(index).rev().find(near).or_else(|| cells.iter().skip(index).find(near));
        if let Some(neighbour) = neighbour {
            let place = |name: &str| neighbour.members().iter().position(|member| member.name == name);
            if members.iter().all(|(name, _)| place(name).is_some()) {
                members.sort_by_key(|(name, _)| place(name));
            }
        }
        let members: Vec<String> = members.iter().map(|(name, value)| self.style.member(name, value)).collect();
        self.style.object(&members, MEMBER)
    }

    fn between_cells(&self) -> String {
        match self.list.items() {
            [a, b, ..] => self.text.get(a.at.end..b.at.start).unwrap_or(",").to_owned(),
            [only] => {
                let open = self.text.get(self.list.at.start + 1..only.at.start).unwrap_or_default();
                if open.is_empty() { self.style.between(CELL).replace(['\n', '\r'], "") } else { format!(",{open}") }
            }
            [] => self.style.between(CELL),
        }
    }

    fn delete(&self, bytes: &[u8], edit: &CellEdit<'_>) -> Result<CellChange, NotebookError> {
        let (index, cell) = self.find(edit)?;
        let cells = self.list.items();
        let before = index.checked_sub(1).and_then(|n| cells.get(n));
        let gone = match (before, cells.get(index + 1)) {
            (_, Some(next)) => cell.at.start..next.at.start,
            (Some(before), None) => before.at.end..cell.at.end,
            (None, None) => self.list.at.start + 1..self.list.at.end - 1,
        };
        Ok(CellChange {
            plan: self.placed(bytes, vec![(gone, String::new())]),
            op: edit.op,
            index,
            id: self.document.id(cell),
            kind: self.kind_of(cell),
            cleared_outputs: 0,
            cleared_execution_count: false,
            dropped_attachments: 0,
            cells: cells.len() - 1,
        })
    }

    /// Members taken out, each run of them with one comma.
    fn removals(&self, object: &Value, names: &[&str]) -> Vec<(Range<usize>, String)> {
        let members = object.members();
        let goes = |n: usize| members.get(n).is_some_and(|member| names.contains(&member.name.as_str()));
        let mut out = Vec::new();
        let mut at = 0;
        while at < members.len() {
            if !goes(at) {
                at += 1;
                continue;
            }
            let run = at..(at..members.len()).find(|n| !goes(*n)).unwrap_or(members.len());
            at = run.end;
            let key = |n: usize| members.get(n).map(|member| member.key.start);
            let end = |n: usize| members.get(n).map(|member| member.value.at.end);
            let range = match (key(run.start), key(run.end), run.start.checked_sub(1).and_then(end)) {
                (Some(start), Some(next), _) => start..next,
                (_, None, Some(before)) => before..end(run.end - 1).unwrap_or(before),
                _ => object.at.start + 1..object.at.end - 1,
            };
            out.push((range, String::new()));
        }
        out
    }

    /// Members put behind the last one.
    fn addition(&self, object: &Value, is_empty: bool, added: &[(&str, String)]) -> (Range<usize>, String) {
        let members: Vec<String> = added.iter().map(|(name, value)| self.style.member(name, value)).collect();
        if is_empty {
            let inside = object.at.start + 1..object.at.end - 1;
            return (
                inside,
                format!(
                    "{}{}{}",
                    self.style.open(MEMBER),
                    members.join(&self.style.between(MEMBER)),
                    self.style.open(CELL)
                ),
            );
        }
        let between = match object.members() {
            [.., a, b] => self.text.get(a.value.at.end..b.key.start).unwrap_or(",").to_owned(),
            _ => self.style.between(MEMBER),
        };
        let end = object.members().last().map_or(object.at.start + 1, |member| member.value.at.end);
        (end..end, members.iter().map(|member| format!("{between}{member}")).collect())
    }

    fn placed(&self, bytes: &[u8], mut changes: Vec<(Range<usize>, String)>) -> Plan {
        changes.sort_by_key(|(range, _)| (range.start, range.end));
        let bom = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let changes = changes.into_iter().map(|(range, with)| trimmed(self.text, range, &with));
        let shape = Shape::of(bytes, Encoding::Utf8, bom);
        Plan::of(bytes, Encoding::Utf8, shape, Level::Exact, changes.collect())
    }
}

/// Only what really differs, cut between characters.
fn trimmed(text: &str, range: Range<usize>, with: &str) -> Change {
    let old = text.get(range.clone()).unwrap_or_default();
    let head: usize = old.chars().zip(with.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), with.get(head..).unwrap_or_default());
    let tail: usize =
        old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    Change {
        matched: range.clone(),
        old: range.start + head..range.end - tail,
        with: new_rest.get(..new_rest.len() - tail).unwrap_or_default().as_bytes().to_vec(),
    }
}
