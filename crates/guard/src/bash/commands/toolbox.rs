//! More tools that run code of the workspace, by kind, and those of which only some words do.
//!
//! They are met now and then, and many are a project's own: their version, too, is asked of what the project brings.

use super::super::judge::{Arg, Judge};
use super::effects::{only, run};
use super::runners::raw;
use super::spec::{Parsed, Spec, lists};
use super::tools::Tool;

/// Builds, compilers and their kin; tools of Python, of Node, of Go, of Rust, of other languages; converters. `build` reads
/// them as it reads its own.
pub(super) const NAMES: &str = "xmake premake5 premake4 gprbuild gnatmake gprclean msbuild xbuild nmake jam bjam qbs gn autoninja \
    samu tup redo please plz wmake genhtml geninfo kbuild \
    towncrier bumpversion bump2version bump-my-version cz commitizen gitlint pdoc pdoc3 pydeps lint-imports slotscheck pyroma \
    check-manifest flynt eradicate dodgy pylama prospector usort ufmt fixit darglint pybabel sphinx-apidoc sphinx-autobuild \
    mypyc stubgen stubtest dmypy poe duty ptw green ward hatchling add-trailing-comma pyproject-fmt toml-sort validate-pyproject \
    codeceptjs testcafe wdio web-test-runner wtr qunit uvu snowpack farm wmr tsc-alias tsc-watch dts-bundle-generator size-limit \
    bundlesize wireit react-scripts ember nest cucumber cucumber-js tsd preconstruct pkgroll bob cpx copyfiles dpdm skott nps zx esno \
    jiti babel-node vite-node jasmine-ts ts-mocha lab tape nightwatch electron-vite docusaurus react-router sort-package-json \
    prettierd attw unimported source-map-explorer \
    gci gotest enumer moq air golines gomodifytags go-junit-report gocyclo gocognit dupl nakedret unparam gocritic statik \
    counterfeiter controller-gen sqlboiler richgo tparse benchstat gocov deepcopy-gen \
    trybuild grcov rustfilt tauri bacon \
    perltidy perlcritic podchecker pod2html rdoc yard yardoc mutant phpmd phpcpd phploc behat phpspec paratest kahlan ktfmt pmd \
    selene ocp-indent dfmt dscanner nimpretty ameba rubyfmt rufo shellharden beautysh fish_indent sqlfmt pg_format jsonnetfmt \
    jsonnet cue dhall dhall-format nickel regal helm-docs gauge \
    tidy xsltproc html-minifier cleancss csso";

/// What some of their words do besides.
pub(super) const TOOLS: &[Tool] = &[
    Tool { names: "xmake", info: "", net: "install require update service", ask: "lua macro plugin -c --command" },
    Tool { names: "premake5 premake4", info: "", net: "", ask: "--scripts" },
    Tool { names: "please plz", info: "", net: "init update", ask: "op exec" },
    Tool { names: "gitlint", info: "", net: "", ask: "install-hook uninstall-hook" },
    Tool { names: "sphinx-autobuild", info: "", net: "", ask: "--pre-build --post-build --host" },
    Tool { names: "poe duty", info: "", net: "publish deploy release upload", ask: "-e --executor -X --executor-opt" },
    Tool { names: "ptw", info: "", net: "", ask: "--runner --onfail --onpass --onexit --beforerun --afterrun" },
    Tool { names: "codeceptjs wdio", info: "", net: "config install", ask: "shell interactive repl" },
    Tool { names: "testcafe", info: "", net: "", ask: "--app --hostname" },
    Tool { names: "snowpack wmr farm", info: "", net: "add prepare create", ask: "" },
    Tool { names: "react-scripts", info: "", net: "", ask: "eject" },
    Tool { names: "ember", info: "", net: "install new init addon update deploy", ask: "" },
    Tool { names: "nest", info: "", net: "new n add update upgrade", ask: "--exec -e" },
    Tool { names: "cucumber cucumber-js", info: "", net: "--publish", ask: "" },
    Tool {
        names: "zx esno jiti babel-node vite-node",
        info: "",
        net: "--install -i",
        ask: "-e --eval -p --print -pe -r --require --shell --prefix --postfix -",
    },
    Tool {
        names: "tsc-watch",
        info: "",
        net: "",
        ask: "--onSuccess --onFailure --onFirstSuccess --onCompilationStarted",
    },
    Tool { names: "attw", info: "", net: "--from-npm -p", ask: "" },
    Tool { names: "docusaurus", info: "", net: "deploy", ask: "" },
    Tool { names: "nps", info: "", net: "publish deploy release", ask: "" },
    Tool {
        names: "air",
        info: "-v",
        net: "",
        ask: "-build.cmd --build.cmd -build.bin --build.bin \
        -build.full_bin --build.full_bin --build.pre_cmd --build.post_cmd -build.pre_cmd -build.post_cmd",
    },
    Tool { names: "tauri", info: "", net: "add", ask: "signer completions -r --runner -c --config" },
    Tool { names: "perlcritic", info: "", net: "", ask: "-doc" },
    Tool { names: "jsonnet", info: "", net: "", ask: "-e --exec -" },
    Tool { names: "golines", info: "", net: "", ask: "--base-formatter" },
    Tool { names: "gn", info: "", net: "", ask: "--script-executable" },
    Tool { names: "cue", info: "", net: "login get mod", ask: "cmd" },
    Tool { names: "nickel", info: "", net: "package", ask: "repl" },
    Tool { names: "gauge", info: "", net: "install update init telemetry uninstall", ask: "config" },
    Tool { names: "rdoc yard", info: "", net: "server gems", ask: "-e --load" },
    Tool { names: "pmd", info: "", net: "", ask: "designer" },
];

