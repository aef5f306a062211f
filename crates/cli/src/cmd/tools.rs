//! `nika tools`: the whole surface, or one tool of it.

use std::fmt::Write as _;
use std::sync::Arc;

use nika_contract::Example;
use nika_runtime::{Dialect, Listed, Runtime};
use serde_json::{Value, json};

use crate::args::{self, Standing, ToolsShow, Where};
use crate::compose::{self, Ground, Shape};
use crate::failure::Failure;
use crate::out;
use crate::world::World;

pub fn run(args: args::Tools) -> Result<(), Failure> {
    if let Some(ToolsShow::Show { tool, json }) = args.show {
        return show(&tool, json);
    }
    let tools = runtime(args.dialect)?.described();
    if args.json {
        return Ok(out::pretty(&tools.iter().map(object).collect())?);
    }
    let mut text = String::new();
    let mut groups: Vec<&str> = tools.iter().map(|tool| tool.spec.group.name()).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let of_group = tools.iter().filter(|tool| tool.spec.group.name() == group);
        let row = |tool: &Listed| vec![format!("  {}", tool.name), tool.title.to_owned(), parameters(tool)];
        let rows: Vec<Vec<String>> = of_group.map(row).collect();
        let _ = write!(text, "{group}\n{}", out::table(&rows));
    }
    text.push_str("\n! is required. `nika tools show NAME` has the schema and examples.\n");
    Ok(out::print(&text)?)
}

/// Every tool, under canonical names.
pub fn whole_surface() -> Result<Vec<Listed>, Failure> {
    Ok(runtime(None)?.described())
}

/// Prints one tool.
pub fn show(name: &str, as_json: bool) -> Result<(), Failure> {
    let runtime = runtime(None)?;
    let tool = Listed::new(runtime.find(name)?.as_ref(), Dialect::Nika, false);
    if as_json {
        return Ok(out::pretty(&object(&tool))?);
    }
    let mut text = format!("{}: {}\n\n{}\n", tool.name, tool.title, tool.description.trim_end());
    let _ = writeln!(text, "\nEffects: {}.", effects(&tool));
    let others: Vec<String> = Dialect::ALL
        .into_iter()
        .filter(|dialect| dialect.tool(tool.canonical) != tool.canonical)
        .map(|dialect| format!("{} ({dialect})", dialect.tool(tool.canonical)))
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "Also called: {}.", others.join(", "));
    }
    let _ = writeln!(text, "Answer: at most {} characters; the rest is kept in a file.", tool.spec.max_output_chars);
    let _ = writeln!(text, "\nParameters:\n{}", describe(&tool.input_schema));
    let _ = writeln!(text, "Schema:\n{:#}", tool.input_schema);
    if let Some(schema) = &tool.output_schema {
        let _ = writeln!(text, "\nStructured result:\n{schema:#}");
    }
    for example in tool.spec.examples {
        let _ = write!(text, "\nExample: {}\n{}", example.title, command(tool.canonical, example));
    }
    text.push_str("\nCodes that begin a refusal or failure: `nika explain CODE`.\n");
    Ok(out::print(&text)?)
}

/// The pipeline as the current directory has it: rules there may have removed tools.
fn runtime(dialect: Option<Dialect>) -> Result<Arc<Runtime>, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &Where::default())?;
    let effective = ground.configure(&world, &Standing::default())?;
    // Canonical names unless asked otherwise: what `serve` lists is configuration's business, not this page's.
    // What only a caller with a schema gets belongs on the page, too.
    let shape = Shape { dialect: Some(dialect.unwrap_or_default()), objects: true, ..Shape::default() };
    Ok(compose::build(&world, &ground, effective, shape)?.runtime)
}

fn effects(tool: &Listed) -> &'static str {
    match tool.spec {
        _ if tool.canonical == "call" => "those of the tool it calls",
        spec if spec.read_only => "never changes anything",
        spec if spec.destructive => "writes; may remove what was there, and `undo` brings it back",
        _ => "writes",
    }
}

/// Everything about a tool, as data.
pub fn object(tool: &Listed) -> Value {
    let spec = tool.spec;
    let example = |example: &Example| {
        let parsed: Value = serde_json::from_str(example.arguments).unwrap_or_else(|_| example.arguments.into());
        let call = |(tool, arguments): &(&str, &str)| {
            json!([tool, serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| (*arguments).into())])
        };
        let before: Vec<Value> = example.before.iter().map(call).collect();
        json!({
            "title": example.title, "files": example.files, "before": before, "arguments": parsed,
            "answer": example.answer,
        })
    };
    json!({
        "name": tool.name,
        "canonical": tool.canonical,
        "title": tool.title,
        "group": spec.group.name(),
        "eager": spec.eager,
        "description": tool.description,
        "parameters": parameter_names(&tool.input_schema),
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "read_only": spec.read_only,
        "destructive": spec.destructive,
        "idempotent": spec.idempotent,
        "open_world": spec.open_world,
        "max_output_chars": spec.max_output_chars,
        "examples": spec.examples.iter().map(example).collect::<Vec<_>>(),
    })
}

fn parameters(tool: &Listed) -> String {
    parameter_names(&tool.input_schema).join(" ")
}

/// Parameters in the schema's order, `!` behind those that are required.
fn parameter_names(schema: &Value) -> Vec<String> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mark = |name: &str| if required.contains(&name) { "!" } else { "" };
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("{name}{}", mark(name))).collect()
}

fn describe(schema: &Value) -> String {
    let names = parameter_names(schema);
    let about = |name: &String| {
        let field = &schema["properties"][name.trim_end_matches('!')];
        let kind = field["type"].as_str().unwrap_or_default().to_owned();
        vec![format!("  {name}"), kind, field["description"].as_str().unwrap_or_default().replace('\n', " ")]
    };
    out::table(&names.iter().map(about).collect::<Vec<_>>())
}

/// An example as a command line, with the files it wants.
fn command(tool: &str, example: &Example) -> String {
    let quoted = example.arguments.replace('\'', r"'\''");
    let call = format!("  nika call {tool} --json '{quoted}'\n");
    let files: Vec<&str> = example.files.iter().map(|(path, _)| *path).collect();
    if files.is_empty() { call } else { format!("{call}  (with {})\n", files.join(", ")) }
}
