//! `set -e; cd build; cmake ..`: a script that ends where a command of its own fails, so that behind a `cd` it stands there.
//!
//! Only what stands by itself, in a script of which nothing else may turn that off again: in conditions, in chains and in
//! what is called there an error is none, and a copy of the shell ends alone.

use super::super::print::text_of;
use super::super::script::{Item, Kind, Script, Word};
use super::calls::{self, any_of};

/// What may turn it off, or means that it may: an unknown command, and a text that runs here.
const LOSES: &[&str] = &[
    "set",
    "shopt",
    "eval",
    "source",
    ".",
    "builtin",
    "command",
    "trap",
    "enable",
    "alias",
    "mapfile",
    "readarray",
    "?",
    calls::PASSED,
];

/// Letters of `set` that change nothing about it.
const LETTERS: &str = "euxvE";
const NAMES: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "verbose", "errtrace"];

/// Which items are `set -e` in a script that ends at the first error from there on; none where it may not.
pub(super) fn begins(script: &Script) -> Option<usize> {
    let at = script.items.iter().position(|item| words_of(item).is_some_and(ends_at_errors))?;
    let others = script.items.iter().filter(|item| !words_of(item).is_some_and(keeps));
    let rest = Script { items: others.cloned().collect() };
    (!any_of(&rest, LOSES)).then_some(at)
}

/// Whether an item is a `cd` by itself, behind which such a script stands where that leads.
pub(super) fn is_lone_cd(item: &Item) -> bool {
    words_of(item).and_then(|words| words.first()).and_then(text_of).as_deref() == Some("cd")
}

/// The words of an item that is one simple command by itself.
fn words_of(item: &Item) -> Option<&[Word]> {
    let [stage] = item.first.stages.as_slice() else { return None };
    let Kind::Simple { assigns, words } = &stage.kind else { return None };
    let alone = item.rest.is_empty() && !item.background && item.first.bangs == 0;
    (alone && assigns.is_empty() && stage.redirects.is_empty()).then_some(words)
}

/// Whether it is a `set` that turns it on, or leaves it as it is.
fn keeps(words: &[Word]) -> bool {
    if words.len() < 2 || words.first().and_then(text_of).as_deref() != Some("set") {
        return false;
    }
    let texts: Option<Vec<_>> = words.iter().skip(1).map(text_of).collect();
    let Some(texts) = texts else { return false };
    let mut rest = texts.iter().map(AsRef::as_ref);
    while let Some(word) = rest.next() {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else { return false };
        let named = letters.ends_with('o');
        let letters = letters.strip_suffix('o').unwrap_or(letters);
        let known = letters.chars().all(|c| LETTERS.contains(c));
        if !known || named && !rest.next().is_some_and(|name| NAMES.contains(&name)) {
            return false;
        }
    }
    true
}

/// Whether it is one that turns it on.
fn ends_at_errors(words: &[Word]) -> bool {
    let on = |word: &Word| {
        text_of(word).is_some_and(|text| text == "errexit" || text.starts_with('-') && text.contains('e'))
    };
    keeps(words) && words.iter().skip(1).any(on)
}
