//! To-do lists, plans and tasks.

use std::sync::{Arc, Mutex};

use nika_contract::{BoxFuture, Cx, ToolError};
use nika_guard::{Mode, RuleKind};
use nika_store::Db;
use nika_store::tasks::{Beat, NewRun, NewTask, RunEnd, Status, Task, TaskId};
use nika_testkit::{no, world, yes};
use nika_tools::work::Runner;
use serde_json::{Value, json};

/// The rows as `task_list` tells them.
fn rows(world: &nika_testkit::World) -> Vec<String> {
    let listed = world.call("task_list", json!({}));
    let rows = listed.data()["tasks"].as_array().expect("a list").clone();
    let mut rows: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["id"].as_str().unwrap(), row["status"].as_str().unwrap())).collect();
    rows.sort();
    rows
}

#[test]
fn a_task_lives_from_hand_to_hand() {
    let world = world().mode(Mode::Workspace);
    let made = world.call("task_create", json!({"title": "Fix the parser", "metadata": {"issue": 7}}));
    assert_eq!(made.data()["task"]["version"], 1);
    world.call("task_create", json!({"title": "Test it", "blocked_by": "t1"})).says("t2 [blocked]");
    world.call("task_create", json!({"title": "Look first", "blocks": ["t1"], "priority": "critical"}));
    assert_eq!(rows(&world), ["t1 blocked", "t2 blocked", "t3 pending"]);
    world.call("task_start", json!({"task_id": "t1"})).refused(601);
    world.call("task_next", json!({})).says("t3 [pending] Look first (urgent)");
    // Another session takes it, under its own name; the first sees that.
    let other = world.session("other");
    world.call_in(&other, "task_start", json!({"task_id": "t3"})).says("t3 [in_progress] Look first (urgent; other)");
    let late = world.call("task_start", json!({"task_id": "t3"}));
    assert_eq!(late.refused(601).message, "t3 cannot be started: it is in_progress, other has it");
    world.call("task_next", json!({})).says("Nothing can be started: 1 in progress, 2 blocked.");
    world.call("task_complete", json!({"task_id": 3})).says("May be started now: t1.");
    let unknown = world.call("task_get", json!({"task_id": "t9"}));
    assert_eq!(unknown.refused(600).message, "there is no task t9; the latest are t3, t2, t1");
    world.call("task_update", json!({"task_id": "1", "message": "half done", "metadata": {"issue": null, "pr": 8}}));
    world.call("task_get", json!({"task_id": "#1"})).says("- half done").says(r#"Metadata: {"pr":8}"#);
    let given_up = world.call("task_cancel", json!({"task_id": "t1", "reason": "it was right"}));
    given_up.says("t1 [cancelled] Fix the parser (it was right)").says("Still waits for it: t2.");
    world.call("task_update", json!({"task_id": "t1", "status": "deleted"})).says("May be started now: t2.");
    assert_eq!(rows(&world), ["t2 pending", "t3 completed"]);
    let journal = world.journal();
    let changed = journal.iter().filter(|line| line["event"] == "TaskChanged").collect::<Vec<_>>();
    assert!(changed.iter().any(|line| line["task"] == "t1" && line["status"] == "deleted"), "{changed:?}");
}

#[test]
fn circles_and_empty_words_are_refused() {
    let world = world();
    world.call("task_create", json!({"title": "a"})).ok();
    world.call("task_create", json!({"title": "b", "blocked_by": ["t1"]})).ok();
    let circle = world.call("task_block", json!({"task_id": "t1", "blocked_by": ["t2"]}));
    assert_eq!(circle.refused(602).message, "t1 → t2 → t1 would wait for each other");
    world.call("task_block", json!({"task_id": "t1"})).refused(100);
    world.call("task_create", json!({})).refused(100);
    world.call("task_create", json!({"title": "  "})).refused(100);
    world.call("task_create", json!({"title": "c", "status": "failed"})).refused(100);
    world.call("task_get", json!({"task_id": "parser"})).refused(100);
    let no_runner = world.call("task_create", json!({"prompt": "Fix it"}));
    assert!(no_runner.refused(604).message.contains("nothing here can run one"));
    assert_eq!(rows(&world), ["t1 pending", "t2 blocked"]);
}

/// Names that other clients use for the same.
#[test]
fn statuses_and_items_by_their_other_names() {
    let world = world().mode(Mode::Workspace);
    world.call("task_create", json!({"title": "a", "status": "created"})).says("[pending]");
    world.call("task_update", json!({"task_id": "t1", "status": "running"})).says("[in_progress]");
    world.call("task_update", json!({"task_id": "t1", "status": "done"})).says("[completed]");
    world.call("task_list", json!({"status": "done", "limit": "5"})).says("t1 [completed] a");
    world.call("task_output", json!({"task_id": "t1", "timeout": 100})).says("t1 [completed] a");
    let items = json!({"todos": [{"title": "one", "status": "in-progress", "active_form": "doing one"}, "two"]});
    world.call("todo_write", items).says("[>] one\n[ ] two");
    let steps = json!({"items": ["look", {"title": "mend", "status": "running", "depends_on": 1}]});
    world.call("update_plan", steps).says("1. [pending] look\n2. [in_progress] mend (after 1)");
}

#[test]
fn lists_and_plans_are_the_sessions() {
    let world = world();
    let other = world.session("other");
    world.call("todo_write", json!({"todos": ["mine"]})).says("[ ] mine");
    world.call("update_plan", json!({"items": ["my step"]})).says("1. [pending] my step");
    world.call_in(&other, "plan_get", json!({})).says("There is no plan");
    world.call_in(&other, "update_plan", json!({"items": ["their step"], "sync_tasks": true})).says("(t1)");
    world.call("plan_get", json!({})).says("my step");
    world.call("plan_clear", json!({"sync_tasks": true})).says("The plan is gone.");
    world.call("plan_clear", json!({})).says("There was no plan.");
    assert_eq!(rows(&world), ["t1 pending"], "another session's tasks stay");
    let three: Vec<Value> =
        ["a", "b", "c"].iter().map(|what| json!({"content": what, "status": "completed"})).collect();
    let done = world.call("todo_write", json!({"todos": three}));
    done.says("All 3 done; the list is cleared. None of it was a check");
    assert_eq!(done.data(), &json!({"todos": [], "cleared": true}));
    // A session that ends with its call would keep them for nobody.
    let passing = world.runtime().session("passing", false);
    for (tool, arguments) in [
        ("todo_write", json!({"todos": ["x"]})),
        ("plan_get", json!({})),
        ("update_plan", json!({"items": ["x"]})),
        ("plan_clear", json!({})),
    ] {
        let refused = world.call_in(&passing, tool, arguments);
        assert!(refused.refused(603).hint.as_ref().is_some_and(|hint| hint.contains("--session NAME")), "{tool}");
    }
    world.call_in(&passing, "task_create", json!({"title": "for all"})).says("t2 [pending]");
}

#[test]
fn a_plan_and_its_tasks_go_together() {
    let world = world();
    let plan = |status: &str| {
        json!({"sync_tasks": true, "items": [
            {"step": "look", "status": status}, {"step": "mend", "task_id": "mending", "depends_on": ["look"]},
            {"step": "tell", "depends_on": ["mending"], "owner": "ada"}]})
    };
    let made = world.call("update_plan", plan("in_progress"));
    made.says("1. [in_progress] look (t1)").says("3. [blocked] tell (t3; ada; after t2)");
    assert_eq!(made.data()["made"], json!(["t1", "t2", "t3"]));
    world.call("task_complete", json!({"task_id": "t1"})).says("May be started now: t2.");
    world.call("plan_get", json!({})).says("1. [completed] look (t1)\n2. [pending] mend (t2; after t1)");
    let again = world.call("update_plan", plan("completed"));
    assert_eq!(again.data()["made"], json!([]), "the same words are the same tasks");
    let fewer = world.call("update_plan", json!({"items": ["look"], "sync_tasks": "true"}));
    fewer.says("No longer in the plan and cancelled: t2, t3.");
    assert_eq!(rows(&world), ["t1 completed", "t2 cancelled", "t3 cancelled"]);
    world.call("update_plan", json!({"items": [{"step": "x", "depends_on": ["y"]}]})).refused(100);
    world.call("update_plan", json!({"items": []})).refused(100);
}

/// Giving up and removing are judged alike, by whichever tool.
#[test]
fn who_may_only_note_ends_nothing() {
    let world = world().mode(Mode::ReadOnly);
    world.call("task_create", json!({"title": "a"})).ok();
    world.call("task_update", json!({"task_id": "t1", "title": "b"})).ok();
    for (tool, arguments) in [
        ("task_cancel", json!({"task_id": "t1"})),
        ("task_stop", json!({"task_id": "t1"})),
        ("task_update", json!({"task_id": "t1", "status": "cancelled"})),
        ("task_update", json!({"task_id": "t1", "status": "deleted"})),
    ] {
        world.call(tool, arguments).refused(205);
    }
    world.call("todo_write", json!({"todos": ["x"]})).ok();
    let denied = nika_testkit::world().rule(RuleKind::Deny, "tool(task_create)");
    denied.call("task_create", json!({"title": "a"})).refused(102);
}

#[test]
fn a_person_is_shown_the_task_and_not_asked_for_nothing() {
    let asked = world().mode(Mode::Ask).person(no("it is wanted"));
    asked.call("task_create", json!({"title": "a"})).ok();
    assert!(asked.call("task_cancel", json!({"task_id": "t1"})).refused(205).message.contains("it is wanted"));
    asked.call("task_cancel", json!({"task_id": "t2"})).refused(600);
    assert_eq!(rows(&asked), ["t1 pending"]);
    let agreed = world().mode(Mode::Ask).person(yes());
    agreed.call("task_create", json!({"title": "a"})).ok();
    agreed.call("task_cancel", json!({"task_id": "t1"})).says("[cancelled]");
}

/// A runner that begins at once and ends when it is told to.
#[derive(Debug, Default)]
struct Scripted {
    db: Mutex<Option<Db>>,
}

impl Runner for Scripted {
    fn start<'a>(&'a self, task: NewTask, prompt: &'a str, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Task, ToolError>> {
        Box::pin(async move {
            let run = NewRun { prompt: prompt.to_owned(), session: "test.a1".into(), stance: "read-only".into() };
            let db = self.db.lock().unwrap();
            let db = db.as_ref().expect("the test gave it one");
            let made = db.add_task(&NewTask { run: Some(run), ..task }, cx.clock.unix_ms())?;
            Ok(db.begin_run(made.task.id, 1, cx.clock.unix_ms())?)
        })
    }
}

