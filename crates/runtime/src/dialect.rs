//! The names other systems give the same tools and parameters.
//!
//! A dialect renames at the edge; the tool behind is one. Calls are understood in any dialect whose name
//! they use; lists are written in the one that was chosen.

use std::fmt;
use std::str::FromStr;

use nika_contract::ToolError;
use nika_guard::names::{self, NAMES};
use serde_json::{Map, Value, json};

/// A vocabulary of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Ours.
    #[default]
    Nika,
    /// Claude Code's.
    Claude,
    /// Claw Code's, the Rust one.
    Claw,
    /// Claw Code Agent's, the Python one.
    ClawAgent,
}

/// How a dialect writes one parameter.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Another name.
    Name(&'static str),
    /// Another name, in a unit that is so many of ours, and at most so many of it.
    Times { name: &'static str, factor: u64, most: u64, what: &'static str },
    /// A last line instead of a count of lines.
    LastLine { first: &'static str, last: &'static str },
    /// A switch that stands for one value.
    Switch { name: &'static str, on: &'static str },
    /// A parameter of the same name as a field of the list's items: where the list is missing, it is its only item.
    Alone { name: &'static str },
}

use Dialect::{Claude, Claw, ClawAgent};
use Form::{Alone, LastLine, Name, Switch, Times};

/// Claw Code Agent's wait, which is a short one.
const SECONDS: Form = Times { name: "seconds", factor: 1_000, most: 5, what: "Seconds to wait, at most 5." };

/// Dialect, tool, canonical parameter, how the dialect writes it.
const PARAMETERS: &[(Dialect, &str, &str, Form)] = &[
    (Claw, "read", "file_path", Name("path")),
    (Claw, "write", "file_path", Name("path")),
    (Claw, "edit", "file_path", Name("path")),
    (ClawAgent, "read", "file_path", Name("path")),
    (ClawAgent, "read", "limit", LastLine { first: "start_line", last: "end_line" }),
    (ClawAgent, "read", "offset", Name("start_line")),
    (ClawAgent, "write", "file_path", Name("path")),
    (ClawAgent, "edit", "file_path", Name("path")),
    (ClawAgent, "edit", "old_string", Name("old_text")),
    (ClawAgent, "edit", "new_string", Name("new_text")),
    (ClawAgent, "notebook_edit", "notebook_path", Name("path")),
    (ClawAgent, "notebook_edit", "new_source", Name("source")),
    (ClawAgent, "notebook_edit", "edit_mode", Switch { name: "create_cell", on: "insert" }),
    (ClawAgent, "list_dir", "limit", Name("max_entries")),
    (ClawAgent, "grep", "head_limit", Name("max_matches")),
    (Claude, "bash", "dangerously_disable_sandbox", Name("dangerouslyDisableSandbox")),
    (Claw, "bash", "dangerously_disable_sandbox", Name("dangerouslyDisableSandbox")),
    (Claw, "bash", "filesystem_mode", Name("filesystemMode")),
    (Claw, "bash", "namespace_restrictions", Name("namespaceRestrictions")),
    (Claw, "bash", "isolate_network", Name("isolateNetwork")),
    (Claw, "bash", "allowed_mounts", Name("allowedMounts")),
    (ClawAgent, "sleep", "duration_ms", SECONDS),
    (ClawAgent, "ask_user_question", "options", Name("choices")),
    (ClawAgent, "todo_write", "todos", Name("items")),
    (Claude, "task_create", "title", Name("subject")),
    (Claude, "task_create", "active_form", Name("activeForm")),
    (Claude, "task_get", "task_id", Name("taskId")),
    (Claude, "task_update", "task_id", Name("taskId")),
    (Claude, "task_update", "title", Name("subject")),
    (Claude, "task_update", "active_form", Name("activeForm")),
    (Claude, "task_update", "add_blocks", Name("addBlocks")),
    (Claude, "task_update", "add_blocked_by", Name("addBlockedBy")),
    (Claude, "task_output", "timeout_ms", Name("timeout")),
    (ClawAgent, "delegate_agent", "subtasks", Alone { name: "prompt" }),
    (ClawAgent, "web_search", "allowed_domains", Name("domains")),
    (ClawAgent, "mcp_list_tools", "limit", Name("max_tools")),
    (ClawAgent, "mcp_call_tool", "tool", Name("tool_name")),
    (ClawAgent, "task_list", "limit", Name("max_tasks")),
    (ClawAgent, "task_next", "limit", Name("max_tasks")),
    (ClawAgent, "workflow_list", "limit", Name("max_workflows")),
    (ClawAgent, "workflow_run", "workflow", Name("workflow_name")),
];

/// The prefix of canonical names over MCP.
pub(crate) const PREFIX: &str = "nika_";

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 4] = [Dialect::Nika, Claude, Claw, ClawAgent];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Nika => "nika",
            Claude => "claude",
            Claw => "claw",
            ClawAgent => "claw-agent",
        }
    }

    fn column(self) -> Option<usize> {
        match self {
            Dialect::Nika => None,
            Claude => Some(0),
            Claw => Some(1),
            ClawAgent => Some(2),
        }
    }

    /// What this dialect calls the tool; the canonical name where it has none of its own.
    pub fn tool(self, canonical: &str) -> &str {
        self.tool_named(canonical).unwrap_or(canonical)
    }

    /// What this dialect calls the tool of a canonical name; nothing where there is no such tool.
    pub(crate) fn tool_named(self, canonical: &str) -> Option<&'static str> {
        let (name, names) = NAMES.iter().find(|(name, _)| *name == canonical)?;
        Some(self.column().map(|column| names[column]).filter(|own| !own.is_empty()).unwrap_or(name))
    }

    /// A schema with this dialect's parameter names.
    pub fn schema(self, tool: &str, schema: &Value) -> Value {
        let mut schema = schema.clone();
        let rows: Vec<_> = PARAMETERS.iter().filter(|(d, t, ..)| *d == self && *t == tool).collect();
        if rows.is_empty() {
            return schema;
        }
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            let mut renamed = Map::new();
            for (name, field) in std::mem::take(fields) {
                match rows.iter().find(|(_, _, canonical, _)| *canonical == name).map(|row| row.3) {
                    None => drop(renamed.insert(name, field)),
                    Some(Name(own)) => drop(renamed.insert(own.into(), field)),
                    Some(Times { name: own, what, .. }) => {
                        renamed.insert(own.into(), json!({"type": "number", "description": what}));
                    }
                    Some(LastLine { last, .. }) => {
                        renamed.insert(
                            last.into(),
                            json!({"type": "integer", "description": "Last line, counted from 1."}),
                        );
                    }
                    // The list and what may stand for it are both the tool's own.
                    Some(Alone { .. }) => drop(renamed.insert(name, field)),
                    Some(Switch { name: own, .. }) => {
                        renamed.insert(name, field);
                        renamed.insert(own.into(), json!({"type": "boolean", "description": "Make a new cell."}));
                    }
                }
            }
            *fields = renamed;
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            for name in required {
                if let Some((.., Name(own) | Times { name: own, .. })) =
                    rows.iter().find(|(_, _, canonical, _)| name == canonical)
                {
                    *name = json!(own);
                }
            }
        }
        schema
    }

    /// What this dialect calls a parameter, where that is another name.
    pub(crate) fn parameter(self, tool: &str, canonical: &str) -> Option<&'static str> {
        let row = PARAMETERS.iter().find(|(d, t, name, _)| *d == self && *t == tool && *name == canonical)?;
        match row.3 {
            Name(own) | Times { name: own, .. } | LastLine { last: own, .. } => Some(own),
            Switch { .. } | Alone { .. } => None,
        }
    }

    /// Canonical arguments from this dialect's. What is canonical already stays; what the dialect's own bounds forbid is
    /// an error in its own names.
    pub fn arguments(self, tool: &str, arguments: &mut Map<String, Value>) -> Result<(), ToolError> {
        for (_, _, canonical, form) in PARAMETERS.iter().filter(|(d, t, ..)| *d == self && *t == tool) {
            if arguments.contains_key(*canonical) {
                continue;
            }
            match form {
                Name(own) => {
                    if let Some(value) = arguments.shift_remove(*own) {
                        arguments.insert((*canonical).into(), value);
                    }
                }
                Times { name, factor, most, .. } => {
                    if let Some(value) = arguments.shift_remove(*name) {
                        arguments.insert((*canonical).into(), scaled(name, *factor, *most, value)?);
                    }
                }
                LastLine { first, last } => {
                    if let Some(value) = arguments.shift_remove(*last) {
                        arguments.insert((*canonical).into(), count_of_lines(first, last, arguments, value)?);
                    }
                }
                Alone { name } => {
                    if let Some(value) = arguments.shift_remove(*name) {
                        let mut item = Map::new();
                        item.insert((*name).into(), value);
                        arguments.insert((*canonical).into(), json!([item]));
                    }
                }
                Switch { name, on } => {
                    if let Some(Value::Bool(true)) = arguments.shift_remove(*name) {
                        arguments.insert((*canonical).into(), json!(on));
                    }
                }
            }
        }
        Ok(())
    }
}

