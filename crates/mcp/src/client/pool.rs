//! All servers of a process: who they are, how each stands, one connection each, made when it is first needed.
//!
//! A server that cannot be had, or dies, is left alone for 1, 2, 4 … 60 seconds; who calls meanwhile is told why, at
//! once. A connection is ready when its tools were listed and compared with what a person has seen.

mod listing;
mod slot;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nika_contract::{AnyTool, BoxFuture, Cancel, Cx, Guests, Output, Silent, Spec, ToolError, code, event, text};
use nika_contract::{Nobody, Progress};
use serde_json::{Map, Value, json};

pub use listing::{State, Status};

use super::answer;
use super::ask::Caller;
use super::connect::{Ways, connect};
use super::connection::Connection;
use super::foreign::ForeignTool;
use super::held::HeldBack;
use super::pin::{Definition, Keep, Pins, Standing};
use super::server::Server;
use slot::{Slot, Standings};

/// A server as configuration has it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Where it was written: `file:line`.
    pub at: String,
    /// Who brought it.
    pub layer: String,
    /// `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Its command line or address.
    pub place: String,
    /// The server, or why it may not be used.
    pub server: Result<Arc<Server>, String>,
}

/// What was seen of servers, as it was read.
struct Known {
    stamp: Option<u64>,
    pins: Result<Pins, String>,
}

/// All servers.
pub struct Pool {
    me: Weak<Pool>,
    slots: BTreeMap<String, Slot>,
    ways: Ways,
    keep: Arc<dyn Keep>,
    /// Read when they are first needed, and again when another process has changed them.
    pins: Mutex<Option<Known>>,
    /// Whether it was closed.
    over: Cancel,
    version: AtomicU64,
    /// What is fixed about tools, by name. Kept for good, as a tool's is; only what was pinned comes here.
    specs: Mutex<HashMap<String, &'static Spec>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("servers", &self.slots.keys()).finish_non_exhaustive()
    }
}

impl Pool {
    /// The servers of a configuration. Nothing is started, reached or read.
    pub fn new(entries: Vec<Entry>, ways: Ways, keep: Arc<dyn Keep>) -> Arc<Pool> {
        let slots = entries.into_iter().map(|entry| (entry.name.clone(), Slot::new(entry))).collect();
        Arc::new_cyclic(|me| Pool {
            me: Weak::clone(me),
            slots,
            ways,
            keep,
            pins: Mutex::default(),
            over: Cancel::default(),
            version: AtomicU64::new(1),
            specs: Mutex::default(),
        })
    }

    /// Whether there are any servers.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The servers that may be used, by name.
    pub fn usable(&self) -> impl Iterator<Item = &str> {
        self.slots.values().filter(|slot| slot.entry.server.is_ok()).map(|slot| slot.entry.name.as_str())
    }

    /// The server that a call means: where it names none, the only one there is.
    pub(crate) fn meant<'n>(&'n self, name: Option<&'n str>) -> Result<&'n str, ToolError> {
        if let Some(name) = name {
            return Ok(name);
        }
        let known: Vec<&str> = self.slots.keys().map(String::as_str).collect();
        match known.as_slice() {
            [only] => Ok(only),
            [] => self.slot("").map(|_| ""),
            known => Err(ToolError::argument("server", format!("name one of {}", known.join(", ")))
                .hint("`mcp_list_tools` and `mcp_list_resources` show what each of them has")),
        }
    }

