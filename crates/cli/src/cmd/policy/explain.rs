//! `nika policy explain`: the same judgement, drawn for a person, or its facts as one object.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use nika_contract::text::harmless;
use nika_guard::bash::{Finding, Outcome};
use nika_guard::{Decision, Effect, Reason, Verdict};
use nika_tools::shell::command::Command;
use serde_json::{Value, json};

use super::{Court, check};
use crate::args::{self, Format};
use crate::failure::Failure;
use crate::out;

pub fn run(args: &args::PolicyExplain) -> Result<ExitCode, Failure> {
    let court = Court::new(&args.place, args.home.as_deref(), &args.standing)?;
    let command = court.read(&args.command);
    let verdict = court.policy().judge(court.stance(), &command.effects);
    match args.output {
        Format::Text => out::print(&picture(&args.command, &command, &verdict))?,
        Format::Json => out::json(&object(&args.command, &command, &verdict))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One effect of the command, and what is said to it.
struct Part<'a> {
    /// `exec`, `read`, …
    effect: &'static str,
    /// The words of a command, and of what is no command the effect itself.
    what: String,
    reason: &'a Reason,
}

/// Each once: a place may be written in two ways, or be named by a link, too.
fn parts<'a>(command: &Command, verdict: &'a Verdict) -> Vec<Part<'a>> {
    let part = |(effect, reason): (&Effect, &'a Reason)| {
        let what = match effect {
            Effect::Exec(one) => match one.commands.first() {
                Some(argv) => one.with_sets(argv).join(" "),
                None => "(the text as a whole)".to_owned(),
            },
            other => other.to_string(),
        };
        Part { effect: effect.verb(), what, reason }
    };
    let mut parts: Vec<Part<'a>> = command.effects.all.iter().zip(&verdict.reasons).map(part).collect();
    let mut said = HashSet::new();
    parts.retain(|part| said.insert((part.what.clone(), part.reason.act.clone(), part.reason.source.to_string())));
    parts
}

/// What was found that is more than a remark.
fn notable(command: &Command) -> impl Iterator<Item = &Finding> {
    command.analysis.findings.iter().filter(|found| found.outcome > Outcome::Allow)
}

fn picture(written: &str, command: &Command, verdict: &Verdict) -> String {
    let mut text = format!("{}\n\n", harmless(written));
    let mut rows = Vec::new();
    for Part { what, reason, .. } in parts(command, verdict) {
        rows.push(vec![
            format!("  {}", mark(reason.decision)),
            harmless(&what).into_owned(),
            harmless(&reason.act).into_owned(),
            reason.source.to_string(),
        ]);
        if let Some((rule, is_wide)) = would_allow(reason) {
            let wide = if is_wide { ", whatever follows those words" } else { "" };
            rows.push(vec![String::new(), String::new(), format!("allow it with `{}`{wide}", harmless(rule))]);
        }
    }
    text.push_str(&out::table(&rows));
    let row = |found: &Finding| {
        let at = format!("{}–{}", found.span.start, found.span.end);
        vec![format!("  {}", found.code), at, harmless(&found.why).into_owned()]
    };
    let findings: Vec<_> = notable(command).map(row).collect();
    if !findings.is_empty() {
        text.push_str("\nFindings\n");
        text.push_str(&out::table(&findings));
    }
    if let Some(why) = &command.analysis.destructive {
        let _ = writeln!(text, "\nWarning: {}.", harmless(why));
    }
    if let Some(canonical) = &command.analysis.canonical {
        let _ = writeln!(text, "\nWhat runs\n  {}", harmless(canonical).trim_end().replace('\n', "\n  "));
    }
    let _ = writeln!(text, "\n{}", verdict_line(verdict));
    text
}

/// All that the picture says.
fn object(written: &str, command: &Command, verdict: &Verdict) -> Value {
    let part = |Part { effect, what, reason }: Part<'_>| {
        json!({
            "effect": effect,
            "what": what,
            "decision": word(reason.decision),
            "why": reason.act,
            "by": reason.source.to_string(),
            "allow_rule": would_allow(reason).map(|(rule, _)| rule),
        })
    };
    let decisive = verdict.decisive();
    json!({
        "command": written,
        "decision": word(verdict.decision),
        "by": decisive.map(|reason| reason.source.to_string()),
        "would_be_allowed": verdict.remedy(),
        "parts": parts(command, verdict).into_iter().map(part).collect::<Vec<_>>(),
        "findings": notable(command).map(check::finding).collect::<Vec<_>>(),
        "warning": command.analysis.destructive,
        "runs": command.analysis.canonical,
    })
}

fn mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "✓",
        Decision::Ask => "?",
        Decision::Floor => "?!",
        Decision::Deny => "✗",
    }
}

/// The marks in words. What is asked each time is told apart from what a rule could answer.
fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Floor => "ask-each-time",
        other => other.name(),
    }
}

/// The smallest rule that would answer a question, and whether it would answer others, too; none where no rule can.
fn would_allow(reason: &Reason) -> Option<(&str, bool)> {
    let rule = reason.rule.as_deref().filter(|_| reason.decision == Decision::Ask)?;
    Some((rule, rule.ends_with(" *)")))
}

fn verdict_line(verdict: &Verdict) -> String {
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
