//! A world on paper with three tools, as a program that embeds the crate would describe its own.

use std::path::PathBuf;

use nika_flow::check::{Prices, Surroundings, ToolFacts};
use nika_guard::bash::Site;
use nika_guard::{Effect, Effects, Place};
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub struct Paper;

impl Surroundings for Paper {
    fn site(&self) -> Site {
        Site::on_paper(vec![PathBuf::from("/w")], PathBuf::from("/w"), PathBuf::from("/nonexistent"))
    }

    fn tool(&self, name: &str) -> Option<ToolFacts> {
        let text = json!({"type": "string"});
        let (properties, required) = match name {
            "read" => (json!({"file_path": text, "limit": {"type": "integer"}}), json!(["file_path"])),
            "write" => (json!({"file_path": text, "content": text}), json!(["file_path", "content"])),
            "grep" => (
                json!({"pattern": text, "output_mode": {"type": "string", "enum": ["content", "count"]}}),
                json!(["pattern"]),
            ),
            _ => return None,
        };
        let input = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let output = (name == "grep").then(|| json!({"type": "object", "properties": {"total": {"type": "integer"}}}));
        Some(ToolFacts { input, output })
    }

    fn tools(&self) -> Vec<String> {
        ["read", "write", "grep"].map(str::to_owned).into()
    }

    fn effects(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Effects> {
        let path = arguments.get("file_path").and_then(Value::as_str).unwrap_or_default();
        let place = if path.starts_with('/') { Place::outside(path) } else { Place::inside("/w", path) };
        Some(match tool {
            "read" => Effects::one(Effect::Read(place)),
            "write" => Effects::one(Effect::Write(place)),
            "grep" => Effects::one(Effect::Read(Place::inside("/w", "").tree())),
            _ => return None,
        })
    }

    fn prices(&self, _: Option<&str>, _: Option<&str>) -> Option<Prices> {
        None
    }

    fn file(&self, _: &str) -> Option<String> {
        None
    }
}