/// A number as models send it: also as its text.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        other => other.as_f64(),
    }
}

/// So much of another unit in ours. What is no number of it goes on as it is and is refused.
fn scaled(name: &str, factor: u64, most: u64, value: Value) -> Result<Value, ToolError> {
    match number(&value).filter(|count| *count >= 0.0) {
        None => Ok(value),
        Some(count) if count > most as f64 => {
            Err(ToolError::argument(name, format!("takes at most {most}, not {count}")))
        }
        Some(count) => Ok(Value::from((count * factor as f64).round() as u64)),
    }
}

/// How many lines there are up to the last one. What is no whole number goes on as it is and is refused.
fn count_of_lines(first: &str, last: &str, arguments: &Map<String, Value>, value: Value) -> Result<Value, ToolError> {
    let whole = |value: &Value| number(value).filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    // Line 0 is where the first one is, as it is for who counts by an offset.
    let begin = arguments.get(first).and_then(whole).filter(|line| *line != 0.0).unwrap_or(1.0);
    match whole(&value) {
        None => Ok(value),
        Some(end) if end < begin => {
            Err(ToolError::argument(last, format!("{end} is before `{first}`, which is {begin}; no line is between")))
        }
        Some(end) => Ok(Value::from((end - begin) as i64 + 1)),
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = String;

    fn from_str(name: &str) -> Result<Dialect, String> {
        let plain = name.replace('_', "-").to_lowercase();
        Dialect::ALL
            .into_iter()
            .find(|dialect| dialect.name() == plain)
            .ok_or_else(|| format!("unknown dialect '{name}'; use nika, claude, claw or claw-agent"))
    }
}

/// The canonical name for a name in any dialect.
pub(crate) fn canonical(name: &str) -> &str {
    let plain = name.strip_prefix(PREFIX).unwrap_or(name);
    names::canonical(plain)
}

/// Canonical arguments of a call that was written as `name`, by somebody who prefers `chosen`.
pub(crate) fn canonical_arguments(
    chosen: Dialect,
    name: &str,
    tool: &str,
    arguments: &mut Map<String, Value>,
) -> Result<(), ToolError> {
    // Names are shared between dialects; the chosen one has the first word about its parameters, also where the tool is
    // called by the name that it has in none.
    let plain = name.strip_prefix(PREFIX).unwrap_or(name) == tool;
    let speaks =
        |dialect: &Dialect| dialect.column().is_some() && (dialect.tool(tool) == name || (plain && *dialect == chosen));
    std::iter::once(chosen)
        .chain(Dialect::ALL)
        .filter(speaks)
        .try_for_each(|dialect| dialect.arguments(tool, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical_call(chosen: Dialect, name: &str, arguments: Value) -> (String, Value) {
        let tool = canonical(name).to_owned();
        let Value::Object(mut arguments) = arguments else { panic!("arguments are an object") };
        canonical_arguments(chosen, name, &tool, &mut arguments).expect("within the dialect's bounds");
        (tool, Value::Object(arguments))
    }

    fn refused(name: &str, arguments: Value) -> String {
        let Value::Object(mut arguments) = arguments else { panic!("arguments are an object") };
        let refused = canonical_arguments(ClawAgent, name, canonical(name), &mut arguments);
        refused.expect_err("beyond the dialect's bounds").message
    }

    #[test]
    fn a_dialect_keeps_its_own_bounds_in_its_own_words() {
        assert_eq!(refused("sleep", json!({"seconds": 6})), "`seconds`: takes at most 5, not 6");
        assert_eq!(refused("sleep", json!({"seconds": "5.5"})), "`seconds`: takes at most 5, not 5.5");
        let before = "`end_line`: 2 is before `start_line`, which is 4; no line is between";
        assert_eq!(refused("read_file", json!({"path": "a", "start_line": 4, "end_line": 2})), before);
        assert_eq!(refused("read_file", json!({"path": "a", "start_line": "4", "end_line": "2"})), before);
        assert!(refused("read_file", json!({"path": "a", "end_line": 0})).starts_with("`end_line`: 0 is before"));
    }

    #[test]
    fn a_last_line_counts_from_the_first_that_there_is() {
        for (first, last, limit) in [
            (json!(0), json!(2), 2),
            (json!(1), json!(2), 2),
            (json!("3"), json!("5"), 3),
            (json!(-100), json!(-1), 100),
        ] {
            let given = json!({"path": "a", "start_line": first, "end_line": last});
            let (_, arguments) = canonical_call(ClawAgent, "read_file", given.clone());
            assert_eq!(arguments["limit"], json!(limit), "{given}");
        }
    }

    #[test]
    fn calls_are_understood_in_every_dialect() {
        for (chosen, name, given, tool, want) in [
            (Dialect::Nika, "nika_read", json!({"file_path": "a"}), "read", json!({"file_path": "a"})),
            (Dialect::Nika, "read_file", json!({"path": "a"}), "read", json!({"file_path": "a"})),
            (Claude, "Read", json!({"file_path": "a"}), "read", json!({"file_path": "a"})),
            (ClawAgent, "read", json!({"path": "a", "end_line": 7}), "read", json!({"file_path": "a", "limit": 7})),
            (ClawAgent, "read", json!({"file_path": "a", "limit": 3}), "read", json!({"file_path": "a", "limit": 3})),
            (
                ClawAgent,
                "read_file",
                json!({"path": "a", "start_line": 3, "end_line": 7}),
                "read",
                json!({"file_path": "a", "limit": 5, "offset": 3}),
            ),
            (
                ClawAgent,
                "read_file",
                json!({"path": "a", "end_line": 7}),
                "read",
                json!({"file_path": "a", "limit": 7}),
            ),
            (
                Dialect::Nika,
                "edit_file",
                json!({"path": "a", "old_text": "x", "new_text": "y"}),
                "edit",
                json!({"file_path": "a", "old_string": "x", "new_string": "y"}),
            ),
            (
                ClawAgent,
                "grep_search",
                json!({"pattern": "x", "max_matches": 3}),
                "grep",
                json!({"pattern": "x", "head_limit": 3}),
            ),
            (ClawAgent, "list_dir", json!({"max_entries": 3}), "list_dir", json!({"limit": 3})),
            (ClawAgent, "sleep", json!({"seconds": 1.5}), "sleep", json!({"duration_ms": 1500})),
            (ClawAgent, "sleep", json!({"seconds": "0.1"}), "sleep", json!({"duration_ms": 100})),
            (ClawAgent, "sleep", json!({"seconds": 5}), "sleep", json!({"duration_ms": 5000})),
            (ClawAgent, "sleep", json!({"seconds": "long"}), "sleep", json!({"duration_ms": "long"})),
            (Claude, "TaskGet", json!({"taskId": "t"}), "task_get", json!({"task_id": "t"})),
            (
                Claude,
                "Bash",
                json!({"command": "ls", "dangerouslyDisableSandbox": true}),
                "bash",
                json!({"command": "ls", "dangerously_disable_sandbox": true}),
            ),
            (
                Claw,
                "bash",
                json!({"command": "ls", "isolateNetwork": true, "namespaceRestrictions": true, "allowedMounts": []}),
                "bash",
                json!({"command": "ls", "isolate_network": true, "namespace_restrictions": true, "allowed_mounts": []}),
            ),
            (
                ClawAgent,
                "web_search",
                json!({"query": "q", "domains": ["a.org"]}),
                "web_search",
                json!({"query": "q", "allowed_domains": ["a.org"]}),
            ),
            (
                ClawAgent,
                "delegate_agent",
                json!({"prompt": "p", "max_turns": 3}),
                "delegate_agent",
                json!({"subtasks": [{"prompt": "p"}], "max_turns": 3}),
            ),
            (
                ClawAgent,
                "delegate_agent",
                json!({"prompt": "p", "subtasks": ["a"]}),
                "delegate_agent",
                json!({"prompt": "p", "subtasks": ["a"]}),
            ),
            (Claude, "McpAuth", json!({"server": "s"}), "mcp_auth", json!({"server": "s"})),
            (Claw, "Brief", json!({"message": "m"}), "send_user_message", json!({"message": "m"})),
            (
                ClawAgent,
                "notebook_edit",
                json!({"path": "n", "source": "s", "create_cell": true}),
                "notebook_edit",
                json!({"notebook_path": "n", "new_source": "s", "edit_mode": "insert"}),
            ),
        ] {
            let (found, arguments) = canonical_call(chosen, name, given);
            assert_eq!(found, tool, "{name}");
            assert_eq!(arguments, want, "{name}");
        }
    }

    #[test]
    fn a_canonical_name_keeps_its_parameters() {
        let (_, arguments) = canonical_call(ClawAgent, "read", json!({"file_path": "a", "limit": 2}));
        assert_eq!(arguments, json!({"file_path": "a", "limit": 2}));
    }
}
