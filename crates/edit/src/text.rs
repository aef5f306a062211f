//! Bytes as text to show: decoded, with encoding, byte order mark and line endings told.

use std::borrow::Cow;

use crate::detect::{Detected, NotText, inspect};
use crate::encoding::{Encoding, Stepper};
use crate::lines::{Ending, Endings, Shape};

/// A decoded file. The body has the file's own line endings and no byte order mark.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    pub body: Cow<'a, str>,
    pub encoding: Encoding,
    /// Length of the byte order mark in bytes, 0 without one.
    pub bom: usize,
    pub endings: Endings,
    /// Sequences that are no character in the encoding; each shows as U+FFFD.
    pub invalid: usize,
}

/// Decodes a whole file for showing. Borrowed when it is ASCII or valid UTF-8.
pub fn decode(bytes: &[u8]) -> Result<Text<'_>, NotText> {
    let (Detected { encoding, bom }, valid) = inspect(bytes)?;
    let shape = Shape::of(bytes, encoding, bom);
    let rest = bytes.get(bom..).unwrap_or_default();
    let body = valid.map_or_else(|| encoding.decode(rest), Cow::Borrowed);
    let invalid = match &body {
        Cow::Borrowed(_) => 0,
        Cow::Owned(text) if text.contains('\u{fffd}') => count_invalid(encoding, rest),
        Cow::Owned(_) => 0,
    };
    Ok(Text { body, encoding, bom, endings: shape.endings(bytes), invalid })
}

fn count_invalid(encoding: Encoding, bytes: &[u8]) -> usize {
    if encoding.is_stateful() {
        return 0;
    }
    let stepper = Stepper::new(encoding);
    let (mut at, mut invalid) = (0, 0);
    while at < bytes.len() {
        let step = stepper.step(bytes, at);
        invalid += usize::from(step.invalid);
        at += step.len;
    }
    invalid
}

/// One line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Without its ending, cut at the asked length and then marked `… [+1234 chars]`.
    pub text: Cow<'a, str>,
    pub ending: Option<Ending>,
    /// Characters that are not shown.
    pub cut: usize,
}

/// The lines of a text, each cut after `max_chars` characters (never inside one).
///
/// A CR without LF ends a line only when the text has no LF at all, as everywhere here. For a
/// piece of a larger file, say so with [`lines_of`].
pub fn lines(text: &str, max_chars: usize) -> impl Iterator<Item = Line<'_>> {
    let cr_only = !text.contains('\n') && text.contains('\r');
    lines_of(text, max_chars, cr_only)
}

/// As [`lines`], where the caller knows whether the whole file has only CR endings.
pub fn lines_of(text: &str, max_chars: usize, cr_only: bool) -> impl Iterator<Item = Line<'_>> {
    let terminator = if cr_only { '\r' } else { '\n' };
    text.split_inclusive(terminator).map(move |line| {
        let (body, ending) = if cr_only {
            line.strip_suffix('\r').map_or((line, None), |body| (body, Some(Ending::Cr)))
        } else if let Some(body) = line.strip_suffix("\r\n") {
            (body, Some(Ending::Crlf))
        } else {
            line.strip_suffix('\n').map_or((line, None), |body| (body, Some(Ending::Lf)))
        };
        let (text, cut) = cut(body, max_chars);
        Line { text, ending, cut }
    })
}

/// At most `max_chars` characters of a line; the rest is counted in a mark at its end.
pub fn cut(line: &str, max_chars: usize) -> (Cow<'_, str>, usize) {
    if line.len() <= max_chars {
        return (Cow::Borrowed(line), 0);
    }
    let Some((at, _)) = line.char_indices().nth(max_chars) else { return (Cow::Borrowed(line), 0) };
    let (shown, rest) = line.split_at(at);
    let count = rest.chars().count();
    (Cow::Owned(format!("{shown}… [+{count} chars]")), count)
}

/// How much of `bytes` is whole lines in this encoding: everything up to and with the last line
/// ending. A reader of a huge file decodes this much and keeps the rest for the next piece.
/// `bytes` begins at a character, after any byte order mark.
pub fn whole_lines(bytes: &[u8], encoding: Encoding, cr_only: bool) -> usize {
    let mut shape = Shape::of(&[], encoding, 0);
    shape.cr_only = cr_only;
    shape.newline_before(bytes, bytes.len()).map_or(0, |newline| newline.at.end)
}

/// How many lines end in `bytes`, which begins at a character, after any byte order mark.
pub fn count_lines(bytes: &[u8], encoding: Encoding, cr_only: bool) -> usize {
    let mut shape = Shape::of(&[], encoding, 0);
    shape.cr_only = cr_only;
    shape.count(bytes, 0..bytes.len())
}
