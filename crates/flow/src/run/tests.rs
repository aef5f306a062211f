//! Whole runs over a world that follows a script: what they make, what they leave, how they go on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nika_contract::{Cancel, ToolError, code};
use nika_store::{Durability, Objects, State, journal, runs};
use serde_json::{Map, Value, json};

use super::events::{Named, RunEvent, Spent};
use super::meter::Meter;
use super::plan::Fate;
use super::resume::{Before, Kept};
use super::secrets::Secrets;
use super::testing::*;
use super::trace::{Trace, output_of};
use super::world::{Made, Order, Unmade};
use super::{Done, Ended, Run};
use crate::model::{Dynamic, Flow, ForEach, Limits, OnError, Retry};
use crate::template::Templates;

struct Scene {
    _dir: tempfile::TempDir,
    runs: State,
    secrets: Secrets,
    cancel: Cancel,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().expect("a directory");
    let runs = runs::open(&State::open(dir.path()).expect("a state")).expect("traces");
    Scene { _dir: dir, runs, secrets: Secrets::default(), cancel: Cancel::default() }
}

impl Scene {
    async fn run(&self, flow: &Flow, world: Arc<Scripted>, done: Done) -> (Ended, Vec<RunEvent>) {
        let trace = Trace::open(&self.runs, "run-1", &Map::new(), Durability::Os, Arc::new(Standing)).expect("a trace");
        let seen = Arc::new(Seen::default());
        let run = Run {
            flow,
            render: &Templates::new(),
            world,
            inputs: Map::new(),
            secrets: Arc::new(self.secrets.clone()),
            env: Map::new(),
            trace: &trace,
            watch: Arc::clone(&seen) as Arc<dyn super::events::Watch>,
            cancel: self.cancel.clone(),
            meter: Meter::default(),
            done,
        };
        let ended = run.run().await.expect("no fault").ended;
        let seen = std::mem::take(&mut *seen.0.lock().expect("nobody panicked"));
        (ended, seen)
    }

    fn before(&self) -> Before {
        Before::read(journal::lines(&self.runs, "run-1").expect("a trace").map(|line| line.expect("a line")))
    }

    fn done(&self) -> Done {
        let (before, objects) = (self.before(), Objects::open(&self.runs).expect("objects"));
        let fate = |kept: &Kept| match kept {
            Kept::Output(line) => output_of(&objects, line).expect("it is there").map(Fate::Done),
            Kept::Skipped(why) => Some(Fate::Skipped(why.clone())),
        };
        let fates = before.ended.iter().filter_map(|(unit, kept)| Some((unit.clone(), fate(kept)?))).collect();
        Done { fates, resumed: before.resumed + 1, spent: before.spent }
    }
}

fn broke() -> ToolError {
    ToolError::new(code::COMMAND_FAILED, "it broke")
}

fn chain() -> Flow {
    let mut flow = flow(vec![task("a", &[]), task("b", &[0]), task("c", &[1])]);
    for (at, before) in [(1, "a"), (2, "b")] {
        flow.tasks[at].uses = vec![uses(before, at - 1)];
        flow.tasks[at].verb = calling(&flow.tasks[at].id.value.clone(), param(&format!("{{{{ use.{before} }}}}")));
    }
    flow.outputs = vec![(at("last".to_owned()), Dynamic::Text(template("{{ tasks.c }}")))];
    flow
}

fn grow(order: &Order) -> Result<Value, ToolError> {
    let super::action::Action::Tool { name, arguments } = &order.action else { return Err(broke()) };
    Ok(json!(format!("{}{name}", arguments.get("in").and_then(Value::as_str).unwrap_or_default())))
}

