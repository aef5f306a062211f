//! JSON schemas of parameters, in the short form that a model reads: no `$schema`, no `title`, no
//! `$ref`, no `null` beside every optional type, no formats that only a compiler needs.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

/// The description and schema of `P`. Arguments that are not named are refused unless `open`.
pub fn input_schema<P: JsonSchema>(open: bool) -> (String, Value) {
    let mut schema = inline_schema::<P>();
    let description = match schema.as_object_mut().and_then(|object| object.shift_remove("description")) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    if let Some(object) = schema.as_object_mut() {
        object.entry("type").or_insert_with(|| "object".into());
        object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        if open {
            object.insert("additionalProperties".into(), true.into());
        }
    }
    (description, schema)
}

/// The schema of a structured result: shapes without words, as it is sent with every list and a model
/// reads the result itself. The words are in the reference pages.
pub fn output_schema<P: JsonSchema>() -> Value {
    let mut schema = inlined::<P>(Contract::Serialize);
    drop_words(&mut schema, false);
    schema
}

fn drop_words(value: &mut Value, names: bool) {
    match value {
        Value::Object(object) => {
            if !names {
                object.shift_remove("description");
            }
            object.iter_mut().for_each(|(key, value)| drop_words(value, !names && key == "properties"));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| drop_words(value, false)),
        _ => {}
    }
}

/// The schema of `P` with everything written in place, shortened.
pub fn inline_schema<P: JsonSchema>() -> Value {
    inlined::<P>(Contract::Deserialize)
}

/// Of what is read, or of what is written: there a field that is left out when it is empty is not required.
fn inlined<P: JsonSchema>(contract: Contract) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<P>().to_value();
    shorten(&mut schema, false);
    schema
}

/// Drops what a model does not need. `names` marks a map from property names, where a key called
/// `title` is a parameter and no annotation.
fn shorten(value: &mut Value, names: bool) {
    match value {
        Value::Object(object) if names => object.values_mut().for_each(|value| shorten(value, false)),
        Value::Object(object) => {
            for key in ["title", "format", "default", "$schema"] {
                object.shift_remove(key);
            }
            if object.get("minimum").and_then(Value::as_f64) == Some(0.0) {
                object.shift_remove("minimum");
            }
            if object.get("maximum").and_then(Value::as_f64).is_some_and(|most| most >= f64::from(u32::MAX)) {
                object.shift_remove("maximum");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
                if let [only] = choices.as_mut_slice() {
                    let only = only.take();
                    object.shift_remove("anyOf");
                    if let Value::Object(only) = only {
                        for (key, value) in only {
                            object.entry(key).or_insert(value);
                        }
                    }
                    return shorten(value, false);
                }
            }
            for (key, value) in object.iter_mut() {
                shorten(value, key == "properties");
            }
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|value| shorten(value, false)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde::Deserialize;

    /// Finds a thing.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Params {
        /// What to
        /// find.
        title: String,
        /// How many. Default 10.
        limit: Option<u32>,
        kind: Option<Kind>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        A,
        B,
    }

    #[test]
    fn a_schema_is_short() {
        let (description, schema) = input_schema::<Params>(false);
        assert_eq!(description, "Finds a thing.");
        expect![[r#"{"type":"object","additionalProperties":false,"properties":{"title":{"type":"string","description":"What to find."},"limit":{"type":"integer","description":"How many. Default 10."},"kind":{"type":"string","enum":["a","b"]}},"required":["title"]}"#]].assert_eq(&schema.to_string());
    }
}
