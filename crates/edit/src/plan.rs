//! An edit worked out but not yet made: which bytes give way to which. Everything else keeps
//! its bytes, and the inverse of a plan is a plan.

use std::ops::Range;

use crate::encoding::Encoding;
use crate::find::Level;
use crate::lines::Shape;

/// A change of bytes, as spans in ascending order that do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub spans: Vec<Span>,
    pub level: Level,
    /// How many places match; also those that the change leaves as they are.
    pub count: usize,
    pub encoding: Encoding,
    pub(crate) shape: Shape,
    /// Length of the file that this plan was made for.
    pub(crate) source_len: usize,
}

/// One run of bytes that changes. Ranges are bytes; lines count from 1, their end excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The bytes that give way: no more than must.
    pub old: Range<usize>,
    /// What the old text matched, `old` included: the lines that the edit is about.
    pub matched: Range<usize>,
    /// Where the replacement stands afterwards.
    pub new: Range<usize>,
    pub with: Vec<u8>,
    pub old_lines: Range<usize>,
    pub new_lines: Range<usize>,
}

/// A replacement that is not yet placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub matched: Range<usize>,
    pub old: Range<usize>,
    pub with: Vec<u8>,
}

impl Plan {
    /// Places changes (ascending, not overlapping) in a file.
    pub(crate) fn of(bytes: &[u8], encoding: Encoding, shape: Shape, level: Level, changes: Vec<Change>) -> Plan {
        let mut spans = Vec::with_capacity(changes.len());
        let count = changes.len();
        // `line` is the line (from 0) of `at`; `grown` what earlier spans added.
        let (mut at, mut line) = (shape.bom.min(bytes.len()), 0usize);
        let (mut grown_bytes, mut grown_lines) = (0isize, 0isize);
        for Change { matched, old, with } in changes {
            line += shape.count(bytes, at..old.start);
            at = old.start;
            let inside = shape.count(bytes, old.clone());
            let partial = |end: usize| usize::from(!shape.is_line_start(bytes, end));
            let old_lines = line + 1..line + 1 + inside + if old.is_empty() { 0 } else { partial(old.end) };
            let piece = shape.of_piece();
            let added = piece.count(&with, 0..with.len());
            let unfinished = !piece.is_line_start(&with, with.len());
            let start = old.start.saturating_add_signed(grown_bytes);
            let first = (line + 1).saturating_add_signed(grown_lines);
            let new_lines = first..first + added + usize::from(unfinished);
            grown_bytes += with.len() as isize - old.len() as isize;
            grown_lines += added as isize - inside as isize;
            let new = start..start + with.len();
            spans.push(Span { old, matched, new, with, old_lines, new_lines });
        }
        Plan { spans, level, count, encoding, shape, source_len: bytes.len() }
    }

    /// The new bytes. `bytes` must be those that the plan was made for; for others the answer
    /// is meaningless (but no panic): check [`Plan::fits`] when in doubt.
    pub fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let added: usize = self.spans.iter().map(|span| span.with.len()).sum();
        let mut out = Vec::with_capacity(bytes.len() + added);
        let mut at = 0;
        for span in &self.spans {
            out.extend_from_slice(bytes.get(at..span.old.start).unwrap_or_default());
            out.extend_from_slice(&span.with);
            at = span.old.end;
        }
        out.extend_from_slice(bytes.get(at..).unwrap_or_default());
        out
    }

    /// These can be the bytes that the plan was made for: a cheap check of length and places.
    pub fn fits(&self, bytes: &[u8]) -> bool {
        bytes.len() == self.source_len && self.spans.last().is_none_or(|span| span.old.end <= bytes.len())
    }

    /// The plan that takes this one back. `bytes` are the old bytes.
    pub fn inverse(&self, bytes: &[u8]) -> Plan {
        let spans = self.spans.iter().map(|span| Span {
            old: span.new.clone(),
            matched: span.new.clone(),
            new: span.old.clone(),
            with: bytes.get(span.old.clone()).unwrap_or_default().to_vec(),
            old_lines: span.new_lines.clone(),
            new_lines: span.old_lines.clone(),
        });
        Plan { spans: spans.collect(), source_len: self.new_len(), ..self.clone_without_spans() }
    }

    /// Length of the file after the change.
    pub fn new_len(&self) -> usize {
        let gone: usize = self.spans.iter().map(|span| span.old.len()).sum();
        let added: usize = self.spans.iter().map(|span| span.with.len()).sum();
        (self.source_len + added).saturating_sub(gone)
    }

    fn clone_without_spans(&self) -> Plan {
        Plan { spans: Vec::new(), ..*self }
    }
}
