//! What each program does with which options: tables, one file a group.

pub(super) mod destructive;
pub(super) mod spec;

mod build;
mod database;
mod effects;
mod files;
mod git;
mod infra;
mod interpreters;
mod network;
mod packages;
mod search;
mod shell;
mod special;
mod system;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod wrappers;

use super::finding::Row;
use super::judge::{Arg, Judge, Word};
use spec::Spec;

/// Every table. The first that knows a name has it: what reads stands before what builds.
const TABLES: &[&[Spec]] = &[
    shell::SPECS,
    text::SPECS,
    search::SPECS,
    files::SPECS,
    system::SPECS,
    git::SPECS,
    special::SPECS,
    interpreters::SPECS,
    build::SPECS,
    packages::SPECS,
    network::SPECS,
    database::SPECS,
    infra::SPECS,
    wrappers::SPECS,
];

/// Where programs stand that only an administrator changes.
const STANDARD: &[&str] = &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// Words that stand for one of several known ones are tried one by one, up to this many combinations.
/// Beyond it they stay one word of several, which tables read only as operands.
const COMBINATIONS: usize = 32;

/// Findings of commands with handling of their own.
pub(super) const FINDINGS: &[Row] = special::FINDINGS;

pub(super) use wrappers::feeder;

/// Puts what the command `argv` does into `judge`. `argv[0]` is exact: the walker saw to that.
pub(super) fn judge(argv: &[Arg], judge: &mut Judge<'_>) {
    let before = judge.facts.len();
    for argv in combinations(argv) {
        one(&argv, judge);
        destructive::note_raw(&argv, judge);
    }
    let mut kept = before;
    for at in before..judge.facts.len() {
        if !judge.facts[before..kept].contains(&judge.facts[at]) {
            judge.facts.swap(kept, at);
            kept += 1;
        }
    }
    judge.facts.truncate(kept);
}

fn one(argv: &[Arg], judge: &mut Judge<'_>) {
    let Some(name) = argv.first().and_then(Arg::exact) else {
        return judge.opaque("the name of the command is not known");
    };
    let Some(known) = standard(name) else { return by_path(name, judge) };
    let Some(spec) = find(known) else {
        return judge.opaque(format!("`{known}` is not a program the analysis knows"));
    };
    if !spec::is_info(spec, argv) {
        spec::apply(spec, &spec::parse(spec, argv), judge);
    }
}

/// The table row of a program.
fn find(name: &str) -> Option<&'static Spec> {
    TABLES.iter().flat_map(|table| table.iter()).find(|spec| spec.is(name))
}

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
    if judge.site.roots.iter().any(|root| place.starts_with(root) && place != *root) {
        judge.code(format!("runs `{name}`"));
    } else {
        judge.opaque(format!("`{name}` is not in a standard directory"));
    }
}

/// `argv` with every word of known alternatives replaced by each of them.
fn combinations(argv: &[Arg]) -> Vec<Vec<Arg>> {
    let mut out = vec![Vec::with_capacity(argv.len())];
    for arg in argv {
        let words = match &arg.word {
            Word::OneOf(words) if !words.is_empty() && out.len() * words.len() <= COMBINATIONS => words.as_slice(),
            word => std::slice::from_ref(word),
        };
        let with = |argv: &Vec<Arg>, word: &Word| {
            let mut argv = argv.clone();
            argv.push(Arg { word: word.clone(), span: arg.span.clone() });
            argv
        };
        out = out.iter().flat_map(|argv| words.iter().map(move |word| with(argv, word))).collect();
    }
    out
}
