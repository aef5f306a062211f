//! `nika check`: what is wrong with workflows, before they run.

mod script;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use nika_contract::text::harmless;
use nika_contract::{ToolError, code};
use nika_flow::check::{Checked, Need, block};
use nika_flow::finding::{Finding, Weight, excerpt, show};
use nika_flow::{MAX_BYTES, picture};
use nika_guard::PermitKind;
use serde_json::{Map, Value, json};

use crate::args::{self, Picture};
use crate::compose::Ground;
use crate::failure::{FAILED, Failure};
use crate::flows::Around;
use crate::out;
use crate::world::World;

pub fn run(args: &args::Check) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let effective = ground.configure(&world, &args.standing)?;
    let around = Around::new(world, ground, effective, args.standing.clone(), args.strict);
    if args.graph.is_some() && args.files.len() > 1 {
        return Err(Failure::usage("--graph draws one workflow at a time"));
    }
    let mut clean = true;
    let mut shown = Vec::new();
    for file in &args.files {
        let (name, text) = read(file)?;
        if script::is_one(file) {
            let fault = script::check(&name, &text);
            clean &= fault.is_none();
            let said = fault.as_ref().map_or_else(|| format!("{name}: fine, a script"), ToString::to_string);
            // Stdout holds findings, unless a picture or a statement was asked for.
            match (args.graph, args.infer_permits) {
                _ if args.json => shown.push(script::object(&name, fault.as_ref())),
                (None, false) => out::print(&format!("{}\n", harmless(&said)))?,
                (Some(_), _) => return Err(Failure::usage("--graph draws a workflow, and this is a script")),
                (None, true) => out::note(&format!("{}\n", harmless(&said))),
            }
            continue;
        }
        let checked = nika_flow::check(&text, &name, &around);
        clean &= checked.is_clean();
        match args.graph {
            Some(format) => match &checked.flow {
                Some(flow) if checked.is_clean() => draw(flow, format, args.output.as_deref())?,
                _ => complain(&name, &text, &checked, around.colours_in_errors()),
            },
            None if args.json => shown.push(object(&name, &text, &checked)),
            None if args.infer_permits => {
                // Where it cannot be read, nobody knows what it needs.
                if checked.flow.is_none() {
                    complain(&name, &text, &checked, around.colours_in_errors());
                } else {
                    out::print(&statement(&checked.needs))?;
                }
            }
            None => out::print(&report(&name, &text, &checked, around.colours()))?,
        }
    }
    if args.json {
        out::pretty(&json!({"clean": clean, "files": shown}))?;
    }
    // A statement that was asked for is no fault of the document that lacks it.
    let done = clean || (args.infer_permits && !args.json);
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// A file's name as findings show it, and its text.
pub(super) fn read(file: &Path) -> Result<(String, String), Failure> {
    let name = if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() };
    let failed = |why: String| -> Failure {
        ToolError::new(code::BAD_ARGUMENTS, format!("{} cannot be read: {why}", harmless(&name))).into()
    };
    let mut bytes = Vec::new();
    // One byte more than is taken says that it is too large.
    let most = MAX_BYTES as u64 + 1;
    if file.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    } else {
        let about = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
        if !about.is_file() {
            return Err(failed("it is no regular file".to_owned()));
        }
        let opened = std::fs::File::open(file).map_err(|error| failed(error.to_string()))?;
        opened.take(most).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        failed(format!("line {} is not UTF-8", line + 1))
    })?;
    Ok((name, text))
}

/// Findings and a line that sums up.
fn report(name: &str, text: &str, checked: &Checked, colours: bool) -> String {
    let mut report = String::new();
    for finding in &checked.findings {
        let shown = show(&harmless(name), text, finding);
        report.push_str(&if colours { painted(&shown, finding.weight) } else { shown });
        report.push('\n');
    }
    report.push_str(&format!("{}: {}\n", harmless(name), summary(checked)));
    if checked.flow.as_ref().is_some_and(|flow| flow.permits.is_none()) && checked.is_clean() {
        report.push_str(
            "An older document states nothing that it may do. This is what it needs, and is asked about:\n\n",
        );
        report.push_str(&statement(&checked.needs));
    }
    report
}

/// Findings on stderr, where stdout holds something else.
fn complain(name: &str, text: &str, checked: &Checked, colours: bool) {
    out::note(&report(name, text, checked, colours));
}

