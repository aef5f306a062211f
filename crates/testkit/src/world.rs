//! A workspace, a session and the real pipeline over them, in a few words.
//!
//! ```
//! use nika_testkit::world;
//! use serde_json::json;
//!
//! let world = world().file("a.txt", "one\n");
//! world.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"})).refused(203);
//! world.call("read", json!({"file_path": "a.txt"})).ok();
//! world.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"})).says("+two");
//! assert_eq!(world.text("a.txt"), "two\n");
//! ```

use std::cell::{OnceCell, RefCell};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use nika_contract::{
    AnyTool, Asked, Asker, BoxFuture, Cancel, Clock, Herald, Inquiry, Nobody, Output, Question, Replied, Silent,
    Spoken, ToolError, Wanted,
};
use nika_guard::manifest::{Message, Messages, Moment};
use nika_guard::{
    Answer, Budget, Budgets, Configured, Hook, HookPoint, Layer, LayeredRule, Limit, Mode, OnFailure, Policy, Rule,
    RuleKind, Stance,
};
use nika_host::fs::{Fsync, Settings, Workspace};
use nika_host::proc::HookRunner;
use nika_runtime::{Dialect, Hooks, Incoming, Limits, Listing, Outcome, Parts, Runtime, Session};
use nika_store::{Checkpoints, Db, Durability, State};
use nika_tools::talk::Talk;
use nika_tools::talk::skill::{Card, FILE, Skills};
use nika_tools::work;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A new world: an empty workspace in `accept-edits` mode, everything listed, nobody to ask.
pub fn world() -> World {
    let dir = || tempfile::tempdir().expect("a temporary directory");
    let (files, state) = (dir(), dir());
    let world = world_in(files.path(), state.path());
    World { _kept: vec![files, state], ..world }
}

/// A world over directories that outlive it: what another process left there is there.
pub fn world_in(files: &Path, state: &Path) -> World {
    World {
        files: files.to_path_buf(),
        state: state.to_path_buf(),
        _kept: Vec::new(),
        fixtures: RefCell::default(),
        stance: Stance::from(Mode::AcceptEdits),
        rules: Vec::new(),
        listing: Listing::All,
        dialect: Dialect::Nika,
        limits: Limits::default(),
        fsync: Fsync::Off,
        hooks: Vec::new(),
        messages: Messages::default(),
        budgets: Budgets::default(),
        asker: Arc::new(Nobody),
        runner: None,
        heard: Arc::default(),
        wanted: None,
        made: OnceCell::new(),
    }
}

/// See the module's page. Settings first, then calls.
pub struct World {
    files: PathBuf,
    state: PathBuf,
    /// Removed with the world.
    _kept: Vec<TempDir>,
    fixtures: RefCell<Vec<Box<dyn AnyTool>>>,
    stance: Stance,
    rules: Vec<LayeredRule>,
    listing: Listing,
    dialect: Dialect,
    limits: Limits,
    fsync: Fsync,
    hooks: Vec<Hook>,
    messages: Messages,
    budgets: Budgets,
    asker: Arc<dyn Asker>,
    runner: Option<Arc<dyn work::Runner>>,
    heard: Arc<Ear>,
    wanted: Option<Value>,
    made: OnceCell<Made>,
}

struct Made {
    runtime: Arc<Runtime>,
    session: Session,
    state: State,
    tokio: tokio::runtime::Runtime,
}

