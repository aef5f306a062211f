//! Where lines begin and end in raw bytes, whatever the width of a code unit.
//!
//! A line ends with LF (alone or after CR). Only in a file that has no LF at all does a CR end
//! a line; elsewhere a lone CR is a character like any other.

use std::ops::Range;

use crate::encoding::Encoding;

/// How one line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Lf,
    Crlf,
    Cr,
}

impl Ending {
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Lf => "\n",
            Ending::Crlf => "\r\n",
            Ending::Cr => "\r",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ending::Lf => "LF",
            Ending::Crlf => "CRLF",
            Ending::Cr => "CR",
        }
    }
}

/// How many lines end in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    pub lf: usize,
    pub crlf: usize,
    /// CRs without a following LF. They end lines only where there is no LF in the file.
    pub cr: usize,
    /// The last line has an ending (an empty file has none).
    pub final_newline: bool,
}

impl Endings {
    /// `LF`, `CRLF`, `CR`, `mixed` or `none`.
    pub fn name(&self) -> &'static str {
        match (self.lf > 0, self.crlf > 0, self.cr > 0) {
            (false, false, false) => "none",
            (true, false, _) => "LF",
            (false, true, _) => "CRLF",
            (false, false, true) => "CR",
            (true, true, _) => "mixed",
        }
    }

    pub fn is_mixed(&self) -> bool {
        self.lf > 0 && self.crlf > 0
    }

    /// What most lines end with.
    pub fn majority(&self) -> Option<Ending> {
        if self.crlf > self.lf {
            Some(Ending::Crlf)
        } else if self.lf > 0 {
            Some(Ending::Lf)
        } else if self.cr > 0 {
            Some(Ending::Cr)
        } else {
            None
        }
    }

    /// Lines as an editor counts them: an ending at the very end starts no further line.
    pub fn lines(&self, empty: bool) -> usize {
        let ended = if self.lf + self.crlf > 0 { self.lf + self.crlf } else { self.cr };
        if empty || self.final_newline { ended } else { ended + 1 }
    }
}

/// An ending found in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Newline {
    pub at: Range<usize>,
    pub ending: Ending,
}

/// How to find line endings in the bytes of one file. Positions are whole code units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    unit: usize,
    big_endian: bool,
    /// Byte order mark; no line starts before it.
    pub bom: usize,
    /// The file has CRs and no LF.
    pub cr_only: bool,
}

impl Shape {
    pub fn of(bytes: &[u8], encoding: Encoding, bom: usize) -> Shape {
        let mut shape = Shape { unit: encoding.unit(), big_endian: encoding.big_endian(), bom, cr_only: false };
        shape.cr_only = shape.find(bytes, bom, b'\n').is_none() && shape.find(bytes, bom, b'\r').is_some();
        shape
    }

    /// For a piece of the file, which has no byte order mark.
    pub fn of_piece(self) -> Shape {
        Shape { bom: 0, ..self }
    }

    /// First unit with this ASCII value at or after `from`.
    fn find(&self, bytes: &[u8], from: usize, ascii: u8) -> Option<usize> {
        let rest = bytes.get(from..)?;
        if self.unit == 1 {
            return memchr::memchr(ascii, rest).map(|at| from + at);
        }
        self.wide(rest, from, ascii).next()
    }

    /// Units with this ASCII value in a piece that starts at `from`: its byte is looked for, then
    /// the unit around it is checked. `from` is where a unit starts.
    fn wide<'a>(&'a self, piece: &'a [u8], from: usize, ascii: u8) -> impl DoubleEndedIterator<Item = usize> + 'a {
        let place = if self.big_endian { self.unit - 1 } else { 0 };
        memchr::memchr_iter(ascii, piece).filter_map(move |at| {
            let start = at.checked_sub(place)?;
            let whole = start.is_multiple_of(self.unit) && self.unit_is(piece, start, ascii);
            whole.then_some(from + start)
        })
    }

    fn find_back(&self, bytes: &[u8], until: usize, ascii: u8) -> Option<usize> {
        let head = bytes.get(self.bom..until.min(bytes.len()))?;
        if self.unit == 1 {
            return memchr::memrchr(ascii, head).map(|at| self.bom + at);
        }
        self.wide(head, self.bom, ascii).next_back()
    }

    fn is(&self, unit: &[u8], ascii: u8) -> bool {
        let value = unit.iter().fold(0u32, |v, &b| v << 8 | u32::from(b));
        let value = if self.big_endian { value } else { value.swap_bytes() >> (32 - 8 * unit.len()) };
        value == u32::from(ascii)
    }

    fn unit_is(&self, bytes: &[u8], at: usize, ascii: u8) -> bool {
        bytes.get(at..at + self.unit).is_some_and(|unit| self.is(unit, ascii))
    }

    /// The first line ending that begins at or after `from` (or whose LF does).
    pub fn newline_from(&self, bytes: &[u8], from: usize) -> Option<Newline> {
        let terminator = if self.cr_only { b'\r' } else { b'\n' };
        let at = self.find(bytes, from, terminator)?;
        Some(self.newline_ending_with(bytes, at))
    }

    /// The last line ending that ends at or before `until`.
    pub fn newline_before(&self, bytes: &[u8], until: usize) -> Option<Newline> {
        let terminator = if self.cr_only { b'\r' } else { b'\n' };
        let at = self.find_back(bytes, until, terminator)?;
        Some(self.newline_ending_with(bytes, at))
    }

