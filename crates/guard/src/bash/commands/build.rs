//! Builds, tests, linters, formatters, and the package managers of projects.
//!
//! They run what the workspace says: its build scripts, plugins and configuration. That is code of the
//! workspace, which the sandbox confines to the workspace and keeps off the network, so their many options
//! need no table. What does need one is what only prints (and is then proved harmless), what reaches the
//! network, and what runs a text of the command line itself.

use super::super::judge::{Arg, Judge, Stdin};
use super::effects::{
    asks, dash, edits, looks, only, outside, prints, reaches, run, run_project, run_words, runs, settings_of_cargo,
    with, with_dash,
};
use super::goals::{self, goal_reaches, script_reaches};
use super::linters::{HADOLINT, SHELLCHECK, TYPOS, YAMLLINT, typos};
use super::runners::{self, raw};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};
use super::tools::{TOOL_NAMES, TOOLS};
use super::{effects, formatters, glances, inline, installing, offline, places, serving, toolbox};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        check: Some(settings_of_cargo),
        ..with(
            "cargo",
            &[
                (Does::Info, "V version list explain help h"),
                (Does::Flag, "v verbose q quiet offline locked frozen"),
                (Does::Value, "color Z config"),
            ],
            CARGO,
        )
    },
    Spec { names: "rustc rustdoc", style: Style::Raw, operands: Operands::Custom, check: Some(rustc), ..PLAIN },
    formatters::RUSTFMT,
    with("rustup", &[(Does::Info, "V version"), (Does::Flag, "v verbose q quiet")], RUSTUP),
    with_dash("go", &[], GO),
    formatters::GOFMT,
    with("npm", NPM_OPTS, NPM),
    Spec { names: "yarn", style: Style::Raw, operands: Operands::Custom, check: Some(super::yarn::yarn), ..PLAIN },
    Spec { check: Some(super::pnpm::stands), ..with("pnpm", super::pnpm::OPTS, super::pnpm::PNPM) },
    Spec { names: "bun", style: Style::Raw, operands: Operands::Custom, check: Some(super::bun::bun), ..PLAIN },
    Spec {
        names: "npx bunx pnpx uvx pipx",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(fetch_and_run),
        ..PLAIN
    },
    with("poetry", POETRY_OPTS, POETRY),
    with("pipenv pdm hatch rye", &[(Does::Info, "V version")], PYTHON_PROJECTS),
    with("bundle bundler", &[(Does::Info, "v version")], BUNDLE),
    with("composer", &[(Does::Info, "V version"), (Does::Flag, "no-ansi n no-interaction q quiet")], COMPOSER),
    with("dotnet", &[(Does::Info, "info list-sdks list-runtimes version")], super::dotnet::DOTNET),
    with("pre-commit", &[(Does::Info, "V version")], PRE_COMMIT),
    with("cmake", &[(Does::Info, "version")], &[]).custom(super::cmake::cmake),
    Spec { names: "shellcheck", opts: SHELLCHECK, operands: Operands::Read, ..PLAIN },
    Spec {
        names: "yamllint",
        opts: YAMLLINT,
        operands: Operands::ReadTree,
        check: Some(super::within::yaml_rules),
        ..PLAIN
    },
    Spec { names: "hadolint", opts: HADOLINT, operands: Operands::Read, ..PLAIN },
    Spec { names: "typos", opts: TYPOS, operands: Operands::Custom, check: Some(typos), ..PLAIN },
    raw("meson", |parsed, judge| match parsed.operands.first().and_then(Arg::exact) {
        Some("devenv") => runners::behind_options(&runners::behind(parsed, 1), "-C -w --workdir --dump-format", judge),
        Some("wrap" | "subprojects") => judge.net(None),
        _ => tool(parsed, judge),
    }),
    Spec { names: TOOL_NAMES, style: Style::Raw, operands: Operands::Custom, check: Some(tool), ..PLAIN },
    Spec { names: toolbox::NAMES, style: Style::Raw, operands: Operands::Custom, check: Some(tool), ..PLAIN },
];

impl Spec {
    /// The row with every word seen by `check` alone.
    const fn custom(self, check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
        Spec { style: Style::Raw, operands: Operands::Custom, check: Some(check), ..self }
    }
}

/// Names that `parsed` may have, or the row of a tool.
pub(super) fn named(names: &str, parsed: &Parsed) -> bool {
    parsed.path.first().is_some_and(|name| names.split_whitespace().any(|known| known == name))
}

