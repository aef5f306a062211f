//! The names other systems give the same tools and parameters.
//!
//! A dialect renames at the edge; the tool behind is one. Calls are understood in any dialect whose name
//! they use; lists are written in the one that was chosen.

use std::fmt;
use std::str::FromStr;

use nika_contract::{ToolError, code};
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
    /// Another name, in a unit that is so many of ours.
    Times { name: &'static str, factor: u64, what: &'static str },
    /// A last line instead of a count of lines.
    LastLine { first: &'static str, last: &'static str },
    /// A switch that stands for one value.
    Switch { name: &'static str, on: &'static str },
    /// A parameter of the same name as a field of the list's items: where the list is missing, it is its only item.
    Alone { name: &'static str },
}

use Dialect::{Claude, Claw, ClawAgent};
use Form::{Alone, LastLine, Name, Switch, Times};

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
    (ClawAgent, "sleep", "duration_ms", Times { name: "seconds", factor: 1_000, what: "Seconds to wait." }),
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
        let own = self
            .column()
            .and_then(|column| NAMES.iter().find(|(name, _)| *name == canonical).map(|(_, names)| names[column]));
        own.filter(|name| !name.is_empty()).unwrap_or(canonical)
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

    /// An error about arguments with the names that the caller was shown. A name stands between backticks, or in the list
    /// of what a tool takes.
    pub(crate) fn told(self, tool: &str, error: ToolError) -> ToolError {
        if self.column().is_none() || error.code != code::BAD_ARGUMENTS {
            return error;
        }
        let own = |word: &str| {
            let named = PARAMETERS.iter().find(|(d, t, canonical, _)| *d == self && *t == tool && *canonical == word);
            match named.map(|row| row.3) {
                Some(Name(own)) => own.to_owned(),
                Some(Times { name, .. }) => name.to_owned(),
                _ if word == tool => self.tool(tool).to_owned(),
                _ => word.to_owned(),
            }
        };
        let renamed = |text: &str| {
            let mut told = String::with_capacity(text.len());
            let mut listed = false;
            for piece in text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
                let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
                let rest = &piece[word.len()..];
                let quoted = told.ends_with('`') && rest.starts_with(['`', '.', '[']);
                told.push_str(&if quoted || listed { own(word) } else { word.to_owned() });
                told.push_str(rest);
                listed |= told.ends_with("` takes ");
            }
            told
        };
        ToolError { message: renamed(&error.message), hint: error.hint.as_deref().map(renamed), ..error }
    }

    /// Canonical arguments from this dialect's. What is canonical already stays.
    fn arguments(self, tool: &str, arguments: &mut Map<String, Value>) {
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
                Times { name, factor, .. } => {
                    if let Some(value) = arguments.shift_remove(*name) {
                        // What is no number of that unit goes on as it is and is refused.
                        let ours = value.as_f64().filter(|value| *value >= 0.0);
                        let ours = ours.map(|value| Value::from((value * *factor as f64).round() as u64));
                        arguments.insert((*canonical).into(), ours.unwrap_or(value));
                    }
                }
                LastLine { first, last } => {
                    if let Some(last) = arguments.shift_remove(*last) {
                        let first = arguments.get(*first).and_then(Value::as_i64).unwrap_or(1);
                        // What is no number, or ends before it begins, goes on as it is and is refused.
                        let count = last.as_i64().map(|last| last.saturating_sub(first).saturating_add(1));
                        arguments.insert((*canonical).into(), count.map_or(last, Value::from));
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
pub(crate) fn canonical_arguments(chosen: Dialect, name: &str, tool: &str, arguments: &mut Map<String, Value>) {
    // Names are shared between dialects; the chosen one has the first word about its parameters, also where the tool is
    // called by the name that it has in none.
    let plain = name.strip_prefix(PREFIX).unwrap_or(name) == tool;
    let speaks =
        |dialect: &Dialect| dialect.column().is_some() && (dialect.tool(tool) == name || (plain && *dialect == chosen));
    for dialect in std::iter::once(chosen).chain(Dialect::ALL).filter(speaks) {
        dialect.arguments(tool, arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical_call(chosen: Dialect, name: &str, arguments: Value) -> (String, Value) {
        let tool = canonical(name).to_owned();
        let Value::Object(mut arguments) = arguments else { panic!("arguments are an object") };
        canonical_arguments(chosen, name, &tool, &mut arguments);
        (tool, Value::Object(arguments))
    }

    #[test]
    fn an_error_speaks_of_the_names_that_were_shown() {
        let error = || {
            ToolError::new(
                code::BAD_ARGUMENTS,
                "`old_string`: unknown field `x`, expected one of `file_path`, `new_string`",
            )
            .hint("`edit` takes file_path!, old_string!, new_string!, replace_all (! is required)")
        };
        let told = ClawAgent.told("edit", error());
        assert_eq!(told.message, "`old_text`: unknown field `x`, expected one of `path`, `new_text`");
        let hint =
            format!("`{}` takes path!, old_text!, new_text!, replace_all (! is required)", ClawAgent.tool("edit"));
        assert_eq!(told.hint, Some(hint));
        assert_eq!(Dialect::Nika.told("edit", error()), error());
        // What is no name stays: words of a sentence, paths, other errors.
        let plain = ToolError::argument("limit", "takes at least 1; the limit of title is `a.rs`");
        assert_eq!(
            ClawAgent.told("list_dir", plain).message,
            "`max_entries`: takes at least 1; the limit of title is `a.rs`"
        );
        let other = ToolError::new(code::NOT_FOUND, "`file_path`");
        assert_eq!(ClawAgent.told("edit", other.clone()), other);
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
