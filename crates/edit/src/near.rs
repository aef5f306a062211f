//! The refusal of an old text that is not there: the place that comes nearest, its exact text
//! where that surely corresponds to what was sent, and the first character that differs.
//! Nothing found here is ever applied.
//!
//! Bounded: one pass over the folded file, then alignments of bounded length on three
//! candidates; a megabyte takes milliseconds, whatever it holds. Where the old text is longer
//! than what is aligned, the rest is compared character by character.

use std::fmt;
use std::ops::Range;

use crate::align::{Guess, Weights, align};
use crate::ends::{corresponds, with_blank_ends};
use crate::fold::{Folded, is_invisible, plain, visible};
use crate::rivals;

/// The old text is not in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMiss {
    pub nearest: Option<Candidate>,
    pub hint: Option<Hint>,
}

/// The place that comes nearest to the old text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its lines, from 1, end excluded.
    pub lines: Range<usize>,
    /// The file's text there, ready to be sent as `old_string`; `None` when longer than
    /// [`MAX_TEXT`], or where it is not sure which text corresponds to what was sent.
    pub text: Option<String>,
    /// How often exactly that text occurs in the file.
    pub occurrences: usize,
    pub kind: Kind,
    pub first: Difference,
    /// The line of the first difference with blanks shown, as sent and as it stands.
    pub sent_line: String,
    pub file_line: String,
    /// The lines around the first difference, with blanks shown.
    pub visible: String,
}

/// In what the candidate differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Indentation, tabs for spaces, blanks or line breaks within.
    Blanks,
    /// Curly quotes, dashes, no-break or invisible characters.
    Punctuation,
    /// Upper and lower case.
    Case,
    /// The text itself.
    Text,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Blanks => "blanks or indentation",
            Kind::Punctuation => "Unicode punctuation or invisible characters",
            Kind::Case => "upper and lower case",
            Kind::Text => "its text",
        }
    }
}

/// The first place where old text and file part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In the file, from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What the old text has; `None` at its end.
    pub expected: Option<char>,
    /// What the file has; `None` at the candidate's end.
    pub found: Option<char>,
}

/// A common reason that can be seen from the old text alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Each line starts with a number, as `read` prints them.
    LineNumbers,
    /// `\n` or `\"` is written as two characters.
    Escapes,
    /// The new text stands in the file already, first at this line: the edit may have been made before.
    Made { line: usize },
}

impl Hint {
    fn sentence(self) -> String {
        match self {
            Hint::LineNumbers => "old_string seems to contain line numbers; they are not part of the file".into(),
            Hint::Escapes => {
                "old_string contains a backslash and a letter where the file may have a line break or a quote".into()
            }
            Hint::Made { line } => {
                format!("new_string stands in the file already, at line {line}: this edit may have been made before")
            }
        }
    }
}

/// Longest text that is handed back, in bytes: well above the 10 KB that old strings reach.
pub const MAX_TEXT: usize = 32 * 1024;

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(near) = &self.nearest else {
            f.write_str("old_string is not in the file, and nothing in it comes near; read the file again")?;
            return self.hint.map_or(Ok(()), |hint| write!(f, ". {}", hint.sentence()));
        };
        let Difference { line, column, expected, found } = near.first;
        let last = near.lines.end.saturating_sub(1).max(near.lines.start);
        write!(
            f,
            "old_string is not in the file. Nearest: lines {}-{last}, which differ in {}; ",
            near.lines.start,
            near.kind.name()
        )?;
        write!(f, "first at line {line}, column {column}: expected {}, found {}", named(expected), named(found))?;
        write!(f, "\n  sent: {}\n  file: {}", near.sent_line, near.file_line)?;
        if let Some(hint) = self.hint {
            write!(f, "\n{}.", hint.sentence())?;
        }
        let Some(text) = &near.text else {
            let why = "The text there is too long to repeat, or corresponds only in part";
            return write!(f, "\n{why}; read those lines again and send what stands there");
        };
        let often =
            if near.occurrences > 1 { format!(" (it occurs {} times)", near.occurrences) } else { String::new() };
        match escaped(text) {
            None => write!(f, "\nIf these lines are meant, send exactly this as old_string{often}:\n{text}"),
            Some(json) => {
                let how = "which holds what cannot be shown and stands here as a JSON string";
                write!(f, "\nIf these lines are meant, send exactly this as old_string{often}, {how}:\n{json}")
            }
        }
    }
}

