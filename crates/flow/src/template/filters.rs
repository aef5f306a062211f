//! What templates can call: a table, so that `nika check` and the run know the same names.
//!
//! Only what grows with its input, or is held to a bound here: a chain of filters can otherwise multiply a text until
//! memory ends.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, filters, functions, tests};

/// Characters that one filter makes at most.
const MOST: usize = 4 << 20;

/// Puts one into an environment under its name.
type Put = fn(&mut Environment<'static>, &'static str);

/// A filter.
pub(crate) struct Filter {
    pub name: &'static str,
    /// What it gives: for the checker.
    pub gives: Gives,
    put: Put,
}

const fn filter(name: &'static str, gives: Gives, put: Put) -> Filter {
    Filter { name, gives, put }
}

/// Filters.
pub(crate) const FILTERS: &[Filter] = &[
    filter("abs", Gives::Number, |env, name| env.add_filter(name, filters::abs)),
    filter("attr", Gives::Unknown, |env, name| env.add_filter(name, filters::attr)),
    filter("bool", Gives::Bool, |env, name| env.add_filter(name, filters::bool)),
    filter("capitalize", Gives::Text, |env, name| env.add_filter(name, filters::capitalize)),
    filter("count", Gives::Number, |env, name| env.add_filter(name, filters::length)),
    filter("d", Gives::Unknown, |env, name| env.add_filter(name, filters::default)),
    filter("default", Gives::Unknown, |env, name| env.add_filter(name, filters::default)),
    filter("dictsort", Gives::List, |env, name| env.add_filter(name, filters::dictsort)),
    filter("e", Gives::Text, |env, name| env.add_filter(name, html)),
    filter("escape", Gives::Text, |env, name| env.add_filter(name, html)),
    filter("first", Gives::Unknown, |env, name| env.add_filter(name, filters::first)),
    filter("float", Gives::Number, |env, name| env.add_filter(name, filters::float)),
    filter("groupby", Gives::List, |env, name| env.add_filter(name, filters::groupby)),
    filter("indent", Gives::Text, |env, name| env.add_filter(name, indent)),
    filter("int", Gives::Number, |env, name| env.add_filter(name, filters::int)),
    filter("items", Gives::List, |env, name| env.add_filter(name, filters::items)),
    filter("join", Gives::Text, |env, name| env.add_filter(name, join)),
    filter("last", Gives::Unknown, |env, name| env.add_filter(name, filters::last)),
    filter("length", Gives::Number, |env, name| env.add_filter(name, filters::length)),
    filter("lines", Gives::List, |env, name| env.add_filter(name, filters::lines)),
    filter("list", Gives::List, |env, name| env.add_filter(name, filters::list)),
    filter("lower", Gives::Text, |env, name| env.add_filter(name, filters::lower)),
    filter("map", Gives::List, |env, name| env.add_filter(name, filters::map)),
    filter("max", Gives::Unknown, |env, name| env.add_filter(name, filters::max)),
    filter("min", Gives::Unknown, |env, name| env.add_filter(name, filters::min)),
    filter("reject", Gives::List, |env, name| env.add_filter(name, filters::reject)),
    filter("rejectattr", Gives::List, |env, name| env.add_filter(name, filters::rejectattr)),
    filter("replace", Gives::Text, |env, name| env.add_filter(name, replace)),
    filter("reverse", Gives::Unknown, |env, name| env.add_filter(name, filters::reverse)),
    filter("round", Gives::Number, |env, name| env.add_filter(name, filters::round)),
    filter("select", Gives::List, |env, name| env.add_filter(name, filters::select)),
    filter("selectattr", Gives::List, |env, name| env.add_filter(name, filters::selectattr)),
    filter("sort", Gives::List, |env, name| env.add_filter(name, filters::sort)),
    filter("split", Gives::List, |env, name| env.add_filter(name, filters::split)),
    filter("string", Gives::Text, |env, name| env.add_filter(name, |value: &Value| shown(value))),
    filter("sum", Gives::Unknown, |env, name| env.add_filter(name, filters::sum)),
    filter("title", Gives::Text, |env, name| env.add_filter(name, filters::title)),
    filter("tojson", Gives::Text, |env, name| env.add_filter(name, json)),
    filter("trim", Gives::Text, |env, name| env.add_filter(name, filters::trim)),
    filter("unique", Gives::List, |env, name| env.add_filter(name, filters::unique)),
    filter("upper", Gives::Text, |env, name| env.add_filter(name, filters::upper)),
];

