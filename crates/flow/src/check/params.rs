//! The parameters of calls against the schemas of what is called: unknown names, missing ones, values of another type.
//! What a template makes is judged where its type is sure, which is at run time for the most part.

use nika_contract::code;
use serde_json::{Map, Value};

use super::Surroundings;
use crate::finding::Finding;
use crate::model::{At, Called, Dynamic, Flow, Index, Span, Verb};
use crate::read::{meant, read};
use crate::template::{is_template, source};

/// Looks at every call.
pub(super) fn check(flow: &Flow, unbroken: &[Index], around: &dyn Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in unbroken {
        let task = &flow.tasks[*index];
        if let Verb::Agent(agent) = &task.verb {
            agent.tools.iter().flatten().for_each(|name| findings.extend(unknown(name, around)));
        }
        let Verb::Invoke(invoke) = &task.verb else { continue };
        match &invoke.what {
            Called::Tool(name) => match around.tool(nika_guard::names::canonical(&name.value)) {
                Some(facts) => fits(&invoke.params, &facts.input, &name.value, name.at, &mut findings),
                None => findings.extend(unknown(name, around)),
            },
            Called::Workflow(path) => workflow(path, &invoke.params, around, &mut findings),
            Called::Resource { .. } => {}
        }
    }
    findings
}

/// A tool that there is not. A server's tool is known only where servers were asked.
fn unknown(name: &At<String>, around: &dyn Surroundings) -> Option<Finding> {
    if around.tool(nika_guard::names::canonical(&name.value)).is_some() {
        return None;
    }
    let known = around.tools();
    if known.is_empty() {
        return None;
    }
    if name.value.starts_with("mcp__") {
        return around.strict().then(|| {
            if let Some(why) = around.missing(&name.value) {
                return Finding::error(code::FLOW_UNKNOWN, name.at, format!("`{}` cannot be looked at", name.value))
                    .suggest(why);
            }
            let message = format!("no configured server has the tool `{}`", name.value);
            let near = meant(&name.value, known.iter().map(String::as_str)).filter(|meant| meant.starts_with("did"));
            Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest_some(near)
        });
    }
    if name.value.contains(['*', '?', '[']) {
        return None;
    }
    let message = format!("there is no tool `{}`", name.value);
    let near = meant(&name.value, known.iter().map(String::as_str)).filter(|meant| meant.starts_with("did"));
    let suggestion = near.unwrap_or_else(|| "`nika tools` lists them".to_owned());
    Some(Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest(suggestion))
}

