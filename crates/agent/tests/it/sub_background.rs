//! Agents that nobody waits for: rows, news, and being stopped.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_agent::provider::{Answered, Asking, Model, ModelError, Provider, Sink};
use nika_contract::{BoxFuture, News};
use nika_guard::Mode;
use nika_store::tasks::{Status, Task, TaskId};
use serde_json::json;

use crate::sub_world::{Made, Person, world};

/// A model that never answers.
#[derive(Debug)]
pub struct Mute(Model);

impl Mute {
    pub fn new() -> Arc<Mute> {
        Arc::new(Mute(Model { id: "mute".into(), context_tokens: 1_000_000, max_output: None, prices: None }))
    }
}

impl Provider for Mute {
    fn name(&self) -> &str {
        "mute"
    }

    fn model(&self) -> &Model {
        &self.0
    }

    fn answer<'a>(&'a self, _: &'a Asking<'a>, _: &'a mut Sink<'_>) -> BoxFuture<'a, Result<Answered, ModelError>> {
        Box::pin(std::future::pending())
    }
}

/// Begins one in the background; its row.
async fn begin(made: &Made, arguments: serde_json::Value) -> TaskId {
    let output = made.dispatch("agent", arguments).await.result.expect("it begins");
    output.structured.expect("data")["task_id"].as_str().expect("text").parse().expect("an id")
}

pub async fn until(made: &Made, id: TaskId, wanted: impl Fn(&Task) -> bool) -> Task {
    let begun = Instant::now();
    loop {
        let task = made.db.task(id).expect("the row is there");
        if wanted(&task) {
            return task;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{task:?}");
        // The agent works on the same thread, and other processes' rows change without a word.
        tokio::task::yield_now().await;
    }
}

fn order() -> serde_json::Value {
    json!({"description": "Count words", "prompt": "count", "run_in_background": true})
}

#[test]
fn one_that_ends_is_told_with_the_next_answer_and_keeps_its_answer() {
    let made = world("turns: [{say: forty-two}]").make();
    let task = made.tokio.block_on(async {
        let id = begin(&made, order()).await;
        until(&made, id, |task| task.status.has_ended() && made.fleet.afloat("test").is_empty()).await
    });
    assert_eq!((task.status, task.title.as_str()), (Status::Completed, "Count words"));
    let run = task.run.expect("it had an agent");
    assert!(run.result.expect("it answered").starts_with("forty-two"));
    assert_eq!(run.session, "test.a1");
    let news = made.fleet.take("test");
    assert_eq!(news, ["task t1 (Count words) has ended: completed; `task_output` has its answer"]);
    assert!(made.fleet.take("test").is_empty(), "told once");
}

#[test]
fn a_task_with_a_prompt_is_done_and_waited_for() {
    let made = world("turns: [{expect: {system_contains: [You answer a question]}, say: forty-two}]").make();
    let text = made.tokio.block_on(async {
        let metadata = json!({"subagent_type": "explore"});
        made.dispatch("task_create", json!({"prompt": "Count words", "metadata": metadata}))
            .await
            .result
            .expect("begun");
        let output = made.dispatch("task_output", json!({"task_id": "t1"})).await.result.expect("waited for");
        output.joined_text()
    });
    assert!(text.starts_with("forty-two") && text.contains("[completed]"), "{text}");
}

#[test]
fn task_stop_ends_an_agent_that_says_nothing() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    let made = silent.make();
    let (text, took) = made.tokio.block_on(async {
        made.dispatch("task_create", json!({"title": "Count", "prompt": "Count words"})).await.result.expect("begun");
        until(&made, TaskId(1), |task| task.status == Status::InProgress).await;
        let asked = Instant::now();
        let output = made.dispatch("task_stop", json!({"task_id": "t1"})).await.result.expect("stopped");
        (output.joined_text(), asked.elapsed())
    });
    assert!(text.starts_with("t1 [cancelled] Count") && took < Duration::from_secs(5), "{text} after {took:?}");
}

#[test]
fn nobody_is_asked_on_its_behalf() {
    let person = Arc::new(Person::default());
    let script = "
turns:
  - calls: [{tool: write, arguments: {file_path: b.txt, content: x}}]
  - expect: {results: [{code: NIKA-205}], tools_exclude: [ask_user_question]}
    say: refused
";
    let made = world(script).mode(Mode::Ask).person(&person).make();
    let task = made.tokio.block_on(async {
        let id = begin(&made, order()).await;
        until(&made, id, |task| task.status.has_ended()).await
    });
    assert_eq!(task.status, Status::Completed, "{task:?}");
    assert_eq!(person.asked.lock().expect("unpoisoned").len(), 1, "whether it may be started, and nothing else");
}

