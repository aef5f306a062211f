//! Mutants that pass the check, run by the real runner over a world that does nothing: what fails then is data, and never
//! something that the check is there to find.

use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{BoxFuture, Cancel, Clock, Code, ToolError};
use nika_flow::model::{Answer, Capture, FetchRead, Flow, Kind};
use nika_flow::run::action::Action;
use nika_flow::run::events::{RunEvent, Watch};
use nika_flow::run::meter::Meter;
use nika_flow::run::secrets::Secrets;
use nika_flow::run::trace::Trace;
use nika_flow::run::world::{Made, Order, Unmade, World};
use nika_flow::run::{Done, Ended, Run, inputs};
use nika_flow::{Templates, check};
use nika_store::{Durability, State, runs};
use serde_json::{Map, Value, json};

use crate::mutants::{MUTANTS, mutant};
use crate::world::Paper;

/// Does nothing, and answers as each verb would; its clock stands until somebody waits.
#[derive(Default)]
struct Idle {
    now: Mutex<u64>,
}

impl World for Idle {
    fn perform<'a>(&'a self, order: Order) -> BoxFuture<'a, Result<Made, Unmade>> {
        Box::pin(async move { Ok(Made::of(output(&order.action))) })
    }

    fn now_ms(&self) -> u64 {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn until<'a>(&'a self, at_ms: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = (*now).max(at_ms);
        })
    }
}

fn output(action: &Action) -> Value {
    match action {
        Action::Infer { answer, .. } | Action::Agent { answer, .. } => match answer {
            Answer::Text => json!("answer"),
            Answer::Json => json!({"ok": true}),
            Answer::Fitting(_) => json!({"ideas": ["a", "b"]}),
        },
        Action::Exec { capture, .. } => match capture {
            Capture::Json => json!({"any": ["thing"]}),
            Capture::All => json!({"exit": 0, "stdout": "out", "stderr": ""}),
            _ => json!("out"),
        },
        Action::Fetch { read, .. } => match read {
            FetchRead::Json => json!({"name": "item"}),
            FetchRead::Answer => json!({"status": 200, "headers": {}, "body": null}),
            _ => json!("page"),
        },
        Action::Tool { name, .. } if name == "grep" => json!({"total": 3}),
        _ => json!("called"),
    }
}

/// Keeps the codes of what failed.
#[derive(Default)]
struct Failures(Mutex<Vec<ToolError>>);

impl Watch for Failures {
    fn saw(&self, what: &RunEvent) {
        if let RunEvent::TaskFailed { error, .. } = what {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(error.clone());
        }
    }
}

#[derive(Debug)]
struct Standing;

impl Clock for Standing {
    fn unix_ms(&self) -> u64 {
        1_763_766_000_000
    }
}

/// What a person would give.
fn given(flow: &Flow) -> Map<String, Value> {
    let value = |kind| match kind {
        Kind::String => json!("given"),
        Kind::Number => json!(2),
        Kind::Boolean => json!(true),
        Kind::List => json!(["one", "two"]),
        Kind::Object => json!({"a": 1}),
    };
    let asked = flow.inputs.iter().filter(|input| input.default.is_none());
    asked.map(|input| (input.name.value.clone(), value(input.kind))).collect()
}

/// Runs it; what failed, whether or not the run did.
async fn ran(flow: &Flow, runs: &State, id: &str) -> Vec<ToolError> {
    let trace = Trace::open(runs, id, &Map::new(), Durability::Os, Arc::new(Standing)).expect("a trace");
    let secrets = flow.secrets.iter().map(|name| (name.value.clone(), "s3cret-s3cret".to_owned())).collect();
    let env = flow.permits.iter().flat_map(|permits| &permits.env);
    let failures = Arc::new(Failures::default());
    let run = Run {
        flow,
        render: &Templates::new(),
        world: Arc::new(Idle::default()),
        inputs: inputs::gather(flow, given(flow), &[]).expect("what the inputs take was given"),
        secrets: Arc::new(Secrets::new(secrets)),
        env: env.map(|name| (name.value.clone(), json!("C"))).collect(),
        trace: &trace,
        watch: Arc::clone(&failures) as Arc<dyn Watch>,
        cancel: Cancel::default(),
        meter: Meter::default(),
        done: Done::default(),
    };
    let ended = run.run().await.expect("the trace is written").ended;
    let mut failed = std::mem::take(&mut *failures.0.lock().unwrap_or_else(PoisonError::into_inner));
    match ended {
        Ended::Failed(error) | Ended::Aborted(error) => failed.push(error),
        Ended::Completed(_) => {}
        Ended::Paused => panic!("nobody stopped it"),
    }
    failed
}

/// What a check is there to find.
fn is_of_the_check(code: Code) -> bool {
    (870..=889).contains(&code.0)
}

#[tokio::test]
async fn what_passes_the_check_never_fails_as_the_check_would() {
    let dir = tempfile::tempdir().expect("a directory");
    let runs = runs::open(&State::open(dir.path()).expect("a state")).expect("traces");
    let (mut clean, mut failed) = (0, 0);
    for seed in 0..MUTANTS {
        let (name, text) = mutant(seed);
        let checked = check(&text, "mutant.nika.yaml", &Paper);
        let Some(flow) = checked.flow.as_ref().filter(|_| checked.is_clean()) else { continue };
        clean += 1;
        let errors = ran(flow, &runs, &format!("run-{seed}")).await;
        failed += usize::from(!errors.is_empty());
        for error in errors {
            assert!(!is_of_the_check(error.code), "mutant {seed} of {name}: {error:?}\n{text}");
        }
    }
    println!("{clean} of {MUTANTS} passed the check and ran; {failed} of them failed on data");
    assert!(clean > 50 && failed < clean, "{clean} ran, of which {failed} failed");
}
