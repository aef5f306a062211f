//! `nika agent`: a task, a model, and the tools; watched at the terminal, or headless.

mod changes;
mod events;
mod live;

use std::cell::OnceCell;
use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;

use nika_agent::provider::choose::Said;
use nika_agent::sub::Enrolment;
use nika_agent::{Agent, Conversation, Ended, Happening, SIMPLE, Watch, Why};
use nika_contract::{Asker, Cancel, Herald, Nobody, ToolError, code};
use nika_guard::{Budget, Budgets, Layer, Limit};
use nika_runtime::Session;
use nika_store::transcript::{self, Hold};
use serde_json::Value;

use crate::args::{self, Report};
use crate::ask::{Interrupting, Queued, Ready, Terminal};
use crate::briefing::{self, For};
use crate::cmd::call::cancelled_by_ctrl_c;
use crate::compose::{self, Built, Ground, Shape, Voice};
use crate::config::Effective;
use crate::crew;
use crate::failure::{self, Failure};
use crate::models;
use crate::out;
use crate::session::{self, Opened};
use crate::time;
use crate::world::World;
use live::Live;

pub fn run(args: args::Agent) -> Result<ExitCode, Failure> {
    let (output, session) = (args.output, OnceCell::new());
    match work(args, &session) {
        // A run that could not be done has the shape of one that was.
        Err(Failure::Error(error)) if output != Report::Text => {
            out::json(&events::fault(session.get().map(String::as_str), &error))?;
            Ok(ExitCode::from(failure::exit(error.code)))
        }
        other => other,
    }
}

/// Does it; `session` is said as soon as there is one.
fn work(args: args::Agent, session: &OnceCell<String>) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let mut effective = ground.configure(&world, &args.standing)?;
    bound(&mut effective, &args);
    chosen(&mut effective, &args);
    let task = task(&args)?;
    let wanted = args.schema.as_deref().map(schema).transpose()?;
    let said = Said { provider: args.provider.as_deref(), model: args.model.as_deref() };
    let model = models::model(&world, said, &effective.models.configured)?;
    if let Some(notice) = models::counted(&*model, &effective.budgets)? {
        out::complain(&format!("notice: {notice}"));
    }

    let view = View::new(&world, args.output, wanted.is_some());
    let shape = Shape { voice: view.voice(), objects: true, lasting: true, ..Shape::default() };
    let built = Arc::new(compose::build(&world, &ground, effective, shape)?);
    let (talk, opened, _held) = open(&built, &world, &args)?;
    let _ = session.set(opened.session.id().to_owned());
    if let (Some(limit), tokens @ 1..) = (built.effective.budgets.get(Budget::TotalCost), talk.unpriced_tokens()) {
        let at = &limit.at;
        out::complain(&format!("notice: {tokens} tokens of this session had no price, and do not count for {at}"));
    }
    let opened = Arc::new(opened);
    let simple = args.simple || world.variable("NIKA_SIMPLE").is_some_and(|value| value != "0");
    let who = if simple { For::SimpleRun } else { For::Run };
    let mut briefing = briefing::write(&built, who, built.cwd.as_deref());
    if simple {
        briefing.allowed = Some(SIMPLE.iter().map(|name| (*name).to_owned()).collect());
    }
    briefing.wanted = wanted;

    let cancel = Cancel::default();
    let mut agent = Agent {
        runtime: Arc::clone(&built.runtime),
        session: Arc::clone(&opened.session),
        model,
        asker: answering(args.answers.clone(), view.asker(&world, &cancel)),
        watch: Arc::new(Keeping { watch: view.watch(), opened: Arc::clone(&opened), built: Arc::clone(&built) }),
        clock: Arc::clone(&built.clock),
        cancel: cancel.clone(),
        bounds: crew::bounds(&built),
        briefing,
        notes: Some(Arc::new(briefing::Noted::of(&built))),
        news: Some(Arc::clone(&built.news)),
        talk,
    };
    built.fleet.settle(&crew::crew(&built));
    built.fleet.enrol(
        &opened.session,
        Enrolment {
            asker: Arc::clone(&agent.asker),
            watch: Arc::clone(&agent.watch),
            model: Some(Arc::clone(&agent.model)),
        },
    );
    cancelled_by_ctrl_c(cancel);
    let ended = several_threads()?.block_on(async {
        built.servers.warm();
        let ended = match &task {
            Some(task) => agent.run(task).await,
            None => agent.resume().await,
        };
        // Nothing outlives its session: what it has at work in the background ends with it.
        crew::end(&built, opened.session.id()).await;
        built.servers.close().await;
        ended
    });
    // What was read and granted counts also for a run that failed, and is told of after its answer.
    let kept = opened.keep(&built);
    let ended = match ended {
        Ok(ended) => ended,
        Err(fault) => {
            view.stop();
            return Err(fault.into());
        }
    };
    view.close(&opened.session, &ended, &built.effective.budgets)?;
    built.tidy();
    if let Err(failure) = kept {
        // The last object that was asked for is the run's.
        return Ok(failure.report(false));
    }
    Ok(exit(&ended))
}

