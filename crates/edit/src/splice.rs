//! What stands in the place of a match: as few bytes as possible, in the file's own encoding,
//! with its neighbours' line endings.

use std::ops::Range;

use crate::encoding::{Encoding, Unencodable};
use crate::find::{Haystack, Level};
use crate::lines::Ending;
use crate::plan::Change;
use crate::view::View;

/// Why a replacement could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unspliceable {
    Unencodable(Unencodable),
    /// The new text has U+FFFD, which here stands for broken bytes, but not as often as the old.
    Broken {
        at: usize,
    },
    /// Re-encoding the touched lines would change more than was asked.
    NotRoundTrip {
        at: usize,
    },
}

/// The change for one match. `old` and `new` have `\n` endings only.
pub(crate) fn change(
    hay: &Haystack<'_>,
    hit: &Range<usize>,
    level: Level,
    old: &str,
    new: &str,
    line: &mut LineEnding,
) -> Result<Change, Unspliceable> {
    let local = View::of(hay.bytes, hit.clone(), hay.encoding, &hay.shape);
    let text: &str = &local.text;
    // `kept` text before and behind stays; between them `old_middle` becomes `new_middle`.
    let (before, behind, new_middle) = match level {
        Level::Exact => trim_characters(old, new),
        Level::TrailingBlanks => trim_lines(old, new, text),
    };
    let (mut start, mut end) = (before, text.len().saturating_sub(behind).max(before));
    let mut widened = String::new();
    // Two characters can share bytes (Big5): step out to where the bytes part.
    while start > 0 && (!text.is_char_boundary(start) || local.byte(start).is_none()) {
        start -= 1;
    }
    while end < text.len() && (!text.is_char_boundary(end) || local.byte(end).is_none()) {
        end += 1;
    }
    widened.push_str(text.get(start..before).unwrap_or_default());
    widened.push_str(new_middle);
    widened.push_str(text.get(text.len().saturating_sub(behind).max(before)..end).unwrap_or_default());

    let range = local.bytes(start..end).unwrap_or_else(|| hit.clone());
    let old_middle = text.get(start..end).unwrap_or_default();
    let with_endings = set_endings(hay, hit, &range, old_middle, &widened, line);
    let with = encode_around_broken(hay, &local, start, old_middle, &with_endings)?;
    Ok(Change { matched: hit.clone(), old: range, with })
}

/// Lengths of the common beginning and end, and what is new between them.
fn trim_characters<'n>(old: &str, new: &'n str) -> (usize, usize, &'n str) {
    let before: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let (old_rest, new_rest) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let behind: usize =
        old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    (before, behind, new_rest.get(..new_rest.len() - behind).unwrap_or_default())
}

/// As `trim_characters`, by whole lines, measured in the file's own text (whose lines may have
/// other blanks at their ends than `old`): unchanged lines keep theirs.
fn trim_lines<'n>(old: &str, new: &'n str, text: &str) -> (usize, usize, &'n str) {
    let olds: Vec<&str> = old.split('\n').collect();
    let news: Vec<&str> = new.split('\n').collect();
    let texts: Vec<&str> = text.split('\n').collect();
    if texts.len() != olds.len() {
        return (0, 0, new);
    }
    // At least one line is replaced, so that both middles are lines.
    let most = olds.len().min(news.len()) - 1;
    let first = olds.iter().zip(&news).take(most).take_while(|(a, b)| a == b).count();
    let last = olds.iter().rev().zip(news.iter().rev()).take(most - first).take_while(|(a, b)| a == b).count();
    let length = |lines: &[&str]| lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let head = |lines: &[&str]| length(lines.get(..first).unwrap_or_default());
    let tail = |lines: &[&str]| length(lines.get(lines.len() - last..).unwrap_or_default());
    let middle = new.get(head(&news)..new.len() - tail(&news)).unwrap_or_default();
    (head(&texts), tail(&texts), middle)
}

/// Gives each new `\n` the ending that its place asks for: the ending of the replaced line at
/// the same relative place; else of the last line kept before it; else of the line where the
/// edit starts, the line before, most lines; else LF.
fn set_endings(
    hay: &Haystack<'_>,
    hit: &Range<usize>,
    range: &Range<usize>,
    old_middle: &str,
    new: &str,
    line: &mut LineEnding,
) -> String {
    if !new.contains('\n') {
        return new.to_owned();
    }
    let mut replaced = Vec::new();
    let mut at = range.start;
    for _ in 0..old_middle.matches('\n').count() {
        let Some(newline) = hay.shape.newline_from(hay.bytes, at) else { break };
        at = newline.at.end;
        replaced.push(newline.ending);
    }
    let mut neighbour: Option<Ending> = None;
    let mut out = String::with_capacity(new.len() + 16);
    for (n, part) in new.split('\n').enumerate() {
        if n > 0 {
            let ending = match replaced.get(n - 1) {
                Some(ending) => *ending,
                None => *neighbour.get_or_insert_with(|| neighbours_ending(hay, hit, range, line)),
            };
            out.push_str(ending.as_str());
        }
        out.push_str(part);
    }
    out
}

