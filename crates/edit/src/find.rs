//! Where a text stands in a file: exactly, or but for blanks at line ends. Nothing looser is a
//! match; what comes near is `near`'s matter.
//!
//! `\n` in the sought text stands for the file's own ending at that place.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use crate::detect::{Detected, Inspected};
use crate::encoding::Encoding;
use crate::lines::{Ending, Shape};
use crate::view::View;

/// How closely the old text matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Character for character, line endings being the file's own.
    Exact,
    /// Spaces or tabs at line ends differ, and nothing else.
    TrailingBlanks,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Exact => "exact",
            Level::TrailingBlanks => "trailing blanks",
        }
    }
}

/// Byte ranges of the matches, left to right, not overlapping unless they were to be counted; empty when there is none.
#[derive(Debug)]
pub(crate) struct Found {
    pub level: Level,
    pub hits: Vec<Range<usize>>,
}

/// One file, seen as text; the view is made only when the fast path cannot answer.
#[derive(Debug)]
pub(crate) struct Haystack<'a> {
    pub bytes: &'a [u8],
    pub encoding: Encoding,
    pub shape: Shape,
    valid_utf8: bool,
    view: Option<View<'a>>,
}

impl<'a> Haystack<'a> {
    pub fn new(bytes: &'a [u8], (detected, valid): Inspected<'a>) -> Haystack<'a> {
        let Detected { encoding, bom } = detected;
        Haystack { bytes, encoding, shape: Shape::of(bytes, encoding, bom), valid_utf8: valid.is_some(), view: None }
    }

    pub fn body(&self) -> Range<usize> {
        self.shape.bom.min(self.bytes.len())..self.bytes.len()
    }

    pub fn view(&mut self) -> &View<'a> {
        let body = self.body();
        let (bytes, encoding, shape) = (self.bytes, self.encoding, self.shape);
        self.view.get_or_insert_with(|| View::of(bytes, body, encoding, &shape))
    }

    /// The view for keeps; the next call of [`Haystack::view`] makes another.
    pub fn take_view(&mut self) -> View<'a> {
        self.view();
        let body = self.body();
        self.view.take().unwrap_or_else(|| View::of(self.bytes, body, self.encoding, &self.shape))
    }

    /// The sought text with every ending as `\n`, and without a mark that the file also has.
    pub fn normal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = if self.shape.bom > 0 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        if !text.contains('\r') {
            return Cow::Borrowed(text);
        }
        let text = text.replace("\r\n", "\n");
        Cow::Owned(if self.shape.cr_only { text.replace('\r', "\n") } else { text })
    }

    /// All matches of `old` (normalised; `sent` as it came) at the strictest level that has any. Where one is wanted
    /// and the only one overlaps with others, with these: which is meant is as open as with two apart.
    pub fn find(&mut self, old: &str, sent: &str, wanted: Wanted) -> Found {
        let mut hits = self.exact(old, wanted);
        if sent.contains("\r\n") && hits.len() > 1 {
            // Asked for CRLF where the file has both: the places that really have it are meant.
            let strict: Vec<_> = hits.iter().filter(|hit| self.has_asked_endings(hit, sent)).cloned().collect();
            if !strict.is_empty() {
                hits = strict;
            }
        }
        if !hits.is_empty() {
            return Found { level: Level::Exact, hits };
        }
        Found { level: Level::TrailingBlanks, hits: self.but_for_trailing_blanks(old) }
    }

    fn exact(&mut self, old: &str, wanted: Wanted) -> Vec<Range<usize>> {
        if let Some(needle) = self.raw_needle(old) {
            let start = self.body().start;
            let body = self.bytes.get(self.body()).unwrap_or_default();
            let place = |at: usize| Some(start + at..start + at + needle.len());
            return all(body, needle.as_bytes(), needle.len(), wanted, place);
        }
        let view = self.view();
        all(view.text.as_bytes(), old.as_bytes(), old.len(), wanted, |at| view.bytes(at..at + old.len()))
    }

    /// The bytes to look for, when looking for bytes is enough: valid UTF-8, and each `\n` in
    /// the old text can stand for one ending only.
    fn raw_needle<'t>(&self, old: &'t str) -> Option<Cow<'t, str>> {
        if !self.valid_utf8 {
            return None;
        }
        if old.contains('\r') {
            return None;
        }
        let body = self.bytes.get(self.body())?;
        if !old.contains('\n') || memchr::memchr(b'\r', body).is_none() {
            return Some(Cow::Borrowed(old));
        }
        if self.shape.cr_only {
            return Some(Cow::Owned(old.replace('\n', "\r")));
        }
        let endings = self.shape.endings(self.bytes);
        (endings.lf == 0 && endings.cr == 0).then(|| Cow::Owned(old.replace('\n', "\r\n")))
    }

    fn has_asked_endings(&self, hit: &Range<usize>, sent: &str) -> bool {
        let mut at = hit.start;
        sent.match_indices('\n').all(|(end, _)| {
            let asked_crlf = sent.get(..end).is_some_and(|before| before.ends_with('\r'));
            let Some(newline) = self.shape.newline_from(self.bytes, at) else { return true };
            at = newline.at.end;
            !asked_crlf || newline.ending == Ending::Crlf
        })
    }

    fn but_for_trailing_blanks(&mut self, old: &str) -> Vec<Range<usize>> {
        if old.trim().is_empty() {
            return Vec::new();
        }
        let needle = Stripped::of(old, false).text;
        // Blanks at the very end of the old text may only stand for blanks at a line's end.
        let bare = needle.trim_end_matches(BLANKS);
        let ends_in_blanks = bare.len() < needle.len();
        let view = self.view();
        let hay = Stripped::of(&view.text, true);
        let place = |at: usize| {
            let end = at + bare.len();
            let range =
                hay.source_after(at)..if ends_in_blanks { hay.source_after(end) } else { hay.source_before(end) };
            view.bytes(range)
        };
        if !ends_in_blanks {
            return all(hay.text.as_bytes(), bare.as_bytes(), bare.len(), Wanted::One, place);
        }
        let mut hits = all(hay.text.as_bytes(), format!("{bare}\n").as_bytes(), bare.len(), Wanted::One, place);
        hits.extend(hay.text.strip_suffix(bare).and_then(|before| place(before.len())));
        hits
    }
}

