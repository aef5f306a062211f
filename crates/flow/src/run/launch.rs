//! Beginning a run, or going on with one: the trace is opened and compared, then [`super::Run`] takes over.

use std::collections::BTreeSet;
use std::sync::Arc;

use nika_agent::provider::choose::countable;
use nika_agent::sub::CostBound;
use nika_contract::{Cancel, ToolError, code, event};
use nika_store::{Hash, Objects, State, journal};
use serde_json::{Map, Value};

pub use super::Launched;
use super::events::{Began, Earlier, Named, RunEvent, Spent, Watch};
use super::meter::Meter;
use super::plan::Fate;
use super::resume::{Before, Kept};
use super::same::{inputs_hash, same};
use super::trace::{Trace, output_of};
use super::verbs::{Document, Hands, Library};
use super::{Done, Ended, Run, action};
use crate::model::{Flow, Verb};
use crate::template::Templates;

/// A run to be begun.
pub struct Launch {
    /// What it is done with.
    pub hands: Hands,
    /// The workflow.
    pub document: Document,
    /// What it is given.
    pub inputs: Map<String, Value>,
    /// Who watches.
    pub watch: Arc<dyn Watch>,
    /// Set when it is to stop.
    pub cancel: Cancel,
    /// Where it says what it has taken so far.
    pub meter: Meter,
    /// Its name.
    pub id: String,
    /// `Some(true)`: there is one of this name that is gone on with; `Some(false)`: there is none yet; `None`: either,
    /// and [`name`] has made sure that it is no other's.
    pub goes_on: Option<bool>,
}

/// Runs it.
pub async fn launch(of: Launch) -> Result<Launched, ToolError> {
    let inputs_hash = inputs_hash(&of.inputs);
    let before = found(&of, &inputs_hash)?;
    let mut done = Done::default();
    let mut again = Vec::new();
    if let Some(before) = before {
        if before.last.as_deref() == Some(event::WORKFLOW_COMPLETED) {
            let ended = Ended::Completed(before.outputs.unwrap_or_default());
            return Ok(Launched { ended, spent: Spent::default() });
        }
        (done, again) = kept(&of, &before)?;
    }
    if of.document.flow.limits.cost_micros.is_some() {
        of.hands.session.state.slot::<CostBound>().set(&format!("`limits.cost_usd` of {}", of.document.path));
    }
    if let Some(bound) = CostBound::of(&of.hands.session) {
        all_priced(&of.document.flow, &*of.hands.library, &bound)?;
    }
    let mut header = Map::new();
    header.insert("nika".into(), of.hands.version.as_str().into());
    let clock = Arc::clone(&of.hands.clock);
    let trace = Trace::open(&of.hands.runs, &of.id, &header, of.hands.durability, clock)?;
    let first = if done.resumed > 0 {
        let earlier =
            |(unit, fate): (&Named, &Fate)| Earlier { unit: unit.clone(), skipped: matches!(fate, Fate::Skipped(_)) };
        RunEvent::Resumed { ended: done.fates.iter().map(earlier).collect(), again }
    } else {
        RunEvent::Started(began(&of, inputs_hash))
    };
    trace.write(&first)?;
    of.watch.saw(&first);
    let secrets = Arc::clone(&of.hands.secrets);
    let stated: Vec<&str> = of.hands.permits.variables().collect();
    let env = of.hands.library.variables(&stated).into_iter().map(|(name, value)| (name, value.into())).collect();
    let templates = Templates::new();
    let flow = Arc::clone(&of.document.flow);
    let run = Run {
        flow: &flow,
        render: &templates,
        world: Arc::new(of.hands),
        inputs: of.inputs,
        secrets,
        env,
        trace: &trace,
        watch: of.watch,
        cancel: of.cancel,
        meter: of.meter,
        done,
    };
    Ok(run.run().await?)
}

/// Refuses a bound on money, this run's own or one above it, that nobody could count.
fn all_priced(flow: &Flow, library: &dyn Library, bound: &str) -> Result<(), ToolError> {
    for task in &flow.tasks {
        let choice = match &task.verb {
            Verb::Infer(infer) => &infer.model,
            Verb::Agent(agent) => &agent.model,
            Verb::Invoke(_) | Verb::Exec(_) | Verb::Fetch(_) => continue,
        };
        // One that is not to be had costs nothing: its task says so, if it is begun at all.
        let Ok(model) = library.model(&action::model(choice, &flow.model)) else { continue };
        countable(&*model, bound)?;
    }
    Ok(())
}

