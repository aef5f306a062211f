//! From words on a command line to the arguments of a call.
//!
//! ```text
//! key=value    typed as the tool's schema says: "3" for a number, "true" for a switch, JSON for lists
//! key:=JSON    JSON, whatever the schema says
//! key=@FILE    the text of a file (`@-`: of stdin); a value that begins with @ is written key:='"@x"'
//! -            one object from stdin
//! ```
//!
//! A value that does not fit stays text: the tool itself refuses it, naming what it takes.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nika_contract::AnyTool;
use nika_runtime::{Dialect, Listed};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Bytes of stdin or of a file for one argument: as much as a request over MCP may have.
const MAX_BYTES: u64 = 64 << 20;

/// What was written on the command line.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// `--json`.
    pub json: Option<&'a str>,
    /// The words after the tool.
    pub pairs: &'a [OsString],
}

/// The arguments, and whether stdin was read for them.
#[derive(Debug, Default)]
pub struct Gathered {
    /// As the call takes them.
    pub arguments: Map<String, Value>,
    /// Whether stdin was used up: then nobody can be asked there.
    pub took_stdin: bool,
}

/// Gathers the arguments for `tool`, if there is such a tool.
pub fn gather(written: Written<'_>, tool: Option<&dyn AnyTool>, stdin: &mut dyn Read) -> Result<Gathered, Failure> {
    let mut gathered = Gathered::default();
    match written.json {
        Some("-") => gathered.take_object(stdin)?,
        Some(text) => gathered.arguments = object(text, "--json")?,
        None => {}
    }
    let types = Types::of(tool);
    let mut written_keys = BTreeSet::new();
    for pair in written.pairs {
        if pair == "-" {
            gathered.take_object(stdin)?;
            continue;
        }
        let (key, value) = split(pair)?;
        if !written_keys.insert(key) {
            return Err(Failure::usage(format!("`{key}` is given twice; give it once")));
        }
        let value = match value {
            Form::Json(text) => {
                serde_json::from_str(text).map_err(|error| Failure::usage(format!("`{key}:=` takes JSON: {error}")))?
            }
            Form::File(path) if path == "-" => {
                gathered.begin_stdin()?;
                Value::String(text(&mut *stdin, "stdin")?)
            }
            Form::File(path) => {
                let named = format!("`{key}=@{}`", path.display());
                let file = File::open(path).map_err(|error| Failure::usage(format!("{named}: {error}")))?;
                Value::String(text(file, &named)?)
            }
            Form::Text(text) => types.typed(key, text),
        };
        gathered.arguments.insert(key.to_owned(), value);
    }
    Ok(gathered)
}

impl Gathered {
    fn begin_stdin(&mut self) -> Result<(), Failure> {
        if std::mem::replace(&mut self.took_stdin, true) {
            return Err(Failure::usage("stdin can be read once; two arguments want it"));
        }
        Ok(())
    }

    fn take_object(&mut self, stdin: &mut dyn Read) -> Result<(), Failure> {
        self.begin_stdin()?;
        let given = object(&text(stdin, "stdin")?, "stdin")?;
        self.arguments.extend(given);
        Ok(())
    }
}

