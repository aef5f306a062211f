//! One agent, from its order to what it leaves: the session it works in, the run, the worktree.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nika_contract::{Cancel, Fault, Nobody, Progress, ToolError, code, event, text};
use nika_guard::{Budget, Permit};
use nika_host::git::{Git, Worktree};
use nika_runtime::{Runtime, Session};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::bound::counts;
use super::earlier;
use super::fleet::{Crew, Enrolment, Fleet, Seat, git_failed, lock};
use super::lens::{Below, OnBehalf};
use super::narrow::{Narrowed, OPEN, Order, narrow};
use crate::agent::Agent;
use crate::ask;
use crate::conversation::Conversation;
use crate::ended::{Ended, Why};
use crate::provider::{Provider, Usage};
use crate::took::Took;

/// How long is waited for agents of an agent that are asked to end: more than each is given to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The type of an agent of which nothing is said.
pub(crate) const USUAL: &str = "general";

/// Who starts an agent.
pub(crate) struct Starter {
    /// The session it works for.
    pub parent: Arc<Session>,
    /// What agents have of it.
    pub enrolment: Enrolment,
    /// What its call was allowed.
    pub permit: Arc<Permit>,
    /// Set when the agent's work is not wanted any more.
    pub cancel: Cancel,
    /// Who watches the call.
    pub progress: Arc<dyn Progress>,
    /// The agent's session, where it has a name already.
    pub id: Option<String>,
    /// A seat that was taken for it before.
    pub seat: Option<Seat>,
}

/// A call that an agent made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// The journal's name for the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// How it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A worktree that holds work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Left {
    /// Where it lies.
    pub dir: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Paths that are changed and not committed.
    pub changed: Vec<PathBuf>,
    /// Commits that are nowhere else.
    pub commits: u64,
}

/// What an agent brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its session: journal and transcript have this name.
    pub session: String,
    /// What it was called.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Its runs together; the answer is the last one's.
    pub ended: Ended,
    /// What it did, the first steps of very many.
    pub steps: Vec<Step>,
    /// Where its transcript lies, which no tool reads.
    pub transcript: PathBuf,
    /// The same as a text that its starter can read, kept as long as what was too long for an answer.
    pub readable: Option<PathBuf>,
    /// Its worktree, when that holds work; one that does not is gone.
    pub left: Option<Left>,
    /// What its starter should know.
    pub notes: Vec<String>,
}

/// An agent at work.
pub(crate) struct Child {
    fleet: Arc<Fleet>,
    parent: Arc<Session>,
    /// The pipeline that keeps the parent's journal.
    home: Arc<Runtime>,
    agent: Agent,
    crew: Crew,
    name: String,
    kind: String,
    steps: Arc<Mutex<Vec<Step>>>,
    worktree: Option<(Worktree, Git, Arc<Permit>)>,
    /// What stands before its first task.
    preface: Option<String>,
    notes: Vec<String>,
    ended: Option<Ended>,
    dismissed: bool,
    _seat: Seat,
}