/// A clock that moves a millisecond each time it is looked at.
#[derive(Debug, Default)]
pub struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn unix_ms(&self) -> u64 {
        1_764_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl World {
    /// A file with this text.
    pub fn file(self, path: &str, text: &str) -> World {
        self.bytes(path, text.as_bytes())
    }

    /// A file with these bytes.
    pub fn bytes(self, path: &str, bytes: &[u8]) -> World {
        self.put(path, bytes);
        self
    }

    /// Puts bytes behind everybody's back, also between calls.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("directories can be made");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    /// A tool beside those that ship.
    pub fn tool(self, tool: Box<dyn AnyTool>) -> World {
        self.fixtures.borrow_mut().push(tool);
        self
    }

    /// Another mode.
    pub fn mode(mut self, mode: Mode) -> World {
        self.stance = Stance::from(mode);
        self
    }

    /// A rule of the person.
    pub fn rule(mut self, kind: RuleKind, text: &str) -> World {
        let rule = Rule::parse(text, None).expect("the rule parses");
        self.rules.push(LayeredRule { kind, rule, layer: Layer::User, at: "test:1".into() });
        self
    }

    /// Another first list.
    pub fn listing(mut self, listing: Listing) -> World {
        self.listing = listing;
        self
    }

    /// Another vocabulary.
    pub fn dialect(mut self, dialect: Dialect) -> World {
        self.dialect = dialect;
        self
    }

    /// Another budget for every answer.
    pub fn max_output_chars(mut self, chars: usize) -> World {
        self.limits.max_output_chars.push(("*".into(), chars));
        self
    }

    /// A hook of the person: this shell script, heard `point` calls of `tool` (`*` is every one).
    pub fn hook(self, point: HookPoint, tool: &str, script: &str) -> World {
        self.hook_with(point, tool, &["/bin/sh", "-c", script], 20_000, OnFailure::Deny)
    }

    /// A hook in all its parts.
    pub fn hook_with(
        mut self,
        point: HookPoint,
        tool: &str,
        argv: &[&str],
        timeout_ms: u32,
        on_failure: OnFailure,
    ) -> World {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        let at = format!("hooks:{}", self.hooks.len() + 1);
        let command = Configured::new(argv, Layer::User, at, true).expect("a person's hook has words");
        let tool = Some(tool.to_owned()).filter(|tool| tool != "*");
        self.hooks.push(Hook { point, tool, command, timeout_ms, on_failure });
        self
    }

    /// A manifest's text for the model.
    pub fn message(mut self, moment: Moment, tool: &str, text: &str) -> World {
        let tool = Some(tool.to_owned()).filter(|tool| tool != "*");
        self.messages.0.push(Message { moment, tool, text: text.to_owned(), at: "policy.json:1".into() });
        self
    }

    /// A budget of every session.
    pub fn budget(mut self, budget: Budget, amount: u64) -> World {
        self.budgets.set(budget, Limit { amount, layer: Layer::User, at: "policy.json:1".into() });
        self
    }

    /// Somebody who answers every question so.
    pub fn person(mut self, asked: Asked) -> World {
        self.asker = Arc::new(Person(asked, Replied::Nobody));
        self
    }

    /// Somebody who says yes to every call, and this to every question that a tool asks.
    pub fn replies(mut self, replied: Replied) -> World {
        self.asker = Arc::new(Person(yes(), replied));
        self
    }

    /// A caller of the world's own session who wants an object of this schema for an answer.
    pub fn wants(mut self, schema: Value) -> World {
        self.wanted = Some(schema);
        self
    }

    /// What the person was told, so far.
    pub fn heard(&self) -> Vec<Spoken> {
        self.heard.0.lock().expect("not poisoned").clone()
    }

    /// Somebody who does `meanwhile` while the question is open, then says yes.
    pub fn slow_person(mut self, meanwhile: impl Fn() + Send + Sync + 'static) -> World {
        self.asker = Arc::new(SlowPerson(Box::new(meanwhile)));
        self
    }

    /// Somebody who runs agents for tasks.
    pub fn runner(mut self, runner: Arc<dyn work::Runner>) -> World {
        self.runner = Some(runner);
        self
    }

    /// Calls a tool in the world's own session.
    pub fn call(&self, tool: &str, arguments: Value) -> Called {
        let made = self.made();
        self.call_in(&made.session, tool, arguments)
    }

    /// Calls a tool in another session.
    pub fn call_in(&self, session: &Session, tool: &str, arguments: Value) -> Called {
        let made = self.made();
        let Value::Object(arguments) = arguments else { panic!("arguments are an object: {arguments}") };
        let incoming = Incoming {
            name: tool.to_owned(),
            arguments,
            cancel: Cancel::default(),
            progress: Arc::new(Silent),
            asker: Arc::clone(&self.asker),
            deferral: self.listing != Listing::All,
            origin: None,
        };
        let outcome = made.tokio.block_on(made.runtime.dispatch(session, incoming)).expect("no fault of ours");
        // A schema of results is a promise: clients refuse an answer without the data, and workflows read it. And data
        // without a schema is data that nobody was told of; what other servers send is theirs to promise.
        let theirs = outcome.tool.starts_with("mcp__") || outcome.tool == "mcp_call_tool";
        if let (false, Ok(output), Ok(tool)) = (theirs, &outcome.result, made.runtime.find(&outcome.tool)) {
            let (promised, sent) = (tool.output_schema().is_some(), output.structured.is_some());
            assert_eq!(promised, sent, "{}: schema, data: {}", outcome.tool, output.joined_text());
        }
        Called { outcome }
    }

    /// Another session over the same workspace.
    pub fn session(&self, id: &str) -> Session {
        self.made().runtime.session(id, true)
    }

    /// A path of the workspace.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// The workspace.
    pub fn root(&self) -> &Path {
        &self.files
    }

    /// What a file holds now.
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.on_disk(path)).expect("the file is UTF-8")
    }

    /// The bytes a file holds now.
    pub fn on_disk(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Every path below the root, sorted, directories with a slash: nothing stray is left.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.root().to_path_buf()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
                let path = entry.path();
                let below = path.strip_prefix(self.root()).expect("below the root").to_string_lossy().into_owned();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    found.push(format!("{below}/"));
                    open.push(path);
                } else {
                    found.push(below);
                }
            }
        }
        found.sort();
        found
    }

    /// The journal of the world's own session.
    pub fn journal(&self) -> Vec<Value> {
        self.journal_of("test")
    }

    /// The journal of a session; it has to verify.
    pub fn journal_of(&self, session: &str) -> Vec<Value> {
        let state = &self.made().state;
        nika_store::journal::verify(state, session).expect("the journal verifies");
        let lines = nika_store::journal::lines(state, session).expect("the journal can be read");
        lines.map(|line| line.expect("a whole line")).collect()
    }

    /// Where Nika's state lies.
    pub fn state_dir(&self) -> PathBuf {
        self.made().state.dir().to_path_buf()
    }

    /// The pipeline.
    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.made().runtime
    }

    /// Nika's state.
    pub fn state(&self) -> &State {
        &self.made().state
    }

    /// Waits for what runs over this world.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.made().tokio.block_on(work)
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| self.make())
    }

    fn make(&self) -> Made {
        let state = State::open(&self.state).expect("a state directory");
        let checkpoints = Arc::new(Checkpoints::open(&state).expect("a checkpoint log"));
        let files = Workspace::open(Settings {
            roots: vec![self.root().to_path_buf()],
            readable: vec![state.spill_dir()],
            home: None,
            git: None,
            state: state.dir().to_path_buf(),
            own: state.dir().to_path_buf(),
            fsync: self.fsync,
        });
        let files = Arc::new(files.expect("the root opens"));
        let work = Some(Arc::new(work::Ground { db: Arc::new(Db::at(&state)), runner: self.runner.clone() }));
        let herald: Arc<dyn Herald> = Arc::<Ear>::clone(&self.heard);
        let skills = Arc::new(Folders(self.root().join(".nika/skills")));
        let talk = Talk { herald: Some(herald), skills: Some(skills), objects: true };
        let checkpoints_too = Arc::clone(&checkpoints);
        let needs = nika_tools::Needs { files, checkpoints: checkpoints_too, parsers: None, shell: None, talk, work };
        let mut tools = nika_tools::all(&needs);
        tools.append(&mut self.fixtures.borrow_mut());
        let runtime = Runtime::new(Parts {
            tools,
            foreign: None,
            policy: Policy::new(self.rules.clone(), true),
            rules: None,
            stance: self.stance,
            state: state.clone(),
            checkpoints,
            durability: Durability::Os,
            clock: Arc::new(TickingClock::default()),
            dialect: self.dialect,
            prefixed: true,
            listing: self.listing.clone(),
            defer_above: 8,
            limits: self.limits.clone(),
            hooks: Hooks {
                list: self.hooks.clone(),
                runner: HookRunner {
                    dir: self.root().to_path_buf(),
                    env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
                    guard: None,
                },
            },
            messages: self.messages.clone(),
            budgets: self.budgets.clone(),
            home: None,
            header: Map::new(),
            watcher: None,
            news: None,
            recovered: None,
        });
        let session = runtime.session("test", true);
        if let Some(schema) = &self.wanted {
            session.state.slot::<Wanted>().ask(schema.clone());
        }
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Made { runtime: Arc::new(runtime), session, state, tokio }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("root", &self.root()).finish_non_exhaustive()
    }
}

