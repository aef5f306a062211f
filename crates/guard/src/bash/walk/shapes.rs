//! What the shape of a command or a word says by itself.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use super::super::fact::Fact;
use super::super::judge::{Arg, Stdin, Word as Became};
use super::super::names::{Meaning, meaning};
use super::super::parse::is_name;
use super::super::print::text_of;
use super::super::script::{
    Assign, AssignValue, Command, Fd, Item, Kind, Part, Pipeline, Redirect, RedirectOp, Script, Target, Word,
};
use super::super::words::{self, Output, Start, Value};
use super::State;

/// `value` with what `edit` cuts off at its start or end: literal text, with `*` at the far side or before it.
pub(super) fn cut(value: &str, edit: &str) -> Option<String> {
    let (kind, pattern) = edit.split_at_checked(edit.find(|c| c != '#' && c != '%').unwrap_or(edit.len()))?;
    let text = pattern.trim_matches('*');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    if text.is_empty() || !text.chars().all(plain) || !value.chars().all(plain) {
        return None;
    }
    let star = (pattern.strip_suffix(text) == Some("*"), pattern.strip_prefix(text) == Some("*"));
    let whole = pattern == text;
    let kept = match kind {
        "#" | "##" if whole => value.strip_prefix(text).unwrap_or(value),
        "%" | "%%" if whole => value.strip_suffix(text).unwrap_or(value),
        "#" if star.0 => value.split_once(text).map_or(value, |(_, after)| after),
        "##" if star.0 => value.rsplit_once(text).map_or(value, |(_, after)| after),
        "%" if star.1 => value.rsplit_once(text).map_or(value, |(before, _)| before),
        "%%" if star.1 => value.split_once(text).map_or(value, |(before, _)| before),
        _ => return None,
    };
    Some(kept.to_owned())
}

/// What `${name/a/b}` and `${name//a/b}` make of a text, where both are plain letters.
pub(super) fn replaced(value: &str, edit: &str) -> Option<String> {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let (all, rest) = match edit.strip_prefix("//") {
        Some(rest) => (true, rest),
        None => (false, edit.strip_prefix('/')?),
    };
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    if from.is_empty() || !plain(from) || !plain(to) || !plain(value) {
        return None;
    }
    Some(if all { value.replace(from, to) } else { value.replacen(from, to, 1) })
}

/// What `${name%.txt}` and its sisters make of a name that a pattern found: the pattern of what is left. Only ends that
/// the pattern itself spells are cut; where they are cut for certain, nothing else changes.
pub(super) fn cut_pattern(pattern: &str, prefix: &str, edit: &str) -> Option<Value> {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let (kind, what) = edit.split_at_checked(edit.find(|c| c != '#' && c != '%').unwrap_or(edit.len()))?;
    let (left, prefix) = match (kind, what) {
        ("%" | "%%", ending) if !ending.is_empty() && plain(ending) => (pattern.strip_suffix(ending)?, prefix),
        ("%", ".*") => {
            let (left, ending) = pattern.rsplit_once('.')?;
            plain(ending).then_some((left, prefix))?
        }
        ("##", "*/") => {
            let (above, last) = pattern.rsplit_once('/')?;
            (last, prefix.get(above.len() + 1..)?)
        }
        _ => return None,
    };
    // A wildcard is left, and what stands before it is the same.
    (left.len() > prefix.len() && left.starts_with(prefix))
        .then(|| Value::Pattern { pattern: left.to_owned(), prefix: prefix.to_owned() })
}

/// Whether the code that the script ends with is that of its last command, so far as a code of 1 goes. `named` are the
/// programs of all its commands.
pub(in super::super) fn ends_with_its_last(script: &Script, named: &[&str]) -> bool {
    const QUIET: &[&str] = &["cd", "echo", "printf", "true", ":", "pwd", "set", "export"];
    let quiet = |stage: &Command| {
        let name = name_of(stage);
        QUIET.contains(&name.as_ref()) || super::super::exit::is_answer(&name, 1)
    };
    let Some((item, before)) = script.items.split_last() else { return true };
    let chain: Vec<&Pipeline> = std::iter::once(&item.first).chain(item.rest.iter().map(|(_, next)| next)).collect();
    let Some((last, earlier)) = chain.split_last() else { return true };
    let on_success = item.rest.last().is_some_and(|(and, _)| *and);
    let named = |names: &[&str]| named.iter().any(|name| names.contains(name));
    // What `set` may have turned on: the first failure ends the script, or any stage of a pipe counts.
    let strict = named(&["set"]);
    let all = |item: &Item| {
        let rest = item.rest.iter().map(|(_, next)| next);
        std::iter::once(&item.first).chain(rest).all(|next| next.stages.iter().all(quiet))
    };
    last.bangs % 2 == 0
        && (!on_success || earlier.iter().all(|pipeline| pipeline.stages.last().is_none_or(quiet)))
        && (!strict || before.iter().all(all) && last.stages.iter().rev().skip(1).all(quiet))
        && !named(&["exit", "return", "exec"])
}

