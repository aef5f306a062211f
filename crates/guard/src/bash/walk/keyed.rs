//! Arrays whose subscripts are texts: `declare -A seen; seen[$name]=1`.
//!
//! The subscript of any other array is arithmetic, which may run what a text holds; of these it is a text. Which they are is
//! said only where it is certain: `declare -A` on every way there, of a name that was nothing before, in a shell where
//! nothing takes a name away. Where arithmetic reads an element, `((seen[$name]++))`, the text is expanded again: that is a
//! question.

use std::collections::BTreeSet;

use super::super::judge::{Arg, Shell};
use super::super::names::{Meaning, meaning};
use super::super::parse::is_name;
use super::super::script::{Op, Script, Word};
use super::calls::{PASSED, any_of};
use super::merge::counts;
use super::shared::Shared;
use super::values::quoted_alone;
use super::{State, Walker};

/// Commands behind which an array may be gone, or another one may have its name; `?` is one that is not known.
const TAKES_AWAY: &[&str] =
    &["unset", "eval", "source", ".", "trap", "builtin", "command", "alias", "shopt", "enable", "?", PASSED];

/// The arrays; none where they may be taken away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Keyed(Option<Shared<BTreeSet<String>>>);

impl Keyed {
    /// In a shell that runs this script.
    pub(super) fn of(script: &Script) -> Keyed {
        Keyed((!any_of(script, TAKES_AWAY)).then(Shared::default))
    }

    /// In a copy of the shell, which runs this.
    pub(super) fn within(&mut self, script: &Script) {
        if self.0.is_some() && any_of(script, TAKES_AWAY) {
            self.0 = None;
        }
    }

    pub(super) fn extend(&mut self, names: Vec<String>) {
        if let Some(known) = self.0.as_mut().filter(|_| !names.is_empty()) {
            known.extend(names);
        }
    }

    /// Only those that `other` has, too.
    pub(super) fn meet(&mut self, other: &Keyed) {
        if self != other {
            let both = self.0.as_deref().zip(other.0.as_deref());
            self.0 = both.map(|(own, other)| own.intersection(other).cloned().collect::<BTreeSet<_>>().into());
        }
    }
}

impl Walker<'_> {
    /// Whether the subscripts of `name` are certain to be texts.
    pub(super) fn is_keyed(&self, name: &str, state: &State) -> bool {
        let known = state.keyed.0.as_ref().is_some_and(|names| names.contains(name));
        // A function may have one of its own by that name.
        known && !state.vars.lost && !self.reading.functions.run()
    }

    /// Whether each element of such an array is a number, so far.
    pub(super) fn counts(&self, name: &str, state: &State) -> bool {
        counts(state.vars.get(name), &state.vars, name)
    }

    /// The names of which this declaration certainly makes such arrays.
    pub(super) fn keys(&self, builtin: &str, args: &[Arg], state: &State) -> Vec<String> {
        let Some((option, rest)) = args.split_first() else { return Vec::new() };
        let words: Option<Vec<&str>> = rest.iter().map(declared).collect();
        let certain = matches!(builtin, "declare" | "typeset")
            && option.exact() == Some("-A")
            && self.reading.shell == Shell::Bash
            && self.names.arrays.loops == 0
            && !self.reading.functions.run();
        let fresh = |name: &&str| {
            is_name(name)
                && meaning(name) == Meaning::Setting
                && !self.names.arrays.has(name)
                && !state.is_frozen(name)
                && state.vars.get(name).is_none()
        };
        let words = words.filter(|words| certain && !state.vars.lost && words.iter().all(fresh));
        words.unwrap_or_default().into_iter().map(str::to_owned).collect()
    }

    /// Whether a word is the subscripts of an array that has numbers for those: `"${!files[@]}"`.
    pub(super) fn numbers_elements(&self, word: &Word) -> bool {
        let of = quoted_alone(word).filter(|param| param.op == Op::Plain && param.index.as_deref() == Some("@"));
        of.is_some_and(|param| {
            let (arrays, functions) = (&self.names.arrays, &self.reading.functions);
            param.raw.starts_with('!') && arrays.has(&param.name) && arrays.hold(&param.name) && !functions.run()
        })
    }
}

/// The name that a word of a declaration has, alone or before a list that is written out.
fn declared(arg: &Arg) -> Option<&str> {
    use super::super::judge::{Why, Word};
    match &arg.word {
        Word::Exact(text) => Some(text),
        Word::Opaque { prefix, why: Why::Array, .. } => prefix.strip_suffix('='),
        _ => None,
    }
}