    pub(crate) fn slot(&self, name: &str) -> Result<&Slot, ToolError> {
        self.slots.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.slots.keys().map(String::as_str).collect();
            let hint = match known.as_slice() {
                [] => "none is configured: `mcp.servers` in .nika/config.yaml, or .mcp.json, names them".to_owned(),
                known => format!("there are {}", known.join(", ")),
            };
            let message = format!("no MCP server is called '{}'", text::preview(name, 80));
            ToolError::new(code::NO_SUCH_SERVER, message).hint(hint)
        })
    }

    /// The server of this name; an error where there is none, or it may not be used.
    pub fn server(&self, name: &str) -> Result<&Arc<Server>, ToolError> {
        let slot = self.slot(name)?;
        slot.entry.server.as_ref().map_err(|why| {
            let message = format!("the MCP server '{name}' is configured and not used: {why}");
            ToolError::new(code::SERVER_WITHHELD, message).hint("`nika mcp list` shows all of them, with why")
        })
    }

    fn pins(&self) -> MutexGuard<'_, Option<Known>> {
        let mut known = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        // Before they are read: what changes in between is found the next time.
        let stamp = self.keep.stamp();
        if known.as_ref().is_some_and(|known| known.stamp == stamp) {
            return known;
        }
        let kept = self.keep.load().map_err(|error| error.message);
        let pins = kept.and_then(|text| Pins::parse(text.as_deref()));
        if let (Some(_), Ok(pins)) = (&*known, &pins) {
            self.compare_again(pins);
        }
        *known = Some(Known { stamp, pins });
        known
    }

    /// What was seen of servers; nothing where that cannot be read.
    pub(crate) fn seen<T>(&self, look: impl FnOnce(&Pins) -> T) -> T {
        match &*self.pins() {
            Some(Known { pins: Ok(pins), .. }) => look(pins),
            _ => look(&Pins::default()),
        }
    }

    /// What was seen is another: a person has said yes, here or in another process.
    fn compare_again(&self, pins: &Pins) {
        for slot in self.slots.values() {
            let name = &slot.entry.name;
            if pins.knows(name) {
                slot.compare_again(|tool| pins.standing(name, tool));
            } else {
                // It is new again, and its next list is pinned.
                slot.mark_stale();
            }
        }
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Changes what was seen, here and where it is kept.
    fn pin(&self, change: &dyn Fn(&mut Pins)) -> Result<(), ToolError> {
        let unreadable = |why: &str| {
            let message = format!("what was pinned of MCP servers cannot be read: {why}");
            ToolError::new(code::STATE_UNUSABLE, message)
                .hint("move mcp-pins.json out of the workspace's state directory, to begin anew")
        };
        if let Some(Known { pins: Err(why), .. }) = &*self.pins() {
            return Err(unreadable(why));
        }
        let mut changed = Err(String::new());
        self.keep.change(&mut |now| {
            // What another process has pinned meanwhile stays.
            changed = Pins::parse(now);
            match &mut changed {
                Ok(pins) => {
                    change(pins);
                    pins.text()
                }
                Err(_) => now.unwrap_or_default().to_owned(),
            }
        })?;
        let result = changed.as_ref().map(drop).map_err(|why| unreadable(why));
        if let Ok(pins) = &changed {
            self.compare_again(pins);
        }
        // Without a stamp they are read again at the next use, with what others have changed by then.
        *self.pins.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known { stamp: None, pins: changed });
        result
    }

    /// The connection of a server, made if there is none.
    pub(crate) async fn connection(&self, name: &str, on: &Line<'_>) -> Result<Arc<Connection>, ToolError> {
        let server = self.server(name)?;
        let slot = self.slot(name)?;
        let ready = async {
            let _turn = slot.turn.lock().await;
            let living = slot.held().living(Instant::now());
            if let Some(connection) = living {
                self.list_again(slot, &connection, on).await?;
                return Ok(connection);
            }
            let refused = slot.held().refused(Instant::now());
            match refused {
                Some(error) => Err(error),
                None => self.connect(slot, server, on).await,
            }
        };
        tokio::select! {
            ready = ready => ready,
            () = cancelled(&on.cancel) => Err(ToolError::cancelled()),
            () = cancelled(&self.over) => Err(ToolError::cancelled()),
        }
    }

    /// Asks for the list again where the server said that it is another one.
    async fn list_again(&self, slot: &Slot, connection: &Connection, on: &Line<'_>) -> Result<(), ToolError> {
        if !slot.take_stale() {
            return Ok(());
        }
        // Also where the caller goes away in the middle of it.
        let mut asking = Asking { slot, done: false };
        let definitions = self.list(connection, on).await?;
        self.compare(slot, definitions)?;
        asking.done = true;
        Ok(())
    }

    async fn connect(&self, slot: &Slot, server: &Arc<Server>, on: &Line<'_>) -> Result<Arc<Connection>, ToolError> {
        let name = &slot.entry.name;
        let began = Instant::now();
        // What it said on a connection before is of no matter to this one.
        slot.take_stale();
        let making = async {
            let stale = (Weak::clone(&self.me), name.clone());
            let connection = connect(server, &self.ways, Arc::new(move || changed(&stale.0, &stale.1))).await?;
            let definitions = self.list(&connection, on).await?;
            Ok((Arc::new(connection), self.compare(slot, definitions)?))
        };
        let made: Result<(Arc<Connection>, News), ToolError> = making.await;
        let took_ms = millis(began);
        match made {
            Ok((connection, news)) => {
                let about = connection.about();
                on.note(
                    event::MCP_CONNECTED,
                    json!({
                        "server": name, "transport": slot.entry.transport, "revision": about.revision,
                        "title": about.title, "tools": news.tools, "first": news.first,
                        "held_back": news.held_back, "took_ms": took_ms,
                    }),
                );
                connection.watch();
                slot.held().connected(Arc::clone(&connection), about);
                Ok(connection)
            }
            Err(error) => {
                on.note(event::MCP_ERROR, error_fields(name, &error, took_ms));
                // A server that wants a login is well: once somebody has made it, nothing is to be waited for.
                if !super::auth::is_login(error.code) {
                    slot.held().failed(error.clone(), Instant::now());
                }
                Err(error)
            }
        }
    }

    async fn list(&self, connection: &Connection, on: &Line<'_>) -> Result<Vec<Definition>, ToolError> {
        let tools = connection.tools(&on.caller("tools/list"), &on.cancel).await?;
        let values = tools.iter().filter_map(|tool| serde_json::to_value(tool).ok());
        let filter = &connection.server().filter;
        Ok(values.filter_map(|tool| Definition::read(&tool)).filter(|tool| filter.shows(&tool.name)).collect())
    }

    /// Compares what a server offers with what was seen; pins what was never seen of a new server.
    fn compare(&self, slot: &Slot, offered: Vec<Definition>) -> Result<News, ToolError> {
        let name = &slot.entry.name;
        let first = self.seen(|pins| !pins.knows(name));
        if first {
            self.pin(&|pins| {
                // Another process may have been first.
                if !pins.knows(name) {
                    pins.pin(name, &offered);
                }
            })?;
        }
        // Under the lock of what was seen: a yes that comes now finds them there.
        let news = self.seen(|pins| {
            let stands = |tool: Definition| {
                let standing = pins.standing(name, &tool);
                (tool.name.clone(), (tool, standing))
            };
            let standings: Standings = offered.into_iter().map(stands).collect();
            let held_back = standings.values().filter(|(_, standing)| *standing != Standing::Pinned).count();
            let news = News { tools: standings.len(), first: if first { standings.len() } else { 0 }, held_back };
            slot.offers(standings);
            news
        });
        self.version.fetch_add(1, Ordering::AcqRel);
        Ok(news)
    }

    /// Lists the tools of one server, asking it.
    pub async fn refresh(&self, name: &str) -> Result<(), ToolError> {
        let line = Line::nobody();
        if let Ok(slot) = self.slot(name) {
            slot.mark_stale();
        }
        self.connection(name, &line).await.map(drop)
    }

    /// A person has read these tools of a server, and says yes to them as they read them. The server is not asked again:
    /// it could answer with others.
    pub fn approve(&self, name: &str, read: &[HeldBack]) -> Result<(), ToolError> {
        let offered = self.slot(name)?.known();
        self.pin(&|pins| {
            // A tool that the server has no more is new when it comes back.
            if let Some(offered) = &offered {
                pins.forget(name, |tool| offered.contains_key(tool));
            }
            pins.pin(name, read.iter().map(|held| &held.now));
        })
    }

    /// Connects, without waiting, to the servers that were never seen: their tools are known then.
    pub fn warm(&self) {
        let unseen: Vec<String> =
            self.usable().filter(|name| self.seen(|pins| !pins.knows(name))).map(str::to_owned).collect();
        for name in unseen {
            if let Some(pool) = self.me.upgrade() {
                tokio::spawn(async move {
                    // What it says is kept, and said by whoever calls.
                    let _ = pool.refresh(&name).await;
                });
            }
        }
    }

    /// Ends every connection, and what is about to become one, and waits until their programs are gone; not for long.
    /// It is of no use afterwards.
    pub async fn close(&self) {
        self.over.cancel();
        let mut ending = tokio::task::JoinSet::new();
        for connection in self.slots.values().filter_map(|slot| slot.held().take()) {
            ending.spawn(async move { connection.close().await });
        }
        let _ = tokio::time::timeout(MOST_CLOSING, ending.join_all()).await;
    }

    /// Calls a server's tool, by the server's own name for it or the one that it is shown under.
    pub(crate) async fn call(
        &self,
        name: &str,
        tool: &str,
        arguments: Map<String, Value>,
        cx: &Cx<'_>,
    ) -> Result<Output, ToolError> {
        let line = Line::of(cx);
        let connection = self.connection(name, &line).await?;
        let own = self.allowed(name, tool, &line).await?;
        let asked = json!({"server": name, "method": "tools/call", "what": own});
        let caller = line.caller(tool);
        let result =
            self.asked(name, asked, (&line, &caller), connection.call(&own, arguments, &caller, cx.cancel)).await?;
        let output = answer::result(name, &serde_json::to_value(&result).unwrap_or_default());
        Ok(output.with_fact("server", name).with_fact("untrusted", true))
    }

    /// The resources of a server.
    pub(crate) async fn resources(&self, name: &str, cx: &Cx<'_>) -> Result<Vec<Value>, ToolError> {
        let line = Line::of(cx);
        let connection = self.connection(name, &line).await?;
        let asked = json!({"server": name, "method": "resources/list", "what": ""});
        let caller = line.caller("resources/list");
        let found = self.asked(name, asked, (&line, &caller), connection.resources(&caller, cx.cancel)).await?;
        Ok(found.iter().filter_map(|resource| serde_json::to_value(resource).ok()).collect())
    }

    /// A resource of a server.
    pub(crate) async fn read(&self, name: &str, uri: &str, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let line = Line::of(cx);
        let connection = self.connection(name, &line).await?;
        let asked = json!({"server": name, "method": "resources/read", "what": uri});
        let caller = line.caller("resources/read");
        let found = self.asked(name, asked, (&line, &caller), connection.read(uri, &caller, cx.cancel)).await?;
        let output = answer::resource(name, &serde_json::to_value(&found).unwrap_or_default());
        Ok(output.with_fact("server", name).with_fact("untrusted", true))
    }

    /// One question to a server, with its lines in the journal.
    async fn asked<T>(
        &self,
        name: &str,
        asked: Value,
        (line, caller): (&Line<'_>, &Caller),
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        line.note(event::MCP_INVOKE, asked);
        let began = Instant::now();
        let done = tokio::select! {
            biased;
            done = work => done,
            never = line.pays(caller) => match never {},
        };
        match done {
            Ok(done) => {
                line.note(event::MCP_RESPONSE, json!({"server": name, "took_ms": millis(began)}));
                Ok(done)
            }
            Err(error) => {
                line.note(event::MCP_ERROR, error_fields(name, &error, millis(began)));
                Err(error)
            }
        }
    }

    /// The server's own name of a tool that may be called. One that is not as it was seen needs a person, whatever
    /// rules say; their yes pins it.
    async fn allowed(&self, name: &str, tool: &str, line: &Line<'_>) -> Result<String, ToolError> {
        let slot = self.slot(name)?;
        // Another process may have a person's yes by now.
        drop(self.pins());
        let standings = slot.standings();
        let found = standings.values().find(|(own, _)| own.name == tool);
        let found = found.or_else(|| standings.values().find(|(own, _)| own.shown() == tool));
        let Some((definition, standing)) = found else {
            let names = standings.values().map(|(own, _)| own.shown());
            let near = text::near_names(tool, names, 3);
            let hint = match near.as_slice() {
                [] => format!("`mcp_list_tools` with server \"{name}\" lists what it has"),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            let message = format!("the MCP server '{name}' has no tool '{}'", text::preview(tool, 80));
            return Err(ToolError::new(code::NO_SUCH_FOREIGN, message).hint(hint));
        };
        if let Some(held) = HeldBack::of(definition, standing) {
            if !line.approves(&held.question(name), &definition.name).await {
                return Err(held.error(name));
            }
            self.pin(&|pins| pins.pin(name, [definition]))?;
            // The server may have another one by now: the yes was for what stood in the question.
            let now = slot.standings().get(&definition.name).and_then(|(now, standing)| HeldBack::of(now, standing));
            if let Some(held) = now {
                return Err(held.error(name));
            }
        }
        Ok(definition.name.clone())
    }

    /// What is fixed about a tool. Interned: it is asked for as long as the process lives.
    fn spec(&self, full_name: &str, definition: &Definition) -> &'static Spec {
        let mut specs = self.specs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spec) = specs.get(full_name) {
            return spec;
        }
        let title = definition.title.clone().unwrap_or_else(|| definition.shown());
        let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        // Hints that nobody can check widen nothing: it may do anything.
        let spec = Spec::new(kept(full_name.to_owned()), kept(title), nika_contract::Group::Mcp);
        let spec: &'static Spec = Box::leak(Box::new(spec.destructive().open_world().open_arguments()));
        specs.insert(full_name.to_owned(), spec);
        spec
    }
}

