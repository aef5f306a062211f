//! A piece of a text with a small slip in it, sent as old text: what is handed back is that piece.

use nika_edit::{EditError, Replace, plan};

const TEXTS: &[&str] = &[
    include_str!("../../src/near.rs"),
    include_str!("../../src/notebook/json.rs"),
    include_str!("../../src/notebook/sample.ipynb"),
    include_str!("../../../../docs/editing.md"),
    include_str!("encodings.rs"),
];

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

/// One to three characters changed, put in or left out, not among the first or last few.
fn slipped(piece: &[char], dice: &mut Dice) -> String {
    let count = 1 + dice.below(3);
    let at = 4 + dice.below(piece.len() - 8 - count);
    let (gone, put) = [(count, count), (0, count), (count, 0)][dice.below(3)];
    let letters: Vec<char> = "etaoinsr_(x1. ".chars().collect();
    let new: Vec<char> = (0..put).map(|_| letters[dice.below(letters.len())]).collect();
    piece[..at].iter().chain(&new).chain(&piece[at + gone..]).collect()
}

#[derive(Debug, Default)]
struct Tally {
    same: usize,
    none: usize,
    /// But for blanks at its ends.
    blanks: usize,
    other: usize,
}

#[test]
fn a_piece_with_a_slip_in_it_comes_back_as_it_stands() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut tally = Tally::default();
    let rounds = if cfg!(debug_assertions) { 300 } else { 20_000 };
    let texts: Vec<Vec<char>> = TEXTS.iter().map(|text| text.chars().collect()).collect();
    for round in 0..rounds {
        let text = &texts[round % texts.len()];
        let length = [20, 40, 80, 200, 600][dice.below(5)] + dice.below(20);
        let from = dice.below(text.len() - length);
        let piece = &text[from..from + length];
        let whole: String = piece.iter().collect();
        let sent = slipped(piece, &mut dice);
        let edit = Replace { old: &sent, new: "-", all: false };
        let Err(EditError::NoMatch(miss)) = plan(TEXTS[round % texts.len()].as_bytes(), &edit) else { continue };
        match miss.nearest.and_then(|near| near.text) {
            None => tally.none += 1,
            Some(text) if text == whole => tally.same += 1,
            Some(text) if text.trim() == whole.trim() => tally.blanks += 1,
            Some(_) => tally.other += 1,
        }
    }
    println!("{tally:?}");
    // Of 20,000: 94 in 100 the same, 4 nothing, 1 with other blanks, and 13 something else: pieces of little but blanks.
    assert!(tally.same * 100 >= rounds * 90, "{tally:?}");
    assert!(tally.other * 100 <= rounds, "{tally:?}");
}

/// What a line of code is made of.
const TOKENS: &[&str] = &[
    "foo", "bar", "value", "return", "x", "(", ")", "{", "}", "=", "+", "->", "::", ";", ",", "\"str\"", "'c'", "let",
    "fn", "if", "42", "# note", "_a", "-", "/", ".", "[i]", "*p", "<T>", "&", "|", "é", "→", "end", "data_1", "))",
    "}}", "变",
];

fn line_of_code(dice: &mut Dice) -> String {
    let indent = " ".repeat([0, 0, 2, 4][dice.below(4)]);
    let between = ["", " ", " "][dice.below(3)];
    let tokens: Vec<&str> = (0..4 + dice.below(6)).map(|_| TOKENS[dice.below(TOKENS.len())]).collect();
    indent + &tokens.join(between)
}

/// Part of a text as somebody means it: lines, with the first indentation and the last line break or without, or part of
/// a line, and no part of a word.
fn meant(text: &str, dice: &mut Dice) -> std::ops::Range<usize> {
    let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let lines = 1 + dice.below(3.min(starts.len() - 1));
    let first = dice.below(starts.len() - lines);
    let whole = starts[first]..starts[first + lines] - 1;
    let trimmed =
        whole.end - text[whole.clone()].trim_start().len()..whole.start + text[whole.clone()].trim_end().len();
    match dice.below(4) {
        0 => whole,
        1 => whole.start..whole.end + 1,
        2 => trimmed,
        _ => {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let between = |at: usize| {
                let (before, behind) = (text[..at].chars().next_back(), text[at..].chars().next());
                let cuts = before.is_some_and(is_word) && behind.is_some_and(is_word);
                (!cuts).then_some((
                    at,
                    before.is_some_and(char::is_whitespace),
                    behind.is_some_and(char::is_whitespace),
                ))
            };
            let inside = || (trimmed.start..=trimmed.end).filter(|at| text.is_char_boundary(*at)).filter_map(between);
            let begins: Vec<usize> = inside().filter(|(_, _, blank)| !blank).map(|(at, ..)| at).collect();
            let ends: Vec<usize> = inside().filter(|(_, blank, _)| !blank).map(|(at, ..)| at).collect();
            let pick = |all: &[usize], dice: &mut Dice| all.get(dice.below(all.len())).copied().unwrap_or(whole.start);
            let (begin, end) = (pick(&begins, dice), pick(&ends, dice));
            begin.min(end)..end
        }
    }
}

