//! Several agents that nobody waits for: one row for all of them.

use std::time::{Duration, Instant};

use nika_contract::News;
use nika_guard::{Budget, Mode};
use nika_store::tasks::{Status, Task, TaskId};
use serde_json::{Value, json};

use crate::sub_background::{Mute, at_work, until};
use crate::sub_delegate::THREE;
use crate::sub_world::{Made, world};

fn three() -> Value {
    json!([
        {"id": "c", "prompt": "third", "depends_on": ["a", "b"]},
        {"id": "a", "prompt": "first"},
        {"id": "b", "prompt": "second", "subagent_type": "explore"},
    ])
}

/// Begins them with `tool`; the row's id.
async fn begin(made: &Made, tool: &str, more: Value) -> TaskId {
    let mut arguments = json!({"subtasks": three(), "run_in_background": true});
    arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let output = made.dispatch(tool, arguments).await.result.expect("it begins");
    output.structured.expect("data")["task_id"].as_str().expect("text").parse().expect("an id")
}

async fn ended(made: &Made, id: TaskId) -> Task {
    until(made, id, |task| task.status.has_ended() && made.fleet.afloat("test").is_empty()).await
}

#[test]
fn they_are_one_row_and_are_done_in_their_order() {
    for (tool, more) in [
        ("delegate_agent", json!({"description": "Count words"})),
        ("agent", json!({"description": "Count words", "prompt": "All of it."})),
    ] {
        let made = world(THREE).make();
        let text = made.tokio.block_on(async {
            let id = begin(&made, tool, more).await;
            let output = made.dispatch("task_output", json!({"task_id": id.to_string()})).await;
            let text = output.result.expect("waited for").joined_text();
            let row = ended(&made, id).await;
            assert_eq!((row.status, row.title.as_str()), (Status::Completed, "Count words"), "{row:?}");
            assert_eq!(row.metadata["subtasks"], json!(["c", "a", "b"]));
            text
        });
        assert!(text.starts_with("3 done, 0 failed, 0 skipped.\n\n## c [done]\nfrom the third"), "{tool}: {text}");
        assert!(text.contains("## b [done]\nfrom the second") && text.contains("t1 [completed] Count words"), "{text}");
        let begun: Vec<_> = made.events("test", "AgentSpawned").iter().map(|event| event["task"].clone()).collect();
        assert_eq!((begun.len(), begun.last()), (3, Some(&json!("third"))), "who waits is begun last");
        let prompt = made.db.task(TaskId(1)).expect("the row").run.expect("it was run").prompt;
        assert!(prompt.ends_with("a: first\nb: second\nc: third"), "each by its own words: {prompt}");
        let told = made.fleet.take("test");
        assert_eq!(told, ["task t1 (Count words) has ended: completed; `task_output` has its answer"]);
        assert_eq!(made.db.tasks(&Default::default()).expect("rows").1, 1, "one row");
    }
}

#[test]
fn a_failure_leaves_the_answers_of_the_others() {
    let script = "
conversations:
  - when: {first_user_contains: first}
    turns: [{fault: '400'}]
  - when: {first_user_contains: second}
    turns: [{say: from the second}]
";
    let made = world(script).make();
    let (row, text) = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({"continue_on_error": true})).await;
        let row = ended(&made, id).await;
        let output = made.dispatch("task_output", json!({"task_id": id.to_string()})).await;
        (row, output.result.expect("it is there").joined_text())
    });
    assert_eq!(row.status, Status::Failed);
    assert_eq!((row.title.as_str(), row.reason.as_deref()), ("3 sub-tasks", Some("1 done, 1 failed, 1 skipped.")));
    assert!(text.contains("## b [done]\nfrom the second") && text.contains("## a [failed]\n"), "{text}");
    assert!(text.contains("## c [skipped]\none that it waits for was not done"), "{text}");
}

#[test]
fn task_stop_ends_all_of_them_and_begins_no_other() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    let made = silent.make();
    let (text, took, row) = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({})).await;
        at_work(&made, "test.a1").await;
        at_work(&made, "test.a2").await;
        let asked = Instant::now();
        let output = made.dispatch("task_stop", json!({"task_id": id.to_string()})).await.result.expect("stopped");
        let took = asked.elapsed();
        (output.joined_text(), took, ended(&made, id).await)
    });
    let answer = row.run.and_then(|run| run.result).expect("how far each came");
    assert!(answer.starts_with("0 done, 2 failed, 1 skipped.") && answer.contains("## a [failed]"), "{answer}");
    assert!(text.starts_with("t1 [cancelled] 3 sub-tasks") && took < Duration::from_secs(5), "{text} after {took:?}");
    let whys: Vec<_> = made.events("test", "AgentComplete").iter().map(|event| event["why"].clone()).collect();
    assert_eq!(whys, ["cancelled", "cancelled"], "the third was never begun");
}