fn tool(parsed: &Parsed, judge: &mut Judge<'_>) {
    if glances::looks(parsed, judge) {
        return;
    }
    // The shell that make takes anyway, or the one that runs this.
    let plain_shell = |word: &Arg| {
        matches!(
            word.exact(),
            Some("SHELL=/bin/bash" | "SHELL=/bin/sh" | "SHELL=/usr/bin/bash" | "SHELL=bash" | "SHELL=sh")
        )
    };
    if named("make gmake", parsed) && parsed.operands.iter().any(plain_shell) {
        let mut without = parsed.clone();
        without.operands.retain(|word| !plain_shell(word));
        return tool(&without, judge);
    }
    let row = TOOLS.iter().chain(toolbox::TOOLS).find(|tool| named(tool.names, parsed));
    if let Some(row) = row {
        if only(parsed, row.info) || asks_for_a_place(parsed) {
            return;
        }
        let has = |list: &str, text: &str| list.split_whitespace().any(|word| word == text);
        let words = || parsed.operands.iter().filter_map(Arg::exact);
        let first = words().find(|text| !text.starts_with('-'));
        let goals = named(goals::WITH_GOALS, parsed);
        if first.is_some_and(|text| has(row.net, text))
            || words().any(|text| {
                let option = text.split_once('=').map_or(text, |(option, _)| option);
                // How it is built: `just build release`.
                let profile =
                    text == "release" && named("just", parsed) && matches!(first, Some("build" | "run" | "bench"));
                !profile && goals && goal_reaches(text, row.net) || option.starts_with("--") && has(row.net, option)
            })
        {
            judge.net(None);
        }
        let built = behind_exec(parsed).is_some();
        for (at, text) in parsed.operands.iter().enumerate().filter_map(|(at, word)| Some((at, word.exact()?))) {
            let option = text.split_once('=').map_or(text, |(name, _)| name);
            if built && at == 0 || text == "-" && compiles_input(parsed, judge) {
                continue;
            }
            if has(row.ask, option) || (option == "-f" && has(row.ask, "-") && text_follows(parsed, "-f", "-")) {
                judge.opaque(format!("`{option}` runs what the command line says"));
            }
        }
    }
    if let Some(command) = behind_exec(parsed) {
        return run_words(parsed, &command, judge);
    }
    if toolbox::is_fed(parsed, judge) {
        judge.opaque("what it runs comes from standard input");
    }
    inline::runs_words(parsed, judge);
    const FETCHES: &str = "task just jscodeshift openapi-generator openapi-generator-cli swagger-codegen redocly spectral marp \
        papermill inkscape quarto mmdc swag dbt scala-cli";
    if named(FETCHES, parsed) {
        places::addresses(&parsed.operands, true, judge);
    }
    if named("buf", parsed) {
        places::addresses(&parsed.operands, true, judge);
        if parsed.operands.iter().filter_map(Arg::exact).any(|text| text.starts_with("buf.build/")) {
            judge.net(Some("buf.build"));
        }
    }
    if named("ctest", parsed) && parsed.operands.iter().filter_map(Arg::exact).any(goals::submits) {
        judge.net(None);
    }
    if named("lerna", parsed) && parsed.operands.first().and_then(Arg::exact) == Some("version") {
        judge.net(None);
    }
    if named("coverage", parsed) {
        runners::covered_module(parsed, judge);
    }
    if goals::reaches_by_name(parsed) {
        judge.net(None);
    }
    installing::writes(parsed, judge);
    if named("bazel bazelisk buck buck2 pants please plz", parsed) {
        places::addresses(&parsed.operands, true, judge);
        serving::of_bazel(&parsed.operands, judge);
        // `//pkg:target` is a label, not a path.
        let label = |arg: &Arg| arg.exact().is_some_and(|text| text.starts_with("//") && !text.contains("/../"));
        let mut without = parsed.clone();
        without.operands.retain(|arg| !label(arg));
        return run(&without, judge);
    }
    if named("msbuild xbuild", parsed) {
        // It takes a backslash for a slash.
        let climbs = |arg: &Arg| arg.exact().is_some_and(|text| text.contains("..\\"));
        if parsed.operands.iter().any(climbs) {
            judge.opaque("a path leads out of here");
        }
        // `/t:Build` is an option.
        let option = |arg: &Arg| {
            let name = arg.exact().and_then(|text| text.strip_prefix('/'));
            name.is_some_and(|name| {
                name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(['/', '\\', '~'])
            })
        };
        if goals::targets_of_msbuild(&parsed.operands) {
            judge.net(None);
        }
        let mut without = parsed.clone();
        without.operands.retain(|arg| !option(arg) || arg.exact().is_some_and(|text| text.contains("..")));
        return run(&without, judge);
    }
    run(parsed, judge);
}