/// Somebody with one answer to permissions, and one to questions.
struct Person(Asked, Replied);

impl Asker for Person {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { self.0.clone() })
    }

    fn inquire<'a>(&'a self, _: &'a Inquiry) -> BoxFuture<'a, Replied> {
        Box::pin(async { self.1.clone() })
    }
}

/// Somebody who remembers what they were told.
#[derive(Default)]
struct Ear(Mutex<Vec<Spoken>>);

impl Herald for Ear {
    fn say(&self, _: &str, spoken: &Spoken) -> bool {
        self.0.lock().expect("not poisoned").push(spoken.clone());
        true
    }
}

/// Every directory with a `SKILL.md` in this one, described by its name and trusted.
struct Folders(PathBuf);

impl Skills for Folders {
    fn all(&self) -> Vec<Card> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let card = |entry: std::fs::DirEntry| Card {
            name: entry.file_name().to_string_lossy().into_owned(),
            description: "A skill of a test.".into(),
            file: entry.path().join(FILE),
            withheld: None,
        };
        let mut cards: Vec<Card> = entries.map(card).collect();
        cards.sort_by(|one, other| one.name.cmp(&other.name));
        cards
    }

    fn vouch(&self, _: &Card, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// Somebody who takes their time.
struct SlowPerson(Box<dyn Fn() + Send + Sync>);

impl Asker for SlowPerson {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        (self.0)();
        Box::pin(async { yes() })
    }
}