/// The table of what has a function of its own.
pub(super) const SPECS: &[Spec] = &[
    raw("scrapy strapi k6 ko dx moon celery conftest opa", stays),
    raw("cookiecutter copier", template),
    raw("dlv", debugger),
    raw("m4", macros),
    // `-p` is Python of the command line.
    raw("cog", |parsed, judge| {
        let prologue = |word: &Arg| {
            word.exact().is_none_or(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('p'))
        };
        if parsed.operands.iter().any(prologue) {
            judge.opaque("an option of `cog` may be code");
        }
        run(parsed, judge);
    }),
    raw("rename prename file-rename perl-rename", renames),
    raw("pkg", packs),
    raw(CARGO_BINARIES, cargo_binary),
];

/// Programs of which these subcommands stay here; all others reach something.
const STAY: &[(&str, &str)] = &[
    ("scrapy", "list check settings version genspider"),
    ("strapi", "build develop start report version components:list routes:list ts:generate-types"),
    ("k6", "version inspect archive"),
    ("ko", "version"),
    ("dx", "build serve check fmt test translate clean"),
    ("moon", "run check ci query project project-graph action-graph task task-graph sync clean format"),
    ("celery", "report"),
    ("conftest", "test verify fmt parse"),
    ("opa", "test fmt check inspect build"),
];

fn stays(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(parsed, "--version -v -V version --help -h help") {
        return judge.code("it may load what the project configures first");
    }
    let name = parsed.path.first().map_or("", String::as_str);
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or_default()).collect();
    let sub = match words.as_slice() {
        ["-A" | "--app", _, rest @ ..] if name == "celery" => rest.first(),
        words => words.first(),
    };
    let known = STAY.iter().find(|(program, _)| *program == name).map_or("", |(_, subs)| subs);
    if !sub.is_some_and(|sub| lists(known, sub)) {
        judge.net(None);
        super::effects::secrets(&parsed.operands, judge);
        return;
    }
    // `:app` and `app:deploy` are targets, of which those may reach a server that say so.
    let targets = words.get(1..).unwrap_or_default().iter().filter(|_| name == "moon");
    if targets.into_iter().any(|target| super::goals::goal_reaches(target, "publish deploy release upload")) {
        judge.net(None);
    }
    run(parsed, judge);
}

/// A template that lies here; any other is fetched.
fn template(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = || parsed.operands.iter().map(|word| word.exact().unwrap_or_default());
    let place = words().find(|word| !word.starts_with('-') && !lists("copy update recopy check-update", word));
    if !place.is_some_and(|place| place == "." || place.starts_with("./")) || words().any(|word| word.contains(':')) {
        judge.net(None);
    }
    run(parsed, judge);
}

/// `dlv test ./pkg`: it runs the tests or the program, and takes its commands from standard input, of which there is none.
fn debugger(parsed: &Parsed, judge: &mut Judge<'_>) {
    const LEADS: &[&str] =
        &["--init", "--headless", "--listen", "-l", "--backend", "--accept-multiclient", "-r", "--redirect"];
    if only(parsed, "version help --help") {
        return;
    }
    let words = || parsed.operands.iter().map(|word| word.exact().unwrap_or_default());
    let leads =
        words().take_while(|word| *word != "--").any(|word| LEADS.iter().any(|option| word.starts_with(option)));
    let sub = words().next().unwrap_or_default();
    if leads || !matches!(sub, "test" | "debug" | "trace" | "exec") || judge.stdin != super::super::judge::Stdin::None {
        return judge.opaque("what `dlv` does cannot be said");
    }
    if sub == "exec" {
        super::special::program_file(parsed.operands.get(1).unwrap_or(&judge.word("")), "the program", judge);
    }
    run(parsed, judge);
}

