//! Unified diffs for people and models: of a plan, straight from its spans, and of any two
//! versions of a file. Bounded in time, in lines and in the length of a line.
//!
//! For showing, not for `patch`: text is decoded, long lines are cut, and where a shown part
//! mixes line endings, CRLF lines end in `␍`.

use std::borrow::Cow;
use std::ops::Range;

use crate::detect::detect;
use crate::encoding::Encoding;
use crate::linediff::{self, Differing};
use crate::lines::{Ending, Shape};
use crate::plan::{Plan, Span};
use crate::text::cut;

/// How the line of what is no text begins.
pub const BINARY_FILES: &str = "Binary files ";
/// How the line of a directory begins that is shown as one, as it was made and filled at once.
pub const NEW_DIRECTORY: &str = "New directory ";

/// How much of a diff is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Unchanged lines around a change.
    pub context: usize,
    /// Lines in all; the rest is counted.
    pub max_lines: usize,
    /// Characters of one line.
    pub max_line_chars: usize,
}

impl Default for Limits {
    /// 3 lines of context, 500 lines (some 20 KB of code, which a result can carry), 500
    /// characters a line (longer ones are minified or data).
    fn default() -> Limits {
        Limits { context: 3, max_lines: 500, max_line_chars: 500 }
    }
}

impl Plan {
    /// The change as a unified diff. `bytes` are the old bytes.
    pub fn diff(&self, bytes: &[u8], path: &str) -> String {
        self.diff_within(bytes, path, &Limits::default())
    }

    /// As [`Plan::diff`], with limits of one's own.
    pub fn diff_within(&self, bytes: &[u8], path: &str, limits: &Limits) -> String {
        let mut page = Page::new(&format!("a/{path}"), &format!("b/{path}"), *limits);
        let mut spans = self.spans.as_slice();
        while let Some(first) = spans.first() {
            let (group, range) = self.group(bytes, spans, limits.context);
            spans = spans.get(group.len()..).unwrap_or_default();
            if page.is_full() {
                page.unshown += group.iter().map(|span| span.old_lines.len() + span.new_lines.len()).sum::<usize>();
                continue;
            }
            let before = self.shape.count(bytes, range.start..first.old.start.max(range.start));
            let old_first = first.old_lines.start.saturating_sub(before);
            let new_first = first.new_lines.start.saturating_sub(before);
            let mut new = Vec::new();
            let mut at = range.start;
            for span in group {
                new.extend_from_slice(bytes.get(at..span.old.start).unwrap_or_default());
                new.extend_from_slice(&span.with);
                at = span.old.end;
            }
            new.extend_from_slice(bytes.get(at..range.end).unwrap_or_default());
            let piece = self.shape.of_piece();
            let old_part = bytes.get(range).unwrap_or_default();
            let window = Window {
                old: slices(&piece, old_part),
                new: slices(&piece, &new),
                old_first,
                new_first,
                encoding: self.encoding,
                shape: piece,
            };
            page.window(&window);
        }
        page.finish()
    }

    /// The leading spans whose surroundings meet, and those surroundings: whole lines.
    fn group<'s>(&self, bytes: &[u8], spans: &'s [Span], context: usize) -> (&'s [Span], Range<usize>) {
        let shape = &self.shape;
        let back = |at: usize| {
            (0..context).fold(shape.line_start(bytes, at), |at, _| match at.checked_sub(1) {
                Some(_) if at > shape.bom => {
                    shape.newline_before(bytes, at).map_or(shape.bom, |n| shape.line_start(bytes, n.at.start))
                }
                _ => at,
            })
        };
        let ahead = |at: usize| (0..context).fold(at, |at, _| shape.line_end(bytes, at));
        let mut range = 0..0;
        // End of the line of the span before: many spans in one long line look for it once.
        let mut line_end = 0;
        let mut taken = 0;
        for span in spans {
            if taken == 0 {
                range.start = back(span.old.start);
            } else if span.old.start > range.end && back(span.old.start) > range.end {
                break;
            }
            if taken == 0 || span.old.end >= line_end {
                line_end = shape.line_end(bytes, span.old.end);
                range.end = range.end.max(ahead(line_end));
            }
            taken += 1;
        }
        (spans.get(..taken).unwrap_or(spans), range)
    }
}