/// The code in bold, carets in a colour.
fn painted(shown: &str, weight: Weight) -> String {
    let colour = if weight == Weight::Error { "31" } else { "33" };
    let mut painted = String::new();
    for (number, line) in shown.lines().enumerate() {
        let carets = line.trim_start_matches([' ', '|']).chars().all(|c| c == '^') && line.contains('^');
        match line.split_once(" NIKA-") {
            Some((place, rest)) if number == 0 => {
                painted.push_str(&format!(
                    "\x1b[1m{place}\x1b[0m \x1b[1;{colour}mNIKA-{}\x1b[0m",
                    &rest[..3.min(rest.len())]
                ));
                painted.push_str(rest.get(3..).unwrap_or_default());
            }
            _ if carets => {
                let at = line.find('^').unwrap_or_default();
                painted.push_str(&format!("{}\x1b[{colour}m{}\x1b[0m", &line[..at], &line[at..]));
            }
            _ => painted.push_str(line),
        }
        painted.push('\n');
    }
    painted
}

fn summary(checked: &Checked) -> String {
    let count = |weight: Weight, word: &str| match checked.findings.iter().filter(|f| f.weight == weight).count() {
        0 => None,
        1 => Some(format!("1 {word}")),
        count => Some(format!("{count} {word}s")),
    };
    let found: Vec<String> =
        [count(Weight::Error, "error"), count(Weight::Note, "note")].into_iter().flatten().collect();
    let tasks = checked.flow.as_ref().map_or(0, |flow| flow.tasks.len());
    let tasks = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
    let cost = match (checked.ceiling.tasks, checked.ceiling.cost_micros) {
        (0, _) => String::new(),
        (_, Some(micros)) => format!("; models cost at most ${:.2}", micros as f64 / 1e6),
        (_, None) => format!("; what models can cost is not known: {}", checked.ceiling.unknown.join("; ")),
    };
    match (checked.is_clean(), found.is_empty()) {
        (true, true) => format!("fine, {tasks}{cost}"),
        (true, false) => format!("fine, {tasks}, {}{cost}", found.join(", ")),
        (false, _) => found.join(", "),
    }
}

fn draw(flow: &nika_flow::model::Flow, format: Picture, to: Option<&Path>) -> Result<(), Failure> {
    let text = match format {
        Picture::Svg => picture::svg(flow),
        Picture::Mermaid => picture::mermaid(flow),
    };
    match to {
        None => Ok(out::print(&text)?),
        Some(file) => std::fs::write(file, text).map_err(|error| {
            ToolError::new(code::WRITE_FAILED, format!("{} cannot be written: {error}", file.display())).into()
        }),
    }
}

/// `permits`, ready to be put into the document.
pub fn statement(needs: &[Need]) -> String {
    let lines = block(needs);
    if lines.is_empty() {
        return "permits: {}\n".to_owned();
    }
    let of = |kind: PermitKind| {
        let texts: Vec<String> = lines.iter().filter(|(of, _)| *of == kind).map(|(_, text)| quoted(text)).collect();
        (!texts.is_empty()).then(|| format!("[{}]", texts.join(", ")))
    };
    let mut statement = "permits:\n".to_owned();
    let files: Vec<String> = [(PermitKind::Read, "read"), (PermitKind::Write, "write")]
        .into_iter()
        .filter_map(|(kind, key)| Some(format!("    {key}: {}\n", of(kind)?)))
        .collect();
    if !files.is_empty() {
        statement.push_str(&format!("  fs:\n{}", files.concat()));
    }
    for kind in [PermitKind::Net, PermitKind::Exec, PermitKind::Tool, PermitKind::Env] {
        if let Some(texts) = of(kind) {
            statement.push_str(&format!("  {}: {texts}\n", kind.key()));
        }
    }
    statement
}

/// A text of a YAML list.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

fn object(name: &str, text: &str, checked: &Checked) -> Value {
    let finding = |finding: &Finding| {
        let (line, carets) = excerpt(text, finding.at);
        json!({
            "code": finding.code.to_string(),
            "weight": if finding.is_error() { "error" } else { "note" },
            "message": finding.message,
            "line": finding.at.line,
            "column": finding.at.column,
            "length": finding.at.length,
            "excerpt": line,
            "caret": carets,
            "suggestion": finding.suggestion,
        })
    };
    let mut needs = Map::new();
    for (kind, text) in block(&checked.needs) {
        let lines = needs.entry(kind.key()).or_insert_with(|| Value::Array(Vec::new()));
        if let Some(lines) = lines.as_array_mut() {
            lines.push(text.into());
        }
    }
    json!({
        "file": name,
        "clean": checked.is_clean(),
        "name": checked.flow.as_ref().map(|flow| &flow.name),
        "schema": checked.flow.as_ref().map(|flow| &flow.version),
        "tasks": checked.flow.as_ref().map_or(0, |flow| flow.tasks.len()),
        "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
        "needs": needs,
        "cost": {
            "model_tasks": checked.ceiling.tasks,
            "at_most_micros": checked.ceiling.cost_micros,
            "unknown": checked.ceiling.unknown,
        },
    })
}
