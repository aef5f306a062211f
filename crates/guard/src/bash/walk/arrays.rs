//! Texts that a declaration takes for a list: where `name` is an array, `declare "name=$text"` expands a text in
//! parentheses once more, and what it holds of commands runs.
//!
//! And the elements that are written out: `for d in "${dirs[@]}"` means the same as the words themselves would. They are known
//! until anything else may have been set there.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::judge::{Arg, Shell, Word as Became};
use super::super::names::{Meaning, meaning};
use super::super::script::{Op, Param, Part, Word};
use super::super::words::Value;
use super::shapes::word_span;
use super::values::nth;
use super::{State, Walker};

/// Names of arrays, and names that were given what may be the text of a list. In which order does not matter: a loop or
/// a function may turn it around.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    names: BTreeSet<String>,
    lists: BTreeSet<String>,
    /// One of them may have texts for subscripts, so far.
    keyed: bool,
    /// How many loops are around what is walked: what the end of a round declares holds in the next.
    pub loops: usize,
}

impl Arrays {
    /// A builtin declares something with these words.
    pub(super) fn declared(&mut self, args: &[Arg]) {
        let may_key = |arg: &Arg| arg.exact().is_none_or(|text| text.starts_with(['-', '+']) && text.contains('A'));
        self.keyed |= args.iter().any(may_key);
    }

    /// Whether what is written out for `name` is what it holds then, in that order, from number zero on.
    pub(super) fn hold(&self, name: &str) -> bool {
        const OWN: &[&str] = &["PIPESTATUS", "GROUPS", "FUNCNAME", "DIRSTACK", "MAPFILE", "REPLY", "COPROC", "_"];
        let own = OWN.contains(&name) || name.starts_with("BASH") || name.starts_with("COMP");
        !self.keyed && self.loops == 0 && !own && meaning(name) != Meaning::Rewires
    }

    /// Whether it is one, so far.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// `name` becomes an array. Whether it is given what may be the text of a list.
    pub(super) fn becomes(&mut self, name: &str) -> bool {
        self.names.insert(name.to_owned());
        self.lists.contains(name)
    }

    /// A declaration gives `name` what may be the text of a list. Whether it is an array.
    pub(super) fn given(&mut self, name: &str) -> bool {
        self.lists.insert(name.to_owned());
        self.names.contains(name)
    }
}

/// Most elements that are kept.
const ELEMENTS: usize = 64;

impl Walker<'_> {
    /// What an array holds that is given these words, behind those it has where it `appends`.
    pub(super) fn held(&self, name: &str, words: &[(&Word, Vec<Arg>)], appends: bool, state: &State) -> Option<Value> {
        let keyed = |(word, args): &(&Word, Vec<Arg>)| {
            is_written_keyed(word) || args.iter().filter_map(Arg::exact).any(|text| text.starts_with('['))
        };
        if self.reading.shell != Shell::Bash || !self.names.arrays.hold(name) || words.iter().any(keyed) {
            return None;
        }
        let mut all = match (appends, state.vars.get(name)) {
            (false, _) => Vec::new(),
            (true, Some(Value::List(before))) => before.to_vec(),
            (true, _) => return None,
        };
        let nowhere = |arg: &Arg| Arg { word: arg.word.clone(), span: 0..0 };
        all.extend(words.iter().flat_map(|(_, args)| args.iter().map(nowhere)));
        (all.len() <= ELEMENTS).then(|| Value::List(Rc::new(all)))
    }

    /// The words that `"${name[@]}"` or `"${name[0]}"` is, where it is known what the array holds.
    pub(super) fn elements(&self, param: &Param, state: &State) -> Option<Vec<Arg>> {
        let (Some(index), Op::Plain) = (param.index.as_deref(), &param.op) else { return None };
        let Some(Value::List(all)) = state.vars.get(&param.name) else { return None };
        if index == "@" {
            return Some(all.to_vec());
        }
        let number = index.parse().ok().filter(|_| is_decimal(index))?;
        nth(all, number).map(|arg| vec![one_word(arg)])
    }
}

/// Whether a subscript is the number that it looks like: bash takes `010` for eight.
fn is_decimal(index: &str) -> bool {
    index == "0" || !index.starts_with('0') && index.bytes().all(|byte| byte.is_ascii_digit())
}

/// The same in double quotes, where it does not fall apart.
pub(super) fn one_word(arg: &Arg) -> Arg {
    let word = match &arg.word {
        Became::Opaque { prefix, why, .. } => {
            Became::Opaque { prefix: prefix.clone(), splits: false, why: why.clone() }
        }
        known => known.clone(),
    };
    Arg { word, span: word_span(&arg.span) }
}

/// What is said of it.
pub(super) fn expands_again(name: &str) -> String {
    format!("a text that may be a list is given to the array `{name}`, and expanded again")
}

/// Whether a builtin reads into arrays.
pub(super) fn reads_arrays(program: &str, args: &[Arg]) -> bool {
    let option = |arg: &Arg| arg.exact().is_none_or(|text| text.starts_with('-') && text.contains('a'));
    matches!(program, "mapfile" | "readarray") || program == "read" && args.iter().skip(1).any(option)
}

/// Whether a declaration makes arrays whose subscripts are texts, by its words so far: `declare -A`. Of all others they
/// are evaluated.
pub(super) fn is_keyed(args: &[Arg]) -> bool {
    let words: Option<Vec<&str>> = args.iter().map(Arg::exact).collect();
    matches!(words.as_deref(), Some(["declare" | "typeset" | "local", "-A" | "-gA" | "-rA" | "-Ar"]))
}

/// Whether an element of a list begins with a subscript that is written out: `[name]=…`.
pub(super) fn has_plain_key(word: &Word) -> bool {
    let Some(Part::Plain(text)) = word.parts.first() else { return false };
    let key = text.strip_prefix('[').and_then(|rest| rest.split_once("]=")).map_or("", |(key, _)| key);
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// Whether an element of a list is written as `[…`. Of what an expansion gives no subscript is read, since bash 3.1.
pub(super) fn is_written_keyed(word: &Word) -> bool {
    match word.parts.first() {
        Some(Part::Plain(text)) => text.starts_with('['),
        _ => false,
    }
}

/// Whether an element of a list may be `[SUBSCRIPT]=VALUE`, and its subscript evaluated: a file by its name, too, unless
/// what is known of the name begins otherwise.
pub(super) fn may_be_keyed(arg: &Arg) -> bool {
    match &arg.word {
        Became::Exact(text) => text.starts_with('['),
        Became::Glob { prefix, .. } => prefix.is_empty() || prefix.starts_with('['),
        _ => true,
    }
}
