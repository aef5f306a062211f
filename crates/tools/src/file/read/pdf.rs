//! The text of a PDF, page by page. Runs in a parser child; what a page looks like is not known here.

use lopdf::{Document, LoadOptions};
use nika_contract::text::harmless;
use nika_contract::{ToolError, code};
use serde_json::{Value, json};

use super::args::grouped;
use super::sheet::ANSWER_CHARS;
use super::wire::Frame;

/// First bytes of a PDF.
pub(crate) const MAGIC: &[u8] = b"%PDF-";
/// Bytes within which a PDF begins: readers pass over what a mail or a web server put before it.
pub(crate) const BEGINS_WITHIN: usize = 1024;
/// Bytes of a PDF that is parsed at all: the document takes a few times as much in memory.
pub(super) const FILE_BYTES: u64 = 64 << 20;
/// Pages in one answer: about what a model takes in at once.
const PAGES: u32 = 20;
/// What one stream of the document may unpack to.
const UNPACKED_BYTES: usize = 64 << 20;
/// Room in an answer for page headings and what is said below.
const HEADINGS_CHARS: usize = 4_000;

/// Where a PDF begins.
pub(crate) fn begin(bytes: &[u8]) -> Option<usize> {
    let head = &bytes[..bytes.len().min(BEGINS_WITHIN)];
    head.windows(MAGIC.len()).position(|window| window == MAGIC)
}

/// Pages wanted: from, and to if it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pages {
    pub from: u32,
    pub to: Option<u32>,
}

impl Pages {
    /// `3`, `1-5`, `10-`; nothing is the beginning.
    pub fn new(text: Option<&str>) -> Result<Pages, ToolError> {
        let Some(text) = text else { return Ok(Pages { from: 1, to: None }) };
        let refused = || {
            ToolError::argument("pages", format!("'{text}' is no range of pages"))
                .hint("`1-5`, `3` and `10-` are; pages count from 1")
        };
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|page| *page > 0);
        let (from, to) = match text.split_once(['-', '–']) {
            None => (number(text), number(text)),
            Some((from, "")) => (number(from), None),
            Some((from, to)) => (number(from), Some(number(to).ok_or_else(refused)?)),
        };
        let from = from.ok_or_else(refused)?;
        if to.is_some_and(|to| to < from) {
            return Err(refused());
        }
        Ok(Pages { from, to })
    }
}

/// A child's answer as text: pages under headings, and what was left out. With it, how many.
pub(crate) fn text(shown: &str, pages: Pages, frames: &[Frame]) -> Option<(String, u64)> {
    let Some(Frame::Facts(facts)) = frames.first() else { return None };
    let total = facts["pages"].as_u64()?;
    let (mut out, mut count, mut blank) = (format!("{shown}: PDF, {} pages\n", grouped(total)), 0u64, 0u64);
    if total == 1 {
        out = format!("{shown}: PDF, 1 page\n");
    }
    for pair in frames[1..].chunks(2) {
        let [Frame::Facts(page), Frame::Bytes(text)] = pair else { return None };
        let text = String::from_utf8_lossy(text);
        let text = harmless(text.trim_end());
        let heading = format!("=== page {}", page["page"].as_u64()?);
        match (page["failed"].as_bool(), text.trim().is_empty()) {
            (Some(true), _) => out.push_str(&format!("{heading}: its text could not be read\n")),
            (_, true) => {
                blank += 1;
                out.push_str(&format!("{heading} has no text (perhaps scanned)\n"));
            }
            _ => out.push_str(&format!("{heading}\n{text}\n")),
        }
        if page["cut"].as_bool() == Some(true) {
            out.push_str("[the rest of this page is left out: the answer is full]\n");
        }
        count += 1;
    }
    let (first, last) = (u64::from(pages.from), u64::from(pages.from) + count - 1);
    if count < total {
        let more = match last < total && pages.to.is_none_or(|to| u64::from(to) > last) {
            true => format!("; go on with pages=\"{}-{}\"", last + 1, (last + u64::from(PAGES)).min(total)),
            false => String::new(),
        };
        let range = if first == last { format!("page {first}") } else { format!("pages {first}–{last}") };
        out.push_str(&format!("[{range} of {}{more}]\n", grouped(total)));
    }
    if count > 1 && blank == count {
        out.push_str("[no page here has text: they may be pictures of pages]\n");
    }
    out.pop();
    Some((out, count))
}

/// Whether something that a page is drawn by is not in the file.
fn is_torn(document: &Document, number: u32) -> bool {
    let page = document.get_pages().get(&number).copied();
    page.is_none_or(|page| document.get_page_contents(page).iter().any(|id| document.get_object(*id).is_err()))
}

/// In the child: the text of the asked pages, as many as an answer takes.
pub(super) fn parse(asked: &Value, file: &[u8]) -> Result<Vec<Frame>, ToolError> {
    let pages = Pages::new(asked["pages"].as_str())?;
    let damaged = |why: String| ToolError::new(code::PARSER_FAILED, format!("the PDF cannot be read: {why}"));
    let options = LoadOptions { max_decompressed_size: Some(UNPACKED_BYTES), ..LoadOptions::default() };
    let load = |file| Document::load_mem_with_options(file, options.clone());
    // Its own places count from its beginning, or from the file's.
    let document = match begin(file).filter(|at| *at > 0) {
        Some(at) => load(&file[at..]).or_else(|_| load(file)),
        None => load(file),
    };
    let document = document.map_err(|error| match error {
        lopdf::Error::InvalidPassword => damaged("it asks for a password".into()),
        error => damaged(error.to_string()),
    })?;
    // What was opened without a password is not encrypted any more.
    if document.is_encrypted() || document.trailer.has(b"Encrypt") {
        return Err(damaged("it asks for a password".into()));
    }
    let total = u32::try_from(document.get_pages().len()).unwrap_or(u32::MAX);
    if total == 0 {
        return Err(damaged("it has no pages".into()));
    }
    if pages.from > total {
        let (from, total) = (grouped(pages.from.into()), grouped(total.into()));
        return Err(ToolError::argument("pages", format!("page {from} is beyond the end; the PDF has {total} pages")));
    }
    let last = pages.to.unwrap_or(total).min(total).min(pages.from.saturating_add(PAGES - 1));
    let mut frames = vec![Frame::Facts(json!({"pages": total}))];
    let mut room = ANSWER_CHARS - HEADINGS_CHARS;
    for number in pages.from..=last {
        let read = document.extract_text_with_limit(&[number], UNPACKED_BYTES);
        let failed = read.is_err() || is_torn(&document, number);
        let mut text = read.unwrap_or_default();
        let end = text.char_indices().nth(room).map(|(at, _)| at);
        let cut = end.is_some();
        text.truncate(end.unwrap_or(text.len()));
        room = room.saturating_sub(text.chars().count());
        frames.push(Frame::Facts(json!({"page": number, "failed": failed, "cut": cut})));
        frames.push(Frame::Bytes(text.into_bytes()));
        if cut {
            break;
        }
    }
    Ok(frames)
}

#[cfg(test)]
mod tests;