/// Another workflow's inputs are its parameters.
fn workflow(path: &At<String>, params: &Dynamic, around: &dyn Surroundings, findings: &mut Vec<Finding>) {
    let Some(text) = around.file(&path.value) else {
        // Where nobody can look, nobody misses it.
        if !around.tools().is_empty() {
            let message = format!("there is no workflow {} below the workspace", path.value);
            findings.push(Finding::error(code::FLOW_UNKNOWN, path.at, message));
        }
        return;
    };
    let Ok(flow) = read(&text, &path.value) else {
        let message = format!("the workflow {} has findings of its own", path.value);
        let hint = format!("`nika check {}` shows them", path.value);
        findings.push(Finding::error(code::FLOW_FAULTY, path.at, message).suggest(hint));
        return;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for input in &flow.inputs {
        use crate::model::Kind;
        let kind = match input.kind {
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::List => "array",
            Kind::Object => "object",
        };
        properties.insert(input.name.value.clone(), serde_json::json!({"type": kind}));
        if input.default.is_none() {
            required.push(input.name.value.clone());
        }
    }
    let schema = serde_json::json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    fits(params, &schema, &path.value, path.at, findings);
}

/// Arguments against a schema.
fn fits(params: &Dynamic, schema: &Value, tool: &str, at: Span, findings: &mut Vec<Finding>) {
    let Dynamic::Object(entries) = params else { return };
    object(entries, schema, &format!("`{tool}`"), at, findings);
}

fn object(entries: &[(At<String>, Dynamic)], schema: &Value, what: &str, at: Span, findings: &mut Vec<Finding>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (key, value) in entries {
        match properties.get(&key.value) {
            Some(schema) => value_fits(value, schema, &format!("`{}` of {what}", key.value), key.at, findings),
            None if closed => {
                let message = format!("{what} has no parameter `{}`", key.value);
                let near = meant(&key.value, properties.keys().map(String::as_str));
                findings.push(Finding::error(code::FLOW_PARAMS, key.at, message).suggest_some(near));
            }
            None => {}
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !entries.iter().any(|(key, _)| key.value == name) {
            let message = format!("{what} needs the parameter `{name}`");
            let about = properties.get(name).and_then(|schema| schema.get("description")).and_then(Value::as_str);
            let about = about.map(|text| nika_contract::text::preview(text, 120));
            findings.push(Finding::error(code::FLOW_PARAMS, at, message).suggest_some(about));
        }
    }
}

fn value_fits(value: &Dynamic, schema: &Value, what: &str, key: Span, findings: &mut Vec<Finding>) {
    let (at, found) = match value {
        Dynamic::Plain(Value::Null) => return,
        Dynamic::Plain(plain) => (key, plain_kind(plain)),
        Dynamic::Text(template) if is_template(&template.text) => {
            // A template among other words makes text; one alone makes whatever it is.
            if source(&template.text).whole {
                return;
            }
            (template.at, "string")
        }
        Dynamic::Text(template) => (template.at, "string"),
        Dynamic::List(_) => (key, "array"),
        Dynamic::Object(_) => (key, "object"),
    };
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let takes = |kind: &&str| *kind == found || (*kind == "number" && found == "integer");
    if !kinds.is_empty() && !kinds.iter().any(takes) {
        let message = format!("{what} takes {}, and this is {}", kinds.join(" or "), worded(found));
        let hint = match (found, value) {
            ("string", Dynamic::Text(template)) if template.text.parse::<f64>().is_ok() && takes_number(&kinds) => {
                Some(format!("without quotes: {}", template.text))
            }
            ("string", Dynamic::Text(template)) if kinds.contains(&"array") => Some(format!("[{}]", template.text)),
            _ => None,
        };
        findings.push(Finding::error(code::FLOW_PARAMS, at, message).suggest_some(hint));
        return;
    }
    let literal = super::needs::literal(value);
    if let (Some(Value::Array(choices)), Some(literal)) = (schema.get("enum"), &literal)
        && !choices.contains(literal)
    {
        let names: Vec<String> =
            choices.iter().map(|choice| choice.as_str().map_or(choice.to_string(), str::to_owned)).collect();
        let message = format!("{what} takes {}, and not {literal}", names.join(", "));
        let near = meant(literal.as_str().unwrap_or_default(), names.iter().map(String::as_str));
        findings.push(
            Finding::error(code::FLOW_PARAMS, at, message).suggest_some(near.filter(|meant| meant.starts_with("did"))),
        );
    }
    let number = literal.as_ref().and_then(Value::as_f64);
    for (bound, word) in [("minimum", "at least"), ("maximum", "at most")] {
        if let (Some(bound_at), Some(number)) = (schema.get(bound).and_then(Value::as_f64), number)
            && ((bound == "minimum" && number < bound_at) || (bound == "maximum" && number > bound_at))
        {
            findings.push(Finding::error(
                code::FLOW_PARAMS,
                at,
                format!("{what} takes {word} {bound_at}, and not {number}"),
            ));
        }
    }
    match value {
        Dynamic::List(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter().for_each(|item| value_fits(item, schema, &format!("an element of {what}"), key, findings));
            }
        }
        Dynamic::Object(entries) => object(entries, schema, what, key, findings),
        _ => {}
    }
}

fn takes_number(kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| matches!(*kind, "number" | "integer"))
}

fn plain_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn worded(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "number" | "integer" => "a number",
        "string" => "text",
        "array" => "a list",
        "object" => "names and values",
        _ => "nothing",
    }
}
