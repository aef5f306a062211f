//! The builtins of bash.
//!
//! Those that only print or steer the script are harmless. Those that change what later words mean
//! (functions, aliases, positional parameters, variables that programs obey) are opaque, and so is
//! everything that evaluates a subscript: `a[$(…)]` runs its text wherever a name is expected.

use std::path::Path;

use super::super::judge::{Arg, Judge, Shell, Word};
use super::super::names::{self, Meaning};
use super::spec::Does::{Flag, Value};
use super::spec::{Operands, PLAIN, Parsed, Spec, Style, may_be_more};
use super::text::anything;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    anything("echo : true false help times dirs logout caller"),
    raw("printf", printf),
    raw("test [", test),
    // The core follows the working directory and says what it thinks of the new one.
    Spec { names: "cd", opts: &[(Flag, "L P e @")], operands: Operands::Words, closed: true, ..PLAIN },
    Spec { names: "pwd", opts: &[(Flag, "L P W logical physical")], operands: Operands::Words, closed: true, ..PLAIN },
    Spec { names: "type", opts: &[(Flag, "a f p t P")], operands: Operands::Words, closed: true, ..PLAIN },
    Spec {
        names: "which",
        opts: &[(Flag, "a all s i read-alias skip-alias skip-dot skip-tilde show-dot show-tilde tty-only")],
        operands: Operands::Words,
        closed: true,
        ..PLAIN
    },
    Spec { names: "whereis", opts: &[(Flag, "b m s u l g f"), (Value, "B M S")], operands: Operands::Words, ..PLAIN },
    Spec { names: "hash", opts: &[(Flag, "r l t")], operands: Operands::Words, ..PLAIN },
    Spec {
        names: "read",
        opts: &[(Flag, "r s e"), (Value, "d i n N p t u"), (Value, "a")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let array = parsed.value("a").into_iter();
            parsed.operands.iter().chain(array).for_each(|name| variable(name, judge));
        }),
        ..PLAIN
    },
    Spec {
        names: "mapfile readarray",
        opts: &[(Flag, "t"), (Value, "d n O s u c")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| parsed.operands.iter().for_each(|name| variable(name, judge))),
        ..PLAIN
    },
    Spec {
        names: "export readonly local declare typeset",
        opts: &[(Flag, "x r g p a A l u f F")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| parsed.operands.iter().for_each(|word| assignment(word, judge))),
        ..PLAIN
    },
    Spec {
        names: "unset",
        opts: &[(Flag, "v f")],
        operands: Operands::Custom,
        check: Some(|parsed, judge| parsed.operands.iter().for_each(|name| variable(name, judge))),
        ..PLAIN
    },
    raw("set", set),
    Spec { names: "shopt", opts: &[(Flag, "s u p q o")], operands: Operands::Custom, check: Some(shopt), ..PLAIN },
    Spec { names: "exit return break continue shift", operands: Operands::Words, closed: true, ..PLAIN },
    Spec { names: "wait", opts: &[(Flag, "f n")], operands: Operands::Words, ..PLAIN },
    Spec { names: "jobs", opts: &[(Flag, "l n p r s")], operands: Operands::Words, ..PLAIN },
    Spec { names: "disown bg fg", opts: &[(Flag, "a h r")], operands: Operands::Words, ..PLAIN },
    Spec { names: "umask", opts: &[(Flag, "p S")], operands: Operands::Words, ..PLAIN },
    // With an operand it sets a limit.
    Spec {
        names: "ulimit",
        opts: &[(Flag, "a b c d e f H i k l m n p P q r R s S t T u v x")],
        operands: Operands::Custom,
        check: Some(ulimit),
        ..PLAIN
    },
    Spec {
        names: "history",
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let number = |word: &Arg| word.exact().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            if !parsed.operands.iter().all(number) {
                judge.opaque("it changes what the shell remembers");
            }
        }),
        ..PLAIN
    },
    // A definition would only count for later lines; there is no reason to write one here.
    Spec { names: "alias", opts: &[(Flag, "p")], ..PLAIN },
    Spec { names: "unalias", opts: &[(Flag, "a")], operands: Operands::Words, ..PLAIN },
    // `-C`, `-F` and `-W` evaluate their value.
    Spec {
        names: "compgen",
        opts: &[(Flag, "a b c d e f g j k s u v"), (Value, "A")],
        operands: Operands::Read,
        check: Some(|parsed, judge| {
            const NAMES: &str = "alias arrayvar builtin command disabled enabled export function job keyword \
                setopt shopt signal variable";
            if !parsed.values("A").all(|kind| kind.exact().is_some_and(|kind| super::spec::lists(NAMES, kind))) {
                judge.opaque("names of more than the shell's own");
            }
        }),
        ..PLAIN
    },
    raw("eval", eval),
    raw("source .", source),
    raw("trap", trap),
    raw("exec", exec),
    // `let` is the walker's; here it stands behind another program.
    raw("let getopts", |_, judge| judge.opaque("it evaluates and assigns")),
    raw("enable complete compopt bind fc coproc pushd popd suspend", |parsed, judge| {
        let words: Option<Vec<&str>> = parsed.operands.iter().map(Arg::exact).collect();
        let shows = match (parsed.path.first().map(String::as_str), words.as_deref()) {
            (Some("enable"), Some([] | ["-a" | "-p"])) => true,
            (Some("complete"), Some([] | ["-p"])) => true,
            (Some("complete"), Some(["-p", names @ ..])) => names.iter().all(|name| !name.starts_with('-')),
            (Some("bind"), Some(["-l" | "-p" | "-P" | "-s" | "-S" | "-v" | "-V" | "-X"])) => true,
            (Some("fc"), Some(["-l" | "-ln" | "-lr", range @ ..])) => {
                range.iter().all(|word| word.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()))
            }
            _ => false,
        };
        if !shows {
            judge.opaque("a builtin that changes the shell");
        }
    }),
];

