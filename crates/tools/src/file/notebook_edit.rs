//! `notebook_edit`: one cell of a Jupyter notebook, everything else as it was, byte for byte.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_edit::notebook::{self, CellChange, CellEdit, CellKind, NotebookError, Op};
use nika_guard::{Effects, Place};
use nika_host::fs::{Change, Workspace, sha256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::seen::{Base, Known, hex, keep_former, known, note, retried, stale};
use crate::lenient;

/// Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb). Read it first for its cell ids.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Notebook to edit.
    pub notebook_path: String,
    /// Id of the cell; for insert, of the cell before the new one.
    pub cell_id: Option<String>,
    /// Index of the cell from 0, instead of an id; for insert, the new cell's index.
    #[serde(default, deserialize_with = "lenient::number")]
    pub cell_index: Option<u32>,
    /// The cell's new source.
    pub new_source: Option<String>,
    /// Needed for insert; for replace, changes the type.
    pub cell_type: Option<CellType>,
    /// Default replace.
    pub edit_mode: Option<EditMode>,
}

/// Which cell, and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub id: Option<&'a str>,
    pub index: Option<u32>,
    pub source: Option<&'a str>,
    pub kind: Option<CellType>,
    pub mode: Option<EditMode>,
}

impl Params {
    fn cell(&self) -> Cell<'_> {
        Cell {
            id: self.cell_id.as_deref(),
            index: self.cell_index,
            source: self.new_source.as_deref(),
            kind: self.cell_type,
            mode: self.edit_mode,
        }
    }
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellType {
    /// Code.
    Code,
    /// Text.
    Markdown,
}

/// What becomes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EditMode {
    /// Another source.
    Replace,
    /// A new cell.
    Insert,
    /// No cell.
    Delete,
}

