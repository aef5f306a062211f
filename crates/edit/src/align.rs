//! Which part of a file's text a sent text corresponds to, character by character. Pure costs: what may be offered to
//! be sent again is `ends`' matter.
//!
//! Gotoh's algorithm with a free beginning and a free end in the file, within a band. Not single changes alone: with
//! these `a & b` comes nearer to the `amp; b` of `a &amp; b` than to all of it. What is put in or left out in one
//! piece costs little more than one character, and the beginning and end of the sent text weigh more than its middle,
//! because what is cut off there is what a replacement would destroy.

use std::ops::Range;

use crate::fold::{is_invisible, plain};

/// A part of the file's text, in characters, and how far it is from what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aligned {
    pub range: Range<usize>,
    pub cost: u32,
    /// Another part, which begins elsewhere, comes as near.
    pub tied: bool,
}

/// Steps of one alignment; some 20 ms.
const MAX_CELLS: usize = 4_000_000;

/// One of these is what a wrong letter costs.
const CHANGE: u32 = 6;
/// Case, kinds of quotes, tab for space.
const LOOK_ALIKE: u32 = 2;
/// A letter where a blank stands: rather something was put in.
const UNLIKE: u32 = 10;
/// A piece that only one side has, and each character of it. A piece that begins with a blank opens no cheaper, or
/// words would be left out behind blanks; only blanks beside blanks need no opening.
const OPEN: u32 = 6;
const LETTER: u32 = 2;
const BLANK: u32 = 1;
/// The sent text begins or ends with what the file does not have: this, and a change for each character of it.
const OVERHANG: u32 = 16;
/// A line break is never another character, so lines stay lines.
const NEVER: u32 = 1 << 20;

/// How many characters at either end weigh more, and how much more.
const END_CHARS: usize = 8;
const END_WEIGHT: u32 = 3;

/// What a change costs at each place of a sent text.
#[derive(Debug)]
pub(crate) struct Weights(Vec<u32>);

impl Weights {
    pub fn of(sent: &[char]) -> Weights {
        let end = END_CHARS.min(sent.len() / 3);
        let one = |at: usize| if at < end || at + end >= sent.len() { END_WEIGHT } else { 1 };
        Weights((0..sent.len()).map(one).collect())
    }

    /// What `per_cent` of the characters changed would cost.
    pub fn share(&self, per_cent: u32) -> u32 {
        let all: u64 = self.0.iter().map(|weight| u64::from(weight * CHANGE)).sum();
        u32::try_from(all * u64::from(per_cent) / 100).unwrap_or(u32::MAX)
    }
}

/// Where `sent` probably lies in `file`, in characters: the band's middle line.
#[derive(Clone, Debug)]
pub(crate) struct Guess(pub Range<usize>);

/// The cost so far, and where the aligned part began. Compared in this order: of equals the first.
type Cell = (u32, u32);
const NONE: Cell = (NEVER * 2, 0);

fn plus(cell: Cell, cost: u32) -> Cell {
    (cell.0.saturating_add(cost), cell.1)
}

