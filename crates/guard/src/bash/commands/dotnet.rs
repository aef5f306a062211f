//! `dotnet`: builds, tests, and what they are told.

use super::super::judge::{Arg, Judge};
use super::effects::{looks, reaches, run, runs, with};
use super::places;
use super::runners::raw;
use super::spec::{Does, Parsed, Spec};

/// Its subcommands.
pub(super) const DOTNET: &[Spec] = &[
    raw("build test run clean format pack msbuild vstest watch exec publish csharpier", dotnet),
    // A project beside this one is named in its file; a package is looked for where packages are.
    raw("add remove reference", |parsed, judge| {
        let words: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or("package")).collect();
        let names = parsed.path.last().is_some_and(|sub| sub == "reference") || words.contains(&"reference");
        match names && !words.contains(&"package") {
            true => run(parsed, judge),
            false => judge.net(None),
        }
    }),
    raw("new", |parsed, judge| {
        // Templates are fetched, or looked for where packages are.
        const FETCHES: &[&str] = &["install", "update", "search", "uninstall", "-i", "--install", "-u", "--search"];
        if parsed.operands.iter().filter_map(Arg::exact).any(|text| FETCHES.contains(&text)) {
            judge.net(None);
        }
        run(parsed, judge);
    }),
    raw("sln solution", |parsed, judge| {
        // `list` behind the solution, or alone, only looks.
        let words: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or("-")).collect();
        match words.as_slice() {
            ["list"] => judge.read_cwd(),
            [file, "list"] if !file.starts_with('-') => {
                parsed.operands.iter().take(1).for_each(|file| judge.read(file))
            }
            _ => {
                super::effects::named(&parsed.operands, judge);
                judge.write_cwd();
            }
        }
    }),
    with(
        "tool",
        &[],
        &[
            looks("list", &[(Does::Flag, "g global local"), (Does::ReadTree, "tool-path")]),
            reaches("install uninstall update run restore search execute exec"),
        ],
    ),
    with("list", &[], &[runs("package reference")]),
    // Builds the project and asks it; which database it changes, the project says.
    runs("ef"),
    reaches("restore nuget workload sdk"),
];

/// Its switches may be written as on another system: `/p:Name=value`, `/nologo`.
fn dotnet(parsed: &Parsed, judge: &mut Judge<'_>) {
    if super::goals::targets_of_msbuild(&parsed.operands) {
        judge.net(None);
    }
    let mut dashed = parsed.clone();
    for word in &mut dashed.operands {
        if let Some(rest) = word.exact().and_then(|text| text.strip_prefix('/')).filter(|rest| is_switch(rest)) {
            *word = word.with(&format!("-{rest}"));
        }
    }
    run(&dashed, judge);
}

/// Whether it is no path: a switch that is known, and a value that leads nowhere else.
fn is_switch(text: &str) -> bool {
    const SWITCHES: &str = "p property m maxcpucount v verbosity t target nologo restore r clp consoleloggerparameters \
        nr nodereuse graph low warnaserror nowarn";
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let known = SWITCHES.split_whitespace().any(|known| known.eq_ignore_ascii_case(name));
    known && !value.rsplit('=').next().is_some_and(places::leads_away)
}