#[tokio::test]
async fn what_a_task_made_reaches_the_next_and_the_outputs() {
    let scene = scene();
    let (ended, seen) = scene.run(&chain(), Arc::new(Scripted::new(grow)), Done::default()).await;
    assert_eq!(ended, Ended::Completed(json!({"last": "abc"}).as_object().cloned().expect("an object")));
    let names: Vec<&str> = seen.iter().map(RunEvent::name).collect();
    let pair = ["TaskStarted", "TaskCompleted"];
    assert_eq!(names, [&pair[..], &pair, &pair, &["WorkflowCompleted"]].concat());
    assert!(journal::verify(&scene.runs, "run-1").is_ok());
}

#[tokio::test]
async fn a_run_goes_on_where_it_stopped_and_ends_as_if_it_had_not() {
    let scene = scene();
    let first = Arc::new(Scripted::new(|order| if order.unit.task == "b" { Err(broke()) } else { grow(order) }));
    let (ended, _) = scene.run(&chain(), Arc::clone(&first), Done::default()).await;
    let Ended::Failed(error) = ended else { panic!("{ended:?}") };
    assert!(error.message.contains("`b` failed: NIKA-400 it broke"), "{error}");
    assert_eq!(first.calls(), ["a#1", "b#1"]);

    let second = Arc::new(Scripted::new(grow));
    let (ended, _) = scene.run(&chain(), Arc::clone(&second), scene.done()).await;
    assert_eq!(ended, Ended::Completed(json!({"last": "abc"}).as_object().cloned().expect("an object")));
    assert_eq!(second.calls(), ["b#1.1", "c#1.1"], "what had ended is not done again");
}

#[tokio::test]
async fn elements_go_on_one_by_one() {
    let scene = scene();
    let mut flow = flow(vec![task("each", &[])]);
    flow.tasks[0].for_each = Some(ForEach {
        items: Dynamic::Plain(json!(["x", "y", "z"])),
        name: "item".into(),
        concurrency: 1,
        fail_fast: true,
    });
    flow.tasks[0].verb = calling("t", param("{{ item }}"));
    let first = Arc::new(Scripted::new(|order| match order.unit.element {
        Some(2) => Err(broke()),
        _ => grow(order),
    }));
    let (ended, _) = scene.run(&flow, first, Done::default()).await;
    assert!(matches!(ended, Ended::Failed(_)));
    let second = Arc::new(Scripted::new(grow));
    flow.outputs = vec![(at("all".to_owned()), Dynamic::Text(template("{{ tasks.each }}")))];
    let (ended, _) = scene.run(&flow, Arc::clone(&second), scene.done()).await;
    assert_eq!(ended, Ended::Completed(json!({"all": ["xt", "yt", "zt"]}).as_object().cloned().expect("an object")));
    assert_eq!(second.calls(), ["each[2]#1.1"]);
}

