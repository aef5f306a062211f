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
