//! The agents that work for a session: which types there are, which models they think with, and what stands over the
//! worktree of one that gets a copy of its own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use nika_agent::Bounds;
use nika_agent::provider::Provider;
use nika_agent::provider::choose::{SCRIPTED, Said, unpriced};
use nika_agent::sub::types::{Found, Types};
use nika_agent::sub::{Crew, Enrolment, Fleet, Grounds, Models};
use nika_contract::{AnyTool, BoxFuture, Cx, Group, News, ToolError, code, text};
use nika_guard::{Budget, LayeredRule, Policy, Rule, RuleKind};
use nika_mcp::client::Pool;
use nika_runtime::{Incoming, Session};
use nika_store::tasks::{NewTask, Task};
use nika_tools::work::Runner;
use serde_json::Value;

use crate::briefing::{self, For};
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
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
        let configured = &self.effective.models.configured;
        let Some(name) = name else {
            let model = models::model(&self.world, Said::default(), configured)?;
            models::counted(&*model, &self.effective.budgets)?;
            return Ok(model);
        };
        // A name comes from a model, or from a file of the repository: it chooses among the models of the provider
        // that a person chose, and opens no file and no address.
        let provider = models::provider(&self.world, configured)?;
        if provider == SCRIPTED {
            let message = format!("a script has no other model, and '{}' is one", text::preview(name, 80));
            return Err(ToolError::new(code::NO_MODEL, message).hint("leave `model` out"));
        }
        let said = Said { provider: Some(&provider), model: Some(name) };
        let model = models::model(&self.world, said, configured)?;
        // One that somebody chooses within a bound has to be one that the bound counts.
        match self.effective.budgets.get(Budget::TotalCost).filter(|_| model.model().prices.is_none()) {
            Some(limit) => Err(unpriced(&*model, &limit.at)),
            None => Ok(model),
        }
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
    servers: Option<Arc<Pool>>,
}

impl Over {
    /// Worktrees of the workspace at `of`.
    pub fn new(world: World, effective: Effective, base: PathBuf, of: &Path) -> Over {
        Over { world, effective, base, of: of.to_owned(), fleet: OnceLock::new(), servers: None }
    }

    /// The same with these MCP servers, whose connections all share.
    pub fn with_servers(self, servers: &Arc<Pool>) -> Over {
        Over { servers: Some(Arc::clone(servers)), ..self }
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
        let fleet = self.fleet.get().and_then(Weak::upgrade);
        let shape = Shape { fleet, servers: self.servers.clone(), ..Shape::agents() };
        let mut effective = self.effective.clone();
        let home = self.world.home_text();
        effective.policy = effective.policy.with(twins(&effective.policy, &self.of, root, home.as_deref()));
        let mut built = compose::build(&self.world, &ground, effective, shape)?;
        // Its working directory is the workspace's, there.
        let below = built.cwd.as_ref().and_then(|cwd| cwd.strip_prefix(&self.of).ok()).map(|below| root.join(below));
        built.cwd = below;
        Ok(crew(&built))
    }
}

/// Denials and questions about places of the workspace by their absolute names, or by the home's, hold for the same
/// places of its worktree.
fn twins(policy: &Policy, of: &Path, root: &Path, home: Option<&str>) -> Vec<LayeredRule> {
    let absolute = format!("(/{}", of.display());
    let by_home = home.and_then(|home| of.strip_prefix(home).ok()).map(|below| format!("(~/{}", below.display()));
    let there = format!("(/{}", root.display());
    let twin = |rule: &LayeredRule| {
        let text = rule.rule.to_string();
        let moved = [Some(&absolute), by_home.as_ref()].into_iter().flatten().find_map(|here| {
            let rest = text.split_once(here.as_str()).filter(|(_, rest)| rest.starts_with(['/', ')', '*']))?;
            Some(format!("{}{there}{}", rest.0, rest.1))
        })?;
        let parsed = Rule::parse(&moved, home).ok()?;
        Some(LayeredRule { rule: parsed, ..rule.clone() })
    };
    policy.rules().iter().filter(|rule| rule.kind != RuleKind::Allow).filter_map(twin).collect()
}

/// Tools of other groups that start somebody who works for the session.
const ALSO_START: &[&str] = &["task_create", "workflow_run"];

/// Lets `session` start agents, where the call that comes may do so: what they work with is put together then, not
/// when the program starts.
pub fn enrol(built: &Built, session: &Arc<Session>, incoming: &Incoming) {
    let named = match incoming.arguments.get("tool").and_then(Value::as_str) {
        Some(inner) if incoming.name.ends_with("call") => inner,
        _ => &incoming.name,
    };
    let starts = |tool: &dyn AnyTool| tool.spec().group == Group::Agent || ALSO_START.contains(&tool.spec().name);
    if built.runtime.find(named).is_ok_and(|tool| starts(tool.as_ref())) {
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
        briefing: briefing::write(built, For::Crew, built.cwd.as_deref()),
        notes: Some(Arc::new(briefing::Noted::of(built))),
    }
}

/// How far an agent goes, by configuration.
pub fn bounds(built: &Built) -> Bounds {
    let models = &built.effective.models;
    Bounds { max_turns: models.max_turns, parallel: models.parallel as usize, ..Bounds::default() }
}

/// Ends what a session has at work in the background, and waits until it has: an agent that is asked to stop leaves a
/// whole conversation and a row that says so.
pub async fn end(built: &Built, session: &str) {
    built.fleet.end_session(session);
    for _ in 0..END_LOOKS {
        if built.fleet.afloat(session).is_empty() {
            return;
        }
        tokio::time::sleep(END_LOOK).await;
    }
}

/// Five seconds in all, which is more than an agent is given to end by itself.
const END_LOOKS: usize = 100;
const END_LOOK: Duration = Duration::from_millis(50);

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

    fn at_work(&self, session: &str) -> Vec<String> {
        [self.0.at_work(session), self.1.at_work(session)].concat()
    }

    fn has_ended(&self, session: &str) -> bool {
        self.0.has_ended(session) || self.1.has_ended(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_guard::Layer;

    #[test]
    fn a_rule_about_a_place_of_the_workspace_holds_in_its_worktree() {
        let rule = |kind, text: &str| LayeredRule {
            kind,
            rule: Rule::parse(text, Some("/home/ada")).expect("a rule"),
            layer: Layer::User,
            at: "a test".into(),
        };
        let rules = vec![
            rule(RuleKind::Deny, "read(//home/ada/app/priv/**)"),
            rule(RuleKind::Ask, "write(~/app/src/**)"),
            rule(RuleKind::Deny, "read(//home/ada/apple/**)"),
            rule(RuleKind::Deny, "read(**/x)"),
            rule(RuleKind::Allow, "read(//home/ada/app/**)"),
        ];
        let policy = Policy::new(rules, true);
        let found = twins(&policy, Path::new("/home/ada/app"), Path::new("/home/ada/wt/one"), Some("/home/ada"));
        let said: Vec<String> = found.iter().map(|rule| rule.rule.to_string()).collect();
        assert_eq!(said, ["read(//home/ada/wt/one/priv/**)", "write(//home/ada/wt/one/src/**)"]);
    }
}
