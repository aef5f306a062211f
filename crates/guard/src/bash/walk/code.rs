//! Which words of a command are code that it runs: a text, the name of a file, standard input. It only reads words; what
//! they hold, who asks knows.

use super::super::judge::{Arg, Word as Became};
use super::shapes::{RUNS_TEXT, is_version, reads_script_from_stdin};

/// Where a program takes its code from. Options stand between blanks; `=` may part them from their values.
struct Takes {
    names: &'static str,
    /// Only behind this subcommand; none for any.
    sub: &'static str,
    /// Options whose value is a file of code.
    files: &'static str,
    /// Options whose value is code.
    texts: &'static str,
    /// What the first operand is, where none of these options is there.
    first: First,
    /// Files of the working directory that it runs where no option names one.
    lying: &'static [&'static str],
}

/// What the first operand of a program is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum First {
    Other,
    Text,
    File,
}

const fn takes(names: &'static str, files: &'static str, texts: &'static str, first: First) -> Takes {
    Takes { names, sub: "", files, texts, first, lying: &[] }
}

const TAKES: &[Takes] = &[
    takes("awk gawk mawk nawk original-awk", "-f --file -E --exec -i --include -l --load", "-e --source", First::Text),
    takes("sed gsed", "-f --file", "-e --expression", First::Text),
    Takes {
        lying: &["GNUmakefile", "makefile", "Makefile"],
        ..takes("make gmake", "-f --file --makefile", "-E --eval", First::Other)
    },
    Takes { lying: &["justfile", "Justfile", ".justfile"], ..takes("just", "-f --justfile", "", First::Other) },
    Takes { lying: &["Taskfile.yml", "Taskfile.yaml"], ..takes("task", "-t --taskfile", "", First::Other) },
    Takes { lying: &["Rakefile", "rakefile"], ..takes("rake", "-f --rakefile", "-e", First::Other) },
    takes("gdb", "-x --command -command", "-ex -iex --eval-command", First::Other),
    takes("lldb", "-s --source", "-o --one-line", First::Other),
    takes("cmake", "-P", "", First::Other),
    takes("java", "-jar", "", First::File),
    takes("ts-node tsx julia gnuplot m4 dc expect tclsh jshell", "-f", "-e", First::File),
    takes("trap", "", "", First::Text),
    Takes { sub: "run", ..takes("go deno bun uv", "", "", First::File) },
    Takes { sub: "tsx ts-node", ..takes("npx bunx pnpm yarn", "", "", First::File) },
];

/// Programs whose standard input is what they do, unless they are given a file of it.
const ON_INPUT: &str =
    "at batch ed red ex m4 dc gnuplot R julia irb ghci jshell expect tclsh crontab octave ts-node tsx";

/// The same whatever they are given.
const ALWAYS_ON_INPUT: &str = "at batch ed red ex crontab";

/// Programs that start a shell elsewhere, with this standard input.
const ELSEWHERE: &str = "ssh docker podman nerdctl kubectl chroot nsenter su lxc wsl toolbox distrobox";

fn lists(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// The words of a command that are code.
#[derive(Debug, Default)]
pub(super) struct Code<'a> {
    /// Names of files.
    pub files: Vec<&'a Arg>,
    /// Files that nobody names.
    pub lying: &'static [&'static str],
    pub texts: Vec<&'a Arg>,
}

/// Which they are, where the program is in the table.
pub(super) fn code_of<'a>(base: &str, args: &'a [Arg]) -> Code<'a> {
    let mut rest = args.get(1..).unwrap_or_default();
    let mut named = TAKES.iter().filter(|row| lists(row.names, base));
    let first_is = |row: &&Takes| rest.first().and_then(Arg::exact).is_some_and(|word| lists(row.sub, word));
    let Some(row) = named.find(|row| row.sub.is_empty() || first_is(row)) else { return Code::default() };
    if !row.sub.is_empty() {
        rest = rest.get(1..).unwrap_or_default();
    }
    let mut code = Code { lying: row.lying, ..Code::default() };
    let mut operand = None;
    let mut words = rest.iter();
    while let Some(arg) = words.next() {
        let text = start(arg);
        let value = |options: &str| options.split(' ').find_map(|option| attached(text, option));
        match (value(row.files), value(row.texts)) {
            (Some(found), _) => code.files.extend(if found { Some(arg) } else { words.next() }),
            (None, Some(found)) => code.texts.extend(if found { Some(arg) } else { words.next() }),
            (None, None) if text.starts_with('-') && text.len() > 1 => {}
            (None, None) => operand = operand.or(Some(arg)),
        }
    }
    if !code.files.is_empty() {
        code.lying = &[];
    }
    if code.files.is_empty() && code.texts.is_empty() {
        match row.first {
            First::Text => code.texts.extend(operand),
            First::File => code.files.extend(operand),
            First::Other => {}
        }
    }
    code
}

/// Whether a word is this option: `Some(true)` where it brings its value along.
fn attached(text: &str, option: &str) -> Option<bool> {
    let rest = text.strip_prefix(option).filter(|_| !option.is_empty())?;
    match (rest.is_empty(), option.starts_with("--"), option.len() == 2) {
        (true, ..) => Some(false),
        (false, true, _) => rest.starts_with('=').then_some(true),
        (false, false, short) => short.then_some(true),
    }
}

