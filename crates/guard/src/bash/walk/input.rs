//! Who has read from standard input before.
//!
//! `git ls-files | while read -r file` gives a whole name each time, but only while nothing else reads there: one letter
//! taken away makes `a/etc/shadow` a path from the root. So what may take less than whole lines is remembered, and
//! everything that is not known to leave standard input alone may.

use super::super::commands::{self, Printed};
use super::super::judge::{Arg, Stdin, Why, Word as Became};
use super::super::parse::is_name;
use super::super::print::text_of;
use super::super::script::{Assign, AssignValue};
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
    "unset", "shift", "let", "mkdir", "touch", "sleep", "chmod", "chown",
];
const GIT: &[&str] = &[
    "log",
    "show",
    "diff",
    "diff-tree",
    "blame",
    "rev-parse",
    "rev-list",
    "status",
    "ls-files",
    "ls-tree",
    "merge-base",
    "describe",
];

/// Programs that read there only where an option says so, and the options of which that is known not to be: letters, and long
/// ones.
const TOLD: &[(&str, &str, &str)] = &[
    ("git add", "AufvnN", "--all --update --force --verbose --dry-run --intent-to-add"),
    ("git rm", "fnrq", "--cached --force --dry-run --quiet"),
    ("git mv", "fknv", "--force --dry-run --verbose"),
    ("cp", "afnpRrTuvL", "--archive --force --no-clobber --recursive --parents --update --verbose"),
    ("mv", "fnTuv", "--force --no-clobber --update --verbose"),
    ("rm", "frRvd", "--force --recursive --verbose"),
    ("ln", "fnsrTv", "--force --symbolic --relative --verbose"),
];

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
    ("tail", "qvzFf", 0, true),
    ("gofmt", "wlsde", 0, true),
    ("grep", "nicvlLwoEFHhqsxr", 1, false),
    ("egrep", "nicvlLwoHhqsx", 1, false),
    ("fgrep", "nicvlLwoHhqsx", 1, false),
    ("rg", "nilcvwoFSH", 1, false),
    ("sed", "nErszi", 1, false),
    ("awk", "", 1, false),
    ("jq", "rcSeMaj", 1, false),
    ("cut", "sz", 0, true),
    ("uniq", "cdui", 0, true),
];

