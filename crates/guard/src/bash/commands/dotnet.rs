//! `dotnet`: builds, tests, and what they are told.

use super::super::judge::Judge;
use super::effects::{edits, reaches, run, runs, with};
use super::places;
use super::runners::raw;
use super::spec::{Parsed, Spec};

/// Its subcommands.
pub(super) const DOTNET: &[Spec] = &[
    raw("build test run clean format pack msbuild vstest watch exec publish", dotnet),
    edits("new sln solution"),
    with("list", &[], &[runs("package reference")]),
    reaches("restore add remove nuget tool workload sdk ef"),
];

/// Its switches may be written as on another system: `/p:Name=value`, `/nologo`.
fn dotnet(parsed: &Parsed, judge: &mut Judge<'_>) {
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
