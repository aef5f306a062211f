//! A notebook's cells as text and pictures. The format is `nika_edit`'s; here it is bounded for showing.
//!
//! It is parsed in this process: the reader is ours, its depth is bounded and its work is linear. The
//! pictures in it are not ours and go to a parser child, each to its own.

use std::path::Path;

use nika_contract::text::{harmless, head_and_tail};
use nika_contract::{Block, Cx, ToolError};
use nika_edit::notebook::{self, Cell, Notebook, Output};
use nika_host::fs::Shown;
use nika_host::proc::Isolated;
use serde_json::Value;

use super::args::{Window, grouped};
use super::parse::{PICTURE, ask};
use super::picture;
use super::sheet::{ANSWER_CHARS, LINE_CHARS};

/// Bytes of a notebook that is read as one; a larger one is text.
pub(super) const FILE_BYTES: u64 = 32 << 20;
/// Characters of one output of a cell: a training log must not bury the cells.
const OUTPUT_CHARS: usize = 20_000;
/// Pictures in one answer.
const PICTURES: usize = 10;
/// Room for headings and what is said below.
const HEADINGS_CHARS: usize = 10_000;

/// A notebook's answer: blocks, and how many cells they show.
pub(super) struct Cells {
    pub blocks: Vec<Block>,
    pub shown: u64,
    /// Which cells those are, counted from 1.
    pub part: Shown,
    /// Where in the last text what is said below the cells begins.
    pub notes_from: usize,
}

/// The notebook, if these bytes are one.
pub(super) fn read(bytes: &[u8]) -> Option<Notebook> {
    notebook::read(bytes).ok()
}

/// What the cells of a notebook hold, if the file at `path` is read as one.
pub(crate) fn sources(path: &Path, bytes: &[u8]) -> Option<Vec<String>> {
    let is_one = is_named(path) && bytes.len() as u64 <= FILE_BYTES;
    let read = is_one.then(|| read(bytes)).flatten()?;
    Some(read.cells.into_iter().map(|cell| cell.source).collect())
}

/// Whether a file of this name is read as a notebook, when it is one.
pub(super) fn is_named(path: &Path) -> bool {
    path.extension().is_some_and(|name| name.eq_ignore_ascii_case("ipynb"))
}

/// The wanted cells as blocks.
pub(super) async fn cells(
    read: Notebook,
    shown: &str,
    window: Window,
    parsers: Option<&Isolated>,
    cx: &Cx<'_>,
) -> Result<Cells, ToolError> {
    let total = read.cells.len() as u64;
    let first = window.first_of(total, "cell")?;
    let language = read.language.as_ref().map(|name| format!(", {}", harmless(name))).unwrap_or_default();
    let format = format!("{}.{}", read.nbformat, read.nbformat_minor);
    let cells_word = if total == 1 { "cell" } else { "cells" };
    let mut page = Page {
        text: format!("{shown}: notebook {format}{language}, {} {cells_word}\n", grouped(total)),
        blocks: Vec::new(),
    };
    let (mut count, mut room, mut pictures) = (0, ANSWER_CHARS - HEADINGS_CHARS, 0);
    let wanted = usize::try_from(window.lines).unwrap_or(usize::MAX);
    for cell in read.cells.into_iter().skip(first as usize - 1).take(wanted) {
        let text = render(&cell);
        let chars = text.chars().count();
        if chars > room && count > 0 {
            break;
        }
        match head_and_tail(&text, room) {
            Some(cut) => page.text.push_str(&cut),
            None => page.text.push_str(&text),
        }
        room = room.saturating_sub(chars);
        count += 1;
        for output in &cell.outputs {
            let Output::Image(image) = output else { continue };
            pictures += 1;
            if pictures > PICTURES {
                continue;
            }
            cx.check_cancelled()?;
            match shown_picture(&image.base64, parsers, cx).await {
                Ok((what, block)) => page.picture(&format!("[picture of cell {}: {what}]\n", cell.index), block),
                Err(why) => page.text.push_str(&format!("[picture of cell {}: not shown, {why}]\n", cell.index)),
            }
        }
    }
    let last = first + count - 1;
    let notes_from = page.text.len();
    let part = match count < total {
        true => Shown::Parts(vec![(first.cast_signed(), last.cast_signed())]),
        false => Shown::All,
    };
    if count < total && total > 0 {
        let range = format!("[cells {} to {} of {}, counted from 1", grouped(first), grouped(last), grouped(total));
        page.text.push_str(&range);
        page.text.push_str(&if last < total { format!("; go on with offset={}]\n", last + 1) } else { "]\n".into() });
    }
    if pictures > PICTURES {
        let more = pictures - PICTURES;
        page.text.push_str(&format!("[{more} more pictures; narrow with `offset` and `limit`, which count cells]\n"));
    }
    Ok(Cells { blocks: page.finish(), shown: count, part, notes_from })
}

