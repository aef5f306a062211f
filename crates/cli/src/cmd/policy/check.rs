//! `nika policy check`: one judgement a command, as JSON, for programs and for large sets.

use std::io::{self, BufRead};
use std::process::ExitCode;

use nika_guard::bash::Finding;
use nika_guard::{Effect, Effects, ExecKind, Verdict};
use nika_tools::shell::command::Command;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Court;
use crate::args;
use crate::failure::Failure;
use crate::out;

/// A line of input. Other fields may stand beside these.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    cmd: String,
}

pub fn run(args: &args::PolicyCheck) -> Result<ExitCode, Failure> {
    let court = Court::new(&args.place, args.home.as_deref(), &args.standing)?;
    if let Some(command) = &args.command {
        out::json(&judged(&court, Value::Null, command))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (number, line) in io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let Line { id, cmd } = if args.jsonl {
            serde_json::from_str(&line).map_err(|error| {
                Failure::usage(format!("line {}: {error}; a line is {{\"id\": …, \"cmd\": \"…\"}}", number + 1))
            })?
        } else {
            Line { id: json!(number + 1), cmd: line }
        };
        out::json(&judged(&court, id, &cmd))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn judged(court: &Court, id: Value, text: &str) -> Value {
    let command = court.read(text);
    let verdict = court.policy().judge(court.stance(), &command.effects);
    told(id, &command, &verdict)
}

/// A judgement as a line says it.
pub(super) fn told(id: Value, command: &Command, verdict: &Verdict) -> Value {
    let analysis = &command.analysis;
    let findings: Vec<Value> = analysis.findings.iter().map(finding).collect();
    json!({
        "id": id,
        "decision": verdict.decision.name(),
        "warn": analysis.destructive.is_some(),
        "kind": kind(analysis.kind),
        "findings": findings,
        "effects": effects(&command.effects),
        "runs": analysis.canonical,
    })
}

pub fn finding(finding: &Finding) -> Value {
    json!({"code": finding.code, "span": [finding.span.start, finding.span.end], "why": finding.why})
}

/// What the kinds are called in output.
pub fn kind(kind: ExecKind) -> &'static str {
    match kind {
        ExecKind::ReadOnly => "read-only",
        ExecKind::WritesInside => "writes-inside",
        ExecKind::Opaque => "opaque",
        ExecKind::Misparse => "misparse",
        ExecKind::Destructive => "destructive",
        ExecKind::Forbidden => "forbidden",
    }
}

fn effects(effects: &Effects) -> Value {
    let mut exec = Vec::new();
    let (mut read, mut write, mut net) = (Vec::new(), Vec::new(), Vec::new());
    for effect in &effects.all {
        match effect {
            Effect::Exec(one) => {
                let argv = one.commands.first();
                exec.push(json!({"argv": argv, "kind": kind(one.kind), "why": one.why}));
            }
            Effect::Read(place) => read.push(json!(place.shown())),
            Effect::Write(place) => write.push(json!(place.shown())),
            Effect::Net(host) => net.push(json!(host)),
            _ => {}
        }
    }
    json!({"exec": exec, "read": read, "write": write, "net": net})
}
