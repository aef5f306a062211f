//! `pnpm`: its subcommands, the scripts of the project, and the programs that it has installed.

use super::super::judge::{Arg, Judge};
use super::build::fetch_and_run;
use super::effects::{Opts, asks, looks, reaches, run, run_words, with};
use super::goals::script_reaches;
use super::offline;
use super::places::is_plain_below;
use super::runners::{self, raw};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};

pub(super) const OPTS: Opts = &[
    (Does::Info, "v version h help"),
    (
        Does::Flag,
        "r recursive s silent w workspace-root parallel stream aggregate-output no-bail bail if-present sort no-sort \
        color no-color offline",
    ),
    (Does::Value, "workspace-concurrency reporter loglevel"),
    (Does::Value, "F filter"),
    (Does::ReadTree, "C dir"),
];

pub(super) const PNPM: &[Spec] = &[
    looks(
        "ls list la ll why root bin licenses",
        &[
            (Does::Flag, "json g global long parseable prod P dev D r recursive no-optional only-projects"),
            (Does::Value, "depth filter F"),
        ],
    ),
    raw(
        "run run-script test t tst start stop build lint format dev typecheck type-check check e2e coverage \
        compile pack rebuild rb restart",
        |parsed, judge| {
            if parsed.path.last().is_some_and(|sub| matches!(sub.as_str(), "run" | "run-script")) {
                script_reaches(&parsed.operands, judge);
            }
            runners::names_shell(parsed, judge);
            run(parsed, judge);
        },
    ),
    raw("exec", runners::exec),
    // What is no subcommand is a script of the project, or a program that it has installed.
    raw(
        "jest vitest tsc tsx eslint prettier turbo nx vite webpack rollup next nuxt astro playwright cypress mocha \
        stylelint biome svelte-check vue-tsc tsup storybook changeset lerna ng coverage:report preview clean generate \
        codegen watch ci:test test:unit test:e2e lint:fix format:check type:check types unit",
        |parsed, judge| {
            runners::names_shell(parsed, judge);
            run_words(parsed, &words(parsed, judge), judge);
        },
    ),
    Spec { names: "dlx", style: Style::Raw, operands: Operands::Custom, check: Some(fetch_and_run), ..PLAIN },
    raw("install i ci", offline::installs),
    with("store", &[], &[looks("path", &[]), asks("status add prune")]),
    reaches(
        "add update up upgrade remove rm uninstall un uni create init publish fetch audit outdated \
        import deploy self-update env \
        patch patch-commit link ln unlink dedupe prune login logout view info install-test it setup server \
        config clean-install ic install-clean c completion cache cat-file cat-index find-hash doctor approve-builds \
        ignored-builds patch-remove recursive multi m runtime rt with undeploy sbom get set pkg prefix version edit home docs bugs issues repo search find s se show v \
        whoami ping profile access adduser owner team token org dist-tag deprecate unpublish star stars unstar set-script xmas",
    ),
    raw("*", any),
];

/// Where it runs: what stands behind is judged as if it ran here, and another place may give a name another meaning.
pub(super) fn stands(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.values("C dir").any(|place| !place.exact().is_some_and(is_plain_below)) {
        judge.opaque("it runs in a directory where other names are guarded");
    }
}

/// Whatever is no subcommand is a script of the project by its name, or else a program that is looked for among those of
/// the project first, and then among all.
fn any(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = words(parsed, judge);
    script_reaches(&words, judge);
    runners::names_shell(parsed, judge);
    run_words(parsed, &words, judge);
}

/// The name of a script or program, and what is given to it.
fn words(parsed: &Parsed, judge: &Judge<'_>) -> Vec<Arg> {
    let mut words = vec![judge.word(parsed.path.last().map_or("", String::as_str))];
    words.extend(parsed.operands.iter().cloned());
    words
}
