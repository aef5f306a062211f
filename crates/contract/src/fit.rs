//! Whether a value fits a JSON schema: the part of it that answers and arguments are described with, pure, and sure of
//! what it does not know.
//!
//! Two ask. [`validate`] holds a whole value against a schema that [`check`] has nothing against: a keyword that is not in
//! its table is a problem of the schema and never silently skipped, as whoever wants an object is told at the start that
//! a promise cannot be kept. [`refute`] holds what is known of a value ([`Part`]) against anybody's schema, before
//! anything runs, and says what surely does not fit. `format` is a note, as the standard has it. The meaning is that of
//! draft 2020-12.

mod part;
mod usable;

use std::cell::Cell;
use std::fmt;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

pub use part::Part;
pub use usable::check;
use usable::{KEYWORDS, Takes};

/// Something that does not fit, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// `items[2].name`; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub why: String,
    /// The same path, step by step.
    pub at: Vec<Step>,
    /// The same in a form that can be worded in another way.
    pub wrong: Wrong,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Of an object.
    Key(String),
    /// Of a list.
    Index(usize),
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Wrong {
    /// It is of none of these types.
    Type(Vec<String>),
    /// It is none of these values.
    Choice(Vec<Value>),
    /// It is not there: what its schema says of it.
    Missing(Option<String>),
    /// There is nothing of this name; these are.
    Unknown(Vec<String>),
    /// What the words say.
    Other,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}", self.why),
            path => write!(f, "`{path}`: {}", self.why),
        }
    }
}

/// Schemas within schemas, and references one after another. The deepest sensible document is far from it, and the
/// stack from there.
const MOST_DEPTH: usize = 128;
/// Schemas applied to values in one validation: alternatives within alternatives multiply.
const MOST_STEPS: u32 = 50_000;
/// Problems found before the search ends.
const MOST_PROBLEMS: usize = 200;
/// Bytes of a compiled pattern: `.{1000}{1000}` is short to write.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// Where `value` does not fit `schema`; nothing when it does.
pub fn validate(schema: &Value, value: &Value) -> Vec<Problem> {
    let run = Run::of(schema, true);
    let mut problems = Vec::new();
    run.hold(schema, &Part::of(value), &[], 0, &mut problems);
    problems.truncate(MOST_PROBLEMS);
    // What was not looked at may have been the point of a `not` or of one alternative: nothing is known then.
    if run.gave_up.get() {
        let why = "is more than can be checked: too deep, or too many alternatives within alternatives";
        problems.insert(0, problem(&[], Wrong::Other, why));
    }
    problems
}

/// Where a value of which only a part is known surely does not fit `schema`, whatever the rest of it is, and whatever
/// keywords say that are not checked here.
pub fn refute(schema: &Value, value: &Part<'_>) -> Vec<Problem> {
    let run = Run::of(schema, false);
    let mut problems = Vec::new();
    run.hold(schema, value, &[], 0, &mut problems);
    problems.truncate(MOST_PROBLEMS);
    if run.gave_up.get() { Vec::new() } else { problems }
}

fn problem(at: &[Step], wrong: Wrong, why: impl Into<String>) -> Problem {
    Problem { path: shown(at), why: why.into(), at: at.to_vec(), wrong }
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

/// One validation.
struct Run<'s> {
    root: &'s Value,
    /// Whether what cannot be held against is a problem; else nothing is known of it.
    strict: bool,
    steps: Cell<u32>,
    /// Whether something was not looked at.
    gave_up: Cell<bool>,
}

/// What one schema found: problems that are sure, and whether everything there was to find is.
type Tried = (Vec<Problem>, bool);

