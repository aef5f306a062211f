//! Other people's MCP servers: under `mcp.servers` in our own files, and in the files that other programs keep them in.
//!
//! What stands there is only read here. Whether it may be used is trust's to say, and what a server is, `nika_mcp`'s.

use std::fmt;
use std::path::Path;

use nika_guard::Layer;
use nika_mcp::client::auth::{OAUTH_KEYS, Takes};
use nika_mcp::client::{KEYS, Written, name_problem};
use serde_json::{Map, Value, json};

use super::ConfigError;
use super::change::Change;
use super::file;
use super::keys::{Brought, Reads, Said, Wrong, expected};
use super::yaml::{Key, Kind, Node};

/// The files of other programs, at the root of a repository; the later wins over the earlier.
pub const FILES: [&str; 4] = ["mcp.json", ".codex-mcp.json", ".claw-mcp.json", ".mcp.json"];

/// A server as a layer has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// What stands there, or what is wrong with it.
    pub written: Result<Written, String>,
    /// Who brought it.
    pub layer: Layer,
    /// `file:line`.
    pub at: String,
}

/// A server before it is known whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub name: String,
    pub written: Result<Written, String>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Ok(written) => write!(f, "{} ({})", written.place(), written.transport),
            Err(why) => f.write_str(why),
        }
    }
}

/// Puts a server in its place among those known: the later wins, but what is held back replaces nothing that holds. So
/// of two that a repository brings the same one is shown before trust and used after it.
pub(super) fn place(all: &mut Vec<McpServer>, named: &Named, layer: Layer, at: &str, held_back: bool) {
    let known = all.iter().position(|server| server.name == named.name);
    let server = McpServer { name: named.name.clone(), written: named.written.clone(), layer, at: at.to_owned() };
    match known {
        Some(known) if held_back && !all[known].layer.is_repository() => {}
        Some(known) => all[known] = server,
        None => all.push(server),
    }
}

/// Reads the mapping under `mcp.servers`.
pub(super) fn read(node: &Node, _home: Option<&str>) -> Reads {
    let entries = match &node.kind {
        Kind::Nothing => return Ok(Vec::new()),
        Kind::Map(entries) => entries,
        _ => return expected(node, "a mapping from names of servers to what they are"),
    };
    let server = |(key, value): &(Key, Node)| {
        let wrong = |what: String| Wrong::Value { spot: value.spot, what: format!("{}: {what}", key.name), hint: None };
        if let Some(problem) = name_problem(&key.name) {
            let what = format!("'{}' is no name: {problem}", key.name.escape_debug());
            return Err(Wrong::Value { spot: key.spot, what, hint: None });
        }
        let written = Written::read(&key.name, &plain(value), true).map_err(wrong)?;
        let named = Named { name: key.name.clone(), written: Ok(written) };
        Ok((key.spot, Some(key.name.clone()), Change::Server(Box::new(named))))
    };
    entries.iter().map(server).collect()
}

