//! What templates can call: a table, so that `nika check` and the run know the same names.
//!
//! Only what grows with its input, or is held to a bound here: a chain of filters can otherwise multiply a text until
//! memory ends.

use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, filters, functions, tests};

/// Characters that one filter makes at most.
const MOST: usize = 4 << 20;

/// Filters, and what they give: for the checker.
pub(crate) const FILTERS: &[(&str, Gives)] = &[
    ("abs", Gives::Number),
    ("attr", Gives::Unknown),
    ("bool", Gives::Bool),
    ("capitalize", Gives::Text),
    ("count", Gives::Number),
    ("d", Gives::Unknown),
    ("default", Gives::Unknown),
    ("dictsort", Gives::List),
    ("e", Gives::Text),
    ("escape", Gives::Text),
    ("first", Gives::Unknown),
    ("float", Gives::Number),
    ("groupby", Gives::List),
    ("indent", Gives::Text),
    ("int", Gives::Number),
    ("items", Gives::List),
    ("join", Gives::Text),
    ("last", Gives::Unknown),
    ("length", Gives::Number),
    ("lines", Gives::List),
    ("list", Gives::List),
    ("lower", Gives::Text),
    ("map", Gives::List),
    ("max", Gives::Unknown),
    ("min", Gives::Unknown),
    ("reject", Gives::List),
    ("rejectattr", Gives::List),
    ("replace", Gives::Text),
    ("reverse", Gives::Unknown),
    ("round", Gives::Number),
    ("select", Gives::List),
    ("selectattr", Gives::List),
    ("sort", Gives::List),
    ("split", Gives::List),
    ("string", Gives::Text),
    ("sum", Gives::Unknown),
    ("title", Gives::Text),
    ("tojson", Gives::Text),
    ("trim", Gives::Text),
    ("unique", Gives::List),
    ("upper", Gives::Text),
];

/// Tests: `is NAME`.
pub(crate) const TESTS: &[&str] = &[
    "defined",
    "undefined",
    "none",
    "boolean",
    "true",
    "false",
    "odd",
    "even",
    "divisibleby",
    "number",
    "integer",
    "int",
    "float",
    "string",
    "sequence",
    "iterable",
    "mapping",
    "startingwith",
    "endingwith",
    "lower",
    "upper",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "in",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "equalto",
    "lessthan",
    "greaterthan",
    "sameas",
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
    env.add_filter("abs", filters::abs);
    env.add_filter("attr", filters::attr);
    env.add_filter("bool", filters::bool);
    env.add_filter("capitalize", filters::capitalize);
    env.add_filter("count", filters::length);
    env.add_filter("d", filters::default);
    env.add_filter("default", filters::default);
    env.add_filter("dictsort", filters::dictsort);
    env.add_filter("e", html);
    env.add_filter("escape", html);
    env.add_filter("first", filters::first);
    env.add_filter("float", filters::float);
    env.add_filter("groupby", filters::groupby);
    env.add_filter("indent", indent);
    env.add_filter("int", filters::int);
    env.add_filter("items", filters::items);
    env.add_filter("join", join);
    env.add_filter("last", filters::last);
    env.add_filter("length", filters::length);
    env.add_filter("lines", filters::lines);
    env.add_filter("list", filters::list);
    env.add_filter("lower", filters::lower);
    env.add_filter("map", filters::map);
    env.add_filter("max", filters::max);
    env.add_filter("min", filters::min);
    env.add_filter("reject", filters::reject);
    env.add_filter("rejectattr", filters::rejectattr);
    env.add_filter("replace", replace);
    env.add_filter("reverse", filters::reverse);
    env.add_filter("round", filters::round);
    env.add_filter("select", filters::select);
    env.add_filter("selectattr", filters::selectattr);
    env.add_filter("sort", filters::sort);
    env.add_filter("split", filters::split);
    env.add_filter("string", |value: &Value| shown(value));
    env.add_filter("sum", filters::sum);
    env.add_filter("title", filters::title);
    env.add_filter("tojson", json);
    env.add_filter("trim", filters::trim);
    env.add_filter("unique", filters::unique);
    env.add_filter("upper", filters::upper);

    env.add_test("defined", tests::is_defined);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("none", tests::is_none);
    env.add_test("boolean", tests::is_boolean);
    env.add_test("true", tests::is_true);
    env.add_test("false", tests::is_false);
    env.add_test("odd", tests::is_odd);
    env.add_test("even", tests::is_even);
    env.add_test("divisibleby", tests::is_divisibleby);
    env.add_test("number", tests::is_number);
    for name in ["integer", "int"] {
        env.add_test(name, tests::is_integer);
    }
    env.add_test("float", tests::is_float);
    env.add_test("string", tests::is_string);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("iterable", tests::is_iterable);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("startingwith", tests::is_startingwith);
    env.add_test("endingwith", tests::is_endingwith);
    env.add_test("lower", tests::is_lower);
    env.add_test("upper", tests::is_upper);
    env.add_test("sameas", tests::is_sameas);
    for name in ["eq", "==", "equalto"] {
        env.add_test(name, tests::is_eq);
    }
    for name in ["ne", "!="] {
        env.add_test(name, tests::is_ne);
    }
    for name in ["lt", "<", "lessthan"] {
        env.add_test(name, tests::is_lt);
    }
    for name in ["le", "<="] {
        env.add_test(name, tests::is_le);
    }
    for name in ["gt", ">", "greaterthan"] {
        env.add_test(name, tests::is_gt);
    }
    for name in ["ge", ">="] {
        env.add_test(name, tests::is_ge);
    }
    env.add_test("in", tests::is_in);
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
    fn the_tables_are_what_is_installed() {
        let mut env = Environment::empty();
        install(&mut env);
        for (name, _) in FILTERS {
            let error = env.render_str(&format!("{{{{ 1|{name}(1, 2, 3, 4, 5, 6) }}}}"), ()).err();
            assert!(error.is_none_or(|error| error.kind() != ErrorKind::UnknownFilter), "{name}");
        }
        for name in TESTS.iter().filter(|name| name.chars().all(char::is_alphabetic)) {
            let error = env.render_str(&format!("{{{{ 1 is {name} }}}}"), ()).err();
            assert!(error.is_none_or(|error| error.kind() != ErrorKind::UnknownTest), "{name}");
        }
        assert!(FILTERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
