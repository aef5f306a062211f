//! The published JSON schema of a document, for editors: made of the table of keys that the reader refuses by.

use serde_json::{Map, Value, json};

use crate::shape::{DEFINED, DOCUMENT, Shape, VERBS};

/// What the schema is called, wherever it lies.
const ID: &str = "urn:nika:workflow:1";

/// The schema of `nika/workflow@1`, draft 2020-12.
pub fn schema() -> Value {
    let mut defs = Map::new();
    for (name, shape) in DEFINED {
        defs.insert((*name).to_owned(), object(shape));
    }
    let name = r"^[A-Za-z_][A-Za-z0-9_]{0,99}$";
    let id = r"^[A-Za-z_][A-Za-z0-9_-]{0,99}$";
    defs.insert("name".to_owned(), json!({"type": "string", "pattern": name}));
    defs.insert("id".to_owned(), json!({"type": "string", "pattern": id, "description": "The id of a task."}));
    let duration = r"^\s*([0-9.]+(ms|s|m|h|d)\s*)+$";
    defs.insert(
        "duration".to_owned(),
        json!({"type": "string", "pattern": duration, "description": "A time: 30s, 5m, 1h30m, 500ms."}),
    );
    defs.insert("word".to_owned(), json!({"type": ["string", "number", "boolean"]}));
    defs.insert(
        "texts".to_owned(),
        json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
    );
    let verbs: Vec<Value> = VERBS.iter().map(|verb| json!({"required": [verb]})).collect();
    if let Some(task) = defs.get_mut("task").and_then(Value::as_object_mut) {
        task.insert("oneOf".to_owned(), verbs.into());
    }
    if let Some(exec) = defs.get_mut("exec").and_then(Value::as_object_mut) {
        exec.insert("oneOf".to_owned(), json!([{"required": ["command"]}, {"required": ["shell"]}]));
    }
    if let Some(invoke) = defs.get_mut("invoke").and_then(Value::as_object_mut) {
        let one = json!([{"required": ["tool"]}, {"required": ["mcp", "resource"]}, {"required": ["workflow"]}]);
        invoke.insert("oneOf".to_owned(), one);
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("$id".to_owned(), ID.into());
    schema.insert("title".to_owned(), "A workflow of Nika: nika/workflow@1".into());
    schema.extend(object(&DOCUMENT).as_object().cloned().unwrap_or_default());
    schema.insert("$defs".to_owned(), defs.into());
    Value::Object(schema)
}

fn object(shape: &Shape) -> Value {
    let mut properties = Map::new();
    for key in shape.keys {
        let takes: Value = serde_json::from_str(key.takes).expect("the table holds JSON");
        // A schema that takes anything is `true`, and has no place for words.
        let mut takes = if takes == Value::Bool(true) { json!({}) } else { takes };
        if let Some(takes) = takes.as_object_mut() {
            takes.insert("description".to_owned(), key.says.into());
        }
        properties.insert(key.name.to_owned(), takes);
    }
    let required: Vec<&str> = shape.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let Some(object) = object.as_object_mut().filter(|_| !required.is_empty()) {
        object.insert("required".to_owned(), required.into());
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `$ref` of a schema.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                found.extend(entries.get("$ref").and_then(Value::as_str).map(str::to_owned));
                entries.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_definition_is_used() {
        let schema = schema();
        let mut found = Vec::new();
        references(&schema, &mut found);
        let defs = schema["$defs"].as_object().expect("there are definitions");
        for reference in &found {
            let name = reference.strip_prefix("#/$defs/").expect("all are ours");
            assert!(defs.contains_key(name), "{reference}");
        }
        for name in defs.keys() {
            assert!(found.iter().any(|reference| reference.ends_with(&format!("/{name}"))), "{name} is used nowhere");
        }
    }

    #[test]
    fn it_has_a_name_and_the_readers_bounds() {
        let schema = schema();
        assert_eq!(schema["$id"], ID);
        for of in ["task", "for_each"] {
            assert_eq!(schema["$defs"][of]["properties"]["concurrency"]["maximum"], crate::shape::MOST_AT_ONCE, "{of}");
        }
        assert_eq!(schema["$defs"]["limits"]["properties"]["parallel"]["maximum"], crate::shape::MOST_AT_ONCE);
    }

    #[test]
    fn every_key_says_what_it_is_for() {
        for shape in DEFINED.iter().map(|(_, shape)| *shape).chain([DOCUMENT]) {
            for key in shape.keys {
                assert!(key.says.len() > 4, "{}.{}", shape.what, key.name);
            }
        }
    }
}