#[test]
fn they_end_with_the_session_and_with_the_process() {
    let silent = || {
        let mut silent = world("turns: [{say: never}]");
        silent.models.0.insert(None, Mute::new());
        silent.make()
    };
    let made = silent();
    let row = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({})).await;
        at_work(&made, "test.a2").await;
        made.fleet.end_session("test");
        ended(&made, id).await
    });
    assert_eq!(row.status, Status::Cancelled, "{row:?}");

    let made = silent();
    let id = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({})).await;
        at_work(&made, "test.a2").await;
        id
    });
    let Made { db, tokio, dir, .. } = made;
    drop(tokio);
    let row = db.task(id).expect("the row is there");
    assert_eq!(row.status, Status::Failed, "{row:?}");
    drop(dir);
}

#[test]
fn they_take_turns_where_seats_are_few() {
    let mut one = world("conversations: [{repeat: true, turns: [{say: done}]}]");
    one.at_once = 1;
    let made = one.make();
    made.tokio.block_on(async {
        let ids = [begin(&made, "delegate_agent", json!({})).await, begin(&made, "delegate_agent", json!({})).await];
        for id in ids {
            let row = until(&made, id, |task| task.status.has_ended()).await;
            assert_eq!(row.status, Status::Completed, "{row:?}");
        }
    });
    assert_eq!(made.events("test", "AgentComplete").len(), 6);
}

#[test]
fn bounds_hold_for_each_and_nobody_is_asked() {
    let made = world(THREE).budget(Budget::DelegatedTasks, 2).make();
    let row = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({"strategy": "sequential"})).await;
        ended(&made, id).await
    });
    assert_eq!(row.status, Status::Failed);
    let answer = row.run.and_then(|run| run.result).expect("what the others said");
    assert!(answer.starts_with("2 done, 1 failed") && answer.contains("## c [failed]\nNIKA-"), "{answer}");

    let script = "
conversations:
  - repeat: true
    turns:
      - calls: [{tool: write, arguments: {file_path: b.txt, content: x}}]
      - expect: {results: [{is_error: true}], tools_exclude: [ask_user_question]}
        say: refused
";
    let person = std::sync::Arc::new(crate::sub_world::Person::default());
    let made = world(script).mode(Mode::Ask).person(&person).make();
    let row = made.tokio.block_on(async {
        let id = begin(&made, "delegate_agent", json!({})).await;
        ended(&made, id).await
    });
    assert_eq!(row.status, Status::Completed, "{row:?}");
    assert_eq!(person.asked.lock().expect("unpoisoned").len(), 1, "whether they may be started, and nothing else");
    assert!(!made.root.join("b.txt").exists());
}

#[test]
fn an_agent_at_the_bottom_starts_none_and_one_above_it_is_waited_for() {
    let script = "
conversations:
  - when: {name_begins: test.a1.a}
    turns: [{expect: {tools_exclude: [agent, delegate_agent]}, say: below}]
    repeat: true
  - when: {name_begins: test.a1}
    turns:
      - calls: [{tool: delegate_agent, arguments: {subtasks: [one, two], run_in_background: true}}]
      - say: I have begun it.
      - {expect: {last_user_contains: 'has ended: completed'}, say: both are done}
";
    let made = world(script).make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p"}));
    assert!(output.joined_text().starts_with("both are done"), "{}", output.joined_text());
    assert_eq!(made.events("test.a1", "AgentComplete").len(), 2);
}

#[test]
fn what_cannot_be_put_in_order_makes_no_row() {
    let made = world("turns: [{say: never}]").make();
    let circle = json!([{"id": "a", "prompt": "p", "depends_on": ["a"]}]);
    made.refused("delegate_agent", json!({"subtasks": circle, "run_in_background": true}), 844);
    let unknown = json!([{"prompt": "p"}, {"prompt": "p", "subagent_type": "x"}]);
    made.refused("delegate_agent", json!({"subtasks": unknown, "run_in_background": true}), 841);
    assert_eq!(made.db.tasks(&Default::default()).expect("rows").1, 0);
}
