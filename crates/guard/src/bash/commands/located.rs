//! Names of files in front of the lines that a search finds there: `grep -rn main src | cut -d: -f1`.
//!
//! What is cut off at the first colon is the name, or the start of one with a colon in it, which lies below the same
//! directory. Without numbers of lines and without names a search of one file prints its lines alone.

use super::super::judge::Arg;
use super::spec::{self, Parsed, lists};

/// Options with which each line begins with a name and a colon, or with a number and a colon.
const KEEPS: &str = "n line-number H with-filename i ignore-case w word-regexp x line-regexp F fixed-strings E extended-regexp \
    G basic-regexp e regexp r recursive s no-messages I a text v invert-match o only-matching m max-count c count exclude \
    exclude-dir include g glob t type T type-not S smart-case P perl-regexp";

/// The search that lists the names alone, where what these two commands print together are names: `grep -rln main src`.
pub(super) fn names(search: &[Arg], cut: &[Arg]) -> Option<Vec<Arg>> {
    let program = search.first().and_then(Arg::exact).and_then(super::standard)?;
    let git = program == "git";
    let named = match program {
        "grep" | "egrep" | "fgrep" | "rg" => true,
        "git" => search.get(1).and_then(Arg::exact) == Some("grep"),
        _ => false,
    };
    let parsed =
        super::find(program).map(|spec| spec::parse(spec, search)).filter(|parsed| parsed.unknown.is_none())?;
    let kept = parsed.opts.iter().all(|(name, _)| lists(KEEPS, name));
    let told = git || parsed.has("n line-number H with-filename") || program != "rg" && is_tree(&parsed);
    if !named || !kept || !told || !super::numbers::first(cut, ':') {
        return None;
    }
    let at = if git { 2 } else { 1 };
    let (front, rest) = search.split_at_checked(at)?;
    let list = search.first()?.with("-l");
    Some(front.iter().chain([&list]).chain(rest).cloned().collect())
}

/// Whether what is searched is certain to be a directory, or more than one place.
fn is_tree(parsed: &Parsed) -> bool {
    let patterns = usize::from(!parsed.has("e regexp"));
    let places = parsed.operands.get(patterns..).unwrap_or_default();
    parsed.has("r recursive")
        && match places {
            [] => true,
            [place] => place.exact().is_some_and(|place| place == "." || place.ends_with('/')),
            _ => false,
        }
}