#[test]
fn one_that_is_asked_to_stop_has_stopped_within_five_seconds() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    let made = silent.make();
    let (task, took) = made.tokio.block_on(async {
        let id = begin(&made, order()).await;
        until(&made, id, |task| task.status == Status::InProgress).await;
        made.db.ask_stop(id).expect("asked");
        let asked = Instant::now();
        (until(&made, id, |task| task.status.has_ended()).await, asked.elapsed())
    });
    assert_eq!(task.status, Status::Cancelled, "{task:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn the_end_of_a_session_ends_what_it_has_in_the_background() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    let made = silent.make();
    let task = made.tokio.block_on(async {
        let id = begin(&made, order()).await;
        until(&made, id, |task| task.status == Status::InProgress).await;
        assert_eq!(made.fleet.afloat("test"), [id]);
        made.fleet.end_session("another");
        made.fleet.end_session("test");
        until(&made, id, |task| task.status.has_ended()).await
    });
    assert_eq!(task.status, Status::Cancelled, "{task:?}");
}

#[test]
fn what_an_agent_has_in_the_background_ends_with_it() {
    let script = "
conversations:
  - when: {name_begins: test.a1.a1}
    turns: [{calls: [{tool: sleep, arguments: {duration_ms: 300000}}]}]
  - when: {name_begins: test.a1}
    turns:
      - calls: [{tool: agent, arguments: {description: d, prompt: p, run_in_background: true}}]
";
    let made = world(script).make();
    let task = made.tokio.block_on(async {
        let outcome = made.dispatch("agent", json!({"description": "d", "prompt": "p", "max_turns": 1})).await;
        let text = outcome.result.expect("it answers").joined_text();
        assert!(text.contains("not done in 1 turns"), "{text}");
        until(&made, TaskId(1), |task| task.status.has_ended()).await
    });
    assert_eq!(task.status, Status::Cancelled, "{task:?}");
}

#[test]
fn one_whose_process_ends_has_failed() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    let made = silent.make();
    let id = made.tokio.block_on(async {
        let id = begin(&made, order()).await;
        until(&made, id, |task| task.status == Status::InProgress).await;
        id
    });
    let Made { db, tokio, dir, .. } = made;
    // As a process that ends takes its threads with it.
    drop(tokio);
    let task = db.task(id).expect("the row is there");
    assert_eq!(task.status, Status::Failed, "{task:?}");
    assert!(task.reason.expect("it says why").contains("ended before it was done"));
    drop(dir);
}

#[test]
fn one_that_finds_no_seat_waits_for_one() {
    let mut one = world("conversations: [{repeat: true, turns: [{say: done}]}]");
    one.at_once = 1;
    let made = one.make();
    let ended = made.tokio.block_on(async {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(begin(&made, order()).await);
        }
        let mut ended = Vec::new();
        for id in ids {
            ended.push(until(&made, id, |task| task.status.has_ended()).await.status);
        }
        ended
    });
    assert_eq!(ended, [Status::Completed; 3]);
}

/// Waits until the agent of that session is at work.
pub async fn at_work(made: &Made, session: &str) {
    let begun = Instant::now();
    while made.fleet.session(session).is_none() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{session} never began");
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_call_that_is_cancelled_ends_its_agents_and_one_that_is_dropped_does_too() {
    let mut silent = world("turns: [{say: never}]");
    silent.models.0.insert(None, Mute::new());
    silent.at_once = 1;
    let made = silent.make();
    let arguments = json!({"description": "d", "prompt": "p"});
    made.tokio.block_on(async {
        let incoming = made.incoming("agent", arguments.clone());
        let cancel = incoming.cancel.clone();
        let stop = async {
            at_work(&made, "test.a1").await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(made.runtime.dispatch(&made.session, incoming), stop);
        assert_eq!(outcome.expect("no fault").result.expect_err("cancelled").code.0, 105);
        assert!(made.fleet.session("test.a1").is_none());

        // The caller is gone altogether: its future is dropped with all in it.
        let incoming = made.incoming("agent", arguments.clone());
        tokio::select! {
            _ = made.runtime.dispatch(&made.session, incoming) => panic!("nobody answers"),
            () = at_work(&made, "test.a2") => {}
        }
        assert!(made.fleet.session("test.a2").is_none());
        // Its seat is free again, the only one.
        begin(&made, order()).await;
        at_work(&made, "test.a3").await;
    });
    let whys: Vec<_> = made.events("test", "AgentComplete").iter().map(|event| event["why"].clone()).collect();
    assert_eq!(whys, ["cancelled", "cancelled"]);
}
