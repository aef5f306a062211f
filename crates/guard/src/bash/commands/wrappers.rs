//! Programs that run the command behind them.
//!
//! A wrapper whose options are all known is peeled: what is inside is judged by itself. One that
//! brings other rights, another place or another time is never harmless, but what is inside is still
//! looked at, for what it destroys.

use super::super::danger::Danger;
use super::super::judge::{Arg, Judge, Shell, Stdin, Why, Word};
use super::super::names::{self, Meaning};
use super::super::words::Start;
use super::destructive::Inside;
use super::piped::Printed;
use super::spec::Does::{Flag, Info, Maybe, Run, Value, Write};
use super::spec::{self, Does, Operands, PLAIN, Parsed, Spec, Style};
use super::special;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "command",
        opts: &[(Flag, "p v V")],
        check: Some(|parsed, judge| {
            if !parsed.has("v V") {
                inside(&parsed.operands, judge);
            }
        }),
        ..WRAPPER
    },
    Spec { names: "builtin", operands: Operands::Command, ..WRAPPER },
    // `-S` splits a text into words, `-C` changes the directory.
    Spec {
        names: "env genv",
        opts: &[
            (Flag, "i ignore-environment 0 null v debug list-signal-handling"),
            (Maybe, "block-signal default-signal ignore-signal"),
            (Value, "u unset"),
            (Run, "S split-string C chdir"),
        ],
        check: Some(env),
        ..WRAPPER
    },
    Spec { names: "nice gnice", opts: &[(Value, "# n adjustment")], operands: Operands::Command, ..WRAPPER },
    Spec {
        names: "ionice",
        opts: &[(Value, "c class n classdata p pid"), (Flag, "t ignore"), (Info, "h V")],
        check: Some(|parsed, judge| match parsed.value("p pid") {
            None => inside(&parsed.operands, judge),
            Some(_) if parsed.has("c class n classdata t ignore") => judge.system("changes how a process is scheduled"),
            Some(process) if parsed.operands.iter().chain([process]).all(is_number) => {}
            Some(_) => judge.opaque("which process is meant is not known"),
        }),
        ..WRAPPER
    },
    Spec {
        names: "timeout gtimeout",
        opts: &[(Flag, "preserve-status foreground v verbose p f"), (Value, "k kill-after s signal")],
        check: Some(behind_one),
        ..WRAPPER
    },
    Spec {
        names: "stdbuf gstdbuf",
        opts: &[(Value, "i input o output e error")],
        operands: Operands::Command,
        ..WRAPPER
    },
    Spec { names: "nohup unbuffer eatmydata", operands: Operands::Command, ..WRAPPER },
    Spec {
        names: "setsid",
        opts: &[(Flag, "c ctty f fork w wait"), (Info, "h V")],
        operands: Operands::Command,
        ..WRAPPER
    },
    Spec {
        names: "time gtime",
        opts: &[
            (Flag, "p portability v verbose q quiet a append"),
            (Value, "f format"),
            (Write, "o output"),
            (Info, "V"),
        ],
        operands: Operands::Command,
        ..WRAPPER
    },
    Spec {
        names: "linux32 linux64 i386 x86_64",
        opts: &[(Flag, "R addr-no-randomize v verbose"), (Info, "h V list")],
        check: Some(|parsed, judge| inside_or_shell(&parsed.operands, judge)),
        ..WRAPPER
    },
    Spec {
        names: "setarch",
        opts: &[(Flag, "R addr-no-randomize v verbose"), (Info, "h V list")],
        // With an option in front the architecture may be left out, and the first word is the program.
        check: Some(|parsed, judge| match (parsed.opts.is_empty(), parsed.operands.as_slice()) {
            (true, [_, ..]) => behind_one(parsed, judge),
            (_, words) => inside_or_shell(words, judge),
        }),
        ..WRAPPER
    },
    // A display server is started beside the command.
    Spec {
        names: "xvfb-run",
        opts: &[(Flag, "a auto-servernum"), (Info, "h")],
        check: Some(|parsed, judge| {
            judge.code("starts a display");
            inside(&parsed.operands, judge);
        }),
        ..WRAPPER
    },
    Spec { names: "xargs gxargs", opts: XARGS, check: Some(xargs), ..WRAPPER },
    Spec {
        names: "watch",
        opts: &[
            (Flag, "t no-title b beep e errexit g chgexit c color x exec p precise w no-wrap C no-color"),
            (Maybe, "d differences"),
            (Value, "n interval q equexit"),
            (Info, "h v"),
        ],
        check: Some(|parsed, judge| match parsed.has("x exec") {
            true => inside(&parsed.operands, judge),
            false => text(&parsed.operands, judge),
        }),
        ..WRAPPER
    },
    Spec {
        names: "flock",
        opts: &[
            (Flag, "s shared x exclusive e n nb nonblock u unlock o close F no-fork verbose"),
            (Value, "w wait timeout E conflict-exit-code"),
            (Info, "h V"),
        ],
        check: Some(flock),
        ..WRAPPER
    },
    // Each operand is a text for a shell, run time after time.
    Spec {
        names: "hyperfine",
        opts: &[
            (Flag, "N show-output"),
            (Maybe, "i ignore-failure"),
            (Value, "w warmup r runs m min-runs M max-runs u time-unit n command-name style sort"),
            (Value, HYPERFINE_RUNS),
            (Write, "export-json export-csv export-markdown export-asciidoc export-orgmode"),
            (Info, "h help V version"),
        ],
        style: Style::Gnu,
        check: Some(hyperfine),
        ..WRAPPER
    },
    Spec { names: "bash sh dash ash", opts: SHELL, check: Some(shell), refuses: ".sh .bash .bats", ..WRAPPER },
    Spec {
        names: "fish",
        // To all others `-v` is to say what they read, and go on.
        opts: &[(Flag, "c n no-execute"), (Info, "v")],
        check: Some(other_shell),
        ..WRAPPER
    },
    Spec {
        names: "zsh ksh mksh csh tcsh rbash",
        opts: &[(Flag, "c n no-execute")],
        check: Some(other_shell),
        ..WRAPPER
    },
    Spec { names: "busybox toybox", opts: &[(Info, "list list-full")], check: Some(applet), ..WRAPPER },
    // Known to run what is behind them, in ways that are not followed.
    Spec {
        check: Some(|parsed, judge| {
            if !super::parallel::judge(parsed, judge) {
                judge.opaque("what `parallel` runs is not followed");
                probable(parsed, judge);
            }
        }),
        ..raw("parallel")
    },
    // Runs commands made of its input.
    opaque("sem"),
    // A text for a shell, and a file that what it prints is kept in.
    Spec {
        names: "script",
        opts: &[
            (Flag, "q quiet e return f flush a append"),
            (Value, "E echo c command"),
            (Write, "O log-out B log-io T log-timing I log-in"),
            (Info, "h V"),
        ],
        style: Style::Gnu,
        check: Some(script),
        ..WRAPPER
    },
    // Runs a shell and records it.
    opaque("scriptreplay"),
    // Runs a command when files change.
    opaque("entr watchexec"),
    // Runs a dialogue.
    opaque("autoexpect"),
    // Keeps a process that outlives the command.
    opaque("screen tmux dtach abduco zellij"),
    // Runs a command later.
    opaque("at batch atrm"),
    // What runs sees another time.
    Spec { names: "faketime", opts: &[(Flag, "m f exclude-monotonic")], check: Some(behind_one), ..WRAPPER },
    Spec {
        names: "dbus-run-session",
        opts: &[(Info, "version")],
        check: Some(|parsed, judge| {
            judge.code("starts a bus");
            inside(&parsed.operands, judge);
        }),
        ..WRAPPER
    },
    // Changes how a command runs.
    opaque("rlwrap runcon cgexec numactl ltrace"),
    Spec { names: "prlimit", opts: PRLIMIT, check: Some(limits), ..WRAPPER },
    // Runs a command in another place.
    opaque("firejail bwrap proot fakechroot"),
    // Loads a program by hand.
    opaque("ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1"),
    // Runs a command as a unit.
    opaque("systemd-run systemd-inhibit dbus-launch"),
    Spec {
        check: Some(|parsed, judge| {
            code_with_rights(parsed, judge);
        }),
        ..raw("chrt taskset")
    },
    rights("sudo sudoedit doas su pkexec runuser run0 gosu su-exec setpriv capsh"),
    rights("chroot unshare nsenter sg newgrp"),
];