/// Whether the script is one `read`, which is not turned around and whose words run nothing: behind it, it worked.
pub(super) fn is_one_read(script: &Script) -> bool {
    let written = |word: &Word| text_of(word).is_some();
    let plain =
        |assign: &Assign| matches!(&assign.value, AssignValue::Word(word) if word.parts.is_empty() || written(word));
    let reads = |stage: &Command| {
        matches!(&stage.kind, Kind::Simple { assigns, words } if assigns.iter().all(plain) && words.iter().all(written))
            && stage.redirects.is_empty()
            && name_of(stage) == "read"
    };
    matches!(script.items.as_slice(), [item]
        if !item.background && item.rest.is_empty() && item.first.bangs == 0
            && matches!(item.first.stages.as_slice(), [stage] if reads(stage)))
}

/// What `echo` or `printf` with words that are known prints.
pub(super) fn echoed(argv: &[Arg]) -> Option<String> {
    let (program, words) = argv.split_first()?;
    let words: Option<Vec<&str>> = words.iter().map(Arg::exact).collect();
    let words = words.filter(|words| words.first().is_some_and(|first| !first.starts_with('-')))?;
    matches!(program.exact(), Some("echo" | "printf")).then(|| words.join(" ") + "\n")
}

/// What a program that reads statements or sources gets from the one command before it: the text that is printed, or files.
pub(super) fn reads_text(argv: &[Arg], reader: &str) -> Option<Stdin> {
    const COMPILERS: &[&str] = &["gcc", "g++", "cc", "c++", "clang", "clang++"];
    let (program, files) = argv.split_first()?;
    let plain = |file: &Arg| file.exact().is_some_and(|name| !name.starts_with('-'));
    match program.exact()? {
        // The backslashes of `printf` mean something.
        "printf" if COMPILERS.contains(&reader) => None,
        "echo" | "printf" if SQL_READERS.contains(&reader) || COMPILERS.contains(&reader) => {
            echoed(argv).map(Stdin::Text)
        }
        "cat" if SQL_READERS.contains(&reader) && !files.is_empty() && files.iter().all(plain) => {
            Some(Stdin::File { told: None })
        }
        _ => None,
    }
}

/// About what a pipeline prints whose first command prints its own words, and whose others pass them on. A word that is
/// not known to its end stands there with its start; what the backslashes of `printf` mean is not looked at.
pub(super) fn told(stages: &[&[Arg]]) -> Option<String> {
    let (first, rest) = stages.split_first()?;
    let passes = |stage: &&[Arg]| matches!(stage.first().and_then(Arg::exact), Some("cat" | "tee"));
    let (program, words) = first.split_first().filter(|_| rest.iter().all(passes))?;
    let words = words.iter().map(|arg| match &arg.word {
        Became::Exact(text) => text.as_str(),
        Became::Opaque { prefix, .. } | Became::Glob { prefix, .. } => prefix.as_str(),
        Became::OneOf(words) => match words.first() {
            Some(Became::Exact(text)) => text,
            _ => "",
        },
    });
    let mut words = words.peekable();
    match program.exact() {
        Some("printf") => {
            words.next_if_eq(&"--");
            let format = words.next_if(|word| word.contains('%')).map_or(" ", |_| "\n");
            Some(words.map(|word| word.replace("\\n", "\n")).collect::<Vec<_>>().join(format))
        }
        Some("echo") => {
            let option = |word: &&str| {
                word.strip_prefix('-').is_some_and(|letters| {
                    letters.starts_with(['n', 'e', 'E']) && letters.trim_matches(['n', 'e', 'E']).is_empty()
                })
            };
            let mut escapes = false;
            while let Some(letters) = words.next_if(option) {
                escapes |= letters.contains('e');
            }
            let text = words.collect::<Vec<_>>().join(" ");
            Some(if escapes { text.replace("\\n", "\n") } else { text })
        }
        _ => None,
    }
}