/// A world with a runner, and the runner's own way to the rows.
fn with_runner() -> (nika_testkit::World, Arc<Db>) {
    let runner = Arc::new(Scripted::default());
    let world = world().mode(Mode::Workspace).runner(Arc::clone(&runner) as Arc<dyn Runner>);
    let state = nika_store::State::open(&world.state_dir()).expect("it is there");
    *runner.db.lock().unwrap() = Some(Db::at(&state));
    (world, Arc::new(Db::at(&state)))
}

#[test]
fn an_agents_task_is_waited_for() {
    let (world, db) = with_runner();
    let made = world.call("task_create", json!({"prompt": "Fix the parser\nand test it"}));
    made.says("t1 [in_progress] Fix the parser (an agent's)");
    let refused = world.call("task_complete", json!({"task_id": "t1"}));
    assert!(refused.refused(601).hint.as_ref().is_some_and(|hint| hint.contains("task_stop")));
    world.call("task_output", json!({"task_id": "t1", "block": "false"})).says("[in_progress]");
    world.call("task_output", json!({"task_id": "t1", "timeout_ms": 30})).says("[in_progress]");
    world.call("task_update", json!({"task_id": "t1", "message": "and the docs"})).ok();
    assert_eq!(db.beat(TaskId(1), now(&db)).unwrap(), Beat { stop_asked: false, yours: true, notes: 1 });
    let end = std::thread::scope(|scope| {
        let ending = scope.spawn(|| db.end_run(TaskId(1), &RunEnd::Completed("It is mended.".into()), now(&db)));
        let waited = world.call("task_output", json!({"task_id": "t1"}));
        waited.says("It is mended.\n\n[t1 [completed]");
        assert_eq!(waited.data()["result"], "It is mended.");
        ending.join().unwrap()
    });
    assert_eq!(end.unwrap().task.status, Status::Completed);
    world.call("task_create", json!({"prompt": "x", "blocked_by": ["t1"]})).refused(100);
}