/// The tool.
#[derive(Debug)]
pub struct NotebookEdit {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditedCell {
    /// The notebook, as results show paths.
    pub path: String,
    /// The cell's index.
    pub index: usize,
    /// The cell's id, where the format has ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Cells in the notebook now.
    pub cells: usize,
    /// Outputs dropped because their source is gone.
    pub cleared_outputs: usize,
    /// sha256 of the notebook now.
    pub sha256_after: String,
}

impl Tool for NotebookEdit {
    type Params = Params;
    const SPEC: Spec = Spec::new("notebook_edit", "Edit notebook cell", Group::File)
        .destructive()
        .text()
        .event(nika_contract::event::TOOL_EDIT)
        .terms(&["jupyter", "ipynb", "cell", "markdown", "python"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<EditedCell>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        params.cell().edit("").check().map_err(|error| refusal(&error, &params.notebook_path))?;
        Ok(Effects::write(self.files.locate_file(&params.notebook_path)?))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let place = cx.place()?;
        let known = self.current(cx, place)?;
        let shown = place.shown();
        let change = plan(&known.now.bytes, params.cell()).map_err(|error| refusal(&error, &shown))?;
        Ok(Some(change.plan.diff(&known.now.bytes, &shown)))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = cx.place()?;
        let shown = place.shown().into_owned();
        let (cell, bytes, seen, diff, written) = retried(&self.files, cx, |locked| {
            let known = self.current(cx, place)?;
            let cell = plan(&known.now.bytes, params.cell()).map_err(|error| refusal(&error, &shown))?;
            let bytes = cell.plan.apply(&known.now.bytes);
            let diff = cell.plan.diff(&known.now.bytes, &shown);
            let seen = known.shown_of(&bytes);
            let change = Change::replace(known.now, known.hash, bytes.clone());
            let written = locked.commit(cx, vec![change])?.remove(0);
            Ok((cell, bytes, seen, diff, written))
        })
        .await?;
        if let (Some(hash), Some(stamp)) = (written.after, written.stamp) {
            note(cx, place, bytes, hash, stamp, seen);
        }
        let names = keep_former(&shown, written.other_names);
        Ok(answer(shown, &cell, written.after.map(hex).unwrap_or_default(), &names).with_diff(diff))
    }
}

impl NotebookEdit {
    /// The notebook, which must be what the session read: cells that moved cannot be told apart.
    fn current(&self, cx: &Cx<'_>, place: &Place) -> Result<Known, ToolError> {
        let known = known(&self.files, cx, place)?;
        if matches!(known.base, Base::Current) { Ok(known) } else { Err(stale(place)) }
    }
}

/// The change of one cell, worked out. A new cell's id comes from the notebook, the place and the source, not from the
/// call or its time: a trial shows the very diff that is made.
pub(super) fn plan(bytes: &[u8], cell: Cell<'_>) -> Result<CellChange, NotebookError> {
    let place = format!("{:?} {:?} {:?}", cell.id, cell.index, cell.source);
    let mut id = hex(sha256(&[&sha256(bytes)[..], place.as_bytes()].concat()));
    id.truncate(NEW_ID_CHARS);
    notebook::plan(bytes, &cell.edit(&id))
}

/// As many as Jupyter gives; a number is added where the id is taken.
const NEW_ID_CHARS: usize = 8;

impl<'p> Cell<'p> {
    /// For the engine.
    pub(super) fn edit(self, new_id: &'p str) -> CellEdit<'p> {
        CellEdit {
            op: match self.mode.unwrap_or(EditMode::Replace) {
                EditMode::Replace => Op::Replace,
                EditMode::Insert => Op::Insert,
                EditMode::Delete => Op::Delete,
            },
            id: self.id,
            index: self.index.map(|index| index as usize),
            kind: self.kind.map(|kind| match kind {
                CellType::Code => CellKind::Code,
                CellType::Markdown => CellKind::Markdown,
            }),
            source: self.source,
            new_id,
        }
    }
}

pub(super) fn refusal(error: &NotebookError, shown: &str) -> ToolError {
    use NotebookError as E;
    let code = match error {
        E::NotJson { .. } | E::NotNotebook(_) | E::OldFormat { .. } | E::BadCell { .. } => code::NOT_A_NOTEBOOK,
        E::CellNotFound { .. } | E::AmbiguousId { .. } | E::IndexOutOfRange { .. } => code::CELL_NOT_FOUND,
        E::IdAndIndex | E::NoCell | E::NeedsKind | E::NeedsSource | E::BadNewId { .. } | E::NoChange { .. } => {
            code::BAD_ARGUMENTS
        }
    };
    ToolError::new(code, format!("{shown}: {error}"))
}

fn answer(path: String, cell: &CellChange, sha256_after: String, names: &str) -> Output {
    let verb = match cell.op {
        Op::Replace => "Replaced",
        Op::Insert => "Inserted",
        Op::Delete => "Deleted",
    };
    let id = cell.id.as_ref().map(|id| format!(" (id {id})")).unwrap_or_default();
    let mut text = format!("{verb} {} cell {}{id} of {path}; it has {} cells now.", cell.kind, cell.index, cell.cells);
    if cell.cleared_outputs > 0 {
        text.push_str(&format!(
            " Its {} former output(s) were dropped with the source that made them.",
            cell.cleared_outputs
        ));
    }
    if cell.dropped_attachments > 0 {
        text.push_str(&format!(
            " Its {} attachment(s) were dropped, as a code cell has none.",
            cell.dropped_attachments
        ));
    }
    if !names.is_empty() {
        text.push_str(&format!("\n{names}"));
    }
    let result = EditedCell {
        path,
        index: cell.index,
        id: cell.id.clone(),
        cells: cell.cells,
        cleared_outputs: cell.cleared_outputs,
        sha256_after,
    };
    let mut output =
        Output::text(text).with_fact("path", result.path.clone()).with_fact("after", result.sha256_after.clone());
    output.structured = serde_json::to_value(&result).ok();
    output
}

const NOTEBOOK: &str = r#"{
 "cells": [
  {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["Hi"]}
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

const EXAMPLES: &[Example] = &[
    Example {
        title: "Another source for a cell",
        files: &[("n.ipynb", NOTEBOOK)],
        before: &[("read", r#"{"file_path": "n.ipynb"}"#)],
        arguments: r##"{"notebook_path": "n.ipynb", "cell_id": "intro", "new_source": "# Hello"}"##,
        answer: "Replaced markdown cell 0",
    },
    Example {
        title: "A new cell behind another",
        files: &[("n.ipynb", NOTEBOOK)],
        before: &[("read", r#"{"file_path": "n.ipynb"}"#)],
        arguments: r#"{"notebook_path": "n.ipynb", "cell_id": "intro", "edit_mode": "insert", "cell_type": "code", "new_source": "1 + 1"}"#,
        answer: "it has 2 cells now",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_cell_has_the_same_id_each_time() {
        let book = br#"{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#;
        let id = |source| {
            let (kind, mode) = (Some(CellType::Code), Some(EditMode::Insert));
            plan(book, Cell { id: None, index: None, source: Some(source), kind, mode }).expect("it fits").id
        };
        assert_eq!(id("x = 1").map(|id| id.len()), Some(NEW_ID_CHARS));
        assert!(id("x = 1") == id("x = 1") && id("x = 1") != id("x = 2"));
    }
}
