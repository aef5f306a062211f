//! `nika hooks`: which commands have a say in calls, and what they say about one that is not made.

use std::process::ExitCode;

use nika_contract::code;
use nika_guard::Decision;
use nika_runtime::{HookReport, Rehearsal};
use serde_json::{Map, Value, json};

use crate::args::{self, Format, HooksCommand, HooksTest};
use crate::cmd::one_thread;
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Shown;
use crate::failure::{self, Failure};
use crate::out;
use crate::world::World;

/// The tool of a test where none is named: the first that an agent calls.
const TOOL: &str = "read";

pub fn run(args: args::Hooks) -> Result<ExitCode, Failure> {
    let world = World::look();
    match args.command {
        HooksCommand::List { output, place, standing } => {
            let ground = Ground::find(&world, &place)?;
            let effective = ground.configure(&world, &standing)?;
            list(&compose::build(&world, &ground, effective, Shape::default())?, output)
        }
        HooksCommand::Test(args) => test(&world, &args),
    }
}

fn list(built: &Built, output: Format) -> Result<ExitCode, Failure> {
    let effective = &built.effective;
    // Nothing would be heard: a slip of the pen, or a tool that a rule took away.
    let missing = |hook: &nika_guard::Hook| Some(built.runtime.find(hook.tool.as_deref()?).err()?.message);
    let idle: Vec<&Shown> = effective.inactive.iter().filter(|row| row.key == "hooks").collect();
    if output == Format::Json {
        let hook = |hook: &nika_guard::Hook| {
            json!({
                "on": hook.point.to_string(),
                "tool": hook.tool.as_deref().unwrap_or("*"),
                "run": hook.command.argv(),
                "timeout_ms": hook.timeout_ms,
                "on_failure": hook.on_failure.to_string(),
                "at": hook.command.at(),
                "layer": hook.command.layer().to_string(),
                "missing": missing(hook),
            })
        };
        let inactive: Vec<Value> = idle
            .iter()
            .map(|row| json!({"hook": row.value, "at": row.at, "layer": row.layer, "why": row.why}))
            .collect();
        let hooks: Vec<Value> = effective.hooks.iter().map(hook).collect();
        out::pretty(&json!({"hooks": hooks, "inactive": inactive}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |hook: &nika_guard::Hook| {
        let bounds = format!("{} ms, on failure {}", hook.timeout_ms, hook.on_failure);
        vec![hook.to_string(), bounds, hook.command.at().to_owned(), missing(hook).unwrap_or_default()]
    };
    let mut text = out::table(&effective.hooks.iter().map(row).collect::<Vec<_>>());
    if effective.hooks.is_empty() {
        text.push_str("No hooks are in force.\n");
    }
    if !idle.is_empty() {
        text.push_str("\nNot in force:\n");
        let row = |row: &&Shown| vec![row.value.clone(), row.at.clone(), row.why.clone().unwrap_or_default()];
        text.push_str(&out::table(&idle.iter().map(row).collect::<Vec<_>>()));
    }
    out::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn test(world: &World, args: &HooksTest) -> Result<ExitCode, Failure> {
    let ground = Ground::find(world, &args.place)?;
    let effective = ground.configure(world, &args.standing)?;
    let built = compose::build(world, &ground, effective, Shape::default())?;
    let tool = args.tool.as_deref().unwrap_or(TOOL);
    let example = built.runtime.find(tool)?.spec().examples.first().map_or("{}", |example| example.arguments);
    let arguments: Map<String, Value> = serde_json::from_str(args.json.as_deref().unwrap_or(example))
        .map_err(|error| Failure::usage(format!("--json takes one JSON object: {error}")))?;
    let session = built.runtime.session("hooks-test", false);
    let tried = one_thread()?.block_on(built.runtime.rehearse(&session, tool, arguments))?;
    match args.output {
        Format::Json => out::pretty(&object(&tried))?,
        Format::Text => out::print(&text(&tried))?,
    }
    let all_answered = tried.reports.iter().all(|report| report.outcome.name() == "decided");
    // Of other errors the hooks are not the cause: the example may name what is not here.
    let rewritten = tried.reports.iter().any(|report| report.rewritten().is_some());
    Ok(if all_answered && !misfits(&tried) && (tried.verdict.is_ok() || !rewritten) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(failure::FAILED)
    })
}

/// There are hooks, and none was asked, as the arguments do not fit the tool: nothing was tried.
fn misfits(tried: &Rehearsal) -> bool {
    let unasked = tried.in_force > 0 && tried.reports.is_empty();
    unasked && tried.verdict.as_ref().is_err_and(|error| error.code == code::BAD_ARGUMENTS)
}

fn object(tried: &Rehearsal) -> Value {
    let hook = |report: &HookReport| {
        json!({
            "on": report.hook.point.to_string(),
            "run": report.hook.command.argv(),
            "at": report.hook.command.at(),
            "outcome": report.outcome.name(),
            "detail": report.outcome.detail(),
            "decision": report.decision(),
            "reason": report.reason(),
            "note": report.note(),
            "arguments": report.rewritten(),
            "took_ms": report.took.as_secs_f64() * 1e3,
        })
    };
    let (decision, by, error) = match &tried.verdict {
        Ok((decision, source)) => (decision.name(), Some(source), None),
        Err(error) => (Decision::Deny.name(), None, Some(error.to_string())),
    };
    json!({
        "tool": tried.tool,
        "in_force": tried.in_force,
        "hooks": tried.reports.iter().map(hook).collect::<Vec<_>>(),
        "arguments": tried.arguments,
        "decision": decision,
        "source": by,
        "error": error,
    })
}

fn text(tried: &Rehearsal) -> String {
    let row = |report: &HookReport| {
        let mut what = vec![report.reason().to_owned(), report.outcome.detail()];
        what.extend(report.rewritten().map(|_| "rewrites the arguments".to_owned()));
        what.extend(report.note().map(|note| format!("notes: {note}")));
        what.retain(|text| !text.is_empty());
        vec![
            report.hook.to_string(),
            report.outcome.name().to_owned(),
            report.decision().to_owned(),
            format!("{:.1} ms", report.took.as_secs_f64() * 1e3),
            what.join("; "),
        ]
    };
    let mut text = out::table(&tried.reports.iter().map(row).collect::<Vec<_>>());
    if tried.in_force == 0 {
        text.push_str(&format!("No hook is in force for {}.\n", tried.tool));
    } else if tried.reports.is_empty() {
        let why = if misfits(tried) {
            format!("the arguments do not fit {}", tried.tool)
        } else {
            "the call would not be made".into()
        };
        text.push_str(&format!("No hook was asked: {why}.\n"));
    }
    text.push_str(&format!("\nThe call: {} {}\n", tried.tool, Value::Object(tried.arguments.clone())));
    text.push_str(&match &tried.verdict {
        Ok((decision, source)) => format!("It would be: {}, by {source}\n", decision.name()),
        Err(error) => format!("It would be refused: {}\n", failure::text(error)),
    });
    text
}
