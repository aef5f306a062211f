//! Numbers that a pipeline prints, one a line, and nothing else: `grep -n main a.c | head -1 | cut -d: -f1`.
//!
//! What holds no more than digits is no option and no path, runs nothing where arithmetic evaluates it, and is no command of
//! sed. Of a file that is no text an older grep says `Binary file a.c matches`: to arithmetic that is an error behind the
//! first word, and to sed one at the first letter.

use std::path::Path;

use super::super::judge::{Arg, Word};
use super::super::lang::awk;
use super::spec::{self, Parsed, lists};

/// What the lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// Digits.
    Numbers,
    /// Digits, this mark, and anything else; blanks may stand in front.
    Columns(char),
    /// What arithmetic takes for a number or for an error, if it is evaluated: `-5`, `1.5`.
    Sums,
}

/// What all that a pipeline prints is, if it is such lines.
pub(super) fn prints(stages: &[&[Arg]]) -> Option<Lines> {
    stages.iter().fold(None, |before, argv| makes(argv).or_else(|| before.and_then(|lines| passes(lines, argv))))
}

/// Whether a line of it may say of a file that it is no text.
pub(super) fn may_say_more(stages: &[&[Arg]]) -> bool {
    stages.iter().any(|argv| {
        let name = argv.first().and_then(Arg::exact).and_then(super::standard).unwrap_or_default();
        let text = || super::find(name).is_some_and(|spec| spec::parse(spec, argv).has("a text I c count"));
        lists("grep egrep fgrep", name) && !text()
    })
}

/// What a command prints, whatever it reads.
fn makes(argv: &[Arg]) -> Option<Lines> {
    let (program, rest) = argv.split_first()?;
    let name = program.exact().and_then(super::standard)?;
    let words: Option<Vec<&str>> = rest.iter().map(Arg::exact).collect();
    let words = words.as_deref();
    match name {
        _ if super::labels::always_number(argv) || counts(name, argv) => Some(Lines::Numbers),
        "awk" | "gawk" | "mawk" => {
            awk_of(rest).is_some_and(|(_, text, _)| awk::numbers::only(text)).then_some(Lines::Numbers)
        }
        "sed" | "gsed" => numbers_lines(rest).then_some(Lines::Numbers),
        "grep" | "egrep" | "fgrep" => of_grep(name, argv),
        "tr" => {
            matches!(words, Some(["-dc" | "-cd", "0-9" | "[0-9]" | "[:digit:]" | "0-9\\n"])).then_some(Lines::Numbers)
        }
        "du" | "wc" => (sizes(name, words?)).then_some(Lines::Columns(if name == "du" { '\t' } else { ' ' })),
        "cat" => matches!(words?, ["-n", files @ ..] if files.iter().all(|file| !file.starts_with('-')))
            .then_some(Lines::Columns('\t')),
        "jq" => measures(words?).then_some(Lines::Sums),
        "stat" => times(argv).then_some(Lines::Sums),
        "date" => seconds(rest).then_some(Lines::Sums),
        "git" => when(rest).then_some(Lines::Numbers),
        _ => None,
    }
}

