//! The agents at work in this process: who may start them, how many there may be, where they work.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use nika_contract::{Asker, Cancel, Clock, Cx, Fault, News, ToolError, code};
use nika_guard::{Extent, Place};
use nika_host::git::{Git, GitError, worktree_place};
use nika_host::proc::Jobs;
use nika_runtime::{Runtime, Session};
use nika_store::tasks::TaskId;
use nika_store::{Db, State, StoreError, Transcript, transcript};

use super::child::Starter;
use super::narrow::Order;
use super::types::Types;
use crate::agent::{Bounds, Briefing, Notes};
use crate::context::WANTED;
use crate::conversation::Spent;
use crate::happening::Watch;
use crate::provider::Provider;
use crate::wanted::takes_an_object;

/// Whoever knows the models: by a name, or the one that is configured. The error of one that is not says what to do.
pub trait Models: Send + Sync {
    /// A model.
    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Provider>, ToolError>;
}

/// Whoever can put the whole pipeline over another directory, with the same configuration.
pub trait Grounds: Send + Sync {
    /// The pipeline over `root`, a worktree.
    fn at(&self, root: &Path) -> Result<Crew, ToolError>;
}

/// What is settled before the pipeline is built.
pub struct Settings {
    /// The types of agents.
    pub types: Types,
    /// The models.
    pub models: Arc<dyn Models>,
    /// The workspace's first root, with every link on its way resolved.
    pub root: PathBuf,
    /// Where tasks are kept; without it nothing runs in the background.
    pub db: Option<Arc<Db>>,
    /// How worktrees and commits are made; without it there are none.
    pub git: Option<Git>,
    /// What stands over a worktree; without it nobody works in one.
    pub grounds: Option<Arc<dyn Grounds>>,
    /// Agents at work at once, all of this process together. 8: more than that and a person loses sight of them.
    pub at_once: usize,
    /// How deep they may stand below one another. 2: a helper may have a helper.
    pub depth: usize,
}

/// What agents work with, once the pipeline is built.
#[derive(Clone)]
pub struct Crew {
    /// The pipeline.
    pub runtime: Arc<Runtime>,
    /// Where journals and transcripts lie.
    pub state: State,
    /// What they may leave running, to be ended with them.
    pub jobs: Option<Arc<Jobs>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How far each goes; its type may say fewer turns.
    pub bounds: Bounds,
    /// What each is told before its type's own text: where it works, memory files.
    pub briefing: Briefing,
    /// Plans and to-do lists, for long conversations.
    pub notes: Option<Arc<dyn Notes>>,
}

/// [`Crew`] of the workspace itself, as the tools inside the pipeline may hold it: without keeping it alive.
#[derive(Clone)]
struct Base {
    runtime: Weak<Runtime>,
    crew: CrewBut,
}

#[derive(Clone)]
struct CrewBut {
    state: State,
    jobs: Option<Arc<Jobs>>,
    clock: Arc<dyn Clock>,
    bounds: Bounds,
    briefing: Briefing,
    notes: Option<Arc<dyn Notes>>,
}

impl From<&Crew> for Base {
    fn from(crew: &Crew) -> Base {
        let Crew { runtime, state, jobs, clock, bounds, briefing, notes } = crew.clone();
        let runtime = Arc::downgrade(&runtime);
        Base { runtime, crew: CrewBut { state, jobs, clock, bounds, briefing, notes } }
    }
}

/// Who may start agents: a session, and what its agents have of it.
#[derive(Clone)]
pub struct Enrolment {
    /// Who is asked on behalf of its agents. One that answers *later* counts as nobody.
    pub asker: Arc<dyn Asker>,
    /// Who watches them.
    pub watch: Arc<dyn Watch>,
    /// The model of the session itself, which its agents have when nothing else is said.
    pub model: Option<Arc<dyn Provider>>,
}

/// See the module's page.
pub struct Fleet {
    pub(super) settings: Settings,
    base: OnceLock<Base>,
    /// The canonical names of all tools, which do not change.
    pool: OnceLock<Vec<&'static str>>,
    enrolled: Mutex<HashMap<String, (Weak<Session>, Enrolment)>>,
    seats: Mutex<usize>,
    counted: Mutex<HashMap<String, u32>>,
    /// Background tasks of this process, with the session that started each.
    pub(super) afloat: Mutex<HashMap<TaskId, (String, Cancel)>>,
    /// Those of them that have a seat.
    pub(super) seated: Mutex<HashSet<TaskId>>,
    pub(super) news: Mutex<HashMap<String, Vec<String>>>,
}