fn neighbours_ending(hay: &Haystack<'_>, hit: &Range<usize>, range: &Range<usize>, line: &mut LineEnding) -> Ending {
    let (bytes, shape) = (hay.bytes, &hay.shape);
    let kept_part = bytes.get(hit.start..range.start).unwrap_or_default();
    let kept = shape.of_piece().newline_before(kept_part, kept_part.len());
    kept.map_or_else(|| line.at(hay, hit.start), |newline| newline.ending)
}

/// The ending of the line that a match starts in, remembered: a file may be one long line with
/// thousands of matches.
#[derive(Debug, Default)]
pub(crate) struct LineEnding {
    known: Option<(Range<usize>, Ending)>,
}

impl LineEnding {
    fn at(&mut self, hay: &Haystack<'_>, at: usize) -> Ending {
        if let Some((places, ending)) = &self.known
            && places.contains(&at)
        {
            return *ending;
        }
        let (bytes, shape) = (hay.bytes, &hay.shape);
        let own = shape.newline_from(bytes, at);
        let end = own.as_ref().map_or(bytes.len(), |newline| newline.at.start);
        let ending = own
            .or_else(|| shape.newline_before(bytes, at))
            .map(|newline| newline.ending)
            .or_else(|| shape.endings(bytes).majority())
            .unwrap_or(Ending::Lf);
        self.known = Some((at..end, ending));
        ending
    }
}

/// Encodes, and lets U+FFFD that was shown for broken bytes stand for those bytes again.
fn encode_around_broken(
    hay: &Haystack<'_>,
    local: &View<'_>,
    start: usize,
    old_middle: &str,
    new: &str,
) -> Result<Vec<u8>, Unspliceable> {
    let encode = |text: &str| hay.encoding.encode(text).map_err(Unspliceable::Unencodable);
    let (Some(at), true) = (new.find('\u{fffd}'), local.invalid > 0) else { return encode(new) };
    let originals: Vec<Range<usize>> = old_middle
        .match_indices('\u{fffd}')
        .filter_map(|(at, mark)| local.bytes(start + at..start + at + mark.len()))
        .collect();
    if new.matches('\u{fffd}').count() != originals.len() {
        return Err(Unspliceable::Broken { at });
    }
    let mut out = Vec::with_capacity(new.len());
    for (n, part) in new.split('\u{fffd}').enumerate() {
        if let Some(original) = n.checked_sub(1).and_then(|n| originals.get(n)) {
            out.extend_from_slice(hay.bytes.get(original.clone()).unwrap_or_default());
        }
        out.extend(encode(part)?);
    }
    Ok(out)
}

/// Stateful encodings (ISO-2022-JP): whole lines are written anew, and only when writing their
/// old text gives their old bytes, so nothing but the edit changes.
///
/// `hits` are ranges of the view's text, ascending.
pub(crate) fn changes_by_lines(
    hay: &Haystack<'_>,
    view: &View<'_>,
    hits: &[Range<usize>],
    new: &str,
) -> Result<Vec<Change>, Unspliceable> {
    let text: &str = &view.text;
    let mut changes: Vec<Change> = Vec::new();
    let mut hits = hits.iter().peekable();
    while let Some(hit) = hits.next() {
        let start = text.get(..hit.start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let line_end = |at: usize| text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |n| at + n + 1);
        let mut end = line_end(hit.end.max(start));
        let mut rewritten = text.get(start..hit.start).unwrap_or_default().to_owned();
        rewritten.push_str(new);
        let mut at = hit.end;
        while let Some(next) = hits.next_if(|next| next.start < end) {
            rewritten.push_str(text.get(at..next.start).unwrap_or_default());
            rewritten.push_str(new);
            at = next.end;
            end = end.max(line_end(at));
        }
        rewritten.push_str(text.get(at..end).unwrap_or_default());
        let range = view.bytes(start..end).ok_or(Unspliceable::NotRoundTrip { at: hit.start })?;
        let old_text = text.get(start..end).unwrap_or_default();
        let write = |text: &str| {
            hay.encoding.encode(&set_endings(hay, &range, &range, old_text, text, &mut LineEnding::default()))
        };
        if write(old_text).ok().as_deref() != hay.bytes.get(range.clone()) {
            return Err(Unspliceable::NotRoundTrip { at: range.start });
        }
        let with = write(&rewritten).map_err(Unspliceable::Unencodable)?;
        changes.push(Change { matched: range.clone(), old: range, with });
    }
    Ok(changes)
}

/// Bytes can be put between bytes; else see [`changes_by_lines`].
pub(crate) fn is_splice_safe(encoding: Encoding) -> bool {
    !encoding.is_stateful()
}