/// The command behind `exec`: a program that the project builds, or one of the system, which is judged as if it stood alone.
fn behind_exec(parsed: &Parsed) -> Option<Vec<Arg>> {
    let words = words_of(parsed);
    let behind = match words.as_slice() {
        ["exec", "--", _, ..] if named("opam dune stack cabal", parsed) => parsed.operands.get(2..),
        ["exec", program, ..] if named("dune stack cabal", parsed) => {
            let plain = !program.is_empty() && !program.starts_with('-') && !places::leads_away(program);
            parsed.operands.get(1..).filter(|_| plain)
        }
        _ => None,
    };
    let mut behind = behind?.to_vec();
    // They take a mark for their own behind the program, too: `cabal exec bash -- -c TEXT`.
    if behind.get(1).and_then(Arg::exact) == Some("--") && !named("opam", parsed) {
        behind.remove(1);
    }
    Some(behind)
}

/// Whether a compiler reads from standard input what is known, and takes no other file into it.
fn compiles_input(parsed: &Parsed, judge: &Judge<'_>) -> bool {
    const TAKES: &[&str] = &["\"/", "</", "..", "~", "incbin", "embed", "include_next", "$", "%:", "??="];
    named("gcc g++ cc c++ clang clang++ cpp", parsed)
        && match &judge.stdin {
            Stdin::None => true,
            Stdin::Text(text) => !TAKES.iter().any(|mark| text.contains(mark)),
            _ => false,
        }
}

/// Whether a compiler is only asked where it keeps something: `gcc -print-file-name=libc.a`.
fn asks_for_a_place(parsed: &Parsed) -> bool {
    let asked = |text: &str| {
        ["-print-file-name=", "-print-prog-name=", "--print-file-name=", "--print-prog-name="]
            .iter()
            .any(|start| text.starts_with(start))
    };
    let compiles = parsed
        .path
        .first()
        .is_some_and(|name| ["gcc", "g++", "clang", "clang++", "cc", "c++", "gfortran"].contains(&name.as_str()));
    compiles && matches!(parsed.operands.as_slice(), [one] if one.exact().is_some_and(asked))
}

/// Its words; one that is not known is empty.
fn words_of(parsed: &Parsed) -> Vec<&str> {
    parsed.operands.iter().map(|word| word.exact().unwrap_or_default()).collect()
}

fn text_follows(parsed: &Parsed, option: &str, value: &str) -> bool {
    parsed.operands.windows(2).any(|pair| match pair {
        [a, b] => a.exact() == Some(option) && b.exact() == Some(value),
        _ => false,
    })
}