/// Options stop at the first operand.
pub(super) const WRAPPER: Spec = Spec { style: Style::GnuStop, operands: Operands::Custom, ..PLAIN };

/// A limit without a value is shown, and with one it is set.
const PRLIMIT: &[(Does, &str)] = &[
    (Flag, "raw noheadings verbose"),
    (Info, "V version h help"),
    (Value, "p pid o output"),
    (Maybe, "c core d data e nice f fsize i sigpending l memlock m rss n nofile q msgqueue r rtprio s stack t cpu"),
    (Maybe, "u nproc v as x locks y rttime"),
];

/// prlimit: which limits a process has, or other ones for it or for what it runs.
fn limits(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.done().any(|(_, value, does)| does == Maybe && value.is_some()) {
        judge.system("it sets the limits of a process");
    }
    if !parsed.operands.is_empty() {
        judge.opaque("what `prlimit` runs is not followed");
        probable(parsed, judge);
    }
}

const XARGS: &[(Does, &str)] = &[
    (Flag, "0 null o open-tty p interactive r no-run-if-empty show-limits t verbose x exit"),
    (Value, "d delimiter E I L n max-args P max-procs s max-chars process-slot-var J R S"),
    (Maybe, "e eof i l max-lines replace"),
    (Does::Read, "a arg-file"),
];