/// Tests: `is NAME`.
pub(crate) const TESTS: &[(&str, Put)] = &[
    ("defined", |env, name| env.add_test(name, tests::is_defined)),
    ("undefined", |env, name| env.add_test(name, tests::is_undefined)),
    ("none", |env, name| env.add_test(name, tests::is_none)),
    ("boolean", |env, name| env.add_test(name, tests::is_boolean)),
    ("true", |env, name| env.add_test(name, tests::is_true)),
    ("false", |env, name| env.add_test(name, tests::is_false)),
    ("odd", |env, name| env.add_test(name, tests::is_odd)),
    ("even", |env, name| env.add_test(name, tests::is_even)),
    ("divisibleby", |env, name| env.add_test(name, tests::is_divisibleby)),
    ("number", |env, name| env.add_test(name, tests::is_number)),
    ("integer", |env, name| env.add_test(name, tests::is_integer)),
    ("int", |env, name| env.add_test(name, tests::is_integer)),
    ("float", |env, name| env.add_test(name, tests::is_float)),
    ("string", |env, name| env.add_test(name, tests::is_string)),
    ("sequence", |env, name| env.add_test(name, tests::is_sequence)),
    ("iterable", |env, name| env.add_test(name, tests::is_iterable)),
    ("mapping", |env, name| env.add_test(name, tests::is_mapping)),
    ("startingwith", |env, name| env.add_test(name, tests::is_startingwith)),
    ("endingwith", |env, name| env.add_test(name, tests::is_endingwith)),
    ("lower", |env, name| env.add_test(name, tests::is_lower)),
    ("upper", |env, name| env.add_test(name, tests::is_upper)),
    ("eq", |env, name| env.add_test(name, tests::is_eq)),
    ("ne", |env, name| env.add_test(name, tests::is_ne)),
    ("lt", |env, name| env.add_test(name, tests::is_lt)),
    ("le", |env, name| env.add_test(name, tests::is_le)),
    ("gt", |env, name| env.add_test(name, tests::is_gt)),
    ("ge", |env, name| env.add_test(name, tests::is_ge)),
    ("in", |env, name| env.add_test(name, tests::is_in)),
    ("==", |env, name| env.add_test(name, tests::is_eq)),
    ("!=", |env, name| env.add_test(name, tests::is_ne)),
    ("<", |env, name| env.add_test(name, tests::is_lt)),
    ("<=", |env, name| env.add_test(name, tests::is_le)),
    (">", |env, name| env.add_test(name, tests::is_gt)),
    (">=", |env, name| env.add_test(name, tests::is_ge)),
    ("equalto", |env, name| env.add_test(name, tests::is_eq)),
    ("lessthan", |env, name| env.add_test(name, tests::is_lt)),
    ("greaterthan", |env, name| env.add_test(name, tests::is_gt)),
    ("sameas", |env, name| env.add_test(name, tests::is_sameas)),
];

/// Functions.
pub(crate) const FUNCTIONS: &[&str] = &["range"];

/// The function that `??` is written with.
pub(crate) const HAS: &str = "__has";

/// What a filter gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Unknown,
    Text,
    Number,
    Bool,
    List,
}

/// Puts them all into an environment.
pub(super) fn install(env: &mut Environment<'static>) {
    FILTERS.iter().for_each(|filter| (filter.put)(env, filter.name));
    TESTS.iter().for_each(|(name, put)| put(env, name));
    env.add_function("range", functions::range);
    env.add_function(HAS, has);
}

/// How a value stands in a text: texts as they are, everything else as JSON.
pub(super) fn shown(value: &Value) -> Result<String, Error> {
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => serde_json::to_string(value).map_err(|error| {
            Error::new(ErrorKind::BadSerialization, format!("this cannot be written as text: {error}"))
        }),
    }
}

/// Whether a path leads to something that is not null.
fn has(root: &Value, steps: minijinja::value::Rest<Value>) -> bool {
    let mut value = root.clone();
    for step in steps.iter() {
        match value.get_item(step) {
            Ok(next) if !next.is_undefined() => value = next,
            _ => return false,
        }
    }
    !value.is_none() && !value.is_undefined()
}

fn too_long(filter: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("`{filter}` would make more than {} MiB of text", MOST >> 20))
}

fn join(value: &Value, between: Option<String>) -> Result<String, Error> {
    let between = between.unwrap_or_default();
    let mut joined = String::new();
    for (index, item) in value.try_iter()?.enumerate() {
        if index > 0 {
            joined.push_str(&between);
        }
        joined.push_str(&shown(&item)?);
        if joined.len() > MOST {
            return Err(too_long("join"));
        }
    }
    Ok(joined)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let grown = text.matches(from).count().saturating_mul(to.len());
    if grown.saturating_add(text.len()) > MOST.max(text.len()) {
        return Err(too_long("replace"));
    }
    Ok(text.replace(from, to))
}

fn indent(text: &str, width: Option<usize>, first: Option<bool>) -> Result<String, Error> {
    let width = width.unwrap_or(4);
    if text.lines().count().saturating_mul(width).saturating_add(text.len()) > MOST.max(text.len()) {
        return Err(too_long("indent"));
    }
    let space = " ".repeat(width);
    let first = first.unwrap_or(false);
    let lines = text.split('\n').enumerate();
    let indented: Vec<String> = lines
        .map(
            |(number, line)| {
                if (number == 0 && !first) || line.is_empty() { line.to_owned() } else { format!("{space}{line}") }
            },
        )
        .collect();
    Ok(indented.join("\n"))
}

/// Text for HTML, quotes included.
fn html(value: &Value) -> Result<String, Error> {
    let mut escaped = String::new();
    for c in shown(value)?.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    Ok(escaped)
}

fn json(value: &Value, pretty: Option<bool>) -> Result<String, Error> {
    let made = if pretty.unwrap_or(false) { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    made.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn each_row_is_known_by_its_name() {
        let mut env = Environment::empty();
        install(&mut env);
        for Filter { name, .. } in FILTERS {
            let error = env.render_str(&format!("{{{{ 1|{name}(1, 2, 3, 4, 5, 6) }}}}"), ()).err();
            assert!(error.is_none_or(|error| error.kind() != ErrorKind::UnknownFilter), "{name}");
        }
        for (name, _) in TESTS.iter().filter(|(name, _)| name.chars().all(char::is_alphabetic)) {
            let error = env.render_str(&format!("{{{{ 1 is {name} }}}}"), ()).err();
            assert!(error.is_none_or(|error| error.kind() != ErrorKind::UnknownTest), "{name}");
        }
        assert!(FILTERS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
