//! A notebook's cells as text, outputs included; images are taken out.

use super::json::{Kind, Value};
use super::{Document, NotebookError};

/// A notebook to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notebook {
    pub nbformat: i64,
    pub nbformat_minor: i64,
    /// The kernel's language, when the notebook says it.
    pub language: Option<String>,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// From 0, as editing counts.
    pub index: usize,
    pub id: Option<String>,
    /// `code`, `markdown`, `raw`, or what else the file says.
    pub kind: String,
    pub source: String,
    pub execution_count: Option<i64>,
    pub outputs: Vec<Output>,
}

/// What running a cell gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// `from`: `stdout`, `stderr`, `result` or `display`.
    Text {
        from: String,
        text: String,
    },
    Error {
        name: String,
        value: String,
        traceback: String,
    },
    Image(Image),
    /// Something that is neither text nor image: its type and size in characters.
    Other {
        mime: String,
        size: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub mime: String,
    /// As in the file, without line breaks.
    pub base64: String,
}

impl Image {
    /// Size of the decoded image in bytes.
    pub fn bytes(&self) -> usize {
        let padding = self.base64.bytes().rev().take(2).filter(|b| *b == b'=').count();
        (self.base64.len() / 4 * 3).saturating_sub(padding)
    }
}

/// Reads a notebook of format 3 or 4.
pub fn read(bytes: &[u8]) -> Result<Notebook, NotebookError> {
    let document = Document::of(bytes)?;
    let text = document.text;
    let cells = document.cells();
    let metadata = document.root.get("metadata");
    let language = ["language_info", "kernelspec"].iter().find_map(|part| {
        let part = metadata?.get(part)?;
        part.get("name").filter(|_| part.get("display_name").is_none()).or_else(|| part.get("language"))?.string(text)
    });
    let language = language.or_else(|| cells.iter().find_map(|cell| cell.get("language")?.string(text)));
    let cells = cells.iter().enumerate().map(|(index, cell)| read_cell(&document, index, cell));
    Ok(Notebook { nbformat: document.nbformat, nbformat_minor: document.minor, language, cells: cells.collect() })
}

fn read_cell(document: &Document<'_>, index: usize, cell: &Value) -> Cell {
    let text = document.text;
    let string = |name: &str| cell.get(name).and_then(|value| value.text(text));
    let count = cell.get("execution_count").or_else(|| cell.get("prompt_number"));
    let outputs = cell.get("outputs").map(Value::items).unwrap_or_default();
    Cell {
        index,
        id: document.id(cell),
        kind: string("cell_type").unwrap_or_else(|| "unknown".into()),
        source: string("source").or_else(|| string("input")).unwrap_or_default(),
        execution_count: count.and_then(|count| count.integer(text)),
        outputs: outputs.iter().flat_map(|output| read_output(text, output)).collect(),
    }
}

fn read_output(text: &str, output: &Value) -> Vec<Output> {
    let string = |name: &str| output.get(name).and_then(|value| value.text(text)).unwrap_or_default();
    match string("output_type").as_str() {
        "stream" => {
            let name = if output.get("name").is_some() { string("name") } else { string("stream") };
            vec![Output::Text { from: name, text: string("text") }]
        }
        "error" | "pyerr" => {
            let lines = output.get("traceback").map(Value::items).unwrap_or_default();
            let lines: Vec<String> = lines.iter().filter_map(|line| line.string(text)).collect();
            vec![Output::Error { name: string("ename"), value: string("evalue"), traceback: lines.join("\n") }]
        }
        kind => {
            let from = if matches!(kind, "execute_result" | "pyout") { "result" } else { "display" };
            // Format 3 has the types among the output's own fields, and short names for them.
            let bundle = output.get("data").unwrap_or(output);
            read_bundle(text, bundle, from)
        }
    }
}

const OLD_NAMES: &[(&str, &str)] = &[
    ("text", "text/plain"),
    ("html", "text/html"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("latex", "text/latex"),
    ("json", "application/json"),
    ("javascript", "application/javascript"),
];

/// One value in several types: images and plain text are shown, others only when nothing else is.
fn read_bundle(text: &str, bundle: &Value, from: &str) -> Vec<Output> {
    let (mut shown, mut others) = (Vec::new(), Vec::new());
    for member in bundle.members() {
        let long = OLD_NAMES.iter().find(|(old, _)| *old == member.name).map(|(_, long)| *long);
        let mime = long.unwrap_or(&member.name);
        if !mime.contains('/') {
            continue;
        }
        let value = member.value.text(text);
        match (mime, value) {
            ("text/plain", Some(value)) => shown.push(Output::Text { from: from.into(), text: value }),
            ("image/png" | "image/jpeg" | "image/gif" | "image/webp", Some(value)) => {
                let base64 = value.split_whitespace().collect();
                shown.insert(0, Output::Image(Image { mime: mime.into(), base64 }));
            }
            (_, value) => {
                let size = value.map_or(member.value.at.len(), |value| value.chars().count());
                let empty = matches!(member.value.kind, Kind::Null);
                others.extend((!empty).then(|| Output::Other { mime: mime.into(), size }));
            }
        }
    }
    if shown.is_empty() { others } else { shown }
}

impl Cell {
    /// The cell as a block of text, with its outputs; images as a note of type and size.
    pub fn render(&self) -> String {
        let id = self.id.as_ref().map(|id| format!(" id={id}")).unwrap_or_default();
        let count = self.execution_count.map(|n| format!(" [{n}]")).unwrap_or_default();
        let mut out = format!("=== cell {} {}{count}{id}\n{}", self.index, self.kind, self.source);
        for output in &self.outputs {
            if !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&output.render());
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out
    }
}

impl Output {
    pub fn render(&self) -> String {
        match self {
            Output::Text { from, text } => format!("--- {from}\n{text}"),
            Output::Error { name, value, traceback } if traceback.is_empty() => format!("--- error\n{name}: {value}"),
            Output::Error { traceback, .. } => format!("--- error\n{traceback}"),
            Output::Image(image) => format!("--- image\n[{}, {} bytes]", image.mime, image.bytes()),
            Output::Other { mime, size } => format!("--- display\n[{mime}, {size} characters]"),
        }
    }
}