/// The part of `file` that comes nearest to `sent`. O(file × sent), or the band's part of it.
pub(crate) fn align(file: &[char], sent: &[char], weights: &Weights, guess: &Guess) -> Option<Aligned> {
    let n = sent.len();
    let weights = &weights.0;
    let half = (MAX_CELLS / file.len().max(1) / 2).max(16);
    let slope = |i: usize| {
        let length = guess.0.len().max(1) as i64;
        ((i as i64 - guess.0.start as i64) * n as i64 / length).clamp(0, n as i64) as usize
    };
    let (leads, trails) = (overhangs(weights.iter()), overhangs(weights.iter().rev()));
    // For each prefix of `sent`: the best, and the best that ends with characters which only the file has.
    let mut row: Vec<(Cell, Cell)> = leads.iter().map(|cost| ((*cost, 0), NONE)).collect();
    let mut best: Option<Aligned> = None;
    for (i, &c) in file.iter().enumerate() {
        let (low, high) = (slope(i).saturating_sub(half), (slope(i) + half).min(n));
        let alone = alone(c);
        let (blank, beside_blank) =
            (is_blank(c), [i, i + 1].iter().any(|at| file.get(*at).is_some_and(|c| c.is_whitespace())));
        let mut diagonal = row.get(low).map_or(NONE, |cell| cell.0);
        // Characters that only the sent text has.
        let mut over = NONE;
        let mut left = NONE;
        let mut ended = NONE;
        if low == 0
            && let Some(first) = row.first_mut()
        {
            first.0 = (0, i as u32 + 1);
        }
        for j in low + 1..=high {
            let (Some(&want), Some(&weight), Some(cell)) = (sent.get(j - 1), weights.get(j - 1), row.get_mut(j)) else {
                break;
            };
            over = plus(over.min(plus(left, OPEN * weight)), self::alone(want) * weight);
            let inside = weight.min(weights.get(j).copied().unwrap_or(weight));
            let put_in = plus(cell.1.min(plus(cell.0, OPEN * inside)), alone * inside);
            let next_blank = || want.is_whitespace() || sent.get(j).is_some_and(|c| c.is_whitespace());
            let more_blanks = if blank && next_blank() { plus(cell.0, BLANK) } else { NONE };
            let fewer_blanks = if beside_blank && is_blank(want) { plus(left, BLANK) } else { NONE };
            let changed = plus(diagonal, change(want, c) * weight);
            let begun = (leads.get(j).copied().unwrap_or(NEVER), i as u32 + 1);
            diagonal = cell.0;
            left = changed.min(put_in).min(over).min(more_blanks).min(fewer_blanks);
            *cell = (left.min(begun), put_in);
            ended = ended.min(plus(changed, trails.get(n - j).copied().unwrap_or(NEVER)));
        }
        keep(&mut best, ended, i + 1);
    }
    best
}

/// What it costs to leave out so many characters at an end.
fn overhangs<'a>(weights: impl Iterator<Item = &'a u32>) -> Vec<u32> {
    let mut cost = OVERHANG;
    let each = weights.map(|weight| {
        cost = (cost + CHANGE * weight).min(NEVER);
        cost
    });
    std::iter::once(0).chain(each).collect()
}

fn keep(best: &mut Option<Aligned>, (cost, start): Cell, end: usize) {
    let range = start as usize..end;
    if range.is_empty() || cost >= NEVER {
        return;
    }
    match best {
        Some(kept) if kept.cost < cost => {}
        Some(kept) if kept.cost == cost => kept.tied |= kept.range.start != range.start,
        _ => *best = Some(Aligned { range, cost, tied: false }),
    }
}

fn alone(c: char) -> u32 {
    if is_blank(c) { BLANK } else { LETTER }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n' || is_invisible(c)
}

fn change(a: char, b: char) -> u32 {
    if a == b {
        return 0;
    }
    let folded = |c: char| plain(c).to_ascii_lowercase();
    match (a.is_whitespace(), b.is_whitespace()) {
        _ if a == '\n' || b == '\n' => NEVER,
        (true, true) => LOOK_ALIKE,
        (true, false) | (false, true) => UNLIKE,
        _ if folded(a) == folded(b) => LOOK_ALIKE,
        _ => CHANGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(file: &str, sent: &str) -> String {
        let [file, sent] = [file, sent].map(|text| text.chars().collect::<Vec<_>>());
        let found = align(&file, &sent, &Weights::of(&sent), &Guess(0..file.len())).expect("something");
        file.get(found.range).unwrap_or_default().iter().collect()
    }

    #[test]
    fn what_corresponds_is_found() {
        // (file, sent, the part)
        for (file, sent, part) in [
            ("a = 1\nb = 2\nc = 3\nd = 4", "b = 2\nc = 33", "b = 2\nc = 3"),
            ("a &amp; b are here together", "a & b are here together", "a &amp; b are here together"),
            ("prefix_foo_name = compute()", "foo_nome = compute()", "foo_name = compute()"),
            ("line1\nline2\nline3\nline4", "line2\nlineX\nline3", "line2\nline3"),
            ("let x = value;", "let x = valeu;", "let x = value;"),
            ("if a {\n        go();\n    }", "if a {\n\tgo(1);\n}", "if a {\n        go();\n    }"),
            ("foo(a, b)\nbar", "foo(a, b);", "foo(a, b)"),
        ] {
            assert_eq!(aligned(file, sent), part, "{sent:?}");
        }
    }
}
