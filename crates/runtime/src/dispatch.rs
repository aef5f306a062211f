//! The pipeline, as a page.

use std::fmt;
use std::sync::Arc;

use nika_contract::{
    AnyTool, Asker, CallId, Cancel, Clock, Erased, Fault, Foreseen, Guests, News, Output, Pending, Progress, ToolError,
    event,
};
use nika_guard::manifest::{Messages, Moment};
use nika_guard::{Budget, Budgets, Policy, Stance};
use nika_store::{Checkpoints, Durability, State};
use serde_json::{Map, Value};

use crate::catalog::{Catalog, Tools};
use crate::dialect::Dialect;
use crate::finder::Finder;
use crate::gateway::{Call, Shelf, ToolSearch};
use crate::hooks::Hooks;
use crate::listing::{self, Listed, Listing};
use crate::plan::{self, Planned};
use crate::session::{LogTo, Session, Watcher};
use crate::stage::refresh::{self, Rules};
use crate::stage::run::Came;
use crate::stage::{after, before, begin, checkpoint, decide, end, inquire, lookup, parse, run, settle, shape, spend};

/// How often a call is judged again because it turned out to do other things. Four: a script may run git, a rebase may bring
/// more with each commit, and somebody may move the directory that it stands in.
const JUDGED_AGAIN: usize = 4;

/// Bounds that configuration may change.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Characters of text in an answer, for tools by name; `*` is every tool without one.
    pub max_output_chars: Vec<(String, usize)>,
}

/// What a runtime is made of.
pub struct Parts {
    /// The built-in tools.
    pub tools: Vec<Box<dyn AnyTool>>,
    /// Tools of other servers.
    pub foreign: Option<Arc<dyn Guests>>,
    /// The rules in force.
    pub policy: Policy,
    /// Which rules are in force later; none where those hold to the end.
    pub rules: Option<Arc<dyn Rules>>,
    /// How sessions stand at their start.
    pub stance: Stance,
    /// The durable state of the workspace.
    pub state: State,
    /// Where pre-images go.
    pub checkpoints: Arc<Checkpoints>,
    /// Whether each journal line is forced to the disk.
    pub durability: Durability,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// The vocabulary of lists.
    pub dialect: Dialect,
    /// Whether canonical names get the `nika_` prefix in lists.
    pub prefixed: bool,
    /// Which tools are listed.
    pub listing: Listing,
    /// Surfaces of at most so many tools defer nothing.
    pub defer_above: usize,
    /// Bounds.
    pub limits: Limits,
    /// Commands that have a say in calls.
    pub hooks: Hooks,
    /// Texts that manifests put before the model.
    pub messages: Messages,
    /// What a session may spend.
    pub budgets: Budgets,
    /// The home directory, for `~/` in rules that a person grants.
    pub home: Option<String>,
    /// What the first line of every session's journal says about where it runs.
    pub header: Map<String, Value>,
    /// Told of every journal line.
    pub watcher: Option<Watcher>,
    /// What a session is told with the next answer.
    pub news: Option<Arc<dyn News>>,
    /// What was settled of calls that a kill interrupted.
    pub recovered: Option<Recovered>,
}

/// Says what became of calls that a kill interrupted, since it was last asked: the fields of a journal line each. A start
/// comes upon them, and any call that changes files.
pub type Recovered = Arc<dyn Fn() -> Vec<Map<String, Value>> + Send + Sync>;

/// The pipeline with everything it needs.
pub struct Runtime {
    pub(crate) catalog: Catalog,
    pub(crate) parts: Parts,
    shelf: Arc<Shelf>,
}

/// A call as it arrives.
#[derive(Clone)]
pub struct Incoming {
    /// The tool, in any dialect.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Set when nobody waits for the answer any more.
    pub cancel: Cancel,
    /// Who watches.
    pub progress: Arc<dyn Progress>,
    /// Who can be asked.
    pub asker: Arc<dyn Asker>,
    /// Whether a deferred tool that the session has not seen answers with its schema first.
    pub deferral: bool,
    /// The caller's own name for the call, where it has one: the journal keeps it.
    pub origin: Option<String>,
}

/// How a call ended.
#[derive(Debug)]
pub struct Outcome {
    /// Its name in the journal.
    pub call: CallId,
    /// The tool, canonical; as written when there is none.
    pub tool: String,
    /// The answer.
    pub result: Result<Output, ToolError>,
    /// What must be answered before the call can be made again.
    pub question: Option<Pending>,
    /// Whether the list of tools is another one now.
    pub tools_changed: bool,
}

impl Runtime {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Runtime {
        Runtime::with_gateway(parts, true)
    }

