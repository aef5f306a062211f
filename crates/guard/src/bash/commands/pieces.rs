//! The files that split and csplit write: their names are put together from a start, a number and an end.

use super::super::judge::{Arg, Judge, Word};
use super::spec::Parsed;

/// split and csplit write files that start with a prefix.
pub(super) fn written(parsed: &Parsed, judge: &mut Judge<'_>, prefix: Option<&Arg>) {
    parsed.operands.first().into_iter().filter(|file| file.exact() != Some("-")).for_each(|file| judge.read(file));
    match prefix.map(|prefix| (prefix, prefix.exact())) {
        None => judge.write_cwd(),
        Some((prefix, Some(text))) => {
            judge.write_tree(&prefix.with(text.rsplit_once('/').map_or(".", |(above, _)| above)));
            judge.write(prefix);
        }
        Some(_) => judge.opaque("where it writes is not known"),
    }
    // The whole name of the first piece: its number may be no more than a letter, or nothing at all.
    let start = prefix.and_then(Arg::exact).unwrap_or_default();
    let whole = match (parsed.value("additional-suffix"), parsed.value("b suffix-format")) {
        (Some(end), _) if parsed.has("additional-suffix") => {
            let count = parsed.value("a suffix-length").and_then(Arg::exact).and_then(|count| count.parse().ok());
            let start = if prefix.is_none() { "x" } else { start };
            end.exact().map(|end| format!("{start}{}{end}", "a".repeat(count.unwrap_or(2).min(LONGEST))))
        }
        (_, Some(form)) if parsed.path.first().is_some_and(|name| name.ends_with("csplit")) => {
            form.exact().map(|form| {
                let (before, behind) = form.split_once('%').unwrap_or((form, ""));
                let behind = behind.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
                format!("{start}{before}{}", behind.get(1..).unwrap_or_default())
            })
        }
        _ => return,
    };
    match whole {
        Some(name) => judge.write(&Arg { word: Word::Exact(name), span: judge.span.clone() }),
        None => judge.opaque("the names of the pieces are not known"),
    }
}

/// Most letters of a name of a piece that are looked at: a file system takes no longer names.
const LONGEST: usize = 255;
