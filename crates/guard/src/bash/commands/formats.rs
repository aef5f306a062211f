//! Formats of documents whose readers take other files into them: an `include` of reStructuredText or Org, `\\input` of
//! TeX, a frame of HTML that is fetched.

use super::super::judge::{Arg, Word};
use super::spec::Parsed;

/// Formats of pandoc that hold all there is: what their readers make of a document stands in the document.
const CLOSED: &str = "markdown markdown_strict markdown_phpextra markdown_mmd commonmark commonmark_x gfm docx odt epub csv tsv \
    json native ipynb bibtex biblatex ris";

/// The ends of names by which pandoc takes a file for one of these.
const ENDS: &str = "md markdown mkd mdown txt text docx odt epub csv tsv json native ipynb bib";

/// Formats that hold the pictures of a document, which may lie anywhere.
const HOLD: &str = "docx odt pptx epub epub2 epub3 rtf fb2 icml chunkedhtml";

/// Whether the documents that pandoc is given may name others.
pub(super) fn may_include(parsed: &Parsed) -> bool {
    let is = |list: &str, name: &str| list.split_whitespace().any(|known| known == name);
    let holds =
        |format: &Arg| format.exact().is_none_or(|format| is(HOLD, format.split(['+', '-']).next().unwrap_or(format)));
    if parsed.values("t to w write").any(holds) {
        return true;
    }
    match parsed.value("f from r read").map(|format| format.exact()) {
        Some(Some(format)) => !is(CLOSED, format.split(['+', '-']).next().unwrap_or(format)),
        Some(None) => true,
        None => parsed.operands.iter().any(|file| {
            let name = match file.exact() {
                Some(name) => name,
                None => end_of(file),
            };
            let base = name.rsplit('/').next().unwrap_or(name);
            base.rsplit_once('.').is_some_and(|(_, end)| !is(ENDS, end))
        }),
    }
}

/// The end that the names of a pattern have, behind a dot; a dot alone where they may have any.
fn end_of(file: &Arg) -> &str {
    let Word::Glob { pattern, .. } = &file.word else { return "." };
    let plain = |end: &str| end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    pattern.rsplit_once('.').filter(|(_, end)| plain(end)).map_or(".", |_| pattern)
}
