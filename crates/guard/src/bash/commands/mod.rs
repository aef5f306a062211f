//! What each program does with which options: tables, one file a group.

pub(super) mod destructive;
pub(super) mod spec;

mod addresses;
mod archives;
mod around;
mod build;
mod bun;
mod clients;
mod cmake;
mod database;
mod dotnet;
mod effects;
mod environments;
mod files;
mod filters;
mod formats;
mod formatters;
mod git;
mod glances;
mod goals;
mod held;
mod help;
mod hooks;
mod index;
mod infra;
mod inline;
mod installing;
mod interpreters;
mod jar;
mod kept;
mod labels;
mod linters;
mod listers;
mod looking;
mod media;
mod miller;
mod network;
mod offline;
mod opened;
mod packages;
mod packers;
mod pagers;
mod parallel;
mod patched;
mod perl;
mod pieces;
mod piped;
pub(super) mod places;
mod pnpm;
mod printed;
mod readers;
mod response;
mod ruby;
mod runners;
mod search;
mod servers;
mod serving;
mod settings;
mod shadowed;
mod shell;
mod special;
mod stores;
mod system;
mod temporary;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod toolbox;
mod tools;
mod toys;
mod tracing;
mod uv;
mod vcs;
mod versions;
mod within;
mod wrappers;
mod xml;
mod yarn;

use std::borrow::Cow;
use std::path::Path;

use super::fact::{Fact, each_once};
use super::finding::Row;
use super::judge::{Arg, Judge, Word};
use super::words::LABEL;
use index::Index;
use spec::Spec;

/// Every table. The first that knows a name has it: what reads stands before what builds.
const TABLES: &[&[Spec]] = &[
    shell::SPECS,
    text::SPECS,
    pagers::SPECS,
    toys::SPECS,
    search::SPECS,
    looking::SPECS,
    files::SPECS,
    packers::SPECS,
    system::SPECS,
    git::SPECS,
    special::SPECS,
    interpreters::SPECS,
    runners::SPECS,
    build::SPECS,
    toolbox::SPECS,
    packages::SPECS,
    environments::SPECS,
    network::SPECS,
    vcs::SPECS,
    database::SPECS,
    infra::SPECS,
    wrappers::SPECS,
    around::SPECS,
    tracing::SPECS,
    readers::SPECS,
    servers::SPECS,
    serving::SPECS,
    versions::SPECS,
];

/// Where programs stand that only an administrator changes.
const STANDARD: &[&str] = &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Words that stand for one of several known ones are tried one by one, up to this many combinations.
/// Beyond it they stay one word of several, which tables read only as operands, and are tried one word at a time.
const COMBINATIONS: usize = 32;

/// Most words that are tried by themselves where there are too many combinations.
const ALONE: usize = 4;

/// Above so many words nothing is tried: no person writes them beside a word of several.
const LONG: usize = 256;

/// Their help lists options or tasks that the code of the workspace adds, or they load its configuration first.
const HELP_RUNS: &str = "pytest py.test scons waf pylint tox nox flake8 mix nx flask vagrant doit locust luigi";

/// Even their version comes after the project's own options, plugins and settings: `.rspec` is a template that runs,
/// `.mocharc.js` and `.sequelizerc` are programs, those of PHP load `vendor/autoload.php`, `west` the commands of the
/// manifest. Some know no such word, and install their hooks, or read commands (`cpan`).
const VERSION_RUNS: &str = "idf.py mocha ava nyc rspec rubocop jekyll cucumber ng packer husky simple-git-hooks hexo premake5 lein \
    rebar3 rails hardhat truffle pdm hg phpstan psalm rector pest infection deptrac serverless sls west scrapy strapi moon \
    manage.py django-admin artisan waf nose2 cap typedoc tap vue-cli-service sequelize sequelize-cli ansible-playbook \
    ansible-lint ansible-galaxy ansible-vault ansible-doc ansible-inventory ansible-config ansible-console ansible-pull \
    ansible-test ansible-navigator ansible-builder cpan";

/// Words that only ask for the version or for help, last of all.
const ASKS: &[&str] = &["--help", "--version", "-h", "-v", "-V", "help", "version"];

/// Findings of commands with handling of their own.
pub(super) const FINDINGS: &[Row] = special::FINDINGS;

/// Findings of git.
pub(super) const FINDINGS_OF_GIT: &[Row] = git::FINDINGS;