const BLANKS: [char; 2] = [' ', '\t'];

/// How many matches an edit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    One,
    All,
}

/// Matches that overlap are looked for no further: each look costs as much as the old text is long.
const MAX_OVERLAPPING: usize = 12;

/// Left to right; the next may start `length` after one. A place that `accept` refuses hides
/// nothing after it. Where one is wanted and one is found, those that overlap with it come, too.
pub(crate) fn all(
    hay: &[u8],
    needle: &[u8],
    length: usize,
    wanted: Wanted,
    accept: impl Fn(usize) -> Option<Range<usize>>,
) -> Vec<Range<usize>> {
    let finder = memmem::Finder::new(needle);
    let next = |mut from: usize| loop {
        let at = from + finder.find(hay.get(from..)?)?;
        match accept(at) {
            Some(hit) => return Some((at, hit)),
            None => from = at + 1,
        }
    };
    let walk = |step: usize| std::iter::successors(next(0), move |(at, _)| next(at + step)).map(|(_, hit)| hit);
    let apart: Vec<Range<usize>> = walk(length.max(1)).collect();
    if wanted == Wanted::All || apart.len() != 1 { apart } else { walk(1).take(MAX_OVERLAPPING).collect() }
}

/// A text without the blanks before each `\n` (and, when asked, before its end).
struct Stripped {
    text: String,
    /// Where blanks were left out: position here, and behind them in the source.
    gaps: Vec<(usize, usize)>,
}

impl Stripped {
    fn of(source: &str, at_end_too: bool) -> Stripped {
        let mut stripped = Stripped { text: String::with_capacity(source.len()), gaps: Vec::new() };
        let (mut from, mut line_start) = (0, 0);
        let ends = memchr::memchr_iter(b'\n', source.as_bytes()).chain(at_end_too.then_some(source.len()));
        for end in ends {
            let line = source.get(line_start..end).unwrap_or_default();
            let kept = line_start + line.trim_end_matches(BLANKS).len();
            line_start = end + 1;
            if kept < end {
                stripped.text.push_str(source.get(from..kept).unwrap_or_default());
                stripped.gaps.push((stripped.text.len(), end));
                from = end;
            }
        }
        stripped.text.push_str(source.get(from..).unwrap_or_default());
        stripped
    }

    /// The place in the source, behind blanks that were left out there.
    fn source_after(&self, at: usize) -> usize {
        match self.gaps.partition_point(|gap| gap.0 <= at).checked_sub(1).and_then(|n| self.gaps.get(n)) {
            Some((here, after)) => after + (at - here),
            None => at,
        }
    }

    /// The place in the source, in front of blanks that were left out there.
    fn source_before(&self, at: usize) -> usize {
        match self.gaps.partition_point(|gap| gap.0 < at).checked_sub(1).and_then(|n| self.gaps.get(n)) {
            Some((here, after)) => after + (at - here),
            None => at,
        }
    }
}