impl<'s> Run<'s> {
    fn of(root: &'s Value, strict: bool) -> Run<'s> {
        Run { root, strict, steps: Cell::new(0), gave_up: Cell::new(false) }
    }

    /// Holds one value against one schema. What is found is sure; the answer is whether that is all: `false` where
    /// what is not known might still not fit.
    fn hold(&self, schema: &Value, value: &Part<'_>, path: &[Step], depth: usize, problems: &mut Vec<Problem>) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        if depth > MOST_DEPTH || self.steps.get() > MOST_STEPS {
            self.gave_up.set(true);
            return false;
        }
        if problems.len() > MOST_PROBLEMS {
            return false;
        }
        let mut say = |wrong: Wrong, why: String| problems.push(problem(path, wrong, why));
        let keywords = match schema {
            Value::Bool(true) => return true,
            Value::Bool(false) => {
                say(Wrong::Other, "must not be there".to_owned());
                return true;
            }
            Value::Object(keywords) => keywords,
            _ if self.strict => {
                say(Wrong::Other, "is held against something that is no schema".to_owned());
                return true;
            }
            _ => return false,
        };
        let get = |name: &str| keywords.get(name);
        let mut sure = true;
        if let Some(types) = get("type") {
            match value.is_of(types) {
                Some(true) => {}
                // Nothing else about it can be right, and each further line would say the same.
                Some(false) => {
                    let names = names_of(types);
                    say(Wrong::Type(names.clone()), format!("is {}, and must be {}", value.kind(), names.join(" or ")));
                    return true;
                }
                None => sure = false,
            }
        }
        if let Some(wanted) = get("const") {
            match value.is(wanted) {
                Some(true) => {}
                Some(false) => say(Wrong::Choice(vec![wanted.clone()]), format!("must be {}", short(wanted))),
                None => sure = false,
            }
        }
        if let Some(Value::Array(values)) = get("enum") {
            let found: Vec<Option<bool>> = values.iter().map(|one| value.is(one)).collect();
            if found.iter().all(|is| *is == Some(false)) {
                let shown: Vec<String> = values.iter().map(short).collect();
                let why = match value.known() {
                    Some(known) => format!("is {}, and must be one of {}", short(known), shown.join(", ")),
                    None => format!("is {}, and must be one of {}", value.kind(), shown.join(", ")),
                };
                say(Wrong::Choice(values.clone()), why);
            } else if !found.contains(&Some(true)) {
                sure = false;
            }
        }
        match value.known() {
            Some(Value::String(text)) => sure &= self.texts(keywords, text, &mut |why| say(Wrong::Other, why)),
            Some(number @ Value::Number(_)) => numbers(keywords, number, &mut |why| say(Wrong::Other, why)),
            _ => {}
        }
        sure &= match (value.items(), value.entries()) {
            (Some(items), _) => self.items(keywords, &items, path, depth, problems),
            (None, Some(entries)) => self.properties(keywords, &entries, path, depth, problems),
            // What is bounded is bounded in one or the other way that is not known.
            (None, None) => value.known().is_some() || !keywords.keys().any(|name| bounds(name)),
        };
        if !self.strict {
            sure &= keywords.keys().all(|name| KEYWORDS.iter().any(|(known, _)| known == name));
        }
        self.applied(keywords, value, path, depth, problems) && sure
    }

    /// Other schemas that the same value is held against.
    fn applied(
        &self,
        keywords: &Map<String, Value>,
        value: &Part<'_>,
        path: &[Step],
        depth: usize,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let tried = |schema: &Value| -> Tried {
            let mut found = Vec::new();
            let sure = self.hold(schema, value, path, depth + 1, &mut found);
            (found, sure)
        };
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        let mut sure = true;
        if let Some(to) = keywords.get("$ref").and_then(Value::as_str) {
            match resolve(self.root, to) {
                Ok(schema) => sure &= self.hold(schema, value, path, depth + 1, problems),
                Err(why) if self.strict => problems.push(problem(path, Wrong::Other, why)),
                Err(_) => sure = false,
            }
        }
        for schema in list("allOf").into_iter().flatten() {
            sure &= self.hold(schema, value, path, depth + 1, problems);
        }
        if let Some(schemas) = list("anyOf") {
            let found: Vec<Tried> = schemas.iter().map(tried).collect();
            if !found.iter().any(|(found, _)| found.is_empty()) {
                problems.extend(unfit(path, found));
            } else {
                sure &= found.iter().any(|(found, sure)| found.is_empty() && *sure);
            }
        }
        if let Some(schemas) = list("oneOf") {
            let found: Vec<Tried> = schemas.iter().map(tried).collect();
            let fitting = found.iter().filter(|(found, _)| found.is_empty()).count();
            match found.iter().filter(|(found, sure)| found.is_empty() && *sure).count() {
                _ if fitting == 0 => problems.extend(unfit(path, found)),
                0 | 1 if fitting > 1 => sure = false,
                0 => sure = false,
                1 => {}
                many => {
                    let why = format!("fits {many} of {} alternatives, and must fit one", found.len());
                    problems.push(problem(path, Wrong::Other, why));
                }
            }
        }
        if let Some(schema) = keywords.get("not") {
            let (found, known) = tried(schema);
            match (found.is_empty(), known) {
                (true, true) => problems.push(problem(path, Wrong::Other, "is what it must not be")),
                (true, false) => sure = false,
                (false, _) => {}
            }
        }
        sure
    }