pub(super) use effects::secrets;
pub(super) use held::lost;
pub(super) use installing::{BUILDERS, USUAL, says_where};
pub(super) use kept::prints as prints_kept;
pub(super) use labels::{always_number, is_time, label};
pub(super) use perl::substitutes;
pub(super) use piped::{Printed, SplitAt};
pub(super) use places::{listed_elsewhere, taken_along, takes_along};
pub(super) use printed::{begins, counts_matches, last_part, leaves_out, path_part, pattern_above, user_name};
pub(super) use settings::given;
pub(super) use shell::says_where_programs_are;
pub(super) use spec::{is_file_here, may_be_option};
pub(super) use temporary::{TEMPORARY, makes as makes_temporary, makes_here};

/// Puts what the command `argv` does into `judge`. `argv[0]` is exact: the walker saw to that.
pub(super) fn judge(argv: &[Arg], judge: &mut Judge<'_>) {
    if is_one_reading(argv) {
        reading(argv, judge);
    } else {
        let all = alternatives(argv);
        if all.iter().any(|argv| begun_options(argv).len() > BEGUN) {
            judge.opaque("more options have values that may be empty than are tried");
        }
        all.into_iter().flat_map(readings).for_each(|argv| reading(&argv, judge));
    }
    // One warning of a kind: what a wrapper runs is seen from outside and from inside.
    let mut kinds = Vec::new();
    judge.facts.retain(|fact| {
        let again = match fact {
            Fact::Destroys(category, _) if kinds.contains(category) => true,
            Fact::Destroys(category, _) => {
                kinds.push(*category);
                false
            }
            _ => false,
        };
        !again
    });
    each_once(&mut judge.facts);
}

fn reading(argv: &[Arg], judge: &mut Judge<'_>) {
    one(argv, judge);
    destructive::note_raw(argv, judge);
    if let Some(argv) = addresses::as_they_stand(argv) {
        one(&argv, judge);
    }
}

/// Puts into `judge` what a program destroys that no table judges, going by its name, and whether it publishes:
/// `vendor/bin/drush sql:drop`, `./deploy.sh`.
pub(super) fn warn(argv: &[Arg], judge: &mut Judge<'_>) {
    for argv in alternatives(argv).into_iter().flat_map(readings) {
        destructive::note_raw(&argv, judge);
        let Some((program, words)) = argv.split_first() else { continue };
        if let Some(path) = program.exact().filter(|name| name.contains('/')) {
            goals::script_publishes(path, words, judge);
        }
    }
}

fn one(argv: &[Arg], judge: &mut Judge<'_>) {
    let Some(name) = argv.first().and_then(Arg::exact) else {
        return judge.opaque("the name of the command is not known");
    };
    let Some(known) = standard(name) else { return by_path(name, judge) };
    if versions::asks(known, argv) {
        return;
    }
    let argv = &*labels::spelled(known, argv);
    let argv = &*without_toolchain(known, argv);
    if is_rust(known) && argv.get(1).and_then(Arg::exact).is_some_and(|word| word.starts_with('+')) {
        judge.opaque("a tool chain by its place is run instead");
    }
    let Some(spec) = find(known) else {
        judge.opaque(format!("`{known}` is not a program the analysis knows"));
        return effects::secrets(argv.get(1..).unwrap_or_default(), judge);
    };
    let asked = argv.last().and_then(Arg::exact);
    // The long lists of names last: most commands ask nothing.
    let asks = argv.len() == 2 && matches!(asked, Some("--help" | "--version" | "-v" | "-V"));
    let runs = asked == Some("--help") && spec::lists(HELP_RUNS, known)
        || asked.is_some_and(|asked| ASKS.contains(&asked)) && spec::lists(VERSION_RUNS, known)
        || known == "cargo"
            && asked.is_some_and(|asked| ASKS.contains(&asked))
            && argv.iter().any(|word| word.exact() == Some("xtask"))
        || asks && toolbox::asks_the_project(known);
    if runs && (spec::lists(VERSION_RUNS, known) || toolbox::asks_the_project(known)) {
        judge.code(format!("`{known}` loads what the project configures before it answers"));
    }
    let before = judge.facts.len();
    versions::obeys(known, argv, judge);
    response::files(known, argv, judge);
    serving::answers(known, argv.get(1..).unwrap_or_default(), judge);
    if runs || !help::is_info(spec, argv) {
        spec::apply(spec, &spec::parse(spec, argv), judge);
        if known == "git" {
            git::leaves_its_own_alone(judge);
        }
    } else if known == "git" && argv.len() > 2 {
        git::help(judge);
    }
    held::judge(known, before, judge);
}

