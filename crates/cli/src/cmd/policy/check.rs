//! `nika policy check`: one judgement a command, as JSON, for programs and for large sets.

use std::io::{self, BufRead};
use std::process::ExitCode;

use nika_guard::bash::Finding;
use nika_guard::{Decision, Effect, Effects, ExecKind, Verdict};
use nika_tools::shell::command::Command;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Court;
use crate::args;
use crate::failure::{Failure, USAGE};
use crate::out;

/// What some editors put before the first line of a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line of input. Other fields may stand beside these.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    cmd: String,
}

/// What can be said of a line that cannot be judged.
#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    id: Value,
}

pub fn run(args: &args::PolicyCheck) -> Result<ExitCode, Failure> {
    let court = Court::new(&args.place, args.home.as_deref(), &args.standing)?;
    if let Some(command) = &args.command {
        out::json(&judged(&court, Value::Null, command))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut unread = 0;
    for (number, line) in io::stdin().lock().split(b'\n').enumerate() {
        let line = line?;
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| args.jsonl && number == 0).unwrap_or(line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match asked(line, number + 1, args.jsonl) {
            Ok(Line { id, cmd }) => out::json(&judged(&court, id, &cmd))?,
            Err((id, error)) => {
                unread += 1;
                out::json(&json!({"id": id, "decision": Decision::Deny.name(), "error": error}))?;
            }
        }
    }
    if unread == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    out::complain(&format!("error: {unread} of the lines could not be read and count as denied; each says why"));
    Ok(ExitCode::from(USAGE))
}

/// What a line asks, or the id it has and what is wrong with it.
fn asked(line: &[u8], number: usize, jsonl: bool) -> Result<Line, (Value, String)> {
    let text = std::str::from_utf8(line).map_err(|error| (Value::Null, format!("line {number}: {error}")))?;
    if !jsonl {
        return Ok(Line { id: json!(number), cmd: text.to_owned() });
    }
    let wrong =
        |error: &dyn std::fmt::Display| format!("line {number}: {error}; a line is {{\"id\": …, \"cmd\": \"…\"}}");
    // A list of the same values would be read as well.
    if !text.trim_start().starts_with('{') {
        return Err((Value::Null, wrong(&"it is no object")));
    }
    serde_json::from_str(text).map_err(|error| {
        // Whatever the command is: of a text that is none the rest can be read.
        let id = serde_json::from_str::<Named>(text).map(|named| named.id);
        (id.unwrap_or_default(), wrong(&error))
    })
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
        ExecKind::Unconfined => "unconfined",
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
                let mut said = json!({"argv": argv, "kind": kind(one.kind), "why": one.why});
                if !one.sets.is_empty() {
                    said["sets"] = json!(one.sets);
                }
                exec.push(said);
            }
            Effect::Read(place) => read.push(json!(place.shown())),
            Effect::Write(place) => write.push(json!(place.shown())),
            Effect::Net(host) => net.push(json!(host)),
            _ => {}
        }
    }
    json!({"exec": exec, "read": read, "write": write, "net": net})
}
