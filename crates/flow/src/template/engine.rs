//! What a template makes of what it is given: a text, a value, or yes or no. Within bounds: steps, and characters.

use std::collections::BTreeMap;
use std::io;

use minijinja::value::{Serde, Value as Held};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use serde_json::{Map, Value};

use super::source::{Source, bare};
use super::{filters, is_template, names, source};
use crate::model::{Dynamic, Span, Template};

/// Steps of one template.
const FUEL: u64 = 100_000;

/// Bytes of text that one template makes.
const MAX_TEXT: usize = 1 << 20;

/// What a template cannot make something of: a path that leads nowhere, a text where a number is needed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct DataError {
    /// What kind of thing went wrong.
    pub kind: DataKind,
    /// Names the path or the filter.
    pub message: String,
    /// Where the template begins.
    pub at: Span,
}

/// What kind of thing went wrong in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataKind {
    /// A path leads nowhere.
    Missing,
    /// A value is not what a filter, an operator or a condition takes.
    Value,
    /// A bound was reached.
    Bound,
    /// It cannot be read, or names a filter that is not there. What passed `check` never comes to this.
    Form,
}

/// What templates see: `inputs`, `use`, `secrets`, `env`, `tasks` with names each, and the element of a loop.
///
/// A value is taken over once, and shared by whoever clones this.
#[derive(Debug, Clone, Default)]
pub struct Context {
    roots: BTreeMap<String, BTreeMap<String, Held>>,
    elements: BTreeMap<String, Held>,
}

impl Context {
    /// With nothing in it.
    pub fn new() -> Context {
        Context::default()
    }

    /// Puts `ROOT.NAME`: `context.put("use", "found", &value)`.
    pub fn put(&mut self, root: &str, name: &str, value: &Value) {
        self.roots.entry(root.to_owned()).or_default().insert(name.to_owned(), Held::from(Serde(value)));
    }

    /// Puts a root that has no names yet: without it, `env` is not defined where no variable is.
    pub fn root(&mut self, root: &str) {
        self.roots.entry(root.to_owned()).or_default();
    }

    /// Puts the element of a loop.
    pub fn element(&mut self, name: &str, value: &Value) {
        self.elements.insert(name.to_owned(), Held::from(Serde(value)));
    }

    fn held(&self) -> Held {
        let pairs = |held: &BTreeMap<String, Held>| {
            held.iter().map(|(name, held)| (name.clone(), held.clone())).collect::<Vec<_>>()
        };
        let roots = self.roots.iter().map(|(name, held)| (name.clone(), Held::from_pairs(pairs(held))));
        Held::from_pairs(roots.chain(pairs(&self.elements)))
    }
}

/// The engine. Making one costs as much as some templates: make it once a run.
#[derive(Debug)]
pub struct Templates {
    env: Environment<'static>,
}

impl Default for Templates {
    fn default() -> Templates {
        Templates::new()
    }
}

impl Templates {
    /// With our filters, and nothing that reaches outside.
    pub fn new() -> Templates {
        let mut env = Environment::empty();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_fuel(Some(FUEL));
        env.set_recursion_limit(64);
        env.set_debug(false);
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_syntax(syntax());
        env.set_formatter(|out, _, value| {
            if value.is_undefined() {
                return Err(Error::from(ErrorKind::UndefinedError));
            }
            // A text is written as it is, without a copy.
            match value.as_str() {
                Some(text) => out.write_str(text),
                None => out.write_str(&filters::shown(value)?),
            }
            .map_err(Error::from)
        });
        filters::install(&mut env);
        Templates { env }
    }

    /// A text: of a template that is one expression, its value as text.
    pub fn render_text(&self, template: &Template, context: &Context) -> Result<String, DataError> {
        if !is_template(&template.text) {
            return Ok(template.text.clone());
        }
        let source = source(&template.text);
        if source.whole {
            return match self.value(&source, template.at, context)? {
                Value::String(text) => Ok(text),
                other => Ok(other.to_string()),
            };
        }
        let held = context.held();
        let mut text = Bounded(Vec::new());
        self.env
            .template_from_str(&source.text)
            .and_then(|compiled| compiled.render_captured_to(held.clone(), &mut text).map(|_| ()))
            .map_err(|error| failed(&error, &source, template.at, &held))?;
        Ok(String::from_utf8(text.0).expect("minijinja writes text"))
    }