/// What the command line chooses, the agents that work for this one choose among.
fn chosen(effective: &mut Effective, args: &args::Agent) {
    let configured = &mut effective.models.configured;
    if let Some(provider) = &args.provider {
        configured.provider = Some(provider.clone());
        configured.model = args.model.clone();
    }
}

/// Where the command line bounds what a run costs.
const MAX_COST: &str = "--max-cost";

/// The bounds that the command line sets are the session's.
fn bound(effective: &mut Effective, args: &args::Agent) {
    if let Some(amount) = args.max_cost {
        let limit = Limit { amount, layer: Layer::CommandLine, at: MAX_COST.to_owned() };
        effective.budgets.set(Budget::TotalCost, limit);
    }
    effective.models.max_turns = args.max_turns.or(effective.models.max_turns);
}

/// The task, from the command line or from stdin. Going on with a session needs none.
fn task(args: &args::Agent) -> Result<Option<String>, Failure> {
    let text = match args.task.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            Some(text)
        }
        other => other.map(str::to_owned),
    };
    match text.filter(|text| !text.trim().is_empty()) {
        None if args.resume.is_none() => Err(Failure::usage(
            "there is no task: `nika agent \"make the failing test pass\"`, or `-` to read it from stdin",
        )),
        text => Ok(text),
    }
}

fn schema(path: &std::path::Path) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::usage(format!("--schema {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is no JSON: {error}")))?;
    nika_tools::talk::structured_output::usable(&schema)?;
    nika_agent::takes_an_object(&schema)?;
    Ok(schema)
}

/// The conversation and the session that it is held in: a new one, one to go on with, or a copy of one.
fn open(built: &Built, world: &World, args: &args::Agent) -> Result<(Conversation, Opened, Hold), Failure> {
    let fresh = || format!("agent-{}-{}", time::compact(built.clock.unix_ms()), world.pid);
    let known = |name: &str| -> Result<(), Failure> {
        if is_anothers(name) {
            let message = format!("session {name:?} is an agent's that worked for another session");
            let hint = "its limits were its type's, which a person's run has not; begin a copy with --fork";
            if args.resume.is_some() {
                return Err(ToolError::new(code::UNKNOWN_SESSION, message).hint(hint).into());
            }
        }
        let there = Conversation::list(&built.state)?;
        if there.iter().any(|conversed| conversed.session == name) {
            return Ok(());
        }
        let error = ToolError::new(code::UNKNOWN_SESSION, format!("there is no conversation of session {name:?} here"));
        Err(error.hint("`nika sessions` lists them").into())
    };
    let name = args.resume.clone().unwrap_or_else(fresh);
    if let Some(from) = args.resume.as_ref().or(args.fork.as_ref()) {
        known(from)?;
    }
    // Held before it is read: what another process adds meanwhile would be missing.
    let held = transcript::hold(&built.state, &name)?.ok_or_else(|| {
        ToolError::new(code::SESSION_BUSY, format!("another process is at work in the session {name:?}"))
            .hint(format!("wait until it has ended, or work in a copy: `nika agent --fork {name}`"))
    })?;
    let talk = match &args.fork {
        Some(from) => Conversation::fork(&built.state, from, &name, None)?,
        None => Conversation::open(&built.state, &name)?,
    };
    Ok((talk, session::open_whole(built, world, &name)?, held))
}

/// Whether the session of this name belongs to an agent that worked for another: `SESSION.a1`.
pub fn is_anothers(name: &str) -> bool {
    let number = name.rsplit_once(".a").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whoever is asked, after the answers that were given beforehand.
fn answering(answers: Vec<Ready>, other: Arc<dyn Asker>) -> Arc<dyn Asker> {
    if answers.is_empty() { other } else { Arc::new(Queued::new(answers, other)) }
}

/// Keeps the session as it goes, so that a kill takes neither plan mode nor what was read, granted and counted.
struct Keeping {
    watch: Arc<dyn Watch>,
    opened: Arc<Opened>,
    built: Arc<Built>,
}

impl Watch for Keeping {
    fn saw(&self, what: &Happening<'_>) {
        if matches!(what, Happening::TurnBegan { .. } | Happening::CallEnded { .. }) {
            // One that cannot be kept now is kept at the end, which says why it could not.
            let _ = self.opened.keep(&self.built);
        }
        self.watch.saw(what);
    }
}

/// Turns run calls at once: some threads, for tools that think while they hold one.
fn several_threads() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build()?)
}