#[test]
fn an_agent_is_asked_to_stop_and_heard_of() {
    let (world, db) = with_runner();
    world.call("task_create", json!({"prompt": "Go on for ever"})).ok();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !db.beat(TaskId(1), now(&db)).unwrap().stop_asked {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            db.end_run(TaskId(1), &RunEnd::Stopped { answer: None }, now(&db)).unwrap();
        });
        world.call("task_stop", json!({"task_id": "t1"})).says("t1 [cancelled] Go on for ever");
    });
    world.call("task_stop", json!({"task_id": "t1"})).says("[cancelled]");
}

#[test]
fn an_agent_whose_process_is_gone_has_failed() {
    let (world, _) = with_runner();
    let long_ago = json!({"prompt": "Get lost"});
    world.call("task_create", long_ago).ok();
    // The world's clock moves a millisecond a look; the row's beat lies in its past by more than that.
    let state = nika_store::State::open(&world.state_dir()).expect("it is there");
    Db::at(&state).beat(TaskId(1), 1).unwrap();
    world.call("task_output", json!({"task_id": "t1"})).says("t1 [failed] Get lost").says("is gone");
}

/// Later than every beat so far, and no more than the world's clock would say.
fn now(db: &Db) -> u64 {
    db.task(TaskId(1)).map_or(0, |task| task.updated_ms) + 1
}

#[test]
fn threads_that_want_one_row_take_turns() {
    let world = world();
    world.call("task_create", json!({"title": "wanted"})).ok();
    let state = world.state_dir();
    let won: usize = std::thread::scope(|scope| {
        let take = |who: usize| {
            let db = Db::at(&nika_store::State::open(&state).expect("it is there"));
            let start = nika_store::tasks::Change {
                to: Some(nika_store::tasks::To::By(nika_store::tasks::Move::Start)),
                owner: Some(format!("w{who}")),
                ..Default::default()
            };
            usize::from(db.change_task(TaskId(1), &start, 1).is_ok())
        };
        let threads: Vec<_> = (0..6).map(|who| scope.spawn(move || take(who))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
    world.call("task_start", json!({"task_id": "t1"})).refused(601);
}
