//! Who has read from standard input before.
//!
//! `git ls-files | while read -r file` gives a whole name each time, but only while nothing else reads there: one letter
//! taken away makes `a/etc/shadow` a path from the root. So what may take less than whole lines is remembered, and
//! everything that is not known to leave standard input alone may.

use super::super::judge::{Arg, Stdin, Word as Became};
use super::shapes::{is_integer, line_reader, loose_reader};

/// What was taken away from the standard input that a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taken {
    /// Some of it, and perhaps not whole lines.
    pub part: bool,
    /// Whole lines.
    lines: bool,
    /// Whole names that end with a zero byte. Beside lines, each cuts the other apart.
    zeros: bool,
}

/// Commands that never read there; of git the subcommands are named.
const NEVER: &[&str] = &[
    "echo", "printf", "true", "false", ":", "test", "[", "pwd", "cd", "basename", "dirname", "realpath", "readlink",
    "ls", "stat", "du", "exit", "return", "break", "continue", "local", "declare", "typeset", "export", "readonly",
    "unset", "shift", "let", "mkdir", "touch", "sleep",
];
const GIT: &[&str] = &["log", "show", "diff", "blame", "rev-parse", "rev-list", "status", "ls-files", "ls-tree"];

/// Programs that read there unless they are given a file: letters of options without a value, how many words stand
/// before the file, and whether they read to the end (then nothing is left, and nothing is cut apart).
const UNLESS: &[(&str, &str, usize, bool)] = &[
    ("cat", "nAbeEstTuv", 0, true),
    ("wc", "lwcmL", 0, true),
    ("tac", "", 0, true),
    ("nl", "", 0, true),
    ("sort", "rnufhVbg", 0, true),
    ("md5sum", "b", 0, true),
    ("sha1sum", "b", 0, true),
    ("sha256sum", "b", 0, true),
    ("cksum", "", 0, true),
    ("file", "biL", 0, false),
    ("head", "qvz", 0, false),
    ("tail", "qvzFf", 0, false),
    ("grep", "nicvlLwoEFHhqsxr", 1, false),
    ("egrep", "nicvlLwoHhqsx", 1, false),
    ("fgrep", "nicvlLwoHhqsx", 1, false),
    ("sed", "nErsz", 1, false),
    ("awk", "", 1, false),
    ("jq", "rcSeMaj", 1, false),
    ("cut", "sz", 0, false),
    ("uniq", "cdui", 0, false),
];

impl Taken {
    /// What a command with these words takes, which was given no standard input of its own. What a function that is
    /// followed takes, its commands say.
    pub(super) fn by(&mut self, args: &[Arg], follows: bool) {
        if line_reader(args).or_else(|| loose_reader(args)).is_some()
            && args.first().and_then(Arg::exact) == Some("read")
        {
            let zero = args.iter().any(|arg| arg.exact() == Some(""));
            self.zeros |= zero;
            self.lines |= !zero;
            self.part |= self.zeros && self.lines;
        } else if !follows && !leaves_it(args) {
            self.part = true;
        }
    }

    /// Whether more is known to be missing than `before`, and it matters for what is read from `stdin`.
    pub(super) fn tells_more_than(self, before: Taken, stdin: &Stdin) -> bool {
        match stdin {
            Stdin::Text(_) => self != before,
            Stdin::Pipe { .. } => self.part && !before.part,
            _ => false,
        }
    }
}

/// Whether a path may be standard input by another name.
pub(super) fn is_device(text: &str) -> bool {
    ["dev", "proc"].iter().any(|top| text.split('/').any(|part| part == *top))
}

/// Whether a command with these words certainly reads nothing from standard input that it does not read to its end.
pub(super) fn leaves_it(args: &[Arg]) -> bool {
    let Some((first, rest)) = args.split_first() else { return true };
    let Some(name) = first.exact() else { return false };
    // In its program awk may read there by another name, and with these words no file of jq is one.
    const ASKS: &[&str] = &["stdin", "files0", "getline", "--args", "--jsonargs"];
    let asked_for = |arg: &Arg| arg.exact().is_some_and(|text| ASKS.iter().any(|asks| text.contains(asks)));
    if rest.iter().any(asked_for) {
        return false;
    }
    if name == "git" {
        return rest.first().and_then(Arg::exact).is_some_and(|sub| GIT.contains(&sub));
    }
    let Some((_, flags, before, to_the_end)) = UNLESS.iter().find(|(known, ..)| *known == name) else {
        return NEVER.contains(&name);
    };
    let mut files = 0;
    let mut rest = rest.iter();
    while let Some(arg) = rest.next() {
        match &arg.word {
            Became::Exact(text) if text == "-" || is_device(text) => return false,
            Became::Exact(text) if text.starts_with('-') => {
                let letters = text.get(1..).unwrap_or_default();
                let plain = letters.chars().all(|c| flags.contains(c));
                let number = letters.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                let counts = letters.len() - number.len() < 2 && is_integer(number);
                // What follows may be its value, or standard input itself behind `--`.
                let here = |arg: &Arg| arg.exact().is_some_and(|text| text == "-" || is_device(text));
                if !plain && !counts && rest.next().is_some_and(here) {
                    return false;
                }
            }
            Became::Exact(_) => files += 1,
            // A name that `find` listed.
            Became::Glob { pattern, .. } if pattern.starts_with("./") => files += 1,
            Became::Glob { prefix, .. } | Became::Opaque { prefix, .. } => {
                if is_device(prefix) || (prefix.is_empty() || prefix.starts_with('-')) && !to_the_end {
                    return false;
                }
                files += 1;
            }
            Became::OneOf(_) => return false,
        }
    }
    files > *before
}
