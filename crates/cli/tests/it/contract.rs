//! The surface beside its contract: each tool that ships, in each dialect, under the name and with the parameters that
//! `data/surface.json` gives it. That file is a copy of the contract; tools of it that do not ship yet are passed over.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::world::world;

/// Our names of the dialects, and the contract's.
const DIALECTS: &[(&str, &str)] = &[("nika", ""), ("claude", "claude"), ("claw", "claw"), ("claw-agent", "claw_agent")];

/// Parameters that a tool has beside those of the contract: tool, parameters, why.
const MORE: &[(&str, &[&str], &str)] = &[
    (
        "agent",
        &["mode", "max_turns", "allow_write", "allow_shell", "schema", "include_parent_context", "resume_session_id"],
        "what bounds an agent, what it knows, and the object that it answers with",
    ),
    (
        "agent",
        &["subtasks", "strategy", "continue_on_error", "max_failures"],
        "Claw Agent's form for several agents, beside `delegate_agent`",
    ),
    (
        "delegate_agent",
        &[
            "description",
            "prompt",
            "max_turns",
            "allow_write",
            "allow_shell",
            "include_parent_context",
            "resume_session_id",
            "run_in_background",
        ],
        "what is said of all sub-tasks at once",
    ),
    ("ask_user_question", &["question_id"], "the question's name, for answers given beforehand"),
    ("task_create", &["task_id"], "the number that the row is to have"),
    ("mcp_auth", &["via", "again"], "further hosts of a login, and a login anew"),
    (
        "run_task_packet",
        &["scope_path", "acceptance_criteria", "resources", "model"],
        "optional fields of packets as they are written",
    ),
    ("bash", &["tty"], "a terminal for a job, which Codex's `exec_command` has under this name"),
    ("notebook_edit", &["create_cell"], "Claw Agent's switch for `insert`, beside `edit_mode`"),
];

/// Parameters that a system calls otherwise than the contract's table of renames says: dialect, tool, the table's name,
/// the system's own. Both are understood in calls.
const OWN: &[(&str, &str, &str, &str)] = &[
    ("claude", "task_output", "timeout_ms", "timeout"),
    ("claw-agent", "mcp_list_tools", "limit", "max_tools"),
    ("claw-agent", "task_list", "limit", "max_tasks"),
    ("claw-agent", "task_next", "limit", "max_tasks"),
    ("claw-agent", "workflow_list", "limit", "max_workflows"),
];

#[test]
fn names_and_parameters_are_the_contracts_in_every_dialect() {
    let contract: Value = serde_json::from_str(include_str!("../data/surface.json")).expect("the contract is JSON");
    let contract = contract.as_array().expect("a list");
    let world = world();
    let mut wrong = Vec::new();
    for (dialect, column) in DIALECTS {
        let surface = world.run(&["tools", "--json", "--dialect", dialect]).json();
        for tool in surface.as_array().expect("a list") {
            let canonical = tool["canonical"].as_str().expect("a name");
            let Some(row) = contract.iter().find(|row| row["name"] == canonical) else {
                wrong.push(format!("{canonical} is not in the contract"));
                continue;
            };
            let name = row["dialects"][column].as_str().unwrap_or(canonical);
            if tool["name"] != name {
                wrong.push(format!("{dialect}: {canonical} is called {}, not {name}", tool["name"]));
            }
            // `*` is any object.
            let wanted = row["params"].as_array().map(Vec::as_slice).unwrap_or_default();
            if wanted.iter().any(|parameter| parameter == "*") {
                continue;
            }
            let wanted: BTreeSet<(String, bool)> = wanted
                .iter()
                .map(|parameter| parameter.as_str().expect("a name"))
                .map(|parameter| (parameter.trim_end_matches('!'), parameter.ends_with('!')))
                .map(|(parameter, required)| (written(row, dialect, column, parameter), required))
                .collect();
            let schema = &tool["input_schema"];
            let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
            let more: Vec<&str> =
                MORE.iter().filter(|(tool, ..)| *tool == canonical).flat_map(|row| row.1).copied().collect();
            let has: BTreeSet<(String, bool)> = schema["properties"]
                .as_object()
                .into_iter()
                .flat_map(|fields| fields.keys())
                .filter(|field| !more.contains(&field.as_str()))
                .map(|field| (field.clone(), required.iter().any(|name| name == field)))
                .collect();
            if has != wanted {
                let (has, wanted) = (has.difference(&wanted).collect::<Vec<_>>(), wanted.difference(&has));
                wrong.push(format!("{dialect}: {canonical} has {has:?} instead of {:?}", wanted.collect::<Vec<_>>()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A parameter as a dialect writes it: the contract's rename, which may compute (`seconds*1000`,
/// `(end_line-start_line+1)`: the first word is the parameter), or the system's own name.
fn written(row: &Value, dialect: &str, column: &str, parameter: &str) -> String {
    let own = OWN.iter().find(|(of, tool, known, _)| *of == dialect && row["name"] == *tool && *known == parameter);
    if let Some((.., own)) = own {
        return (*own).to_owned();
    }
    let Some(renamed) = row["renames"][column][parameter].as_str() else { return parameter.to_owned() };
    let words: Vec<&str> =
        renamed.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
    words[0].to_owned()
}