    /// A value: texts in it are rendered, and one that is an expression stands for the expression's value.
    pub fn render(&self, dynamic: &Dynamic, context: &Context) -> Result<Value, DataError> {
        Ok(match dynamic {
            Dynamic::Plain(value) => value.clone(),
            Dynamic::Text(template) if !is_template(&template.text) => Value::String(template.text.clone()),
            Dynamic::Text(template) => {
                let source = source(&template.text);
                match source.whole {
                    true => self.value(&source, template.at, context)?,
                    false => Value::String(self.render_text(template, context)?),
                }
            }
            Dynamic::List(items) => {
                Value::Array(items.iter().map(|item| self.render(item, context)).collect::<Result<_, _>>()?)
            }
            Dynamic::Object(entries) => {
                let mut object = Map::new();
                for (key, value) in entries {
                    object.insert(key.value.clone(), self.render(value, context)?);
                }
                Value::Object(object)
            }
        })
    }

    /// Whether a condition holds: an expression, or a template that is one.
    pub fn truth(&self, condition: &Template, context: &Context) -> Result<bool, DataError> {
        let source = condition_source(&condition.text);
        let value = match source.whole {
            true => self.value(&source, condition.at, context)?,
            false => Value::String(self.render_text(condition, context)?),
        };
        match &value {
            Value::Null => Ok(false),
            Value::Bool(value) => Ok(*value),
            Value::Number(number) => Ok(number.as_f64() != Some(0.0)),
            Value::Array(items) => Ok(!items.is_empty()),
            Value::Object(entries) => Ok(!entries.is_empty()),
            // What a command prints is text: its `true` and `false` mean what they say.
            Value::String(text) => match text.trim() {
                "true" => Ok(true),
                "false" | "" => Ok(false),
                other => {
                    let shown = nika_contract::text::preview(other, 60);
                    let message = format!("the condition is the text '{shown}', which is neither true nor false");
                    Err(DataError { kind: DataKind::Value, message, at: condition.at })
                }
            },
        }
    }

    fn value(&self, source: &Source, at: Span, context: &Context) -> Result<Value, DataError> {
        let held = context.held();
        let failed = |error: &Error| failed(error, source, at, &held);
        let value = self
            .env
            .compile_expression(&source.text)
            .and_then(|compiled| compiled.eval(held.clone()))
            .map_err(|error| failed(&error))?;
        if value.is_undefined() {
            return Err(failed(&Error::from(ErrorKind::UndefinedError)));
        }
        serde_json::to_value(&value).map_err(|error| DataError {
            kind: DataKind::Value,
            message: format!("this is no JSON value: {error}"),
            at,
        })
    }
}

/// The source of a condition, which is an expression without braces, or with.
pub(crate) fn condition_source(text: &str) -> Source {
    if is_template(text) { source(text) } else { bare(text) }
}

/// The syntax that is read: minijinja's, with the last line break kept.
pub(crate) fn syntax() -> minijinja::syntax::SyntaxConfig {
    minijinja::syntax::SyntaxConfig::builder().keep_trailing_newline(true).build().expect("the usual delimiters")
}