/// What the trace says of the run that this one goes on with.
fn found(of: &Launch, inputs_hash: &str) -> Result<Option<Before>, ToolError> {
    let found = match of.goes_on {
        Some(false) => return Ok(None),
        Some(true) => before(&of.hands.runs, &of.id)?,
        None => match before(&of.hands.runs, &of.id) {
            Ok(found) => found,
            Err(_) => return Ok(None),
        },
    };
    same(&found, &of.document, inputs_hash)?;
    Ok(Some(found))
}

/// The name for a run that there may be one of already: `id`, unless that is another's. Then what it is told apart by
/// follows from what it is, so that this one is found again, too.
pub fn name(runs: &State, id: String, document: &Document, inputs: &Map<String, Value>) -> String {
    let inputs = inputs_hash(inputs);
    match before(runs, &id) {
        Ok(found) if same(&found, document, &inputs).is_err() => {
            let what = Hash::of(format!("{}{inputs}", document.work_hash).as_bytes()).to_string();
            format!("{id}.{}", &what[..6])
        }
        _ => id,
    }
}

fn began(of: &Launch, inputs_hash: String) -> Began {
    let permits = &of.hands.permits;
    Began {
        run: of.id.clone(),
        workflow: of.document.flow.name.clone(),
        file: of.document.path.clone(),
        flow_hash: of.document.hash.clone(),
        work_hash: of.document.work_hash.clone(),
        inputs: of.hands.secrets.hide_fields(of.inputs.clone()),
        inputs_hash,
        permits: permits.lines().map(|line| format!("{}: {}", line.kind.key(), line.text)).collect(),
        tasks: of.document.flow.tasks.iter().map(|task| task.id.value.clone()).collect(),
        nika: of.hands.version.clone(),
    }
}

/// What the trace says.
fn before(runs: &State, id: &str) -> Result<Before, ToolError> {
    let lines = journal::lines(runs, id).map_err(|error| {
        ToolError::new(code::RUN_TRACE, format!("there is no trace {id}: {error}")).hint("`nika trace list` shows them")
    })?;
    // A trace that was changed says nothing that a run may build on.
    journal::verify(runs, id).map_err(|broken| ToolError::new(code::JOURNAL_BROKEN, broken.to_string()))?;
    let lines: Result<Vec<Value>, _> = lines.collect();
    Ok(Before::read(lines?))
}

/// What is not run again, and what had begun and is.
fn kept(of: &Launch, before: &Before) -> Result<(Done, Vec<Named>), ToolError> {
    let objects = Objects::open(&of.hands.runs)?;
    let mut done = Done { resumed: before.resumed + 1, spent: before.spent, ..Done::default() };
    for (unit, kept) in &before.ended {
        let fate = match kept {
            Kept::Output(line) => output_of(&objects, line)?.map(Fate::Done),
            Kept::Skipped(why) => Some(Fate::Skipped(why.clone())),
        };
        if let Some(fate) = fate {
            done.fates.insert(unit.clone(), fate);
        }
    }
    // A call that had ended by the journal, and whose output nobody reads, is not made again: nothing of it is lost.
    let lines = journal::lines(&of.hands.state, of.hands.session.id()).into_iter().flatten().filter_map(Result::ok);
    let unread = unread(&of.document.flow);
    for unit in before.ended_by_journal(lines) {
        if unread.contains(unit.task.as_str()) {
            done.fates.insert(unit, Fate::Done(Value::Null));
        }
    }
    let again = before.begun.keys().filter(|unit| !done.fates.contains_key(unit)).cloned().collect();
    Ok((done, again))
}

/// The tasks whose output nothing reads.
fn unread(flow: &Flow) -> BTreeSet<&str> {
    // Which of the tasks the outputs read is not looked at closely: where there are any, all may be read.
    if !flow.outputs.is_empty() {
        return BTreeSet::new();
    }
    let read: BTreeSet<usize> = flow.tasks.iter().flat_map(|task| task.uses.iter().map(|of| of.task)).collect();
    let tasks = flow.tasks.iter().enumerate().filter(|(at, _)| !read.contains(at));
    tasks.map(|(_, task)| task.id.value.as_str()).collect()
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("id", &self.id).finish_non_exhaustive()
    }
}
