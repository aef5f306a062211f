//! `nika check`: what is wrong with workflows, before they run.

mod beside;

use std::path::Path;
use std::process::ExitCode;

use nika_contract::text::harmless;
use nika_contract::{ToolError, code};
use nika_flow::check::{Checked, Need, block};
use nika_flow::finding::{Finding, Weight, excerpt, show};
use nika_flow::picture;
use nika_guard::PermitKind;
use serde_json::{Map, Value, json};

use crate::args::{self, Picture};
use crate::compose::Ground;
use crate::failure::{self, FAILED, Failure};
use crate::flows::{self, Around};
use crate::out;
use crate::render;
use crate::world::World;

pub fn run(args: &args::Check) -> Result<ExitCode, Failure> {
    if args.schema {
        out::pretty(&nika_flow::schema::schema())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.graph.is_some() && args.files.len() > 1 {
        return Err(Failure::usage("--graph draws one workflow at a time"));
    }
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let effective = ground.configure(&world, &args.standing)?;
    let around = Around::new(world, ground, effective, args.strict);
    let mut all = All { clean: true, unread: None, shown: Vec::new() };
    for file in &args.files {
        match flows::text_below(around.root(), file) {
            Ok(text) => look(file, &named(file), &text, args, &around, &mut all)?,
            Err(Failure::Error(error)) => all.unread(file, error, args.json),
            Err(nobody) => return Err(nobody),
        }
    }
    if args.json {
        // Of a file that cannot be read, the object is also that of the failure.
        let mut object = all.unread.as_ref().map_or_else(|| json!({}), |error| render::error_object(error, None));
        object["clean"] = all.clean.into();
        object["files"] = all.shown.into();
        out::pretty(&object)?;
    }
    Ok(match (all.unread, all.clean) {
        (Some(error), _) => ExitCode::from(failure::exit(error.code)),
        (None, true) => ExitCode::SUCCESS,
        (None, false) => ExitCode::from(FAILED),
    })
}

/// What came of all files so far.
struct All {
    clean: bool,
    /// Why a file could not be read: the command ends by it.
    unread: Option<ToolError>,
    /// Of each file, for `--json`.
    shown: Vec<Value>,
}

impl All {
    /// A file that cannot be read is said, and the others are looked at all the same.
    fn unread(&mut self, file: &Path, error: ToolError, as_json: bool) {
        self.clean = false;
        self.shown.push(beside::unread(&file.display().to_string(), Some(&error)));
        if !as_json {
            out::complain(&format!("error: {}", failure::text(&error)));
        }
        self.unread = Some(error);
    }
}

/// One file.
fn look(
    file: &Path,
    name: &str,
    text: &str,
    args: &args::Check,
    around: &Around,
    all: &mut All,
) -> Result<(), Failure> {
    if let Some(kind) = beside::kind(file) {
        let fault = kind.check(name, text);
        all.clean &= fault.is_none();
        let said = fault.as_ref().map_or_else(|| format!("{name}: fine, a {}", kind.what), ToString::to_string);
        // Stdout holds findings, unless a picture or a statement was asked for.
        match (args.graph, args.infer_permits) {
            _ if args.json => all.shown.push(kind.object(name, fault.as_ref())),
            (None, false) => out::print(&format!("{}\n", harmless(&said)))?,
            (Some(_), _) => {
                return Err(Failure::usage(format!("--graph draws a workflow, and this is a {}", kind.what)));
            }
            (None, true) => out::note(&format!("{}\n", harmless(&said))),
        }
        return Ok(());
    }
    let mut checked = nika_flow::check(text, name, around);
    match args.graph {
        Some(format) => match &checked.flow {
            Some(flow) if checked.is_clean() => draw(flow, format, args.output.as_deref())?,
            _ => complain(name, text, &checked, around.colours_in_errors()),
        },
        None if args.json => all.shown.push(object(name, text, &checked)),
        None if args.infer_permits => {
            // A statement that was asked for is no fault of the document that lacks it; all else is.
            checked.findings.retain(|finding| finding.is_error() && !lacks_a_line(finding));
            if !checked.is_clean() {
                complain(name, text, &checked, around.colours_in_errors());
            }
            // Where it cannot be read, nobody knows what it needs.
            if checked.flow.is_some() {
                out::verbatim(&statement(&checked.needs))?;
            }
        }
        None => out::verbatim(&report(name, text, &checked, around.colours()))?,
    }
    all.clean &= checked.is_clean();
    Ok(())
}

/// Whether a line of `permits` would mend it.
fn lacks_a_line(finding: &Finding) -> bool {
    finding.code == code::FLOW_PERMIT && finding.suggestion.is_some()
}

/// A file's name as findings show it.
fn named(file: &Path) -> String {
    if file.as_os_str() == "-" { "stdin".to_owned() } else { file.display().to_string() }
}

/// A file's name as findings show it, and its text.
pub(super) fn read(file: &Path) -> Result<(String, String), Failure> {
    Ok((named(file), flows::text_of(file)?))
}

/// Findings and a line that sums up.
fn report(name: &str, text: &str, checked: &Checked, colours: bool) -> String {
    let mut report = String::new();
    for finding in &checked.findings {
        let shown = harmless(&show(name, text, finding)).into_owned();
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
        None => Ok(out::verbatim(&text)?),
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
