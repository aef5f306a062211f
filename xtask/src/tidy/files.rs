//! Files as such: how they open, what they are called, how long they are, and what no file may hold.

use super::Findings;
use super::tree::Tree;

/// A file longer than this holds more than one idea.
const MAX_LINES: usize = 900;

/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];

/// Paths of one machine. Written in pieces, so that this file does not find itself.
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("/t", "mp/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Package registries by host: a mirror is a machine's setting.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("deb.", "debian", ".org"),
];

pub(super) fn opening_words(tree: &Tree, findings: &mut Findings) {
    for source in &tree.sources {
        if !source.lines.first().is_some_and(|line| line.text.starts_with("//!")) {
            findings.add(
                &source.path,
                1,
                "the file does not open with `//!`",
                "say why it exists and what it refuses to know",
            );
        }
    }
}

pub(super) fn names(tree: &Tree, findings: &mut Findings) {
    for source in &tree.sources {
        let mut parts = source.path.trim_end_matches(".rs").split('/');
        if parts.any(|part| EMPTY_NAMES.contains(&part)) {
            findings.add(&source.path, 1, "the name says nothing", "name it by the one idea it holds");
        }
    }
}

pub(super) fn length(tree: &Tree, findings: &mut Findings) {
    for source in tree.sources.iter().filter(|source| source.lines.len() > MAX_LINES) {
        let what = format!("{} lines; at most {MAX_LINES} are read in one sitting", source.lines.len());
        findings.add(&source.path, MAX_LINES + 1, what, "move an idea into a file of its own");
    }
}

pub(super) fn machine_paths(tree: &Tree, findings: &mut Findings) {
    // Tests and examples make up paths; whoever runs them has no such files, and needs none.
    for source in &tree.sources {
        // The sandbox's attempts run where `/tmp` is the command's own.
        let made_up = source.path.contains("/examples/") || source.path.starts_with("crates/host/src/sandbox/probe");
        for (at, line) in source.lines.iter().enumerate() {
            let places = if made_up || line.test { &[] } else { PLACES };
            report(&source.path, at, &line.text, places, findings);
        }
    }
    for file in tree.files.iter().filter(|file| !file.path.ends_with(".rs")) {
        // Documents may show a reader's own home in an example; nothing else of a machine.
        for (at, line) in file.text.lines().enumerate() {
            report(&file.path, at, line, &PLACES[..3], findings);
        }
    }
}

fn report(path: &str, at: usize, line: &str, places: &[&str], findings: &mut Findings) {
    // `target/tmp/` or `.git/work/` are not at the root of a machine.
    let at_root = |place: &&&str| {
        line.match_indices(**place)
            .any(|(start, _)| !line[..start].ends_with(|c: char| c.is_alphanumeric() || "._-~}*".contains(c)))
    };
    if let Some(place) = places.iter().find(at_root) {
        findings.add(
            path,
            at + 1,
            format!("`{place}` is a path of one machine"),
            "pass the path in, or make a temporary directory",
        );
    }
    if let Some(host) = HOSTS.iter().find(|host| line.contains(**host)) {
        findings.add(path, at + 1, format!("`{host}` is a package registry's host"), "name the package, not the place");
    }
}
