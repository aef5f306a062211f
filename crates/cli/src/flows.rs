//! Workflows, for every command that runs them: where they are read, which models they ask, what they are granted.

mod around;
mod consent;
pub mod files;
mod library;
mod ourselves;
mod shelf;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use nika_contract::{Asker, Cancel, ToolError, code};
use nika_flow::model::{Called, Task, Verb};
use nika_flow::run::events::Watch;
use nika_flow::run::launch::{Launch, Launched, launch};
use nika_flow::run::meter::Meter;
use nika_flow::run::secrets::Secrets;
use nika_flow::run::verbs::{Document, Hands, Library as _};
use nika_guard::{Mode, PermitLine, Stance};
use nika_mcp::client::Pool;
use nika_runtime::Session;
use nika_store::{Durability, State, runs};
use serde_json::{Map, Value};

pub use around::Around;
pub use consent::Consent;
pub use library::{By, Library, open_document, text_below, text_of};
pub use shelf::Shelf;

use crate::briefing;
use crate::compose::Built;
use crate::config::Effective;
use crate::crew;
use crate::failure::Failure;

/// What runs are done with.
pub struct Desk {
    /// A pipeline that was built for workflows.
    pub built: Arc<Built>,
    /// What they need of files, models and the environment.
    pub library: Arc<Library>,
    /// Who is asked.
    pub asker: Arc<dyn Asker>,
    /// Who watches.
    pub watch: Arc<dyn Watch>,
    /// Set when a run is to stop.
    pub cancel: Cancel,
}

/// A run that a command wants.
pub struct Wanted {
    /// The workflow.
    pub document: Document,
    /// What it is given.
    pub inputs: Map<String, Value>,
    /// The lines of its permits that a person said yes to.
    pub granted: Vec<PermitLine>,
    /// Its name.
    pub id: String,
    /// Whether there is one of this name that is gone on with.
    pub goes_on: bool,
}

/// How a run stands: as the command line or configuration says, else as `workspace`, as its permits bound it anyway.
pub fn stand(effective: &mut Effective) {
    let said = effective.shown.iter().any(|shown| shown.key == "mode" && shown.at != "default");
    if !said {
        effective.stance = Stance::from(Mode::Workspace);
    }
}

impl Desk {
    /// Runs it, as a person's.
    pub async fn run(self, wanted: Wanted) -> Result<Launched, Failure> {
        let effective = &self.built.effective;
        let permits = Arc::clone(&wanted.document.permits);
        let policy = effective.policy.with(permits.bounds()).with(permits.grants(&wanted.granted));
        let (stance, budgets) = (effective.stance, effective.budgets.clone());
        self.within(wanted, |id| Session::new(id, stance, policy, true).bounded(budgets)).await
    }

    /// Runs it in a session that `session` makes, of this name: the walls of `permits` are its own business.
    pub async fn within(self, wanted: Wanted, session: impl FnOnce(&str) -> Session) -> Result<Launched, Failure> {
        let Desk { built, library, asker, watch, cancel } = self;
        let built = &built;
        let Wanted { document, inputs, granted: _, id, goes_on } = wanted;
        let names: Vec<String> = document.flow.secrets.iter().map(|secret| secret.value.clone()).collect();
        let secrets = Arc::new(Secrets::new(library.secrets(&names)?));
        let session = session(&id).veiled(secrets.veil());
        library.prepare(&session);
        let session = Arc::new(session);
        built.fleet.settle(&crew::crew(built));
        built.fleet.enrol(
            &session,
            nika_agent::sub::Enrolment {
                asker: Arc::clone(&asker),
                watch: Arc::new(nika_agent::Unwatched),
                model: None,
            },
        );
        let hands = Hands {
            runtime: Arc::clone(&built.runtime),
            session: Arc::clone(&session),
            asker,
            library,
            secrets,
            permits: Arc::clone(&document.permits),
            state: built.state.clone(),
            runs: traces(built)?,
            durability: if built.effective.journal_each_call { Durability::EachCall } else { Durability::Os },
            clock: Arc::clone(&built.clock),
            since: Instant::now(),
            bounds: crew::bounds(built),
            notes: Some(Arc::new(briefing::Noted::of(built))),
            news: Some(Arc::clone(&built.news)),
            above: vec![document.path.clone()],
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let launched = {
            let meter = Meter::default();
            launch(Launch { hands, document, inputs, watch, cancel, meter, id, goes_on: Some(goes_on) }).await
        };
        // Nothing outlives its run: what it has at work in the background ends with it.
        crew::end(built, session.id()).await;
        built.jobs.end_session(session.id());
        Ok(launched?)
    }
}

/// Refuses before anything begins when a task names a server that is configured and may not be used: a model that
/// is told so in the middle of a run can do nothing about it, a person can.
pub fn may_use_servers(document: &Document, servers: &Pool) -> Result<(), ToolError> {
    // `mcp__SERVER` is all of its tools.
    let server_of = |tool: &str| {
        let rest = tool.strip_prefix("mcp__")?;
        Some(rest.split_once("__").map_or(rest, |(server, _)| server).to_owned())
    };
    let named = |task: &Task| -> Vec<String> {
        match &task.verb {
            Verb::Agent(agent) => match &agent.tools {
                Some(tools) => tools.iter().filter_map(|tool| server_of(&tool.value)).collect(),
                None => document.permits.tools().filter_map(server_of).collect(),
            },
            Verb::Invoke(invoke) => match &invoke.what {
                Called::Tool(tool) => server_of(&tool.value).into_iter().collect(),
                Called::Resource { server, .. } => vec![server.value.clone()],
                Called::Workflow(_) => Vec::new(),
            },
            Verb::Infer(_) | Verb::Exec(_) | Verb::Fetch(_) => Vec::new(),
        }
    };
    for server in document.flow.tasks.iter().flat_map(named) {
        match servers.server(&server) {
            Err(error) if error.code == code::SERVER_WITHHELD => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Where the traces of this workspace lie.
pub fn traces(built: &Built) -> Result<State, Failure> {
    Ok(runs::open(&built.state)?)
}

/// A JSON object from a file.
pub fn object_from(path: &Path) -> Result<Map<String, Value>, Failure> {
    let wrong =
        |why: String| Failure::from(ToolError::new(code::RUN_INPUT, format!("--input-file {}: {why}", path.display())));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("it holds no JSON object".to_owned())),
        Err(error) => Err(wrong(format!("it is no JSON: {error}"))),
    }
}
