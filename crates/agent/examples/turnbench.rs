//! What a turn costs beside the model and the tools: budgets, transcript, journal, dispatch. The model takes as long
//! as a very fast one, the tool nothing; the sync of a turn runs while the model thinks, and is measured by itself.
//!
//! ```text
//! cargo run --release -p nika-agent --example turnbench -- DIR
//! ```
//!
//! DIR is where the state lies: whether it is a disk decides what a sync costs.

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nika_agent::provider::{
    Answered, Arguments, Asking, Call, Model, ModelError, Part, Provider, Role, Sink, Stop, Usage,
};
use nika_agent::{Agent, Bounds, Briefing, Conversation, Unwatched};
use nika_contract::{BoxFuture, Cancel, Cx, Erased, Group, Nobody, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effects, Place};
use nika_store::Transcript;
use nika_testkit::{TickingClock, World, world_in};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

/// Turns of a measured run: a long session.
const TURNS: usize = 300;

/// How long the model takes. The fastest take ten times as long.
const THINKS: Duration = Duration::from_millis(30);

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: turnbench DIR");
        return ExitCode::FAILURE;
    };
    let here = tempfile::tempdir_in(&dir).expect("a directory in DIR");
    let state = here.path().join("state");
    let files = here.path().join("files");
    std::fs::create_dir_all(&files).expect("made");
    std::fs::create_dir_all(&state).expect("made");
    let tool_ns = Arc::new(AtomicU64::new(0));
    let world = world_in(&files, &state).tool(Erased::boxed(Idle(Arc::clone(&tool_ns))));
    let synced: Vec<Duration> = (0..50).map(|n| synced(&world, n)).collect();
    let all: Vec<String> = synced.iter().map(|time| format!("{:.3}", ms(*time))).collect();
    println!("raw sync of a transcript, ms: {}", all.join(" "));
    let sync = median(synced);
    println!("sync of a transcript after one line: {:.2} ms", ms(sync));
    for calls in [1, 4] {
        tool_ns.store(0, Ordering::Relaxed);
        let (took, model_ns) = run(&world, calls);
        let rest = took.saturating_sub(Duration::from_nanos(model_ns + tool_ns.load(Ordering::Relaxed)));
        let turns = u32::try_from(TURNS).expect("few");
        println!("{calls} call(s) a turn, {TURNS} turns: {:.2} ms a turn", ms(rest / turns));
        println!("raw a turn of {calls} call(s), ms: {:.4}", ms(rest / turns));
    }
    ExitCode::SUCCESS
}

fn synced(world: &World, n: usize) -> Duration {
    let transcript = Transcript::open(world.state(), "sync").expect("it opens");
    transcript.append(&json!({ "n": n })).expect("written");
    let since = Instant::now();
    transcript.sync().expect("synced");
    since.elapsed()
}

fn run(world: &World, calls: usize) -> (Duration, u64) {
    let session = Arc::new(world.session(&format!("bench-{calls}")));
    let talk = Conversation::open(world.state(), session.id()).expect("it opens");
    let model = Arc::new(Instantly { calls, spent: AtomicU64::new(0), asked: AtomicUsize::new(0), model: model() });
    let mut agent = Agent {
        runtime: Arc::clone(world.runtime()),
        session,
        model: Arc::<Instantly>::clone(&model),
        asker: Arc::new(Nobody),
        watch: Arc::new(Unwatched),
        clock: Arc::new(TickingClock::default()),
        cancel: Cancel::default(),
        bounds: Bounds::default(),
        briefing: Briefing::default(),
        notes: None,
        news: None,
        talk,
    };
    let since = Instant::now();
    let ended = world.wait(agent.run("go on")).expect("no fault");
    let took = since.elapsed();
    assert_eq!((ended.turns as usize, ended.calls as usize), (TURNS + 1, TURNS * calls));
    (took, model.spent.load(Ordering::Relaxed))
}

fn model() -> Model {
    Model { id: "instant".into(), context_tokens: 10_000_000, max_output: None, prices: None }
}

struct Instantly {
    calls: usize,
    spent: AtomicU64,
    asked: AtomicUsize,
    model: Model,
}

impl Provider for Instantly {
    fn name(&self) -> &str {
        "bench"
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        _: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        let since = Instant::now();
        let turn = self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(asking.messages.last().is_some_and(|message| message.role != Role::Assistant));
        let call = |n: usize| {
            let mut fields = Map::new();
            fields.insert("number".into(), (turn * 10 + n).into());
            Part::Call(Call { id: format!("id{n}"), name: IDLE.into(), arguments: Arguments::Object(fields) })
        };
        let done = turn == TURNS;
        let parts = if done { vec![Part::Text("done".into())] } else { (0..self.calls).map(call).collect() };
        let stop = if done { Stop::Done } else { Stop::Calls };
        let usage = Usage { input: 10, cache_read: 1_000, cache_write: 0, output: 20, reasoning: 0 };
        let answered = Answered { parts, stop, usage, first_ms: 0, took_ms: 0 };
        Box::pin(async move {
            tokio::time::sleep(THINKS).await;
            self.spent.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
            Ok(answered)
        })
    }
}

impl fmt::Debug for Instantly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instantly").finish_non_exhaustive()
    }
}

/// Does nothing, and says so in a page of text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    number: u64,
}

/// What it is called.
const IDLE: &str = "idle";

struct Idle(Arc<AtomicU64>);

impl Tool for Idle {
    type Params = Which;
    const SPEC: Spec = Spec::new(IDLE, "Idle", Group::Test).read_only().eager();

    fn effects(&self, _: &Which, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::read(Place::inside("/made-up", "page")))
    }

    async fn run(&self, which: Which, _: &Cx<'_>) -> Result<Output, ToolError> {
        let since = Instant::now();
        let page = format!("{}\n{}", which.number, "a line of a file\n".repeat(100));
        self.0.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        Ok(Output::text(page))
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