    fn items(
        &self,
        keywords: &Map<String, Value>,
        items: &[Part<'_>],
        path: &[Step],
        depth: usize,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let mut say = |why| problems.push(problem(path, Wrong::Other, why));
        counted(keywords, ["minItems", "maxItems"], items.len(), "items", &mut say);
        let mut sure = true;
        if keywords.get("uniqueItems") == Some(&Value::Bool(true)) {
            let known: Vec<Option<&Value>> = items.iter().map(Part::known).collect();
            sure &= known.iter().all(Option::is_some);
            let equal = |one: &Option<&Value>, other: &Option<&Value>| {
                one.zip(*other).is_some_and(|(one, other)| same(one, other))
            };
            let twice = known.iter().enumerate().find(|(n, item)| known[..*n].iter().any(|other| equal(other, item)));
            if let Some((number, _)) = twice {
                problems.push(problem(&step(path, Step::Index(number)), Wrong::Other, "is there twice"));
            }
        }
        let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (number, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(number).or_else(|| keywords.get("items")) {
                sure &= self.hold(schema, item, &step(path, Step::Index(number)), depth + 1, problems);
            }
        }
        sure
    }

    fn properties(
        &self,
        keywords: &Map<String, Value>,
        object: &[(&str, Part<'_>)],
        path: &[Step],
        depth: usize,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let mut say = |why| problems.push(problem(path, Wrong::Other, why));
        counted(keywords, ["minProperties", "maxProperties"], object.len(), "properties", &mut say);
        let named = keywords.get("properties").and_then(Value::as_object);
        let child = |name: &str| step(path, Step::Key(name.to_owned()));
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !object.iter().any(|(key, _)| *key == name) {
                let about = named.and_then(|named| named.get(name)?.get("description")?.as_str()).map(str::to_owned);
                problems.push(problem(&child(name), Wrong::Missing(about), "is missing"));
            }
        }
        let mut sure = true;
        for (name, value) in object {
            match (named.and_then(|named| named.get(*name)), keywords.get("additionalProperties")) {
                (Some(schema), _) => sure &= self.hold(schema, value, &child(name), depth + 1, problems),
                (None, None) => {}
                // Which of them the patterns mean is not looked at.
                (None, Some(_)) if keywords.contains_key("patternProperties") => sure = false,
                (None, Some(Value::Bool(false))) => {
                    let known: Vec<String> = named.into_iter().flat_map(Map::keys).cloned().collect();
                    let why = match known.as_slice() {
                        [] => "is not wanted".to_owned(),
                        known => format!("is not wanted; there are {}", known.join(", ")),
                    };
                    problems.push(problem(&child(name), Wrong::Unknown(known), why));
                }
                (None, Some(schema)) => sure &= self.hold(schema, value, &child(name), depth + 1, problems),
            }
        }
        sure
    }

    fn texts(&self, keywords: &Map<String, Value>, text: &str, say: &mut dyn FnMut(String)) -> bool {
        counted(keywords, ["minLength", "maxLength"], text.chars().count(), "characters", say);
        if let Some(pattern) = keywords.get("pattern").and_then(Value::as_str) {
            match compile(pattern) {
                Ok(regex) if regex.is_match(text) => {}
                Ok(_) => say(format!("does not match `{pattern}`")),
                Err(why) if self.strict => say(why),
                Err(_) => return false,
            }
        }
        true
    }
}

/// Whether a keyword says something of values of one type: of one that is not known, that may be what does not fit.
fn bounds(name: &str) -> bool {
    let takes = KEYWORDS.iter().find(|(known, _)| *known == name).map(|(_, takes)| *takes);
    matches!(takes, Some(Takes::Count | Takes::Number | Takes::Switch | Takes::Pattern | Takes::Names))
        || matches!(name, "properties" | "additionalProperties" | "items" | "prefixItems")
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
        // A bound that is no number is a problem of the schema, and not of the value.
        if let Some(bound) = keywords.get(name).filter(|bound| bound.is_number())
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

/// What to say of alternatives of which none fits: what all of them say of the whole value as one, the alternative
/// that a tag inside the value means, or the one with the fewest problems, as what to mend first.
fn unfit(path: &[Step], found: Vec<Tried>) -> Vec<Problem> {
    let found: Vec<Vec<Problem>> = found.into_iter().map(|(found, _)| found).collect();
    let mut types: Vec<String> = Vec::new();
    let mut choices: Vec<Value> = Vec::new();
    let mut alike = true;
    for problem in found.iter().flatten() {
        match &problem.wrong {
            Wrong::Type(names) if problem.at == path => {
                types.extend(names.iter().filter(|name| !types.contains(name)).cloned().collect::<Vec<_>>());
            }
            Wrong::Choice(values) if problem.at == path => choices.extend(values.iter().cloned()),
            _ => alike = false,
        }
    }
    match (alike, types.is_empty(), choices.is_empty()) {
        (true, true, false) => {
            let shown: Vec<String> = choices.iter().map(short).collect();
            let why = format!("must be one of {}", shown.join(", "));
            return vec![problem(path, Wrong::Choice(choices), why)];
        }
        (true, false, true) => {
            let why = format!("must be {}", types.join(" or "));
            return vec![problem(path, Wrong::Type(types), why)];
        }
        _ => {}
    }
    let tagged = |found: &&Vec<Problem>| {
        let of_child = |problem: &Problem| problem.at.len() == path.len() + 1;
        !found
            .iter()
            .any(|problem| problem.at == path || (of_child(problem) && matches!(problem.wrong, Wrong::Choice(_))))
    };
    let meant: Vec<&Vec<Problem>> = found.iter().filter(tagged).collect();
    if let ([meant], true) = (meant.as_slice(), found.len() > 1 && found.iter().flatten().any(|p| p.at != path)) {
        let others = found.iter().filter(|other| !std::ptr::eq(*other, *meant));
        let by_tag = |other: &Vec<Problem>| other.iter().any(|problem| matches!(problem.wrong, Wrong::Choice(_)));
        if others.clone().count() > 0 && others.clone().all(by_tag) {
            return (*meant).clone();
        }
    }
    let near = found.iter().min_by_key(|found| found.len()).and_then(|found| found.first());
    let near = near.map_or_else(String::new, |near| {
        let place = if near.at == path { String::new() } else { format!("`{}` ", near.path) };
        format!("; nearest: {place}{}", near.why)
    });
    vec![problem(path, Wrong::Other, format!("fits none of {} alternatives{near}", found.len()))]
}

fn names_of(types: &Value) -> Vec<String> {
    match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        one => one.as_str().map(str::to_owned).into_iter().collect(),
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
    crate::text::preview(&value.to_string(), 60)
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

fn step(path: &[Step], next: Step) -> Vec<Step> {
    path.iter().cloned().chain([next]).collect()
}

/// A path as people read it: `items[2].name`.
pub fn shown(path: &[Step]) -> String {
    path.iter().fold(String::new(), |path, step| match step {
        Step::Key(name) => below(&path, name),
        Step::Index(number) => format!("{path}[{number}]"),
    })
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