/// A file of macros may run commands, as a makefile may; one of the command line may, too.
fn macros(parsed: &Parsed, judge: &mut Judge<'_>) {
    let plain = |word: &Arg| word.exact().is_some_and(|text| !text.contains(['(', '`', '\'']) && text != "-");
    let file = |word: &Arg| word.exact().is_none_or(|text| !text.starts_with('-'));
    if only(parsed, "--version --help") {
        return;
    }
    if !parsed.operands.iter().all(plain) || !parsed.operands.iter().any(file) {
        judge.opaque("`m4` runs what the command line or its standard input says");
    }
    run(parsed, judge);
}

/// `rename s/a/b/ FILE…`: files get other names in their directories, which may be guarded ones.
fn renames(parsed: &Parsed, judge: &mut Judge<'_>) {
    let mut words = parsed.operands.as_slice();
    while let Some((flag, rest)) = words.split_first() {
        match flag.exact() {
            Some("-v" | "--verbose") => {}
            Some("-n" | "--nono" | "--dry-run") => {
                return rest.iter().skip(1).for_each(|file| judge.read(file));
            }
            _ => break,
        }
        words = rest;
    }
    let Some((program, files)) = words.split_first() else { return judge.opaque("there is nothing to rename") };
    let text = program.exact().unwrap_or_default();
    let into = text.get(2..).unwrap_or_default().split(text.chars().nth(1).unwrap_or('/')).nth(1).unwrap_or_default();
    // What is left of a name, or put into it, may be the name that matters.
    let matters = |name: &str| {
        let class = crate::classify(&judge.resolve(name));
        class.asked().is_some() || class.secret.is_some()
    };
    let ends = |name: &str| name.match_indices('.').any(|(at, _)| name.get(at..).is_some_and(matters));
    let plain = |file: &Arg| {
        let name = super::labels::text(file).or_else(|| super::filters::text(file));
        name.is_some_and(|name| !name.starts_with('-') && !ends(name.rsplit('/').next().unwrap_or(name)))
    };
    let known = super::perl::only_substitutes(text) && !into.contains('/') && !matters(into) && !ends(into);
    if !known || !files.iter().all(plain) {
        judge.opaque("what the names become is not known");
    }
    for file in files {
        judge.delete(file);
        judge.write(file);
    }
}

/// One name for two programs: what packs a project of Node's into one file, and what installs packages elsewhere.
fn packs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let place = parsed.operands.first().and_then(Arg::exact).unwrap_or_default();
    let here = place == "." || place.starts_with("./") || place == "package.json" || place.ends_with(".js");
    match here {
        true => run(parsed, judge),
        false => {
            judge.system("`pkg` changes what is installed");
            judge.net(None);
        }
    }
}

/// Subcommands of cargo by their own names.
const CARGO_BINARIES: &str = "cargo-nextest cargo-clippy cargo-fmt cargo-expand cargo-llvm-cov cargo-tarpaulin cargo-deny cargo-audit \
    cargo-machete cargo-udeps cargo-insta cargo-hack cargo-make cargo-watch cargo-mutants cargo-bloat cargo-geiger";

fn cargo_binary(parsed: &Parsed, judge: &mut Judge<'_>) {
    let name = parsed.path.first().map_or("", String::as_str);
    let sub = name.strip_prefix("cargo-").unwrap_or(name);
    let words = match parsed.operands.split_first() {
        Some((first, rest)) if first.exact() == Some(sub) => rest,
        _ => parsed.operands.as_slice(),
    };
    let mut argv = vec![judge.word("cargo"), judge.word(sub)];
    argv.extend_from_slice(words);
    judge.command(&argv);
}

/// Programs that take what they run, or evaluate, from standard input where no file is named.
const FED: &str = "zx esno jiti babel-node vite-node tsx ts-node jsonnet dhall dhall-format nickel cue";

/// Whether such a program is fed with what is not known.
pub(super) fn is_fed(parsed: &Parsed, judge: &Judge<'_>) -> bool {
    let named = |word: &Arg| word.exact().is_none_or(|text| text.contains('.') && !text.starts_with('-'));
    parsed.path.first().is_some_and(|name| lists(FED, name))
        && judge.stdin != super::super::judge::Stdin::None
        && !parsed.operands.iter().any(named)
}

/// Whether even the version of a program comes from what the project brings.
pub(super) fn asks_the_project(name: &str) -> bool {
    lists(NAMES, name)
}

#[cfg(test)]
mod tests {
    use super::super::testing::none_harmless;

    #[test]
    fn a_version_may_come_from_the_project() {
        none_harmless(&["ember --version", "wdio --version", "strapi version", "cucumber --help", "xmake --version"]);
    }
}