    fn newline_ending_with(&self, bytes: &[u8], at: usize) -> Newline {
        let end = at + self.unit;
        if self.cr_only {
            return Newline { at: at..end, ending: Ending::Cr };
        }
        match at.checked_sub(self.unit) {
            Some(before) if before >= self.bom && self.unit_is(bytes, before, b'\r') => {
                Newline { at: before..end, ending: Ending::Crlf }
            }
            _ => Newline { at: at..end, ending: Ending::Lf },
        }
    }

    /// A line starts here. Unlike [`Shape::line_start`], looks at one unit only.
    pub fn is_line_start(&self, bytes: &[u8], at: usize) -> bool {
        let terminator = if self.cr_only { b'\r' } else { b'\n' };
        at <= self.bom || at.checked_sub(self.unit).is_some_and(|before| self.unit_is(bytes, before, terminator))
    }

    /// Start of the line that holds `at`.
    pub fn line_start(&self, bytes: &[u8], at: usize) -> usize {
        self.newline_before(bytes, at).map_or(self.bom.min(bytes.len()), |n| n.at.end)
    }

    /// End of the line that holds `at`, its ending included.
    pub fn line_end(&self, bytes: &[u8], at: usize) -> usize {
        self.newline_from(bytes, at).map_or(bytes.len(), |n| n.at.end)
    }

    /// How many lines end inside this range.
    pub fn count(&self, bytes: &[u8], range: Range<usize>) -> usize {
        let Some(part) = bytes.get(range) else { return 0 };
        let terminator = if self.cr_only { b'\r' } else { b'\n' };
        if self.unit == 1 {
            return memchr::memchr_iter(terminator, part).count();
        }
        self.wide(part, 0, terminator).count()
    }

    /// All endings, counted.
    pub fn endings(&self, bytes: &[u8]) -> Endings {
        let body = bytes.get(self.bom..).unwrap_or_default();
        let (lf_all, cr_all, crlf);
        if self.unit == 1 {
            lf_all = memchr::memchr_iter(b'\n', body).count();
            // Most files have no CR at all: one fast look spares two passes.
            match memchr::memchr(b'\r', body) {
                None => (cr_all, crlf) = (0, 0),
                Some(first) => {
                    let (mut all, mut both) = (0, 0);
                    for at in memchr::memchr_iter(b'\r', body.get(first..).unwrap_or_default()) {
                        all += 1;
                        both += usize::from(body.get(first + at + 1) == Some(&b'\n'));
                    }
                    (cr_all, crlf) = (all, both);
                }
            }
        } else {
            let lf = self.wide(body, 0, b'\n').count();
            let (mut cr, mut both) = (0, 0);
            for at in self.wide(body, 0, b'\r') {
                cr += 1;
                both += usize::from(self.unit_is(body, at + self.unit, b'\n'));
            }
            (lf_all, cr_all, crlf) = (lf, cr, both);
        }
        let last = bytes.len().saturating_sub(self.unit);
        let final_newline = last >= self.bom
            && !body.is_empty()
            && body.len().is_multiple_of(self.unit)
            && (self.unit_is(bytes, last, b'\n') || (lf_all == 0 && self.unit_is(bytes, last, b'\r')));
        Endings { lf: lf_all - crlf, crlf, cr: cr_all - crlf, final_newline }
    }

    /// Ranges of the lines that lie in `range`, which starts at a line's start. Endings included.
    pub fn split(&self, bytes: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let end = range.end.min(bytes.len());
        let mut at = range.start;
        while at < end {
            let next = self.line_end(bytes, at).min(end).max(at + 1);
            lines.push(at..next);
            at = next;
        }
        lines
    }

    /// A line without its ending, and the ending.
    pub fn strip<'a>(&self, line: &'a [u8]) -> (&'a [u8], Option<Ending>) {
        let unmarked = self.of_piece();
        let last = line.len().saturating_sub(self.unit);
        let terminator = if self.cr_only { b'\r' } else { b'\n' };
        if line.is_empty() || !line.len().is_multiple_of(self.unit) || !unmarked.unit_is(line, last, terminator) {
            return (line, None);
        }
        let newline = unmarked.newline_ending_with(line, last);
        (line.get(..newline.at.start).unwrap_or_default(), Some(newline.ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_counted_in_every_width() {
        let text = "a\r\nb\nc\rd\r\n";
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Utf32Le, Encoding::Utf32Be] {
            let bytes = encoding.encode(text).unwrap();
            let shape = Shape::of(&bytes, encoding, 0);
            let found = shape.endings(&bytes);
            assert_eq!(found, Endings { lf: 1, crlf: 2, cr: 1, final_newline: true }, "{}", encoding.name());
            assert_eq!(shape.split(&bytes, 0..bytes.len()).len(), 3);
            assert_eq!(shape.count(&bytes, 0..bytes.len()), 3);
        }
    }

    #[test]
    fn a_cr_ends_lines_only_without_any_lf() {
        let shape = Shape::of(b"a\rb\r", Encoding::Utf8, 0);
        assert!(shape.cr_only);
        assert_eq!(shape.split(b"a\rb\r", 0..4), vec![0..2, 2..4]);
        let shape = Shape::of(b"a\rb\n", Encoding::Utf8, 0);
        assert_eq!(shape.split(b"a\rb\n", 0..4), vec![0..4]);
        assert_eq!(shape.strip(b"a\r\n"), (&b"a"[..], Some(Ending::Crlf)));
    }

    #[test]
    fn a_letter_whose_low_byte_is_ten_is_no_newline() {
        let bytes = Encoding::Utf16Be.encode("\u{0a0a}\u{0a00}x").unwrap();
        let shape = Shape::of(&bytes, Encoding::Utf16Be, 0);
        assert_eq!(shape.newline_from(&bytes, 0), None);
    }
}
