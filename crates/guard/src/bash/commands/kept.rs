//! Texts that a command prints and of which it is known where they come from: `make VERSION=$(git describe)`,
//! `gcc a.c $(pkg-config --libs zlib)`.
//!
//! What they say is not known. But they say no more than what the repository holds, as its makefiles do, or what the system
//! says of its packages. So where they are given to what runs code of the workspace anyway, they are no more than that.

use super::super::judge::{Arg, Why};
use super::super::names::is_label;

/// What the text is that a command with these words prints, if it is such a text. `inside` says whether a file lies in the
/// workspace.
pub(in super::super) fn prints(argv: &[Arg], inside: impl Fn(&str) -> bool) -> Option<Why> {
    let words: Vec<&str> = argv.iter().map(Arg::exact).collect::<Option<_>>()?;
    let (program, rest) = words.split_first()?;
    let known = match *program {
        "cat" => matches!(rest, [file] if !file.starts_with('-') && inside(file)),
        "git" => is_of_history(rest),
        "date" => rest.iter().all(|word| word.starts_with('+') || matches!(*word, "-u" | "--utc" | "-I" | "-Iseconds")),
        "pkg-config" | "pkgconf" => return is_of_packages(rest).then_some(Why::Packaged),
        _ => false,
    };
    known.then_some(Why::Kept)
}

/// Whether git says something of a commit, a tag or a branch.
fn is_of_history(words: &[&str]) -> bool {
    const OPTIONS: &[&str] =
        &["--tags", "--always", "--long", "--all", "--dirty", "--exact-match", "--short", "--abbrev-ref", "--count"];
    const SHAPES: &[&str] = &["--format=", "--pretty=format:", "--pretty="];
    const FORMATS: &[&str] = &["%h", "%H", "%ct", "%cd", "%ci", "%cI", "%cs", "%as", "%ad", "%at"];
    let plain = |word: &&str| {
        OPTIONS.contains(word)
            || ["--abbrev=", "--short="].iter().any(|start| word.starts_with(start))
            || !word.starts_with('-') && !word.contains(':')
    };
    let shape = |word: &&str| {
        let value = SHAPES.iter().find_map(|start| word.strip_prefix(start));
        matches!(*word, "-1" | "-s" | "HEAD") || value.is_some_and(|value| FORMATS.contains(&value))
    };
    match words {
        ["describe" | "rev-parse" | "rev-list", rest @ ..] => rest.iter().all(plain),
        ["log" | "show", rest @ ..] => rest.iter().all(shape),
        ["branch", "--show-current"] | ["symbolic-ref", "--short", "HEAD"] => true,
        _ => false,
    }
}

/// Whether pkg-config is asked for options of packages by their plain names.
fn is_of_packages(words: &[&str]) -> bool {
    const OPTIONS: &str = "--libs --cflags --static --libs-only-l --libs-only-L --libs-only-other --cflags-only-I";
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
    words.iter().any(|word| !word.starts_with('-'))
        && words.iter().all(|word| match word.starts_with('-') {
            true => OPTIONS.split(' ').any(|known| known == *word),
            false => plain(word),
        })
}

/// Whether what follows `prefix` in a word only says which state of the sources is built: the value of a label, or of a
/// variable that the linker of Go puts in.
pub(super) fn is_stamped(prefix: &str) -> bool {
    let Some(before) = prefix.strip_suffix('=') else { return false };
    if is_label(before) {
        return true;
    }
    let flags = before.strip_prefix("-ldflags=").or_else(|| before.strip_prefix("--ldflags=")).unwrap_or(before);
    let words: Vec<&str> = flags.split(' ').filter(|word| !word.is_empty()).collect();
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-=".contains(c));
    let Some((last, earlier)) = words.split_last() else { return false };
    let mut sets = false;
    for word in earlier {
        sets = match (*word, sets) {
            ("-X", false) => true,
            ("-s" | "-w", false) => false,
            (value, true) if plain(value) && !value.starts_with('-') => false,
            _ => return false,
        };
    }
    sets && plain(last) && !last.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_labels_and_variables_of_the_linker() {
        for prefix in ["VERSION=", "-X main.v=", "-s -w -X main.v=", "-ldflags=-X main.v=", "-X a.b=1 -X a.c=", "X="] {
            assert!(is_stamped(prefix), "{prefix}");
        }
        for prefix in ["CC=", "VERSION", "-extld=", "-X main.v= -extld=", "-o=", "--tag=", "", "O=", "-X -extld="] {
            assert!(!is_stamped(prefix), "{prefix}");
        }
    }
}