    /// As [`Runtime::new`]; without `gateway` there is no `call` and no `tool_search`.
    pub fn with_gateway(mut parts: Parts, gateway: bool) -> Runtime {
        let shelf = Arc::new(Shelf::default());
        let mut tools = std::mem::take(&mut parts.tools);
        if gateway {
            tools.push(Erased::boxed(ToolSearch { shelf: Arc::clone(&shelf) }));
            tools.push(Erased::boxed(Call));
        }
        let catalog = Catalog::new(tools, parts.foreign.take());
        Runtime { catalog, parts, shelf }
    }

    /// The call's way, from its arrival to its answer. `Err` is a fault of ours that ends the turn.
    pub async fn dispatch(&self, session: &Session, incoming: Incoming) -> Result<Outcome, Fault> {
        let begun = begin::begin(self, session, incoming)?;
        let unended = end::Unended::new(self, session, &begun);
        let carried = run::caught(self.carry(session, &begun)).await;
        Foreseen::forget(&session.state, &begun.call);
        let ended = unended.end(begun, carried);
        self.note_recovered();
        ended
    }

    async fn carry(&self, session: &Session, begun: &begin::Begun) -> Result<shape::Shaped, end::Stopped> {
        refresh::refresh(self, session)?;
        let tools = self.catalog.for_call(&begun.incoming.name, &begun.incoming.cancel).await?;
        let found = lookup::lookup(self, &tools, session, &begun.incoming)?;
        let (paid, price) = spend::spend(session, found)?;
        let parsed = parse::parse(self, paid)?;
        let heard = before::attend(self, session, begun, parsed).await?;
        let rewritten = heard.wishes.rewritten();
        let made = self.make(session, begun, heard, price).await;
        let ran = made.map_err(|why| why.of_rewritten(rewritten.as_deref()))?;
        let witnessed = after::attend(self, session, begun, ran).await?;
        Ok(shape::shape(self, session, begun, witnessed))
    }

    /// From the decision to what the tool answered, again where the call turns out to be another.
    async fn make(
        &self,
        session: &Session,
        begun: &begin::Begun,
        mut heard: before::Heard<'_>,
        price: spend::Price,
    ) -> Result<run::Ran, end::Stopped> {
        let mut found: Vec<ToolError> = Vec::new();
        loop {
            let judged = decide::decide(session, heard)?;
            let settled = settle::settle(self, session, begun, judged).await.map_err(|why| why.after(found.last()));
            let permitted = spend::kept(session, price, settled)?;
            let answered = spend::kept(session, price, inquire::inquire(self, session, begun, permitted).await)?;
            let armed = checkpoint::arm(self, session, begun, answered);
            match run::run(self, session, begun, armed).await? {
                Came::Ran(ran) => return Ok(*ran),
                Came::Other(_, why) if found.len() == JUDGED_AGAIN => return Err(why.into()),
                Came::Other(again, why) => {
                    heard = *again;
                    found.push(why);
                }
            }
        }
    }

    /// What a call would do, for a caller that has several and wants to know which may run at once. Nothing is
    /// written and nothing is loaded; the call itself is judged when it is made.
    pub fn plan(&self, session: &Session, incoming: &Incoming) -> Result<Planned, ToolError> {
        plan::plan(self, session, incoming)
    }

    /// Writes a journal line outside any call: what an agent does between its calls.
    pub fn note(&self, session: &Session, event: &str, fields: &Map<String, Value>) -> Result<(), Fault> {
        session.log(&self.log_to(), event, fields)
    }

    /// Says in a journal of its own what was settled of calls that a kill interrupted. What was settled stays settled: where
    /// that cannot be written, an undo finds every path as it was.
    pub fn note_recovered(&self) {
        let lines = self.parts.recovered.as_ref().map(|recovered| recovered()).unwrap_or_default();
        lines.iter().for_each(|fields| self.note_settled(fields));
    }

    /// Says there what was settled elsewhere.
    pub fn note_settled(&self, fields: &Map<String, Value>) {
        let _ = self.note(&self.session("recovery", false), event::RECOVERED, fields);
    }

    /// Forces a session's journal to the disk: for the end of a turn.
    pub fn sync(&self, session: &Session) -> Result<(), Fault> {
        session.sync()
    }

    /// A session that stands as the configuration says.
    pub fn session(&self, id: impl Into<String>, lasting: bool) -> Session {
        Session::new(id, self.parts.stance, self.parts.policy.clone(), lasting).bounded(self.parts.budgets.clone())
    }