/// A node without its places.
fn plain(node: &Node) -> Value {
    match &node.kind {
        Kind::Nothing => Value::Null,
        Kind::Bool(value) => (*value).into(),
        Kind::Whole(value) => (*value).into(),
        Kind::Text(text) | Kind::Odd(text) => text.as_str().into(),
        Kind::List(items) => Value::Array(items.iter().map(plain).collect()),
        Kind::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.name.clone(), plain(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// Files that were read, by name.
type Texts = Vec<(String, String)>;

/// What the files of other programs say, a layer each, and their texts.
pub(super) fn of_repository(project_dir: &Path) -> Result<(Vec<Brought>, Texts), ConfigError> {
    let (mut layers, mut seen) = (Vec::new(), Vec::new());
    for name in FILES {
        if let Some(file) = file::open_beneath(project_dir, name)? {
            layers.push(Brought { layer: Layer::Project, said: said(name, &file.text)? });
            seen.push((name.to_owned(), file.text));
        }
    }
    Ok((layers, seen))
}

/// The servers in one such file. One that cannot be used is said to be so and harms no other.
fn said(file: &str, text: &str) -> Result<Vec<Said>, ConfigError> {
    let root: Value = serde_json::from_str(text).map_err(|error| ConfigError::Malformed {
        at: format!("{file}:{}:{}", error.line(), error.column()),
        what: "this is not JSON".to_owned(),
        hint: Some(error.to_string()),
    })?;
    let servers = ["mcpServers", "servers"].iter().find_map(|key| root.get(key)?.as_object());
    let server = |(name, value): (&String, &Value)| {
        let named = Named { name: name.clone(), written: Written::read(name, value, false) };
        let key = format!("mcp.servers.{name}");
        Said {
            key,
            change: Change::Server(Box::new(named)),
            at: format!("{file}:{}", line_of(text, name)),
            column: None,
        }
    };
    Ok(servers.into_iter().flatten().map(server).collect())
}

/// The line on which a key first stands.
fn line_of(text: &str, key: &str) -> usize {
    let quoted = json!(key).to_string();
    let at = text.match_indices(&quoted).find(|(at, found)| text[at + found.len()..].trim_start().starts_with(':'));
    at.map_or(1, |(at, _)| text[..at].matches('\n').count() + 1)
}

/// The JSON schema of a server's `oauth`.
fn oauth() -> Value {
    let takes = |takes: &Takes| match takes {
        Takes::Text => json!({ "type": "string" }),
        Takes::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Takes::Port => json!({ "type": "integer", "minimum": 1, "maximum": 65_535 }),
        Takes::One(values) => json!({ "enum": values }),
    };
    let property = |(key, kind, about): &(&str, Takes, &str)| {
        let mut property = takes(kind);
        property["description"] = (*about).into();
        ((*key).to_owned(), property)
    };
    let properties: Map<String, Value> = OAUTH_KEYS.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The JSON schema of `mcp.servers`.
pub(super) fn schema() -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let pairs = || json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } });
    let ms = || json!({ "type": "integer", "minimum": 100, "maximum": 3_600_000 });
    let of = |key: &str| match key {
        "command" => json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] }),
        "args" | "net" => texts(),
        "env" | "headers" => pairs(),
        "type" => json!({ "enum": ["stdio", "http", "sse"] }),
        "connect_timeout_ms" | "timeout_ms" => ms(),
        "write" | "sampling" | "disabled" => json!({ "type": "boolean" }),
        "oauth" => oauth(),
        "tools" => json!({
            "type": "object",
            "properties": { "allow": texts(), "deny": texts() },
            "additionalProperties": false,
        }),
        _ => text(),
    };
    let mut properties = Map::new();
    for (key, takes) in KEYS {
        let mut field = of(key);
        field["description"] = format!("It takes {takes}.").into();
        properties.insert((*key).to_owned(), field);
    }
    let server = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    json!({ "type": ["object", "null"], "additionalProperties": server })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_programs_are_read_leniently_and_say_their_lines() {
        let text = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\", \"autoApprove\": []},\n    \"b c\": {\"url\": \"u\"}\n  }\n}";
        let said = said(".mcp.json", text).expect("it is JSON");
        let shown: Vec<String> = said.iter().map(|said| format!("{} {} {}", said.at, said.key, said.change)).collect();
        assert_eq!(shown[0], ".mcp.json:3 mcp.servers.a x (stdio)");
        assert!(shown[1].starts_with(".mcp.json:4 mcp.servers.b c a server's name is"), "{}", shown[1]);
        assert!(super::said("mcp.json", "{\"name\": \"something else\"}").expect("it is JSON").is_empty());
        let broken = super::said(".mcp.json", "{").expect_err("it is none").to_string();
        assert!(broken.contains(".mcp.json:1:1") && broken.contains("not JSON"), "{broken}");
    }

    #[test]
    fn what_is_held_back_replaces_nothing() {
        let named = |command: &str| Named {
            name: "s".into(),
            written: Written::read("s", &json!({ "command": command }), true),
        };
        let mut all = Vec::new();
        place(&mut all, &named("mine"), Layer::User, "u:1", false);
        place(&mut all, &named("theirs"), Layer::Project, "p:1", true);
        assert_eq!((all.len(), all[0].layer), (1, Layer::User));
        place(&mut all, &named("theirs"), Layer::Project, "p:1", false);
        assert_eq!((all.len(), all[0].layer), (1, Layer::Project));
    }

    #[test]
    fn of_two_files_the_same_server_is_shown_before_trust_and_used_after_it() {
        let written = |command: &str| Written::read("s", &json!({ "command": command }), true);
        for held_back in [true, false] {
            let mut all = Vec::new();
            for file in FILES {
                let named = Named { name: "s".into(), written: written(file) };
                place(&mut all, &named, Layer::Project, file, held_back);
            }
            assert_eq!((all.len(), all[0].at.as_str()), (1, ".mcp.json"), "{held_back}");
        }
    }
}
