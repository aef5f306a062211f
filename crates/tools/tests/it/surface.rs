//! `tool_search`, `call`, deferral, dialects.

use nika_runtime::{Dialect, Listing};
use nika_testkit::world;
use serde_json::json;

#[test]
fn the_first_list_is_eager_and_sorted() {
    let world = world().listing(Listing::Eager);
    let names: Vec<String> = world.runtime().list(None).into_iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        ["nika_call", "nika_edit", "nika_glob", "nika_grep", "nika_read", "nika_tool_search", "nika_write"]
    );
}

#[test]
fn an_unloaded_tool_answers_with_its_schema_and_then_runs() {
    let world = world().listing(Listing::Eager).file("a", "");
    let first = world.call("nika_list_dir", json!({}));
    assert!(first.refused(103).message.contains("\"input_schema\""));
    assert!(first.outcome.tools_changed);
    world.call("nika_list_dir", json!({})).says("a  0 B");
    world.call("call", json!({"tool": "checkpoints", "arguments": {}})).ok();
    assert_eq!(world.journal().iter().filter(|line| line["tool"] == "call").count(), 0, "logged as the inner tool");
}

#[test]
fn what_tool_search_shows_is_loaded() {
    let world = world().listing(Listing::Eager).file("a", "");
    let found = world.call("tool_search", json!({"query": "select:list_dir,undo,nonsense"}));
    found.says("\"nika_list_dir\"").says("No tool is called nonsense");
    assert!(found.outcome.tools_changed);
    world.call("list_dir", json!({})).says("a  0 B");
    let names: Vec<&str> = world.runtime().surface().iter().map(|tool| tool.canonical).collect();
    assert!(names.contains(&"change_set"));
}

