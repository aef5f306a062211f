//! What is to be done next, over small graphs: what begins, when, and what became of it.

use std::time::Duration;

use nika_contract::code;
use serde_json::json;

use super::*;
use crate::model::{Dynamic, ForEach, OnError, Retry, Use};
use crate::run::testing::{flow, task};

fn error() -> ToolError {
    ToolError::new(code::COMMAND_FAILED, "it broke")
}

/// Runs a plan to its end: `act` says what comes of a try. What began and settled, in order.
fn drive(flow: &Flow, mut act: impl FnMut(Unit, u32) -> Result<Value, ToolError>) -> (Vec<String>, Vec<Fate>) {
    let (mut plan, mut now, mut said) = (Plan::new(flow), 0, Vec::new());
    let mut afloat: VecDeque<(Unit, u32)> = VecDeque::new();
    loop {
        match plan.next(now) {
            Next::Open(at) => {
                let each = flow.tasks[at].for_each.as_ref();
                let count = each.map(|each| match &each.items {
                    Dynamic::List(items) => items.len(),
                    _ => 0,
                });
                let opened = count.map_or(Opened::Once, |count| Opened::Each { count, done: BTreeMap::new() });
                plan.opened(at, opened);
            }
            Next::Skipped(at, why) => said.push(format!("{} skipped: {why}", flow.tasks[at].id.value)),
            Next::Begin(unit, attempt) => {
                let element = unit.element.map_or(String::new(), |element| format!("[{element}]"));
                said.push(format!("{}{element} #{attempt} at {now}", flow.tasks[unit.task].id.value));
                afloat.push_back((unit, attempt));
            }
            Next::Wait(due) => match afloat.pop_front() {
                Some((unit, attempt)) => match act(unit, attempt) {
                    Ok(value) => drop(plan.ended(unit, Fate::Done(value))),
                    Err(error) if plan.again(unit, now, 0).is_none() => {
                        let cancelled = plan.ended(unit, Fate::Failed(error)).cancel;
                        said.extend(cancelled.iter().map(|unit| format!("cancel {:?}", unit.element)));
                    }
                    Err(_) => {}
                },
                None => now = due.expect("something is due"),
            },
            Next::Over => {
                let fates = (0..flow.tasks.len()).map(|at| plan.fate(at).expect("settled").clone()).collect();
                return (said, fates);
            }
        }
    }
}

#[test]
fn what_depends_waits_and_the_rest_runs_beside() {
    let flow = flow(vec![task("a", &[]), task("b", &[0]), task("c", &[]), task("d", &[1, 2])]);
    let (said, fates) = drive(&flow, |unit, _| Ok(json!(unit.task)));
    assert_eq!(said, ["a #1 at 0", "c #1 at 0", "b #1 at 0", "d #1 at 0"]);
    assert_eq!(fates[3], Fate::Done(json!(3)));
}

