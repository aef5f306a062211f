//! Good documents, broken a little: whatever is done to one, a check ends, says where, and shows it.

use nika_flow::check;
use nika_flow::finding::{Weight, show};

use crate::documents::GOOD;
use crate::world::Paper;

/// How many; each is made of its number alone.
pub const MUTANTS: u64 = 1_200;

/// A row of numbers that is the same every time (xorshift).
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        // Small seeds alone would begin alike.
        let mut dice = Dice((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        dice.below(7);
        dice
    }

    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % most.max(1)
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Values that may stand anywhere and belong there seldom.
const VALUES: &[&str] = &[
    "3",
    "-1",
    "true",
    "null",
    "",
    "[]",
    "{}",
    "[a, b]",
    "{a: b}",
    "\"\"",
    "text",
    "\"{{ inputs.none }}\"",
    "\"{{ use.none }}\"",
    "\"{{ tasks.find }}\"",
    "\"{{ 1 + }}\"",
    "\"{{\"",
    "\"{% if %}\"",
    "&a [*a]",
    "*none",
    "!!binary x",
    "1e999",
    "\"\\u0000\"",
    "\"{{ secrets.NONE ?? 1 }}\"",
    "30",
    "30s",
    "\"../../etc/passwd\"",
    "~",
];

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "id",
    "use",
    "infer",
    "exec",
    "fetch",
    "invoke",
    "agent",
    "depends_on",
    "for_each",
    "when",
    "permits",
    "tasks",
    "schema",
    "output",
    "outputs",
    "inputs",
    "find",
    "a",
    "b",
    "count",
    "item",
    "shell",
    "command",
    "tool",
    "params",
];

/// The document that a number stands for, and the good one that it was.
pub fn mutant(seed: u64) -> (&'static str, String) {
    let mut dice = Dice::new(seed);
    let (name, good) = *dice.of(GOOD);
    let mut text = good.to_owned();
    for _ in 0..=dice.below(3) {
        text = broken(&text, &mut dice);
    }
    (name, text)
}

fn broken(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let at = dice.below(lines.len());
    match dice.below(13) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(at, dice.below(text.lines().count())),
        3 => lines[at].insert_str(0, dice.of::<&str>(&["  ", " ", "\t", "- ", "# "])),
        4 => lines[at] = lines[at].trim_start().to_owned(),
        // Another value.
        5 | 6 => {
            if let Some((key, _)) = lines[at].split_once(": ") {
                lines[at] = format!("{key}: {}", dice.of(VALUES));
            }
        }
        // Another key.
        7 => {
            if let Some((key, rest)) = lines[at].clone().split_once(':') {
                let indent: String = key.chars().take_while(|c| " -{".contains(*c)).collect();
                lines[at] = format!("{indent}{}:{rest}", dice.of(WORDS));
            }
        }
        // A word for another.
        8 => {
            let (from, to) = (*dice.of(WORDS), *dice.of(WORDS));
            lines[at] = lines[at].replacen(from, to, 1);
        }
        // A character more, less, or another.
        9..=11 => {
            let mut chars: Vec<char> = lines[at].chars().collect();
            let place = dice.below(chars.len() + 1);
            let new = *dice.of(&[
                '{', '}', '"', '\'', ':', '[', ']', '.', '?', '|', ' ', 'é', '\u{202e}', '\0', '%', '*', '&', '0',
            ]);
            match dice.below(3) {
                0 => chars.insert(place, new),
                1 if place < chars.len() => drop(chars.remove(place)),
                _ if place < chars.len() => chars[place] = new,
                _ => {}
            }
            lines[at] = chars.into_iter().collect();
        }
        // The end is missing.
        _ => {
            let keep = dice.below(text.chars().count());
            return text.chars().take(keep).collect();
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn good_documents_are_good() {
    for (name, text) in GOOD {
        let checked = check(text, "good.nika.yaml", &Paper);
        let shown: String = checked.findings.iter().map(|finding| show(name, text, finding)).collect();
        assert!(checked.is_clean(), "{name}\n{shown}");
    }
}

#[test]
fn whatever_is_broken_the_check_says_where() {
    let (mut clean, mut faulty, mut changed) = (0, 0, 0);
    for seed in 0..MUTANTS {
        let (name, text) = mutant(seed);
        changed += u64::from(GOOD.iter().any(|(good, whole)| *good == name && *whole != text));
        let checked = check(&text, "mutant.nika.yaml", &Paper);
        let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().collect();
        for finding in &checked.findings {
            let at = finding.at;
            assert!(at.line >= 1 && at.column >= 1, "mutant {seed} of {name}: {finding:?}\n{text}");
            assert!(at.line <= lines.len().max(1), "mutant {seed} of {name}: {finding:?}\n{text}");
            let width = lines.get(at.line - 1).map_or(0, |line| line.chars().count());
            assert!(at.column <= width + 1, "mutant {seed} of {name}: {finding:?}\n{text}");
            assert!(!finding.message.is_empty());
            let shown = show("mutant.nika.yaml", &text, finding);
            assert!(shown.contains('^') && !shown.contains('\u{202e}') && !shown.contains('\0'), "{shown:?}");
        }
        match checked.is_clean() {
            true => clean += 1,
            false => {
                faulty += 1;
                let errors = checked.findings.iter().filter(|finding| finding.weight == Weight::Error).count();
                assert!(errors > 0, "mutant {seed} of {name} is not clean, and nothing says why\n{text}");
            }
        }
    }
    // Were most of them fine, or all of them broken, this would show little.
    assert!(
        changed > MUTANTS * 9 / 10 && clean > 50 && faulty > MUTANTS / 2,
        "{changed} changed, {clean} clean, {faulty} faulty"
    );
}