/// A person's yes.
pub fn yes() -> Asked {
    Asked::Answered(Answer::Yes { who: "the tester".into() })
}

/// A person's no, with a reason.
pub fn no(why: &str) -> Asked {
    Asked::Answered(Answer::No { who: "the tester".into(), why: Some(why.into()) })
}

/// What a call brought.
#[derive(Debug)]
pub struct Called {
    /// All of it.
    pub outcome: Outcome,
}

impl Called {
    /// It was done; its answer.
    #[track_caller]
    pub fn ok(&self) -> &Output {
        self.outcome.result.as_ref().unwrap_or_else(|error| panic!("{} failed: {error}", self.outcome.tool))
    }

    /// It was done; its text.
    #[track_caller]
    pub fn text(&self) -> String {
        self.ok().joined_text()
    }

    /// It was done and its text holds this.
    #[track_caller]
    pub fn says(&self, piece: &str) -> &Called {
        let text = self.text();
        assert!(text.contains(piece), "expected {piece:?} in:\n{text}");
        self
    }

    /// It ended with this code; its error.
    #[track_caller]
    pub fn refused(&self, code: u16) -> &ToolError {
        match &self.outcome.result {
            Ok(output) => panic!("expected NIKA-{code}, but it was done:\n{}", output.joined_text()),
            Err(error) => {
                assert_eq!(error.code.0, code, "{error}");
                error
            }
        }
    }

    /// Its data.
    #[track_caller]
    pub fn data(&self) -> &Value {
        self.ok().structured.as_ref().expect("the answer has data")
    }
}