/// A builtin whose words its function reads.
const fn raw(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// Whether assigning to this variable changes only what the script itself reads from it. Not so for
/// the shell's own variables and for those that programs obey.
fn is_plain_variable(name: &str) -> bool {
    is_identifier(name) && names::is_own(name)
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn variable(name: &Arg, judge: &mut Judge<'_>) {
    match name.exact() {
        Some(name) if is_plain_variable(name) => {}
        Some(name) => judge.opaque(format!("`{name}` is not a plain variable")),
        None => judge.opaque("the name of the variable is not known"),
    }
}

/// NAME or NAME=VALUE, without a subscript and without a list.
fn assignment(word: &Arg, judge: &mut Judge<'_>) {
    let (known, whole) = match &word.word {
        Word::Exact(text) => (text.as_str(), true),
        Word::Opaque { prefix, .. } => (prefix.as_str(), false),
        Word::Glob { .. } | Word::OneOf(_) => ("", false),
    };
    match known.split_once('=') {
        Some((name, value))
            if (is_plain_variable(name) || names::meaning_of(name, Some(value)) == Meaning::Harmless)
                && !value.starts_with('(') => {}
        None if whole && is_identifier(known) => {}
        _ => judge.opaque("the shell or later programs may obey what is assigned here"),
    }
}

/// `-v` and `%n` assign to a name, which may be a subscript.
fn printf(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::places::listed_elsewhere(&parsed.operands, judge);
    let mut words = parsed.operands.as_slice();
    // Into a variable of the script's own, as `read` does.
    if let [option, name, format, rest @ ..] = words
        && option.exact() == Some("-v")
        && format.exact().is_some_and(|text| !text.starts_with('-'))
    {
        variable(name, judge);
        words = &words[words.len() - rest.len() - 1..];
    }
    if let Some("--") = words.first().and_then(Arg::exact) {
        words = words.get(1..).unwrap_or_default();
    } else if words.first().is_some_and(super::spec::may_be_option) {
        return judge.opaque("an option of printf assigns");
    }
    match words.first().map(|format| (format.exact(), words.len())) {
        Some((Some(format), _)) if assigns(format) => judge.opaque("`%n` of printf assigns"),
        Some((None, 2..)) => judge.opaque("the format of printf is not known"),
        Some((None, _)) if words.iter().any(may_be_more) => judge.opaque("the format of printf is not known"),
        _ => {}
    }
}

/// Whether a format has a `%n`.
fn assigns(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion = after.trim_start_matches(|letter: char| "-+ #0'123456789.*hlLjzt".contains(letter));
        if conversion.starts_with('n') {
            return true;
        }
        rest = conversion.get(conversion.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
    }
    false
}

/// Operators between two words.
const BETWEEN: &[&str] =
    &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o", ")", "]"];

