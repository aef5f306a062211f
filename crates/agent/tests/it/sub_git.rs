//! Agents apart in worktrees, and packets of work whose terms are kept.

use std::sync::Arc;

use nika_contract::Replied;
use nika_guard::RuleKind;
use serde_json::{Value, json};

use crate::sub_world::{Made, Person, world};

fn writes(path: &str, text: &str) -> String {
    format!(
        "conversations:\n  - repeat: true\n    turns:\n      - calls: [{{tool: write, arguments: {{file_path: {path}, content: \"{text}\"}}}}]\n      - say: Written.\n"
    )
}

fn beside(made: &Made, slug: &str) -> std::path::PathBuf {
    made.root.with_file_name("proj-nika-worktrees").join(slug)
}

#[test]
fn work_in_a_worktree_is_kept_there_and_nowhere_else() {
    let made = world(&writes("a.txt", "new")).make();
    made.file("a.txt", "old");
    made.repository();
    let arguments = json!({"description": "Try it", "prompt": "p", "isolation": "worktree", "name": "Try One"});
    // It has not read the file it would write over, so its first write is refused; a new file is not.
    let output = made.call("agent", arguments.clone());
    assert_eq!(output.structured.expect("data")["worktree"], Value::Null, "nothing was done in it, so it is gone");
    assert!(!beside(&made, "try-one").exists());

    let made = world(&writes("b.txt", "new")).make();
    made.repository();
    let output = made.call("agent", arguments.clone());
    let text = output.joined_text();
    let left = output.structured.expect("data")["worktree"].clone();
    assert_eq!((&left["branch"], &left["changed"]), (&json!("nika/try-one"), &json!(["b.txt"])));
    assert!(text.contains("1 paths not committed"), "{text}");
    assert_eq!(made.text("b.txt"), "", "the workspace itself is untouched");
    assert_eq!(std::fs::read_to_string(beside(&made, "try-one").join("b.txt")).expect("kept"), "new");
    assert_eq!(made.git(&["status", "--porcelain"]), "");

    let error = made.refused("agent", arguments, 846);
    assert!(error.to_string().contains("`name`"), "{error}");
}

#[test]
fn a_worktree_needs_a_repository_and_a_yes() {
    let made = world(&writes("b.txt", "new")).make();
    let arguments = json!({"description": "Try it", "prompt": "p", "isolation": "worktree"});
    let error = made.refused("agent", arguments.clone(), 846);
    assert!(error.to_string().contains("no commit to begin at"), "{error}");

    let made = world(&writes("b.txt", "new")).mode(nika_guard::Mode::Workspace).make();
    made.repository();
    // In this mode agents are free, and a directory beside the workspace is not.
    made.refused("agent", arguments, 205);
    assert!(made.events("test", "AgentSpawned").is_empty());
}

/// A packet over the file that the script writes.
fn packet(more: Value) -> Value {
    let mut packet = json!({
        "objective": "Write b.txt", "scope": "workspace", "repo": ".", "branch_policy": "none",
        "acceptance_tests": ["test -f b.txt", "grep -q new b.txt"], "commit_policy": "on_success",
        "reporting_contract": "what was written", "escalation_policy": "stop",
    });
    packet.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    packet
}

#[test]
fn a_packet_that_passes_is_committed_once_and_reported_test_by_test() {
    let made = world(&writes("b.txt", "new")).make();
    made.repository();
    made.file("mine.txt", "not the packet's");
    let output = made.call("run_task_packet", packet(json!({})));
    assert_eq!(output.failed, None, "{}", output.joined_text());
    let text = output.joined_text();
    for piece in
        ["The packet is done.", "passed: test -f b.txt (exit code 0)", "passed: grep -q new b.txt (exit code 0)"]
    {
        assert!(text.contains(piece), "{piece} in {text}");
    }
    let data = output.structured.expect("data");
    assert_eq!(data["commit"], made.git(&["rev-parse", "HEAD"]));
    assert_eq!(made.git(&["log", "--format=%s %an", "-1"]), "Write b.txt Ada");
    assert_eq!(made.git(&["show", "--format=", "--name-only"]), "b.txt", "what was changed before stays out of it");
    // The tests were calls of the agent, in its journal.
    assert_eq!(data["acceptance_tests"][0]["exit_code"], 0);
    let calls = made.events("test.a1", "CallBegun");
    assert_eq!(calls.iter().filter(|call| call["origin"] == "acceptance test").count(), 2);
}

#[test]
fn a_packet_in_a_worktree_leaves_its_commit_on_its_branch() {
    let made = world(&writes("b.txt", "new")).make();
    made.repository();
    let output = made.call("run_task_packet", packet(json!({"branch_policy": "worktree"})));
    let data = output.structured.expect("data");
    let left = &data["agent"]["worktree"];
    assert_eq!((&left["commits"], &left["changed"]), (&json!(1), &json!([])), "{data}");
    let branch = left["branch"].as_str().expect("text");
    assert_eq!(data["commit"], made.git(&["rev-parse", branch]));
    assert_eq!(made.text("b.txt"), "");
}

