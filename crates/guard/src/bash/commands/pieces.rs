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
    // The number of a piece may be what makes its name a guarded one, alone or with the end behind it.
    let one = |names: &str| parsed.value(names).map_or(Some(""), Arg::exact);
    let csplit = parsed.path.first().is_some_and(|name| name.ends_with("csplit"));
    let start = prefix.map_or(if csplit { "xx" } else { "x" }, |prefix| prefix.exact().unwrap_or_default());
    let (before, number, end) = match (csplit, one("b suffix-format"), one("additional-suffix")) {
        // Numbers alone make none.
        (true, Some(""), _) => return,
        (true, Some(form), _) => {
            let (before, behind) = form.split_once('%').unwrap_or((form, ""));
            let end = behind.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
            (before, None, end.get(1..).unwrap_or_default())
        }
        (false, _, Some(end)) => {
            let count = one("a suffix-length").and_then(|count| count.parse().ok()).filter(|count| *count > 0);
            ("", count.map(|count: usize| count.min(LONGEST)), end)
        }
        _ => return judge.opaque("the names of the pieces are not known"),
    };
    let start = format!("{start}{before}");
    // Of one letter each; of several the names that matter, and those of one letter again and again.
    let alike = ('a'..='z').chain('0'..='9').map(|letter| letter.to_string().repeat(number.unwrap_or(1)));
    for number in alike.chain(csplit.then(String::new)) {
        let name = judge.word(format!("{start}{number}{end}"));
        if judge.is_guarded(&name) {
            judge.write(&name);
        }
    }
    let number = number.map_or("*".to_owned(), |count| "?".repeat(count));
    let pattern = format!("{start}{number}{end}");
    judge.write(&Arg { word: Word::Glob { prefix: start, pattern }, span: judge.span.clone() });
}

/// Most letters of a name of a piece that are looked at: a file system takes no longer names.
const LONGEST: usize = 255;
