//! What is wrong with a schema itself: keywords that are not checked here, patterns that cannot be read, references that
//! lead nowhere or in a circle.

use std::collections::HashMap;

use serde_json::Value;

use super::{MOST_DEPTH, Problem, below, compile, kind, resolve};

/// What a keyword's value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Anything: a note to readers, or a value to compare with.
    Any,
    /// A non-empty list of values.
    Values,
    /// Names of types.
    Types,
    /// A schema.
    Schema,
    /// A non-empty list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// Names of properties.
    Names,
    /// A whole number that is not negative.
    Count,
    /// A number.
    Number,
    /// A switch.
    Switch,
    /// A regular expression.
    Pattern,
    /// `#`, or `#/…` to a schema in the same document.
    Ref,
}

/// Every keyword that is understood.
pub(super) const KEYWORDS: &[(&str, Takes)] = &[
    ("$schema", Takes::Any),
    ("$id", Takes::Any),
    ("$comment", Takes::Any),
    ("title", Takes::Any),
    ("description", Takes::Any),
    ("default", Takes::Any),
    ("examples", Takes::Any),
    ("deprecated", Takes::Any),
    ("readOnly", Takes::Any),
    ("writeOnly", Takes::Any),
    ("format", Takes::Any),
    ("$ref", Takes::Ref),
    ("$defs", Takes::Named),
    ("definitions", Takes::Named),
    ("type", Takes::Types),
    ("enum", Takes::Values),
    ("const", Takes::Any),
    ("properties", Takes::Named),
    ("required", Takes::Names),
    ("additionalProperties", Takes::Schema),
    ("minProperties", Takes::Count),
    ("maxProperties", Takes::Count),
    ("items", Takes::Schema),
    ("prefixItems", Takes::Schemas),
    ("minItems", Takes::Count),
    ("maxItems", Takes::Count),
    ("uniqueItems", Takes::Switch),
    ("minLength", Takes::Count),
    ("maxLength", Takes::Count),
    ("pattern", Takes::Pattern),
    ("minimum", Takes::Number),
    ("maximum", Takes::Number),
    ("exclusiveMinimum", Takes::Number),
    ("exclusiveMaximum", Takes::Number),
    ("allOf", Takes::Schemas),
    ("anyOf", Takes::Schemas),
    ("oneOf", Takes::Schemas),
    ("not", Takes::Schema),
];

/// The types there are.
pub(super) const TYPES: &[&str] = &["null", "boolean", "object", "array", "string", "number", "integer"];

/// What is wrong with `schema` itself; nothing when [`super::validate`] can hold values against all of it.
pub fn check(schema: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_at(schema, schema, "", 0, &mut problems);
    if problems.is_empty() {
        circles(schema, schema, "", &mut Seen::new(), &mut problems);
    }
    problems
}

fn problem(path: &str, why: impl Into<String>) -> Problem {
    Problem { path: path.to_owned(), why: why.into(), at: Vec::new(), wrong: super::Wrong::Other }
}

fn check_at(root: &Value, schema: &Value, path: &str, depth: usize, problems: &mut Vec<Problem>) {
    let keywords = match schema {
        Value::Bool(_) => return,
        Value::Object(keywords) if depth < MOST_DEPTH => keywords,
        Value::Object(_) => return problems.push(problem(path, "is nested too deeply")),
        other => {
            return problems.push(problem(path, format!("a schema is an object or a boolean, not {}", kind(other))));
        }
    };
    for (name, value) in keywords {
        let at = below(path, name);
        let Some((_, takes)) = KEYWORDS.iter().find(|(known, _)| known == name) else {
            problems.push(problem(&at, "is a keyword that is not checked here"));
            continue;
        };
        let mut each = |schema: &Value, at: String| check_at(root, schema, &at, depth + 1, problems);
        let wrong = match (takes, value) {
            (Takes::Any, _) | (Takes::Switch, Value::Bool(_)) | (Takes::Number, Value::Number(_)) => None,
            (Takes::Count, count) if count.as_u64().is_some() => None,
            (Takes::Values, Value::Array(values)) if !values.is_empty() => None,
            (Takes::Names, Value::Array(names)) if names.iter().all(Value::is_string) => None,
            (Takes::Types, types) => known_types(types),
            (Takes::Pattern, Value::String(pattern)) => compile(pattern).err(),
            (Takes::Ref, Value::String(to)) => resolve(root, to).err(),
            (Takes::Schema, schema) => {
                each(schema, at.clone());
                None
            }
            (Takes::Schemas, Value::Array(schemas)) if !schemas.is_empty() => {
                schemas.iter().enumerate().for_each(|(number, schema)| each(schema, format!("{at}[{number}]")));
                None
            }
            (Takes::Named, Value::Object(named)) => {
                named.iter().for_each(|(name, schema)| each(schema, below(&at, name)));
                None
            }
            (takes, _) => Some(format!("takes {}", takes.said())),
        };
        if let Some(why) = wrong {
            problems.push(problem(&at, why));
        }
    }
}

