//! A file as text to search in, with a way back to its bytes.
//!
//! In a view every line ending is one `\n`, and the byte order mark is gone. The map back is a
//! list of runs in which each character takes as many bytes as its neighbour, so ASCII, or a
//! page of kanji, is one entry. Valid UTF-8 with LF endings needs no copy and no map.

use std::borrow::Cow;
use std::ops::Range;

use crate::encoding::{Encoding, Stepper};
use crate::lines::Shape;

#[derive(Debug)]
pub(crate) struct View<'a> {
    pub text: Cow<'a, str>,
    map: Map,
    /// Sequences that are no character in the encoding; each shows as U+FFFD.
    pub invalid: usize,
}

#[derive(Debug)]
enum Map {
    /// Text position plus this is the byte position.
    Shift(usize),
    Runs(Vec<Run>),
}

#[derive(Clone, Copy, Debug)]
struct Run {
    text: usize,
    byte: usize,
    text_step: usize,
    byte_step: usize,
}

impl<'a> View<'a> {
    /// A view of `bytes[range]`, which begins and ends between characters.
    pub fn of(bytes: &'a [u8], range: Range<usize>, encoding: Encoding, shape: &Shape) -> View<'a> {
        let part = bytes.get(range.clone()).unwrap_or_default();
        if encoding == Encoding::Utf8
            && let Ok(text) = std::str::from_utf8(part)
        {
            if memchr::memchr(b'\r', part).is_none() {
                return View { text: Cow::Borrowed(text), map: Map::Shift(range.start), invalid: 0 };
            }
            return View::of_utf8(text, range.start, shape.cr_only);
        }
        if encoding.is_stateful() {
            return View::by_lines(part, range.start, encoding, shape.cr_only);
        }
        View::stepping(part, range.start, encoding, shape.cr_only)
    }

    /// Copies between CRs; much faster than stepping.
    fn of_utf8(text: &str, start: usize, cr_only: bool) -> View<'a> {
        let mut builder = Builder::new(text.len(), start);
        if cr_only {
            builder.push(&text.replace('\r', "\n"), text.len(), 1, 1);
            return builder.finish(0);
        }
        let mut from = 0;
        for at in memchr::memchr_iter(b'\r', text.as_bytes()) {
            if text.as_bytes().get(at + 1) != Some(&b'\n') {
                continue;
            }
            builder.push_plain(text.get(from..at).unwrap_or_default());
            builder.push("\n", 2, 1, 2);
            from = at + 2;
        }
        builder.push_plain(text.get(from..).unwrap_or_default());
        builder.finish(0)
    }

    fn stepping(part: &[u8], start: usize, encoding: Encoding, cr_only: bool) -> View<'a> {
        let stepper = Stepper::new(encoding);
        let mut builder = Builder::new(part.len(), start);
        let (mut at, mut invalid) = (0, 0);
        let mut utf8 = [0; 8];
        let unit = encoding.unit();
        while at < part.len() {
            let ascii = builder.push_ascii(part.get(at..).unwrap_or_default(), unit, encoding.big_endian());
            if ascii > 0 {
                at += ascii;
                continue;
            }
            let mut step = stepper.step(part, at);
            if step.first == '\r' && cr_only {
                step.first = '\n';
            } else if step.first == '\r' {
                let next = part.get(at + step.len..).filter(|rest| !rest.is_empty());
                if let Some(after) = next.map(|_| stepper.step(part, at + step.len))
                    && after.first == '\n'
                {
                    step.first = '\n';
                    step.len += after.len;
                }
            }
            invalid += usize::from(step.invalid);
            let mut len = step.first.encode_utf8(&mut utf8).len();
            if let Some(second) = step.second {
                len += second.encode_utf8(utf8.get_mut(len..).unwrap_or_default()).len();
            }
            let text = utf8.get(..len).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("\u{fffd}");
            builder.push(text, step.len, text.len(), step.len);
            at += step.len;
        }
        builder.finish(invalid)
    }

    /// For stateful encodings: only line boundaries are known. Newlines are bytes of their own.
    fn by_lines(part: &[u8], start: usize, encoding: Encoding, cr_only: bool) -> View<'a> {
        let mut builder = Builder::new(part.len(), start);
        let terminator = if cr_only { b'\r' } else { b'\n' };
        for line in part.split_inclusive(|b| *b == terminator) {
            let mut text = encoding.decode(line).into_owned();
            if cr_only && text.ends_with('\r') {
                text.pop();
                text.push('\n');
            } else if text.ends_with("\r\n") {
                text.truncate(text.len() - 2);
                text.push('\n');
            }
            builder.push(&text, line.len(), text.len(), line.len());
        }
        builder.finish(0)
    }

    /// The byte where the character at `at` begins; `None` inside what bytes do not part.
    pub fn byte(&self, at: usize) -> Option<usize> {
        match &self.map {
            Map::Shift(shift) => Some(at + shift),
            Map::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.text <= at).checked_sub(1)?)?;
                let into = at - run.text;
                into.is_multiple_of(run.text_step).then(|| run.byte + into / run.text_step * run.byte_step)
            }
        }
    }

    pub fn bytes(&self, range: Range<usize>) -> Option<Range<usize>> {
        Some(self.byte(range.start)?..self.byte(range.end)?)
    }
}

