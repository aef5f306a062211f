//! The MCP server over stdio, as a client meets it.

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::world::{exists, world};

const EAGER: &[&str] =
    &["nika_bash", "nika_call", "nika_edit", "nika_glob", "nika_grep", "nika_read", "nika_tool_search", "nika_write"];

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

#[test]
fn both_handshakes_are_answered() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let world = world();
        let mut peer = Peer::start(world.nika(&["serve"]));
        let hello = peer.initialize(revision);
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(hello["serverInfo"]["name"], "nika");
        let said = hello["instructions"].as_str().expect("instructions");
        let root = world.root().canonicalize().expect("it exists");
        for part in [root.to_str().expect("UTF-8"), "Mode ask", "NIKA-205", "nika_undo", "nika_tool_search"] {
            assert!(said.contains(part), "no {part} in {said}");
        }
        assert!(said.len() < 800, "{} bytes", said.len());
        assert_eq!(peer.names(), EAGER);
        assert_eq!(peer.end(), 0);
    }
}

#[test]
fn the_revision_without_handshakes_is_served() {
    let world = world().file("a.txt", "one\n");
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.stateless("2026-07-28", json!({}));
    let discovered = peer.request("server/discover", json!({}));
    assert!(
        discovered["result"]["supportedVersions"].as_array().is_some_and(|v| v.contains(&json!("2026-07-28"))),
        "{discovered}"
    );
    assert_eq!(peer.names(), EAGER);
    assert!(text(&peer.call("nika_read", json!({"file_path": "a.txt"}))).contains("one"));
}

#[test]
fn a_client_reads_edits_and_takes_back() {
    let world = world().file("a.txt", "one\ntwo\n");
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "accept-edits"]));
    peer.initialize("2025-06-18");
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "2"});
    let refused = peer.call("nika_edit", edit.clone());
    assert!(refused["isError"] == true && text(&refused).contains("NIKA-203"), "{refused}");
    peer.call("nika_read", json!({"file_path": "a.txt"}));
    let edited = peer.call("nika_edit", edit);
    assert_ne!(edited["isError"], true, "{edited}");
    assert_eq!(world.text("a.txt"), "one\n2\n");
    let undone = peer.call("nika_call", json!({"tool": "undo", "arguments": {}}));
    assert_ne!(undone["isError"], true, "{undone}");
    assert_eq!(world.text("a.txt"), "one\ntwo\n");
}

#[test]
fn where_nobody_can_be_asked_the_default_only_reads() {
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.initialize("2025-06-18");
    let refused = peer.call("nika_write", json!({"file_path": "a.txt", "content": "x"}));
    assert!(text(&refused).contains("NIKA-205") && text(&refused).contains("--mode accept-edits"), "{refused}");
    assert!(!exists(world.root().join("a.txt")));
}

#[test]
fn a_deferred_tool_answers_with_its_schema_and_then_runs() {
    let world = world().file("a.txt", "one\n");
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.initialize("2025-11-25");
    let first = peer.call("nika_list_dir", json!({"path": "."}));
    assert!(text(&first).contains("NIKA-103") && text(&first).contains("input_schema"), "{first}");
    assert!(text(&peer.call("nika_list_dir", json!({"path": "."}))).contains("a.txt"));
    assert!(peer.names().contains(&"nika_list_dir".to_owned()));
    let told = |message: &Value| message["method"] == "notifications/tools/list_changed";
    assert!(peer.heard.iter().any(told), "{:?}", peer.heard);
}