impl Child {
    /// Everything that can be refused is refused before a worktree is made.
    pub(crate) async fn hire(fleet: &Arc<Fleet>, starter: Starter, order: &Order) -> Result<Child, ToolError> {
        let Starter { parent, enrolment, permit, cancel, progress, id, seat } = starter;
        let settings = &fleet.settings;
        let home = fleet.crew()?;
        let depth = Fleet::depth(&parent) + 1;
        if depth > settings.depth {
            let message = format!("agents stand at most {} deep below one another", settings.depth);
            return Err(
                ToolError::new(code::TOO_MANY_AGENTS, message).hint("do it yourself; `agent.max_depth` is the bound")
            );
        }
        fleet.check_wanted(order, &home)?;
        order.check_conversations(parent.id(), &home.state)?;
        let seat = seat.map_or_else(|| fleet.seat(), Ok)?;
        let kind = settings.types.get(order.kind.as_deref().unwrap_or(USUAL))?;
        let mut notes = Vec::new();
        let model = choose_model(fleet, &parent, &enrolment, order, kind.model.as_deref(), &mut notes)?;
        counts(&parent, &*model)?;
        let may_start = depth < settings.depth;
        let narrowed = narrow(kind, order, fleet.pool(&home), may_start)?;
        let Narrowed { stance, without, tools, unknown } = narrowed;
        if !unknown.is_empty() {
            notes.push(format!("the type `{}` names tools that are not here: {}", kind.name, unknown.join(", ")));
        }
        parent.spend(Budget::DelegatedTasks, 1)?;

        let preface = order.with_context.then(|| earlier::context(&home.state, parent.id())).transpose()?;
        let id = id.map_or_else(|| fleet.name_after(parent.id(), &home.state, order.resume.as_deref()), Ok)?;
        let (crew, worktree) = match &order.worktree {
            None => (home.clone(), None),
            Some(slug) => {
                let (crew, made, git) = ground(fleet, slug, &permit, &cancel).await?;
                (crew, Some((made, git, permit)))
            }
        };
        let session = Arc::new(parent.child(id, stance, without));
        let name = order.name.clone().unwrap_or_else(|| kind.name.clone());
        let name = text::preview(&text::harmless(&name), 60);
        let steps = Arc::new(Mutex::default());
        let watch = Below {
            above: Arc::clone(&enrolment.watch),
            progress,
            name: name.clone(),
            session: session.id().to_owned(),
            steps: Arc::clone(&steps),
        };
        let watch: Arc<dyn crate::Watch> = Arc::new(watch);
        let asker: Arc<dyn nika_contract::Asker> = match order.alone {
            true => Arc::new(Nobody),
            false => Arc::new(OnBehalf { asker: enrolment.asker, name: name.clone() }),
        };
        let of_its_own =
            Enrolment { asker: Arc::clone(&asker), watch: Arc::clone(&watch), model: Some(Arc::clone(&model)) };
        let mut briefing = crew.briefing.clone();
        briefing.instructions =
            instructions(&briefing.instructions, &kind.prompt, worktree.as_ref().map(|(made, ..)| made));
        briefing.wanted.clone_from(&order.wanted);
        let mut bounds = crew.bounds;
        bounds.max_turns = [bounds.max_turns, kind.max_turns, order.max_turns].into_iter().flatten().min();
        let talk = Conversation::open(&crew.state, session.id());
        let talk = match talk {
            Ok(talk) => talk,
            Err(error) => {
                give_back(worktree.as_ref()).await;
                return Err(error);
            }
        };
        let agent = Agent {
            runtime: Arc::clone(&crew.runtime),
            session: Arc::clone(&session),
            model,
            asker,
            watch,
            clock: Arc::clone(&crew.clock),
            cancel,
            bounds,
            briefing,
            notes: crew.notes.clone(),
            news: Some(Arc::clone(fleet) as Arc<dyn nika_contract::News>),
            talk,
        };
        fleet.enrol(&session, of_its_own);
        let child = Child {
            fleet: Arc::clone(fleet),
            parent,
            home: home.runtime,
            agent,
            crew,
            name,
            kind: kind.name.clone(),
            steps,
            worktree,
            preface,
            notes,
            ended: None,
            dismissed: false,
            _seat: seat,
        };
        child.announce(depth, tools, order)?;
        Ok(child)
    }

    fn announce(&self, depth: usize, tools: Option<Vec<String>>, order: &Order) -> Result<(), Fault> {
        let fields = json!({
            "agent": self.agent.session.id(),
            "type": self.kind,
            "depth": depth,
            "stance": self.agent.session.stance().to_string(),
            "tools": tools,
            "model": self.agent.model.model().id,
            "worktree": self.worktree.as_ref().map(|(made, ..)| made.dir.display().to_string()),
            "task": text::preview(&order.description, 200),
        });
        self.home.note(&self.parent, event::AGENT_SPAWNED, &object(fields))
    }

    /// A session in which its work is checked: where it works and under its name, with all that its starter may do and
    /// nothing of what its order takes away.
    pub(crate) fn checking(&self) -> Arc<Session> {
        Arc::new(self.parent.child(self.agent.session.id(), OPEN, Vec::new()))
    }

    /// What it works with.
    pub(crate) fn crew(&self) -> &Crew {
        &self.crew
    }

    /// Who is asked on its behalf.
    pub(crate) fn asker(&self) -> &Arc<dyn nika_contract::Asker> {
        &self.agent.asker
    }

    /// Where it works.
    pub(crate) fn root(&self) -> PathBuf {
        self.worktree.as_ref().map_or_else(|| self.fleet.settings.root.clone(), |(made, ..)| made.root.clone())
    }