/// The name that `read` gets a whole line for, as it stands.
pub(super) fn line_reader(args: &[Arg]) -> Option<String> {
    let words: Option<Vec<&str>> = args.iter().skip(1).map(Arg::exact).collect();
    match words?.as_slice() {
        ["-r", name] | ["-r", "-d", "", name] | ["-d", "", "-r", name] | ["-rd", "", name]
            if is_name(name) && meaning(name) != Meaning::Rewires =>
        {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

/// The name that `read` gets whole lines for, without their backslashes: a directory `.\\.` becomes `..`, and a line that
/// ends in one goes on with the next.
pub(super) fn loose_reader(args: &[Arg]) -> Option<String> {
    let [_, name] = args else { return None };
    name.exact().filter(|name| is_name(name) && meaning(name) != Meaning::Rewires).map(str::to_owned)
}

pub(super) fn is_version(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

pub(super) fn is_declaration(name: &str) -> bool {
    matches!(name, "export" | "declare" | "typeset" | "local" | "readonly")
}

/// The names that a word of `read`, `unset` and their kind may set: itself, `NAME=…`, or the rest of a
/// bundle of options (`-ax` is `-a x`).
pub(super) fn set_by(text: &str, mut set: impl FnMut(&str)) {
    let starts = if text.starts_with('-') { text.len().min(16) } else { 1 };
    for start in 0..starts {
        let name = text.get(start..).and_then(|rest| rest.split(['=', '[', '+']).next()).unwrap_or_default();
        if is_name(name) {
            set(name);
        }
    }
}

pub(super) fn text_appends(arg: &Arg) -> bool {
    arg.exact().and_then(|text| text.split_once('=')).is_some_and(|(name, _)| name.ends_with('+'))
}

pub(super) fn word_span(span: &Range<usize>) -> Range<usize> {
    span.clone()
}

/// Whether a shell with these words takes its script from standard input.
pub(super) fn reads_script_from_stdin(args: &[Arg]) -> bool {
    let name = args.first().and_then(Arg::exact).unwrap_or_default();
    let base = name.rsplit('/').next().unwrap_or_default();
    if matches!(base, "eval" | "source" | "." | "env" | "sudo" | "xargs") {
        return args
            .iter()
            .skip(1)
            .any(|arg| matches!(arg.exact(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")));
    }
    let mut skip = false;
    for arg in args.get(1..).unwrap_or_default() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match arg.exact() {
            Some("-" | "-s" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => return true,
            Some("-o" | "+o" | "-O" | "--rcfile" | "--init-file") => skip = true,
            Some(text) if text.starts_with("--") => {}
            Some(text)
                if text.starts_with('-')
                    && text.contains('s')
                    && matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh") =>
            {
                return true;
            }
            Some(text)
                if text.starts_with('-')
                    && text.contains(['c', 'e', 'm', 'n', 'p', 'r'])
                    && !matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh") =>
            {
                return false;
            }
            Some(text) if text.starts_with('-') && text.contains('c') => return false,
            Some(text) if text.starts_with(['-', '+']) => {}
            _ => return false,
        }
    }
    true
}

pub(super) fn reads_secret(fact: &Fact) -> bool {
    matches!(fact, Fact::Read(target) if crate::path::is_secret(&target.path))
}

pub(super) fn is_cd(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Command { kind: Kind::Simple { words, .. }, .. }] => {
            words.first().and_then(text_of).is_some_and(|name| name == "cd" || name == "pushd")
        }
        _ => false,
    }
}

/// Whether errors of the stages before `index` come along with what they print: `|&`, `2>&1`, `2>/dev/stdout`.
pub(super) fn errors_come(pipeline: &Pipeline, index: usize) -> bool {
    let swallowed = |redirect: &Redirect| match &redirect.target {
        Target::Word(word) => {
            matches!(word.parts.as_slice(), [Part::Plain(name) | Part::Quoted(name)] if name == "/dev/null")
        }
        _ => false,
    };
    let of_errors = |redirect: &&Redirect| matches!(&redirect.fd, Fd::Number(number) if number == "2");
    let come = |stage: &Command| stage.redirects.iter().filter(of_errors).any(|redirect| !swallowed(redirect));
    pipeline.both.iter().take(index).any(|both| *both) || pipeline.stages.iter().take(index).any(come)
}

pub(super) fn name_of(command: &Command) -> Cow<'_, str> {
    let behind = |path: &str| path.rfind('/').map_or(0, |slash| slash + 1);
    match &command.kind {
        Kind::Simple { words, .. } => match words.first().map(text_of) {
            None => Cow::Borrowed(""),
            Some(None) => Cow::Borrowed("?"),
            Some(Some(Cow::Borrowed(path))) => Cow::Borrowed(path.get(behind(path)..).unwrap_or_default()),
            Some(Some(Cow::Owned(mut path))) => Cow::Owned(path.split_off(behind(&path))),
        },
        Kind::Test(_) => Cow::Borrowed("[["),
        Kind::Arith(_) => Cow::Borrowed("(("),
        _ => Cow::Borrowed("a group of commands"),
    }
}

pub(super) fn integer(value: &Value) -> bool {
    match value {
        Value::Number | Value::Job | Value::Shell => true,
        Value::Exact(text) => is_integer(text),
        Value::OneOf(texts) => texts.iter().all(|text| is_integer(text)),
        _ => false,
    }
}

pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether arithmetic takes this for a number, or for none and runs nothing: what grep says instead of one begins with the
/// name of a variable, to arithmetic, which nothing has set.
pub(super) fn is_sum(output: &Output, state: &State) -> bool {
    let said = || state.vars.is_unset("grep") && state.vars.is_unset("Binary");
    output.number || output.start == Start::Line && said()
}

pub(super) fn is_number(value: &Value, state: &State) -> bool {
    match value {
        Value::Output(output) => is_sum(output, state),
        Value::Exact(text) if is_name(text) => state.vars.get(text).is_some_and(integer),
        value => integer(value),
    }
}

pub(super) fn values_of(args: &[Arg]) -> Value {
    let mut texts = Vec::new();
    let mut patterns = Vec::new();
    for arg in args {
        match &arg.word {
            Became::Exact(text) => texts.push(text.clone()),
            Became::OneOf(words) => {
                for word in words {
                    match word {
                        Became::Exact(text) => texts.push(text.clone()),
                        _ => return Value::unknown("one of several words"),
                    }
                }
            }
            Became::Glob { pattern, prefix } => patterns.push((pattern.clone(), prefix.clone())),
            Became::Opaque { why, .. } => return Value::Opaque(why.clone()),
        }
    }
    match (texts.len(), patterns.as_slice()) {
        (1, []) => Value::Exact(texts.remove(0)),
        (_, []) => Value::OneOf(texts),
        (0, [(pattern, prefix)]) => Value::Pattern { pattern: pattern.clone(), prefix: prefix.clone() },
        _ => {
            // Several patterns: what they share at their start.
            let starts: Vec<&str> =
                texts.iter().map(String::as_str).chain(patterns.iter().map(|(_, p)| p.as_str())).collect();
            let shared = starts.iter().skip(1).fold(starts.first().copied().unwrap_or_default(), |shared, next| {
                let same = shared.bytes().zip(next.bytes()).take_while(|(a, b)| a == b).count();
                shared.get(..same).unwrap_or_default()
            });
            let absolute = |text: &&str| text.starts_with('/') || text.contains("..");
            if shared.is_empty() && starts.iter().any(absolute) {
                return Value::unknown("one of several patterns");
            }
            let folder = shared.rfind('/').map_or("", |slash| shared.get(..=slash).unwrap_or_default());
            if !texts.iter().chain(patterns.iter().map(|(pattern, _)| pattern)).all(|text| is_plain_below(text, folder))
            {
                return Value::unknown("one of several patterns, and not all of them are plain names");
            }
            Value::Pattern { pattern: format!("{folder}*"), prefix: folder.to_owned() }
        }
    }
}

/// Whether `folder*` may stand for a name or pattern that begins with `folder`: it hides what is below no other name,
/// so nothing hidden, no step up, and nothing that is a secret by its own name.
fn is_plain_below(text: &str, folder: &str) -> bool {
    let rest = text.get(folder.len()..).unwrap_or(text);
    let shown = |part: &str| part == "." || !part.starts_with('.');
    // A set of letters may hold the dot that a name begins with, before bash looks for it or behind.
    rest.split('/').all(shown)
        && !rest.contains('[')
        && super::super::globs::pointed_at(text)
            .iter()
            .chain([&text.to_owned()])
            .all(|path| crate::classify(Path::new(path)) == crate::PathClass::default())
}

/// Whether a function calls itself in a pipe or in the background.
pub(super) fn is_bomb(name: &str, body: &Command) -> bool {
    fn within(name: &str, script: &Script) -> bool {
        script.items.iter().any(|item| {
            std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)).any(|pipeline| {
                let calls = pipeline.stages.iter().filter(|stage| name_of(stage) == name).count();
                calls > 0 && (item.background || pipeline.stages.len() > 1)
                    || pipeline.stages.iter().any(|stage| inner(name, stage))
            })
        })
    }
    fn inner(name: &str, command: &Command) -> bool {
        match &command.kind {
            Kind::Subshell(script) | Kind::Group(script) => within(name, script),
            Kind::Loop { condition, body, .. } => within(name, condition) || within(name, body),
            Kind::For { body, .. } | Kind::ArithFor { body, .. } => within(name, body),
            Kind::If { arms, otherwise } => {
                arms.iter().any(|(condition, body)| within(name, condition) || within(name, body))
                    || otherwise.as_ref().is_some_and(|body| within(name, body))
            }
            _ => false,
        }
    }
    inner(name, body)
}

/// Programs that run text they are given.
pub(super) const RUNS_TEXT: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ash",
    "fish",
    "busybox",
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "php",
    "lua",
    "deno",
    "bun",
    "Rscript",
    "osascript",
    "pwsh",
    "tclsh",
    "eval",
    "source",
    ".",
    "env",
    "sudo",
    "xargs",
];

/// Programs whose standard input is commands for a database: what is echoed to them is looked at.
pub(super) const SQL_READERS: &[&str] =
    &["psql", "mysql", "mariadb", "sqlite3", "redis-cli", "mongosh", "mongo", "cqlsh", "clickhouse-client", "sqlplus"];

/// Whether it gives a command something to read.
pub(super) fn is_input(redirect: &Redirect) -> bool {
    use RedirectOp::{DupIn, Here, HereString, HereStrip, Read, ReadWrite};
    matches!(redirect.op, Read | ReadWrite | DupIn | Here | HereStrip | HereString)
}

/// Whether a word of `[` or `test` may become operators: names of files, one a word, or cut apart at their blanks. Behind
/// `-v` a condition evaluates text.
pub(super) fn may_be_operators(before: &[Arg], word: &Word, became: &[Arg]) -> bool {
    let mut names = before.iter().map(|arg| arg.exact().unwrap_or_default());
    let name = names.find(|name| !matches!(*name, "command" | "builtin" | "-p" | "--"));
    if !matches!(name, Some("[" | "test")) {
        return false;
    }
    let cut_apart = word.parts.iter().any(|part| match part {
        // In quotes these are several words all the same.
        Part::Param { param, quoted } => !quoted || param.name == "@" || param.raw.contains("[@]"),
        Part::Command { quoted, .. } => !quoted,
        _ => false,
    });
    let finds = word.parts.iter().any(|part| matches!(part, Part::Plain(text) if text.contains(['*', '?', '['])));
    became.iter().any(|arg| match &arg.word {
        // Where only a number or a label is not known, there are no blanks: `0**` is what a count or a hash prints.
        Became::Glob { pattern, .. } if pattern == "0**" => false,
        Became::Glob { pattern, .. } if pattern.contains(words::LABEL) && !pattern.contains(['*', '?', '[']) => false,
        // No operator that evaluates is as long.
        Became::Glob { pattern, .. } => {
            cut_apart || finds && pattern.chars().filter(|c| !"*?[]".contains(*c)).count() < 3
        }
        Became::OneOf(words) => cut_apart && words.iter().any(|word| !matches!(word, Became::Exact(_))),
        _ => false,
    })
}
