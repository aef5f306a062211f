//! What the scheduler itself takes for a task: 10,000 tasks that do nothing, traced as any.
//!
//! Reads the document, runs it over a world whose tasks end at once, and prints milliseconds.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_contract::{BoxFuture, Cancel, Clock};
use nika_flow::Templates;
use nika_flow::run::events::Unwatched;
use nika_flow::run::meter::Meter;
use nika_flow::run::secrets::Secrets;
use nika_flow::run::trace::Trace;
use nika_flow::run::world::{Made, Order, Unmade, World};
use nika_flow::run::{Done, Ended, Run};
use nika_store::{Durability, State, runs};
use serde_json::{Map, Value};

const TASKS: usize = 10_000;
/// What the scheduler may take for each.
const GOAL_MS: f64 = 1.0;
/// Each waits for the one so many before it.
const WIDTH: usize = 100;

#[derive(Debug)]
struct Nothing(Instant);

impl World for Nothing {
    fn perform<'a>(&'a self, _: Order) -> BoxFuture<'a, Result<Made, Unmade>> {
        Box::pin(async { Ok(Made::of(Value::Null)) })
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn until<'a>(&'a self, at_ms: u64) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(at_ms.saturating_sub(self.now_ms()))))
    }
}

#[derive(Debug)]
struct Standing;

impl Clock for Standing {
    fn unix_ms(&self) -> u64 {
        0
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::from("schema: nika/workflow@1\npermits: {tools: [read]}\ntasks:\n");
    for at in 0..TASKS {
        write!(text, "  - id: t{at}\n    invoke: {{tool: read, params: {{file_path: \"a{at}\"}}}}\n")?;
        if at >= WIDTH {
            writeln!(text, "    depends_on: t{}", at - WIDTH)?;
        }
    }
    let flow = nika_flow::read(&text, "bench.nika.yaml").map_err(|found| format!("{found:?}"))?;
    let dir = std::env::temp_dir().join(format!("nika-flowbench-{}", std::process::id()));
    let traces = runs::open(&State::open(&dir)?)?;
    let trace = Trace::open(&traces, "run-bench", &Map::new(), Durability::Os, Arc::new(Standing))
        .map_err(|fault| fault.to_string())?;
    let templates = Templates::new();
    let began = Instant::now();
    let run = Run {
        flow: &flow,
        render: &templates,
        world: Arc::new(Nothing(began)),
        inputs: Map::new(),
        secrets: Arc::new(Secrets::default()),
        env: Map::new(),
        trace: &trace,
        watch: Arc::new(Unwatched),
        cancel: Cancel::default(),
        meter: Meter::default(),
        done: Done::default(),
    };
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build()?;
    let ended = threads.block_on(run.run()).map_err(|fault| fault.to_string())?.ended;
    let took = began.elapsed();
    drop(trace);
    std::fs::remove_dir_all(&dir)?;
    if !matches!(ended, Ended::Completed(_)) {
        return Err(format!("it did not complete: {ended:?}").into());
    }
    let each = took.as_secs_f64() * 1e3 / TASKS as f64;
    println!("{TASKS} tasks that do nothing: {:.0} ms, {each:.3} ms each", took.as_secs_f64() * 1e3);
    println!("raw each of {TASKS} tasks that do nothing, ms: {each:.4}");
    if each > GOAL_MS {
        return Err(format!("goal: {GOAL_MS} ms each, NOT REACHED").into());
    }
    println!("goal: {GOAL_MS} ms each, met");
    Ok(())
}