const SHELL: &[(Does, &str)] =
    &[(Flag, "c e u x v n f l s b m h norc noprofile posix login verbose"), (Value, "o"), (Run, "rcfile init-file O")];

const fn raw(names: &'static str) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, ..PLAIN }
}

/// What runs something that is not followed.
const fn opaque(names: &'static str) -> Spec {
    Spec {
        check: Some(|parsed, judge| {
            judge.opaque(format!("what `{}` runs is not followed", parsed.path.join(" ")));
            probable(parsed, judge);
        }),
        ..raw(names)
    }
}

const fn rights(names: &'static str) -> Spec {
    Spec {
        check: Some(|parsed, judge| {
            judge.privilege(format!("`{}` asks for the rights of another user", parsed.path.join(" ")));
            probable(parsed, judge);
        }),
        ..raw(names)
    }
}

/// The command behind the wrapper. Without one there is nothing to run.
pub(super) fn inside(words: &[Arg], judge: &mut Judge<'_>) {
    if !words.is_empty() {
        judge.command(words);
    }
}

/// The command behind a wrapper that starts a shell of its own where there is none: a shell that reads what `/etc/profile`
/// and its standard input say.
pub(super) fn inside_or_shell(words: &[Arg], judge: &mut Judge<'_>) {
    if words.is_empty() {
        judge.opaque("without a command it starts a shell");
        return from_stdin(Shell::Sh, judge);
    }
    judge.command(words);
}

/// The words are joined and read by a shell.
fn text(words: &[Arg], judge: &mut Judge<'_>) {
    let known: Option<Vec<_>> = words.iter().map(Arg::exact).collect();
    match known {
        Some(words) if words.is_empty() => {}
        Some(words) => judge.script(Shell::Sh, &words.join(" "), &[], judge.span.clone()),
        None => judge.opaque("the text it runs is not known"),
    }
}

/// `script -c TEXT FILE`. Without a text it is a dialogue.
fn script(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.code("runs the shell of the user");
    match parsed.operands.as_slice() {
        [] if parsed.has("O log-out B log-io") => {}
        [] => judge.write(&judge.word("typescript")),
        [file] => judge.write(file),
        _ => judge.opaque("what `script` runs is not followed"),
    }
    match parsed.value("c command") {
        Some(command) => text(std::slice::from_ref(command), judge),
        None => {
            judge.opaque("what `script` runs is not followed");
            probable(parsed, judge);
        }
    }
}

/// Options of hyperfine whose value is a text for a shell, too.
const HYPERFINE_RUNS: &str = "p prepare c cleanup s setup conclude";