impl Guests for Pool {
    fn version(&self) -> u64 {
        // What another process pinned makes the tools others, too.
        drop(self.pins());
        self.version.load(Ordering::Acquire)
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        let Some(me) = self.me.upgrade() else { return Vec::new() };
        let mut all: Vec<Arc<dyn AnyTool>> = Vec::new();
        for slot in self.slots.values() {
            let Ok(server) = &slot.entry.server else { continue };
            let offered = slot.known();
            let seen: Vec<Definition> = self.seen(|pins| pins.of(&server.name).cloned().collect());
            // Of what a server has no more, nothing is shown once that is known.
            let there = |tool: &Definition| offered.as_ref().is_none_or(|offered| offered.contains_key(&tool.name));
            for tool in seen.into_iter().filter(|tool| there(tool) && server.filter.shows(&tool.name)) {
                if let Some(full_name) = tool.full_name(&server.name) {
                    let spec = self.spec(&full_name, &tool);
                    all.push(Arc::new(ForeignTool::new(Arc::clone(&me), server.name.clone(), tool, spec)));
                }
            }
        }
        all
    }

    fn seek<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move {
            let Some((server, tool)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
                return Ok(());
            };
            self.connection(server, &Line::nobody()).await?;
            let new = |held: &&HeldBack| held.tool == tool && held.seen.is_none();
            match self.slot(server)?.held_back().iter().find(new) {
                Some(held) => Err(held.error(server)),
                None => Ok(()),
            }
        })
    }
}