impl Takes {
    fn said(self) -> &'static str {
        match self {
            Takes::Any => "anything",
            Takes::Values => "a list of at least one value",
            Takes::Types => "a type, or a list of types",
            Takes::Schema => "a schema",
            Takes::Schemas => "a list of at least one schema",
            Takes::Named => "an object of schemas",
            Takes::Names => "a list of names",
            Takes::Count => "a whole number from 0",
            Takes::Number => "a number",
            Takes::Switch => "true or false",
            Takes::Pattern => "a regular expression",
            Takes::Ref => "`#/…`, a place in this schema",
        }
    }
}

fn known_types(types: &Value) -> Option<String> {
    let is_known = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let fits = match types {
        Value::Array(names) => !names.is_empty() && names.iter().all(is_known),
        one => is_known(one),
    };
    (!fits).then(|| format!("takes {}", TYPES.join(", ")))
}

/// References that lead back to themselves without looking at anything smaller: nothing could ever be decided.
fn circles<'s>(root: &'s Value, schema: &'s Value, path: &str, seen: &mut Seen, problems: &mut Vec<Problem>) {
    if let Err(why) = follow(root, schema, 0, seen) {
        problems.push(problem(path, why));
    }
    for (name, value) in schema.as_object().into_iter().flatten() {
        let at = below(path, name);
        let takes = KEYWORDS.iter().find(|(known, _)| known == name).map(|(_, takes)| *takes);
        match (takes, value) {
            (Some(Takes::Schema), next) => circles(root, next, &at, seen, problems),
            (Some(Takes::Schemas), Value::Array(all)) => {
                all.iter().enumerate().for_each(|(n, next)| circles(root, next, &format!("{at}[{n}]"), seen, problems));
            }
            (Some(Takes::Named), Value::Object(named)) => {
                named.iter().for_each(|(name, next)| circles(root, next, &below(&at, name), seen, problems));
            }
            _ => {}
        }
    }
}

/// Schemas that were followed to their end, and (`false`) those that are being followed.
type Seen = HashMap<*const Value, bool>;

/// Goes through all that is applied to the same value.
fn follow<'s>(root: &'s Value, schema: &'s Value, depth: usize, seen: &mut Seen) -> Result<(), &'static str> {
    match seen.get(&std::ptr::from_ref(schema)) {
        Some(true) => return Ok(()),
        Some(false) => return Err("leads back to itself"),
        None if depth > MOST_DEPTH => return Err("is nested too deeply"),
        None => {}
    }
    seen.insert(schema, false);
    let mut result = Ok(());
    if let Value::Object(keywords) = schema {
        let to = keywords.get("$ref").and_then(Value::as_str).and_then(|to| resolve(root, to).ok());
        let lists = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| keywords.get(*name)?.as_array()).flatten();
        result = to
            .into_iter()
            .chain(lists)
            .chain(keywords.get("not"))
            .try_for_each(|next| follow(root, next, depth + 1, seen));
    }
    seen.insert(schema, true);
    result
}
