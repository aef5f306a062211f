//! A text that fits in memory: decoded whole, so that its lines and endings are known exactly. What is
//! said below the lines, for this and for larger files, is worded here.

use nika_contract::ToolError;
use nika_edit::{Encoding, Endings, NotText, Text, decode};
use nika_host::fs::Shown;

use super::args::{Window, grouped};
use super::sheet::Sheet;

/// Lines of a text, ready to be answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub text: String,
    /// Lines shown.
    pub shown: u64,
    /// Which of the file's lines those are. One that was cut counts: there is no way to see more of it.
    pub part: Shown,
    /// Where what is said below them begins.
    pub notes_from: usize,
}

/// Why there is no page.
#[derive(Debug)]
pub(super) enum NoPage {
    NotText(NotText),
    Refused(ToolError),
}

impl From<NotText> for NoPage {
    fn from(not_text: NotText) -> NoPage {
        NoPage::NotText(not_text)
    }
}

impl From<ToolError> for NoPage {
    fn from(refused: ToolError) -> NoPage {
        NoPage::Refused(refused)
    }
}

/// The wanted lines of a whole file.
pub(super) fn page(bytes: &[u8], window: Window) -> Result<Page, NoPage> {
    let Text { body, encoding, bom, endings, invalid } = decode(bytes)?;
    if body.is_empty() {
        let but = if bom > 0 { ", but for a byte order mark" } else { "" };
        return Ok(Page { text: format!("[the file is empty{but}]"), shown: 0, part: Shown::All, notes_from: 0 });
    }
    let total = endings.lines(false) as u64;
    let first = window.first_of(total, "line")?;
    let cr_only = endings.lf + endings.crlf == 0 && endings.cr > 0;
    let rest = &body[line_start(&body, first, cr_only)..];
    let expected = window.lines.min(total + 1 - first);
    // A window in the middle takes its share of the text, as far as lines are alike.
    let share = (rest.len() as u64).min(rest.len() as u64 / (total + 1 - first).max(1) * expected * 5 / 4 + 4_096);
    let capacity = share + 8 * expected + 256;
    let mut sheet = Sheet::new(first as i64, window.lines, usize::try_from(capacity).unwrap_or(0));
    sheet.add(rest, cr_only);
    let last = first + sheet.shown - 1;
    let mut notes = Vec::new();
    let is_part = first > 1 || last < total;
    if is_part {
        notes.push(left_out(first, last, &grouped(total), last < total));
    }
    notes.extend(about(encoding, bom, endings_note(&endings), invalid));
    let page = sheet.finish(&notes);
    Ok(if is_part { page } else { Page { part: Shown::All, ..page } })
}

/// Where line `number` begins.
pub(super) fn line_start(body: &str, number: u64, cr_only: bool) -> usize {
    let terminator = if cr_only { '\r' } else { '\n' };
    match usize::try_from(number).unwrap_or(usize::MAX).checked_sub(2) {
        None => 0,
        Some(before) => body.match_indices(terminator).nth(before).map_or(body.len(), |(at, _)| at + 1),
    }
}

/// `lines 1–2,000 of 15,324; go on with offset=2001`
pub(super) fn left_out(first: u64, last: u64, total: &str, more: bool) -> String {
    let lines = if first == last {
        format!("line {} of {total}", grouped(first))
    } else {
        format!("lines {}–{} of {total}", grouped(first), grouped(last))
    };
    if more { format!("{lines}; go on with offset={}", last + 1) } else { lines }
}