    /// Works on a task until it ends, one way or another. May be told more afterwards.
    pub(crate) async fn work(&mut self, task: &str) -> Result<Ended, ToolError> {
        let told = self.preface.take().map(|preface| format!("{preface}\n\n{task}"));
        let ended = self.agent.run(told.as_deref().unwrap_or(task)).await?;
        self.ended = Some(match self.ended.take() {
            None => ended.clone(),
            Some(before) => together(before, ended.clone()),
        });
        Ok(ended)
    }

    /// Ends what it left running: what is changed from then on, it has not changed.
    pub(crate) async fn end_what_runs(&self) {
        let id = self.agent.session.id().to_owned();
        self.fleet.end_session(&id);
        if let Some(jobs) = self.crew.jobs.clone() {
            let session = id.clone();
            let _ = tokio::task::spawn_blocking(move || jobs.end_session(&session)).await;
        }
        let since = tokio::time::Instant::now();
        while !self.fleet.afloat(&id).is_empty() && since.elapsed() < ENDS_WITHIN {
            tokio::time::sleep(ask::LOOK).await;
        }
    }

    /// Ends what it left running, looks at its worktree, and says what became of it.
    pub(crate) async fn dismiss(mut self) -> Result<Finished, ToolError> {
        let id = self.agent.session.id().to_owned();
        self.end_what_runs().await;
        let mut notes = std::mem::take(&mut self.notes);
        let left = match self.worktree.take() {
            None => None,
            Some((made, git, permit)) => settle(made, git, permit).await.unwrap_or_else(|(left, why)| {
                notes.push(why);
                Some(left)
            }),
        };
        let ended = self.ended.clone().unwrap_or_else(unbegun);
        self.say_end(&ended)?;
        self.dismissed = true;
        let readable = {
            let (state, id) = (self.crew.state.clone(), id.clone());
            apart(move || earlier::readable(&state, &id)).await?
        };
        Ok(Finished {
            transcript: self.crew.state.dir().join("transcripts").join(format!("{id}.jsonl")),
            readable,
            session: id,
            name: self.name.clone(),
            kind: self.kind.clone(),
            ended,
            steps: lock(&self.steps).clone(),
            left,
            notes,
        })
    }

    fn say_end(&self, ended: &Ended) -> Result<(), Fault> {
        self.fleet.leave(self.agent.session.id());
        let fields = json!({
            "agent": self.agent.session.id(),
            "ok": ended.why == Why::Done,
            "why": ended.why.word(),
            "turns": ended.turns,
            "calls": ended.calls,
            "input_tokens": ended.usage.read(),
            "output_tokens": ended.usage.output,
            "cost_usd": ended.cost_micros.map(dollars),
        });
        self.home.note(&self.parent, event::AGENT_COMPLETE, &object(fields))
    }
}

impl Drop for Child {
    /// Its call was dropped: what it left running ends here as well, and a worktree without work goes.
    fn drop(&mut self) {
        if self.dismissed {
            return;
        }
        self.fleet.end_session(self.agent.session.id());
        if let Some(jobs) = &self.crew.jobs {
            jobs.end_session(self.agent.session.id());
        }
        if let Some((made, git, permit)) = &self.worktree {
            // With work in it, it stays, and is found by its name.
            let _ = git.remove(permit, made, false, &Cancel::default());
        }
        let ended = self.ended.clone().unwrap_or_else(unbegun);
        // A journal that cannot be written has ended the turn already.
        let _ = self.say_end(&ended);
    }
}

impl Starter {
    /// The same call as the starter of one more agent.
    pub(super) fn another(&self) -> Starter {
        let Starter { parent, enrolment, permit, cancel, progress, .. } = self;
        Starter {
            parent: Arc::clone(parent),
            enrolment: enrolment.clone(),
            permit: Arc::clone(permit),
            cancel: cancel.clone(),
            progress: Arc::clone(progress),
            id: None,
            seat: None,
        }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("session", &self.agent.session).finish_non_exhaustive()
    }
}