/// Text between pictures.
struct Page {
    text: String,
    blocks: Vec<Block>,
}

impl Page {
    fn picture(&mut self, caption: &str, block: Block) {
        self.text.push_str(caption);
        self.blocks.push(Block::Text(std::mem::take(&mut self.text)));
        self.blocks.push(block);
    }

    fn finish(mut self) -> Vec<Block> {
        if !self.text.is_empty() {
            self.blocks.push(Block::Text(self.text));
        }
        self.blocks
    }
}

/// The picture of an output, once a child has looked at it.
async fn shown_picture(base64: &str, parsers: Option<&Isolated>, cx: &Cx<'_>) -> Result<(String, Block), String> {
    if base64.len() as u64 > picture::FILE_BYTES {
        return Err("it is too large".into());
    }
    let bytes = decode_base64(base64).ok_or("its base64 is damaged")?;
    if picture::kind(&bytes).is_none() {
        return Err("it is not PNG, JPEG, GIF or WebP".into());
    }
    let frames = ask(parsers, cx, PICTURE, &Value::Null, &bytes).await.map_err(|error| error.message)?;
    let (text, block) = picture::blocks("", &bytes, &frames).ok_or("the parser's answer makes no sense")?;
    Ok((text.trim_start_matches(": ").to_owned(), block))
}

/// The cell as `nika_edit` renders it, its outputs bounded, its lines cut, its characters harmless.
fn render(cell: &Cell) -> String {
    let mut cell = cell.clone();
    for output in &mut cell.outputs {
        let (Output::Text { text, .. } | Output::Error { traceback: text, .. }) = output else { continue };
        let plain = without_colours(text);
        *text = head_and_tail(&plain, OUTPUT_CHARS).unwrap_or(plain);
    }
    let mut out = String::new();
    for line in cell.render().split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        out.push_str(&harmless(&nika_edit::cut(body.strip_suffix('\r').unwrap_or(body), LINE_CHARS).0));
        out.push_str(end);
    }
    out
}

/// Text without the sequences that colour a terminal: tracebacks are full of them.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|at| part[*at..].starts_with('m')) {
            Some(at) => out.push_str(&part[at + 1..]),
            None => {
                out.push_str("\u{1b}[");
                out.push_str(part);
            }
        }
    }
    out
}

/// The bytes of standard base64, padded or not.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    (held < 6).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_strictly() {
        assert_eq!(decode_base64("aGVsbG8="), Some(b"hello".to_vec()));
        assert_eq!(decode_base64("aGVsbG8"), Some(b"hello".to_vec()));
        assert_eq!(decode_base64(""), Some(vec![]));
        assert_eq!(decode_base64("aGVsbG8 "), None);
        assert_eq!(decode_base64("a"), None);
    }

    #[test]
    fn colours_go_and_other_escapes_stay_to_be_seen() {
        assert_eq!(without_colours("\u{1b}[0;31mError\u{1b}[0m: \u{1b}[2J"), "Error: \u{1b}[2J");
        assert_eq!(without_colours("\u{1b}["), "\u{1b}[");
    }
}
