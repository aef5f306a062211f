//! What stands in for a value that only the run knows, where a tool is asked about a call before it is made.

use nika_contract::fit::Part;
use serde_json::{Map, Value};

/// A value that fits `schema`, as far as its type says: the first of its choices where it has some.
pub(super) fn stand_in(schema: &Value) -> Value {
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    let first = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.get(0));
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    };
    match (kind, first) {
        (Some("integer" | "number"), _) => 1.into(),
        (Some("boolean"), _) => true.into(),
        (Some("array"), _) => Value::Array(Vec::new()),
        (Some("object"), _) => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let of = |name: &Value| {
                let name = name.as_str()?;
                Some((name.to_owned(), schema.get("properties")?.get(name).map_or("x".into(), stand_in)))
            };
            Value::Object(required.filter_map(of).collect::<Map<_, _>>())
        }
        (None, Some(first)) => stand_in(first),
        _ => "x".into(),
    }
}

/// The value with what is not known of it stood in for.
pub(super) fn filled(part: &Part<'_>, schema: &Value) -> Value {
    match part {
        Part::Known(value) => value.as_ref().clone(),
        Part::Open(_) => stand_in(schema),
        Part::List(items) => {
            let of = schema.get("items").unwrap_or(&Value::Null);
            Value::Array(items.iter().map(|item| filled(item, of)).collect())
        }
        Part::Object(entries) => {
            let of = |name: &str| schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
            Value::Object(entries.iter().map(|(name, part)| (name.clone(), filled(part, of(name)))).collect())
        }
    }
}

/// Whether all of it is known.
pub(super) fn is_known(part: &Part<'_>) -> bool {
    match part {
        Part::Known(_) => true,
        Part::Open(_) => false,
        Part::List(items) => items.iter().all(is_known),
        Part::Object(entries) => entries.iter().all(|(_, part)| is_known(part)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_known_is_stood_in_for_by_what_would_fit() {
        let schema = json!({"type": "object", "properties": {
            "mode": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
            "count": {"type": "integer"},
            "changes": {"type": "array", "items": {"oneOf": [
                {"type": "object", "properties": {"op": {"const": "drop"}}, "required": ["op"]},
            ]}},
        }});
        let open = || Part::Open(&[]);
        let part = Part::Object(vec![
            ("mode".into(), open()),
            ("count".into(), Part::known_as(json!(7))),
            ("changes".into(), Part::List(vec![open()])),
            ("other".into(), open()),
        ]);
        assert!(!is_known(&part));
        let filled = filled(&part, &schema);
        assert_eq!(filled, json!({"mode": "a", "count": 7, "changes": [{"op": "drop"}], "other": "x"}));
    }
}
