//! `nika policy test`: whether the rules in force stand the examples that they carry.

use std::process::ExitCode;

use nika_guard::{Layer, LayeredRule};
use serde_json::{Value, json};

use crate::args::{Format, Standing, Where};
use crate::failure::{self, Failure};
use crate::out;
use crate::world::World;

/// One example of one rule.
struct Tried<'a> {
    rule: &'a LayeredRule,
    example: &'a str,
    should: bool,
    does: bool,
}

pub fn run(output: Format, place: &Where, standing: &Standing) -> Result<ExitCode, Failure> {
    let world = World::look();
    let policy = super::ground(&world, place)?.configure_untried(&world, standing)?.policy;
    let rules: Vec<&LayeredRule> = policy.rules().iter().filter(|rule| rule.layer != Layer::BuiltIn).collect();
    let mut tried = Vec::new();
    for &rule in &rules {
        let lists = [(true, &rule.rule.examples.matches), (false, &rule.rule.examples.not_matches)];
        for (should, examples) in lists {
            let one = |example: &String| rule.rule.decides(rule.kind, example);
            tried.extend(examples.iter().map(|example| Tried { rule, example, should, does: one(example) }));
        }
    }
    let wrong = tried.iter().filter(|one| one.should != one.does).count();
    if output == Format::Json {
        let row = |one: &Tried<'_>| {
            json!({
                "rule": one.rule.rule.text, "at": one.rule.at, "example": one.example,
                "expected": one.should, "matches": one.does, "ok": one.should == one.does,
            })
        };
        let examples: Vec<Value> = tried.iter().map(row).collect();
        out::json(&json!({"ok": wrong == 0, "rules": rules.len(), "examples": examples}))?;
    } else {
        let rows: Vec<Vec<String>> = tried
            .iter()
            .map(|one| {
                let mark = if one.should == one.does { "✓" } else { "✗" };
                let verb = if one.does { "matches" } else { "does not match" };
                let rule = format!("{} {}", one.rule.kind, one.rule.rule.text);
                vec![mark.to_owned(), rule, format!("{verb} `{}`", one.example), one.rule.at.clone()]
            })
            .collect();
        out::print(&out::table(&rows))?;
        out::line(&format!("{}, {}, {wrong} wrong", counted(rules.len(), "rule"), counted(tried.len(), "example")))?;
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(failure::FAILED) })
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    }
}
