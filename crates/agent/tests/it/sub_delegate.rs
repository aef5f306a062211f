//! Several agents in the order in which their tasks wait for each other.

use serde_json::json;

use crate::sub_world::world;

/// What each says is told by what it was asked: two at once, then one that is told what they said.
pub(crate) const THREE: &str = "
conversations:
  - when: {first_user_contains: third}
    turns:
      - expect: {last_user_contains: from the first}
        say: from the third
  - when: {first_user_contains: first}
    turns: [{say: from the first}]
  - when: {first_user_contains: second}
    turns: [{say: from the second}]
";

#[test]
fn who_waits_is_told_what_those_before_answered() {
    let made = world(THREE).make();
    let output = made.call(
        "delegate_agent",
        json!({"subtasks": [
            {"id": "c", "prompt": "third", "depends_on": ["a", "b"]},
            {"id": "a", "prompt": "first"},
            {"id": "b", "prompt": "second", "subagent_type": "explore"},
        ]}),
    );
    let text = output.joined_text();
    assert!(text.starts_with("3 done, 0 failed, 0 skipped."), "{text}");
    let data = output.structured.expect("data");
    let said: Vec<_> = (0..3).map(|at| data["subtasks"][at]["agent"]["result"].clone()).collect();
    assert_eq!(said, ["from the third", "from the first", "from the second"]);
    assert_eq!(output.failed, None);
}

#[test]
fn more_sub_tasks_than_seats_take_turns() {
    let mut narrow = world("conversations: [{repeat: true, turns: [{say: done}]}]");
    narrow.at_once = 2;
    let made = narrow.make();
    let subtasks: Vec<_> = (0..7).map(|at| json!({"prompt": format!("number {at}")})).collect();
    let output = made.call("delegate_agent", json!({"subtasks": subtasks}));
    assert!(output.joined_text().starts_with("7 done, 0 failed, 0 skipped."), "{}", output.joined_text());
    assert_eq!(made.events("test", "AgentComplete").len(), 7);
}

/// The first fails: its model has nothing to say.
const FAILING: &str = "
conversations:
  - when: {first_user_contains: fails}
    turns: [{fault: '400'}]
  - when: {first_user_contains: works}
    turns: [{say: done}]
    repeat: true
";

#[test]
fn a_failure_stops_what_it_is_said_to_stop() {
    let subtasks = json!([
        {"id": "bad", "prompt": "fails"},
        {"id": "after", "prompt": "works", "depends_on": ["bad"]},
        {"id": "other", "prompt": "works"},
    ]);
    let statuses = |more: serde_json::Value| {
        let mut arguments = json!({"subtasks": subtasks, "strategy": "sequential"});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let output = world(FAILING).make().call("delegate_agent", arguments);
        assert_eq!(output.failed.map(|code| code.0), Some(845));
        let data = output.structured.expect("data");
        (0..3).map(|at| data["subtasks"][at]["status"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(statuses(json!({})), ["failed", "skipped", "skipped"]);
    assert_eq!(statuses(json!({"continue_on_error": "true"})), ["failed", "skipped", "done"]);
    assert_eq!(statuses(json!({"continue_on_error": true, "max_failures": 1})), ["failed", "skipped", "skipped"]);
}

#[test]
fn what_cannot_be_put_in_order_starts_nothing() {
    let made = world("turns: [{say: never}]").make();
    let circle =
        json!([{"id": "a", "prompt": "p", "depends_on": ["b"]}, {"id": "b", "prompt": "p", "depends_on": ["a"]}]);
    let error = made.refused("delegate_agent", json!({"subtasks": circle}), 844);
    assert!(error.message.contains("a → b → a"), "{error}");
    made.refused("delegate_agent", json!({"subtasks": [{"prompt": "p", "depends_on": ["x"]}]}), 844);
    made.refused("delegate_agent", json!({"subtasks": []}), 100);
    made.refused("delegate_agent", json!({"subtasks": [{"prompt": "p"}], "strategy": "random"}), 100);
    made.refused("delegate_agent", json!({"subtasks": [{"prompt": "p"}, {"prompt": "p", "subagent_type": "x"}]}), 841);
    assert!(made.events("test", "AgentSpawned").is_empty());
}
