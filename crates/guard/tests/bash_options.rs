//! What single programs make of their options and operands: texts that look harmless to a reader of words and
//! are not, by class, and the same options in their ordinary use. None of them is run.

mod judging;

use std::collections::BTreeMap;

use judging::{allowed_in_workspace, allowed_read_only, field, site};
use nika_guard::bash::analyse;

const ROWS: &str = include_str!("data/bash/options.jsonl");

fn rows(ok: bool) -> impl Iterator<Item = &'static str> {
    let wanted = if ok { "\"ok\": true" } else { "\"ok\": false" };
    ROWS.lines().filter(move |line| line.contains(wanted))
}

#[test]
fn attacks_on_options_need_a_question() {
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in rows(false) {
        let (class, text) = (field(line, "class"), field(line, "cmd"));
        let analysis = analyse(&text, &site());
        if allowed_read_only(&analysis) {
            wrong.push(format!("{class}: {text:?}\n      {:?}", analysis.facts));
        }
        *classes.entry(class).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{} texts pass\n  {}", wrong.len(), wrong.join("\n  "));
    let few: Vec<_> = classes.iter().filter(|(_, count)| **count < 5).collect();
    assert!(classes.len() > 15 && few.is_empty(), "classes with too few texts: {few:?} of {}", classes.len());
}

#[test]
fn ordinary_uses_of_the_same_options_need_none() {
    let mut wrong = Vec::new();
    for line in rows(true) {
        let text = field(line, "cmd");
        let analysis = analyse(&text, &site());
        if !allowed_read_only(&analysis) || !allowed_in_workspace(&analysis) {
            wrong.push(format!("{text:?}\n      {:?} {:?}", analysis.kind, analysis.facts));
        }
    }
    assert!(rows(true).count() > 100);
    assert!(wrong.is_empty(), "{} texts need a question\n  {}", wrong.len(), wrong.join("\n  "));
}
