//! Why arguments do not fit, with the names that the caller knows.
//!
//! What is read also answers to names that no schema shows: second names, and forms of other dialects. An error that
//! lists them would say each parameter twice and send callers to names that are nobody's; so the list is the schema's.

use serde_json::Value;

/// The names that a schema lists.
type Names = fn(&Value) -> Vec<&str>;

/// Errors that end in a list, and which one it is.
const LISTS: &[(&str, Names)] = &[("unknown field ", fields), ("unknown variant ", values)];
const EXPECTED: &str = ", expected ";

/// What the reader said at a place of the arguments: a step is a name, or none for one into a list.
pub(crate) fn said(schema: &Value, steps: &[Option<String>], why: &str) -> String {
    let Some((_, list)) = LISTS.iter().find(|(begin, _)| why.starts_with(begin)) else { return why.to_owned() };
    let names = list(within(schema, steps));
    match (why.split_once(EXPECTED), names.as_slice()) {
        (None, _) | (_, []) => why.to_owned(),
        (Some((unknown, _)), names) => format!("{unknown}{EXPECTED}{}", listed(names)),
    }
}

/// The schema at a place; the nearest above it, where it ends before.
fn within<'s>(mut schema: &'s Value, steps: &[Option<String>]) -> &'s Value {
    for step in steps {
        let below = match step {
            Some(name) => schema.pointer("/properties").and_then(|fields| fields.get(name)),
            None => schema.get("items"),
        };
        match below {
            Some(below) => schema = below,
            None => break,
        }
    }
    schema
}

fn fields(schema: &Value) -> Vec<&str> {
    schema["properties"].as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn values(schema: &Value) -> Vec<&str> {
    let plain = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let described = schema["oneOf"].as_array().into_iter().flatten().filter_map(|one| one["const"].as_str());
    plain.chain(described).collect()
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        many => format!("one of {}", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_that_of_the_schema() {
        let schema = json!({"properties": {
            "server": {}, "tool": {},
            "items": {"items": {"properties": {"step": {}, "status": {"oneOf": [{"const": "open"}, {"const": "done"}]}}}},
        }});
        let step = |name: &str| Some(name.to_owned());
        let unknown = "unknown field `x`, expected one of `server`, `server_name`, `tool`, `tool_name`";
        let want = "unknown field `x`, expected one of `server`, `tool`, `items`";
        assert_eq!(said(&schema, &[], unknown), want);
        assert_eq!(said(&schema, &[step("x")], unknown), want);
        let below = [step("items"), None, step("status")];
        let variant = "unknown variant `x`, expected one of `open`, `todo`, `done`";
        assert_eq!(said(&schema, &below, variant), "unknown variant `x`, expected `open` or `done`");
        assert_eq!(said(&schema, &below[..2], unknown), "unknown field `x`, expected `step` or `status`");
        // Where a schema lists nothing, the reader's list is better than none.
        assert_eq!(said(&json!({}), &[], unknown), unknown);
        assert_eq!(said(&schema, &[], "missing field `server`"), "missing field `server`");
    }
}
