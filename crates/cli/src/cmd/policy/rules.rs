//! `nika policy test`: whether rules stand the examples that they carry. Rules that are not in force are tried, too: where
//! this runs on every change, nobody has trusted the repository.

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
    in_force: bool,
    example: &'a str,
    should: bool,
    does: bool,
}

pub fn run(output: Format, place: &Where, standing: &Standing) -> Result<ExitCode, Failure> {
    let world = World::look();
    let home = world.home_text();
    let effective = super::ground(&world, place)?.configure_untried(&world, standing)?;
    let written = effective.policy.rules().iter().filter(|rule| rule.layer != Layer::BuiltIn).map(|rule| (rule, true));
    let rules: Vec<_> = written.chain(effective.idle_rules.iter().map(|rule| (rule, false))).collect();
    let mut tried = Vec::new();
    for &(rule, in_force) in &rules {
        let lists = [(true, &rule.rule.examples.matches), (false, &rule.rule.examples.not_matches)];
        for (should, examples) in lists {
            let one = |example: &String| rule.rule.decides(rule.kind, example, home.as_deref());
            tried.extend(examples.iter().map(|example| Tried { rule, in_force, example, should, does: one(example) }));
        }
    }
    let wrong = tried.iter().filter(|one| one.should != one.does).count();
    if output == Format::Json {
        let row = |one: &Tried<'_>| {
            json!({
                "rule": one.rule.rule.text, "at": one.rule.at, "in_force": one.in_force, "example": one.example,
                "expected": one.should, "matches": one.does, "ok": one.should == one.does,
            })
        };
        let examples: Vec<Value> = tried.iter().map(row).collect();
        let idle = effective.idle_rules.len();
        out::json(&json!({"ok": wrong == 0, "rules": rules.len(), "not_in_force": idle, "examples": examples}))?;
    } else {
        let rows: Vec<Vec<String>> = tried
            .iter()
            .map(|one| {
                let mark = if one.should == one.does { "✓" } else { "✗" };
                let verb = if one.does { "matches" } else { "does not match" };
                let rule = format!("{} {}", one.rule.kind, one.rule.rule.text);
                let idle = if one.in_force { "" } else { "(not in force)" };
                vec![mark.to_owned(), rule, format!("{verb} `{}`", one.example), one.rule.at.clone(), idle.to_owned()]
            })
            .collect();
        out::print(&out::table(&rows))?;
        out::line(&format!("{}, {}, {wrong} wrong", counted(rules.len(), "rule"), counted(tried.len(), "example")))?;
        if let idle @ 1.. = effective.idle_rules.len() {
            let (count, verb) = (counted(idle, "rule"), if idle == 1 { "is" } else { "are" });
            out::line(&format!("{count} {verb} not in force; this repository is {}", effective.trusted.describe()))?;
        }
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