/// Paraphrases that share few words with the descriptions.
const PARAPHRASES: &[(&str, &[&str])] = &[
    (
        "todo_write",
        &["keep a checklist", "track my progress", "write down what is left to do", "to-do list", "tick off an item"],
    ),
    (
        "update_plan",
        &[
            "make a plan",
            "revise the plan",
            "outline the steps of the work",
            "write a roadmap",
            "add a step to my plan",
        ],
    ),
    (
        "plan_get",
        &["what was the plan", "show the plan", "current plan steps", "read my plan", "next step of the plan"],
    ),
    (
        "plan_clear",
        &["throw the plan away", "discard the plan", "remove my plan", "reset the plan", "abandon the whole plan"],
    ),
    (
        "task_create",
        &[
            "open a ticket",
            "create an issue for later",
            "delegate work to a background agent",
            "new task",
            "add a task",
        ],
    ),
    (
        "task_list",
        &[
            "list all tickets",
            "what tasks are open",
            "show the backlog",
            "remaining tasks",
            "all tasks of the workspace",
        ],
    ),
    (
        "task_next",
        &["what should I work on next", "which task is ready", "next available task", "pick a task", "unblocked tasks"],
    ),
    ("task_start", &["claim a task", "begin working on a task", "take a task", "pick up a ticket", "start a task"]),
    (
        "task_complete",
        &["mark a task done", "close a ticket", "finish a task", "resolve an issue", "the task is completed"],
    ),
    (
        "task_block",
        &["a task depends on another", "put a task on hold", "task is stuck", "add a dependency", "task has to wait"],
    ),
    ("task_cancel", &["give up a task", "abandon a task", "cancel a ticket", "drop a task", "task won't be done"]),
    (
        "task_update",
        &["assign a task to somebody", "rename a task", "reopen a task", "delete a task", "change a task's priority"],
    ),
    ("task_get", &["details of one task", "show a ticket", "description of a task", "one task whole", "task notes"]),
    (
        "task_output",
        &[
            "wait for an agent to finish",
            "result of a background task",
            "poll a task",
            "has the agent finished",
            "answer of the agent",
        ],
    ),
    (
        "task_stop",
        &[
            "abort a running task",
            "kill the agent of a task",
            "stop an agent",
            "terminate a task",
            "end the work on a task",
        ],
    ),
    (
        "change_set",
        &[
            "edit several files at once",
            "rename a file",
            "delete a file",
            "atomic multi-file refactoring",
            "move a module to another folder",
            "apply a patch over many files together",
        ],
    ),
    (
        "notebook_edit",
        &[
            "change a jupyter cell",
            "insert a markdown cell",
            "edit ipynb",
            "remove a code cell from my notebook",
            "update python notebook",
        ],
    ),
    (
        "list_dir",
        &["what is in this folder", "ls", "show directory contents", "browse a directory", "list entries of a folder"],
    ),
    (
        "undo",
        &[
            "revert my last change",
            "roll back an edit",
            "restore the previous version",
            "take back a mistake",
            "go back to a checkpoint",
        ],
    ),
    (
        "checkpoints",
        &["history of changes", "which calls changed files", "list snapshots", "what can I undo", "earlier versions"],
    ),
    (
        "read",
        &[
            "show me a file",
            "view an image",
            "look at pdf pages",
            "open file with line numbers",
            "display the contents of a file",
        ],
    ),
    (
        "write",
        &[
            "create a new file",
            "save text to disk",
            "overwrite a file",
            "make a file with this content",
            "put content in a file",
        ],
    ),
    (
        "edit",
        &[
            "replace text in a file",
            "change a line",
            "modify a function",
            "substitute a string",
            "fix a typo in a file",
        ],
    ),
    (
        "glob",
        &[
            "find files by name",
            "files with an extension",
            "locate files matching a pattern",
            "which files changed most recently",
            "list all rust files",
        ],
    ),
    (
        "grep",
        &[
            "search text in files",
            "find usages of a function",
            "regex search",
            "ripgrep",
            "look for a string in the code",
        ],
    ),
    (
        "ask_user_question",
        &[
            "ask the user to decide",
            "clarify what the person wants",
            "put a question to the human",
            "let the user choose between options",
            "which one does the user prefer",
        ],
    ),
    (
        "send_user_message",
        &[
            "tell the user about progress",
            "notify the person",
            "send a status update",
            "inform the human meanwhile",
            "show a message",
        ],
    ),
    (
        "skill",
        &["use a skill", "instructions for a task", "follow a playbook", "run a slash command", "is there a recipe"],
    ),
    (
        "enter_plan_mode",
        &["plan before acting", "read-only planning", "propose a design first", "start plan mode", "think first"],
    ),
    (
        "exit_plan_mode",
        &["the plan is ready", "get the plan approved", "leave plan mode", "approval of the plan", "show my proposal"],
    ),
    (
        "structured_output",
        &["return json", "structured result", "answer as an object", "output by schema", "return a structured answer"],
    ),
];

#[test]
fn paraphrases_find_their_tool_in_the_top_three() {
    let world = world();
    let mut missed = Vec::new();
    for (tool, queries) in PARAPHRASES {
        assert!(queries.len() >= 5);
        for query in *queries {
            let text = world.call("tool_search", json!({"query": query, "max_results": 3})).text();
            if !text.contains(&format!("\"name\":\"nika_{tool}\"")) {
                missed.push(format!("{tool}: {query}"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn dialects_rename_at_the_edge() {
    let world = world().dialect(Dialect::ClawAgent).file("a.txt", "one\ntwo\nthree\n");
    let read = world.runtime().list(None).into_iter().find(|tool| tool.canonical == "read").expect("listed");
    assert_eq!(read.name, "read_file");
    let fields: Vec<&String> = read.input_schema["properties"].as_object().expect("fields").keys().collect();
    assert!(
        fields.iter().any(|name| *name == "start_line") && fields.iter().any(|name| *name == "end_line"),
        "{fields:?}"
    );
    let text = world.call("read_file", json!({"path": "a.txt", "start_line": 2, "end_line": 2})).text();
    assert!(text.contains("two") && !text.contains("three"), "{text}");
    world.call("edit_file", json!({"path": "a.txt", "old_text": "two", "new_text": "2"})).ok();
    world.call("Read", json!({"file_path": "a.txt"})).says("2");
}