#[test]
fn the_gateway_and_the_search_reach_everything() {
    let world = world().file("a.txt", "one\n");
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.initialize("2025-06-18");
    let listed = peer.call("nika_call", json!({"tool": "list_dir", "arguments": {"path": "."}}));
    assert!(text(&listed).contains("a.txt"), "{listed}");
    let found = peer.call("nika_tool_search", json!({"query": "select:checkpoints"}));
    assert!(text(&found).contains("nika_checkpoints"), "{found}");
    assert_ne!(peer.call("nika_checkpoints", json!({}))["isError"], true);
    let slip = peer.call("nika_call", json!({"tool": "lst_dir", "arguments": {}}));
    assert!(text(&slip).contains("NIKA-101") && text(&slip).contains("list_dir"), "{slip}");
    let unknown = peer.request("tools/call", json!({"name": "nika_lst_dir", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn lists_as_asked_for() {
    let world = world();
    let all = world.run(&["tools", "--json"]).json().as_array().expect("a list").len();
    for (words, want) in [
        // Nothing is deferred, so nothing has to be found or called through another tool; and no client wants an
        // object for an answer.
        (&["serve", "--list", "all"][..], all - 3),
        (&["serve", "--list", "read,grep"], 4),
        (&["serve", "--deny", "tool(write)"], EAGER.len() - 1),
    ] {
        let mut server = world.nika(words);
        server.env("PATH", crate::powershell::installed(&world));
        let mut peer = Peer::start(server);
        peer.initialize("2025-06-18");
        assert_eq!(peer.names().len(), want, "{words:?}");
    }
    let mut peer = Peer::start(world.nika(&["serve", "--dialect", "claude"]));
    peer.initialize("2025-06-18");
    let names = peer.names();
    assert!(["Read", "Edit", "Grep", "ToolSearch"].iter().all(|name| names.contains(&(*name).to_owned())), "{names:?}");
}

#[test]
fn a_question_travels_as_a_result_and_is_answered_with_the_next_call() {
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let wanted = json!({"file_path": "a.txt", "content": "x"});
    let asked = peer.call("nika_write", wanted.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(!exists(world.root().join("a.txt")));
    let key = asked["inputRequests"].as_object().expect("requests").keys().next().expect("one").clone();
    let done = peer.request(
        "tools/call",
        json!({
            "name": "nika_write", "arguments": wanted, "requestState": asked["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {"answer": "yes"}}},
        }),
    );
    assert_ne!(done["result"]["isError"], true, "{done}");
    assert_eq!(world.text("a.txt"), "x");
}

/// Most clients show their model the data of an answer or its text, and never both.
#[test]
fn an_answer_is_sent_as_text_or_as_data_and_no_payload_twice() {
    let long = "The parser drops the last line, and nobody has noticed. ".repeat(20);
    let script = format!("conversations: [{{repeat: true, turns: [{{say: '{long}'}}]}}]\n");
    let world = world().file("a.txt", "needle\n");
    std::fs::write(world.path("script.yaml"), script).expect("written");
    let model = ["--set", "agent.provider=scripted", "--set", "agent.model=../script.yaml", "--mode", "workspace"];
    let mut peer = Peer::start(world.nika(&[&["serve", "--list", "all"], &model[..]].concat()));
    peer.initialize("2025-11-25");
    let listed = peer.request("tools/list", json!({}));
    let promises = |name: &str| {
        let tools = listed["result"]["tools"].as_array().expect("a list");
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is listed"));
        tool["outputSchema"].is_object()
    };
    let one = json!({"description": "d", "prompt": "p"});
    let two = json!({"subtasks": ["one", "two"]});
    let packet = json!({
        "objective": "o", "scope": "workspace", "repo": ".", "branch_policy": "none", "acceptance_tests": [],
        "commit_policy": "never", "reporting_contract": "r", "escalation_policy": "stop"
    });
    let begun = json!({"subtasks": ["one", "two"], "run_in_background": true});
    for (tool, arguments, times) in [
        ("agent", one, 1),
        ("delegate_agent", two, 2),
        ("run_task_packet", packet, 1),
        ("delegate_agent", begun, 0),
        ("task_output", json!({"task_id": "t1"}), 2),
        ("grep", json!({"pattern": "needle"}), 0),
        ("glob", json!({"pattern": "*"}), 0),
        ("list_dir", json!({"path": "."}), 0),
    ] {
        let name = format!("nika_{tool}");
        assert!(!promises(&name), "{tool}");
        let said = peer.call(&name, arguments.clone());
        assert!(said["structuredContent"].is_null() && said["isError"] != true, "{tool}: {said}");
        assert_eq!(said.to_string().matches(long.trim_end()).count(), times, "{tool}: {said}");
        // Whatever name it is called by.
        let said = peer.call("nika_call", json!({"tool": tool, "arguments": arguments}));
        assert!(said["structuredContent"].is_null(), "{tool}: {said}");
    }
    assert!(promises("nika_task_get"));
    let row = peer.call("nika_task_get", json!({"task_id": "t1"}));
    assert_eq!(row["structuredContent"]["id"], "t1");
    assert!(!text(&row).contains(long.trim_end()), "its data have the answer: {row}");
    // A program has the record all the same.
    assert_eq!(world.json(&["grep", "pattern=needle"])["structured"]["files"], 1);
}
