//! Jupyter notebooks: cells read as text, and changed one at a time in the raw JSON, so that
//! unknown fields, ids and formatting stay byte for byte.

mod change;
mod json;
mod read;
mod style;

pub use change::{CellChange, CellEdit, Op, plan};
pub use read::{Cell, Image, Notebook, Output, read};

use json::Value;

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Code,
    Markdown,
    Raw,
}

impl CellKind {
    pub fn name(self) -> &'static str {
        match self {
            CellKind::Code => "code",
            CellKind::Markdown => "markdown",
            CellKind::Raw => "raw",
        }
    }
}

/// Why a notebook could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    #[error("not a notebook: {why} (line {line}); fix the JSON first, with edit")]
    NotJson { line: usize, why: &'static str },
    #[error("not a notebook: {0}")]
    NotNotebook(&'static str),
    #[error(
        "this notebook is of format {nbformat}, which can be read but not edited; convert it with `jupyter nbconvert --to notebook`"
    )]
    OldFormat { nbformat: i64 },
    #[error("no cell has the id '{id}'; {}", known_ids(.ids, *.cells))]
    CellNotFound { id: String, ids: Vec<String>, cells: usize },
    #[error("{count} cells have the id '{id}'; name the cell by its index instead")]
    AmbiguousId { id: String, count: usize },
    #[error("there is no cell {index}; the notebook has {cells} cells, counted from 0")]
    IndexOutOfRange { index: usize, cells: usize },
    #[error("both cell id and index are given; give one")]
    IdAndIndex,
    #[error("neither cell id nor index is given; say which cell")]
    NoCell,
    #[error("a new cell needs a cell_type: code or markdown")]
    NeedsKind,
    #[error("the new source is missing")]
    NeedsSource,
    #[error("the id '{id}' for a new cell is not valid: 1 to 64 letters, digits, - or _")]
    BadNewId { id: String },
    #[error("cell {index} is not a JSON object with a source; fix the JSON first, with edit")]
    BadCell { index: usize },
    #[error("cell {index} already has this source and type; there is nothing to change")]
    NoChange { index: usize },
}

/// Ids are listed up to this number.
const LISTED_IDS: usize = 50;

fn known_ids(ids: &[String], cells: usize) -> String {
    if ids.is_empty() {
        return format!("its {cells} cells have no ids, name one by index, from 0");
    }
    let listed: Vec<&str> = ids.iter().take(LISTED_IDS).map(String::as_str).collect();
    let more = if ids.len() > LISTED_IDS { ", …" } else { "" };
    format!("ids: {}{more}", listed.join(", "))
}

/// A notebook's text and where its parts stand.
struct Document<'a> {
    text: &'a str,
    root: Value,
    nbformat: i64,
    minor: i64,
}

impl<'a> Document<'a> {
    fn of(bytes: &'a [u8]) -> Result<Document<'a>, NotebookError> {
        let text = std::str::from_utf8(bytes).map_err(|e| NotebookError::NotJson {
            line: line(bytes, e.valid_up_to()),
            why: "it is not valid UTF-8, as notebooks are",
        })?;
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let root =
            json::scan(text, start).map_err(|e| NotebookError::NotJson { line: line(bytes, e.at), why: e.why })?;
        let number = |name: &str| root.get(name).and_then(|value| value.integer(text));
        let (nbformat, minor) = (number("nbformat"), number("nbformat_minor"));
        let known = root.get("cells").or_else(|| root.get("worksheets")).is_some_and(Value::is_array);
        if !known {
            return Err(NotebookError::NotNotebook("it has no list of cells"));
        }
        let nbformat = nbformat.unwrap_or(if root.get("cells").is_some() { 4 } else { 3 });
        Ok(Document { text, root, nbformat, minor: minor.unwrap_or(0) })
    }

    /// All cells in order; those of old formats stand in worksheets.
    fn cells(&self) -> Vec<&Value> {
        if let Some(cells) = self.root.get("cells") {
            return cells.items().iter().collect();
        }
        let sheets = self.root.get("worksheets").map(Value::items).unwrap_or_default();
        sheets.iter().filter_map(|sheet| sheet.get("cells")).flat_map(Value::items).collect()
    }

    fn id(&self, cell: &Value) -> Option<String> {
        cell.get("id").and_then(|id| id.string(self.text))
    }
}

fn line(bytes: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', bytes.get(..at).unwrap_or_default()).count() + 1
}