/// The difference between two versions of a file; `None` is a file that is not there.
/// Empty when nothing differs.
pub fn unified(old: Option<&[u8]>, new: Option<&[u8]>, path: &str, limits: &Limits) -> String {
    if old == new {
        return String::new();
    }
    let name = |side: &str, bytes: Option<&[u8]>| bytes.map_or("/dev/null".to_owned(), |_| format!("{side}/{path}"));
    let (old_name, new_name) = (name("a", old), name("b", new));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let (Ok(old_is), Ok(new_is)) = (detect(old), detect(new)) else {
        return format!("{BINARY_FILES}{old_name} and {new_name} differ ({} → {} bytes)\n", old.len(), new.len());
    };
    let mut page = Page::new(&old_name, &new_name, *limits);
    let (mut old_body, mut new_body) =
        (old.get(old_is.bom..).unwrap_or_default(), new.get(new_is.bom..).unwrap_or_default());
    let mut encoding = new_is.encoding;
    let (old_text, new_text);
    if !old_body.is_empty() && !new_body.is_empty() {
        if old_is.encoding != new_is.encoding {
            page.note(&format!("Encoding: {} → {}", old_is.encoding.name(), new_is.encoding.name()));
            old_text = old_is.encoding.decode(old_body);
            new_text = new_is.encoding.decode(new_body);
            (old_body, new_body, encoding) = (old_text.as_bytes(), new_text.as_bytes(), Encoding::Utf8);
        }
        match (old_is.bom > 0, new_is.bom > 0) {
            (true, false) => page.note("Byte order mark removed"),
            (false, true) => page.note("Byte order mark added"),
            _ => {}
        }
    } else if new_body.is_empty() {
        encoding = old_is.encoding;
    }
    // A file of CRs only is lines on its own side, too.
    let shape = Shape::of(if new_body.is_empty() { old_body } else { new_body }, encoding, 0);
    let window = Window {
        old: slices(&Shape::of(old_body, encoding, 0), old_body),
        new: slices(&Shape::of(new_body, encoding, 0), new_body),
        old_first: 1,
        new_first: 1,
        encoding,
        shape,
    };
    page.window(&window);
    page.finish()
}

/// Neighbouring lines of both versions, from which hunks are made.
struct Window<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    /// Line numbers of the first lines.
    old_first: usize,
    new_first: usize,
    encoding: Encoding,
    shape: Shape,
}

fn slices<'a>(shape: &Shape, bytes: &'a [u8]) -> Vec<&'a [u8]> {
    shape.split(bytes, 0..bytes.len()).into_iter().filter_map(|line| bytes.get(line)).collect()
}

/// The diff as it grows.
struct Page {
    out: String,
    limits: Limits,
    lines: usize,
    unshown: usize,
}

impl Page {
    fn new(old: &str, new: &str, limits: Limits) -> Page {
        Page { out: format!("--- {old}\n+++ {new}\n"), limits, lines: 0, unshown: 0 }
    }

    fn is_full(&self) -> bool {
        self.lines >= self.limits.max_lines
    }

    fn note(&mut self, text: &str) {
        self.out.push_str("\\ ");
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn window(&mut self, window: &Window<'_>) {
        let blocks = linediff::diff(&window.old, &window.new);
        let has = |lines: &[&[u8]], ending| lines.iter().any(|line| window.shape.strip(line).1 == Some(ending));
        let mixed = [Ending::Lf, Ending::Crlf].iter().all(|e| has(&window.old, *e) || has(&window.new, *e));
        let context = self.limits.context;
        let mut blocks = blocks.as_slice();
        while let Some(first) = blocks.first() {
            let near = blocks.windows(2).take_while(|pair| pair[1].old.start - pair[0].old.end <= 2 * context).count();
            let (hunk, rest) = blocks.split_at(near + 1);
            blocks = rest;
            let last = hunk.last().unwrap_or(first);
            let lead = context.min(first.old.start);
            let trail = context.min(window.old.len() - last.old.end);
            self.hunk(window, hunk, lead, trail, mixed);
        }
    }

    fn hunk(&mut self, window: &Window<'_>, blocks: &[Differing], lead: usize, trail: usize, mixed: bool) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return };
        let old = first.old.start - lead..last.old.end + trail;
        let new = first.new.start - lead..last.new.end + trail;
        // A side without lines is named by the line before it.
        let start =
            |from: usize, range: &Range<usize>| (from + range.start).saturating_sub(usize::from(range.is_empty()));
        let header = format!(
            "@@ -{},{} +{},{} @@\n",
            start(window.old_first, &old),
            old.len(),
            start(window.new_first, &new),
            new.len()
        );
        self.push(|out, _| out.push_str(&header));
        let mut at = old.start;
        for block in blocks {
            self.lines(window, ' ', window.old.get(at..block.old.start), mixed);
            self.lines(window, '-', window.old.get(block.old.clone()), mixed);
            self.lines(window, '+', window.new.get(block.new.clone()), mixed);
            at = block.old.end;
        }
        self.lines(window, ' ', window.old.get(at..old.end), mixed);
    }

    fn lines(&mut self, window: &Window<'_>, sign: char, lines: Option<&[&[u8]]>, mixed: bool) {
        for line in lines.unwrap_or_default() {
            self.push(|out, limits| {
                let (body, ending) = window.shape.strip(line);
                let text: Cow<'_, str> = window.encoding.decode(body);
                out.push(sign);
                out.push_str(&cut(&text, limits.max_line_chars).0);
                if mixed && ending == Some(Ending::Crlf) {
                    out.push('␍');
                }
                out.push('\n');
                if ending.is_none() {
                    out.push_str("\\ No newline at end of file\n");
                }
            });
        }
    }

    fn push(&mut self, write: impl FnOnce(&mut String, &Limits)) {
        if self.is_full() {
            self.unshown += 1;
        } else {
            self.lines += 1;
            write(&mut self.out, &self.limits);
        }
    }

    fn finish(mut self) -> String {
        if self.unshown > 0 {
            self.out.push_str(&format!("… {} more lines of this diff are not shown\n", self.unshown));
        }
        self.out
    }
}
