//! `nika trace`: what happened in runs of workflows.

use std::io::{self, Write};
use std::process::ExitCode;

use nika_contract::event;
use nika_flow::run::resume::Before;
use nika_store::journal::{self, Format as Exported};
use nika_store::{State, runs};
use serde_json::{Value, json};

use crate::args::{self, Format, TraceCommand, TraceFormat, Where};
use crate::cmd::run::find;
use crate::compose::Ground;
use crate::failure::{self, Failure};
use crate::out;
use crate::time;
use crate::world::World;

pub fn run(args: args::Trace) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &Where { roots: args.root.into_iter().collect() })?;
    let traces = runs::open(&ground.state()?)?;
    let done = |result: Result<(), Failure>| result.map(|()| ExitCode::SUCCESS);
    match args.what {
        None | Some(TraceCommand::List) => done(list(&traces, args.output)),
        // That nothing was run yet is an answer; that a run which is named is not there, a slip.
        Some(TraceCommand::Show { id: None }) if journal::list(&traces)?.is_empty() => done(list(&traces, args.output)),
        Some(TraceCommand::Show { id }) => done(show(&traces, id.as_deref().unwrap_or("last"), args.output)),
        Some(TraceCommand::Verify { id }) => verify(&traces, id.as_deref(), args.output),
        Some(TraceCommand::Export { id, format }) => done(export(&traces, &find(&traces, &id)?, format)),
    }
}

/// How a run stands, in a word.
fn status(before: &Before) -> &'static str {
    match before.last.as_deref() {
        Some(event::WORKFLOW_COMPLETED) => "completed",
        Some(event::WORKFLOW_FAILED) => "failed",
        Some(event::WORKFLOW_ABORTED) => "aborted",
        Some(event::WORKFLOW_PAUSED) => "paused",
        _ => "not ended",
    }
}

fn list(traces: &State, output: Format) -> Result<(), Failure> {
    let mut rows = vec![["run", "last", "status", "ended", "workflow"].map(str::to_owned).to_vec()];
    let mut objects = Vec::new();
    for log in journal::list(traces)? {
        let lines: Vec<Value> = journal::lines(traces, &log.id)?.filter_map(Result::ok).collect();
        let before = Before::read(lines);
        let last = log.last_at.map(time::readable).unwrap_or_default();
        objects.push(json!({
            "run": log.id, "file": before.file, "status": status(&before), "ended": before.ended.len(),
            "first_at": log.first_at, "last_at": log.last_at, "tokens": before.spent.tokens,
            "cost_micros": before.spent.cost_micros,
        }));
        let ended = before.ended.len().to_string();
        rows.push(vec![log.id, last, status(&before).to_owned(), ended, before.file]);
    }
    if output == Format::Json {
        return Ok(out::pretty(&objects.into())?);
    }
    if objects.is_empty() {
        return Ok(out::line("No workflow was run here yet.")?);
    }
    Ok(out::print(&out::table(&rows))?)
}

fn show(traces: &State, id: &str, output: Format) -> Result<(), Failure> {
    let id = find(traces, id)?;
    let lines: Vec<Value> = journal::lines(traces, &id)?.collect::<Result<_, _>>()?;
    if output == Format::Json {
        return Ok(out::pretty(&lines.into())?);
    }
    let mut said = format!("run {id}\n");
    for line in &lines {
        if let Some(shown) = shown(line) {
            said.push_str(&shown);
            said.push('\n');
        }
    }
    Ok(out::print(&nika_contract::text::harmless(&said))?)
}

/// A line for people; `None` for what says nothing to them.
fn shown(line: &Value) -> Option<String> {
    let text = |name: &str| line[name].as_str().unwrap_or_default();
    let at = time::readable(line["at"].as_u64().unwrap_or(0));
    let unit = match line["element"].as_u64() {
        Some(element) => format!("{}[{element}]", text("task")),
        None => text("task").to_owned(),
    };
    let took = || time::took(line["took_ms"].as_u64().unwrap_or(0));
    let error = || {
        let of = |name: &str| line["error"][name].as_str().unwrap_or_default();
        format!("{} {}", of("code"), of("message"))
    };
    let said = match text("event") {
        event::WORKFLOW_STARTED => format!("{} ({}) began with {}", text("workflow"), text("file"), line["inputs"]),
        event::WORKFLOW_RESUMED => format!("went on: {} ended before", line["ended"]),
        event::TASK_SCHEDULED => format!("{unit}: {} elements", line["count"]),
        event::TASK_STARTED => format!("{unit} began ({}, try {})", text("verb"), line["attempt"]),
        event::TASK_COMPLETED => {
            let output = match line.get("output") {
                Some(output) => nika_contract::text::preview(&output.to_string(), 100),
                None => text("preview").to_owned(),
            };
            format!("{unit} ended in {}: {output}", took())
        }
        event::TASK_FAILED => format!("{unit} failed after {}: {}", took(), error()),
        event::TASK_SKIPPED => format!("{unit} skipped: {}", text("why")),
        event::WORKFLOW_COMPLETED => format!("completed in {}: {}", took(), line["outputs"]),
        event::WORKFLOW_FAILED => format!("failed after {}: {}", took(), error()),
        event::WORKFLOW_ABORTED => format!("aborted after {}: {}", took(), error()),
        event::WORKFLOW_PAUSED => format!("paused after {}", took()),
        _ => return None,
    };
    Some(format!("{at}  {said}"))
}

fn verify(traces: &State, id: Option<&str>, output: Format) -> Result<ExitCode, Failure> {
    let ids = match id {
        Some(id) => vec![find(traces, id)?],
        None => journal::list(traces)?.into_iter().map(|log| log.id).collect(),
    };
    let mut all_hold = true;
    let mut objects = Vec::new();
    for id in ids {
        match journal::verify(traces, &id) {
            Ok(good) => {
                let hash = good.hash.to_string();
                if output == Format::Text {
                    out::line(&format!("ok  {id}  {} lines  {}", good.lines, &hash[..16]))?;
                }
                objects.push(json!({ "run": id, "ok": true, "lines": good.lines, "hash": hash }));
            }
            Err(broken) => {
                all_hold = false;
                if output == Format::Text {
                    out::complain(&format!("{} {broken}", nika_contract::code::JOURNAL_BROKEN));
                }
                objects.push(json!({ "run": id, "ok": false, "line": broken.line, "why": broken.why }));
            }
        }
    }
    if output == Format::Json {
        out::pretty(&objects.into())?;
    }
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::from(failure::FAILED) })
}

fn export(traces: &State, id: &str, format: TraceFormat) -> Result<(), Failure> {
    let exported = match format {
        TraceFormat::Json => Exported::Json,
        TraceFormat::Ndjson => Exported::Ndjson,
        TraceFormat::Yaml => {
            let lines: Vec<Value> = journal::lines(traces, id)?.collect::<Result<_, _>>()?;
            let text = serde_saphyr::to_string(&lines)
                .map_err(|error| Failure::usage(format!("the trace cannot be written as YAML: {error}")))?;
            return Ok(out::verbatim(&text)?);
        }
    };
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    match journal::export(traces, id, exported, &mut stdout) {
        Err(nika_store::StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe => {
            Err(Failure::NobodyListens)
        }
        other => Ok(other?),
    }?;
    stdout.flush()?;
    Ok(())
}