#[test]
fn what_does_not_pass_is_not_committed() {
    let made = world(&writes("b.txt", "old")).make();
    made.repository();
    let head = made.git(&["rev-parse", "HEAD"]);
    let output = made.call("run_task_packet", packet(json!({})));
    assert_eq!(output.failed.map(|code| code.0), Some(620));
    let text = output.joined_text();
    assert!(
        text.contains("FAILED: grep -q new b.txt (exit code 1)") && text.contains("Not committed: it did not pass"),
        "{text}"
    );
    assert_eq!(made.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(made.text("b.txt"), "old", "nothing is undone");
}

#[test]
fn writes_outside_the_scope_are_refused_and_those_of_commands_are_not_committed() {
    let made = world(&writes("b.txt", "new")).make();
    made.repository();
    let output = made.call("run_task_packet", packet(json!({"scope": "module", "scope_path": "src"})));
    assert_eq!(output.failed.map(|code| code.0), Some(620));
    assert_eq!(output.structured.expect("data")["agent"]["steps"][0]["code"], "NIKA-205");
    assert_eq!(made.text("b.txt"), "");

    let script = "turns:\n  - calls: [{tool: bash, arguments: {command: 'echo new > b.txt'}}]\n  - say: Written.\n";
    let made = world(script).make();
    made.repository();
    let head = made.git(&["rev-parse", "HEAD"]);
    let output = made.call("run_task_packet", packet(json!({"scope": "src/**"})));
    let text = output.joined_text();
    assert!(text.contains("Changed outside its scope") && text.contains("b.txt"), "{text}");
    assert_eq!((output.failed.map(|code| code.0), made.git(&["rev-parse", "HEAD"])), (Some(620), head));
}

#[test]
fn a_person_is_asked_when_the_tests_fail_and_may_send_the_agent_back() {
    let script = "
turns:
  - calls: [{tool: write, arguments: {file_path: b.txt, content: old}}]
  - say: Written.
  - expect: {last_user_contains: 'grep -q new b.txt'}
    calls: [{tool: edit, arguments: {file_path: b.txt, old_string: old, new_string: new}}]
  - say: Mended.
";
    let person = Arc::new(Person { replies: vec![Replied::Chosen("Try again".into())].into(), ..Person::default() });
    let made = world(script).person(&person).make();
    made.repository();
    let output = made.call("run_task_packet", packet(json!({"escalation_policy": "ask"})));
    assert_eq!(output.failed, None, "{}", output.joined_text());
    let data = output.structured.expect("data");
    assert_eq!((&data["rounds"], &data["agent"]["turns"]), (&json!(2), &json!(4)));
    assert!(person.asked.lock().expect("unpoisoned")[0].contains("1 of 2 acceptance tests failed"));

    let made = world(&writes("b.txt", "old")).person(&Arc::new(Person::default())).make();
    made.repository();
    let output = made.call("run_task_packet", packet(json!({"escalation_policy": "ask"})));
    let asked = output.structured.expect("data")["asked"].clone();
    assert_eq!(asked, json!(["round 1: nobody could be asked"]));
}

#[test]
fn words_that_are_no_policy_start_nothing() {
    let made = world(&writes("b.txt", "new")).make();
    for wrong in [
        json!({"branch_policy": "origin/main only"}),
        json!({"commit_policy": "when it feels right"}),
        json!({"escalation_policy": "panic"}),
        json!({"repo": "../elsewhere"}),
        json!({"repo": "not-there"}),
        json!({"objective": " "}),
    ] {
        made.refused("run_task_packet", packet(wrong), 100);
    }
    // A commit needs a repository, and that is said before any work is done.
    made.refused("run_task_packet", packet(json!({})), 846);
    assert!(made.events("test", "AgentSpawned").is_empty());
}

#[test]
fn acceptance_tests_may_write_outside_the_scope_which_is_said_and_not_committed() {
    let made = world(&writes("src/b.txt", "new")).make();
    made.file("src/.keep", "");
    made.file("check.sh", "echo ran > log.txt && test -f src/b.txt\n");
    made.repository();
    let terms = json!({"scope": "module", "scope_path": "src", "acceptance_tests": ["sh check.sh"]});
    let output = made.call("run_task_packet", packet(terms.clone()));
    let text = output.joined_text();
    assert_eq!(output.failed, None, "{text}");
    assert!(text.contains("passed: sh check.sh (exit code 0)") && text.contains("by its acceptance tests"), "{text}");
    let data = output.structured.expect("data");
    let log = json!([made.root.join("log.txt")]);
    assert_eq!((&data["outside_scope"], &data["outside_scope_by_tests"]), (&json!([]), &log));
    assert_eq!(made.git(&["show", "--format=", "--name-only"]), "src/b.txt");
    assert_eq!(made.text("log.txt"), "ran\n");

    // What the caller may not do, its tests may not do either.
    let made = world(&writes("src/b.txt", "new")).rule(RuleKind::Deny, "write(**)").make();
    made.file("src/.keep", "");
    made.file("check.sh", "echo ran > log.txt\n");
    made.repository();
    let output = made.call("run_task_packet", packet(terms));
    assert!(output.joined_text().contains("FAILED: sh check.sh (not run, NIKA-205)"), "{}", output.joined_text());
    assert_eq!(made.text("log.txt"), "");
}