/// Conditions look at files. `-v` and `-R` evaluate a subscript.
fn test(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = &parsed.operands;
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1);
        match (&word.word, next) {
            (Word::Exact(text), Some(next)) => match text.as_str() {
                "-v" | "-R" if !next.exact().is_some_and(|name| is_identifier(name) || BETWEEN.contains(&name)) => {
                    judge.opaque("a subscript is evaluated");
                }
                "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h" | "-b" | "-c" | "-p" | "-S" | "-g"
                | "-k" | "-u" | "-O" | "-G" | "-N" => look(next, judge),
                "-nt" | "-ot" | "-ef" => {
                    look(next, judge);
                    at.checked_sub(1).and_then(|before| words.get(before)).into_iter().for_each(|one| look(one, judge));
                }
                _ => {}
            },
            (Word::Exact(_), None) => {}
            (Word::Opaque { splits: true, .. }, _) => judge.opaque("a word of the condition may become several"),
            (_, Some(next))
                if super::spec::may_be_option(word) && !next.exact().is_some_and(|text| BETWEEN.contains(&text)) =>
            {
                judge.opaque("a word of the condition may be an operator");
            }
            _ => {}
        }
    }
}

/// Whether a file is there. A name that is not known tells no more than yes or no.
fn look(file: &Arg, judge: &mut Judge<'_>) {
    if !matches!(file.word, Word::Opaque { splits: false, .. }) {
        super::places::look(file, judge);
    }
}

/// Options that steer the script. `--` would set the positional parameters.
fn set(parsed: &Parsed, judge: &mut Judge<'_>) {
    const NAMES: &[&str] = &["pipefail", "errexit", "nounset", "xtrace", "noclobber", "noglob", "verbose", "errtrace"];
    let mut words = parsed.operands.iter();
    while let Some(word) = words.next() {
        // What stands behind are the arguments of the script from there on.
        if word.exact() == Some("--") {
            return super::places::listed_elsewhere(words.as_slice(), judge);
        }
        let letters = word.exact().and_then(|text| text.strip_prefix(['-', '+'])).unwrap_or("?");
        let fine = !letters.is_empty() && letters.chars().all(|letter| "euxvfCEo".contains(letter));
        let named = !letters.contains('o')
            || words.next().is_none_or(|name| name.exact().is_some_and(|name| NAMES.contains(&name)));
        if !fine || !named {
            return judge.opaque("it changes how the shell reads what follows");
        }
    }
}

/// A limit that is lowered ends a program early. One so low that the shell cannot start the next one, or open a pipe, makes
/// `$(…)` empty: what is said of its value no longer holds.
fn ulimit(parsed: &Parsed, judge: &mut Judge<'_>) {
    /// The lowest that leaves the shell its work: KiB, seconds, blocks, descriptors.
    const LOWEST: &[(&str, u64)] =
        &[("v", 65_536), ("m", 65_536), ("d", 65_536), ("s", 1024), ("n", 64), ("t", 1), ("f", 1024), ("c", 0)];
    let [limit] = parsed.operands.as_slice() else {
        if !parsed.operands.is_empty() {
            judge.opaque("one of several limits is not understood");
        }
        return;
    };
    let named: Vec<&str> =
        parsed.opts.iter().map(|(name, _)| name.as_str()).filter(|name| !"HS".contains(name)).collect();
    let lowest = match named.as_slice() {
        [name] => LOWEST.iter().find(|(known, _)| known == name).map(|(_, lowest)| *lowest),
        _ => None,
    };
    let fine = match (limit.exact(), lowest) {
        (Some("unlimited" | "hard"), Some(_)) => true,
        (Some(number), Some(lowest)) => number.parse::<u64>().is_ok_and(|number| number >= lowest),
        _ => false,
    };
    if !fine {
        judge.opaque("a limit that may keep the shell from going on");
    }
}

