//! JSON Schema, the part of it that answers are described with: pure, and sure of what it does not know.
//!
//! A keyword that is not in [`KEYWORDS`] is a problem of the schema and never silently skipped: whoever wants
//! an object is told at the start that a promise cannot be kept, not afterwards that it was not. `format` is a
//! note, as the standard has it. The meaning is that of draft 2020-12.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

/// Something that does not fit, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `items[2].name`; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub why: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}", self.why),
            path => write!(f, "`{path}`: {}", self.why),
        }
    }
}

/// What a keyword's value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
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
const KEYWORDS: &[(&str, Takes)] = &[
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
const TYPES: &[&str] = &["null", "boolean", "object", "array", "string", "number", "integer"];

/// Schemas within schemas, and references one after another. The deepest sensible document is far from it, and the
/// stack from there.
const MOST_DEPTH: usize = 128;
/// Schemas applied to values in one validation: alternatives within alternatives multiply.
const MOST_STEPS: u32 = 50_000;
/// Problems found before the search ends.
const MOST_PROBLEMS: usize = 200;
/// Bytes of a compiled pattern: `.{1000}{1000}` is short to write.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// What is wrong with `schema` itself; nothing when [`validate`] can hold values against all of it.
pub fn check(schema: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_at(schema, schema, "", 0, &mut problems);
    if problems.is_empty() {
        circles(schema, schema, "", &mut Seen::new(), &mut problems);
    }
    problems
}

/// Where `value` does not fit `schema`; nothing when it does.
pub fn validate(schema: &Value, value: &Value) -> Vec<Problem> {
    let run = Run { root: schema, steps: Cell::new(0), gave_up: Cell::new(false) };
    let mut problems = Vec::new();
    run.hold(schema, value, "", 0, &mut problems);
    problems.truncate(MOST_PROBLEMS);
    // What was not looked at may have been the point of a `not` or of one alternative: nothing is known then.
    if run.gave_up.get() {
        let why = "is more than can be checked: too deep, or too many alternatives within alternatives";
        problems.insert(0, problem("", why));
    }
    problems
}

fn problem(path: &str, why: impl Into<String>) -> Problem {
    Problem { path: path.to_owned(), why: why.into() }
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

fn compile(pattern: &str) -> Result<Regex, String> {
    let config = regex_automata::meta::Config::new().nfa_size_limit(Some(MOST_PATTERN_BYTES));
    let built = Regex::builder().configure(config).build(pattern);
    built.map_err(|error| format!("is no regular expression that is checked here: {error}"))
}

/// The schema that a local reference means.
fn resolve<'s>(root: &'s Value, to: &str) -> Result<&'s Value, String> {
    let pointer = to.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let pointer = pointer.ok_or_else(|| format!("'{to}' leads out of this schema; only `#/…` is followed"))?;
    root.pointer(pointer)
        .filter(|found| found.is_object() || found.is_boolean())
        .ok_or_else(|| format!("'{to}' leads to no schema"))
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

/// One validation.
struct Run<'s> {
    root: &'s Value,
    steps: Cell<u32>,
    /// Whether something was not looked at.
    gave_up: Cell<bool>,
}

