//! The agents that work for a session: which types there are, which models they think with, and what stands over the
//! worktree of one that gets a copy of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use nika_agent::provider::Provider;
use nika_agent::provider::choose::Said;
use nika_agent::sub::types::{Found, Types};
use nika_agent::sub::{Crew, Enrolment, Fleet, Grounds, Models};
use nika_agent::{Bounds, Briefing};
use nika_contract::{AnyTool, BoxFuture, Cx, Group, News, ToolError, code};
use nika_runtime::{Incoming, Session};
use nika_store::tasks::{NewTask, Task};
use nika_tools::work::Runner;
use serde_json::Value;

use crate::briefing;
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::failure::Failure;
use crate::models;
use crate::trust::Trust;
use crate::world::World;

/// Where a repository keeps agent types, below its root; the first wins over the second.
const IN_REPOSITORY: [&str; 2] = [".nika/agents", ".claude/agents"];

/// Bytes of one type: it is a prompt, no book.
const MOST_BYTES: u64 = 64 << 10;
/// Types in one directory; more are not looked at.
const MOST_IN_ONE: usize = 200;

/// The types of agents: the repository's, where a person trusts it, then the person's own; what ships stands behind.
pub fn types(world: &World, root: &Path, trusted: &Trust) -> Types {
    let withheld = (!trusted.holds()).then(|| format!("the repository is {}", trusted.describe()));
    let brought = IN_REPOSITORY.iter().map(|dir| (root.join(dir), withheld.clone()));
    let own = world.config_dir.as_ref().map(|dir| dir.join("agents"));
    let claude = world.home.as_ref().map(|home| home.join(".claude/agents"));
    let own = own.into_iter().chain(claude).map(|dir| (dir, None));
    Types::new(brought.chain(own).flat_map(|(dir, withheld)| files(&dir, withheld.as_deref())))
}

/// The Markdown files of a directory, by name.
fn files(dir: &Path, withheld: Option<&str>) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "md")).take(MOST_IN_ONE).collect();
    paths.sort();
    let found = |path: PathBuf| {
        let at = path.display().to_string();
        // Of a repository that nobody trusts not even the text is looked at.
        let text = if withheld.is_some() { String::new() } else { read(&path)? };
        Some(Found { at, text, withheld: withheld.map(str::to_owned) })
    };
    paths.into_iter().filter_map(found).collect()
}

/// A plain file's text. A link is none: it may lead anywhere.
fn read(path: &Path) -> Option<String> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MOST_BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// The models that configuration and environment know.
#[derive(Debug)]
pub struct Known {
    pub world: World,
    pub effective: Effective,
}

impl Models for Known {
    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Provider>, ToolError> {
        let said = Said { provider: None, model: name };
        models::model(&self.world, said, &self.effective.models.configured).map_err(error)
    }
}

/// The same pipeline over a worktree: the same rules and mode, one journal, one undo, one fleet.
#[derive(Debug)]
pub struct Over {
    world: World,
    effective: Effective,
    base: PathBuf,
    /// The workspace's own root.
    of: PathBuf,
    fleet: OnceLock<Weak<Fleet>>,
}

impl Over {
    /// Worktrees of the workspace at `of`.
    pub fn new(world: World, effective: Effective, base: PathBuf, of: &Path) -> Over {
        Over { world, effective, base, of: of.to_owned(), fleet: OnceLock::new() }
    }

    /// Whose agents work there.
    pub fn joins(&self, fleet: &Arc<Fleet>) {
        // Said once, when both are made.
        let _ = self.fleet.set(Arc::downgrade(fleet));
    }
}

impl Grounds for Over {
    fn at(&self, root: &Path) -> Result<Crew, ToolError> {
        let ground = Ground::worktree(root, self.base.clone(), self.of.clone());
        let shape = Shape { fleet: self.fleet.get().and_then(Weak::upgrade), ..Shape::agents() };
        let built = compose::build(&self.world, &ground, self.effective.clone(), shape).map_err(error)?;
        Ok(crew(&built))
    }
}

/// Lets `session` start agents, where the call that comes may do so: what they work with is put together then, not
/// when the program starts.
pub fn enrol(built: &Built, session: &Arc<Session>, incoming: &Incoming) {
    let named = match incoming.arguments.get("tool").and_then(Value::as_str) {
        Some(inner) if incoming.name.ends_with("call") => inner,
        _ => &incoming.name,
    };
    let starts = |tool: &dyn AnyTool| tool.spec().group == Group::Agent || tool.spec().name == "task_create";
    if built.runtime.find(named).is_ok_and(starts) {
        built.fleet.settle(&crew(built));
        let enrolment =
            Enrolment { asker: Arc::clone(&incoming.asker), watch: Arc::new(nika_agent::Unwatched), model: None };
        built.fleet.enrol(session, enrolment);
    }
}

/// What agents in this pipeline work with.
pub fn crew(built: &Built) -> Crew {
    Crew {
        runtime: Arc::clone(&built.runtime),
        state: built.state.clone(),
        jobs: Some(Arc::clone(&built.jobs)),
        clock: Arc::clone(&built.clock),
        bounds: bounds(built),
        briefing: Briefing { wanted: None, allowed: None, ..briefing::write(built, &Shape::agents(), None) },
        notes: Some(Arc::new(briefing::Noted(Arc::clone(&built.db)))),
    }
}

/// How far an agent goes, by configuration.
pub fn bounds(built: &Built) -> Bounds {
    let models = &built.effective.models;
    Bounds { max_turns: models.max_turns, parallel: models.parallel as usize, ..Bounds::default() }
}

/// Runs the tasks that were written down with a prompt.
#[derive(Debug)]
pub struct Tasks(pub Arc<Fleet>);

impl Runner for Tasks {
    fn start<'a>(&'a self, task: NewTask, prompt: &'a str, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Task, ToolError>> {
        Box::pin(self.0.start_prompt(task, prompt, cx))
    }
}

/// What ended, of jobs and of agents.
pub struct Both(pub Arc<dyn News>, pub Arc<dyn News>);

impl News for Both {
    fn take(&self, session: &str) -> Vec<String> {
        let mut told = self.0.take(session);
        told.extend(self.1.take(session));
        told
    }
}

fn error(failure: Failure) -> ToolError {
    match failure {
        Failure::Error(error) => error,
        Failure::NobodyListens => ToolError::new(code::BUG, "the program's own output was closed"),
    }
}