#[tokio::test]
async fn on_error_stands_in_or_skips() {
    let scene = scene();
    let mut flow = flow(vec![task("a", &[]), task("b", &[]), task("c", &[0]), task("d", &[1])]);
    flow.tasks[0].on_error = OnError::Value(Dynamic::Plain(json!("instead")));
    flow.tasks[1].on_error = OnError::Skip;
    flow.tasks[2].uses = vec![uses("a", 0)];
    flow.tasks[2].verb = calling("c", param("{{ use.a }}"));
    flow.outputs = vec![(at("c".to_owned()), Dynamic::Text(template("{{ tasks.c }}")))];
    let fails = |order: &Order| if ["a", "b"].contains(&order.unit.task.as_str()) { Err(broke()) } else { grow(order) };
    let (ended, seen) = scene.run(&flow, Arc::new(Scripted::new(fails)), Done::default()).await;
    assert_eq!(ended, Ended::Completed(json!({"c": "insteadc"}).as_object().cloned().expect("an object")));
    let skipped: Vec<String> = seen
        .iter()
        .filter_map(|event| match event {
            RunEvent::TaskSkipped { unit, why, .. } => Some(format!("{unit}: {why}")),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, ["b: it failed: NIKA-400 it broke", "d: `b` was skipped"]);
}

#[tokio::test]
async fn a_stopped_run_is_paused_and_can_be_gone_on_with() {
    let scene = scene();
    let mut world = Scripted::new(grow);
    world.endless = vec!["b"];
    let world = Arc::new(world);
    let cancel = scene.cancel.clone();
    let watching = Arc::clone(&world);
    let stopper = tokio::spawn(async move {
        while !watching.calls().contains(&"b#1".to_owned()) {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    let (ended, seen) = scene.run(&chain(), world, Done::default()).await;
    stopper.await.expect("it stopped it");
    assert_eq!(ended, Ended::Paused);
    assert!(matches!(seen.last(), Some(RunEvent::Paused { .. })));
    let before = scene.before();
    assert_eq!(before.last.as_deref(), Some("WorkflowPaused"));
    assert_eq!(before.begun.keys().map(Named::to_string).collect::<Vec<_>>(), ["b"]);
}

#[tokio::test]
async fn a_task_has_its_time_and_a_run_its_own() {
    let scene = scene();
    let mut flow = chain();
    flow.tasks[1].timeout = Duration::from_secs(2);
    let mut world = Scripted::new(grow);
    world.endless = vec!["b"];
    let (ended, _) = scene.run(&flow, Arc::new(world), Done::default()).await;
    let Ended::Failed(error) = ended else { panic!("{ended:?}") };
    assert!(error.message.contains("NIKA-896 `b` took longer than 2s; by then it had said:\nhalf of it"), "{error}");

    let scene = self::scene();
    flow.limits.timeout = Some(at(Duration::from_secs(1)));
    let mut world = Scripted::new(grow);
    world.endless = vec!["b"];
    let (ended, _) = scene.run(&flow, Arc::new(world), Done::default()).await;
    assert!(matches!(&ended, Ended::Aborted(error) if error.code == code::RUN_LIMIT), "{ended:?}");
}

/// What a failed try took is spent: it counts for the limits, in the trace, and for the next process.
#[tokio::test]
async fn what_failed_is_paid_for_too() {
    let took = |tokens: u64| Spent { tokens, cost_micros: Some(tokens) };
    let fails = move |order: &Order| match order.unit.task.as_str() {
        "a" => Ok(Made { spent: took(1), ..Made::of(grow(order)?) }),
        _ => Err(Unmade::after(took(10), broke())),
    };
    let scene = scene();
    let mut flow = chain();
    flow.tasks[1].retry = Retry { attempts: 3, ..Retry::default() };
    let (_, seen) = scene.run(&flow, Arc::new(Scripted::spending(fails)), Done::default()).await;
    assert!(matches!(seen.last(), Some(RunEvent::Failed { spent, .. }) if *spent == took(31)), "{seen:?}");
    assert_eq!(scene.before().spent, took(31));

    let scene = self::scene();
    flow.limits = Limits { tokens: Some(at(15)), ..Limits::default() };
    let world = Arc::new(Scripted::spending(fails));
    let (ended, _) = scene.run(&flow, Arc::clone(&world), Done::default()).await;
    assert!(matches!(&ended, Ended::Aborted(error) if error.code == code::RUN_LIMIT), "{ended:?}");
    assert_eq!(world.calls(), ["a#1", "b#1", "b#2"], "no third try is paid for");
    // Under a higher limit it goes on, and what was spent before still counts.
    flow.limits.tokens = Some(at(1_000));
    let (_, seen) = scene.run(&flow, Arc::new(Scripted::spending(fails)), scene.done()).await;
    assert!(matches!(seen.last(), Some(RunEvent::Failed { spent, .. }) if *spent == took(51)), "{seen:?}");
}

#[tokio::test]
async fn what_was_cancelled_is_paid_for_too() {
    let scene = scene();
    let mut flow = chain();
    flow.limits.timeout = Some(at(Duration::from_secs(1)));
    let mut world = Scripted::new(grow);
    world.endless = vec!["b"];
    let (_, seen) = scene.run(&flow, Arc::new(world), Done::default()).await;
    assert!(matches!(seen.last(), Some(RunEvent::Aborted { spent, .. }) if *spent == SPENT_IN_VAIN), "{seen:?}");
    assert_eq!(scene.before().spent, SPENT_IN_VAIN);
}

/// A workflow within another one, or an agent, spends long before it ends.
#[tokio::test]
async fn a_bound_holds_for_what_has_not_ended_yet() {
    let scene = scene();
    let mut flow = chain();
    flow.limits = Limits { tokens: Some(at(SPENT_IN_VAIN.tokens - 1)), ..Limits::default() };
    let mut world = Scripted::new(grow);
    world.endless = vec!["b"];
    let (ended, seen) = scene.run(&flow, Arc::new(world), Done::default()).await;
    assert!(matches!(&ended, Ended::Aborted(error) if error.message.contains("`limits.tokens`")), "{ended:?}");
    assert!(matches!(seen.last(), Some(RunEvent::Aborted { spent, .. }) if *spent == SPENT_IN_VAIN), "counted once");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_data_in_a_run() {
    let scene = scene();
    let mut flow = chain();
    flow.tasks[1].verb = calling("b", param("{{ 'x' }}"));
    let fails = |order: &Order| match order.unit.task.as_str() {
        "b" => Err(ToolError::argument("in", "takes a number")),
        _ => grow(order),
    };
    let (ended, _) = scene.run(&flow, Arc::new(Scripted::new(fails)), Done::default()).await;
    let Ended::Failed(error) = ended else { panic!("{ended:?}") };
    assert!(error.message.contains("NIKA-890 `b`: what its templates made does not fit `b`: `in`"), "{error}");
}

#[tokio::test]
async fn what_stands_for_a_failed_element_may_name_it() {
    let scene = scene();
    let mut flow = flow(vec![task("each", &[])]);
    flow.tasks[0].for_each = Some(ForEach {
        items: Dynamic::Plain(json!(["x", "y"])),
        name: "item".into(),
        concurrency: 1,
        fail_fast: true,
    });
    flow.tasks[0].verb = calling("t", param("{{ item }}"));
    flow.tasks[0].on_error = OnError::Value(Dynamic::Text(template("no {{ item }}")));
    flow.outputs = vec![(at("all".to_owned()), Dynamic::Text(template("{{ tasks.each }}")))];
    let fails = |order: &Order| if order.unit.element == Some(1) { Err(broke()) } else { grow(order) };
    let (ended, _) = scene.run(&flow, Arc::new(Scripted::new(fails)), Done::default()).await;
    assert_eq!(ended, Ended::Completed(json!({"all": ["xt", "no y"]}).as_object().cloned().expect("an object")));
}

/// Whoever says how long to be left alone is, as far as the task's longest wait reaches; what no try mends is not tried.
#[tokio::test]
async fn another_try_waits_as_long_as_it_was_asked_to() {
    let waits = |rest_ms: u64, code: nika_contract::Code| async move {
        let scene = scene();
        let mut flow = flow(vec![task("a", &[])]);
        flow.tasks[0].retry = Retry { attempts: 2, ..Retry::default() };
        let world = Scripted::spending(move |_| Err(Unmade { rest_ms, ..ToolError::new(code, "no").into() }));
        let (_, seen) = scene.run(&flow, Arc::new(world), Done::default()).await;
        seen.iter().find_map(|event| match event {
            RunEvent::TaskFailed { again_ms, .. } => *again_ms,
            _ => None,
        })
    };
    assert_eq!(waits(0, code::HTTP_STATUS).await, Some(1_000));
    assert_eq!(waits(7_000, code::HTTP_STATUS).await, Some(7_000));
    assert_eq!(waits(86_400_000, code::HTTP_STATUS).await, Some(60_000));
    assert_eq!(waits(0, code::NO_MODEL).await, None);
}

/// Five thousand elements over their own list: what all of them know is made once.
#[tokio::test]
async fn a_loop_over_its_own_list_is_not_quadratic() {
    let scene = scene();
    let mut flow = flow(vec![task("list", &[]), task("each", &[0])]);
    flow.tasks[1].uses = vec![uses("list", 0)];
    flow.tasks[1].for_each = Some(ForEach {
        items: Dynamic::Text(template("{{ use.list }}")),
        name: "item".into(),
        concurrency: 8,
        fail_fast: true,
    });
    flow.tasks[1].verb = calling("each", param("{{ item.name }}"));
    let list = Value::Array((0..5_000).map(|at| json!({"name": format!("element {at}")})).collect());
    let world = Scripted::new(move |order| if order.unit.task == "list" { Ok(list.clone()) } else { grow(order) });
    let began = std::time::Instant::now();
    let (ended, seen) = scene.run(&flow, Arc::new(world), Done::default()).await;
    assert_eq!(ended, Ended::Completed(Map::new()));
    assert_eq!(seen.iter().filter(|event| event.name() == "TaskCompleted").count(), 5_002);
    // Quadratic it takes minutes in this build.
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_secret_leaves_no_trace() {
    let mut scene = scene();
    scene.secrets = Secrets::new(vec![("TOKEN".into(), "hunter2!".into())]);
    let mut flow = chain();
    flow.tasks[0].verb = calling("a", param("{{ secrets.TOKEN }}"));
    let given: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&given);
    let world = Scripted::new(move |order| {
        let said = grow(order)?;
        heard.lock().expect("nobody panicked").push(said.to_string());
        if order.unit.task == "b" {
            return Err(ToolError::new(code::COMMAND_FAILED, "curl: hunter2! is wrong"));
        }
        Ok(said)
    });
    let (ended, seen) = scene.run(&flow, Arc::new(world), Done::default()).await;
    assert_eq!(given.lock().expect("nobody panicked")[0], "\"hunter2!a\"", "the task itself was given it");
    let lines: Vec<String> =
        journal::lines(&scene.runs, "run-1").expect("a trace").map(|line| line.expect("a line").to_string()).collect();
    for shown in [format!("{ended:?}"), format!("{seen:?}"), lines.join("\n")] {
        assert!(!shown.contains("hunter2") && shown.contains("[secret TOKEN]"), "{shown}");
    }
}

#[tokio::test]
async fn a_long_output_is_kept_apart_and_comes_back_whole() {
    let scene = scene();
    let long = "0123456789".repeat(10_000);
    let said = long.clone();
    let world = Scripted::new(move |order| if order.unit.task == "a" { Ok(json!(said)) } else { grow(order) });
    scene.run(&chain(), Arc::new(world), Done::default()).await;
    let longest = journal::lines(&scene.runs, "run-1").expect("a trace").map(|line| line.expect("a line"));
    assert!(longest.into_iter().all(|line| line["task"] != "a" || line.to_string().len() < 2_000));
    let fates = scene.done().fates;
    assert_eq!(fates[&Named { task: "a".into(), element: None }], Fate::Done(json!(long)));
}

/// 10,000 tasks that do nothing: what is left is the scheduler's own.
#[tokio::test]
async fn many_tasks_cost_little_each() {
    let scene = scene();
    let tasks = (0..10_000).map(|at| task(&format!("t{at}"), &if at < 100 { vec![] } else { vec![at - 100] }));
    let flow = flow(tasks.collect());
    let (ended, seen) = scene.run(&flow, Arc::new(Scripted::new(|_| Ok(Value::Null))), Done::default()).await;
    assert_eq!(ended, Ended::Completed(Map::new()));
    let ended: BTreeMap<&str, usize> = seen.iter().fold(BTreeMap::new(), |mut counts, event| {
        *counts.entry(event.name()).or_default() += 1;
        counts
    });
    assert_eq!(ended["TaskCompleted"], 10_000);
}
