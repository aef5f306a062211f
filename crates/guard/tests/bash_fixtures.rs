//! The starting fixtures of shell commands, as data: none of them is run.

mod judging;

use judging::{allowed_in_workspace, allowed_read_only, field, site};
use nika_guard::bash::{Analysis, analyse};

/// Rows as (id, command, line).
fn rows(text: &str) -> Vec<(String, String, &str)> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (field(line, "id"), field(line, "cmd"), line))
        .collect()
}

fn told(analysis: &Analysis) -> String {
    let raised: Vec<String> = analysis
        .findings
        .iter()
        .filter(|finding| finding.outcome > nika_guard::bash::Outcome::Passthrough)
        .map(|finding| format!("{}: {}", finding.code, finding.why))
        .collect();
    format!("{:?} facts {:?} findings {raised:?}", analysis.kind, analysis.facts)
}

fn check(name: &str, text: &str, right: impl Fn(&str, &Analysis) -> bool) {
    let site = site();
    let mut wrong = Vec::new();
    let rows = rows(text);
    for (id, command, line) in &rows {
        let analysis = analyse(command, &site);
        if !right(line, &analysis) {
            let short: String = command.chars().take(200).collect();
            wrong.push(format!("{id} {short:?}\n      {}", told(&analysis)));
        }
    }
    assert!(wrong.is_empty(), "{name}: {} of {} rows are wrong\n  {}", wrong.len(), rows.len(), wrong.join("\n  "));
}

#[test]
fn adversarial_commands_are_never_allowed_as_read_only() {
    check("adversarial", include_str!("data/bash/bash_adversarial.jsonl"), |_, analysis| !allowed_read_only(analysis));
}

#[test]
fn ordinary_reading_needs_no_question() {
    check("read-only", include_str!("data/bash/bash_benign.jsonl"), |line, analysis| {
        field(line, "mode") != "read-only" || field(line, "tier") != "core" || allowed_read_only(analysis)
    });
}

/// One row of the stretch tier runs over names that a file lists: they could be any path.
#[test]
fn most_scripts_of_readers_need_no_question() {
    let site = site();
    let rows = rows(include_str!("data/bash/bash_benign.jsonl"));
    let stretch: Vec<_> = rows
        .iter()
        .filter(|(_, _, line)| field(line, "tier") == "stretch" && field(line, "mode") == "read-only")
        .collect();
    let wrong: Vec<String> = stretch
        .iter()
        .map(|(id, command, _)| (id, command, analyse(command, &site)))
        .filter(|(_, _, analysis)| !allowed_read_only(analysis))
        .map(|(id, command, analysis)| format!("{id} {command:?}\n      {}", told(&analysis)))
        .collect();
    assert!(wrong.len() <= 1, "{} of {}\n  {}", wrong.len(), stretch.len(), wrong.join("\n  "));
}

#[test]
fn builds_tests_and_edits_stay_inside_the_workspace() {
    check("workspace", include_str!("data/bash/bash_benign.jsonl"), |line, analysis| {
        field(line, "mode") != "workspace" || allowed_in_workspace(analysis)
    });
}

#[test]
fn what_destroys_is_said_and_nothing_else() {
    check("destructive", include_str!("data/bash/bash_destructive.jsonl"), |line, analysis| {
        let warn = line.contains("\"warn\": true");
        warn == analysis.destructive.is_some()
    });
}

#[test]
fn the_canonical_text_of_every_row_is_judged_the_same() {
    let site = site();
    let texts = [
        include_str!("data/bash/bash_adversarial.jsonl"),
        include_str!("data/bash/bash_benign.jsonl"),
        include_str!("data/bash/bash_destructive.jsonl"),
    ];
    for (id, command, _) in texts.iter().flat_map(|text| rows(text)) {
        let first = analyse(&command, &site);
        let Some(canonical) = &first.canonical else { continue };
        let second = analyse(canonical, &site);
        assert_eq!(first.facts, second.facts, "{id}: {command:?} became {canonical:?}");
        assert_eq!(second.canonical.as_ref(), Some(canonical), "{id}: {command:?}");
        assert!(second.kind <= first.kind, "{id}: {command:?} became {canonical:?}");
    }
}
