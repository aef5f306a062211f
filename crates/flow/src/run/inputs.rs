//! What a workflow is given: `NAME=VALUE` by the kind of each input, values of a file, defaults.

use nika_contract::text::near_names;
use nika_contract::{ToolError, code};
use serde_json::{Map, Value};

use crate::model::{Flow, Input, Kind};

/// Makes inputs of what was said: texts by name, laid over `values`; then defaults. Every problem at once.
pub fn gather(
    flow: &Flow,
    values: Map<String, Value>,
    said: &[(String, String)],
) -> Result<Map<String, Value>, ToolError> {
    let (mut given, mut wrong) = (values, Vec::new());
    // Told of already: a value that cannot be read is not missing, too.
    let mut told: Vec<&str> = Vec::new();
    for (name, text) in said {
        match flow.inputs.iter().find(|input| input.name.value == *name) {
            Some(input) => match read(input.kind, text) {
                Ok(value) => _ = given.insert(name.clone(), value),
                Err(why) => {
                    told.push(name);
                    wrong.push(format!("`{name}` {why}, not `{}`", nika_contract::text::preview(text, 60)));
                }
            },
            None => _ = given.insert(name.clone(), Value::String(text.clone())),
        }
    }
    let known: Vec<&str> = flow.inputs.iter().map(|input| input.name.value.as_str()).collect();
    for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
        let near = near_names(name, known.iter().map(|name| (*name).to_owned()), 1);
        let hint = match (near.first(), known.as_slice()) {
            (Some(near), _) => format!("; `{near}`?"),
            (None, []) => "; it takes none".to_owned(),
            (None, all) => format!("; it takes {}", all.join(", ")),
        };
        wrong.push(format!("`{name}` is no input of it{hint}"));
    }
    let mut inputs = Map::new();
    for input in &flow.inputs {
        let name = &input.name.value;
        match given.remove(name).or_else(|| input.default.clone()) {
            Some(value) if fits(input.kind, &value) => _ = inputs.insert(name.clone(), value),
            Some(_) => wrong.push(format!("`{name}` {}", takes(input.kind))),
            None if told.contains(&name.as_str()) => {}
            None => wrong.push(missing(input)),
        }
    }
    wrong.dedup();
    match wrong.as_slice() {
        [] => Ok(inputs),
        wrong => Err(ToolError::new(code::RUN_INPUT, format!("inputs of `{}`: {}", flow.name, wrong.join("; ")))
            .hint("nika run FILE NAME=VALUE, or --input-file with a JSON object; `arguments` of workflow_run")),
    }
}

fn missing(input: &Input) -> String {
    let about = input.description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
    format!("`{}`{about} is missing, and {}", input.name.value, takes(input.kind))
}

fn takes(kind: Kind) -> &'static str {
    match kind {
        Kind::String => "takes a text",
        Kind::Number => "takes a number",
        Kind::Boolean => "takes true or false",
        Kind::List => "takes a JSON list",
        Kind::Object => "takes a JSON object",
    }
}

fn read(kind: Kind, text: &str) -> Result<Value, &'static str> {
    let json = || serde_json::from_str::<Value>(text).ok();
    let value = match kind {
        Kind::String => Some(Value::String(text.to_owned())),
        Kind::Number | Kind::Boolean | Kind::Object => json(),
        // A list of texts is often typed with commas.
        Kind::List => json().filter(Value::is_array).or_else(|| {
            let plain = !text.trim_start().starts_with(['[', '{', '"']);
            plain.then(|| Value::Array(text.split(',').map(|item| Value::String(item.trim().to_owned())).collect()))
        }),
    };
    value.filter(|value| fits(kind, value)).ok_or(takes(kind))
}

fn fits(kind: Kind, value: &Value) -> bool {
    match kind {
        Kind::String => value.is_string(),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::List => value.is_array(),
        Kind::Object => value.is_object(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::{at, flow};
    use serde_json::json;

    fn taking(inputs: &[(&str, Kind, Option<Value>)]) -> Flow {
        let input = |(name, kind, default): &(&str, Kind, Option<Value>)| Input {
            name: at((*name).to_owned()),
            kind: *kind,
            description: None,
            default: default.clone(),
        };
        Flow { inputs: inputs.iter().map(input).collect(), ..flow(Vec::new()) }
    }

    fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn texts_become_what_each_input_takes() {
        let flow = taking(&[
            ("s", Kind::String, None),
            ("n", Kind::Number, None),
            ("b", Kind::Boolean, Some(json!(false))),
            ("l", Kind::List, None),
            ("o", Kind::Object, Some(json!({}))),
        ]);
        let inputs = gather(&flow, Map::new(), &said(&[("s", "12"), ("n", "1.5"), ("l", "a, b"), ("b", "true")]));
        assert_eq!(inputs.map(Value::Object), Ok(json!({"s": "12", "n": 1.5, "b": true, "l": ["a", "b"], "o": {}})));
        let inputs = gather(&flow, Map::new(), &said(&[("s", ""), ("n", "0"), ("l", r#"[1, "a,b"]"#)]));
        assert_eq!(inputs.expect("they fit")["l"], json!([1, "a,b"]));
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let flow = taking(&[("words", Kind::String, None), ("most", Kind::Number, None)]);
        let error = gather(&flow, Map::new(), &said(&[("wrods", "x"), ("most", "many")])).expect_err("all wrong");
        for piece in ["`most` takes a number", "`wrods` is no input", "`words`?", "`words` is missing"] {
            assert!(error.message.contains(piece), "{piece}: {error}");
        }
        assert!(!error.message.contains("`most` is missing"), "told once: {error}");
        let values = json!({"words": 3, "most": 3}).as_object().cloned().expect("an object");
        assert!(gather(&flow, values, &[]).expect_err("a number").message.contains("`words` takes a text"));
    }
}
