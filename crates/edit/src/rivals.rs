//! Whether another end of a candidate would explain what was sent as well. `f(g(y);` for the `f(g(y));` of a file has
//! its nearest text in `f(g(y))`, and may as well lack one of two brackets: who replaces the nearest is left with a
//! `;` too many. Of two such ends none is chosen.
//!
//! Measured in slips, not in characters: what was changed, put in or left out in one piece is one slip, whatever it
//! became, and the fewer the likelier.

use std::ops::Range;

use crate::fold::plain;

/// A slip costs this, and one for each character of its longer side.
const SLIP: u32 = 6;
/// A slip is seldom longer. So where so many characters agree at an end, only where nearly as many do is another,
/// or where the candidate is twice as far from what was sent.
const LONG: usize = 3;
/// A slip may seem shorter than it was where letters happen to agree, by so many characters; hardly where a line ends as it
/// was sent.
const MARGIN: u32 = 2;
/// How many characters at an end are compared, and how far from it other ends are looked for.
const COMPARED: usize = 48;
const REACH: usize = 40;

const NEVER: u32 = u32::MAX / 2;

/// No other beginning and no other end would do as well. `sent` and the range in `hay` are without blanks at their ends.
pub(crate) fn has_none(hay: &str, sent: &str, range: &Range<usize>) -> bool {
    let [before, to_end] = [range.start, range.end].map(|at| hay.get(..at).unwrap_or_default());
    let [from_start, behind] = [range.start, range.end].map(|at| hay.get(at..).unwrap_or_default());
    let ends_line = behind.trim_start_matches(BLANKS).starts_with('\n') || behind.is_empty();
    let begins_line = before.trim_end_matches(BLANKS).ends_with('\n') || before.is_empty();
    stands(to_end.chars().rev(), behind.chars(), sent.chars().rev(), ends_line)
        && stands(from_start.chars(), before.chars().rev(), sent.chars(), begins_line)
}

const BLANKS: [char; 2] = [' ', '\t'];

/// The end of a candidate, told as if it were the last one: what the file has on this side of it and beyond, and what
/// was sent on this side, each away from the end; and whether a line ends there, too.
fn stands(
    inside: impl Iterator<Item = char>,
    beyond: impl Iterator<Item = char>,
    sent: impl Iterator<Item = char>,
    is_lines_end: bool,
) -> bool {
    let turned = |mut chars: Vec<char>| {
        chars.reverse();
        chars
    };
    let (mut file, sent) = (turned(inside.take(COMPARED + 2 * REACH).collect()), turned(sent.take(COMPARED).collect()));
    let end = file.len();
    file.extend(beyond.take(REACH + 1));
    let agreeing = |at: usize| {
        let pairs = file.iter().take(at).rev().zip(sent.iter().rev());
        pairs.take(LONG).take_while(|(a, b)| agree(**a, **b)).count()
    };
    let costs = costs(&file, &sent);
    let cost = |at: usize| costs.get(at).copied().unwrap_or(NEVER);
    let are_words = [file.get(end.wrapping_sub(1)), sent.last()].iter().all(|c| c.is_some_and(|c| in_word(*c)));
    let margin = if is_lines_end && (are_words || agreeing(end) > 0) { 0 } else { MARGIN };
    let most = cost(end) + margin;
    let least = if agreeing(end) >= LONG { LONG - 1 } else { 0 };
    let as_likely = |at: usize| agreeing(at) >= least || cost(at) * 2 <= cost(end);
    let rivals = |at: usize| cost(at) <= most && may_end(&file, at) && as_likely(at);
    // Where all that is compared agrees, what was missed lies elsewhere.
    cost(end) == 0 || (end.saturating_sub(REACH)..=end + REACH).all(|at| at == end || !rivals(at))
}

/// What it costs to make the sent characters of a part of `file` that begins anywhere and ends at each place.
fn costs(file: &[char], sent: &[char]) -> Vec<u32> {
    // After a character that agrees, and within a slip.
    let mut row: Vec<(u32, u32)> = vec![(0, NEVER); file.len() + 1];
    let slip = |(agreed, slipped): (u32, u32)| (agreed + SLIP + 1).min(slipped + 1);
    for &want in sent {
        let mut diagonal = (NEVER, NEVER);
        let mut left = (NEVER, NEVER);
        let characters = std::iter::once(None).chain(file.iter().copied().map(Some));
        for (cell, found) in row.iter_mut().zip(characters) {
            let above = *cell;
            let agreed = if found.is_some_and(|c| agree(c, want)) { diagonal.0.min(diagonal.1) } else { NEVER };
            *cell = (agreed, slip(diagonal).min(slip(above)).min(slip(left)));
            (diagonal, left) = (above, *cell);
        }
    }
    row.into_iter().map(|(agreed, slipped)| agreed.min(slipped)).collect()
}

/// But for case and what looks alike.
fn agree(a: char, b: char) -> bool {
    let is_blank = |c: char| c.is_whitespace() && c != '\n';
    let folded = |c: char| plain(c).to_ascii_lowercase();
    a == b || folded(a) == folded(b) || is_blank(a) && is_blank(b)
}

/// Nobody ends a text behind a blank, once those at its end are left aside, or within a word.
fn may_end(file: &[char], at: usize) -> bool {
    let last = at.checked_sub(1).and_then(|last| file.get(last));
    let is_cut = last.is_some_and(|c| in_word(*c)) && file.get(at).is_some_and(|c| in_word(*c));
    last.is_some_and(|c| !c.is_whitespace()) && !is_cut
}

/// A letter of a script that puts blanks between its words: in others a word ends anywhere.
fn in_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && c < '\u{e00}'
}