    /// What manifests put before the model at a moment that concerns no tool: at the start of a conversation,
    /// or when a turn has ended. Who talks to the model puts it there.
    pub fn messages(&self, moment: Moment) -> impl Iterator<Item = &str> {
        self.parts.messages.at(moment).map(|message| message.text.as_str())
    }

    /// Whether tool calls are bounded, so that a session that lasts has to keep their number.
    pub fn counts_calls(&self) -> bool {
        self.parts.budgets.get(Budget::ToolCalls).is_some()
    }

    /// The tools a session is shown. Without a session: those that anybody is.
    pub fn list(&self, session: Option<&Session>) -> Vec<Listed> {
        // Where rules cannot be read no call is made, and the list is the last one that held.
        let _ = session.map(|session| refresh::refresh(self, session));
        let by_now = || self.parts.rules.as_ref().and_then(|rules| rules.now().1.ok());
        let policy = session.map_or_else(|| by_now().unwrap_or_else(|| self.parts.policy.clone()), Session::policy);
        let tools = self.catalog.now();
        let deferring = listing::defers(&self.parts.listing, &tools, &policy, self.parts.defer_above);
        let mut listed: Vec<Listed> = tools
            .pool(&policy)
            .filter(|tool| {
                let foreign = tools.is_foreign(tool.spec().name);
                listing::shows(&self.parts.listing, *tool, session, deferring || foreign)
            })
            .map(|tool| Listed::new(tool, self.parts.dialect, self.parts.prefixed))
            .collect();
        // The pool is sorted by our own names.
        listed.sort_by(|one, other| {
            let key = |tool: &Listed| tools.is_foreign(tool.canonical);
            (key(one), &one.name).cmp(&(key(other), &other.name))
        });
        listed
    }

    /// The whole surface that the policy leaves.
    pub fn surface(&self) -> Vec<Listed> {
        let tools = self.catalog.now();
        tools.pool(&self.parts.policy).map(|tool| Listed::new(tool, self.parts.dialect, self.parts.prefixed)).collect()
    }

    /// The same with the tools for which this machine lacks something: for documents, which are read elsewhere, too.
    pub fn described(&self) -> Vec<Listed> {
        let tools = self.catalog.now();
        tools.left(&self.parts.policy).map(|tool| Listed::new(tool, self.parts.dialect, self.parts.prefixed)).collect()
    }

    /// The tool that `name` means.
    pub fn find(&self, name: &str) -> Result<Arc<dyn AnyTool>, ToolError> {
        self.catalog.now().find(name, &self.parts.policy, self.parts.dialect).cloned()
    }

    /// The same, where another server may have it and has not been asked for its tools yet.
    pub async fn seek(&self, name: &str) -> Result<Arc<dyn AnyTool>, ToolError> {
        self.catalog
            .for_call(name, &Cancel::default())
            .await?
            .find(name, &self.parts.policy, self.parts.dialect)
            .cloned()
    }

    /// The tools there are at this moment.
    pub fn tools(&self) -> Arc<Tools> {
        self.catalog.now()
    }

    /// Whether a deferred tool that was not seen yet has to answer with its schema.
    pub(crate) fn defers(&self, tools: &Tools, session: &Session, tool: &dyn AnyTool) -> bool {
        let spec = tool.spec();
        // Who may not see it is told so by the tool itself; its schema would be another promise.
        if listing::FOR_CALLERS.contains(&spec.name) || tool.lacks().is_some() || !session.state.is_lasting() {
            return false;
        }
        // What is shown even where some are deferred needs no look at all the others.
        if listing::shows(&self.parts.listing, tool, Some(session), true) {
            return false;
        }
        tools.is_foreign(spec.name)
            || listing::defers(&self.parts.listing, tools, &session.policy(), self.parts.defer_above)
    }

    pub(crate) fn log_to(&self) -> LogTo<'_> {
        LogTo {
            state: &self.parts.state,
            clock: &self.parts.clock,
            durability: self.parts.durability,
            header: &self.parts.header,
            watcher: self.parts.watcher.as_ref(),
        }
    }

    /// Puts the schemas where `tool_search` looks. On its first call, and when the tools have changed: generating
    /// them at start would be paid by everybody.
    pub(crate) fn stock_shelf(&self) {
        let tools = self.catalog.now();
        let is_found = |name: &str| !listing::FOR_CALLERS.contains(&name);
        self.shelf.stock(tools.version(), || {
            let mut surface = self.surface();
            surface.retain(|tool| is_found(tool.canonical));
            let pool = tools.pool(&self.parts.policy).filter(|tool| is_found(tool.spec().name));
            (surface, Finder::new(pool))
        });
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("stance", &self.stance).finish_non_exhaustive()
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("catalog", &self.catalog).finish_non_exhaustive()
    }
}
