//! Programs of a project that run the command, the line or the scripts behind them: `pnpm exec`, `rustup run`,
//! `valgrind`, `concurrently`. What is behind them is judged as if it stood alone.

use super::super::judge::{Arg, Judge, Shell};
use super::effects::{named, reaches, run, run_words};
use super::goals::script_reaches;
use super::spec::{Operands, PLAIN, Parsed, Spec, Style, lists};

/// The table. It stands before the tools of [`super::build`].
pub(super) const SPECS: &[Spec] = &[
    raw("valgrind", |parsed, judge| behind_options(parsed, "", judge)),
    raw("c8 nyc", |parsed, judge| {
        if matches!(
            parsed.operands.first().and_then(Arg::exact),
            Some("report" | "check-coverage" | "merge" | "instrument")
        ) {
            return run(parsed, judge);
        }
        behind_options(parsed, COVERAGE, judge);
    }),
    raw("concurrently", concurrently),
    raw("husky lefthook simple-git-hooks overcommit", super::hooks::installs),
    raw("prisma", |parsed, judge| {
        let sub = parsed.operands.first().and_then(Arg::exact);
        if !matches!(sub, Some("generate" | "format" | "validate" | "version" | "-v" | "--version")) {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    reaches(PUBLISHERS),
    // They give variables to the command behind them.
    raw("cross-env", |parsed, judge| {
        let sets = |word: &&Arg| word.exact().is_some_and(|text| text.contains('='));
        let count = parsed.operands.iter().take_while(sets).count();
        for (name, value) in parsed.operands.iter().take(count).filter_map(|word| word.exact()?.split_once('=')) {
            super::wrappers::sets(name, Some(value), judge);
        }
        run_words(parsed, parsed.operands.get(count..).unwrap_or_default(), judge);
    }),
    raw("cross-env-shell env-cmd dotenv", |parsed, judge| {
        judge.opaque(format!("what `{}` runs is not followed", parsed.path.join(" ")));
    }),
    raw("changeset", |parsed, judge| {
        if matches!(parsed.operands.first().and_then(Arg::exact), Some("publish" | "tag")) {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    // It publishes what it has built where it is told to.
    raw("electron-builder electron-forge", |parsed, judge| {
        if publishes(&parsed.operands) {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    raw("rails", rails),
    raw("ffmpeg convert magick mogrify montage composite dot neato sox soxi", super::media::media),
    raw("manage.py artisan django-admin", |parsed, judge| {
        task_of_framework(parsed.path.first().map_or("", String::as_str), &parsed.operands, judge);
        run(parsed, judge);
    }),
    raw("mise", |parsed, judge| match parsed.operands.split_first() {
        // A task of the project; an option may name a file, a tool or a place.
        Some((sub, [task, rest @ ..]))
            if matches!(sub.exact(), Some("run" | "r" | "tasks"))
                && task
                    .exact()
                    .is_some_and(|task| !task.starts_with('-') && !matches!(task, "run" | "edit" | "add")) =>
        {
            script_reaches(std::slice::from_ref(task), judge);
            run(&parsed.with_operands(rest), judge);
        }
        Some((sub, command)) if matches!(sub.exact(), Some("exec" | "x")) => {
            super::environments::mise_exec(command, judge);
        }
        _ => judge.opaque("what `mise` does cannot be said"),
    }),
    // A notebook is made into another, and runs first where it is told so.
    raw("jupyter", |parsed, judge| match parsed.operands.split_first() {
        Some((sub, rest)) if sub.exact() == Some("nbconvert") => {
            let serves = |word: &Arg| word.exact().is_some_and(|text| text.contains("serve") || text.contains("post"));
            if rest.iter().any(serves) {
                judge.opaque("what becomes of the document is not followed");
            }
            run(&parsed.with_operands(rest), judge);
        }
        Some((version, [])) if version.exact() == Some("--version") => {}
        _ => {
            judge.opaque("what `jupyter` does cannot be said");
            super::effects::secrets(&parsed.operands, judge);
        }
    }),
];

/// Asks about a task of a framework that runs a text of the command line, is a dialogue with the program or its database, or
/// publishes, as its name says.
pub(super) fn task_of_framework(script: &str, words: &[Arg], judge: &mut Judge<'_>) {
    const DIALOGUES: &[(&str, &str)] = &[
        ("manage.py", "shell shell_plus dbshell sendtestemail"),
        ("django-admin", "shell shell_plus dbshell sendtestemail"),
        ("artisan", "tinker db"),
    ];
    let base = script.rsplit('/').next().unwrap_or(script);
    let Some((_, dialogues)) = DIALOGUES.iter().find(|(name, _)| *name == base) else { return };
    let mut tasks = words.iter().filter_map(Arg::exact).filter(|word| !word.starts_with('-'));
    if tasks.next().is_some_and(|task| dialogues.split(' ').any(|known| known == task)) {
        judge.opaque("it runs text, or is a dialogue");
    }
    script_reaches(words, judge);
}

/// Tools that a project brings in order to publish, to deploy or to report somewhere.
const PUBLISHERS: &str = "semantic-release multi-semantic-release release-it release-please np gh-pages coveralls codecov \
    codecovcli vsce ovsx eas chromatic percy bundlewatch lhci shipjs auto publish-please";

const COVERAGE: &str = "-r --reporter -o --reports-dir --report-dir -x --exclude -n --include -t --temp-directory \
    --temp-dir --cwd --src --lines --functions --branches --statements -e --extension --require -i --cache-dir \
    --nycrc-path --config -c --resolve --merge-async";

/// `publish`, or `--publish`, `-p` with another word than `never` behind it or attached to it.
fn publishes(words: &[Arg]) -> bool {
    let mut words = words.iter().map(|word| word.exact().unwrap_or_default());
    while let Some(word) = words.next() {
        let when = match word.strip_prefix("--publish").or_else(|| word.strip_prefix("-p")) {
            Some("") => words.next().unwrap_or_default(),
            Some(when) => when.trim_start_matches('='),
            None if matches!(word, "publish" | "") => return true,
            None => continue,
        };
        if when != "never" {
            return true;
        }
    }
    false
}

/// Words that only their function reads.
pub(super) const fn raw(names: &'static str, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { names, style: Style::Raw, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// Options of the runner, of which those in `valued` take the next word; then a command.
pub(super) fn behind_options(parsed: &Parsed, valued: &str, judge: &mut Judge<'_>) {
    const TEXT: &[&str] = &["-c", "--call", "--shell-mode", "--db-command", "--eval"];
    let words = &parsed.operands;
    let mut at = 0;
    while let Some(text) = words.get(at).and_then(Arg::exact).filter(|text| text.starts_with('-')) {
        at += 1;
        if text == "--" {
            break;
        }
        let name = text.split('=').next().unwrap_or(text);
        let takes = valued.split_whitespace().any(|known| known == text);
        if TEXT.contains(&name) && !takes {
            judge.opaque(format!("`{name}` runs what the command line says"));
        }
        at += usize::from(takes);
    }
    let (options, command) = words.split_at(at.min(words.len()));
    named(options, judge);
    run_words(parsed, command, judge);
}

/// `RUNNER SUBCOMMAND [OPTIONS] COMMAND` of which the subcommand was read by the table.
pub(super) fn exec(parsed: &Parsed, judge: &mut Judge<'_>) {
    behind_options(parsed, "--filter -F --workspace -w --package -p --cwd -C", judge);
}

/// `rustup run [--install] TOOLCHAIN COMMAND`.
pub(super) fn toolchain(parsed: &Parsed, judge: &mut Judge<'_>) {
    let is_option = |arg: &&Arg| arg.exact().is_some_and(|text| text.starts_with('-'));
    let options = parsed.operands.iter().take_while(is_option).count();
    if parsed.operands.iter().take(options).any(|arg| arg.exact() == Some("--install")) {
        judge.net(None);
    }
    run_words(parsed, parsed.operands.get(options + 1..).unwrap_or_default(), judge);
}

/// `cargo dist`: it plans and builds what another step puts on a server.
pub(super) fn cargo_dist(parsed: &Parsed, judge: &mut Judge<'_>) {
    let sub = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    if !matches!(sub, "build" | "plan" | "generate" | "manifest" | "linkage" | "help" | "--version" | "--help") {
        judge.net(None);
    }
    run(parsed, judge);
}

/// `cargo sqlx prepare`: the queries of the project are compiled and kept; all else works on a database.
pub(super) fn cargo_sqlx(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.first().and_then(Arg::exact) {
        Some("prepare" | "--version" | "--help") => run(parsed, judge),
        _ => judge.net(None),
    }
}

/// Every operand is a line for a shell, or `npm:SCRIPT`.
fn concurrently(parsed: &Parsed, judge: &mut Judge<'_>) {
    const VALUED: &str = "-n --names -c --prefix-colors -p --prefix -m --max-processes -l --prefix-length \
        --name-separator --restart-tries --restart-after --success -s --default-input-target --kill-signal --ks \
        --timestamp-format -t --teardown --pad-prefix --hide --handle-input-target";
    judge.code(format!("runs `{}`", parsed.path.join(" ")));
    judge.write_cwd();
    let mut words = parsed.operands.iter();
    while let Some(word) = words.next() {
        match word.exact() {
            Some("-v" | "--version" | "-h" | "--help") => {}
            Some("--teardown") => line(words.next(), judge),
            Some(text) if text.starts_with("--teardown=") => line(Some(&word.with(&text[11..])), judge),
            Some(option) if option.starts_with('-') => {
                if VALUED.split_whitespace().any(|known| known == option) {
                    words.next();
                }
            }
            Some(script)
                if ["npm:", "yarn:", "pnpm:", "bun:", "node:", "deno:"].iter().any(|tool| script.starts_with(tool)) =>
            {
                let name = script.split_once(':').map_or("", |(_, name)| name);
                script_reaches(&[word.with(name)], judge);
            }
            _ => line(Some(word), judge),
        }
    }
}

/// A text for a shell.
fn line(word: Option<&Arg>, judge: &mut Judge<'_>) {
    match word.map(|word| (word.exact(), word)) {
        Some((Some(text), word)) => judge.script(Shell::Sh, text, &[], word.span.clone()),
        Some((None, _)) => judge.opaque("the line it runs is not known"),
        None => {}
    }
}

/// `cargo watch`: `-x SUBCOMMAND`, `-s LINE`, `-- COMMAND`.
pub(super) fn cargo_watch(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.code("runs `cargo watch`");
    judge.write_cwd();
    let mut words = parsed.operands.iter().enumerate();
    let subcommand = |text: &str, word: &Arg, judge: &mut Judge<'_>| {
        judge.script(Shell::Sh, &format!("cargo {text}"), &[], word.span.clone());
    };
    while let Some((at, word)) = words.next() {
        let Some(text) = word.exact() else {
            judge.opaque("a word of `cargo watch` is not known");
            continue;
        };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(word.with(value))),
            _ if text.starts_with("--") || text.len() < 3 || !text.starts_with('-') => (text, None),
            _ => text.split_at_checked(2).map_or((text, None), |(name, value)| (name, Some(word.with(value)))),
        };
        match name {
            "-s" | "--shell" => match value {
                Some(value) => line(Some(&value), judge),
                None => line(words.next().map(|(_, word)| word), judge),
            },
            "-x" | "--exec" => {
                let value = value.or_else(|| words.next().map(|(_, word)| word.clone()));
                match value.as_ref().and_then(Arg::exact) {
                    Some(text) => subcommand(text, word, judge),
                    None => judge.opaque("what `cargo watch -x` runs is not known"),
                }
            }
            "-B" | "--use-shell" => {
                judge.opaque(format!("`{name}` of `cargo watch` names a program"));
                words.next();
            }
            "-w" | "--watch" | "-i" | "--ignore" | "-d" | "--delay" | "--features" | "-C" | "--workdir" | "-E"
                if value.is_none() =>
            {
                words.next();
            }
            "--" => return run_words(parsed, parsed.operands.get(at + 1..).unwrap_or_default(), judge),
            _ if !name.starts_with('-') => {
                return run_words(parsed, parsed.operands.get(at..).unwrap_or_default(), judge);
            }
            _ => {}
        }
    }
    named(&parsed.operands, judge);
}

/// Tasks, tests, servers and generators of the application; `runner` takes a text.
fn rails(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.first().and_then(Arg::exact) {
        Some("runner" | "r" | "console" | "c" | "dbconsole" | "db" | "credentials:edit" | "encrypted:edit") => {
            judge.opaque("it runs text, or is a dialogue");
        }
        Some("new") => judge.net(None),
        _ => {}
    }
    run(parsed, judge);
}

/// The same words without the first ones.
pub(super) fn behind(parsed: &Parsed, count: usize) -> Parsed {
    parsed.with_operands(parsed.operands.get(count..).unwrap_or_default())
}

/// `coverage run -m MODULE` is `python -m MODULE`.
pub(super) fn covered_module(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = &parsed.operands;
    let at = words.iter().position(|arg| matches!(arg.exact(), Some("-m" | "--module")));
    if let Some(at) = at.filter(|_| words.first().and_then(Arg::exact) == Some("run"))
        && let Some((option, rest)) = words.get(at..).and_then(<[Arg]>::split_first)
    {
        let mut argv = vec![option.with("python"), option.with("-m")];
        argv.extend_from_slice(rest);
        judge.command(&argv);
    }
}

/// Before `--` the options are those of the package manager: one of them names the shell of its scripts.
pub(super) fn names_shell(parsed: &Parsed, judge: &mut Judge<'_>) {
    let own = parsed.operands.iter().filter_map(Arg::exact).take_while(|text| *text != "--");
    if own
        .into_iter()
        .any(|text| ["--script-shell", "--shell-emulator", "--node-options"].iter().any(|name| text.starts_with(name)))
    {
        judge.opaque("an option names the shell or the options of what scripts run");
    }
}

/// A program of the project: what is known of it counts as if it stood alone, any other is not known.
pub(super) fn bundle_exec(parsed: &Parsed, judge: &mut Judge<'_>) {
    let name = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    run(parsed, judge);
    // A page of texts is translated by a server.
    if name == "i18n-tasks" && parsed.operands.iter().any(|word| word.exact().is_none_or(|text| text.contains("trans")))
    {
        judge.net(None);
    }
    const OWN: &str = "erb_lint guard haml-lint i18n-tasks sidekiq slim-lint srb steep";
    if !lists(OWN, name) {
        judge.command(&parsed.operands);
    }
}
