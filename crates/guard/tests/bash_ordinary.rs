//! Breadth: what people and agents ordinarily type should not be asked about, and what destroys should
//! be said. The rows are data: none of them is run.

use std::path::PathBuf;

use nika_guard::bash::{Analysis, Outcome, Site, Target, analyse};
use nika_guard::{ExecKind, classify};

fn site() -> Site {
    Site { roots: vec![PathBuf::from("/w/repo")], cwd: PathBuf::from("/w/repo"), home: PathBuf::from("/home/dev") }
}

/// The value of a string field in one line of JSON.
fn field(line: &str, name: &str) -> String {
    let Some((_, rest)) = line.split_once(&format!("\"{name}\": \"")) else { return String::new() };
    let mut out = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('u') => {
                    let code: String = chars.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&code, 16).expect("four digits");
                    out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    out
}

fn inside(target: &Target) -> bool {
    target.path.starts_with("/w/repo") && classify(&target.path).secret.is_none()
}

/// What read-only mode does not ask about.
fn allowed_read_only(analysis: &Analysis) -> bool {
    let touched = analysis.touched();
    analysis.kind == ExecKind::ReadOnly
        && touched.writes.is_empty()
        && touched.deletes.is_empty()
        && touched.hosts.is_empty()
        && touched.reads.iter().all(inside)
}

/// What workspace mode does not ask about.
fn allowed_in_workspace(analysis: &Analysis) -> bool {
    let touched = analysis.touched();
    let guarded = |target: &Target| classify(&target.path).guarded.is_some();
    analysis.kind <= ExecKind::WritesInside
        && touched.hosts.is_empty()
        && touched.reads.iter().all(inside)
        && touched.writes.iter().chain(&touched.deletes).all(|target| inside(target) && !guarded(target))
}

fn told(analysis: &Analysis) -> String {
    let raised: Vec<String> = analysis
        .findings
        .iter()
        .filter(|finding| finding.outcome > Outcome::Passthrough)
        .map(|finding| format!("{}: {}", finding.code, finding.why))
        .collect();
    format!("{:?} {:?} {raised:?} {:?}", analysis.kind, analysis.facts, analysis.destructive)
}

/// Prints every row for which `wrong` holds; at most `per_mille` of those that `counts` may be.
fn share(name: &str, text: &str, per_mille: usize, counts: impl Fn(&str) -> bool, wrong: impl Fn(&Analysis) -> bool) {
    let site = site();
    let rows: Vec<&str> = text.lines().filter(|line| counts(line)).collect();
    let mut bad = 0;
    for line in &rows {
        let command = field(line, "cmd");
        let analysis = analyse(&command, &site);
        if wrong(&analysis) {
            bad += 1;
            println!("{name}: {command:?}\n      {}", told(&analysis));
        }
    }
    println!("{name}: {bad} of {} rows are wrong", rows.len());
    assert!(!rows.is_empty());
    assert!(bad * 1000 <= rows.len() * per_mille, "{name}: {bad} of {} rows are wrong", rows.len());
}

#[test]
fn reading_needs_no_question() {
    let text = include_str!("data/bash/ordinary.jsonl");
    share("read-only", text, 10, |line| field(line, "mode") == "read-only", |analysis| !allowed_read_only(analysis));
}

#[test]
fn builds_tests_and_edits_need_no_question() {
    let text = include_str!("data/bash/ordinary.jsonl");
    share("workspace", text, 50, |line| field(line, "mode") == "workspace", |analysis| !allowed_in_workspace(analysis));
}

#[test]
fn what_destroys_is_warned_of() {
    let text = include_str!("data/bash/warnings.jsonl");
    let counts = |line: &str| line.contains("\"warn\": true");
    share("warning", text, 20, counts, |analysis| analysis.destructive.is_none());
}

#[test]
fn what_only_looks_dangerous_is_not_warned_of() {
    let text = include_str!("data/bash/warnings.jsonl");
    let counts = |line: &str| line.contains("\"warn\": false");
    share("near miss", text, 20, counts, |analysis| analysis.destructive.is_some());
}

/// What is known of the output of commands, of names of files and of values must not open anything.
#[test]
fn what_is_known_of_words_opens_nothing() {
    share("not ordinary", include_str!("data/bash/not_ordinary.jsonl"), 0, |_| true, allowed_read_only);
}
