//! Texts that a command prints and of which it is known what letters they have: dates, numbers, hashes, the name of the
//! machine's architecture.
//!
//! As a part of a name they lead nowhere: `touch "log-$(date +%F).txt"` makes a file here, whatever day it is.

use std::borrow::Cow;

use super::super::judge::{Arg, Word};
use super::super::words::{LABEL, Label};
use super::spec::lists;

/// Programs whose operands and values are names of files, branches and tags, or texts that nothing reads. For others a word
/// with such a text in it is what a pattern is: perhaps a program of sed, or an expression.
const NAMED: &str = "touch gtouch mkdir gmkdir rmdir tee gtee cp gcp mv gmv rm grm unlink ln gln install ginstall tar gtar zip unzip \
    gzip xz zstd bzip2 git cat head tail wc ls stat test [ chmod truncate mktemp basename dirname realpath readlink pandoc dot find";

/// The words of a program as it is given them, with [`LABEL`] in the place of what is printed. It has that in one word each,
/// and a pattern finds none or many.
pub(super) fn spelled<'a>(program: &str, argv: &'a [Arg]) -> Cow<'a, [Arg]> {
    let labelled = |arg: &Arg| matches!(&arg.word, Word::Glob { pattern, .. } if is_one_word(pattern) && !pattern.starts_with('-'));
    // Options of git before its subcommand lead to another repository, and what find runs is another program.
    let elsewhere = program == "git" && argv.get(1).and_then(Arg::exact).is_none_or(|sub| sub.starts_with('-'))
        || program == "find"
            && argv.iter().filter_map(Arg::exact).any(|word| word.starts_with("-exec") || word.starts_with("-ok"));
    if !lists(NAMED, program) || elsewhere || !argv.iter().any(labelled) {
        return Cow::Borrowed(argv);
    }
    let one = |arg: &Arg| text(arg).filter(|_| labelled(arg)).map_or_else(|| arg.clone(), |text| arg.with(text));
    Cow::Owned(argv.iter().map(one).collect())
}

/// The text of a word that is one, with [`LABEL`] in the place of what is printed.
pub(super) fn text(arg: &Arg) -> Option<&str> {
    match &arg.word {
        Word::Glob { pattern, .. } if is_one_word(pattern) => Some(pattern),
        _ => arg.exact(),
    }
}

/// Whether a pattern is one word, of which only what is printed is not known.
pub(super) fn is_one_word(pattern: &str) -> bool {
    pattern.contains(LABEL) && !pattern.contains(['*', '?', '[', '\\'])
}

/// Whether a command prints a number whatever happens.
pub(in super::super) fn always_number(argv: &[Arg]) -> bool {
    match words(argv).as_deref() {
        Some(["nproc"] | ["id", "-u" | "-g"]) => true,
        Some(["date", rest @ ..]) => date(rest).is_some_and(|format| is_date(format, "")),
        _ => false,
    }
}

/// Whether a command prints one word that leads nowhere.
pub(in super::super) fn label(argv: &[Arg]) -> Option<Label> {
    match words(argv)?.as_slice() {
        ["date", rest @ ..] => date(rest).is_some_and(|format| is_date(format, "-_.")).then_some(Label::Always),
        ["uname", "-m" | "-s" | "--machine" | "--kernel-name"] | ["arch"] => Some(Label::Always),
        ["git", rest @ ..] => is_of_head(rest).then_some(Label::Perhaps),
        _ => None,
    }
}

/// Whether what git says of a commit, as [`label`] knows it, is a time in seconds.
pub(in super::super) fn is_time(argv: &[Arg]) -> bool {
    let time = |word: &str| {
        word.ends_with("=%ct") || word.ends_with("=%at") || word.ends_with(":%ct") || word.ends_with(":%at")
    };
    argv.iter().filter_map(Arg::exact).any(time)
}

fn words(argv: &[Arg]) -> Option<Vec<&str>> {
    argv.iter().map(Arg::exact).collect()
}

/// The format of a date of our days: further away a year may begin with a dash.
fn date<'w>(words: &[&'w str]) -> Option<&'w str> {
    let near = |word: &str| {
        let word = word.trim();
        let ago = word.strip_suffix(" ago").unwrap_or(word).trim_start_matches(['+', '-']);
        let count = ago.split_once(' ').filter(|(count, unit)| {
            let units = "day days hour hours minute minutes week weeks";
            count.len() < 4 && count.bytes().all(|byte| byte.is_ascii_digit()) && lists(units, unit)
        });
        count.is_some() || lists("now today yesterday tomorrow", word)
    };
    match words {
        ["-u" | "--utc", rest @ ..] => date(rest),
        ["-d" | "--date", day, rest @ ..] if near(day) => date(rest),
        ["-I" | "-Idate" | "--iso-8601" | "--iso-8601=date"] => Some("%F"),
        [format] => format.strip_prefix('+'),
        _ => None,
    }
}

/// Fields of a date that are digits, and nothing else.
const DIGITS: &str = "Y m d H I M S s N j y C u w U V W G g";

/// Whether a format has nothing but digits in it, texts of letters where any of `marks` may stand, and these. A colon is not
/// among them: what stands before it is a machine for some programs.
fn is_date(format: &str, marks: &str) -> bool {
    let mut chars = format.chars().peekable();
    let mut last = None;
    while let Some(c) = chars.next() {
        let fits = match c {
            '%' => {
                // A count of digits, for parts of a second.
                let count = chars.next_if(|c| matches!(c, '1'..='9'));
                match chars.next() {
                    Some('N') => true,
                    Some('F') => count.is_none() && marks.contains('-'),
                    Some(field) => count.is_none() && lists(DIGITS, field.encode_utf8(&mut [0; 4])),
                    None => false,
                }
            }
            '.' if last == Some('.') => false,
            c if marks.contains(c) => last.is_some(),
            c => !marks.is_empty() && c.is_ascii_alphanumeric() || c.is_ascii_digit(),
        };
        if !fits {
            return false;
        }
        last = Some(c);
    }
    last.is_some()
}

/// Whether git says the hash or the time of one commit, and nothing where there is none. A name of a commit it says as it
/// stands where it knows none.
fn is_of_head(words: &[&str]) -> bool {
    const FORMATS: &str = "%h %H %ct %at %cs %as";
    let plain = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-~^".contains(c))
            && !word.contains("^-")
    };
    let option = |word: &str| {
        let count = word.strip_prefix("--short=").is_some_and(|count| count.parse::<u8>().is_ok());
        count || lists("--short --verify -q --quiet", word)
    };
    match words {
        ["rev-parse", options @ .., commit] => plain(commit) && options.iter().all(|word| option(word)),
        [sub @ ("log" | "show"), rest @ ..] => {
            let one = if *sub == "log" { "-1 -n1" } else { "-s --no-patch" };
            let format = |word: &&str| {
                ["--format=", "--pretty=format:", "--pretty="]
                    .iter()
                    .find_map(|start| word.strip_prefix(start))
                    .is_some_and(|format| lists(FORMATS, format))
            };
            rest.iter().filter(|word| format(word)).count() == 1
                && rest.iter().any(|word| lists(one, word))
                && rest.iter().all(|word| format(word) || lists("-1 -n1 -s --no-patch HEAD", word))
        }
        _ => false,
    }
}