/// What a comparison brought.
struct News {
    tools: usize,
    first: usize,
    held_back: usize,
}

/// A list that is asked for because the server said that it is another one. Whoever drops it before it is done leaves
/// the server to be asked again.
struct Asking<'a> {
    slot: &'a Slot,
    done: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.slot.mark_stale();
        }
    }
}

/// A server says that its list is another one. It is asked for it when it is next needed, and soon where its tools are
/// shown to somebody: by one task, however often the server says so.
fn changed(pool: &Weak<Pool>, name: &str) {
    let Some(pool) = pool.upgrade() else { return };
    let Ok(slot) = pool.slot(name) else { return };
    slot.mark_stale();
    if !slot.wants_asking() {
        return;
    }
    let name = name.to_owned();
    tokio::spawn(async move {
        let Ok(slot) = pool.slot(&name) else { return };
        loop {
            // A failure is met by the next call, and told there.
            let reached = pool.connection(&name, &Line::nobody()).await.is_ok();
            if reached && slot.is_stale() {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            slot.asked();
            // What the server said between the last look and this is asked for, too.
            if !(reached && slot.is_stale() && slot.wants_asking()) {
                return;
            }
        }
    });
}

/// Who a connection is used for: a call with its person and its journal, or nobody.
pub(crate) struct Line<'a> {
    cx: Option<&'a Cx<'a>>,
    cancel: Cancel,
}