fn hyperfine(parsed: &Parsed, judge: &mut Judge<'_>) {
    let runs = |option: &str| HYPERFINE_RUNS.split(' ').any(|known| known == option);
    let around = parsed.opts.iter().filter(|(option, _)| runs(option)).filter_map(|(_, value)| value.as_ref());
    for words in around.chain(&parsed.operands) {
        text(std::slice::from_ref(words), judge);
    }
}

/// What is probably run by a wrapper that is not followed: from the first word that a table knows, where its command
/// begins. For what it destroys only; the wrapper itself is never harmless.
fn probable(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = parsed.operands.as_slice();
    let known = |word: &Arg| word.exact().and_then(super::standard).is_some_and(|name| super::find(name).is_some());
    let begins = match super::destructive::inside(parsed.path.first().map_or("", String::as_str), words) {
        Some(Inside::Words(begins)) => begins,
        Some(Inside::Text(text)) => return judge.script(Shell::Sh, &text, &[], judge.span.clone()),
        None => 0,
    };
    let words = words.get(begins..).unwrap_or_default();
    if let Some(at) = words.iter().position(known) {
        let rest = words.get(at..).unwrap_or_default();
        let end = rest.iter().position(|word| matches!(word.exact(), Some(":::" | "::::"))).unwrap_or(rest.len());
        judge.command(rest.get(..end).unwrap_or_default());
        return;
    }
    // A command in one word: `script -c 'rm -rf x'`, `at now <<< …`.
    let spaced = |word: &&Arg| word.exact().is_some_and(|text| text.contains(' '));
    if let Some(text) = words.iter().rev().find(spaced).and_then(Arg::exact) {
        judge.script(Shell::Sh, text, &[], judge.span.clone());
    }
}

/// The first operand is the wrapper's: a duration, an architecture.
fn behind_one(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some((first, rest)) = parsed.operands.split_first() else { return };
    if spec::may_be_more(first) {
        judge.opaque("an operand of the wrapper may be several words");
    }
    match parsed.path.first().is_some_and(|name| name == "setarch") {
        true => inside_or_shell(rest, judge),
        false => inside(rest, judge),
    }
}

/// Whether a word is the number of a process: `1234`, `$$`.
fn is_number(word: &Arg) -> bool {
    match &word.word {
        // What `$$` and `$!` are taken for is the shell and a job.
        Word::Exact(text) => {
            matches!(text.as_str(), "%0" | "%1") || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        }
        _ => false,
    }
}

/// chrt and taskset change how a process is scheduled.
fn code_with_rights(parsed: &Parsed, judge: &mut Judge<'_>) {
    if let [option, process] = parsed.operands.as_slice()
        && matches!(option.exact(), Some("-p" | "--pid" | "-pc" | "-cp"))
        && is_number(process)
    {
        return;
    }
    judge.system("changes how a process is scheduled");
    probable(parsed, judge);
}

/// NAME=VALUE… COMMAND…
fn env(parsed: &Parsed, judge: &mut Judge<'_>) {
    for (_, name) in parsed.opts.iter().filter(|(option, _)| matches!(option.as_str(), "u" | "unset")) {
        match name.as_ref().and_then(Arg::exact) {
            // What is set for every command keeps git from running what a repository names.
            Some(name) if names::meaning(name) == Meaning::Rewires => {
                judge.opaque(format!("it takes away `{name}`, which decides what runs"))
            }
            Some(name) if crate::profile::set_for_reading().any(|set| set == name) => {
                judge.code(format!("it takes away `{name}`, which keeps programs from loading or fetching more"));
            }
            Some(_) => {}
            None => judge.opaque("which variable is taken away is not known"),
        }
    }
    let mut words = parsed.operands.as_slice();
    let mut empties = parsed.has("i ignore-environment");
    while let Some((word, rest)) = words.split_first() {
        let known = match &word.word {
            Word::Exact(text) => text.as_str(),
            Word::Opaque { prefix, splits: false, .. } => prefix.as_str(),
            _ => "",
        };
        if known == "-" {
            empties = true;
            words = rest;
            continue;
        }
        let Some((name, value)) = known.split_once('=') else { break };
        sets(name, word.exact().map(|_| value), judge);
        words = rest;
    }
    if empties && words.iter().any(may_start_git) {
        judge.opaque("git in an empty environment runs what a repository names");
    }
    if empties && words.iter().any(may_start_held) {
        judge.code("what is set for it is not, and it may load or fetch more");
    }
    inside(words, judge);
}