/// A value as it was written.
enum Form<'a> {
    Text(&'a str),
    Json(&'a str),
    File(&'a Path),
}

fn split(pair: &OsStr) -> Result<(&str, Form<'_>), Failure> {
    let bytes = pair.as_bytes();
    let shown = pair.to_string_lossy();
    let unreadable = || Failure::usage(format!("'{shown}' is not UTF-8, and a tool's arguments are"));
    let Some(at) = bytes.iter().position(|byte| *byte == b'=') else {
        return Err(Failure::usage(format!("'{shown}' is no argument: write key=value, key:=JSON or key=@FILE")));
    };
    let (key, value) = (&bytes[..at], &bytes[at + 1..]);
    let (key, is_json) = key.strip_suffix(b":").map_or((key, false), |key| (key, true));
    let key = std::str::from_utf8(key).map_err(|_| unreadable())?;
    if key.is_empty() {
        return Err(Failure::usage(format!("'{shown}' names no argument before its '='")));
    }
    if let Some(path) = value.strip_prefix(b"@").filter(|_| !is_json) {
        return Ok((key, Form::File(Path::new(OsStr::from_bytes(path)))));
    }
    let value = std::str::from_utf8(value).map_err(|_| unreadable())?;
    Ok((key, if is_json { Form::Json(value) } else { Form::Text(value) }))
}

fn text(from: impl Read, named: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("{named} cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::usage(format!("{named} holds more than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{named} is not UTF-8 text")))
}

fn object(text: &str, named: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::usage(format!("{named} must be one JSON object of arguments"))),
        Err(error) => Err(Failure::usage(format!("{named} is not JSON: {error}"))),
    }
}

/// The schemas of a tool, under its own parameter names and then under every dialect's.
struct Types(Vec<Value>);

impl Types {
    fn of(tool: Option<&dyn AnyTool>) -> Types {
        let schemas = |tool| Dialect::ALL.map(|dialect| Listed::new(tool, dialect, false).input_schema);
        Types(tool.map(schemas).map(Vec::from).unwrap_or_default())
    }

    fn typed(&self, key: &str, text: &str) -> Value {
        let schema = self.0.iter().find_map(|schema| schema["properties"].get(key));
        schema.and_then(|schema| typed(schema, text)).unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

/// `text` as the first of the schema's types that it is, text last; `None` when it is none.
fn typed(schema: &Value, text: &str) -> Option<Value> {
    let mut types = Vec::new();
    types_of(schema, &mut types);
    let is = |name: &str| types.contains(&name);
    let parsed = || serde_json::from_str::<Value>(text).ok();
    if is("boolean") && matches!(text, "true" | "false") {
        return Some(Value::Bool(text == "true"));
    }
    if is("integer") || is("number") {
        let number = parsed().filter(|value| value.is_u64() || value.is_i64() || (is("number") && value.is_number()));
        if number.is_some() {
            return number;
        }
    }
    if is("array") || is("object") {
        let fits = |value: &Value| (is("array") && value.is_array()) || (is("object") && value.is_object());
        if let Some(value) = parsed().filter(fits) {
            return Some(value);
        }
    }
    // A schema that says nothing of types takes anything: JSON where it is some.
    if types.is_empty() { parsed() } else { None }
}

fn types_of<'a>(schema: &'a Value, types: &mut Vec<&'a str>) {
    match &schema["type"] {
        Value::String(name) => types.push(name),
        Value::Array(names) => types.extend(names.iter().filter_map(Value::as_str)),
        _ => {}
    }
    if schema.get("enum").is_some() {
        types.push("string");
    }
    for choices in ["anyOf", "oneOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            types_of(choice, types);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_take_the_type_of_their_schema() {
        let integer = json!({"type": "integer"});
        let either = json!({"anyOf": [{"type": "array"}, {"type": "string"}]});
        for (schema, text, want) in [
            (&integer, "3", Some(json!(3))),
            (&integer, "3.5", None),
            (&integer, "three", None),
            (&json!({"type": "number"}), "3.5", Some(json!(3.5))),
            (&json!({"type": ["boolean", "null"]}), "true", Some(json!(true))),
            (&json!({"type": "boolean"}), "yes", None),
            (&json!({"type": "string"}), "3", None),
            (&json!({"type": "array"}), "[1]", Some(json!([1]))),
            (&json!({"type": "array"}), "{}", None),
            (&either, "[1]", Some(json!([1]))),
            (&either, "[1", None),
            (&json!({"enum": ["1"]}), "1", None),
            (&json!({}), "1", Some(json!(1))),
        ] {
            assert_eq!(typed(schema, text), want, "{schema} {text}");
        }
    }

    fn gathered(json: Option<&str>, pairs: &[&str], mut stdin: &[u8]) -> Result<Map<String, Value>, Failure> {
        let pairs: Vec<OsString> = pairs.iter().map(OsString::from).collect();
        gather(Written { json, pairs: &pairs }, None, &mut stdin).map(|gathered| gathered.arguments)
    }

    #[test]
    fn every_form_has_its_meaning() {
        let got = gathered(None, &["a=1=2", "b:=[1,2]", "-i=x", "c:=\"@x\"", "d=@-"], b"from stdin");
        let got = got.expect("all are well formed");
        assert_eq!(Value::Object(got), json!({"a": "1=2", "b": [1, 2], "-i": "x", "c": "@x", "d": "from stdin"}));
        let got = gathered(Some("-"), &["a=2"], br#"{"a": 1, "b": 3}"#).expect("pairs are laid over the object");
        assert_eq!(Value::Object(got), json!({"a": "2", "b": 3}));
    }

    #[test]
    fn slips_are_named() {
        for (json, pairs, stdin) in [
            (None, &["novalue"][..], &b""[..]),
            (None, &["=x"], b""),
            (None, &["a=1", "a=2"], b""),
            (None, &["a=1", "a:=1"], b""),
            (None, &["a:={"], b""),
            (None, &["a=@/no/such/file"], b""),
            (None, &["-", "a=@-"], b"{}"),
            (None, &["a=@-"], b"\xff"),
            (Some("[]"), &[], b""),
            (Some("{"), &[], b""),
        ] {
            assert!(gathered(json, pairs, stdin).is_err(), "{json:?} {pairs:?}");
        }
    }
}