fn exit(ended: &Ended) -> ExitCode {
    match (&ended.why, ended.why.error()) {
        (Why::Cancelled, _) => ExitCode::from(failure::INTERRUPTED),
        (_, Some(error)) => ExitCode::from(failure::exit(error.code)),
        (_, None) => ExitCode::SUCCESS,
    }
}

/// How a run is shown.
#[derive(Debug, Clone)]
enum View {
    /// To a person: what happens on stderr, the answer on stdout. `seen` says that both are one terminal, where
    /// the answer was read as it came.
    Live { live: Arc<Live>, seen: bool, only_object: bool },
    /// To a program, when the run has ended.
    Object { only_object: bool },
    /// To a program, as it goes.
    Events,
}

impl View {
    fn new(world: &World, output: Report, only_object: bool) -> View {
        match output {
            Report::Text => View::Live {
                live: Arc::new(Live::new(world.colours_in_errors)),
                seen: world.colours_in_errors && world.colours,
                only_object,
            },
            Report::Json => View::Object { only_object },
            Report::StreamJson => View::Events,
        }
    }

    fn watch(&self) -> Arc<dyn Watch> {
        match self {
            View::Live { live, .. } => Arc::clone(live) as Arc<dyn Watch>,
            View::Object { .. } => Arc::new(nika_agent::Unwatched),
            View::Events => Arc::new(events::Events),
        }
    }

    /// Where messages to the person go.
    fn voice(&self) -> Voice {
        match self {
            View::Live { live, .. } => Voice::Through(Arc::clone(live) as Arc<dyn Herald>),
            View::Events => Voice::Through(Arc::new(events::Events)),
            View::Object { .. } => Voice::Here,
        }
    }

    /// Who is asked: the person at the terminal, while the view holds still; nobody where there is none.
    fn asker(&self, world: &World, cancel: &Cancel) -> Arc<dyn Asker> {
        match self {
            View::Live { live, .. } if world.has_person => {
                let (colours, floor) = (world.colours_in_errors, live.floor());
                let held = Arc::clone(live);
                Arc::new(Interrupting {
                    hold: move || held.hold(),
                    terminal: Terminal { colours, cancel: cancel.clone(), floor },
                })
            }
            _ => Arc::new(Nobody),
        }
    }

    /// Nothing is told any more: the run failed by a fault of ours.
    fn stop(&self) {
        if let View::Live { live, .. } = self {
            live.hold();
        }
    }

    fn close(&self, session: &Session, ended: &Ended, budgets: &Budgets) -> Result<(), Failure> {
        let object = events::object(session.id(), ended);
        match self {
            View::Live { live, seen, only_object } => {
                live.close(ended);
                if let Some(error) = ended.why.error() {
                    out::complain(&format!("error: {}", failure::text(&error)));
                    out::complain(&format!("  {}", going_on(session, ended, budgets)));
                }
                match &ended.structured {
                    Some(structured) if *only_object => out::pretty(structured)?,
                    _ if *seen || ended.answer.is_empty() || *only_object => {}
                    _ => out::line(&ended.answer)?,
                }
            }
            View::Object { only_object: true } if ended.structured.is_some() => {
                out::json(ended.structured.as_ref().unwrap_or(&Value::Null))?;
            }
            View::Object { .. } | View::Events => out::json(&object)?,
        }
        Ok(())
    }
}

/// How a run that ended too early is gone on with: of one whose budget is spent, after what.
fn going_on(session: &Session, ended: &Ended, budgets: &Budgets) -> String {
    let again = format!("nika agent --resume {}", session.id());
    if !matches!(ended.why, Why::Budget(_)) {
        return format!("go on with: {again}");
    }
    // Agents that may not be started any more end no run.
    let ends_runs = |budget: Budget| budget != Budget::DelegatedTasks;
    let spent = budgets.iter().find(|(budget, limit)| ends_runs(*budget) && session.spent(*budget) >= limit.amount);
    let Some((budget, limit)) = spent else { return format!("with a greater budget it goes on: {again}") };
    let so_far = format!("{} {} are spent", budget.shown(session.spent(budget)), budget.counts());
    match limit.at.as_str() {
        MAX_COST => format!("{so_far}; with more it goes on: {again} {MAX_COST} USD"),
        at => format!("{so_far}; raise {budget} ({at}), then go on with: {again}"),
    }
}