/// Whether a word behind `env -i` names a program that is held by variables which are set where nothing is written.
fn may_start_held(word: &Arg) -> bool {
    const HELD: &[&str] = &["go", "gofmt", "python", "pypy", "rust", "cargo", "clippy"];
    let name = word.exact().map_or("", |text| text.rsplit('/').next().unwrap_or(text));
    HELD.iter().any(|held| name.starts_with(held))
}

/// It sets a variable for the programs behind it; to which value, where that is known.
pub(super) fn sets(name: &str, value: Option<&str>, judge: &mut Judge<'_>) {
    match names::meaning_of(name, value) {
        Meaning::Harmless => {}
        Meaning::Setting if names::is_nobodys(name) => {}
        Meaning::Setting => {
            judge.code(format!("it sets `{name}` for the programs that follow"));
            match value {
                Some(value) => super::settings::given(name, value, judge),
                None => judge.opaque(format!("the value of `{name}` is not known")),
            }
        }
        Meaning::Rewires => judge.opaque(format!("it sets `{name}`, which decides what runs")),
    }
}

/// Whether a word behind `env -i` may have git started: its name, a script, a program that starts others.
fn may_start_git(word: &Arg) -> bool {
    let Some(text) = word.exact() else { return true };
    let name = text.rsplit('/').next().unwrap_or(text);
    text.contains("git") || SPECS.iter().any(|spec| spec.is(name))
}

/// A lock file, then a command or `-c` and a text. A number alone is a descriptor.
fn flock(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some((lock, rest)) = parsed.operands.split_first() else { return };
    match (lock.exact(), rest.first().and_then(Arg::exact)) {
        (Some(number), None) if rest.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {}
        (_, Some("-c" | "--command")) => {
            judge.write(lock);
            text(rest.get(1..).unwrap_or_default(), judge);
        }
        _ => {
            judge.write(lock);
            inside(rest, judge);
        }
    }
}

