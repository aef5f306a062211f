//! Where a candidate begins and ends, and whether that can be believed. A model sends back what it is offered and
//! puts its new text there: a window that reaches too far destroys what is beside it, one that is too short leaves
//! pieces. So an end is offered only where it corresponds to the sent text's end.

use std::ops::Range;

/// Takes in the blanks around a candidate where the old text, too, starts or ends with blanks.
pub(crate) fn with_blank_ends(hay: &str, needle: &str, range: Range<usize>) -> Range<usize> {
    let lead = needle.get(..needle.len() - needle.trim_start().len()).unwrap_or_default();
    let trail = needle.get(needle.trim_end().len()..).unwrap_or_default();
    let before = hay.get(..range.start).unwrap_or_default();
    let behind = hay.get(range.end..).unwrap_or_default();
    let inside = || indents(hay.get(range.clone()).unwrap_or_default()).zip(indents(needle.trim()));
    let indented = inside().filter(|(found, sent)| found == sent).count() * 2 >= inside().count();
    let take = |found: &mut dyn Iterator<Item = char>, sent: Vec<char>| blanks(found, &sent, indented);
    let start = range.start - take(&mut before.chars().rev(), lead.chars().rev().collect());
    let end = range.end + take(&mut behind.chars(), trail.chars().collect());
    start..end
}

/// The blanks that each line but the first begins with.
fn indents(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').skip(1).map(|line| line.get(..line.len() - line.trim_start().len()).unwrap_or_default())
}

/// How many bytes of blanks correspond to those that were sent, counted away from the candidate: the very same; or,
/// where it is the indentation that differs, all there are, with as many line breaks at most as were sent, and
/// nothing beyond one that was the last sent.
fn blanks(found: &mut dyn Iterator<Item = char>, sent: &[char], indented: bool) -> usize {
    let mut breaks = sent.iter().filter(|c| **c == '\n').count();
    let ends_with_break = sent.last() == Some(&'\n');
    let found: Vec<char> = found.take_while(|c| c.is_whitespace()).take(sent.len() + MAX_BLANKS).collect();
    if sent.is_empty() || indented && found.starts_with(sent) {
        return sent.iter().map(|c| c.len_utf8()).sum();
    }
    let mut length = 0;
    for c in found {
        if c == '\n' && breaks == 0 {
            break;
        }
        length += c.len_utf8();
        breaks -= usize::from(c == '\n');
        if ends_with_break && breaks == 0 && c == '\n' {
            break;
        }
    }
    length
}

/// An indentation is not deeper.
const MAX_BLANKS: usize = 400;

/// The candidate begins and ends where the sent text does. Not so where an end lies within a word of the file and the
/// sent text has another word there (`timeout = 40` for the `30` of `timeout = 300`), nor where the line breaks at an end
/// are not those sent, nor where a line that it begins or ends with stands near by, but not there.
pub(crate) fn corresponds(hay: &str, needle: &str, range: &Range<usize>, near: Range<usize>) -> bool {
    let found = hay.get(range.clone()).unwrap_or_default();
    let before = hay.get(..range.start).unwrap_or_default();
    let behind = hay.get(range.end..).unwrap_or_default();
    let cut_before = before.ends_with(word) && found.starts_with(word);
    let cut_behind = behind.starts_with(word) && found.ends_with(word);
    if cut_before && first_word(found) != first_word(needle) || cut_behind && last_word(found) != last_word(needle) {
        return false;
    }
    let first = |text: &str| text.chars().take_while(|c| c.is_whitespace()).filter(|c| *c == '\n').count();
    let last = |text: &str| text.chars().rev().take_while(|c| c.is_whitespace()).filter(|c| *c == '\n').count();
    if first(found) != first(needle) && !before.is_empty() || last(found) != last(needle) && !behind.is_empty() {
        return false;
    }
    if !same_blanks(found, needle, before, behind) {
        return false;
    }
    let around = hay.get(near).unwrap_or_default();
    let elsewhere = |sent: Option<&str>, found: Option<&str>| {
        let (sent, found) = (sent.unwrap_or_default().trim(), found.unwrap_or_default().trim());
        sent.len() >= MIN_LINE && sent != found && around.lines().any(|line| line.trim() == sent)
    };
    let (sent, found) = (needle.trim(), found.trim());
    !sent.contains('\n')
        || !elsewhere(sent.lines().next(), found.lines().next())
            && !elsewhere(sent.lines().next_back(), found.lines().next_back())
}

/// Blanks at an end are those that were sent, unless they indent a line or stand at the end of one.
fn same_blanks(found: &str, needle: &str, before: &str, behind: &str) -> bool {
    let lead = |text: &str| text.len() - text.trim_start().len();
    let trail = |text: &str| text.trim_end().len();
    let (found_lead, lead) = (found.get(..lead(found)), needle.get(..lead(needle)));
    let (found_trail, trail) = (found.get(trail(found)..), needle.get(trail(needle)..));
    let breaks = |blanks: Option<&str>| blanks.is_some_and(|blanks| blanks.contains('\n'));
    let indents = before.is_empty() || before.ends_with('\n') || breaks(found_lead);
    let ends_line = behind.is_empty() || behind.starts_with('\n') || breaks(found_trail);
    (indents || found_lead == lead) && (ends_line || found_trail == trail)
}

/// Lines of fewer bytes (`}`, `end`) stand everywhere.
const MIN_LINE: usize = 4;

fn word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> &str {
    text.get(..text.find(|c| !word(c)).unwrap_or(text.len())).unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    text.get(text.trim_end_matches(word).len()..).unwrap_or_default()
}
