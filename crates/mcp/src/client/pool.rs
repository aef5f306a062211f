//! All servers of a process: who they are, how each stands, one connection each, made when it is first needed.
//!
//! A server that cannot be had, or dies, is left alone for 1, 2, 4 … 60 seconds; who calls meanwhile is told why, at
//! once. A connection is ready when its tools were listed and compared with what a person has seen.

mod listing;
mod slot;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use nika_contract::{AnyTool, BoxFuture, Cancel, Cx, Guests, Output, Silent, Spec, ToolError, code, event, text};
use nika_contract::{Nobody, Progress};
use serde_json::{Map, Value, json};

pub use listing::{HeldBack, State, Status};

use super::answer;
use super::ask::Caller;
use super::connect::{Ways, connect};
use super::connection::Connection;
use super::foreign::ForeignTool;
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

/// All servers.
pub struct Pool {
    me: Weak<Pool>,
    slots: BTreeMap<String, Slot>,
    ways: Ways,
    keep: Arc<dyn Keep>,
    /// Read when they are first needed.
    pins: Mutex<Option<Result<Pins, String>>>,
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

    fn pins(&self) -> MutexGuard<'_, Option<Result<Pins, String>>> {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        if pins.is_none() {
            let kept = self.keep.load().map_err(|error| error.message);
            *pins = Some(kept.and_then(|text| Pins::parse(text.as_deref())));
        }
        pins
    }

    /// What was seen of servers; nothing where that cannot be read.
    pub(crate) fn seen<T>(&self, look: impl FnOnce(&Pins) -> T) -> T {
        match &*self.pins() {
            Some(Ok(pins)) => look(pins),
            _ => look(&Pins::default()),
        }
    }

    /// Changes what was seen, here and where it is kept.
    fn pin(&self, change: &dyn Fn(&mut Pins)) -> Result<(), ToolError> {
        let unreadable = |why: &str| {
            let message = format!("what was pinned of MCP servers cannot be read: {why}");
            ToolError::new(code::STATE_UNUSABLE, message)
                .hint("move mcp-pins.json out of the workspace's state directory, to begin anew")
        };
        if let Some(Err(why)) = &*self.pins() {
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
        *self.pins() = Some(changed);
        self.version.fetch_add(1, Ordering::AcqRel);
        result
    }

    /// The connection of a server, made if there is none.
    pub(crate) async fn connection(&self, name: &str, on: &Line<'_>) -> Result<Arc<Connection>, ToolError> {
        let server = self.server(name)?;
        let slot = self.slot(name)?;
        let mut state = tokio::select! {
            state = slot.state.lock() => state,
            () = cancelled(&on.cancel) => return Err(ToolError::cancelled()),
        };
        if let Some(connection) = state.living(Instant::now()) {
            if !slot.is_stale() {
                return Ok(connection);
            }
            let definitions = self.list(&connection, on).await?;
            self.compare(slot, definitions)?;
            return Ok(connection);
        }
        if let Some(error) = state.refused(Instant::now()) {
            return Err(error);
        }
        let began = Instant::now();
        let making = async {
            let stale = (Weak::clone(&self.me), name.to_owned());
            let connection = connect(server, &self.ways, Arc::new(move || changed(&stale.0, &stale.1))).await?;
            let definitions = self.list(&connection, on).await?;
            Ok((Arc::new(connection), self.compare(slot, definitions)?))
        };
        let made = tokio::select! {
            made = making => made,
            () = cancelled(&on.cancel) => return Err(ToolError::cancelled()),
        };
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
                state.connected(Arc::clone(&connection), about);
                Ok(connection)
            }
            Err(error) => {
                on.note(event::MCP_ERROR, error_fields(name, &error, took_ms));
                // A server that wants a login is well: once somebody has made it, nothing is to be waited for.
                if !super::auth::is_login(error.code) {
                    state.failed(error.clone(), Instant::now());
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
        let standings: Standings = self.seen(|pins| {
            offered.iter().map(|tool| (tool.name.clone(), (tool.clone(), pins.standing(name, tool)))).collect()
        });
        let held_back = standings.values().filter(|(_, standing)| *standing != Standing::Pinned).count();
        let news = News { tools: standings.len(), first: if first { standings.len() } else { 0 }, held_back };
        slot.offers(standings);
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

    /// A person has looked at what a server offers and says yes to all of it; what was new to them.
    pub async fn approve(&self, name: &str) -> Result<Vec<HeldBack>, ToolError> {
        self.refresh(name).await?;
        let slot = self.slot(name)?;
        let held_back = slot.held_back();
        let offered: Vec<Definition> = slot.standings().into_values().map(|(tool, _)| tool).collect();
        self.pin(&|pins| {
            pins.forget(name, |tool| offered.iter().any(|own| own.name == tool));
            pins.pin(name, &offered);
        })?;
        self.compare(slot, offered)?;
        Ok(held_back)
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

    /// Ends every connection, and waits until their programs are gone.
    pub async fn close(&self) {
        for slot in self.slots.values() {
            let connection = slot.state.lock().await.take();
            if let Some(connection) = connection {
                connection.close().await;
            }
        }
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
        let result = self.asked(name, asked, &line, connection.call(&own, arguments, &caller, cx.cancel)).await?;
        let output = answer::result(name, &serde_json::to_value(&result).unwrap_or_default());
        Ok(output.with_fact("server", name).with_fact("untrusted", true))
    }

    /// The resources of a server.
    pub(crate) async fn resources(&self, name: &str, cx: &Cx<'_>) -> Result<Vec<Value>, ToolError> {
        let line = Line::of(cx);
        let connection = self.connection(name, &line).await?;
        let asked = json!({"server": name, "method": "resources/list", "what": ""});
        let caller = line.caller("resources/list");
        let found = self.asked(name, asked, &line, connection.resources(&caller, cx.cancel)).await?;
        Ok(found.iter().filter_map(|resource| serde_json::to_value(resource).ok()).collect())
    }

    /// A resource of a server.
    pub(crate) async fn read(&self, name: &str, uri: &str, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let line = Line::of(cx);
        let connection = self.connection(name, &line).await?;
        let asked = json!({"server": name, "method": "resources/read", "what": uri});
        let caller = line.caller("resources/read");
        let found = self.asked(name, asked, &line, connection.read(uri, &caller, cx.cancel)).await?;
        let output = answer::resource(name, &serde_json::to_value(&found).unwrap_or_default());
        Ok(output.with_fact("server", name).with_fact("untrusted", true))
    }

    /// One question to a server, with its lines in the journal.
    async fn asked<T>(
        &self,
        name: &str,
        asked: Value,
        line: &Line<'_>,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        line.note(event::MCP_INVOKE, asked);
        let began = Instant::now();
        match work.await {
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
        if *standing != Standing::Pinned {
            if !line.approves(&held_back_text(name, definition, standing), &definition.name).await {
                return Err(held_back_error(name, definition, standing));
            }
            self.pin(&|pins| pins.pin(name, [definition]))?;
            let offered = standings.values().map(|(own, _)| own.clone()).collect();
            self.compare(slot, offered)?;
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
            let held_back = self.slot(server)?.standings();
            match held_back.values().find(|(own, standing)| own.shown() == tool && *standing == Standing::New) {
                Some((definition, standing)) => Err(held_back_error(server, definition, standing)),
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

/// A server says that its list is another one. It is asked for it when it is next needed, and at once where its tools
/// are shown to somebody.
fn changed(pool: &Weak<Pool>, name: &str) {
    let Some(pool) = pool.upgrade() else { return };
    if let Ok(slot) = pool.slot(name) {
        slot.mark_stale();
    }
    let name = name.to_owned();
    tokio::spawn(async move {
        // A failure is met by the next call, and told there.
        let _ = pool.connection(&name, &Line::nobody()).await;
    });
}

fn held_back_text(server: &str, definition: &Definition, standing: &Standing) -> String {
    let tool = definition.shown();
    let shown = match standing {
        Standing::Changed(said) => format!("has changed its tool '{tool}' since you saw it: {said}"),
        _ => format!("has a new tool '{tool}': {}", text::preview(&definition.description, 400)),
    };
    format!("the MCP server '{server}' {shown}\nUse it as it is now?")
}

fn held_back_error(server: &str, definition: &Definition, standing: &Standing) -> ToolError {
    let tool = definition.shown();
    let what = match standing {
        Standing::Changed(said) => format!("has changed since a person saw it: {said}"),
        _ => "is new, and no person has seen it".to_owned(),
    };
    ToolError::new(code::DEFINITION_CHANGED, format!("the tool '{tool}' of the MCP server '{server}' {what}"))
        .hint(format!("a person can look at it and say `nika mcp approve {server}`"))
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
