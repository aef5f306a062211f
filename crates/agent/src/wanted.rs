//! Whether any object at all can fit a schema that a caller gives: one that cannot be met is said before any work is
//! done for it. Only what the schema's top says counts; what is deeper shows when an object is held against it.

use nika_contract::{ToolError, code};
use serde_json::Value;

/// References that are followed, one after another.
const MOST_STEPS: usize = 32;

/// Refuses a schema that no object fits.
pub fn takes_an_object(schema: &Value) -> Result<(), ToolError> {
    match fault(schema, schema, MOST_STEPS) {
        None => Ok(()),
        Some(why) => Err(ToolError::new(code::SCHEMA_UNUSABLE, format!("no object fits the schema: {why}"))
            .hint("the answer is an object: `{\"type\": \"object\", \"properties\": {…}}`; put a list or a value into a field")),
    }
}

/// What keeps objects out.
fn fault(root: &Value, schema: &Value, steps: usize) -> Option<String> {
    let keywords = match schema {
        Value::Bool(false) => return Some("`false` takes nothing".to_owned()),
        Value::Object(keywords) if steps > 0 => keywords,
        _ => return None,
    };
    let types = match keywords.get("type") {
        Some(Value::String(one)) => Some(vec![one.as_str()]),
        Some(Value::Array(several)) => Some(several.iter().filter_map(Value::as_str).collect()),
        _ => None,
    };
    if let Some(types) = types.filter(|types| !types.contains(&"object")) {
        return Some(format!("its `type` is {}", types.join(" or ")));
    }
    if keywords.get("const").is_some_and(|only| !only.is_object()) {
        return Some("its `const` is no object".to_owned());
    }
    if keywords.get("enum").and_then(Value::as_array).is_some_and(|values| !values.iter().any(Value::is_object)) {
        return Some("its `enum` has no object".to_owned());
    }
    let referred = keywords.get("$ref").and_then(Value::as_str).and_then(|to| root.pointer(to.strip_prefix('#')?));
    if let Some(why) = referred.and_then(|schema| fault(root, schema, steps - 1)) {
        return Some(why);
    }
    let list = |name: &str| keywords.get(name).and_then(Value::as_array);
    if let Some(why) = list("allOf").into_iter().flatten().find_map(|one| fault(root, one, steps - 1)) {
        return Some(why);
    }
    let closed = |name: &&str| {
        list(name).is_some_and(|all| !all.is_empty() && all.iter().all(|one| fault(root, one, steps - 1).is_some()))
    };
    ["anyOf", "oneOf"].iter().find(|name| closed(name)).map(|name| format!("nothing in its `{name}` takes an object"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_no_object_fits_is_refused() {
        for (schema, says) in [
            (json!({"type": "array"}), "`type` is array"),
            (json!({"type": ["string", "null"]}), "string or null"),
            (json!(false), "takes nothing"),
            (json!({"enum": [1, "x"]}), "`enum`"),
            (json!({"const": 3}), "`const`"),
            (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "number"}}}), "number"),
            (json!({"allOf": [{"type": "object"}, {"type": "string"}]}), "string"),
            (json!({"anyOf": [{"type": "array"}, {"type": "null"}]}), "`anyOf`"),
        ] {
            let error = takes_an_object(&schema).expect_err("it is refused");
            assert!(error.code == code::SCHEMA_UNUSABLE && error.message.contains(says), "{schema}: {error}");
        }
        for schema in [
            json!({}),
            json!(true),
            json!({"type": "object"}),
            json!({"type": ["object", "null"]}),
            json!({"anyOf": [{"type": "array"}, {"type": "object"}]}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"type": "array"}}}}}),
            json!({"$ref": "#"}),
        ] {
            assert_eq!(takes_an_object(&schema).map_err(|error| error.to_string()), Ok(()), "{schema}");
        }
    }
}
