//! Guarded files that one command lists and another changes: `find .github -name '*.yml' | xargs sed -i …`.
//!
//! What is changed by names that a command prints is said of a whole directory, which names no guarded file. Where a word of
//! the commands beside it does, that file is changed, too.

use std::path::{Path, PathBuf};

use super::commands::places;
use super::fact::{Fact, Target};
use super::judge::{Arg, Site, Word, normal};
use super::walk::Report;

/// Adds to each command that changes what others list the guarded places which those were told to look in.
pub(super) fn guard(reports: &mut [Report], site: &Site) {
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