impl std::error::Error for NearMiss {}

/// The text as a JSON string with escapes for what a result never carries as it is; none where it has nothing of that.
fn escaped(text: &str) -> Option<String> {
    let odd = |c: char| c != '\n' && c != '\t' && (c.is_control() || is_invisible(c));
    if !text.contains(odd) {
        return None;
    }
    let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let one = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if odd(c) => units(c),
        c => c.to_string(),
    };
    Some(format!("\"{}\"", text.chars().map(one).collect::<String>()))
}

fn named(c: Option<char>) -> String {
    let Some(c) = c else { return "the end".into() };
    let name = match c {
        ' ' => "space",
        '\t' => "tab",
        '\n' => "line break",
        '\r' => "CR",
        '\u{a0}' => "no-break space",
        '\u{200b}' => "zero-width space",
        '\u{feff}' => "byte order mark",
        '\u{fffd}' => "a broken byte",
        c if visible(&c.to_string(), 1) != c.to_string() => "invisible character",
        c => return format!("'{c}' (U+{:04X})", u32::from(c)),
    };
    format!("{name} (U+{:04X})", u32::from(c))
}

/// How much of a file is searched for candidates.
const MAX_HAY: usize = 16 << 20;
/// How much of the old text is aligned.
const MAX_NEEDLE: usize = 64 << 10;

/// How far from where it shares most sequences a text is looked for.
const MAX_SLACK: usize = 1_500;

/// Near enough to be shown, and near enough to be sent again, in per cent of what the change of every character costs.
const SHOWN: u32 = 40;
const OFFERED: u32 = 25;
/// So close that another candidate would not be closer; only short texts are worth a look at all.
const CLOSE: u32 = 5;
const SHORT_CHARS: usize = 200;

/// A place in the file, and whether its text can be sent as it stands.
struct Place {
    range: Range<usize>,
    sure: bool,
}

/// `old` and `new` are normalised, `sent` is the old text as it came; `text` does not contain `old`.
pub(crate) fn nearest(text: &str, old: &str, new: &str, sent: &str) -> NearMiss {
    let hay = text.get(..floor(text, MAX_HAY)).unwrap_or_default();
    let nearest = place(hay, old).map(|(needle, Place { range, sure })| {
        let slack = needle.len().min(MAX_SLACK);
        let near = hay.floor_char_boundary(range.start.saturating_sub(slack))..floor(hay, range.end + slack);
        let whole = needle.len() == old.len();
        let sure = sure && whole && rivals::has_none(hay, needle.trim(), &range);
        let mut range = with_blank_ends(hay, needle, range);
        let sure = sure && corresponds(hay, needle, &range, near);
        if !whole {
            // To where it ends if it is as long as what was sent: the first difference may lie behind what was aligned.
            range.end = floor(text, range.start + old.len()).max(range.end);
        }
        describe(text, old, range, sure)
    });
    NearMiss { nearest, hint: hint(sent, text).or_else(|| made(new, text)) }
}

fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() { text.len() } else { text.floor_char_boundary(at) }
}

/// Where the best candidate stands, without blanks at its ends, and for how much of the old text.
fn place<'o>(hay: &str, old: &'o str) -> Option<(&'o str, Place)> {
    let sought = Folded::of(old).bytes;
    if sought.len() < 2 {
        return None;
    }
    let folded = Folded::of(hay);
    // The same but for blanks, punctuation and case: of the first few such places the one that
    // agrees longest.
    let agrees = |range: &Range<usize>| {
        let found = hay.get(range.start..).unwrap_or_default();
        found.chars().zip(old.trim_start().chars()).take_while(|(a, b)| a == b).count()
    };
    let same = |sought: &[u8]| {
        let places = || memchr::memmem::find_iter(&folded.bytes, sought).take(8);
        let source = |at: usize| folded.source(hay, at..at + sought.len());
        let range = places().map(source).rev_max_by_key(agrees)?;
        // Where others are indented otherwise, it may be that one of them is meant.
        let sure = places().all(|at| hay.get(source(at)) == hay.get(range.clone()));
        Some(Place { range, sure })
    };
    if let Some(place) = same(&sought) {
        return Some((old, place));
    }
    let needle = old.get(..floor(old, MAX_NEEDLE)).unwrap_or_default();
    if needle.len() == old.len() {
        return aligned(hay, needle, &folded, &sought).map(|place| (needle, place));
    }
    let cut = Folded::of(needle).bytes;
    same(&cut).or_else(|| aligned(hay, needle, &folded, &cut)).map(|place| (needle, place))
}

