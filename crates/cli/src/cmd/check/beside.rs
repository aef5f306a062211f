//! What lies beside workflows and is none: scripts of the provider `scripted`, and tests with the results that workflows
//! are to have. `nika check workflows/*.yaml` names them all. Each is known by its name, so that a workflow without
//! `schema` is still told that it lacks it.

use std::path::Path;

use nika_agent::provider::Scripted;
use nika_contract::{ToolError, code};
use serde_json::{Value, json};

use crate::cmd::test;

/// A kind of file.
#[derive(Debug)]
pub(super) struct Kind {
    /// As lines and objects name it.
    pub what: &'static str,
    /// How its names end.
    endings: &'static [&'static str],
    /// Why it cannot be used, if it cannot: its name, and its text.
    faults: fn(&str, &str) -> Option<ToolError>,
}

const KINDS: &[Kind] = &[
    Kind {
        what: "script",
        endings: &[".script.yaml", ".script.yml"],
        faults: |name, text| {
            Scripted::parse(name, text).err().map(|error| ToolError::new(code::NO_MODEL, error.message))
        },
    },
    Kind {
        what: "test",
        endings: &[".test.yaml"],
        faults: |name, text| {
            test::unreadable(text).map(|why| ToolError::new(code::FLOW_SHAPE, format!("{name} is no test: {why}")))
        },
    },
];

/// What the file is, if it is no workflow.
pub(super) fn kind(file: &Path) -> Option<&'static Kind> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    KINDS.iter().find(|kind| kind.endings.iter().any(|ending| name.ends_with(ending)))
}

impl Kind {
    /// Why it cannot be used, if it cannot.
    pub fn check(&self, name: &str, text: &str) -> Option<ToolError> {
        (self.faults)(name, text)
    }

    /// What `--json` shows of it.
    pub fn object(&self, name: &str, fault: Option<&ToolError>) -> Value {
        let mut object = unread(name, fault);
        object[self.what] = true.into();
        object
    }
}

/// What `--json` shows of a file of which nothing is known but a fault.
pub(super) fn unread(name: &str, fault: Option<&ToolError>) -> Value {
    let finding =
        |error: &ToolError| json!({"code": error.code.to_string(), "weight": "error", "message": error.message});
    json!({"file": name, "clean": fault.is_none(), "findings": fault.map(finding).into_iter().collect::<Vec<_>>()})
}
