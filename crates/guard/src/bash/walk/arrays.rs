//! Texts that a declaration takes for a list: where `name` is an array, `declare "name=$text"` expands a text in
//! parentheses once more, and what it holds of commands runs.

use std::collections::BTreeSet;

use super::super::judge::{Arg, Word as Became};
use super::super::script::{Part, Word};

/// Names of arrays, and names that were given what may be the text of a list. In which order does not matter: a loop or
/// a function may turn it around.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    names: BTreeSet<String>,
    lists: BTreeSet<String>,
}

impl Arrays {
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