/// `bash -c TEXT`, `bash FILE`, `bash -n FILE`, `… | bash`.
fn shell(parsed: &Parsed, judge: &mut Judge<'_>) {
    const NAMES: &[&str] = &["pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "posix", "verbose"];
    let steers = parsed.opts.iter().filter(|(name, _)| name == "o").filter_map(|(_, value)| value.as_ref());
    if steers.map(Arg::exact).any(|name| name.is_none_or(|name| !NAMES.contains(&name))) {
        judge.opaque("an option changes how the shell reads the text");
    }
    let is_bash = parsed.path.first().is_some_and(|name| name == "bash") && !parsed.has("posix");
    let shell = if is_bash { Shell::Bash } else { Shell::Sh };
    let Some((first, rest)) = parsed.operands.split_first() else {
        return match parsed.has("c n") {
            true => {}
            false => from_stdin(shell, judge),
        };
    };
    match (first.exact(), parsed.has("c"), parsed.has("n")) {
        _ if takes_back(first)
            && (parsed.has("n") || first.exact().is_some())
            && !spec::is_refused(".sh .bash .bats", first) =>
        {
            judge.opaque("an option of the shell")
        }
        (_, false, true) => judge.read(first),
        (_, true, true) => {}
        (Some(script), true, false) => judge.script(shell, script, rest, first.span.clone()),
        (None, true, false) => judge.opaque("the text the shell runs is not known"),
        (_, false, false) if parsed.has("s") => from_stdin(shell, judge),
        (_, false, false) => {
            special::program_file(first, "the script", judge);
            super::effects::secrets(rest, judge);
            super::goals::script_publishes(first.exact().unwrap_or_default(), rest, judge);
        }
    }
}

/// A script of the workspace is its code.
fn script_file(name: &str, file: &Arg, judge: &mut Judge<'_>) {
    judge.read(file);
    let place = judge.resolve(name);
    if judge.site.is_ours(&place) {
        judge.code(format!("runs `{name}`"));
    } else {
        judge.opaque(format!("runs `{name}` from outside of the workspace"));
    }
}

/// A shell that reads its script from standard input.
fn from_stdin(shell: Shell, judge: &mut Judge<'_>) {
    match judge.stdin.clone() {
        Stdin::Text(text) => judge.script(shell, &text, &[], judge.span.clone()),
        Stdin::Pipe { remote: true, .. } => {
            judge.forbidden(Danger::Fetched, "what comes from the network runs in a shell")
        }
        _ => judge.opaque("what the shell runs is not known"),
    }
}

/// Whether a word may be an option with a plus: `+n` takes `-n` back.
fn takes_back(arg: &Arg) -> bool {
    match &arg.word {
        Word::Exact(text) => text.starts_with('+'),
        Word::Glob { prefix, .. } | Word::Opaque { prefix, .. } => prefix.is_empty() || prefix.starts_with('+'),
        Word::OneOf(words) => words.iter().any(|word| takes_back(&Arg { word: word.clone(), span: arg.span.clone() })),
    }
}

/// Other shells read text differently; it is looked at only for what it destroys.
fn other_shell(parsed: &Parsed, judge: &mut Judge<'_>) {
    // They check the text, and not even what they read when they start is run.
    const CHECKS: &[&str] = &["zsh", "fish", "ksh", "mksh"];
    let checks = parsed.has("n") || parsed.has("no-execute") && parsed.path.first().is_some_and(|name| name == "fish");
    if checks
        && !parsed.has("c")
        && !parsed.operands.first().is_some_and(takes_back)
        && parsed.path.first().is_some_and(|name| CHECKS.contains(&name.as_str()))
    {
        return parsed.operands.iter().for_each(|file| judge.read(file));
    }
    if parsed.has("n no-execute") {
        judge.opaque("an option of the shell");
    }
    match parsed.operands.first() {
        Some(first) if !parsed.has("c") => match first.exact() {
            Some(name) => script_file(name, first, judge),
            None => judge.opaque("the file the shell runs is not known"),
        },
        Some(first) => {
            judge.opaque("the text of another shell is not followed");
            if let Some(text) = first.exact() {
                judge.script(Shell::Sh, text, &[], first.span.clone());
            }
        }
        None => from_stdin(Shell::Sh, judge),
    }
}

/// Applets that read the same options as the programs they stand for.
fn applet(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SAME: &[&str] = &[
        "cat",
        "ls",
        "head",
        "tail",
        "wc",
        "grep",
        "cut",
        "tr",
        "echo",
        "pwd",
        "id",
        "whoami",
        "uname",
        "stat",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "basename",
        "dirname",
        "du",
        "df",
        "true",
        "false",
        "printf",
        "seq",
        "sleep",
        "readlink",
        "realpath",
        "tac",
        "rev",
        "expr",
        "nproc",
        "which",
    ];
    let Some(name) = parsed.operands.first().map(Arg::exact) else { return };
    if !name.is_some_and(|name| SAME.contains(&name)) {
        judge.opaque("the applet reads its options in its own way");
    }
    judge.command(&parsed.operands);
}

/// The command with words from standard input behind it, or in the place of `{}`.
fn xargs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut words = parsed.operands.clone();
    for (_, name) in parsed.opts.iter().filter(|(option, _)| option == "process-slot-var") {
        match name.as_ref().and_then(Arg::exact) {
            Some(name) => sets(name, Some("0"), judge),
            None => judge.opaque("which variable is set is not known"),
        }
    }
    let replaces = parsed.value("I").and_then(Arg::exact).or_else(|| {
        let given = parsed.value("i replace").and_then(Arg::exact);
        parsed.has("i replace").then_some(given.unwrap_or("{}"))
    });
    // The last of them wins, and with it whether words are put in or behind. `-n 1` in front of `-I` says the same.
    let names_of = |option: &(String, Option<Arg>)| option.0.clone();
    let at = |wanted: &[&str]| parsed.opts.iter().rposition(|option| wanted.contains(&names_of(option).as_str()));
    let one = parsed.value("n max-args").and_then(Arg::exact) == Some("1") && at(&["n", "max-args"]) < at(&["I"]);
    if replaces.is_some() && (parsed.has("L max-lines l") || parsed.has("n max-args") && !one) {
        judge.opaque("`-I` beside `-L` or `-n` of xargs");
    }
    let span = judge.span.clone();
    let delimiter = parsed.has("d delimiter").then(|| parsed.value("d delimiter").and_then(Arg::exact).unwrap_or(""));
    let names = |splits: bool| match &judge.stdin {
        Stdin::Pipe { printed: Printed::Copied | Printed::Files { packed: false }, remote: false, .. } => {
            listed_names(splits)
        }
        // Split at ends of lines, it gives the words that blanks give, or fewer.
        Stdin::Pipe { printed, .. } if !parsed.has("a arg-file") && delimiter.is_none_or(|end| end == "\\n") => {
            // A name with the end of a line in it is two lines, and the second may start in any way.
            piped(printed, splits, !parsed.has("0 null"))
        }
        // A list in a file.
        Stdin::File { .. } => listed_names(splits),
        _ if parsed.has("a arg-file") => listed_names(splits),
        _ => unknown_names(splits),
    };
    let Some(mark) = replaces.filter(|mark| !mark.is_empty()) else {
        if words.is_empty() {
            return;
        }
        let known = match &judge.stdin {
            Stdin::Text(text) if !parsed.has("a arg-file d delimiter 0 null E e eof") => plain_words(text),
            _ => None,
        };
        match known {
            Some(known) => {
                words.extend(known.into_iter().map(|text| Arg { word: Word::Exact(text), span: span.clone() }))
            }
            None => words.extend(names(true).into_iter().map(|word| Arg { word, span: span.clone() })),
        }
        return judge.command(&words);
    };
    let name = names(false).pop().unwrap_or(Word::Exact(String::new()));
    for word in &mut words {
        let Some(text) = word.exact().filter(|text| text.contains(mark)) else { continue };
        let before = text.split(mark).next().unwrap_or_default();
        word.word = match (&name, before.is_empty()) {
            (name, true) if text == mark => name.clone(),
            _ => Word::Opaque { prefix: before.to_owned(), splits: false, why: INPUT.into() },
        };
    }
    inside(&words, judge);
}

