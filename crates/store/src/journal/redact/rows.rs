//! Where in a table the rows stand that a word's first three bytes leave: most words of a text are passed over with one
//! look.

use std::ops::Range;

/// The places of a table's rows. The table is sorted by first bytes.
pub(super) struct Rows {
    /// For each first byte, from which row to before which.
    firsts: [(u8, u8); 256],
    /// For each first byte, which second bytes follow, a bit for eight of them.
    seconds: [u32; 256],
    /// And which third bytes follow behind any of those.
    thirds: [u32; 256],
}

impl Rows {
    pub(super) const NONE: Rows = Rows { firsts: [(0, 0); 256], seconds: [0; 256], thirds: [0; 256] };

    /// These, and the row at `at`, which begins with `word`.
    pub(super) const fn with(mut self, word: &str, at: usize) -> Rows {
        let (first, second) = (word.as_bytes()[0] as usize, word.as_bytes()[1]);
        if self.firsts[first].1 == 0 {
            self.firsts[first].0 = at as u8;
        }
        self.firsts[first].1 = at as u8 + 1;
        self.seconds[first] |= 1 << (second & 31);
        // Behind a word of two bytes stands anything.
        self.thirds[first] |= if word.len() > 2 { 1 << (word.as_bytes()[2] & 31) } else { u32::MAX };
        self
    }

    /// The rows that the word at `at` may be one of.
    #[inline]
    pub(super) fn of(&self, bytes: &[u8], at: usize) -> Range<usize> {
        let first = usize::from(bytes[at]);
        let follows = bytes.get(at + 1).is_some_and(|second| self.seconds[first] & (1 << (second & 31)) != 0)
            && bytes.get(at + 2).is_some_and(|third| self.thirds[first] & (1 << (third & 31)) != 0);
        let (from, to) = if follows { self.firsts[first] } else { (0, 0) };
        usize::from(from)..usize::from(to)
    }
}