impl Fleet {
    /// Nobody at work yet, and nothing to work with before [`Fleet::settle`].
    pub fn new(settings: Settings) -> Arc<Fleet> {
        Arc::new(Fleet {
            settings,
            base: OnceLock::new(),
            pool: OnceLock::new(),
            enrolled: Mutex::default(),
            seats: Mutex::default(),
            counted: Mutex::default(),
            afloat: Mutex::default(),
            seated: Mutex::default(),
            news: Mutex::default(),
        })
    }

    /// Says what agents work with, once. The tools that start them are part of the pipeline, so it comes later than
    /// they do; it is held weakly, as the pipeline holds the tools.
    pub fn settle(&self, crew: &Crew) {
        // Settled twice is settled the first time: whoever holds it works with one pipeline.
        let _ = self.base.set(Base::from(crew));
    }

    /// Lets a session start agents, or says anew who is asked and who watches.
    pub fn enrol(&self, session: &Arc<Session>, enrolment: Enrolment) {
        let mut enrolled = lock(&self.enrolled);
        enrolled.retain(|_, (session, _)| session.strong_count() > 0);
        enrolled.insert(session.id().to_owned(), (Arc::downgrade(session), enrolment));
    }

    /// The session of that name, while it lives and may start agents.
    pub fn session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.enrolled).get(id).and_then(|(session, _)| session.upgrade())
    }

    /// Ends what a session has in the background in this process.
    pub fn end_session(&self, session: &str) {
        for (owner, cancel) in lock(&self.afloat).values() {
            if owner == session {
                cancel.cancel();
            }
        }
    }

    /// The background tasks of a session that are at work in this process.
    pub fn afloat(&self, session: &str) -> Vec<TaskId> {
        let mut found: Vec<TaskId> =
            lock(&self.afloat).iter().filter(|(_, (owner, _))| owner == session).map(|(id, _)| *id).collect();
        found.sort_unstable();
        found
    }

    /// The types there are.
    pub fn types(&self) -> &Types {
        &self.settings.types
    }

    /// Whether an agent can answer with an object, where the order wants one.
    pub(super) fn check_wanted(&self, order: &Order, crew: &Crew) -> Result<(), ToolError> {
        let Some(wanted) = &order.wanted else { return Ok(()) };
        takes_an_object(wanted)?;
        if self.pool(crew).contains(&WANTED) {
            return Ok(());
        }
        let message = format!("this program has no `{WANTED}`, so an agent of it cannot answer with an object");
        Err(ToolError::new(code::NO_AGENTS, message)
            .hint("leave `schema` out and say in `prompt` what to answer with, or run the task with `nika agent`"))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether a model can be had, so that a call that cannot work asks nobody for a permission.
    pub(crate) fn check(&self, session: &str, kind: Option<&str>, model: Option<&str>) -> Result<(), ToolError> {
        let (_, enrolment) = self.member(session)?;
        self.settings.types.get(kind.unwrap_or(super::child::USUAL))?;
        match (&enrolment.model, model) {
            (Some(_), None) => Ok(()),
            (_, model) => self.settings.models.model(model).map(drop),
        }
    }

    /// Whether the conversations that an order names are there, for the same reason.
    pub(crate) fn check_conversations(&self, session: &str, order: &Order) -> Result<(), ToolError> {
        order.check_conversations(session, &self.crew()?.state)
    }

    /// A session that may start agents, and what they have of it; an error that says what to do where it may not.
    pub fn member(&self, session: &str) -> Result<(Arc<Session>, Enrolment), ToolError> {
        let found = lock(&self.enrolled).get(session).cloned();
        let found = found.and_then(|(session, enrolment)| Some((session.upgrade()?, enrolment)));
        found.ok_or_else(|| {
            let message =
                "this session cannot start agents: the program that holds it has not said who is asked for them";
            ToolError::new(code::NO_AGENTS, message).hint("run the task with `nika agent`, or do it yourself")
        })
    }

    /// A call as somebody who starts an agent and waits for it.
    pub(crate) fn starter(&self, cx: &Cx<'_>) -> Result<Starter, ToolError> {
        let (parent, enrolment) = self.member(cx.session.id())?;
        Ok(Starter {
            parent,
            enrolment,
            permit: Arc::clone(cx.permit),
            cancel: cx.cancel.clone(),
            progress: Arc::clone(cx.progress),
            id: None,
            seat: None,
        })
    }

    pub(super) fn leave(&self, session: &str) {
        lock(&self.enrolled).remove(session);
    }

    /// What agents work with in the workspace itself.
    pub(super) fn crew(&self) -> Result<Crew, ToolError> {
        let base = self.base.get().and_then(|base| Some((base.runtime.upgrade()?, base.crew.clone())));
        let (runtime, CrewBut { state, jobs, clock, bounds, briefing, notes }) = base.ok_or_else(|| {
            ToolError::new(code::NO_AGENTS, "this program has nothing for agents to work with")
                .hint("run the task with `nika agent`")
        })?;
        Ok(Crew { runtime, state, jobs, clock, bounds, briefing, notes })
    }

    /// The canonical names of all tools that agents may be given.
    pub(super) fn pool(&self, crew: &Crew) -> &[&'static str] {
        self.pool.get_or_init(|| crew.runtime.surface().iter().map(|tool| tool.canonical).collect())
    }

    /// A seat for one agent, held until it ends.
    pub(super) fn seat(self: &Arc<Self>) -> Result<Seat, ToolError> {
        let mut taken = lock(&self.seats);
        if *taken >= self.settings.at_once {
            let message = format!("{taken} agents are at work, which is as many as may be");
            return Err(ToolError::new(code::TOO_MANY_AGENTS, message)
                .hint("wait for one of them, or do it yourself; `agent.max_agents` is the bound"));
        }
        *taken += 1;
        Ok(Seat(Arc::clone(self)))
    }

    /// How many more there may be.
    pub(crate) fn free_seats(&self) -> usize {
        self.settings.at_once.saturating_sub(*lock(&self.seats))
    }

    /// How deep a session stands: 0 is a session that is no agent's.
    pub(super) fn depth(session: &Session) -> usize {
        std::iter::successors(session.parent(), |above| above.parent()).count()
    }

    /// The name of a new agent of `parent`, claimed: nothing on disk has it, and no other process gets it.
    pub fn name_for(&self, parent: &str, state: &State) -> Result<String, ToolError> {
        self.name_after(parent, state, None)
    }

    /// The same; with `from` its transcript begins with that one's lines.
    pub(super) fn name_after(&self, parent: &str, state: &State, from: Option<&str>) -> Result<String, ToolError> {
        let mut counted = lock(&self.counted);
        let count = counted.entry(parent.to_owned()).or_default();
        loop {
            *count += 1;
            let id = child_id(parent, *count);
            // A session that is gone on with in another process has agents of before; one whose transcript was
            // cleared away has a journal still.
            if nika_store::journal::lines(state, &id).is_ok() {
                continue;
            }
            let taken = match from {
                None => Transcript::claim(state, &id)?,
                Some(from) => match transcript::fork(state, from, &id, None) {
                    Ok(_) => true,
                    Err(StoreError::TranscriptExists(_)) => false,
                    Err(error) => return Err(error.into()),
                },
            };
            if taken {
                return Ok(id);
            }
        }
    }

    /// Where the worktree of an order would lie, as what the call would write.
    pub(crate) fn worktree_place(&self, slug: &str) -> Place {
        let (dir, _) = worktree_place(&self.settings.root, slug);
        Place { extent: Extent::Tree, ..Place::outside(dir) }
    }
}