impl Taken {
    /// What a command with these words takes, which was given no standard input of its own. What a function that is
    /// followed takes, its commands say.
    pub(super) fn by(&mut self, args: &[Arg], follows: bool) {
        let reads = args.first().and_then(Arg::exact) == Some("read");
        if reads && (line_reader(args).or_else(|| loose_reader(args)).is_some() || reads_parts(args)) {
            let zero = args.iter().any(|arg| arg.exact() == Some(""));
            self.zeros |= zero;
            self.lines |= !zero;
            self.part |= self.zeros && self.lines;
        } else if !follows {
            // Where it is read to its end nothing is left, and nothing is cut apart.
            self.part |= !leaves(args, true);
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

/// Whether `read` takes whole lines, for several names: `read -r hash subject`.
fn reads_parts(args: &[Arg]) -> bool {
    let words: Option<Vec<&str>> = args.iter().skip(1).map(Arg::exact).collect();
    words.is_some_and(|words| words.strip_prefix(&["-r"]).unwrap_or(&words).iter().all(|name| is_name(name)))
}

/// What `read` finds there that is told by `IFS` where to cut: any letter but a blank takes a part of a name away, and of
/// `..a` nothing but `..` is left.
pub(super) fn cut_at(assigns: &[Assign], stdin: Stdin) -> Stdin {
    let blank = |assign: &Assign| match &assign.value {
        AssignValue::Word(word) if !assign.append => {
            word.parts.is_empty()
                || text_of(word).is_some_and(|text| text.chars().all(|c| matches!(c, ' ' | '\t' | '\n')))
        }
        _ => false,
    };
    match stdin {
        Stdin::Pipe { remote, told, hint, .. }
            if assigns.iter().any(|assign| assign.name == "IFS" && !blank(assign)) =>
        {
            Stdin::Pipe { printed: Printed::Anything, remote, told, hint }
        }
        whole => whole,
    }
}

/// Whether a path may be standard input by another name.
pub(super) fn is_device(text: &str) -> bool {
    ["dev", "proc"].iter().any(|top| text.split('/').any(|part| part == *top))
}

/// Whether a command with these words certainly reads nothing from standard input.
pub(super) fn leaves_it(args: &[Arg]) -> bool {
    leaves(args, false)
}

/// Whether a command with these words leaves all of it; where reading `to_the_end` is no matter, that does, too.
///
/// One of the names that a command lists may be none to the program that is given it: an option, or `-`. What is then cut off
/// a line is no worse than what blanks and ends of lines cut off names elsewhere: a path that nobody has listed.
fn leaves(args: &[Arg], to_the_end: bool) -> bool {
    let Some((first, rest)) = args.split_first() else { return true };
    let Some(name) = first.exact() else { return false };
    // In its program awk may read there by another name, and with these words no file of jq is one.
    const ASKS: &[&str] = &["stdin", "files0", "getline", "--args", "--jsonargs"];
    let asked_for = |arg: &Arg| arg.exact().is_some_and(|text| ASKS.iter().any(|asks| text.contains(asks)));
    if rest.iter().any(asked_for) {
        return false;
    }
    let sub = rest.first().and_then(Arg::exact).filter(|_| name == "git");
    if NEVER.contains(&name) || sub.is_some_and(|sub| GIT.contains(&sub)) {
        return true;
    }
    if let Some((_, flags, before, ends)) = UNLESS.iter().find(|(known, ..)| *known == name) {
        return unless_given(rest, flags, *before, to_the_end && (*ends || counts_lines(name, rest)));
    }
    let (is_called, rest): (&dyn Fn(&str) -> bool, _) = match sub {
        Some(sub) => (&|known| known.strip_prefix("git ") == Some(sub), rest.get(1..).unwrap_or_default()),
        None => (&|known| known == name, rest),
    };
    match TOLD.iter().find(|(known, ..)| is_called(known)) {
        Some((_, letters, long)) => unless_told(rest, letters, long),
        None => name == "perl" && commands::substitutes(rest),
    }
}

/// Whether grep only counts, which it does to the end, and a name is no option of it.
fn counts_lines(name: &str, words: &[Arg]) -> bool {
    let options: Vec<&str> = words
        .iter()
        .filter_map(Arg::exact)
        .take_while(|word| *word != "--")
        .filter(|word| word.starts_with('-'))
        .collect();
    let plain =
        |option: &&str| option.get(1..).is_some_and(|letters| letters.chars().all(|c| "cnivwoEFHhsx".contains(c)));
    let ended = words.iter().position(|word| word.exact() == Some("--"));
    let known = |arg: &Arg| !commands::may_be_option(arg) || arg.exact().is_some();
    name.ends_with("grep")
        && ended.is_some_and(|ended| words.iter().take(ended).all(known))
        && options.iter().all(plain)
        && options.iter().any(|option| option.contains('c'))
}

/// Of a program that is told by an option to ask, or to take its names from there.
fn unless_told(words: &[Arg], letters: &str, long: &str) -> bool {
    for word in words {
        match word.exact() {
            Some("--") => return true,
            Some(text) if text.len() > 1 && text.starts_with('-') => {
                let short = text.get(1..).is_some_and(|text| text.chars().all(|c| letters.contains(c)));
                if !short && !long.split(' ').any(|known| known == text) {
                    return false;
                }
            }
            None if commands::may_be_option(word) && !is_name_here(word) => return false,
            _ => {}
        }
    }
    true
}

/// Whether the word is a name that a pattern finds here, or one of those that a command lists.
fn is_name_here(arg: &Arg) -> bool {
    matches!(arg.word, Became::Glob { .. } | Became::Opaque { why: Why::Loose, .. }) && commands::is_file_here(arg)
}

/// Of a program that reads there unless it is given a file.
fn unless_given(words: &[Arg], flags: &str, before: usize, to_the_end: bool) -> bool {
    let (mut files, mut ended) = (0, false);
    let mut rest = words.iter();
    while let Some(arg) = rest.next() {
        match &arg.word {
            Became::Exact(text) if text == "-" || is_device(text) => return false,
            Became::Exact(text) if text == "--" && !ended => ended = true,
            Became::Exact(text) if text.starts_with('-') && !ended => {
                let letters = text.get(1..).unwrap_or_default();
                // `-i.bak`: the end of a name under which the file is kept.
                let kept = letters.find("i.").filter(|_| flags.contains('i')).map_or(letters.len(), |at| at + 1);
                let plain = letters.chars().take(kept).all(|c| flags.contains(c));
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
                let named = prefix.is_empty() || prefix.starts_with('-');
                if is_device(prefix) || named && !to_the_end && !is_name_here(arg) {
                    return false;
                }
                files += 1;
            }
            Became::OneOf(_) => return false,
        }
    }
    files > before
}