/// What is unusual about the bytes: `windows-1252, CRLF`. Nothing for UTF-8 with LF.
pub(super) fn about(encoding: Encoding, bom: usize, endings: Option<String>, invalid: usize) -> Option<String> {
    let mut parts = Vec::new();
    match (encoding, bom) {
        (Encoding::Utf8, 0) => {}
        (encoding, 0) => parts.push(encoding.name().to_owned()),
        (encoding, _) => parts.push(format!("{} with byte order mark", encoding.name())),
    }
    parts.extend(endings);
    match invalid {
        0 => {}
        1 => parts.push("1 invalid sequence, shown as �".into()),
        n => parts.push(format!("{} invalid sequences, shown as �", grouped(n as u64))),
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn endings_note(endings: &Endings) -> Option<String> {
    match endings.name() {
        "LF" | "none" => None,
        "mixed" => Some(format!("mixed line endings: {} LF, {} CRLF", endings.lf, endings.crlf)),
        name => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(bytes: &[u8], offset: Option<i64>, limit: Option<i64>) -> String {
        let window = Window::new(offset, limit).expect("a window");
        page(bytes, window).expect("it is text").text
    }

    #[test]
    fn a_whole_file_has_no_footer() {
        assert_eq!(shown(b"a\nb\n", None, None), "     1\ta\n     2\tb");
        assert_eq!(shown(b"a\nb", None, None), "     1\ta\n     2\tb");
        assert_eq!(shown(b"\n", None, None), "     1\t");
    }

    #[test]
    fn an_empty_file_says_so() {
        assert_eq!(shown(b"", None, None), "[the file is empty]");
        assert_eq!(shown(b"\xef\xbb\xbf", None, None), "[the file is empty, but for a byte order mark]");
    }

    #[test]
    fn a_window_says_what_it_left_out() {
        let file = b"a\nb\nc\nd\n";
        assert_eq!(shown(file, None, Some(2)), "     1\ta\n     2\tb\n[lines 1–2 of 4; go on with offset=3]");
        assert_eq!(shown(file, Some(3), None), "     3\tc\n     4\td\n[lines 3–4 of 4]");
        assert_eq!(shown(file, Some(-1), None), "     4\td\n[line 4 of 4]");
        assert_eq!(shown(file, Some(-3), Some(1)), "     2\tb\n[line 2 of 4; go on with offset=3]");
        assert_eq!(shown(file, Some(-9), None), "     1\ta\n     2\tb\n     3\tc\n     4\td");
    }

    #[test]
    fn a_start_beyond_the_end_names_the_total() {
        let window = Window::new(Some(9), None).expect("a window");
        let Err(NoPage::Refused(refused)) = page(b"a\nb\n", window) else { panic!("there are two lines") };
        assert!(refused.to_string().contains("2 lines"), "{refused}");
    }

    /// (bytes, what is shown)
    const ENCODINGS: &[(&[u8], &str)] = &[
        (b"\xef\xbb\xbfa\n", "     1\ta\n[UTF-8 with byte order mark]"),
        (b"a\r\nb\r\n", "     1\ta\n     2\tb\n[CRLF]"),
        (b"a\rb\r", "     1\ta\n     2\tb\n[CR]"),
        (b"a\r\nb\n", "     1\ta\n     2\tb\n[mixed line endings: 1 LF, 1 CRLF]"),
        (b"\xff\xfea\0\n\0\xe9\0", "     1\ta\n     2\té\n[UTF-16LE with byte order mark]"),
        (b"\xfe\xff\0a\0\n\0b", "     1\ta\n     2\tb\n[UTF-16BE with byte order mark]"),
        (b"a\0b\0\n\0c\0", "     1\tab\n     2\tc\n[UTF-16LE]"),
        (b"\xff\xfe\0\0a\0\0\0\n\0\0\0b\0\0\0", "     1\ta\n     2\tb\n[UTF-32LE with byte order mark]"),
        (b"d\xe9j\xe0 vu, na\xefve caf\xe9\n", "     1\tdéjà vu, naïve café\n[windows-1252]"),
        (
            b"\x82\xb1\x82\xea\x82\xcd\x93\xfa\x96{\x8c\xea\x82\xcc\x95\xb6\x8f\xcd\x82\xc5\x82\xb7\x81B\x93\xc7\x82\xdf\x82\xdc\x82\xb7\x82\xa9\x81H\n",
            "     1\tこれは日本語の文章です。読めますか？\n[Shift_JIS]",
        ),
        (
            "naïve café, déjà vu — ".as_bytes(),
            "     1\tnaïve café, déjà vu — ",
        ),
    ];

    #[test]
    fn text_in_any_encoding_is_shown() {
        for (bytes, expected) in ENCODINGS {
            assert_eq!(shown(bytes, None, None), *expected, "{bytes:x?}");
        }
    }

    #[test]
    fn broken_characters_are_replaced_and_counted() {
        let mut bytes = "äöüß ".repeat(20).into_bytes();
        bytes.extend(b"\xff\n");
        let shown = shown(&bytes, None, None);
        assert!(shown.contains('\u{fffd}') && shown.ends_with("[1 invalid sequence, shown as �]"), "{shown}");
    }

    #[test]
    fn binary_is_no_page() {
        let window = Window::new(None, None).expect("a window");
        assert!(matches!(page(b"\x7fELF\x02\x01\x01\0\0", window), Err(NoPage::NotText(_))));
    }
}