/// What the agents below a session took in every process, and how many there were: by their transcripts, which hold each
/// answer before anything follows from it.
pub(crate) fn spent_below(state: &State, session: &str) -> Result<(Spent, u64), Fault> {
    let lost = |error: StoreError| Fault { code: code::TRANSCRIPT_LOST, message: error.to_string() };
    let (mut spent, mut agents) = (Spent::default(), 0);
    for count in 1.. {
        let id = child_id(session, count);
        match transcript::lines(state, &id) {
            // A name that was taken for one that never began.
            Ok(lines) if lines.is_empty() => {}
            Ok(lines) => {
                let (below, more) = spent_below(state, &id)?;
                spent = spent.plus(Spent::of(&id, lines)).plus(below);
                agents += 1 + more;
            }
            // Cleared away, where a journal is left.
            Err(StoreError::NoTranscript(_)) if nika_store::journal::lines(state, &id).is_ok() => {}
            Err(StoreError::NoTranscript(_)) => break,
            Err(error) => return Err(lost(error)),
        }
    }
    Ok((spent, agents))
}

/// `parent.a3`; names are at most 64 characters, so a long parent's is cut, its end standing for it.
pub(super) fn child_id(parent: &str, count: u32) -> String {
    const MOST: usize = 64;
    let end = format!(".a{count}");
    let room = MOST - end.len();
    if parent.len() <= room {
        return format!("{parent}{end}");
    }
    // Names are ASCII. The end of one tells agents of agents apart.
    let tail = &parent[parent.len() - (room - 1)..];
    format!("x{tail}{end}")
}