fn shopt(parsed: &Parsed, judge: &mut Judge<'_>) {
    const NAMES: &[&str] = &["nullglob", "globstar", "nocaseglob", "inherit_errexit", "pipefail"];
    // They are off at the start. The first finds hidden names; with the second, a pattern that finds nothing drops the
    // rest of what is read as one.
    const OFF: &[&str] = &["dotglob", "failglob"];
    let changes = parsed.has("s u");
    let off = !parsed.has("s");
    let known = |name: &Arg| name.exact().is_some_and(|name| NAMES.contains(&name) || off && OFF.contains(&name));
    if changes && !parsed.operands.iter().all(known) {
        judge.opaque("it changes how the shell reads what follows");
    }
}

/// The text is looked at for what it destroys; what it changes in this shell is not followed.
fn eval(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.operands.is_empty() {
        return;
    }
    judge.opaque("eval runs text in this shell");
    let words: Option<Vec<_>> = parsed.operands.iter().map(Arg::exact).collect();
    if let Some(words) = words {
        judge.script(Shell::Bash, &words.join(" "), &[], judge.span.clone());
    }
}

/// Scripts in a person's home that an installer has put there, to say where its programs are.
const WHERE_PROGRAMS_ARE: &[&str] = &[".cargo/env", ".ghcup/env", ".local/bin/env"];

/// Whether a file is one of those: it sets `PATH`, and stays where it is.
pub(in super::super) fn says_where_programs_are(file: &str, home: &Path) -> bool {
    WHERE_PROGRAMS_ARE.iter().any(|known| Path::new(file) == home.join(known))
}

/// A file of the workspace is its code.
fn source(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.first().map(|file| (file, file.exact())) {
        Some((_, Some(name))) if says_where_programs_are(name, &judge.site.home) => {
            judge.code(format!("runs `{name}` in this shell, which says where programs are"));
        }
        Some((file, Some(name))) if name.contains('/') => {
            let place = judge.resolve(name);
            judge.read(file);
            if judge.site.is_ours(&place) {
                judge.code(format!("runs `{name}` in this shell"));
                super::goals::script_publishes(name, parsed.operands.get(1..).unwrap_or_default(), judge);
            } else {
                judge.opaque(format!("runs `{name}` in this shell"));
            }
        }
        Some((file, Some(name))) => {
            // Without a slash PATH is searched before the working directory.
            judge.read(file);
            judge.opaque(format!("`{name}` is searched in PATH; write ./{name}"));
        }
        _ => judge.opaque("what is run in this shell is not known"),
    }
}

fn trap(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = &parsed.operands;
    match words.first().map(Arg::exact) {
        None => {}
        Some(Some("-p" | "-l" | "-" | "")) => {}
        Some(Some(text)) if words.len() > 1 => {
            judge.opaque("trap runs text later");
            let span = words.first().map_or_else(|| judge.span.clone(), |word| word.span.clone());
            judge.script(Shell::Bash, text, &[], span);
        }
        Some(_) => judge.opaque("trap runs text later"),
    }
}

/// Without words it only redirects, which the core sees.
fn exec(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.first().map(Arg::exact) {
        None => {}
        Some(Some(name)) if !name.starts_with('-') => judge.command(&parsed.operands),
        Some(_) => judge.opaque("options of exec change what the program sees"),
    }
}
