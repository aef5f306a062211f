//! `nika policy explain`: the same judgement, drawn for a person.

use std::fmt::Write as _;
use std::process::ExitCode;

use nika_contract::text::harmless;
use nika_guard::bash::Outcome;
use nika_guard::{Decision, Effect, Reason};

use super::Court;
use crate::args;
use crate::failure::Failure;
use crate::out;

pub fn run(args: &args::PolicyExplain) -> Result<ExitCode, Failure> {
    let court = Court::new(&args.place, args.home.as_deref(), &args.standing)?;
    let command = court.read(&args.command);
    let verdict = court.policy().judge(court.stance(), &command.effects);
    let mut text = format!("{}\n\n", harmless(&args.command));
    let mut rows = Vec::new();
    for (effect, reason) in command.effects.all.iter().zip(&verdict.reasons) {
        let what = match effect {
            Effect::Exec(one) => match one.commands.first() {
                Some(argv) => argv.join(" "),
                None => "(the text as a whole)".to_owned(),
            },
            other => other.to_string(),
        };
        rows.push(vec![
            format!("  {}", mark(reason.decision)),
            harmless(&what).into_owned(),
            harmless(&reason.act).into_owned(),
            reason.source.to_string(),
        ]);
        if let Some(rule) = would_allow(reason) {
            rows.push(vec![String::new(), String::new(), format!("allow it with {rule}")]);
        }
    }
    text.push_str(&out::table(&rows));
    let notable: Vec<_> = command.analysis.findings.iter().filter(|found| found.outcome > Outcome::Allow).collect();
    if !notable.is_empty() {
        text.push_str("\nFindings\n");
        let row = |found: &&nika_guard::bash::Finding| {
            let at = format!("{}–{}", found.span.start, found.span.end);
            vec![format!("  {}", found.code), at, harmless(&found.why).into_owned()]
        };
        text.push_str(&out::table(&notable.iter().map(row).collect::<Vec<_>>()));
    }
    if let Some(why) = &command.analysis.destructive {
        let _ = writeln!(text, "\nWarning: {}.", harmless(why));
    }
    if let Some(canonical) = &command.analysis.canonical {
        let _ = writeln!(text, "\nWhat runs\n  {}", harmless(canonical).trim_end().replace('\n', "\n  "));
    }
    let _ = writeln!(text, "\n{}", verdict_line(&verdict));
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "✓",
        Decision::Ask => "?",
        Decision::Floor => "?!",
        Decision::Deny => "✗",
    }
}

/// The smallest rule that would answer a question; none where no rule can.
fn would_allow(reason: &Reason) -> Option<String> {
    let rule = reason.rule.as_ref().filter(|_| reason.decision == Decision::Ask)?;
    let wide = if rule.ends_with(" *)") { ", whatever follows those words" } else { "" };
    Some(format!("`{}`{wide}", harmless(rule)))
}

fn verdict_line(verdict: &nika_guard::Verdict) -> String {
    let Some(reason) = verdict.decisive() else { return "Refused: it does nothing that could be judged.".to_owned() };
    let word = match verdict.decision {
        Decision::Allow => return "Allowed.".to_owned(),
        Decision::Ask => "Asked",
        Decision::Floor => "Asked, each time",
        Decision::Deny => "Denied",
    };
    let ways = verdict.remedy().map(|ways| format!(" It would be allowed {}.", harmless(&ways))).unwrap_or_default();
    format!("{word}: {} ({}), by {}.{ways}", harmless(&reason.effect), harmless(&reason.act), reason.source)
}
