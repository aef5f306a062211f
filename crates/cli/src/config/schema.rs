//! The table of keys as a JSON schema, for editors: `schemas/config.json`.

use serde_json::{Value, json};

use super::keys::KEYS;

/// The JSON schema of a configuration file.
pub fn schema() -> Value {
    let object = || json!({ "type": ["object", "null"], "properties": {}, "additionalProperties": false });
    let mut root = object();
    for row in KEYS {
        let mut field = (row.schema)();
        field["description"] = row.doc.into();
        if let Some(default) = row.default {
            field["default"] = default.parse::<u64>().map_or_else(|_| default.into(), Value::from);
        }
        match row.name.split_once('.') {
            None => root["properties"][row.name] = field,
            Some((section, name)) => {
                let section = &mut root["properties"][section];
                if section.is_null() {
                    *section = object();
                }
                section["properties"][name] = field;
            }
        }
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Nika configuration",
        "description": "/etc/nika/config.yaml, ~/.config/nika/config.yaml, .nika/config.yaml, .nika/config.local.yaml",
    });
    if let (Some(schema), Some(root)) = (schema.as_object_mut(), root.as_object()) {
        schema.extend(root.clone());
    }
    schema
}

/// A list of permission rules.
pub(super) fn rule_list() -> Value {
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    let with_examples = json!({
        "type": "object",
        "properties": { "rule": text, "match": texts, "not_match": texts },
        "required": ["rule"],
        "additionalProperties": false,
    });
    json!({ "type": ["array", "null"], "items": { "anyOf": [text, with_examples] } })
}

/// A number of characters; see `values::chars`.
pub(super) fn chars_schema() -> Value {
    json!({ "type": "integer", "minimum": 1_000, "maximum": 10_000_000 })
}
