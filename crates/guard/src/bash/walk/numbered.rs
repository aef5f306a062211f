//! Programs of sed with numbers in them that are known only when they run: `sed -n "${i}p"`, `sed "$((n+1)),\$d"`.
//!
//! Which line they print is all that a number decides. So one stands for each, where everything around it is of the few
//! letters that print, delete and end.

use super::super::judge::{Arg, Word as Became};
use super::super::print::text_of;
use super::super::script::{Kind, Op, Part, Script, Word};
use super::super::words::{self, Piece, Value};
use super::shapes::{integer, is_integer};
use super::{State, Walker};

/// What such a program is made of, besides its numbers. None of these letters names a file or runs anything.
const LETTERS: &str = "0123456789,$+~!; pPqQdDnNl={}";

/// The same outside quotes, where the shell takes nothing of it for its own.
const BARE: &str = "0123456789,+pPqQdDnNl=";

impl Walker<'_> {
    /// What a word of sed becomes that begins as a substitution.
    fn substituted(&mut self, word: &Word, state: &mut State) -> Vec<Arg> {
        let pieces = self.pieces(&word.parts, state, &word.span);
        match substitutes(&pieces).filter(|_| !words::runs_on(&word.parts)) {
            Some(text) => vec![Arg { word: Became::Exact(text), span: word.span.clone() }],
            None => self.expanded(&pieces, word),
        }
    }

    /// What a word of sed becomes that is such a program. `None` for any other word.
    pub(super) fn numbered(&mut self, args: &[Arg], word: &Word, state: &mut State) -> Option<Vec<Arg>> {
        let sed = matches!(args.first().and_then(Arg::exact), Some("sed" | "gsed"));
        let number = |part: &&Part| matches!(part, Part::Param { .. } | Part::Arith { .. } | Part::Command { .. });
        let sums = word.parts.iter().filter(number).count();
        let written = |part: &Part| match part {
            Part::Plain(text) => text.chars().all(|c| BARE.contains(c)),
            Part::Quoted(text) => is_written(text),
            Part::Param { param, .. } => param.op == Op::Plain && param.index.is_none(),
            Part::Arith { .. } | Part::Command { .. } => true,
            _ => false,
        };
        if sed && begins_substitution(word) {
            return Some(self.substituted(word, state));
        }
        if !sed || sums == 0 || !word.parts.iter().all(written) || words::runs_on(&word.parts) {
            return None;
        }
        let pieces = self.pieces(&word.parts, state, &word.span);
        // Below zero a number makes an option of the program, and sed has none that begins with a digit: it says so and ends.
        // Where there is none, sed says what it misses.
        let word = match pieces.iter().map(spelled).collect() {
            Some(text) => Arg { word: Became::Exact(text), span: word.span.clone() },
            None => return Some(self.expanded(&pieces, word)),
        };
        Some(vec![word])
    }
}

/// Whether quoted text has nothing but such letters in it, and plain texts to look for: `,/^class Foo/p`.
fn is_written(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _^$.:-".contains(c);
    let mut parts = text.split('/').enumerate();
    let whole = text.matches('/').count().is_multiple_of(2);
    whole && parts.all(|(at, part)| part.chars().all(|c| if at % 2 == 0 { LETTERS.contains(c) } else { plain(c) }))
}

/// Whether a word begins as `s/` and has an output or a value in it.
fn begins_substitution(word: &Word) -> bool {
    let first = word.parts.first();
    let begins =
        matches!(first, Some(Part::Quoted(text) | Part::Plain(text)) if text.starts_with('s') && text.len() > 1);
    begins && word.parts.iter().any(|part| matches!(part, Part::Command { .. } | Part::Param { .. }))
}

/// A program of sed that puts a label in: `s/@DATE@/$(date +%F)/`. The mark between the parts is none of its letters, and none
/// of them means anything beside the others where no backslash stands in front.
fn substitutes(pieces: &[Piece]) -> Option<String> {
    let mut text = String::new();
    let mut labels = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Plain(part) | Piece::Quoted(part) => text.push_str(part),
            Piece::Value { value: Value::Exact(part), .. } if is_plain_label(part) => text.push_str(part),
            Piece::Value { value, quoted: true } if is_label(value) => {
                if text.ends_with('\\') {
                    return None;
                }
                labels.push(text.len());
                text.push('0');
            }
            Piece::Value { .. } => return None,
        }
    }
    let mark = text.strip_prefix('s')?.chars().next().filter(|mark| "/|,@#!:%".contains(*mark))?;
    let marks: Vec<usize> = text.match_indices(mark).map(|(at, _)| at).collect();
    let [_, middle, last] = marks.as_slice() else { return None };
    let plain = !text.contains(['\n', '\\', '[']) || labels.iter().all(|at| at > middle);
    (plain && !labels.is_empty() && labels.iter().all(|at| at < last)).then_some(text)
}

fn is_plain_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

fn is_label(value: &Value) -> bool {
    match value {
        Value::Number => true,
        Value::Output(output) => output.label != words::Label::No,
        _ => false,
    }
}

/// The text of a piece, with 1 in the place of any number.
fn spelled(piece: &Piece) -> Option<String> {
    match piece {
        Piece::Plain(text) | Piece::Quoted(text) => Some(text.clone()),
        Piece::Value { value: Value::Exact(text), .. } if is_integer(text) => Some(text.clone()),
        Piece::Value { value, .. } if integer(value) => Some("1".to_owned()),
        Piece::Value { value: Value::Output(output), quoted }
            if output.number && (*quoted || output.label == words::Label::Always)
                || output.start == words::Start::Line && *quoted =>
        {
            Some("1".to_owned())
        }
        Piece::Value { .. } => None,
    }
}

/// Most numbers that a list is written out for.
const MOST: u32 = 128;

/// The numbers that `$(seq 1 3)` prints, where it is written out. What the walker makes of a word is no use here: one number
/// may stand there for any.
pub(super) fn counted(script: &Script) -> Option<String> {
    let [item] = script.items.as_slice() else { return None };
    let [stage] = item.first.stages.as_slice() else { return None };
    let Kind::Simple { assigns, words } = &stage.kind else { return None };
    if !item.rest.is_empty() || item.background || !assigns.is_empty() || !stage.redirects.is_empty() {
        return None;
    }
    let texts: Vec<_> = words.iter().map(text_of).collect::<Option<_>>()?;
    let (name, numbers) = texts.split_first()?;
    let plain = |text: &str| (text == "0" || !text.starts_with('0')).then(|| text.parse::<u32>().ok()).flatten();
    let numbers: Vec<u32> = numbers.iter().map(|text| plain(text)).collect::<Option<_>>()?;
    let (from, step, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step > 0 => (*from, *step, *to),
        _ => return None,
    };
    if name != "seq" || to < from || (to - from) / step >= MOST {
        return None;
    }
    let all: Vec<String> = (from..=to).step_by(step as usize).map(|number| number.to_string()).collect();
    Some(all.join("\n"))
}
