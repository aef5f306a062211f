//! `tool_search`, `call`, deferral, dialects.

use nika_guard::RuleKind;
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

#[test]
fn what_works_only_for_whom_a_caller_asked_is_found_by_nobody_else() {
    let world = world();
    for query in ["return json", "structured result", "answer as an object", "select:structured_output"] {
        let text = world.call("tool_search", json!({"query": query})).text();
        assert!(!text.contains("\"name\":\"nika_structured_output\""), "{query}: {text}");
    }
    assert!(world.runtime().list(None).iter().all(|tool| tool.canonical != "structured_output"));
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

/// A small surface is shown whole; one tool more, and all but the eager ones are deferred.
#[test]
fn few_tools_are_not_deferred() {
    // What the world of a test defers above.
    const DEFER_ABOVE: usize = 8;
    let all: Vec<&str> = world().runtime().surface().iter().map(|tool| tool.canonical).collect();
    let own: Vec<&str> = all.into_iter().filter(|name| !["call", "tool_search"].contains(name)).collect();
    let left = |count: usize| {
        let world = own[count..]
            .iter()
            .fold(world().listing(Listing::Eager), |world, tool| world.rule(RuleKind::Deny, &format!("tool({tool})")));
        world.runtime().list(None).into_iter().map(|tool| tool.canonical).collect::<Vec<_>>()
    };
    assert_eq!(left(DEFER_ABOVE), own[..DEFER_ABOVE], "all of them, and nothing to find more with");
    let deferring = left(DEFER_ABOVE + 1);
    assert!(deferring.contains(&"tool_search") && deferring.contains(&"call"), "{deferring:?}");
    assert!(deferring.len() < DEFER_ABOVE + 1, "{deferring:?}");
}
