//! Beginning a run, or going on with one: the trace is opened and compared, then [`super::Run`] takes over.

use std::collections::BTreeSet;
use std::sync::Arc;

use nika_contract::{Cancel, ToolError, code, event};
use nika_store::{Hash, Objects, journal};
use serde_json::{Map, Value};

use super::events::{Began, Named, RunEvent, Spent, Watch};
use super::plan::Fate;
use super::resume::{Before, Kept};
use super::trace::{Trace, output_of};
use super::verbs::{Document, Hands};
use super::{Done, Ended, Run};
use crate::model::Flow;
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
    /// Its name.
    pub id: String,
    /// `Some(true)`: there is one of this name that is gone on with; `Some(false)`: there is none yet; `None`: either,
    /// and one that is another's is begun anew.
    pub goes_on: Option<bool>,
}

/// A run that ended.
#[derive(Debug)]
pub struct Launched {
    /// How.
    pub ended: Ended,
    /// What its models took in this process.
    pub spent: Spent,
}

/// Runs it.
pub async fn launch(mut of: Launch) -> Result<Launched, ToolError> {
    let fault = |fault: nika_contract::Fault| ToolError::new(fault.code, fault.message);
    let before = match of.goes_on {
        Some(false) => None,
        Some(true) => Some(before(&of, &of.id)?),
        None => before(&of, &of.id).ok(),
    };
    let inputs_hash = hash(&of.inputs);
    let mut done = Done::default();
    let mut again = Vec::new();
    if let Some(before) = before {
        match same(&before, &of.document, &inputs_hash) {
            Ok(()) => {
                if before.last.as_deref() == Some(event::WORKFLOW_COMPLETED) {
                    return Ok(Launched {
                        ended: Ended::Completed(before.outputs.unwrap_or_default()),
                        spent: Spent::default(),
                    });
                }
                (done, again) = kept(&of, &before)?;
            }
            Err(error) if of.goes_on.is_some() => return Err(error),
            Err(_) => of.id = format!("{}.{}", of.id, &inputs_hash[..6]),
        }
    }
    let mut header = Map::new();
    header.insert("nika".into(), of.hands.version.as_str().into());
    let clock = Arc::clone(&of.hands.clock);
    let trace = Trace::open(&of.hands.runs, &of.id, &header, of.hands.durability, clock).map_err(fault)?;
    let first = if done.resumed > 0 {
        RunEvent::Resumed { ended: done.fates.len(), again }
    } else {
        RunEvent::Started(began(&of, inputs_hash))
    };
    trace.write(&first).map_err(fault)?;
    of.watch.saw(&first);
    let secrets = Arc::clone(&of.hands.secrets);
    let stated: Vec<&str> = of.hands.permits.variables().collect();
    let env = of.hands.library.variables(&stated).into_iter().map(|(name, value)| (name, value.into())).collect();
    let templates = Templates::new();
    let watch = Arc::new(Counting { watch: of.watch, spent: std::sync::Mutex::default() });
    let flow = Arc::clone(&of.document.flow);
    let run = Run {
        flow: &flow,
        render: &templates,
        world: Arc::new(of.hands),
        inputs: of.inputs,
        secrets,
        env,
        trace: &trace,
        watch: Arc::clone(&watch) as Arc<dyn Watch>,
        cancel: of.cancel,
        done,
    };
    let ended = run.run().await.map_err(fault)?;
    let counted = *watch.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Launched { ended, spent: counted })
}

/// Counts what models took, for whoever runs this one.
struct Counting {
    watch: Arc<dyn Watch>,
    spent: std::sync::Mutex<Spent>,
}

impl Watch for Counting {
    fn saw(&self, what: &RunEvent) {
        if let RunEvent::TaskCompleted { spent, .. } = what {
            let mut sum = self.spent.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *sum = sum.plus(*spent);
        }
        self.watch.saw(what);
    }
}

fn began(of: &Launch, inputs_hash: String) -> Began {
    let permits = &of.hands.permits;
    Began {
        run: of.id.clone(),
        workflow: of.document.flow.name.clone(),
        file: of.document.path.clone(),
        flow_hash: of.document.hash.clone(),
        inputs: of.hands.secrets.hide_fields(of.inputs.clone()),
        inputs_hash,
        permits: permits.lines().map(|line| format!("{}: {}", line.kind.key(), line.text)).collect(),
        tasks: of.document.flow.tasks.iter().map(|task| task.id.value.clone()).collect(),
        nika: of.hands.version.clone(),
    }
}

/// sha256 of what a run is given.
pub fn hash(inputs: &Map<String, Value>) -> String {
    Hash::of(Value::Object(inputs.clone()).to_string().as_bytes()).to_string()
}

/// What the trace says.
fn before(of: &Launch, id: &str) -> Result<Before, ToolError> {
    let lines = journal::lines(&of.hands.runs, id).map_err(|error| {
        ToolError::new(code::RUN_TRACE, format!("there is no trace {id}: {error}")).hint("`nika trace list` shows them")
    })?;
    // A trace that was changed says nothing that a run may build on.
    journal::verify(&of.hands.runs, id).map_err(|broken| ToolError::new(code::JOURNAL_BROKEN, broken.to_string()))?;
    let lines: Result<Vec<Value>, _> = lines.collect();
    Ok(Before::read(lines?))
}

/// Whether the run is of this workflow with these inputs; what differs, else.
fn same(before: &Before, document: &Document, inputs_hash: &str) -> Result<(), ToolError> {
    let other = |what: &str, hint: &str| Err(ToolError::new(code::RUN_OTHER, what.to_owned()).hint(hint));
    if before.flow_hash != document.hash {
        let what = format!("{} was changed since the run began", document.path);
        return other(&what, "take the change back to go on with it, or begin a new run");
    }
    if before.inputs_hash != inputs_hash {
        return other("the inputs are not those that the run began with", "give the same ones, or begin a new run");
    }
    Ok(())
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