/// Whether a program is that of a tool chain, which may be chosen in front of its words.
fn is_rust(known: &str) -> bool {
    matches!(known, "cargo" | "rustc" | "rustdoc" | "rustfmt" | "clippy-driver")
}

/// `cargo +1.75 test` without its tool chain, which says only which cargo it is.
fn without_toolchain<'a>(known: &str, argv: &'a [Arg]) -> Cow<'a, [Arg]> {
    let plain = |text: &str| {
        text.strip_prefix('+').is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        })
    };
    match argv {
        [program, chain, rest @ ..] if is_rust(known) && chain.exact().is_some_and(plain) => {
            Cow::Owned([program].into_iter().chain(rest).cloned().collect())
        }
        _ => Cow::Borrowed(argv),
    }
}

/// The table row of a program.
fn find(name: &str) -> Option<&'static Spec> {
    INDEX.named(name).filter_map(row).find(|spec| spec.is(name))
}

/// Whether a table has a program of this name.
pub(super) fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a program runs the commands or the text behind it.
pub(super) fn runs_others(name: &str) -> bool {
    matches!(name, "find" | "gfind" | "fd" | "fdfind" | "concurrently")
        || [wrappers::SPECS, around::SPECS, tracing::SPECS].iter().any(|table| table.iter().any(|spec| spec.is(name)))
}

/// The rows of all tables, counted through.
fn row(mut at: usize) -> Option<&'static Spec> {
    for table in TABLES {
        match table.get(at) {
            Some(spec) => return Some(spec),
            None => at -= table.len(),
        }
    }
    None
}

/// How many names all tables have.
const NAMES: usize = {
    let (mut table, mut names) = (0, 0);
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            names += index::count(TABLES[table][row].names, b' ', None);
            row += 1;
        }
        table += 1;
    }
    names
};

/// Where a program stands in [`TABLES`].
static INDEX: Index<NAMES> = {
    let (mut index, mut table, mut at) = (Index::new(), TABLES.len(), 0);
    while table > 0 {
        table -= 1;
        at += TABLES[table].len();
    }
    table = TABLES.len();
    while table > 0 {
        table -= 1;
        let mut row = TABLES[table].len();
        while row > 0 {
            row -= 1;
            at -= 1;
            index = index.add(TABLES[table][row].names, b' ', None, at);
        }
    }
    index
};

/// The name without a standard directory; none for any other path. `./ls` is not `ls`.
fn standard(name: &str) -> Option<&str> {
    match name.rsplit_once('/') {
        None => Some(name),
        Some((directory, name)) => STANDARD.contains(&directory.trim_end_matches('/')).then_some(name),
    }
}

/// A program by its place: a file of the workspace is its code.
fn by_path(name: &str, judge: &mut Judge<'_>) {
    let place = judge.resolve(name);
    if judge.site.is_ours(&place) && !judge.site.roots.contains(&place) {
        judge.code(format!("runs `{name}`"));
    } else {
        judge.opaque(format!("`{name}` is not in a standard directory"));
    }
}

/// The program that a file of the workspace stands for by where projects keep their tools: `.venv/bin/python`,
/// `node_modules/.bin/eslint`, `./gradlew`. Its words are judged as that program's, besides being code.
pub(super) fn stands_for(path: &Path) -> Option<String> {
    const WRAPPERS: &[(&str, &str)] = &[("gradlew", "gradle"), ("mvnw", "mvn"), ("sbtw", "sbt"), ("bazelw", "bazel")];
    const ANYWHERE: &[&str] = &["rails", "rake", "manage.py", "artisan"];
    let name = path.file_name()?.to_str()?;
    if let Some((_, known)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) {
        return Some((*known).to_owned());
    }
    let kept = path.parent().and_then(Path::file_name).is_some_and(|place| place == "bin" || place == ".bin");
    let tables = [interpreters::SPECS, runners::SPECS, build::SPECS, toolbox::SPECS, packages::SPECS];
    let tool = || tables.iter().any(|table| table.iter().any(|spec| spec.is(name)));
    (ANYWHERE.contains(&name) || kept && tool()).then(|| name.to_owned())
}

/// What is certain of a word that begins an option and ends with what may be empty: `-I"$x"`. Then the next word is the value.
fn begun_option(arg: &Arg) -> Option<&str> {
    let prefix = match &arg.word {
        Word::Opaque { prefix, splits: false, .. } => prefix.as_str(),
        // A number, of a file that may not be there.
        Word::Glob { pattern, prefix } => {
            pattern.strip_prefix(prefix.as_str()).filter(|rest| rest.chars().eq([LABEL])).map(|_| prefix.as_str())?
        }
        _ => return None,
    };
    let option = prefix.strip_prefix('-')?;
    (!option.is_empty() && !option.starts_with('-') && !option.contains('=')).then_some(prefix)
}

