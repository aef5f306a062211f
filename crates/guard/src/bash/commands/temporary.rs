//! `mktemp`: what it makes, and what its output is.

use super::super::judge::{Arg, Judge, Word};
use super::super::words::LABEL;
use super::spec::Parsed;

/// What stands for whatever a `mktemp` of the command line made: a file or a directory that nobody else has, in `/tmp`.
pub(in super::super) const TEMPORARY: &str = concat!("/tmp", "/tmp.XXXXXXXXXX");

/// What it writes.
pub(super) fn judge(parsed: &Parsed, judge: &mut Judge<'_>) {
    let here = |text: &str| Arg { word: Word::Exact(text.to_owned()), span: 0..0 };
    match parsed.operands.first() {
        _ if parsed.has("u dry-run") => {}
        Some(template) if !parsed.has("t p tmpdir") => judge.write(template),
        Some(template) if !parsed.has("t") => {
            let place = parsed.value("p tmpdir").cloned().unwrap_or_else(|| here("/tmp"));
            judge.write_tree(&place);
            match (place.exact(), template.exact()) {
                (Some(place), Some(text)) => judge.write(&template.with(&format!("{place}/{text}"))),
                _ => judge.write(template),
            }
        }
        _ => match parsed.value("p tmpdir") {
            Some(place) => judge.write_tree(place),
            None => judge.write(&here(TEMPORARY)),
        },
    }
}

/// Whether these words make something in `/tmp` and print its name, and nothing else: no other directory, no dry run.
pub(in super::super) fn makes(argv: &[Arg]) -> bool {
    let mut words = argv.iter().map(Arg::exact);
    if words.next() != Some(Some("mktemp")) {
        return false;
    }
    let mut templates = 0;
    words.all(|word| match word {
        Some("-d" | "-q" | "-t" | "-dq" | "-qd" | "-dt" | "--directory" | "--quiet") => true,
        Some(word) if !word.starts_with('-') => {
            templates += 1;
            let below = word
                .strip_prefix("/tmp")
                .and_then(|name| name.strip_prefix('/'))
                .or_else(|| argv.iter().any(is_t).then_some(word));
            templates == 1 && below.is_some_and(|name| !name.contains('/') && name.ends_with("XXX"))
        }
        _ => false,
    })
}

/// The name of what these words make below the working directory, as a pattern, where that is all they print.
pub(in super::super) fn makes_here(argv: &[Arg]) -> Option<(String, String)> {
    let words: Vec<&str> = argv.iter().map(Arg::exact).collect::<Option<_>>()?;
    let words = words.strip_prefix(&["mktemp"])?;
    let words = words.strip_prefix(&["-d"]).unwrap_or(words);
    let plain = |place: &str| {
        let letters = place.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        letters && !place.starts_with(['-', '/']) && !super::places::leads_away(place)
    };
    let start = match words {
        ["-p", place] if plain(place) => format!("{}/tmp.", place.trim_end_matches('/')),
        [template] if plain(template) && template.ends_with("XXX") => template.trim_end_matches('X').to_owned(),
        _ => return None,
    };
    let known = !start.is_empty() && !start.ends_with('/');
    known.then(|| (format!("{start}{LABEL}"), start))
}

/// `-t`: the template is a name in the temporary directory.
fn is_t(word: &Arg) -> bool {
    matches!(word.exact(), Some("-t" | "-dt"))
}