const INPUT: &str = "a word comes from standard input";

fn unknown_names(splits: bool) -> Vec<Word> {
    vec![Word::Opaque { prefix: String::new(), splits, why: INPUT.into() }]
}

fn listed_names(splits: bool) -> Vec<Word> {
    vec![Word::Opaque { prefix: String::new(), splits, why: Why::Listed }]
}

/// Text that xargs splits at blanks alone.
fn plain_words(text: &str) -> Option<Vec<String>> {
    (!text.contains(['\'', '"', '\\'])).then(|| text.split_ascii_whitespace().map(str::to_owned).collect())
}

/// What the words are that a pipe brings. At `blanks` a name becomes several words, of which only the first starts as the
/// name does.
fn piped(printed: &Printed, splits: bool, blanks: bool) -> Vec<Word> {
    // Two stars: there may be no name at all.
    let glob = |start: Start| {
        let prefix = start.text();
        vec![Word::Glob { pattern: format!("{prefix}**"), prefix: prefix.to_owned() }]
    };
    let exact = |words: &[String]| words.iter().cloned().map(Word::Exact).collect();
    match printed {
        Printed::Names { here: true } | Printed::Zeros { here: true } if !blanks => glob(Start::Here),
        Printed::Zeros { here: false } if !blanks => glob(Start::Anyhow),
        Printed::Names { .. } | Printed::Quoted | Printed::Loose => glob(Start::Anyhow),
        Printed::Programs => glob(Start::Program),
        Printed::Hashes | Printed::Numbers => glob(Start::Plain),
        Printed::Words(words) if splits => exact(words),
        Printed::Words(words) => vec![Word::OneOf(exact(words))],
        Printed::Zeros { .. } | Printed::Branch | Printed::Changes | Printed::Stored => unknown_names(splits),
        Printed::Commits | Printed::Found => unknown_names(splits),
        Printed::Anything | Printed::Copied | Printed::Files { .. } => unknown_names(splits),
    }
}