/// The order's word counts, then the type's wish, then the starter's own.
fn choose_model(
    fleet: &Fleet,
    parent: &Session,
    enrolment: &Enrolment,
    order: &Order,
    wish: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Arc<dyn Provider>, ToolError> {
    let models = &fleet.settings.models;
    if let Some(name) = &order.model {
        return models.model(Some(name));
    }
    let own = || enrolment.model.clone().map_or_else(|| models.model(None), Ok);
    let Some(wish) = wish else { return own() };
    // A file of another system wishes for that system's models: the task is done all the same.
    let wished = models.model(Some(wish)).and_then(|model| counts(parent, &*model).map(|()| model));
    wished.or_else(|error| {
        let own = own()?;
        notes.push(format!("its type wishes for the model `{wish}`, which is not to be had ({})", error.message));
        Ok(own)
    })
}

fn instructions(program: &str, kind: &str, worktree: Option<&Worktree>) -> String {
    let apart = worktree.map(|made| {
        format!(
            "You work in {}, a worktree of your own on the branch {}: nobody else sees what you change there until it \
             is merged. It began at commit {}.",
            made.root.display(),
            made.branch,
            text::preview(&made.base, 12).trim_end_matches('…')
        )
    });
    let parts = [program.trim(), apart.as_deref().unwrap_or_default(), kind];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Makes the worktree and the pipeline over it.
async fn ground(
    fleet: &Fleet,
    slug: &str,
    permit: &Arc<Permit>,
    cancel: &Cancel,
) -> Result<(Crew, Worktree, Git), ToolError> {
    let (Some(git), Some(grounds)) = (&fleet.settings.git, &fleet.settings.grounds) else {
        let message = "this program makes no worktrees";
        return Err(ToolError::new(code::WORKTREE_FAILED, message).hint("leave `isolation` out"));
    };
    let made = {
        let (git, permit, root) = (git.clone(), Arc::clone(permit), fleet.settings.root.clone());
        let (slug, cancel) = (slug.to_owned(), cancel.clone());
        apart(move || git.create(&permit, &root, &slug, &cancel)).await?.map_err(git_failed)?
    };
    match grounds.at(&made.root) {
        Ok(crew) => Ok((crew, made, git.clone())),
        Err(error) => {
            give_back(Some(&(made, git.clone(), Arc::clone(permit)))).await;
            Err(error)
        }
    }
}

/// Takes away a worktree in which nothing was done.
async fn give_back(worktree: Option<&(Worktree, Git, Arc<Permit>)>) {
    if let Some((made, git, permit)) = worktree.cloned() {
        let _ = apart(move || git.remove(&permit, &made, false, &Cancel::default())).await;
    }
}

/// Takes a worktree away that holds nothing; what one holds that does. The error is one that could not be looked at.
async fn settle(made: Worktree, git: Git, permit: Arc<Permit>) -> Result<Option<Left>, (Left, String)> {
    let left = |changed, commits| Left { dir: made.root.clone(), branch: made.branch.clone(), changed, commits };
    let looked = {
        let (made, git, permit) = (made.clone(), git.clone(), Arc::clone(&permit));
        // Also after a cancel: what was done is said.
        apart(move || git.status(&permit, &made, &Cancel::default())).await
    };
    let unseen = |why: String| (left(Vec::new(), 0), format!("its worktree could not be looked at: {why}"));
    let status = looked.map_err(|error| unseen(error.to_string()))?.map_err(|error| unseen(error.to_string()))?;
    if !status.is_clean() {
        return Ok(Some(left(status.changed, status.commits)));
    }
    let kept = left(Vec::new(), 0);
    match apart(move || git.remove(&permit, &made, false, &Cancel::default())).await {
        Ok(Ok(())) => Ok(None),
        Ok(Err(error)) => Err((kept, format!("its worktree could not be taken away: {error}"))),
        Err(error) => Err((kept, error.to_string())),
    }
}

/// On a thread of its own, as git may take a while.
pub(crate) async fn apart<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(act).await;
    done.map_err(|error| ToolError::new(code::BUG, format!("git could not be waited for: {error}")))
}

/// Two runs of one agent as one.
fn together(before: Ended, after: Ended) -> Ended {
    let cost_micros = match (before.cost_micros, after.cost_micros) {
        (Some(one), Some(two)) => Some(one + two),
        _ => None,
    };
    Ended {
        usage: before.usage.plus(after.usage),
        cost_micros,
        below: before.below.plus(after.below),
        turns: before.turns + after.turns,
        calls: before.calls + after.calls,
        structured: after.structured.or(before.structured),
        ..after
    }
}

/// An agent that never got to run.
fn unbegun() -> Ended {
    Ended {
        why: Why::Cancelled,
        answer: String::new(),
        structured: None,
        usage: Usage::default(),
        cost_micros: None,
        below: Took::default(),
        turns: 0,
        calls: 0,
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a cost of nine billion dollars is not met")]
pub(super) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}