/// A place among those that may work at once.
pub(crate) struct Seat(Arc<Fleet>);

impl Drop for Seat {
    fn drop(&mut self) {
        *lock(&self.0.seats) -= 1;
    }
}

impl News for Fleet {
    fn take(&self, session: &str) -> Vec<String> {
        lock(&self.news).remove(session).unwrap_or_default()
    }

    fn at_work(&self, session: &str) -> Vec<String> {
        // An agent has a seat itself: it does not wait for one that waits for a seat, when all are taken.
        let seated = lock(&self.seated).clone();
        let sits = self.session(session).is_some_and(|session| session.parent().is_some());
        let may_sit = !sits || self.free_seats() > 0;
        let gets_on = |task: &TaskId| may_sit || seated.contains(task);
        self.afloat(session).iter().filter(|task| gets_on(task)).map(TaskId::to_string).collect()
    }

    fn has_ended(&self, session: &str) -> bool {
        lock(&self.news).contains_key(session)
    }
}

/// A failure of git as a tool's.
pub(crate) fn git_failed(error: GitError) -> ToolError {
    match &error {
        GitError::Cancelled => ToolError::cancelled(),
        GitError::NoRepo(..) => ToolError::new(code::WORKTREE_FAILED, error.to_string())
            .hint("leave `isolation` out, or make a repository with a commit"),
        GitError::Taken(_) => ToolError::new(code::WORKTREE_FAILED, error.to_string())
            .hint("say another `name`: the worktree is called by it"),
        _ => ToolError::new(code::WORKTREE_FAILED, error.to_string()),
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("root", &self.root).finish_non_exhaustive()
    }
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}

impl fmt::Debug for Enrolment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Enrolment").field("model", &self.model).finish_non_exhaustive()
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("seats", &self.seats).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_agents_stay_within_what_a_name_may_be() {
        assert_eq!(child_id("s", 3), "s.a3");
        let mut id = "m".repeat(64);
        for count in 1..100 {
            id = child_id(&id, count);
            assert!(id.len() <= 64 && id.ends_with(&format!(".a{count}")), "{id}");
        }
    }
    struct Nobody;

    impl Models for Nobody {
        fn model(&self, _: Option<&str>) -> Result<Arc<dyn Provider>, ToolError> {
            Err(ToolError::new(code::NO_MODEL, "there is none"))
        }
    }

    fn fleet() -> Arc<Fleet> {
        Fleet::new(Settings {
            types: Types::new([]),
            models: Arc::new(Nobody),
            root: PathBuf::from("proj"),
            db: None,
            git: None,
            grounds: None,
            at_once: 1,
            depth: 1,
        })
    }

    #[test]
    fn no_two_programs_give_an_agent_the_same_name() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let state = State::open(dir.path()).expect("a state directory");
        let mut names: Vec<String> = std::thread::scope(|scope| {
            // Each as a process of its own: nothing is shared but the directory.
            let begun: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let fleet = fleet();
                        (0..5).map(|_| fleet.name_for("cli-1", &state).expect("a name")).collect::<Vec<_>>()
                    })
                })
                .collect();
            begun.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
        });
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 20, "{names:?}");
        let talks = crate::conversation::Conversation::list(&state).expect("a list");
        assert_eq!(talks, [], "a name alone is no conversation");
    }
}