impl<'a> Line<'a> {
    pub(crate) fn of(cx: &'a Cx<'a>) -> Line<'a> {
        Line { cx: Some(cx), cancel: cx.cancel.clone() }
    }

    fn nobody() -> Line<'a> {
        Line { cx: None, cancel: Cancel::default() }
    }

    fn caller(&self, tool: &str) -> Arc<Caller> {
        match self.cx {
            Some(cx) => Caller::new(Arc::clone(cx.beside.asker()), Arc::clone(cx.progress), cx.session.id(), tool),
            None => Caller::new(Arc::new(Nobody), Arc::new(Silent) as Arc<dyn Progress>, "", tool),
        }
    }

    /// Pays what the server of a call asks our model, for as long as it is polled.
    async fn pays(&self, caller: &Caller) -> Infallible {
        match self.cx {
            Some(cx) => caller.till.settle(cx.purse).await,
            None => std::future::pending().await,
        }
    }

    fn note(&self, event: &'static str, fields: Value) {
        if let (Some(cx), Value::Object(fields)) = (self.cx, fields) {
            cx.beside.note(event, fields);
        }
    }

    /// Whether a person says yes to this.
    async fn approves(&self, question: &str, tool: &str) -> bool {
        let Some(cx) = self.cx else { return false };
        let asker = cx.beside.asker();
        if !asker.is_there() {
            return false;
        }
        let question = nika_contract::Question {
            id: super::pin::shown(&text::preview(question, 200)),
            tool: tool.to_owned(),
            text: question.to_owned(),
            preview: None,
            choices: Vec::new(),
        };
        let asked = json!({"tool": tool, "reasons": [{"act": "a definition that no person has seen"}]});
        self.note(event::PERMISSION_REQUEST, asked);
        let yes = matches!(
            asker.ask(&question).await,
            nika_contract::Asked::Answered(nika_guard::Answer::Yes { .. })
                | nika_contract::Asked::Always(nika_guard::Answer::Yes { .. }, _)
        );
        self.note(event::PERMISSION_SETTLED, json!({"answer": if yes { "yes" } else { "no" }}));
        yes
    }
}

/// Between two lists of a server that says again and again that its list is another one.
const AGAIN: Duration = Duration::from_millis(250);
/// How long the end of all connections is waited for. Programs that take longer are killed with us.
const MOST_CLOSING: Duration = Duration::from_secs(5);
/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn error_fields(server: &str, error: &ToolError, took_ms: u64) -> Value {
    let message = text::preview(&error.message, 240);
    json!({"server": server, "code": error.code.to_string(), "message": message, "took_ms": took_ms})
}