const CARGO: &[Spec] = &[
    runs(
        "build b check c test t fmt doc d bench fix expand miri tarpaulin \
        llvm-cov insta hack udeps \
        zigbuild component leptos tauri ndk set-version machete sort bloat asm criterion deny-local careful semver-checks public-api llvm-lines \
        flamegraph depgraph modules geiger about binutils objdump objcopy size nm strip readobj readelf profdata cov \
        shear hakari cyclonedx rdme license valgrind pgo show-asm \
        msrv outdated-local readme spellcheck mutants dylint kani fuzz package vendor-local generate-lockfile",
    ),
    COMPILES,
    raw("run r", |parsed, judge| {
        goals::tasks_of_cargo(parsed, judge);
        run(parsed, judge);
    }),
    // Tasks of the project by their names.
    raw("make xtask", |parsed, judge| {
        script_reaches(&parsed.operands, judge);
        run(parsed, judge);
    }),
    raw("watch", runners::cargo_watch),
    raw("update vendor", |parsed, judge| {
        if !parsed.operands.iter().any(|arg| arg.exact() == Some("--offline")) && !parsed.has("offline") {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    prints("version", &[(Does::Flag, "v verbose")]),
    prints("help", &[]),
    looks(
        "locate-project",
        &[(Does::Flag, "workspace"), (Does::Value, "message-format"), (Does::Read, "manifest-path")],
    ),
    looks("read-manifest verify-project pkgid", CARGO_LOOK),
    Spec { names: "tree metadata", opts: CARGO_LOOK, operands: Operands::Words, check: Some(cargo_look), ..PLAIN },
    edits("clean new init remove rm"),
    raw("add", offline::adds),
    raw("fetch", |parsed, judge| match parsed.has("offline") {
        true if parsed.operands.iter().all(|word| word.exact() == Some("--locked")) => run(parsed, judge),
        _ => offline::installs(parsed, judge),
    }),
    reaches(
        "install publish login logout search yank owner upgrade \
        uninstall binstall \
        release info report workspaces",
    ),
    raw("audit deny vet outdated", offline::audits),
    raw("nextest", |parsed, judge| {
        if parsed.operands.first().and_then(Arg::exact) == Some("self") {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    raw("dist", runners::cargo_dist),
    raw("sqlx", runners::cargo_sqlx),
];

/// What stands behind `--` is for the compiler.
const COMPILES: Spec = raw("rustc rustdoc clippy", |parsed, judge| {
    if only(parsed, "-V") && parsed.path.last().is_some_and(|sub| sub == "clippy") {
        return;
    }
    inline::runs_behind(parsed, judge);
    run(parsed, judge);
});

const CARGO_LOOK: super::effects::Opts = &[
    (
        Does::Flag,
        "no-deps offline frozen locked all-features no-default-features workspace all duplicates d \
        no-dedupe a all-targets v verbose q quiet",
    ),
    (
        Does::Value,
        "format-version features F filter-platform p package e edges depth prefix \
        target charset f format exclude prune color",
    ),
    // Of which package, the next word says, where that is no option.
    (Does::Maybe, "i invert"),
    (Does::Read, "manifest-path"),
];

/// Whoever resolves dependencies asks the compiler for its targets first, through the wrapper that `.cargo/config.toml`
/// names.
fn cargo_look(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.read_cwd();
    let resolves = parsed.path.last().is_none_or(|sub| sub != "metadata") || !parsed.has("no-deps");
    if resolves {
        let shown = parsed.path.join(" ");
        judge.code(format!("`{shown}` runs the compiler's wrapper; `cargo metadata --no-deps` only looks"));
    }
}

fn rustc(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words: Vec<&str> = parsed.operands.iter().filter_map(Arg::exact).collect();
    let known = words.len() == parsed.operands.len();
    let prints = match words.as_slice() {
        ["-V" | "-vV" | "-Vv" | "--version" | "--help"] | ["--version" | "-V", "--verbose" | "-v"] => true,
        ["--print", what] => PRINTED.split(' ').any(|printed| printed == *what),
        ["--explain", _] | ["-C" | "-W" | "-Z", "help"] => true,
        [one] => one.strip_prefix("--print=").is_some_and(|what| PRINTED.split(' ').any(|printed| printed == what)),
        _ => false,
    };
    if !(known && prints) {
        inline::runs_words(parsed, judge);
        run(parsed, judge);
    }
}

const PRINTED: &str = "sysroot target-list target-cpus target-features cfg host-tuple target-libdir \
    relocation-models code-models tls-models";

const RUSTUP: &[Spec] = &[
    prints("show", &[(Does::Flag, "v verbose")]),
    with(
        "toolchain",
        &[],
        &[
            prints("list", &[(Does::Flag, "v verbose q quiet")]),
            reaches(
                "install add uninstall \
        remove update link",
            ),
        ],
    ),
    with(
        "target component",
        &[],
        &[
            prints(
                "list",
                &[
                    (
                        Does::Flag,
                        "installed q \
        quiet",
                    ),
                    (Does::Value, "toolchain"),
                ],
            ),
            reaches("add remove install uninstall"),
        ],
    ),
    with("override", &[], &[prints("list", &[]), asks("set unset add remove")]),
    prints("which", &[(Does::Value, "toolchain")]),
    raw("run", runners::toolchain),
    reaches("update check upgrade install self default set"),
];

const GO_LOOK: super::effects::Opts =
    &[(Does::Flag, "e m json deps test find versions-none x v"), (Does::Value, "f tags buildvcs")];

const GO: &[Spec] = &[
    dash(Spec { names: "version", opts: &[(Does::Flag, "m v json")], operands: Operands::Read, ..PLAIN }),
    dash(Spec {
        names: "env",
        opts: &[
            (Does::Flag, "json changed"),
            (
                Does::AskFlag,
                "w \
        u",
            ),
        ],
        operands: Operands::Words,
        ..PLAIN
    }),
    dash(Spec { check: Some(go_list), ..looks("list", GO_LOOK) }),
    dash(Spec { check: Some(go_look), ..looks("doc", &[(Does::Flag, "all c cmd short src u")]) }),
    prints("help", &[]),
    with_dash(
        "mod",
        &[],
        &[
            reaches("tidy download vendor"),
            edits("init"),
            raw("edit", go_mod_edit),
            // Like `go list -m`: what `go.mod` names, from the modules that are there.
            dash(Spec { check: Some(go_look), ..looks("graph verify why", &[(Does::Flag, "m vendor x")]) }),
        ],
    ),
    with_dash("work", &[], &[edits("init edit use"), reaches("sync vendor")]),
    Spec {
        names: "build test vet fmt run generate fix \
        tool",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(go_run),
        ..PLAIN
    },
    Spec { names: "clean", style: Style::Raw, operands: Operands::Custom, check: Some(go_clean), ..PLAIN },
    raw("install", go_install),
    reaches("get telemetry"),
    asks("bug"),
];

/// A version behind `@` is asked of a server.
fn go_look(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.read_cwd();
    outside(&parsed.operands, judge);
    if parsed.operands.iter().any(|name| name.exact().is_none_or(|name| name.contains('@'))) {
        judge.net(None);
    }
}

/// What is known of a package has the state of its repository in it, for which git is asked; of a module (not `-m=false`) it has not.
fn go_list(parsed: &Parsed, judge: &mut Judge<'_>) {
    go_look(parsed, judge);
    let unasked = parsed.switch("m") == Some(true) || parsed.value("buildvcs").and_then(Arg::exact) == Some("false");
    if !unasked {
        super::git::status(judge);
    }
}

/// What replaces a module is a text in `go.mod`, and is not looked at.
fn go_mod_edit(parsed: &Parsed, judge: &mut Judge<'_>) {
    const TEXTS: &str = "replace dropreplace require droprequire exclude dropexclude retract dropretract module go toolchain \
        godebug tool droptool ignore";
    // They print what is there, and leave it so.
    if only(parsed, "-json -print --json --print") {
        return judge.read_cwd();
    }
    let option = |text: &str| text.strip_prefix('-').map(|rest| rest.trim_start_matches('-').to_owned());
    let is_text = |name: &str| TEXTS.split_whitespace().any(|known| known == name);
    let mut words = parsed.operands.iter();
    while let Some(word) = words.next() {
        match word.exact().and_then(option) {
            Some(name) if is_text(&name) => drop(words.next()),
            Some(name) if name.split_once('=').is_some_and(|(name, _)| is_text(name)) => {}
            _ => effects::named(std::slice::from_ref(word), judge),
        }
    }
    judge.write_cwd();
}

/// Tools of Go itself that print: what it can build for, what tests have covered, what stands in a program.
fn go_tool_prints(parsed: &Parsed, judge: &mut Judge<'_>) -> bool {
    let file = |word: &Arg| word.exact().is_some_and(|text| !text.starts_with(['-', '@']));
    match (words_of(parsed).as_slice(), parsed.operands.last()) {
        (["dist", "list"] | ["dist", "list", "-json"], _) => {}
        (["nm" | "buildid" | "objdump"], _) => return false,
        (["nm" | "buildid" | "objdump", _], Some(program)) if file(program) => judge.read(program),
        // It asks where the packages lie, as `go list` does.
        (["cover", profile], Some(word)) if profile.starts_with("-func=") => {
            judge.read(&word.with(&profile["-func=".len()..]));
            judge.read_cwd();
            super::git::status(judge);
        }
        _ => return false,
    }
    true
}

fn go_run(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.path.last().is_some_and(|sub| sub == "tool") && go_tool_prints(parsed, judge) {
        return;
    }
    for text in parsed.operands.iter().filter_map(Arg::exact) {
        let option = text.trim_start_matches('-').split('=').next().unwrap_or_default();
        if text.starts_with('-') && matches!(option, "exec" | "toolexec" | "vettool") {
            judge.opaque(format!("`-{option}` runs a command"));
        }
        if text.contains('@') && parsed.path.last().is_some_and(|sub| sub == "run") {
            judge.net(None);
        }
    }
    inline::runs_words(parsed, judge);
    run(parsed, judge);
}

/// What is here is built, and put where the programs of the person are.
fn go_install(parsed: &Parsed, judge: &mut Judge<'_>) {
    let elsewhere = |word: &Arg| word.exact().is_none_or(|text| text.contains('@'));
    if parsed.operands.iter().any(elsewhere) {
        return judge.net(None);
    }
    go_run(parsed, judge);
    let programs = judge.word(judge.site.home.join("go/bin").display().to_string());
    judge.write_tree(&programs);
}

fn go_clean(parsed: &Parsed, judge: &mut Judge<'_>) {
    // That tests have passed is forgotten, and nothing else.
    if parsed.operands.iter().filter_map(Arg::exact).any(|text| text.contains("cache") && text != "-testcache") {
        judge.opaque("`go clean` of a cache removes files outside the workspace");
    }
    judge.write_cwd();
}

const NPM_OPTS: super::effects::Opts = &[
    (Does::Info, "v version h help"),
    (Does::Flag, "s silent q quiet g global json"),
    (Does::Value, "w workspace loglevel"),
    (Does::ReadTree, "prefix"),
];

const NPM_LIST: super::effects::Opts = &[
    (
        Does::Flag,
        "json all a g global l long p parseable prod production dev link package-lock-only workspaces s \
        silent unicode no-unicode color no-color include-workspace-root",
    ),
    (Does::Value, "depth omit include w workspace loglevel"),
    (Does::ReadTree, "prefix"),
];

const NPM: &[Spec] = &[
    looks("ls list la ll explain why query", NPM_LIST),
    looks("root prefix bin", &[(Does::Flag, "g global")]),
    Spec { names: "version", operands: Operands::Custom, check: Some(npm_version), style: Style::Raw, ..PLAIN },
    // A topic is shown by the viewer that the project's settings name.
    Spec {
        names: "help",
        operands: Operands::Words,
        check: Some(|parsed, judge| {
            if !parsed.operands.is_empty() {
                judge.code("the settings of the project name the viewer");
            }
        }),
        ..PLAIN
    },
    with("pkg", &[], &[looks("get", &[(Does::Flag, "json"), (Does::Value, "w workspace")]), edits("set delete fix")]),
    with(
        "config c",
        &[],
        &[
            Spec { names: "get", operands: Operands::Custom, check: Some(npm_setting), ..PLAIN },
            prints("list ls", &[(Does::Flag, "l long json g global")]),
            asks("set delete edit fix"),
        ],
    ),
    Spec { names: "get", operands: Operands::Custom, check: Some(npm_setting), ..PLAIN },
    Spec {
        names: "run run-script test t tst start stop restart rebuild rb pack \
        diff shrinkwrap",
        style: Style::Raw,
        operands: Operands::Custom,
        check: Some(npm_run),
        ..PLAIN
    },
    Spec { names: "init create", style: Style::Raw, operands: Operands::Custom, check: Some(npm_init), ..PLAIN },
    with("cache", &[], &[prints("ls", &[]), asks("clean verify add")]),
    Spec { names: "exec x", style: Style::Raw, operands: Operands::Custom, check: Some(fetch_and_run), ..PLAIN },
    raw("install i in ci clean-install dedupe ddp prune", offline::installs),
    reaches(
        "add install-test it update up upgrade uninstall remove rm un r unlink \
        link ln \
        publish unpublish deprecate login logout adduser whoami token owner access team org dist-tag view info show \
        v outdated audit search s find \
        ping doctor fund star hook profile repo docs home bugs install-ci-test cit sbom stars",
    ),
    asks("set edit explore completion"),
];

fn npm_version(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.operands.is_empty() || only(parsed, "--json") {
        return judge.read_cwd();
    }
    run(parsed, judge);
}

/// Settings that hold no secrets. Registry addresses are asked for all the time.
fn npm_setting(parsed: &Parsed, judge: &mut Judge<'_>) {
    const OPEN: &str = "registry prefix cache userconfig globalconfig node-version npm-version init-module \
        engine-strict save-exact \
        package-lock fund audit loglevel shell scope tag user-agent";
    let open = |arg: &Arg| arg.exact().is_some_and(|name| OPEN.split_whitespace().any(|known| known == name));
    if parsed.operands.is_empty() || !parsed.operands.iter().all(open) {
        judge.opaque("a setting may be a token");
    }
}

/// Without a name, `npm run` only lists the scripts.
fn npm_run(parsed: &Parsed, judge: &mut Judge<'_>) {
    let sub = parsed.path.last().map(String::as_str).unwrap_or_default();
    if matches!(sub, "run" | "run-script") && (parsed.operands.is_empty() || only(parsed, "--json")) {
        return judge.read_cwd();
    }
    // A word that is no place of the workspace names a package.
    let package = |arg: &Arg| arg.exact().is_none_or(|text| !text.starts_with(['-', '.', '/']));
    if sub == "diff" || sub == "pack" && parsed.operands.iter().any(package) {
        judge.net(None);
    }
    if matches!(sub, "run" | "run-script") {
        script_reaches(&parsed.operands, judge);
    }
    runners::names_shell(parsed, judge);
    run(parsed, judge);
}

fn npm_init(parsed: &Parsed, judge: &mut Judge<'_>) {
    let plain = parsed.operands.iter().all(|arg| matches!(arg.exact(), Some("-y" | "--yes")));
    if !plain || parsed.path.last().is_some_and(|sub| sub == "create") {
        judge.net(None);
        judge.opaque("runs a package that is fetched");
    }
    judge.write_cwd();
}

/// What is not installed is fetched, and then run.
pub(super) fn fetch_and_run(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words: Vec<&str> = parsed.operands.iter().filter_map(Arg::exact).collect();
    // Told not to install, it runs what the workspace has.
    let stays = named("npx", parsed) || parsed.path.get(1).is_some_and(|sub| matches!(sub.as_str(), "exec" | "x"));
    let word = |at: usize| parsed.operands.get(at).and_then(Arg::exact).unwrap_or_default();
    if named("bunx", parsed) && word(0) == "--bun" {
        return fetch_and_run(&runners::behind(parsed, 1), judge);
    }
    if matches!(word(0), "--no-install" | "--no" | "--offline") {
        let at = if word(1) == "--" { 2 } else { 1 };
        if is_tool(word(at)) || stays && is_program(word(at)) && word(0) != "--offline" {
            return run_words(parsed, parsed.operands.get(at..).unwrap_or_default(), judge);
        }
    }
    // npx runs what the workspace has installed. A tool everybody has there is taken to be that: where it is
    // not, the sandbox has no network to fetch it with.
    let own = named("npx bunx", parsed) || parsed.path.get(1).is_some_and(|sub| matches!(sub.as_str(), "exec" | "x"));
    let dashes = usize::from(!named("npx bunx", parsed) && words.first() == Some(&"--"));
    let command = parsed.operands.get(dashes..).unwrap_or_default();
    if let Some(first) = command.first().and_then(Arg::exact)
        && own
        && INSTALLED.split_whitespace().any(|tool| tool == first)
    {
        // What stands behind `--` is the program's.
        let ends = command.iter().position(|word| word.exact() == Some("--")).filter(|_| !named("npx", parsed));
        let mut words = command.to_vec();
        ends.map(|at| words.remove(at));
        return run_words(parsed, &words, judge);
    }
    judge.net(None);
    judge.opaque("runs a package that may be fetched first");
}

/// Whether this is the name of a program, and of no package of a server: `x@1`, `user/x`.
fn is_program(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// Whether a project brings a tool of that name.
fn is_tool(name: &str) -> bool {
    [TOOL_NAMES, toolbox::NAMES].iter().any(|names| names.split_whitespace().any(|tool| tool == name))
        || runners::SPECS.iter().any(|row| row.is(name))
}

const INSTALLED: &str = "tsc eslint prettier jest vitest mocha ava tap nyc c8 karma playwright cypress vite webpack rollup esbuild parcel \
    tsx ts-node tsup swc babel next nuxt astro svelte-check vue-tsc ng nx turbo lerna stylelint biome standard xo \
    tailwindcss postcss sass typedoc jsdoc knip madge depcheck size-limit husky lint-staged commitlint jasmine \
    react-scripts storybook hardhat tsd dprint oxlint markdownlint cspell rimraf concurrently prisma simple-git-hooks cross-env graphql-codegen sort-package-json wait-on electron-vite \
    svgo gulp grunt rslib rsbuild rspack publint run-s run-p npm-run-all typedoc-plugin-markdown openapi-typescript \
    changeset markdownlint-cli2 eleventy patch-package jscodeshift ts-prune depcruise syncpack license-checker \
    terser uglifyjs redocly spectral vue-cli-service gatsby hexo quasar craco ncc unbuild microbundle stryker \
    api-extractor lessc svgr uvu \
    tape qunit lab nightwatch cucumber-js wdio codeceptjs testcafe web-test-runner wtr snowpack wmr dts-bundle-generator \
    bundlesize nest attw svelte-kit preconstruct pkgroll cpx copyfiles dpdm skott nps zx vite-node ts-mocha babel-node jiti prettierd unimported \
    source-map-explorer html-minifier cleancss csso drizzle-kit tsc-alias tsc-watch ember remix react-router vitepress docusaurus expo-lint htmlhint jsonlint \
    nodemon typescript-language-server vtsls pyright pyright-langserver bash-language-server yaml-language-server \
    vscode-json-language-server vscode-html-language-server vscode-css-language-server vscode-eslint-language-server \
    svelteserver vue-language-server tailwindcss-language-server intelephense http-server live-server json-server";

const POETRY_OPTS: super::effects::Opts = &[
    (Does::Info, "V version"),
    (
        Does::Flag,
        "n no-interaction q quiet \
    no-ansi v verbose",
    ),
];

const POETRY: &[Spec] = &[
    Spec {
        check: Some(|parsed, judge| {
            judge.read_cwd();
            judge.code("runs the Python that the project brings");
            outside(&parsed.operands, judge);
        }),
        ..looks(
            "show",
            &[
                (Does::Flag, "t tree all a top-level T no-dev only-main no-truncate"),
                (Does::Value, "with without only"),
                (Does::NetFlag, "l latest o outdated"),
            ],
        )
    },
    runs("check"),
    with("env", &[], &[looks("info list", &[(Does::Flag, "p path e executable full-path")]), reaches("use remove")]),
    Spec {
        names: "version",
        opts: &[(
            Does::Flag,
            "s short \
        dry-run",
        )],
        operands: Operands::Custom,
        check: Some(version_or_bump),
        ..PLAIN
    },
    Spec { names: "run", ..runs("") }.custom(run_project),
    runs("build"),
    reaches("install add remove update lock publish sync self source cache search init new"),
    asks("config shell export"),
];

fn version_or_bump(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.read_cwd();
    if !parsed.operands.is_empty() {
        judge.write_cwd();
    }
}

const PYTHON_PROJECTS: &[Spec] = &[
    Spec { names: "run", ..runs("") }.custom(run_project),
    runs("build test fmt version check"),
    // They run the interpreter of the project's environment, and its plugins.
    runs("graph list show"),
    reaches(
        "install add remove update lock sync publish uninstall upgrade fetch init new self requirements clean \
        env",
    ),
    asks("config shell export python dep"),
];

const BUNDLE: &[Spec] = &[
    // The Gemfile is a program, and all of these run it.
    Spec {
        check: Some(run),
        ..looks(
            "list show info",
            &[
                (Does::Flag, "name-only paths path v verbose"),
                (
                    Does::Value,
                    "only-group \
        without-group",
                ),
            ],
        )
    },
    runs("platform check"),
    raw("exec", runners::bundle_exec),
    raw("install", offline::installs),
    reaches("update add remove outdated lock cache package clean pristine init gem plugin audit"),
    asks("config console open"),
];

const COMPOSER: &[Spec] = &[
    Spec {
        check: Some(|parsed, judge| {
            judge.read_cwd();
            judge.code("plugins of the project are loaded first");
            outside(&parsed.operands, judge);
        }),
        ..looks(
            "show info",
            &[
                (Does::Flag, "t tree i installed D direct N name-only P path s self p platform all no-dev"),
                (Does::Value, "f format"),
                (Does::NetFlag, "l latest o outdated a available"),
            ],
        )
    },
    // Plugins of the project are loaded first.
    runs("validate licenses depends why prohibits why-not suggests fund status"),
    runs("test dump-autoload dumpautoload lint check cs analyse check-platform-reqs"),
    // Scripts of the project.
    raw(
        "phpstan phpunit pint pest psalm rector cs-fix cs:fix cs-check fix format ci analyze stan test:unit types unit qa",
        |parsed, judge| {
            script_reaches(&parsed.operands, judge);
            run(parsed, judge);
        },
    ),
    raw("run run-script", |parsed, judge| {
        script_reaches(&parsed.operands, judge);
        run(parsed, judge);
    }),
    raw("exec", runners::exec),
    reaches(
        "install i update u upgrade require r remove rm uninstall create-project outdated audit self-update selfupdate global \
        search diagnose reinstall archive bump init browse home repository repo recipes recipes:install recipes:update \
        recipes:remove sync-recipes fix-recipes dump-env",
    ),
    asks("config about help list completion clear-cache clearcache cc"),
    // A script of the project. What a name of its own begins with stands for that, too.
    raw("*", |parsed, judge| {
        let script = parsed.path.last().map_or("", String::as_str);
        let small = script.to_ascii_lowercase();
        if COMPOSER.iter().any(|row| row.names.split_whitespace().any(|name| name.starts_with(&small))) {
            return judge.opaque(format!("`{script}` may be short for a command of composer"));
        }
        script_reaches(&[judge.word(script)], judge);
        run(parsed, judge);
    }),
];

const PRE_COMMIT: &[Spec] = &[
    runs("run validate-config validate-manifest sample-config migrate-config"),
    super::hooks::PRE_COMMIT,
    reaches("autoupdate install-hooks try-repo gc clean"),
];

#[cfg(test)]
mod tests;