impl Run<'_> {
    /// Holds one value against one schema.
    fn hold(&self, schema: &Value, value: &Value, path: &str, depth: usize, problems: &mut Vec<Problem>) {
        self.steps.set(self.steps.get().saturating_add(1));
        if depth > MOST_DEPTH || self.steps.get() > MOST_STEPS {
            return self.gave_up.set(true);
        }
        if problems.len() > MOST_PROBLEMS {
            return;
        }
        let keywords = match schema {
            Value::Bool(true) => return,
            Value::Bool(false) => return problems.push(problem(path, "must not be there")),
            Value::Object(keywords) => keywords,
            _ => return problems.push(problem(path, "is held against something that is no schema")),
        };
        let get = |name: &str| keywords.get(name);
        let mut say = |why: String| problems.push(problem(path, why));
        if let Some(types) = get("type")
            && !is_of(types, value)
        {
            // Nothing else about it can be right, and each further line would say the same.
            return say(format!("is {}, and must be {}", kind(value), alternatives(types)));
        }
        if let Some(wanted) = get("const")
            && !same(wanted, value)
        {
            say(format!("must be {}", short(wanted)));
        }
        if let Some(Value::Array(values)) = get("enum")
            && !values.iter().any(|one| same(one, value))
        {
            let values: Vec<String> = values.iter().map(short).collect();
            say(format!("is {}, and must be one of {}", short(value), values.join(", ")));
        }
        match value {
            Value::String(text) => texts(keywords, text, &mut say),
            Value::Number(_) => numbers(keywords, value, &mut say),
            Value::Array(items) => self.items(keywords, items, path, depth, problems),
            Value::Object(object) => self.properties(keywords, object, path, depth, problems),
            Value::Null | Value::Bool(_) => {}
        }
        self.applied(keywords, value, path, depth, problems);
    }

    /// Other schemas that the same value is held against.
    fn applied(
        &self,
        keywords: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
        problems: &mut Vec<Problem>,
    ) {
        let tried = |schema: &Value| {
            let mut found = Vec::new();
            self.hold(schema, value, path, depth + 1, &mut found);
            found
        };
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        if let Some(to) = keywords.get("$ref").and_then(Value::as_str) {
            match resolve(self.root, to) {
                Ok(schema) => self.hold(schema, value, path, depth + 1, problems),
                Err(why) => problems.push(problem(path, why)),
            }
        }
        for schema in list("allOf").into_iter().flatten() {
            self.hold(schema, value, path, depth + 1, problems);
        }
        if let Some(schemas) = list("anyOf") {
            let found: Vec<Vec<Problem>> = schemas.iter().map(tried).collect();
            if !found.iter().any(Vec::is_empty) {
                problems.push(nearest(path, &found));
            }
        }
        if let Some(schemas) = list("oneOf") {
            let found: Vec<Vec<Problem>> = schemas.iter().map(tried).collect();
            match found.iter().filter(|found| found.is_empty()).count() {
                0 => problems.push(nearest(path, &found)),
                1 => {}
                many => {
                    problems
                        .push(problem(path, format!("fits {many} of {} alternatives, and must fit one", found.len())));
                }
            }
        }
        if let Some(schema) = keywords.get("not")
            && tried(schema).is_empty()
        {
            problems.push(problem(path, "is what it must not be"));
        }
    }

    fn items(
        &self,
        keywords: &Map<String, Value>,
        items: &[Value],
        path: &str,
        depth: usize,
        problems: &mut Vec<Problem>,
    ) {
        counted(keywords, ["minItems", "maxItems"], items.len(), "items", &mut |why| problems.push(problem(path, why)));
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let twice = items.iter().enumerate().find(|(n, item)| items[..*n].iter().any(|other| same(other, item)));
            if let Some((number, _)) = twice {
                problems.push(problem(&format!("{path}[{number}]"), "is there twice"));
            }
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (number, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(number).or_else(|| keywords.get("items")) {
                self.hold(schema, item, &format!("{path}[{number}]"), depth + 1, problems);
            }
        }
    }

    fn properties(
        &self,
        keywords: &Map<String, Value>,
        object: &Map<String, Value>,
        path: &str,
        depth: usize,
        problems: &mut Vec<Problem>,
    ) {
        let mut say = |why| problems.push(problem(path, why));
        counted(keywords, ["minProperties", "maxProperties"], object.len(), "properties", &mut say);
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                problems.push(problem(&below(path, name), "is missing"));
            }
        }
        let named = keywords.get("properties").and_then(Value::as_object);
        for (name, value) in object {
            let at = below(path, name);
            match (named.and_then(|named| named.get(name)), keywords.get("additionalProperties")) {
                (Some(schema), _) => self.hold(schema, value, &at, depth + 1, problems),
                (None, Some(Value::Bool(false))) => problems.push(problem(&at, unknown(named))),
                (None, Some(schema)) => self.hold(schema, value, &at, depth + 1, problems),
                (None, None) => {}
            }
        }
    }
}