/// What a command makes of such lines.
fn passes(lines: Lines, argv: &[Arg]) -> Option<Lines> {
    let (program, rest) = argv.split_first()?;
    let name = program.exact().and_then(super::standard)?;
    if super::printed::filters_lines(name, argv) {
        return Some(lines);
    }
    let words: Vec<&str> = rest.iter().map(Arg::exact).collect::<Option<_>>()?;
    let first = || match lines {
        Lines::Columns(mark) => first(argv, mark),
        // Of digits and blanks the first part is digits, or nothing.
        Lines::Numbers | Lines::Sums => first(argv, ' '),
    };
    let trims = || match (name, words.as_slice()) {
        ("tr", ["-d", gone]) => lists("[:space:] [:blank:] \\n \\r \\t", gone.trim()) || gone.trim().is_empty(),
        ("xargs" | "cat", []) => true,
        ("sed", ["s/ //g" | "s/^ *//" | "s/[[:space:]]//g" | "s/^[[:space:]]*//"]) => true,
        ("sed", ["-n", line]) => line.strip_suffix('p').is_some_and(|line| line == "$" || is_digits(line)),
        _ => false,
    };
    match lines {
        Lines::Columns(_) => first().then_some(Lines::Numbers),
        Lines::Numbers | Lines::Sums => (first() || trims()).then_some(lines),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a command leaves what stands before the first such mark of each line, or its first field.
pub(super) fn first(argv: &[Arg], mark: char) -> bool {
    let Some((program, rest)) = argv.split_first() else { return false };
    let name = program.exact().and_then(super::standard).unwrap_or_default();
    let words: Option<Vec<&str>> = rest.iter().map(Arg::exact).collect();
    words.is_some_and(|words| cuts(name, &words, mark) || begins(name, rest, mark))
}

/// Whether a command leaves what stands before the first such mark of each line.
fn cuts(name: &str, words: &[&str], mark: char) -> bool {
    let mark = mark.to_string();
    let joined = words.join(" ");
    match name {
        "cut" if mark == "\t" => joined == "-f1" || joined == "-f 1",
        "cut" => {
            let field = words.contains(&"-f1") || words.windows(2).any(|two| matches!(two, ["-f", "1"]));
            let at = words.iter().any(|word| word.strip_prefix("-d") == Some(&mark))
                || words.windows(2).any(|two| two[0] == "-d" && two[1] == mark);
            let known = |word: &&str| {
                matches!(*word, "-f1" | "-f" | "1" | "-d") || *word == mark || *word == format!("-d{mark}")
            };
            field && at && words.len() <= 4 && words.iter().all(known)
        }
        "sed" => mark == ":" && matches!(words, ["s/:.*//" | "s/:.*$//"]),
        _ => false,
    }
}

/// Whether a command prints the first field of lines with such marks.
fn begins(name: &str, rest: &[Arg], mark: char) -> bool {
    const FIRST: &[&str] =
        &["{print$1}", "{print$1;exit}", "NR==1{print$1}", "NR==1{print$1;exit}", "END{print$1}", "{print$1;}"];
    let parted = |by: Option<&str>| match mark {
        ':' => by == Some(":"),
        '\t' => matches!(by, None | Some("\\t")),
        _ => matches!(by, None | Some(" ")),
    };
    let alone = |text: &str| FIRST.contains(&text.replace(' ', "").as_str());
    lists("awk gawk mawk", name)
        && awk_of(rest).is_some_and(|(by, text, files)| parted(by) && alone(text) && files.is_empty())
}

/// What fields are parted by, the program and its files, where awk is told nothing else: a variable that is set on the
/// command line would be printed.
fn awk_of(rest: &[Arg]) -> Option<(Option<&str>, &str, &[Arg])> {
    let (by, rest) = match rest {
        [option, by, rest @ ..] if option.exact() == Some("-F") => (Some(by.exact()?), rest),
        [option, rest @ ..] if option.exact()?.starts_with("-F") => (option.exact()?.strip_prefix("-F"), rest),
        rest => (None, rest),
    };
    let (program, files) = rest.split_first()?;
    let file = |arg: &Arg| match &arg.word {
        Word::Exact(text) => !text.starts_with('-') && !text.contains('='),
        Word::Glob { prefix, .. } => prefix.contains('/') && !prefix.starts_with('-'),
        _ => false,
    };
    let text = program.exact().filter(|text| !text.starts_with('-'))?;
    files.iter().all(file).then_some((by, text, files))
}

/// `sed -n '/main/='`: which lines they are.
fn numbers_lines(rest: &[Arg]) -> bool {
    let [option, program, files @ ..] = rest else { return false };
    let file = |arg: &Arg| !spec::may_be_option(arg);
    let Some(text) = program.exact().filter(|_| matches!(option.exact(), Some("-n" | "-nE" | "-nr" | "-En"))) else {
        return false;
    };
    let behind = match text.strip_prefix('/') {
        Some(pattern) => {
            let mut escaped = false;
            let end = pattern.char_indices().find(|(_, c)| {
                let ends = *c == '/' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map(|(at, _)| pattern.split_at(at))
                .filter(|(pattern, _)| !pattern.contains(['[', '\n']))
                .map(|(_, rest)| &rest[1..])
        }
        None => text.strip_prefix('$').or(Some(text.trim_start_matches(|c: char| c.is_ascii_digit()))),
    };
    let prints = |behind: &str| lists("= {=;q} {=;q;}", &behind.replace(' ', ""));
    behind.is_some_and(prints) && files.iter().all(file)
}

/// What `grep -n` and `grep -o '[0-9]*'` print of one file, or of what they are given.
fn of_grep(name: &str, argv: &[Arg]) -> Option<Lines> {
    // Names of files, other lines and marks.
    const MORE: &str = "r R recursive dereference-recursive H with-filename b byte-offset A B C after-context before-context \
        context 0 1 2 3 4 5 6 7 8 9 Z null z null-data T initial-tab c count l files-with-matches L files-without-match \
        color colour label q quiet silent d directories f file u unix-byte-offsets U binary";
    const DIGITS: &[&str] =
        &["[0-9]*", "[0-9]+", "[0-9]\\+", "[0-9][0-9]*", "[0-9]", "^[0-9]*", "^[0-9]+", "[0-9]*$", "[0-9]+$"];
    let parsed = super::find(name).map(|spec| spec::parse(spec, argv)).filter(|parsed| parsed.unknown.is_none())?;
    let pattern = usize::from(!parsed.has("e regexp"));
    let file = |arg: &Arg| arg.exact().is_some_and(is_plain_file);
    let files = parsed.operands.get(pattern..)?;
    let one = |arg: &Arg| !spec::may_be_option(arg) && !spec::may_be_more(arg);
    if parsed.has(MORE) || files.len() > 1 || !files.iter().all(file) || !parsed.operands.iter().all(one) {
        return None;
    }
    let digits = || {
        pattern == 1 && parsed.operands.first().and_then(Arg::exact).is_some_and(|pattern| DIGITS.contains(&pattern))
    };
    match (parsed.has("n line-number"), parsed.has("o only-matching")) {
        (true, _) => Some(Lines::Columns(':')),
        (false, true) if digits() && is_positive(&parsed) => Some(Lines::Numbers),
        _ => None,
    }
}

fn is_positive(parsed: &Parsed) -> bool {
    !parsed.has("v invert-match F fixed-strings x line-regexp")
}

/// A file below the working directory whose name falls apart nowhere, and means nothing to anybody.
fn is_plain_file(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    !text.is_empty()
        && text.chars().all(plain)
        && !text.starts_with(['-', '/'])
        && !text.contains("..")
        && crate::classify(Path::new(text)) == crate::PathClass::default()
}

/// Whether a command prints sizes of what is named, each before its name.
fn sizes(name: &str, words: &[&str]) -> bool {
    let option = |word: &&&str| word.starts_with('-');
    let options: Vec<&&str> = words.iter().take_while(option).collect();
    let names = words.get(options.len()..).unwrap_or_default();
    let letters = |word: &str, known: &str| word.len() > 1 && word.chars().skip(1).all(|c| known.contains(c));
    let named = names.iter().all(|name| !name.starts_with('-') && !name.contains('\n'));
    match name {
        // Only what is named: a name that is found may have the end of a line in it.
        "du" => {
            let short = options.iter().all(|word| letters(word, "sbkmcLxP"));
            named && short && options.iter().any(|word| word.contains('s')) && !names.is_empty()
        }
        _ => named && matches!(options.as_slice(), [option] if lists("-l -w -c -m", option)),
    }
}

/// `jq '.items | length'`.
fn measures(words: &[&str]) -> bool {
    let option = |word: &&&str| word.starts_with('-');
    let options = words.iter().take_while(option).count();
    let plain = |word: &&str| word.len() == 2 && word.ends_with(['r', 'c', 'e', 'M', 'a']);
    let Some((filter, files)) = words.get(options..).and_then(<[&str]>::split_first) else { return false };
    let before = filter.trim_end().strip_suffix("length").map(str::trim_end);
    words.iter().take(options).all(plain)
        // Behind a `#` it is no filter, and a definition may give the name another meaning.
        && !["#", "def", "import", "include"].iter().any(|word| filter.contains(word))
        && before.is_some_and(|before| before.is_empty() || before.ends_with('|'))
        && files.iter().all(|file| !file.starts_with('-'))
}

/// A time of a file, its rights, the number of its kind: digits, of which a time may be below zero.
fn times(argv: &[Arg]) -> bool {
    match argv {
        [_, option, format, files @ ..] if option.exact() == Some("-c") => {
            let plain = format.exact().is_some_and(|format| lists("%X %Y %Z %a %d", format));
            let ended = files.first().and_then(Arg::exact) == Some("--");
            plain && (ended || !files.iter().any(spec::may_be_option))
        }
        _ => false,
    }
}

/// `date -r a.txt +%s`, `date -d "$day" +%s`.
fn seconds(rest: &[Arg]) -> bool {
    let rest = match rest {
        [utc, rest @ ..] if matches!(utc.exact(), Some("-u" | "--utc")) => rest,
        rest => rest,
    };
    let given =
        |option: &Arg, value: &Arg| matches!(option.exact(), Some("-r" | "-d" | "--date")) && !spec::may_be_more(value);
    match rest {
        [format, option, value] if format.exact() == Some("+%s") => given(option, value),
        [option, value, format] if format.exact() == Some("+%s") => given(option, value),
        _ => false,
    }
}

/// When the last commit was made, here or of some files.
fn when(rest: &[Arg]) -> bool {
    let before: Option<Vec<&str>> = rest.iter().map(Arg::exact).take_while(|word| *word != Some("--")).collect();
    let Some(before) = before else { return false };
    let format = |word: &&&str| lists("--format=%ct --format=%at --pretty=format:%ct --pretty=format:%at", word);
    matches!(before.split_first(), Some((&"log", options))
        if options.iter().filter(format).count() == 1
            && options.iter().any(|word| lists("-1 -n1", word))
            && options.iter().all(|word| format(&word) || lists("-1 -n1 HEAD", word)))
}

/// Whether a command prints one number and nothing else.
fn counts(name: &str, argv: &[Arg]) -> bool {
    let words: Option<Vec<&str>> = argv.iter().skip(1).map(Arg::exact).collect();
    match (name, words.as_deref()) {
        ("wc", Some(["-l" | "-w" | "-c" | "-m" | "--lines" | "--words" | "--bytes"])) => true,
        ("grep", Some(["-c" | "-ic" | "-ci" | "-cE" | "-Ec" | "-vc" | "-cv" | "-cw" | "-cF", pattern]))
        | ("grep", Some(["-c" | "-ic" | "-ci" | "-cE" | "-Ec" | "-vc" | "-cv" | "-cw" | "-cF", pattern, _])) => {
            !pattern.starts_with('-') && !words.iter().flatten().skip(2).any(|file| file.starts_with('-'))
        }
        // A time may be a negative number.
        _ if name == "stat" => match argv {
            [_, option, format, files @ ..] if option.exact() == Some("-c") => {
                let counts = format.exact().is_some_and(|format| spec::lists("%s %h %u %g %i %b", format));
                let ended = files.first().and_then(Arg::exact) == Some("--");
                counts && (ended || !files.iter().any(spec::may_be_option))
            }
            _ => false,
        },
        ("git", Some(["rev-list", "--count", rest @ ..])) => {
            !rest.is_empty() && rest.iter().all(|word| super::printed::revision(word))
        }
        _ => false,
    }
}
