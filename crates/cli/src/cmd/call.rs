//! `nika call`: one call through the whole pipeline, for a person or a script.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Asker, Cancel, Nobody, Progress, Silent, text};
use nika_runtime::{Incoming, Outcome, Session};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{self, Format};
use crate::arguments::{self, Gathered, Written};
use crate::ask::{Queued, Ready, Terminal};
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::crew;
use crate::failure::{self, Failure};
use crate::out;
use crate::render;
use crate::session;
use crate::world::World;

/// How often a program that stays looks at whether it has to.
const LOOK: Duration = Duration::from_millis(100);

/// Tools that begin jobs.
const BEGIN_JOBS: &[&str] = &["bash", "powershell"];
/// The tool whose interpreter stays for the session's next call.
const REPL: &str = "repl";

/// A call that a command wants made.
#[derive(Debug)]
pub struct Wanted<'a> {
    pub tool: &'a str,
    pub session: Option<&'a str>,
    pub output: Format,
    pub save: Option<&'a Path>,
    /// Answers to what the tool asks.
    pub answers: &'a [Ready],
    pub shape: Shape,
}

pub fn run(args: args::Call) -> Result<ExitCode, Failure> {
    let wanted = Wanted {
        tool: &args.tool,
        session: args.session.as_deref(),
        output: args.output,
        save: args.save.as_deref(),
        answers: &args.answers,
        shape: Shape { dialect: args.dialect, objects: true, ..Shape::default() },
    };
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let effective = ground.configure(&world, &args.standing)?;
    perform(&world, &ground, effective, &wanted, |built, threads| {
        // A server's tool is not known before its server was asked; why it is not known the call itself says.
        let tool = threads.block_on(built.runtime.seek(&args.tool)).ok();
        let written = Written { json: args.json.as_deref(), pairs: &args.pairs };
        arguments::gather(written, tool.as_deref(), &mut io::stdin())
    })
}

/// Makes the call and prints its outcome.
pub fn perform(
    world: &World,
    ground: &Ground,
    effective: Effective,
    wanted: &Wanted<'_>,
    arguments: impl FnOnce(&Built, &tokio::runtime::Runtime) -> Result<Gathered, Failure>,
) -> Result<ExitCode, Failure> {
    let built = compose::build(world, ground, effective, wanted.shape.clone())?;
    let threads = one_thread()?;
    let Gathered { arguments, took_stdin } = arguments(&built, &threads)?;
    let opened = session::open(&built, world, wanted.session, &arguments)?;
    let cancel = Cancel::default();
    let can_ask = world.has_person && !took_stdin;
    let asker: Arc<dyn Asker> = if can_ask {
        Arc::new(Terminal { colours: world.colours_in_errors, cancel: cancel.clone(), floor: Arc::default() })
    } else {
        Arc::new(Nobody)
    };
    let asker: Arc<dyn Asker> = match wanted.answers {
        [] => asker,
        answers => Arc::new(Queued::new(answers.to_vec(), asker)),
    };
    cancelled_by_ctrl_c(cancel.clone());
    let incoming = Incoming {
        name: wanted.tool.to_owned(),
        arguments,
        cancel: cancel.clone(),
        progress: if can_ask { Arc::new(Begins) as Arc<dyn Progress> } else { Arc::new(Silent) },
        asker,
        // A person who names a tool knows it, or reads the error; a schema first would be in the way.
        deferral: false,
        origin: None,
    };
    crew::enrol(&built, &opened.session, &incoming);
    let ran = threads.block_on(built.runtime.dispatch(&opened.session, incoming));
    // A grant or a read counts also when the call that came with it failed. That it could not be kept is told after the
    // answer: the call was made, and its answer is had once.
    let kept = opened.keep(&built);
    let outcome = ran?;
    show(world, wanted, &outcome)?;
    if outcome.tool == REPL {
        // Nobody is left who could go on in it.
        built.jobs.end_session(opened.session.id());
    }
    threads.block_on(async {
        stay(&built, &opened.session, &cancel).await;
        // The one object that was asked for is the call's.
        let told = match job_of(&outcome) {
            Some(job) if wanted.output == Format::Text && !cancel.is_cancelled() => {
                tell(&built, &opened.session, world, wanted, job).await
            }
            _ => Ok(()),
        };
        built.servers.close().await;
        told
    })?;
    built.tidy();
    if let Err(failure) = kept {
        // The one object that was asked for is the call's.
        return Ok(failure.report(false));
    }
    Ok(match &outcome.result {
        Ok(output) => output.failed.map_or(ExitCode::SUCCESS, |code| ExitCode::from(failure::exit(code))),
        Err(error) => ExitCode::from(failure::exit(error.code)),
    })
}