/// The name of a file that a word of code is: all of it, or what stands behind its option.
pub(super) fn name_in(arg: &Arg) -> Option<&str> {
    let text = arg.exact()?;
    match text.strip_prefix("--") {
        Some(long) => long.split_once('=').map(|(_, name)| name),
        None if text.len() > 2 && text.starts_with('-') => text.get(2..),
        None => Some(text),
    }
}

/// Whether a name stands for standard input.
pub(super) fn is_input(name: &str) -> bool {
    matches!(name, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether the command does what it reads from standard input.
pub(super) fn runs_its_input(base: &str, args: &[Arg]) -> bool {
    if lists(ELSEWHERE, base) {
        const SHELLS: &str = "sh bash dash zsh ksh ash fish python python3 perl ruby node";
        let shell = args.iter().skip(1).position(|arg| arg.exact().is_some_and(|text| lists(SHELLS, text)));
        return shell.is_some_and(|at| reads_script_from_stdin(args.get(at + 1..).unwrap_or_default()));
    }
    let operands =
        args.iter().skip(1).filter(|arg| arg.exact().is_none_or(|text| !text.starts_with('-') || text == "-"));
    lists(ALWAYS_ON_INPUT, base)
        || lists(ON_INPUT, base)
            && operands.clone().all(|arg| arg.exact().is_some_and(is_input))
            && !args.iter().any(|arg| matches!(arg.exact(), Some("-e" | "-f" | "-c")))
}

/// Programs that run the command behind them, in whatever way.
const PEELED: &str = "env nice nohup time timeout sudo doas command exec setsid stdbuf ionice chrt unbuffer";

/// Options of `xargs` and `parallel` with a value in the next word.
const LIST_VALUES: &str = "-I -J -R -S -d -E -L -n -N -P -s -a -j -C --delimiter --arg-file --max-args --max-procs \
    --max-lines --max-chars --jobs --delay --timeout --retries --joblog --results --tmpdir --colsep --sep --sshlogin \
    --workdir --wd --env --memfree --load --nice --tagstring --recstart --recend --block --halt --process-slot-var";

/// Whether `xargs` or `parallel` makes code of the list that it is given: the commands themselves, or the text of a shell.
pub(super) fn runs_list(args: &[Arg]) -> bool {
    let texts: Vec<&str> = args.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    let parallel = texts.first().is_some_and(|name| name.ends_with("parallel"));
    let mut at = 1;
    while let Some(text) = texts.get(at).filter(|text| text.starts_with('-') && text.len() > 1) {
        at += 1 + usize::from(lists(LIST_VALUES, text));
    }
    let (before, behind) = texts.split_at(at.min(texts.len()));
    let end = behind.iter().position(|text| text.starts_with("::")).unwrap_or(behind.len());
    let mut command = behind.get(..end).unwrap_or_default();
    let marks: Vec<&str> = before.windows(2).filter_map(mark).chain(parallel.then_some("{")).collect();
    let put_in = |text: &str| marks.iter().any(|mark| text.contains(mark));
    let mut peeled = false;
    while let [first, rest @ ..] = command {
        let number = first.trim_end_matches(char::is_alphabetic);
        let own = peeled && (first.starts_with('-') || first.contains('=') || number.parse::<f64>().is_ok());
        if !own && !lists(PEELED, first) {
            break;
        }
        (peeled, command) = (true, rest);
    }
    let Some((first, rest)) = command.split_first() else {
        // Without a command xargs only prints the list.
        return parallel || peeled && marks.is_empty();
    };
    if marks.iter().any(|mark| first.starts_with(mark)) {
        return true;
    }
    if !runs_text(first.rsplit('/').next().unwrap_or(first)) {
        return false;
    }
    let code = rest.iter().position(|text| text.starts_with('-') && text.ends_with(['c', 'e', 'r']));
    let piped = parallel && before.iter().any(|text| matches!(*text, "--pipe" | "--spreadstdin"));
    piped && code.is_none()
        || code.is_some_and(|at| rest.get(at + 1).is_none_or(|code| put_in(code) || code.contains("{}")))
}

/// The mark that stands for a word of the list.
fn mark<'t>(pair: &[&'t str]) -> Option<&'t str> {
    match pair {
        ["-I" | "-J", mark] => Some(mark),
        [_, "-i" | "--replace"] => Some("{}"),
        [_, option] => {
            ["-I", "-i", "--replace="].iter().find_map(|name| option.strip_prefix(name)).filter(|mark| !mark.is_empty())
        }
        _ => None,
    }
}

/// Files that hold the list: what stands behind `-a` and `::::`, and the words behind `:::`.
pub(super) fn list_sources(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    let mut lists = false;
    let mut file = false;
    args.iter().skip(1).filter(move |arg| {
        let text = arg.exact().unwrap_or_default();
        lists |= text.starts_with("::");
        let here = lists || std::mem::take(&mut file) || text.starts_with("--arg-file=");
        file = matches!(text, "-a" | "--arg-file");
        here
    })
}

pub(super) fn runs_text(base: &str) -> bool {
    RUNS_TEXT.iter().any(|name| base == *name || base.strip_prefix(name).is_some_and(is_version))
}

/// The text that a word is known to begin with.
fn start(arg: &Arg) -> &str {
    match &arg.word {
        Became::Exact(text) => text,
        Became::Glob { prefix, .. } | Became::Opaque { prefix, .. } => prefix,
        Became::OneOf(_) => "",
    }
}
