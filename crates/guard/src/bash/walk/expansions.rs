//! What the expansion of words sets by itself, wherever a word stands: `${name:=text}`, and arithmetic that counts.
//! And how a command is called, so far as it can be read off.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::script::{Command, Kind, Op, Part, Test, Word};
use super::merge::counted;
use super::shapes::name_of;
use super::sums::changes;

/// What stands for other words, or for several: braces and wildcards.
const OPEN: [char; 4] = ['{', '*', '?', '['];

/// The name that a command is called by; `?` for one that only its expansion tells. `{read,x}` is a call of `read`.
pub(super) fn called(command: &Command) -> Cow<'_, str> {
    let open = |part: &Part| match part {
        Part::Plain(text) => text != "[" && text.contains(OPEN),
        Part::Quoted(_) => false,
        _ => true,
    };
    match &command.kind {
        Kind::Simple { words, .. } if words.first().is_some_and(|word| word.parts.iter().any(open)) => {
            Cow::Borrowed("?")
        }
        _ => name_of(command),
    }
}

/// Whether the name at the start of `name` or `name=text` may become another one, or several.
pub(super) fn names_others(word: &Word) -> bool {
    for part in &word.parts {
        let (text, plain) = match part {
            Part::Plain(text) => (text, true),
            Part::Quoted(text) => (text, false),
            _ => return false,
        };
        let (name, ends) = text.split_once('=').map_or((text.as_str(), false), |(name, _)| (name, true));
        if plain && name.contains(OPEN) {
            return true;
        }
        if ends {
            return false;
        }
    }
    false
}

/// Names that the expansion of `parts` may set, as [`assigned`] tells them.
pub(super) fn expansions(parts: &[Part], out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for part in parts {
        match part {
            // Commands in a word run in a shell of their own.
            Part::Plain(_) | Part::Quoted(_) | Part::Command { .. } | Part::Process { .. } => {}
            Part::Arith { parts, .. } => arithmetic(parts, out, anything),
            Part::Array(words) => words.iter().for_each(|word| expansions(&word.parts, out, anything)),
            Part::Param { param, .. } => match &param.op {
                Op::Default { kind, word } => {
                    if *kind == '=' {
                        out.insert(param.name.clone(), false);
                    }
                    expansions(word, out, anything);
                }
                Op::Edit(word) => expansions(word, out, anything),
                Op::Substring(word) => arithmetic(word, out, anything),
                Op::Plain | Op::Length | Op::Evaluate => {}
            },
        }
    }
}

/// Names that arithmetic may set.
pub(super) fn arithmetic(parts: &[Part], out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    counted(parts, out);
    expansions(parts, out, anything);
    // `$n = 5` sets what `n` names.
    *anything |= parts.windows(2).any(|two| match two {
        [Part::Param { .. }, Part::Plain(text) | Part::Quoted(text)] => changes(text.trim_start()),
        [Part::Plain(text) | Part::Quoted(text), Part::Param { .. }] => {
            let text = text.trim_end();
            text.ends_with("++") || text.ends_with("--")
        }
        _ => false,
    });
}

/// Names that the words of `[[ … ]]` may set.
pub(super) fn tested(test: &Test, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    match test {
        Test::And(left, right) | Test::Or(left, right) => {
            tested(left, out, anything);
            tested(right, out, anything);
        }
        Test::Not(inner) | Test::Paren(inner) => tested(inner, out, anything),
        Test::Word(word) | Test::Unary(_, word) => expansions(&word.parts, out, anything),
        Test::Binary(_, left, right) => {
            expansions(&left.parts, out, anything);
            expansions(&right.parts, out, anything);
        }
    }
}