/// The best of the alignments around the few stretches that share most with the needle. Where another comes as near,
/// it is not sure which was meant.
fn aligned(hay: &str, needle: &str, folded: &Folded, sought: &[u8]) -> Option<Place> {
    let sent: Vec<char> = needle.trim().chars().collect();
    let weights = Weights::of(&sent);
    let slack = (sought.len() / 4 + 16).min(MAX_SLACK);
    let mut best: Option<(u32, Place)> = None;
    for window in windows(&folded.bytes, sought) {
        let last = folded.bytes.len();
        let from = folded.source(hay, window.saturating_sub(slack)..window + 1);
        let to = folded.source(hay, window..(window + sought.len() + slack).min(last));
        let middle = folded.source(hay, window..(window + sought.len()).min(last));
        let region = hay.get(from.start..to.end).unwrap_or_default();
        let chars = |range: Range<usize>| hay.get(range).map_or(0, |text| text.chars().count());
        let guess = chars(from.start..middle.start)..chars(from.start..middle.end);
        let file: Vec<char> = region.chars().collect();
        let Some(found) = align(&file, &sent, &weights, &Guess(guess)) else { continue };
        if found.cost > weights.share(SHOWN) {
            continue;
        }
        let byte = |at: usize| from.start + region.char_indices().nth(at).map_or(region.len(), |(byte, _)| byte);
        let range = byte(found.range.start)..byte(found.range.end);
        match &mut best {
            Some((cost, _)) if *cost < found.cost => {}
            Some((cost, kept)) if *cost == found.cost => kept.sure &= kept.range == range,
            _ => best = Some((found.cost, Place { range, sure: !found.tied && found.cost <= weights.share(OFFERED) })),
        }
        if sent.len() > SHORT_CHARS && found.cost <= weights.share(CLOSE) {
            break;
        }
    }
    best.map(|(_, place)| place)
}

trait FirstMax: Iterator + Sized {
    /// As `max_by_key`, but the first of equals.
    fn rev_max_by_key<K: Ord>(self, key: impl Fn(&Self::Item) -> K) -> Option<Self::Item> {
        self.fold(None, |best: Option<(K, Self::Item)>, item| {
            let k = key(&item);
            match best {
                Some(kept) if kept.0 >= k => Some(kept),
                _ => Some((k, item)),
            }
        })
        .map(|(_, item)| item)
    }
}
impl<I: Iterator> FirstMax for I {}

/// Texts of fewer bytes are compared by pairs of bytes.
const SHORT: usize = 24;

/// Starts of up to three stretches, as long as the sought text, that share most four-byte
/// sequences with it.
fn windows(hay: &[u8], sought: &[u8]) -> Vec<usize> {
    const BITS: u32 = 20;
    let slot = |gram: &[u8]| {
        let word = gram.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        (word.wrapping_mul(0x9e37_79b1) >> (32 - BITS)) as usize
    };
    // In a short text four would leave none where one character differs.
    let width = sought.len().min(if sought.len() < SHORT { 2 } else { 4 });
    let mut known = vec![false; 1 << BITS];
    for gram in sought.windows(width) {
        known[slot(gram)] = true;
    }
    let hits: Vec<bool> = hay.windows(width).map(|gram| known[slot(gram)]).collect();
    let length = sought.len() + 1 - width;
    let (mut sum, mut best_by_stretch) = (0usize, Vec::<(usize, usize)>::new());
    for (end, &hit) in hits.iter().enumerate() {
        sum += usize::from(hit);
        if let Some(left) = end.checked_sub(length) {
            sum -= usize::from(hits.get(left).copied().unwrap_or(false));
        }
        let start = (end + 1).saturating_sub(length);
        let stretch = start / length;
        if stretch >= best_by_stretch.len() {
            best_by_stretch.resize(stretch + 1, (0, start));
        }
        if let Some(best) = best_by_stretch.get_mut(stretch)
            && sum > best.0
        {
            *best = (sum, start);
        }
    }
    // One changed character spoils four sequences: three tenths may still be the same text.
    best_by_stretch.retain(|(shared, _)| *shared > 0 && shared * 10 >= length * 3);
    best_by_stretch.sort_by_key(|(shared, start)| (std::cmp::Reverse(*shared), *start));
    best_by_stretch.truncate(3);
    best_by_stretch.into_iter().map(|(_, start)| start).collect()
}

