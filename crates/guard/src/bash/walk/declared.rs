//! The words behind `declare` and its kind, where bash takes `name=$value` for an assignment and splits nothing.
//!
//! It does so only where both the builtin and the name are written out and bare. Elsewhere the same word falls apart at
//! its blanks: where the two readings differ, the word is not known.

use std::collections::BTreeSet;

use super::super::judge::{Arg, Shell, Why, Word as Became};
use super::super::names::{Meaning, meaning_of};
use super::super::parse::is_name;
use super::super::script::{Part, Word};
use super::super::words::{self, Piece, Value};
use super::{State, Walker};

impl<'a> Walker<'a> {
    /// The same, where the declaration has no option and makes no more of the name.
    pub(super) fn one_of_several(&self, builtin: &str, args: &[Arg], arg: &Arg) -> Option<(String, Vec<String>)> {
        let inside = builtin == "local" && self.reading.functions.run() || matches!(builtin, "declare" | "typeset");
        let options = args
            .iter()
            .any(|arg| arg.exact().is_none_or(|text| text.starts_with(['-', '+'])) && several(arg).is_none());
        several(arg).filter(|(name, _)| {
            inside && !options && !self.names.exported.contains(name) && !self.names.arrays.has(name)
        })
    }

    /// What a word behind a declaration becomes. `bare`: the name of the builtin is written out, without quotes.
    pub(super) fn declared(&mut self, word: &Word, bare: bool, state: &mut State) -> Vec<Arg> {
        let Some((name, spelled)) = assigned_name(word) else { return self.words(word, state) };
        let pieces = self.pieces(&word.parts, state, &word.span);
        let split = self.expanded(&pieces, word);
        let whole = words::single(&pieces, &self.site.home);
        let plain = |wanted: &str| word.parts.iter().any(|part| matches!(part, Part::Plain(t) if t.contains(wanted)));
        let written = word.parts.iter().all(|part| matches!(part, Part::Plain(_) | Part::Quoted(_)));
        let braces = plain("{");
        // Older ones of the other shells split it all the same.
        let unsplit = bare && spelled && !braces && self.reading.shell == Shell::Bash;
        let meant: Vec<&Piece> =
            pieces.iter().filter(|piece| !matches!(piece, Piece::Quoted(text) if text.is_empty())).collect();
        let (variable, more) = name.strip_suffix('+').map_or((name.as_str(), false), |name| (name, true));
        if unsplit && self.finds_ours(variable, &behind_sign(word), more, state) {
            let known = Became::Opaque { prefix: format!("{name}="), splits: false, why: Why::Places };
            return vec![Arg { word: known, span: word.span.clone() }];
        }
        let numeral = matches!(meant.as_slice(), [Piece::Plain(_), Piece::Value { value: Value::Number, .. }]);
        if unsplit && numeral && !name.ends_with('+') {
            let known = Became::Opaque { prefix: format!("{name}="), splits: false, why: Why::Number };
            return vec![Arg { word: known, span: word.span.clone() }];
        }
        let known = match (&whole, split.as_slice()) {
            (Value::Opaque(Why::Packaged), _) if unsplit => {
                Became::Opaque { prefix: format!("{name}="), splits: false, why: Why::Packaged }
            }
            (Value::Exact(text), [Arg { word: Became::Exact(one), .. }]) if text == one => return split,
            // Braces are expanded in both readings.
            _ if braces && written => return split,
            (Value::Exact(text), _) if unsplit => Became::Exact(text.clone()),
            (Value::Exact(_), _) => unknown_word(String::new(), true),
            // `name=~/x`; behind a colon a `~` is expanded in an assignment only.
            (_, [Arg { word: Became::Exact(_), .. }]) if !plain(":~") => return split,
            // The output of a command, or a value, in an assignment and nowhere else.
            (_, [Arg { word: Became::Glob { .. } | Became::Opaque { splits: true, .. }, .. }]) if unsplit => {
                unknown_word(format!("{name}="), false)
            }
            (_, [Arg { word: Became::Glob { .. } | Became::OneOf(_) | Became::Opaque { .. }, .. }]) => return split,
            _ if unsplit => unknown_word(format!("{name}="), false),
            _ => unknown_word(String::new(), true),
        };
        vec![Arg { word: known, span: word.span.clone() }]
    }
}

/// A variable of the script's own and the values of which it is given one: `local dir="$1"` in a function that a loop
/// calls. None where it is more than a text to anybody, or may be the text of a list.
pub(super) fn several(arg: &Arg) -> Option<(String, Vec<String>)> {
    let Became::OneOf(words) = &arg.word else { return None };
    let mut names = BTreeSet::new();
    let mut values = Vec::with_capacity(words.len());
    for word in words {
        let Became::Exact(text) = word else { return None };
        let (name, value) = text.split_once('=')?;
        if !is_name(name) || value.starts_with('(') || meaning_of(name, Some(value)) == Meaning::Rewires {
            return None;
        }
        names.insert(name);
        values.push(value.to_owned());
    }
    let name = names.pop_first().filter(|_| names.is_empty())?;
    Some((name.to_owned(), values))
}

/// The name, with the `+` of `+=`, that a word assigns to, and whether that is written without quotes.
fn assigned_name(word: &Word) -> Option<(String, bool)> {
    let mut text = String::new();
    let mut spelled = true;
    for part in &word.parts {
        match part {
            Part::Plain(more) => text.push_str(more),
            Part::Quoted(more) => {
                spelled = false;
                text.push_str(more);
            }
            _ => break,
        }
        if text.contains('=') {
            break;
        }
    }
    let (name, _) = text.split_once('=')?;
    is_name(name.strip_suffix('+').unwrap_or(name)).then(|| (name.to_owned(), spelled))
}

/// What a word assigns.
fn behind_sign(word: &Word) -> Word {
    let mut parts = word.parts.clone();
    if let Some(Part::Plain(text)) = parts.first_mut() {
        *text = text.split_once('=').map_or("", |(_, value)| value).to_owned();
    }
    Word { parts, span: word.span.clone() }
}

fn unknown_word(prefix: String, splits: bool) -> Became {
    Became::Opaque { prefix, splits, why: "a value that bash may split".into() }
}