fn texts(keywords: &Map<String, Value>, text: &str, say: &mut dyn FnMut(String)) {
    counted(keywords, ["minLength", "maxLength"], text.chars().count(), "characters", say);
    if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
        match compile(pattern) {
            Ok(regex) if regex.is_match(text) => {}
            Ok(_) => say(format!("does not match `{pattern}`")),
            Err(why) => say(why),
        }
    }
}

fn numbers(keywords: &Map<String, Value>, value: &Value, say: &mut dyn FnMut(String)) {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let bounds: [(&str, &[std::cmp::Ordering], &str); 4] = [
        ("minimum", &[Greater, Equal], "at least"),
        ("maximum", &[Less, Equal], "at most"),
        ("exclusiveMinimum", &[Greater], "more than"),
        ("exclusiveMaximum", &[Less], "less than"),
    ];
    for (name, fits, said) in bounds {
        if let Some(bound) = keywords.get(name)
            && !compare(value, bound).is_some_and(|order| fits.contains(&order))
        {
            say(format!("is {value}, and must be {said} {bound}"));
        }
    }
}

fn counted(
    keywords: &Map<String, Value>,
    [least, most]: [&str; 2],
    count: usize,
    what: &str,
    say: &mut dyn FnMut(String),
) {
    let bound = |name: &str| keywords.get(name).and_then(Value::as_u64);
    let count = count as u64;
    if let Some(least) = bound(least).filter(|least| count < *least) {
        say(format!("has {count} {what}, and must have at least {least}"));
    }
    if let Some(most) = bound(most).filter(|most| count > *most) {
        say(format!("has {count} {what}, and must have at most {most}"));
    }
}

/// The alternative with the fewest problems, as what to mend first.
fn nearest(path: &str, found: &[Vec<Problem>]) -> Problem {
    let near = found.iter().min_by_key(|found| found.len()).and_then(|found| found.first());
    let near = near.map_or_else(String::new, |near| {
        let place = if near.path == path { String::new() } else { format!("`{}` ", near.path) };
        format!("; nearest: {place}{}", near.why)
    });
    problem(path, format!("fits none of {} alternatives{near}", found.len()))
}

fn unknown(named: Option<&Map<String, Value>>) -> String {
    match named.filter(|named| !named.is_empty()) {
        Some(named) => {
            let names: Vec<&str> = named.keys().map(String::as_str).collect();
            format!("is not wanted; there are {}", names.join(", "))
        }
        None => "is not wanted".to_owned(),
    }
}

fn is_of(types: &Value, value: &Value) -> bool {
    let fits = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        // 1.0 is an integer.
        Some("integer") => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    };
    match types {
        Value::Array(names) => names.iter().any(fits),
        one => fits(one),
    }
}

fn alternatives(types: &Value) -> String {
    match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        one => one.as_str().unwrap_or_default().to_owned(),
    }
}

/// Equal as JSON has it: 1 is 1.0, and the order of properties says nothing.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => compare(one, other) == Some(std::cmp::Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

fn compare(one: &Value, other: &Value) -> Option<std::cmp::Ordering> {
    let whole = |value: &Value| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

/// A value in few characters.
fn short(value: &Value) -> String {
    nika_contract::text::preview(&value.to_string(), 60)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn below(path: &str, name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$'));
    match (path, is_plain) {
        ("", true) => name.to_owned(),
        (path, true) => format!("{path}.{name}"),
        (path, false) => format!("{path}[{}]", Value::from(name)),
    }
}

#[cfg(test)]
mod tests;