struct Builder {
    text: String,
    byte: usize,
    runs: Vec<Run>,
    gap: bool,
}

impl Builder {
    fn new(capacity: usize, start: usize) -> Builder {
        Builder { text: String::with_capacity(capacity), byte: start, runs: Vec::new(), gap: false }
    }

    /// Characters that take `byte_step` bytes for each `text_step`.
    fn push(&mut self, text: &str, bytes: usize, text_step: usize, byte_step: usize) {
        if text.is_empty() {
            // Bytes that show nothing (escape sequences): the next run starts after them.
            self.byte += bytes;
            self.gap |= bytes > 0;
            return;
        }
        let same = self.runs.last().is_some_and(|run| run.text_step == text_step && run.byte_step == byte_step);
        if !same || std::mem::take(&mut self.gap) {
            self.runs.push(Run { text: self.text.len(), byte: self.byte, text_step, byte_step });
        }
        self.text.push_str(text);
        self.byte += bytes;
    }

    /// Takes the ASCII that `rest` begins with, up to a CR; says how many bytes that was.
    fn push_ascii(&mut self, rest: &[u8], unit: usize, big_endian: bool) -> usize {
        let plain = |byte: u8| byte.is_ascii() && byte != b'\r';
        let start = self.text.len();
        let run = Run { text: start, byte: self.byte, text_step: 1, byte_step: unit };
        if unit == 1 {
            let len = rest.iter().position(|byte| !plain(*byte)).unwrap_or(rest.len());
            self.text.push_str(rest.get(..len).and_then(|ascii| std::str::from_utf8(ascii).ok()).unwrap_or_default());
        } else {
            for chunk in rest.chunks_exact(unit) {
                let (value, others) =
                    if big_endian { chunk.split_last() } else { chunk.split_first() }.unwrap_or((&0x80, &[]));
                if !plain(*value) || others.iter().any(|byte| *byte != 0) {
                    break;
                }
                self.text.push(char::from(*value));
            }
        }
        let len = (self.text.len() - start) * unit;
        if len > 0 {
            let same = self.runs.last().is_some_and(|last| last.text_step == 1 && last.byte_step == unit);
            if !same || std::mem::take(&mut self.gap) {
                self.runs.push(run);
            }
            self.byte += len;
        }
        len
    }

    fn push_plain(&mut self, text: &str) {
        self.push(text, text.len(), 1, 1);
    }

    fn finish<'a>(mut self, invalid: usize) -> View<'a> {
        self.runs.push(Run { text: self.text.len(), byte: self.byte, text_step: 1, byte_step: 1 });
        View { text: Cow::Owned(self.text), map: Map::Runs(self.runs), invalid }
    }
}
