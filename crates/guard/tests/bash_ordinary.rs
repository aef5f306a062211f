//! Breadth: what people and agents ordinarily type should not be asked about, and what destroys should
//! be said. The rows are data: none of them is run.

mod functions;
mod judging;
mod values;

use judging::{allowed_in_workspace, allowed_read_only, field, site};
use nika_guard::bash::{Analysis, Outcome, analyse};

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
