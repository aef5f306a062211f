//! What is not certain to be so behind a command: a list in a text, `return` outside of a function, another variable of
//! the same name, what a loop or a function sets, a redirection that fails. None of it counts as reading; what people
//! write in its place does. The rows are data: none of them is run.

mod judging;

use judging::{allowed_in_workspace, allowed_read_only, field, site};
use nika_guard::bash::analyse;

const ROWS: &str = include_str!("data/bash/uncertain.jsonl");

const CLASSES: &[&str] = &["list", "return", "global", "loop", "function", "moving", "failed"];

/// The commands of a class, with their modes.
fn rows(class: &str) -> Vec<(String, String)> {
    let of_class = ROWS.lines().filter(|line| field(line, "class") == class);
    of_class.map(|line| (field(line, "cmd"), field(line, "mode"))).collect()
}

#[test]
fn what_is_not_certain_does_not_count_as_reading() {
    let site = site();
    let mut wrong = Vec::new();
    for class in CLASSES {
        let rows = rows(class);
        assert!(rows.len() > 5, "{class}");
        let read = rows.iter().filter(|(command, _)| allowed_read_only(&analyse(command, &site)));
        wrong.extend(read.map(|(command, _)| format!("{class}: {command:?}")));
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_certain_needs_no_question() {
    let site = site();
    let rows = rows("ordinary");
    assert!(rows.len() > 10);
    let mut wrong = Vec::new();
    for (command, mode) in &rows {
        let analysis = analyse(command, &site);
        let allowed = if mode == "workspace" { allowed_in_workspace(&analysis) } else { allowed_read_only(&analysis) };
        if !allowed {
            wrong.push(format!("{command:?}\n      {analysis:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}
