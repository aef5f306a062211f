//! Doing what tasks say, over the pipeline that everybody's calls go through. One verb a file.
//!
//! A call of a task is judged, sandboxed, journalled and can be taken back as any other; the run's session has the
//! walls that its `permits` make, and what an answer shows is without the run's secrets before it gets here.

mod agent;
mod exec;
mod fetch;
mod form;
mod infer;
mod invoke;
mod later;
mod workflow;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_agent::provider::Provider;
use nika_agent::{Bounds, Briefing, Notes};
use nika_contract::{Asker, BoxFuture, Clock, News, Output, Silent, ToolError};
use nika_guard::Permits;
use nika_runtime::{Incoming, Runtime, Session};
use nika_store::{Durability, State};
use serde_json::{Map, Value};

use super::action::{Action, Model};
use super::secrets::Secrets;
use super::world::{Made, Order, Unmade, World};
use crate::model::Flow;

/// A document, read.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its file: below the root where it lies there.
    pub path: String,
    /// sha256 of its bytes, in hexadecimal digits.
    pub hash: String,
    /// sha256 of what it says, but for its limits: [`super::same`].
    pub work_hash: String,
    /// What it says.
    pub flow: Arc<Flow>,
    /// Its `permits`; of an older one, which states none, what its tasks need.
    pub permits: Arc<Permits>,
}

/// What only the program knows.
pub trait Library: Send + Sync {
    /// The workflow at `path`, checked.
    fn document(&self, path: &str) -> Result<Document, ToolError>;
    /// A model.
    fn model(&self, wanted: &Model) -> Result<Arc<dyn Provider>, ToolError>;
    /// What an agent is told before its task.
    fn briefing(&self) -> Briefing;
    /// The schema that a task names by its file.
    fn schema(&self, path: &str) -> Result<Value, ToolError>;
    /// Whether a value fits a schema; every problem in words where it does not.
    fn fits(&self, schema: &Value, value: &Value) -> Result<(), ToolError>;
    /// The values of secrets, by name; an error that names those that are not set.
    fn secrets(&self, names: &[String]) -> Result<Vec<(String, String)>, ToolError>;
    /// Makes a session one whose calls a workflow makes: nothing is cut, and nothing has to be read first.
    fn prepare(&self, session: &Session);
    /// Variables of the environment that are set, of these names.
    fn variables(&self, names: &[&str]) -> Vec<(String, String)>;
}

/// What a run is done with.
#[derive(Clone)]
pub struct Hands {
    /// The pipeline.
    pub runtime: Arc<Runtime>,
    /// The run's session: within the walls of its permits.
    pub session: Arc<Session>,
    /// Who is asked when a call needs a yes.
    pub asker: Arc<dyn Asker>,
    /// What only the program knows.
    pub library: Arc<dyn Library>,
    /// What is shown nowhere.
    pub secrets: Arc<Secrets>,
    /// What the run may do.
    pub permits: Arc<Permits>,
    /// Where journals and transcripts lie.
    pub state: State,
    /// Where traces lie.
    pub runs: State,
    /// Whether lines are forced to the disk one by one.
    pub durability: Durability,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// When this process began to count.
    pub since: Instant,
    /// How far agents go.
    pub bounds: Bounds,
    /// The plan and to-do list of agents.
    pub notes: Option<Arc<dyn Notes>>,
    /// What agents are told between turns.
    pub news: Option<Arc<dyn News>>,
    /// The files of the workflows that run one another, from the first to this one.
    pub above: Vec<String>,
    /// The program's version.
    pub version: String,
}

impl Hands {
    /// A call of a tool; what failed is an error.
    async fn call(
        &self,
        order: &Order,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(Output, String), ToolError> {
        let (output, call) = self.made(order, &order.origin, tool, arguments).await?;
        match output.failed {
            Some(code) => Err(ToolError::new(code, nika_contract::text::preview(&output.joined_text(), 2_000))),
            None => Ok((output, call)),
        }
    }

    /// A call of a tool, which the journal knows by `origin`; what it did may have failed.
    async fn made(
        &self,
        order: &Order,
        origin: &str,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(Output, String), ToolError> {
        let incoming = Incoming {
            name: tool.to_owned(),
            arguments,
            cancel: order.cancel.clone(),
            progress: Arc::new(Silent),
            asker: Arc::clone(&self.asker),
            deferral: false,
            origin: Some(origin.to_owned()),
        };
        let outcome = self.runtime.dispatch(&self.session, incoming).await?;
        Ok((outcome.result?, outcome.call.0))
    }

    /// A name for what belongs to one task of this run.
    fn name_for(&self, what: &str) -> String {
        below(self.session.id(), what)
    }
}

/// Letters of a name, within the 64 that a session's may have: [`super::launch::name`] puts seven more behind some.
const MOST_NAME: usize = 57;

/// A name for something below the session of this name, the same each time and no other's. One far below begins with
/// the first of them, and follows from the whole way: cut, it would be that of something above.
fn below(session: &str, what: &str) -> String {
    let hash = |text: &str| nika_store::Hash::of(text.as_bytes()).to_string()[..10].to_owned();
    let whole = format!("{session}.{}", hash(what));
    if whole.len() <= MOST_NAME {
        return whole;
    }
    let first: String = session.split('.').next().unwrap_or_default().chars().take(MOST_NAME - 11).collect();
    format!("{first}.{}", hash(&format!("{session}\0{what}")))
}

impl World for Hands {
    fn perform<'a>(&'a self, order: Order) -> BoxFuture<'a, Result<Made, Unmade>> {
        Box::pin(async move {
            match &order.action {
                Action::Infer { .. } => infer::infer(self, &order).await,
                Action::Exec { .. } => exec::exec(self, &order).await,
                Action::Fetch { .. } => fetch::fetch(self, &order).await,
                Action::Tool { .. } | Action::Resource { .. } => invoke::invoke(self, &order).await,
                Action::Workflow { .. } => workflow::workflow(self, &order).await,
                Action::Agent { .. } => agent::agent(self, &order).await,
            }
        })
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn until<'a>(&'a self, at_ms: u64) -> BoxFuture<'a, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(at_ms.saturating_sub(self.now_ms()))))
    }
}

impl fmt::Debug for Hands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hands").field("session", &self.session).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_far_below_are_short_and_differ() {
        let mut names = vec!["run-20261122T153751Z-1560200".to_owned()];
        for _ in 0..8 {
            let above = names.last().expect("the first is there");
            names.push(below(above, "the same task"));
        }
        let mut once = names.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{names:#?}");
        assert!(names.iter().all(|name| name.len() <= MOST_NAME && name.starts_with("run-2026")), "{names:#?}");
        assert_eq!(names[2], below(&names[1], "the same task"), "the same each time");
        assert_ne!(below(&names[7], "one"), below(&names[7], "two"));
    }
}