/// Most options of one command whose values may be empty. Each is tried as both, with all others, and again in the command
/// that this one runs.
const BEGUN: usize = 3;

/// Where in `argv` options stand whose values may be empty. As the last word one lacks its value, which is an error.
fn begun_options(argv: &[Arg]) -> Vec<usize> {
    let words = argv.iter().enumerate().skip(1).take(argv.len().saturating_sub(2));
    words.filter(|(_, arg)| begun_option(arg).is_some()).map(|(at, _)| at).collect()
}

/// Whether there is nothing in `argv` that may be one or another.
fn is_one_reading(argv: &[Arg]) -> bool {
    let several = |arg: &Arg| matches!(arg.word, Word::OneOf(_)) || begun_option(arg).is_some();
    !argv.iter().any(several)
}

/// `argv`, and where values may be empty what it is then: `-I"$x" echo touch` as `-Iecho touch`.
fn readings(argv: Cow<'_, [Arg]>) -> Vec<Cow<'_, [Arg]>> {
    let begun = begun_options(&argv);
    let mut all: Vec<Cow<'_, [Arg]>> = vec![argv];
    // More of them are asked about, whatever they come to.
    if begun.len() > BEGUN {
        return all;
    }
    // From the last to the first, so that what stands before keeps its place.
    for at in begun.into_iter().rev() {
        let joined: Vec<Cow<'_, [Arg]>> = all.iter().filter_map(|one| joined_at(at, one)).map(Cow::Owned).collect();
        all.extend(joined);
    }
    all
}

fn joined_at(at: usize, argv: &[Arg]) -> Option<Vec<Arg>> {
    let (option, next) = (argv.get(at)?, argv.get(at + 1)?);
    let start = begun_option(option)?;
    let grown = |word: &Word| match word {
        Word::Exact(text) => Word::Exact(format!("{start}{text}")),
        Word::Opaque { prefix, splits, why } => {
            Word::Opaque { prefix: format!("{start}{prefix}"), splits: *splits, why: why.clone() }
        }
        Word::Glob { pattern, prefix } => {
            Word::Glob { pattern: format!("{start}{pattern}"), prefix: format!("{start}{prefix}") }
        }
        Word::OneOf(words) => Word::Opaque {
            prefix: start.to_owned(),
            splits: false,
            why: format!("one of {} words", words.len()).into(),
        },
    };
    let mut out = argv.to_vec();
    out.splice(at..at + 2, [option.as_word(grown(&next.word))]);
    Some(out)
}

/// `argv` with every word of known alternatives replaced by each of them.
fn alternatives(argv: &[Arg]) -> Vec<Cow<'_, [Arg]>> {
    let several = |arg: &Arg| matches!(arg.word, Word::OneOf(_));
    if argv.len() > LONG || !argv.iter().any(several) {
        return vec![Cow::Borrowed(argv)];
    }
    let mut total = 1;
    let mut choices: Vec<&[Word]> = Vec::with_capacity(argv.len());
    for arg in argv {
        choices.push(match &arg.word {
            Word::OneOf(words) if !words.is_empty() && total * words.len() <= COMBINATIONS => words.as_slice(),
            word => std::slice::from_ref(word),
        });
        total *= choices.last().map_or(1, |words| words.len());
    }
    let nth = |mut left: usize| -> Cow<'_, [Arg]> {
        let mut out: Vec<Arg> = Vec::with_capacity(argv.len());
        for (arg, words) in argv.iter().zip(&choices).rev() {
            let word = words.get(left % words.len()).unwrap_or(&arg.word).clone();
            left /= words.len();
            out.push(Arg { word, span: arg.span.clone() });
        }
        out.reverse();
        Cow::Owned(out)
    };
    let mut out: Vec<Cow<'_, [Arg]>> = (0..total).map(nth).collect();
    // A word of too many alternatives to be tried with all others is tried by itself.
    let left = argv.iter().zip(&choices).enumerate().filter(|(_, (arg, words))| several(arg) && words.len() == 1);
    for (at, (arg, _)) in left.take(ALONE) {
        let Word::OneOf(words) = &arg.word else { continue };
        for word in words {
            let mut one = nth(0).into_owned();
            if let Some(arg) = one.get_mut(at) {
                arg.word = word.clone();
            }
            out.push(Cow::Owned(one));
        }
    }
    out
}