/// A person waits at the terminal: they are told what begins that takes its time.
struct Begins;

impl Progress for Begins {
    fn step(&self, done: u64, _: Option<u64>, what: &str) {
        if done == 0 && !what.is_empty() {
            out::complain(&format!("nika: {} …", text::harmless(what)));
        }
    }
}

/// What the call has set to work in the background, an agent or a job, ends with this program, so the program stays.
async fn stay(built: &Built, session: &Session, cancel: &Cancel) {
    let jobs = || built.jobs.running(session.id()).into_iter().map(|(id, _)| id);
    let agents = || built.fleet.afloat(session.id()).into_iter().map(|id| id.to_string());
    if let Some(first) = agents().chain(jobs()).next() {
        out::complain(&format!("nika: {first} is at work; this ends when it does (Ctrl-C stops it)"));
    }
    while agents().chain(jobs()).next().is_some() {
        if cancel.is_cancelled() {
            built.fleet.end_session(session.id());
            built.jobs.end_session(session.id());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The job that a call began.
fn job_of(outcome: &Outcome) -> Option<String> {
    let facts = &outcome.result.as_ref().ok()?.facts;
    let job = facts.iter().find(|(name, _)| *name == "job").filter(|_| BEGIN_JOBS.contains(&&*outcome.tool))?;
    job.1.as_str().map(str::to_owned)
}

/// What a job said, for a person who waited for it.
async fn tell(
    built: &Built,
    session: &Session,
    world: &World,
    wanted: &Wanted<'_>,
    job: String,
) -> Result<(), Failure> {
    let incoming = Incoming {
        name: "job_output".to_owned(),
        arguments: serde_json::Map::from_iter([("job_id".to_owned(), job.into())]),
        cancel: Cancel::default(),
        progress: Arc::new(Silent),
        asker: Arc::new(Nobody),
        deferral: false,
        origin: None,
    };
    if let Ok(outcome) = built.runtime.dispatch(session, incoming).await {
        show(world, wanted, &outcome)?;
    }
    Ok(())
}

fn show(world: &World, wanted: &Wanted<'_>, outcome: &Outcome) -> Result<(), Failure> {
    let shown = match wanted.output {
        Format::Json => out::json(&render::object(outcome)).map_err(Failure::from),
        Format::Text => render::for_people(outcome, world.colours, wanted.save),
    };
    // The act is done, whoever reads of it: the exit code is the call's.
    match shown {
        Err(Failure::NobodyListens) => Ok(()),
        other => other,
    }
}

/// The async runtime of a command: one thread is enough for one call.
pub fn one_thread() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// The first Ctrl-C cancels, so that nothing is left half done; the second ends the program.
pub fn cancelled_by_ctrl_c(cancel: Cancel) {
    interrupted(cancel, || (), || ());
}

/// The same, with what is done at the first, and before the program ends.
pub fn interrupted(cancel: Cancel, first: impl FnOnce() + Send + 'static, last: impl FnOnce() + Send + 'static) {
    // A thread of its own: the call's thread may be deep in a search when the signal comes.
    std::thread::spawn(move || {
        let Ok(runtime) = one_thread() else { return };
        runtime.block_on(async {
            if asked_to_end().await.is_ok() {
                cancel.cancel();
                first();
                let _ = asked_to_end().await;
                last();
                std::process::exit(failure::INTERRUPTED.into());
            }
        });
    });
}

/// Until somebody interrupts this program, or asks it to end: what it does is brought to its end either way.
async fn asked_to_end() -> std::io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = term.recv() => Ok(()),
    }
}
