//! Scripts of the provider `scripted`, which lie beside the workflows that they answer: `nika check workflows/*.yaml`
//! names both. One is known by its name, so that a workflow without `schema` is still told that it lacks it.

use std::path::Path;

use nika_agent::provider::Scripted;
use nika_contract::{ToolError, code};
use serde_json::{Value, json};

/// How the names of scripts end.
const ENDINGS: &[&str] = &[".script.yaml", ".script.yml"];

/// Whether the file is a script.
pub(super) fn is_one(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Why it cannot be played, if it cannot.
pub(super) fn check(name: &str, text: &str) -> Option<ToolError> {
    Scripted::parse(name, text).err().map(|error| ToolError::new(code::NO_MODEL, error.message))
}

/// What `--json` shows of it.
pub(super) fn object(name: &str, fault: Option<&ToolError>) -> Value {
    let finding =
        |error: &ToolError| json!({"code": error.code.to_string(), "weight": "error", "message": error.message});
    json!({"file": name, "clean": fault.is_none(), "script": true, "findings": fault.map(finding).into_iter().collect::<Vec<_>>()})
}
