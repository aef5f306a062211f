//! What of a file's text the session was never shown, in the units that `read` counts: lines, or a notebook's cells.
//!
//! `write` replaces nothing unseen. A line that `read` cut counts as shown, as there is no way to see more of it; a
//! picture and a PDF have no lines and count as shown whole.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use nika_contract::{ToolError, code};
use nika_edit::{carried, raw_lines};
use nika_guard::Place;
use nika_host::fs::Shown;

use super::read;

/// Runs of lines that a refusal names; the rest is counted.
const NAMED_RUNS: usize = 4;

/// A file's text, taken apart as `read` counts it.
struct Units<'a> {
    all: Vec<Cow<'a, [u8]>>,
    /// What one is called.
    what: &'static str,
}

impl<'a> Units<'a> {
    fn of(path: &Path, bytes: &'a [u8]) -> Units<'a> {
        match read::sources(path, bytes) {
            Some(cells) => {
                Units { all: cells.into_iter().map(|cell| Cow::Owned(cell.into_bytes())).collect(), what: "cell" }
            }
            None => Units { all: raw_lines(bytes).into_iter().map(Cow::Borrowed).collect(), what: "line" },
        }
    }

    /// For each, whether it was never shown.
    fn unseen(&self, parts: &[(i64, i64)]) -> Vec<bool> {
        let total = self.all.len();
        let at = |number: i64| match usize::try_from(number) {
            Ok(number) => number.saturating_sub(1),
            Err(_) => total.saturating_sub(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        let mut unseen = vec![true; total];
        for (first, last) in parts {
            let part = at(*first).min(total)..at(*last).saturating_add(1).min(total);
            unseen.get_mut(part).unwrap_or_default().fill(false);
        }
        unseen
    }
}

/// How much the session has seen of `new`, which came of `old` by changes that it made or was told of.
pub(super) fn after(path: &Path, shown: &Shown, old: &[u8], new: &[u8]) -> Shown {
    let Shown::Parts(parts) = shown else { return Shown::All };
    let (old, new) = (Units::of(path, old), Units::of(path, new));
    let unseen = carried(&old.all, &new.all, &old.unseen(parts));
    if !unseen.contains(&true) {
        return Shown::All;
    }
    let number = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
    let part = |run: Range<usize>| (number(run.start).saturating_add(1), number(run.end));
    Shown::Parts(runs(&unseen, false).into_iter().map(part).collect())
}

/// Refuses to replace what the session was not shown.
pub(super) fn shown_whole(place: &Place, shown: &Shown, bytes: &[u8]) -> Result<(), ToolError> {
    let Shown::Parts(parts) = shown else { return Ok(()) };
    let units = Units::of(&place.path, bytes);
    let unseen = runs(&units.unseen(parts), true);
    let Some(first) = unseen.first() else { return Ok(()) };
    let what = units.what;
    let several = unseen.len() > 1 || first.len() > 1;
    let named: Vec<String> = unseen.iter().take(NAMED_RUNS).map(named).collect();
    let more = match unseen.len().saturating_sub(NAMED_RUNS) {
        0 => String::new(),
        more => format!(" and {more} more runs"),
    };
    let message = format!(
        "{}: {what}{} {}{more} of {} {} not shown in this session, and would be lost",
        place.shown(),
        if several { "s" } else { "" },
        named.join(", "),
        units.all.len(),
        if several { "were" } else { "was" },
    );
    let rest = if unseen.len() > 1 { ", and so on" } else { "" };
    let (offset, limit) = (first.start + 1, first.len());
    let instead = if what == "cell" { "notebook_edit" } else { "edit" };
    Err(ToolError::new(code::MUST_READ_FIRST, message).hint(format!(
        "change a part with {instead}; or read the rest (offset={offset}, limit={limit}{rest}), then repeat the call"
    )))
}

fn named(run: &Range<usize>) -> String {
    match run.len() {
        1 => run.end.to_string(),
        _ => format!("{}–{}", run.start + 1, run.end),
    }
}

/// Where `flag` stands, as runs.
fn runs(flags: &[bool], flag: bool) -> Vec<Range<usize>> {
    let mut at = 0;
    let each = flags.chunk_by(|a, b| a == b).map(|run| {
        at += run.len();
        (run[0], at - run.len()..at)
    });
    each.filter(|(is, _)| *is == flag).map(|(_, run)| run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(parts: &[(i64, i64)]) -> Shown {
        Shown::Parts(parts.to_vec())
    }

    #[test]
    fn what_was_not_shown_is_named() {
        let place = Place::inside("/w", "a.txt");
        let text = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let refused = |shown: &Shown| shown_whole(&place, shown, text).err().map(|error| error.to_string());
        for (shown, expected) in [
            (Shown::All, None),
            (parts(&[(1, 9)]), None),
            (parts(&[(1, 4), (-5, -1)]), None),
            (parts(&[(1, 5)]), Some("lines 6–9 of 9 were not shown")),
            (parts(&[(1, 8)]), Some("line 9 of 9 was not shown")),
            (parts(&[(2, 3), (-3, -2)]), Some("lines 1, 4–6, 9 of 9 were")),
            (Shown::default(), Some("lines 1–9 of 9 were")),
        ] {
            let refused = refused(&shown);
            assert_eq!(refused.is_some(), expected.is_some(), "{shown:?} {refused:?}");
            assert!(refused.unwrap_or_default().contains(expected.unwrap_or_default()), "{shown:?}");
        }
        assert!(shown_whole(&place, &Shown::default(), b"").is_ok(), "an empty file has nothing to see");
    }

    #[test]
    fn an_edit_moves_what_was_not_seen() {
        let after = |shown: &[(i64, i64)], old: &[u8], new: &[u8]| after(Path::new("/w/a"), &parts(shown), old, new);
        assert_eq!(after(&[(1, 1)], b"a\nb\nc\n", b"x\ny\nb\nc\n"), parts(&[(1, 2)]));
        assert_eq!(after(&[(-1, -1)], b"a\nb\nc\n", b"a\nb\n"), parts(&[]));
        assert_eq!(after(&[(1, 1)], b"a\nb\n", b"a\nx\n"), Shown::All);
    }

    #[test]
    fn cells_are_counted_in_a_notebook() {
        let book = |cells: &[&str]| {
            let cells: Vec<_> = cells
                .iter()
                .map(|source| format!(r#"{{"cell_type": "markdown", "metadata": {{}}, "source": "{source}"}}"#))
                .collect();
            format!(r#"{{"cells": [{}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 4}}"#, cells.join(",\n"))
        };
        let (old, new) = (book(&["a", "b", "c"]), book(&["x", "a", "b", "c"]));
        let path = Path::new("/w/n.ipynb");
        let now = after(path, &parts(&[(1, 1)]), old.as_bytes(), new.as_bytes());
        assert_eq!(now, parts(&[(1, 2)]));
        let refused =
            shown_whole(&Place::inside("/w", "n.ipynb"), &now, new.as_bytes()).expect_err("two cells are left");
        assert!(refused.to_string().contains("cells 3–4 of 4"), "{refused}");
        assert!(refused.hint.is_some_and(|hint| hint.contains("notebook_edit")));
    }
}
