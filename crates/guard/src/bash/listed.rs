//! Guarded files that one command lists and another changes: `find .github -name '*.yml' | xargs sed -i …`.
//!
//! What is changed by names that a command prints is said of a whole directory, which names no guarded file. Where a word of
//! the commands beside it does, that file is changed, too.

use std::path::{Path, PathBuf};

use super::commands::{self, places};
use super::fact::{Fact, Target};
use super::globs;
use super::judge::{Arg, Site, Word, normal};
use super::walk::Report;

/// Adds to each command that changes what others list the guarded places which those were told to look in.
pub(super) fn guard(reports: &mut [Report], site: &Site) {
    below_listed(reports);
    let changes = |report: &Report| {
        report.argv.iter().any(is_listed) && report.facts.iter().any(|fact| changed_tree(fact).is_some())
    };
    if reports.len() < 2 || !reports.iter().any(changes) {
        return;
    }
    let named: Vec<PathBuf> = reports
        .iter()
        .filter(|report| !changes(report))
        .flat_map(|report| report.argv.iter().skip(1))
        .filter_map(|arg| looked_in(arg, site))
        .filter_map(|path| guarded(&path))
        .collect();
    for report in reports.iter_mut().filter(|report| changes(report)) {
        let trees: Vec<PathBuf> = report.facts.iter().filter_map(changed_tree).map(Path::to_path_buf).collect();
        let within = named.iter().filter(|path| trees.iter().any(|tree| path.starts_with(tree)));
        let write =
            |path: &PathBuf| Fact::Write(Target { path: path.clone(), tree: false, itself: false, redirected: false });
        report.facts.extend(within.map(write));
    }
}

/// Adds to each command that changes what lies below a name that another lists the guarded places which that may be: for
/// `"$dir/hooks/pre-commit"` the name stands for `.git`, and for `"$dir/config"` where `.git` is what was looked for.
fn below_listed(reports: &mut [Report]) {
    let changes = |report: &Report| report.facts.iter().any(|fact| changed_tree(fact).is_some());
    if reports.len() < 2 || !reports.iter().any(|report| changes(report) && !ways_below(&report.argv).is_empty()) {
        return;
    }
    let looked_for: Vec<String> =
        reports.iter().filter(|report| !changes(report)).flat_map(|report| names_of(&report.argv)).collect();
    for report in reports.iter_mut() {
        let ways = ways_below(&report.argv);
        let trees: Vec<PathBuf> = report.facts.iter().filter_map(changed_tree).map(Path::to_path_buf).collect();
        let runs = crate::path::guarded_spots().filter_map(|spot| {
            let run: Vec<&str> = spot.below.iter().chain(spot.name.iter()).copied().collect();
            ways.iter().any(|way| leads_to(&run, spot.tree, way, &looked_for)).then(|| run.iter().collect::<PathBuf>())
        });
        let places: Vec<PathBuf> = runs
            .flat_map(|run| trees.iter().filter_map(|tree| guarded(&tree.join(&run))).collect::<Vec<_>>())
            .collect();
        let write = |path| Fact::Write(Target { path, tree: false, itself: false, redirected: false });
        report.facts.extend(places.into_iter().map(write));
    }
}

/// Whether the `way` from a listed name may lead to the guarded `run`: the name is one of its parts, which somebody has
/// looked for, or the way is long enough to tell it.
fn leads_to(run: &[&str], tree: bool, way: &[String], looked_for: &[String]) -> bool {
    (1..=run.len()).any(|at| {
        let (before, rest) = run.split_at(at);
        let fits = rest.iter().zip(way).all(|(name, part)| means(part, name));
        let reaches = if way.len() > rest.len() { tree } else { !way.is_empty() };
        let named = before.last().is_some_and(|name| looked_for.iter().any(|part| means(part, name)));
        fits && reaches && (named || !rest.is_empty() && way.len() >= rest.len().max(2))
    })
}

fn means(part: &str, name: &str) -> bool {
    part.eq_ignore_ascii_case(name) || globs::may_mean(part, name)
}

/// The names that are written below names which another command prints: `hooks/x` of `"$dir/hooks/x"`. Where something is
/// put into a listed directory, its own name stands there.
fn ways_below(argv: &[Arg]) -> Vec<Vec<String>> {
    const PUTS: &[&str] = &["cp", "mv", "ln", "install"];
    let puts = argv.first().and_then(Arg::exact).is_some_and(|program| PUTS.contains(&program));
    let source = |arg: &Arg| arg.exact().filter(|text| puts && !text.starts_with('-')).map(parts_of);
    let sources: Vec<String> = argv.iter().skip(1).filter_map(source).filter_map(|mut parts| parts.pop()).collect();
    let mut ways = Vec::new();
    for arg in argv.iter().skip(1) {
        let Word::Glob { pattern, .. } = &arg.word else { continue };
        let Some(below) = pattern.trim_start_matches("./").strip_prefix("**") else { continue };
        let way = parts_of(below.trim_start_matches(['*', '/']));
        ways.extend(sources.iter().map(|name| way.iter().cloned().chain([name.clone()]).collect()));
        ways.push(way);
    }
    ways.retain(|way| !way.is_empty());
    ways
}

fn parts_of(text: &str) -> Vec<String> {
    text.split('/').filter(|part| !part.is_empty() && *part != ".").map(str::to_owned).collect()
}

/// The names in the words of a listing, but for those that it leaves out.
fn names_of(argv: &[Arg]) -> Vec<String> {
    let texts: Vec<&str> = argv.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    let words = texts
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(at, text)| !text.starts_with('-') && !commands::leaves_out(&texts, *at));
    let tells = |part: &String| part.contains(|c: char| c.is_alphanumeric()) || part.starts_with('.') && part != "..";
    words.flat_map(|(_, text)| parts_of(text)).filter(tells).collect()
}

/// Whether a word is a name that another command prints, of which nothing is known.
fn is_listed(arg: &Arg) -> bool {
    match &arg.word {
        Word::Opaque { prefix, .. } => prefix.is_empty() || prefix == "./",
        Word::Glob { pattern, .. } => pattern.trim_start_matches("./").chars().all(|c| matches!(c, '*' | '/')),
        Word::Exact(_) | Word::OneOf(_) => false,
    }
}

/// The directory below which something is changed.
fn changed_tree(fact: &Fact) -> Option<&Path> {
    match fact {
        Fact::Write(Target { path, tree: true, .. }) => Some(path),
        _ => None,
    }
}

/// Where a word of a listing looks, as far as it is known.
fn looked_in(arg: &Arg, site: &Site) -> Option<PathBuf> {
    let text = match &arg.word {
        Word::Exact(text) => text.as_str(),
        Word::Glob { prefix, .. } => prefix.rsplit_once('/').map_or("", |(dir, _)| dir),
        Word::Opaque { .. } | Word::OneOf(_) => return None,
    };
    let text = text.split(['*', '?', '[']).next().unwrap_or_default();
    (!text.is_empty() && !text.starts_with('-')).then(|| normal(&site.cwd.join(text)))
}

/// The guarded place that `path` is, or that lies right below it.
fn guarded(path: &Path) -> Option<PathBuf> {
    let below = || match places::taken_along(path) {
        Some(Fact::Write(target)) => Some(target.path),
        _ => None,
    };
    let is_asked = |path: &Path| crate::classify(path).asked().is_some();
    let inner = path.join("x");
    (is_asked(path).then(|| path.to_path_buf())).or_else(|| is_asked(&inner).then_some(inner)).or_else(below)
}