/// A text that ends at its bound.
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_TEXT {
            return Err(io::Error::other(format!("a template makes at most {} MiB of text", MAX_TEXT >> 20)));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why, in words that name the path.
fn failed(error: &Error, source: &Source, at: Span, held: &Held) -> DataError {
    let kind = match error.kind() {
        ErrorKind::UndefinedError => DataKind::Missing,
        ErrorKind::OutOfFuel | ErrorKind::WriteFailure => DataKind::Bound,
        ErrorKind::SyntaxError
        | ErrorKind::UnknownFilter
        | ErrorKind::UnknownTest
        | ErrorKind::UnknownFunction
        | ErrorKind::UnknownMethod
        | ErrorKind::TemplateNotFound => DataKind::Form,
        _ => DataKind::Value,
    };
    let message = match error.kind() {
        ErrorKind::UndefinedError => match names::missing(source, held) {
            Some(path) => format!("`{path}` is not defined"),
            None => "a name in this template is not defined".to_owned(),
        },
        ErrorKind::OutOfFuel => format!("the template takes more than {FUEL} steps"),
        ErrorKind::WriteFailure => format!("a template makes at most {} MiB of text", MAX_TEXT >> 20),
        _ => match error.detail() {
            Some(detail) => detail.to_owned(),
            None => error.to_string(),
        },
    };
    DataError { kind, message, at }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn context() -> Context {
        let mut context = Context::new();
        context.put("use", "found", &json!({"total": 3, "files": ["a", "b"], "z": 1, "a": null}));
        context.put("use", "text", &json!("hello"));
        context.put("inputs", "name", &json!("x"));
        context.root("env");
        context.element("item", &json!({"n": 2}));
        context
    }

    fn template(text: &str) -> Template {
        Template { text: text.to_owned(), at: Span { line: 1, column: 1, length: 1 } }
    }

    #[test]
    fn one_expression_stands_for_its_value() {
        for (text, value) in [
            ("{{ use.found.files }}", json!(["a", "b"])),
            ("{{ use.found }}", json!({"total": 3, "files": ["a", "b"], "z": 1, "a": null})),
            ("{{ use.found.total + 1 }}", json!(4)),
            ("{{ use.found.total == 3 }}", json!(true)),
            ("{{ {'a': use.text} }}", json!({"a": "hello"})),
            ("{{ use.found.files | length }} ", json!(2)),
            ("{{ item.n }} of {{ use.found.total }}", json!("2 of 3")),
            ("no template {", json!("no template {")),
            ("{{ use.found.files }}.", json!("[\"a\",\"b\"].")),
            ("{% for f in use.found.files %}- {{ f }}\n{% endfor %}", json!("- a\n- b\n")),
            ("{% if use.found.total > 2 %}many{% else %}few{% endif %}", json!("many")),
            ("a\n{{ use.text }}\n", json!("a\nhello\n")),
            ("${#x} {{ use.text }} {# no comment #}", json!("${#x} hello {# no comment #}")),
            ("{% raw %}{{ a ?? b }}{% endraw %}", json!("{{ a ?? b }}")),
            ("{{ '<b>' | escape }}", json!("&lt;b&gt;")),
            ("{{ use.found.a }}", json!(null)),
        ] {
            let made = Templates::new().render(&Dynamic::Text(template(text)), &context());
            assert_eq!(made, Ok(value), "{text}");
        }
    }

    #[test]
    fn two_question_marks_give_the_first_that_is_there() {
        for (text, value) in [
            ("{{ use.found.total ?? 9 }}", json!(3)),
            ("{{ use.found.none ?? 9 }}", json!(9)),
            ("{{ use.found.none.deeper.still ?? 9 }}", json!(9)),
            ("{{ use.found.a ?? 'was null' }}", json!("was null")),
            ("{{ use.found.files[7] ?? use.found.files[1] }}", json!("b")),
            ("{{ use.nothing ?? use.found.none ?? 'end' }}", json!("end")),
            ("{{ use.text ?? use.not.there }}", json!("hello")),
            ("{{ env.HOME ?? 'no ?? home' }}", json!("no ?? home")),
            ("{{ nowhere.at.all ?? 1 }}", json!(1)),
            ("{{ [use.x ?? 1, use.found.z ?? 2] }}", json!([1, 1])),
            ("{{ {'a': use.x ?? {'b': 2}} }}", json!({"a": {"b": 2}})),
            ("{{ (use.x ?? 4) + 1 }}", json!(5)),
            ("{{ use.x ?? 'low' | upper }}", json!("LOW")),
            ("{{ 'yes' if use.x ?? false else 'no' }}", json!("no")),
            ("{{ use.found['to' ~ 'tal'] ?? 0 }}", json!(3)),
            ("{{ use.text | upper ?? 'x' }}", json!("HELLO")),
            ("a {{ use.x ?? '-' }} b {{ use.y ?? \"}}\" }}", json!("a - b }}")),
            ("{% for x in use.x ?? [1, 2] %}{{ x }}{% endfor %}", json!("12")),
            ("{% if use.x ?? true %}y{% endif %}", json!("y")),
        ] {
            let made = Templates::new().render(&Dynamic::Text(template(text)), &context());
            assert_eq!(made, Ok(value), "{text} = {}", source(text).text);
        }
    }

    #[test]
    fn what_is_not_defined_is_an_error_that_names_it() {
        for (text, why) in [
            ("{{ use.found.none }}", "`use.found.none` is not defined"),
            ("a {{ use.found.none.x }}", "`use.found.none` is not defined"),
            ("{{ use.found.files[9] }}", "`use.found.files[9]` is not defined"),
            ("{{ env.HOME }}", "`env.HOME` is not defined"),
            ("{{ item.n | nope }}", "nope"),
            ("{{ use.text + 1 }}", ""),
            ("{{ range(100001) }}", ""),
            ("{% for a in range(50000) %}{% for b in range(50000) %}{% endfor %}{% endfor %}", "steps"),
            ("{% for a in range(9000) %}{{ 'xxxxxxxxxx' * 100 }}{% endfor %}", "1 MiB"),
            ("{{ ('a' * 100000) | replace('a', 'a' * 100000) }}", "replace"),
            ("{{ range(1000) | join('a' * 100000) }}", "join"),
        ] {
            let said = Templates::new().render(&Dynamic::Text(template(text)), &context()).expect_err(text);
            assert!(said.message.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_condition_is_true_or_false() {
        for (text, holds) in [
            ("use.found.total > 2", Some(true)),
            ("{{ use.found.total > 3 }}", Some(false)),
            ("use.x ?? false", Some(false)),
            ("true", Some(true)),
            ("'true'", Some(true)),
            ("use.found.files", Some(true)),
            ("use.found.a", Some(false)),
            ("{{ use.found.total }} > 2", None),
            ("use.text", None),
        ] {
            assert_eq!(Templates::new().truth(&template(text), &context()).ok(), holds, "{text}");
        }
    }
}
