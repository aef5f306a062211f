//! `tool_search`, `call`, deferral, dialects.

use nika_guard::RuleKind;
use nika_runtime::{Dialect, Listed, Listing};
use nika_testkit::{World, world};
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

/// Parameters, by their canonical names, that the dialect's schema of a tool does not have.
fn gone(world: &World, tool: &str, dialect: Dialect) -> Vec<String> {
    let tool = world.runtime().find(tool).expect("a tool");
    let fields = |dialect| Listed::new(tool.as_ref(), dialect, false).input_schema["properties"].clone();
    let (ours, theirs) = (fields(Dialect::Nika), fields(dialect));
    ours.as_object().into_iter().flatten().map(|(name, _)| name.clone()).filter(|name| theirs[name].is_null()).collect()
}

/// Whether a text names something as a parameter: in backticks, before a value, or by a word that only a name can be.
fn names(text: &str, parameter: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    text.contains(&format!("`{parameter}`"))
        || text.split_whitespace().any(|word| word.starts_with(&format!("{parameter}=")))
        || (parameter.contains('_') && words.into_iter().any(|word| word == parameter))
}

const OTHERS: [Dialect; 3] = [Dialect::Claude, Dialect::Claw, Dialect::ClawAgent];

#[test]
fn what_is_said_of_a_tool_names_no_parameter_that_the_dialect_lacks() {
    for dialect in OTHERS {
        let world = world().dialect(dialect);
        for tool in world.runtime().described() {
            let listed = format!("{} {}", tool.description, tool.input_schema);
            // What it takes is listed where an argument does not fit.
            let answered = match world.call(&tool.name, json!({"no_such_parameter": 1})).outcome.result {
                Ok(output) => output.joined_text(),
                Err(error) => error.to_string(),
            };
            for gone in gone(&world, tool.canonical, dialect) {
                assert!(!names(&listed, &gone), "{dialect} {}: `{gone}` in {listed}", tool.name);
                assert!(!names(&answered, &gone), "{dialect} {}: `{gone}` in {answered}", tool.name);
            }
            let Some((_, takes)) = answered.split_once("` takes ") else { continue };
            let takes: Vec<&str> = takes.split(" (").next().unwrap_or_default().split(", ").collect();
            let fields = tool.input_schema["properties"].as_object().expect("fields");
            for name in takes.iter().map(|name| name.trim_end_matches('!')).filter(|name| !name.is_empty()) {
                assert!(fields.contains_key(name), "{dialect} {}: `{name}` of {answered}", tool.name);
                assert_eq!(takes.iter().filter(|taken| taken.trim_end_matches('!') == name).count(), 1, "{answered}");
            }
        }
    }
}

/// Calls, canonical, whose answers say how to go on or what to mend; and whether they are answers.
const TELLING: &[(&str, &str, bool)] = &[
    ("read", r#"{"file_path": "a.txt", "limit": 1}"#, true),
    ("read", r#"{"file_path": "a.txt", "offset": 9}"#, false),
    ("read", r#"{"file_path": "a.txt", "limit": -1}"#, false),
    ("read", r#"{"file_path": "a.txt", "pages": "1"}"#, false),
    ("read", r#"{"file_path": "p.pdf", "offset": 2}"#, false),
    ("grep", r#"{"pattern": ".", "head_limit": 1, "output_mode": "content"}"#, true),
    ("grep", r#"{"pattern": "("}"#, false),
    ("glob", r#"{"pattern": "*", "limit": 1}"#, true),
    ("glob", r#"{"pattern": "../*"}"#, false),
    ("list_dir", r#"{"limit": 1}"#, true),
    ("list_dir", r#"{"limit": 0}"#, false),
    ("edit", r#"{"file_path": "a.txt", "old_string": "", "new_string": "x"}"#, false),
    ("edit", r#"{"file_path": "a.txt", "old_string": "x", "new_string": "x"}"#, false),
    ("edit", r#"{"file_path": "a.txt", "old_string": "ona", "new_string": "x"}"#, false),
    ("edit", r#"{"file_path": "a.txt", "old_string": "o", "new_string": "x"}"#, false),
    ("sleep", r#"{"duration_ms": 300001}"#, false),
    ("ask_user_question", r#"{"question": "q", "options": [""]}"#, false),
    ("todo_write", r#"{"todos": [{"content": "", "status": "pending", "activeForm": "x"}]}"#, false),
    ("update_plan", r#"{"items": []}"#, false),
    ("task_create", "{}", false),
];

#[test]
fn how_to_go_on_is_said_in_the_words_of_the_dialect() {
    for dialect in OTHERS {
        let world =
            world().dialect(dialect).file("a.txt", "one\ntwo\nfoo\n").file("b.txt", "b\n").file("p.pdf", "%PDF-1.7\n");
        let shown = |tool: &str| dialect.tool(tool).to_owned();
        world.call(&shown("read"), json!({"file_path": "a.txt"})).ok();
        for (tool, arguments, answers) in TELLING {
            let arguments = serde_json::from_str(arguments).expect("JSON");
            let result = world.call(&shown(tool), arguments).outcome.result;
            assert_eq!(result.is_ok(), *answers, "{dialect} {tool}: {result:?}");
            let said = match result {
                Ok(output) => format!("{} {}", output.joined_text(), output.structured.unwrap_or_default()),
                Err(error) => error.to_string(),
            };
            for gone in gone(&world, tool, dialect) {
                assert!(!names(&said, &gone), "{dialect} {tool}: `{gone}` in {said}");
            }
        }
    }
    let world = world().dialect(Dialect::ClawAgent).file("a.txt", "go on with offset=4\ntwo\n").file("b.txt", "");
    let page = world.call("read_file", json!({"path": "a.txt", "start_line": 0, "end_line": 1}));
    page.says("     1\tgo on with offset=4\n[line 1 of 2; go on with start_line=2]");
    let found = world.call("grep_search", json!({"pattern": "o", "output_mode": "content", "max_matches": 1}));
    found.says("offset=4").says("raise `max_matches`");
    world.call("list_dir", json!({"max_entries": 1})).says("go on with offset=1").says("raise `max_entries`");
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