const SHOWN_CHARS: usize = 200;
const SHOWN_LINES: usize = 7;

/// The number of the line that `at` lies in.
fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', text.get(..at).unwrap_or_default().as_bytes()).count() + 1
}

fn describe(text: &str, old: &str, range: Range<usize>, sure: bool) -> Candidate {
    let found = text.get(range.clone()).unwrap_or_default();
    let line_of = |at| line_of(text, at);
    let same: usize = found.chars().zip(old.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let at = range.start + same;
    let start_of_line = |text: &str, at: usize| text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |n| n + 1);
    let line_at = |text: &str, at: usize| -> String {
        let start = start_of_line(text, at);
        let line = text.get(start..).unwrap_or_default();
        let line = line.get(..line.find('\n').unwrap_or(line.len())).unwrap_or_default();
        // A difference far along a long line is shown where it is.
        let column = text.get(start..at).unwrap_or_default().chars().count();
        if column <= SHOWN_CHARS / 2 {
            return visible(line, SHOWN_CHARS);
        }
        let skipped: String = line.chars().skip(column - SHOWN_CHARS / 2).take(SHOWN_CHARS + 1).collect();
        format!("…{}", visible(&skipped, SHOWN_CHARS))
    };
    let first = Difference {
        line: line_of(at),
        column: text.get(start_of_line(text, at)..at).unwrap_or_default().chars().count() + 1,
        expected: old.get(same..).and_then(|rest| rest.chars().next()),
        found: found.get(same..).and_then(|rest| rest.chars().next()),
    };
    let lines = line_of(range.start)..line_of(range.start) + found.trim_end_matches('\n').matches('\n').count() + 1;
    let offered = sure && !found.is_empty() && found.len() <= MAX_TEXT;
    let shown_from = first.line.saturating_sub(SHOWN_LINES / 2).max(lines.start);
    let shown: Vec<String> = text
        .get(start_of_line(text, range.start)..)
        .unwrap_or_default()
        .split('\n')
        .skip(shown_from - lines.start)
        .take(SHOWN_LINES.min(lines.end.saturating_sub(shown_from)))
        .map(|line| visible(line, SHOWN_CHARS))
        .collect();
    Candidate {
        lines,
        // A lone CR before a line break must not read as CRLF when it comes back.
        text: offered.then(|| found.replace("\r\n", "\r\r\n")),
        occurrences: if offered { memchr::memmem::find_iter(text.as_bytes(), found).count() } else { 1 },
        kind: kind(found, old),
        first,
        sent_line: line_at(old, same),
        file_line: line_at(text, at),
        visible: shown.join("\n"),
    }
}

fn kind(found: &str, old: &str) -> Kind {
    let solid = |text: &str, fold: fn(char) -> char| -> Vec<char> {
        text.chars().filter(|c| !c.is_ascii_whitespace()).map(fold).collect()
    };
    if solid(found, |c| c) == solid(old, |c| c) {
        return Kind::Blanks;
    }
    let seen = |text: &str| -> Vec<char> {
        let kept = text.chars().filter(|c| !c.is_whitespace() && !crate::fold::is_invisible(*c));
        kept.map(plain).collect()
    };
    if seen(found) == seen(old) {
        return Kind::Punctuation;
    }
    if Folded::of(found).bytes == Folded::of(old).bytes { Kind::Case } else { Kind::Text }
}

/// A new text of less than this stands in many files by chance.
const TELLING_BYTES: usize = 8;

fn made(new: &str, text: &str) -> Option<Hint> {
    let at = (new.trim().len() >= TELLING_BYTES).then(|| memchr::memmem::find(text.as_bytes(), new.as_bytes()))??;
    Some(Hint::Made { line: line_of(text, at) })
}

fn hint(sent: &str, text: &str) -> Option<Hint> {
    let numbered = |line: &str| {
        let line = line.trim_start();
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with(['\t', '→', '|', ':'])
    };
    if sent.lines().take(50).filter(|line| !line.is_empty()).all(numbered) {
        return Some(Hint::LineNumbers);
    }
    let escape = ["\\n", "\\\"", "\\t"].iter().any(|escape| sent.contains(escape) && !text.contains(escape));
    escape.then_some(Hint::Escapes)
}