/// One to three characters of it replaced, left out or put in, anywhere but among the blanks at its ends.
fn missed(piece: &str, dice: &mut Dice) -> String {
    let chars: Vec<char> = piece.chars().collect();
    let lead = piece.chars().take_while(|c| c.is_whitespace()).count();
    let solid = piece.trim().chars().count();
    let count = 1 + dice.below(3);
    let near_end = [dice.below(4), (solid + dice.below(4)).saturating_sub(4), dice.below(solid + 1)][dice.below(3)];
    let at = lead + near_end.min(solid);
    let letters: Vec<char> = "-=+x)({a. ;\"\t_e}0]".chars().collect();
    let (gone, put) = [(count, 1 + dice.below(3)), (0, count), (count, 0)][dice.below(3)];
    let gone = gone.min(lead + solid - at);
    let new: Vec<char> = (0..put).map(|_| letters[dice.below(letters.len())]).collect();
    chars[..at].iter().chain(&new).chain(&chars[at + gone..]).collect()
}

/// Found by a tester: of the texts handed back one in sixteen was too short or too long, most by one character at an end,
/// and who followed it doubled that character. Two slips of three are made near an end here: of those, one in nine.
#[test]
fn a_text_that_is_handed_back_can_be_replaced_by_what_was_meant() {
    let mut dice = Dice(0x5851_f42d_4c95_7f2d);
    let rounds = if cfg!(debug_assertions) { 1_500 } else { 40_000 };
    let (mut misses, mut handed, mut wrong) = (0, 0, Vec::new());
    for round in 0..rounds {
        let text = match round % 3 {
            0 => {
                let source = TEXTS[dice.below(TEXTS.len())];
                let starts: Vec<usize> = source.match_indices('\n').map(|(at, _)| at + 1).collect();
                let first = dice.below(starts.len() - 12);
                source[starts[first]..starts[first + 11]].to_owned()
            }
            _ => (0..3 + dice.below(7)).map(|_| line_of_code(&mut dice) + "\n").collect(),
        };
        let range = meant(&text, &mut dice);
        let piece = &text[range.clone()];
        let sent = missed(piece, &mut dice);
        // Other blanks at its ends are another indentation, or none that was meant.
        let blanks = |text: &str| (text.len() - text.trim_start().len(), text.len() - text.trim_end().len());
        if blanks(piece) != blanks(&sent) || piece.trim().chars().count() < 8 || text.matches(piece).count() != 1 {
            continue;
        }
        let Err(EditError::NoMatch(miss)) = plan(text.as_bytes(), &Replace { old: &sent, new: "N E W", all: false })
        else {
            continue;
        };
        misses += 1;
        let Some(back) = miss.nearest.and_then(|near| near.text) else { continue };
        handed += 1;
        let Ok(plan) = plan(text.as_bytes(), &Replace { old: &back, new: "N E W", all: false }) else { continue };
        let intended = [&text[..range.start], "N E W", &text[range.end..]].concat();
        if plan.apply(text.as_bytes()) != intended.as_bytes() {
            wrong.push(format!("meant  {piece:?}\nsent   {sent:?}\nhanded {back:?}\nin {text:?}"));
        }
    }
    println!("{} wrong of {handed} handed back, {misses} missed", wrong.len());
    // Of 28,630 misses 19,300 are handed back, 5 of them wrong, where letters put in by chance are those of the file.
    assert!(wrong.len() * 1000 <= handed, "{}", wrong.join("\n\n"));
    assert!(handed * 10 >= misses * 6, "{handed} of {misses}");
}