#[test]
fn no_more_run_at_once_than_may() {
    let mut flow = flow((0..20).map(|at| task(&format!("t{at}"), &[])).collect());
    flow.limits.parallel = Some(crate::run::testing::at(3));
    let mut plan = Plan::new(&flow);
    let mut begun = 0;
    loop {
        match plan.next(0) {
            Next::Open(at) => plan.opened(at, Opened::Once),
            Next::Begin(..) => begun += 1,
            Next::Wait(None) => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((begun, plan.running.len()), (3, 3));
}

#[test]
fn a_failure_skips_what_depends_on_it_and_nothing_else() {
    let flow = flow(vec![task("a", &[]), task("b", &[0]), task("c", &[1]), task("d", &[])]);
    let (said, fates) = drive(&flow, |unit, _| if unit.task == 0 { Err(error()) } else { Ok(json!(1)) });
    assert_eq!(said, ["a #1 at 0", "d #1 at 0", "b skipped: `a` failed", "c skipped: `b` was skipped"]);
    assert_eq!((&fates[0], &fates[3]), (&Fate::Failed(error()), &Fate::Done(json!(1))));
}

#[test]
fn a_default_for_each_use_makes_up_for_a_failure() {
    let of = |default| Use { name: crate::run::testing::at("x".into()), task: 0, path: Vec::new(), default };
    let mut flow = flow(vec![task("a", &[]), task("b", &[0]), task("c", &[0]), task("d", &[0])]);
    flow.tasks[1].uses = vec![of(Some(json!("none")))];
    flow.tasks[2].uses = vec![of(Some(json!("none"))), of(None)];
    let (said, _) = drive(&flow, |unit, _| if unit.task == 0 { Err(error()) } else { Ok(json!(1)) });
    assert_eq!(said, ["a #1 at 0", "c skipped: `a` failed", "d skipped: `a` failed", "b #1 at 0"]);
}

#[test]
fn tries_are_repeated_after_growing_waits() {
    let mut flow = flow(vec![task("a", &[])]);
    flow.tasks[0].retry =
        Retry { attempts: 5, backoff: Duration::from_secs(1), factor: 3.0, most: Duration::from_secs(5) };
    let (said, fates) = drive(&flow, |_, attempt| if attempt < 5 { Err(error()) } else { Ok(json!("at last")) });
    assert_eq!(said, ["a #1 at 0", "a #2 at 1000", "a #3 at 4000", "a #4 at 9000", "a #5 at 14000"]);
    assert_eq!(fates[0], Fate::Done(json!("at last")));
}

fn looped(count: usize, concurrency: usize, fail_fast: bool) -> Flow {
    let mut flow = flow(vec![task("a", &[]), task("b", &[0])]);
    let items = Dynamic::List(vec![Dynamic::Plain(json!(0)); count]);
    flow.tasks[0].for_each = Some(ForEach { items, name: "item".into(), concurrency, fail_fast });
    flow.tasks[0].on_error = OnError::Fail;
    flow
}

#[test]
fn the_output_of_a_loop_is_in_the_order_of_its_list() {
    let flow = looped(4, 2, true);
    let (said, fates) = drive(&flow, |unit, _| Ok(json!(unit.element)));
    assert_eq!(said, ["a[0] #1 at 0", "a[1] #1 at 0", "a[2] #1 at 0", "a[3] #1 at 0", "b #1 at 0"]);
    assert_eq!(fates[0], Fate::Done(json!([0, 1, 2, 3])));
    let empty = looped(0, 2, true);
    let (said, fates) = drive(&empty, |_, _| Err(error()));
    assert_eq!((said[0].as_str(), &fates[0]), ("b #1 at 0", &Fate::Done(json!([]))));
}

#[test]
fn the_first_failure_ends_a_loop_or_does_not() {
    let fails = |unit: Unit, _: u32| if unit.element == Some(1) { Err(error()) } else { Ok(json!(unit.element)) };
    let (said, fates) = drive(&looped(5, 2, true), fails);
    assert_eq!(said, ["a[0] #1 at 0", "a[1] #1 at 0", "a[2] #1 at 0", "cancel Some(2)", "b skipped: `a` failed"]);
    assert_eq!(fates[0], Fate::Failed(error()));
    let (said, fates) = drive(&looped(5, 2, false), fails);
    assert_eq!(said.len(), 6, "all five, and `b`: {said:?}");
    assert_eq!(fates[0], Fate::Failed(error()));
}

#[test]
fn elements_that_ended_before_are_not_begun_again() {
    let flow = looped(3, 3, true);
    let mut plan = Plan::new(&flow);
    assert_eq!(plan.next(0), Next::Open(0));
    plan.opened(0, Opened::Each { count: 3, done: BTreeMap::from([(0, json!("x")), (2, json!("z"))]) });
    let unit = Unit { task: 0, element: Some(1) };
    assert_eq!((plan.next(0), plan.next(0)), (Next::Begin(unit, 1), Next::Wait(None)));
    assert!(plan.ended(unit, Fate::Done(json!("y"))).task);
    assert_eq!(plan.fate(0), Some(&Fate::Done(json!(["x", "y", "z"]))));
}

#[test]
fn once_stopped_nothing_begins_and_what_runs_is_waited_for() {
    let flow = flow(vec![task("a", &[]), task("b", &[0])]);
    let mut plan = Plan::new(&flow);
    assert_eq!(plan.next(0), Next::Open(0));
    plan.opened(0, Opened::Once);
    let unit = Unit { task: 0, element: None };
    assert_eq!(plan.next(0), Next::Begin(unit, 1));
    plan.stop();
    assert_eq!(plan.next(0), Next::Wait(None));
    plan.ended(unit, Fate::Done(json!(1)));
    assert_eq!((plan.next(0), plan.fate(1)), (Next::Over, None));
}
