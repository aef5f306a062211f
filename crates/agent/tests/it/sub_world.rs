//! A workspace whose session may start agents: the real pipeline, the shipped types, a model that follows a script.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use nika_agent::provider::{Provider, Scripted};
use nika_agent::sub::types::Types;
use nika_agent::sub::{Crew, Enrolment, Fleet, Grounds, Models, Settings};
use nika_agent::{Agent, Bounds, Briefing, Conversation, Unwatched};
use nika_contract::{
    Asked, Asker, BoxFuture, Cancel, Clock, Cx, Erased, Group, Inquiry, News, Nobody, Output, Question, Replied, Scene,
    Silent, Spec, Tool, ToolError, code,
};
use nika_guard::{
    Answer, Budget, Budgets, Effect, Effects, Exec, ExecKind, Layer, LayeredRule, Limit, Mode, Place, Policy, Rule,
    RuleKind, Stance,
};
use nika_host::fs::{Fsync, Settings as Files, Workspace};
use nika_host::git::Git;
use nika_host::proc::HookRunner;
use nika_runtime::{Dialect, Hooks, Incoming, Limits, Listing, Outcome, Parts, Runtime, Session};
use nika_store::tasks::{NewTask, Task};
use nika_store::{Checkpoints, Db, Durability, State};
use nika_tools::work::{self, Runner};
use serde_json::{Map, Value};
use tempfile::TempDir;

pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Time as it is: a heartbeat is compared with it.
#[derive(Debug, Default)]
pub struct WallClock(AtomicU64);

impl Clock for WallClock {
    fn unix_ms(&self) -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        let now = u64::try_from(now.as_millis()).expect("not that late");
        // Never backwards, and no two calls at one time.
        self.0.fetch_max(now, Ordering::Relaxed).max(now)
    }
}

/// Models by name; the one without a name is configured.
#[derive(Default)]
pub struct Known(pub HashMap<Option<String>, Arc<dyn Provider>>);

impl Models for Known {
    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Provider>, ToolError> {
        self.0.get(&name.map(str::to_owned)).cloned().ok_or_else(|| {
            let message = format!("no model is called '{}'", name.unwrap_or("by anybody"));
            ToolError::new(code::NO_MODEL, message).hint("`docs/models.md` says how to choose one")
        })
    }
}

/// `bash` without its sandbox, which has tests of its own: the exit code is what counts here.
#[derive(Debug)]
struct Bash {
    root: PathBuf,
}

/// Runs a command.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct BashParams {
    /// The command.
    command: String,
}

impl Tool for Bash {
    type Params = BashParams;
    const SPEC: Spec = Spec::new("bash", "Run command", Group::Shell).eager();

    fn effects(&self, params: &BashParams, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let commands = vec![params.command.split_whitespace().map(str::to_owned).collect()];
        let exec = Effects::one(Effect::Exec(Exec::plain(commands, ExecKind::WritesInside, "")));
        // A script may write anywhere in the workspace, as a test runner does.
        Ok(match params.command.starts_with("sh ") {
            true => exec.and(Effect::Write(Place::inside(&self.root, "").tree())),
            false => exec,
        })
    }

    async fn run(&self, params: BashParams, _: &Cx<'_>) -> Result<Output, ToolError> {
        let out = Command::new("sh").args(["-c", &params.command]).current_dir(&self.root).output().expect("sh runs");
        let exit = out.status.code().expect("no signal");
        let mut output = Output::text(String::from_utf8_lossy(&out.stdout)).with_fact("exit_code", exit);
        output.failed = (exit != 0).then_some(code::COMMAND_FAILED);
        Ok(output)
    }
}

/// `structured_output`, as far as a caller that wants an object needs it.
#[derive(Debug)]
struct StructuredOutput;

/// Answers with an object.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
struct AnyObject(Map<String, Value>);

impl Tool for StructuredOutput {
    type Params = AnyObject;
    const SPEC: Spec = Spec::new("structured_output", "Answer with an object", Group::Talk).open_arguments();

    fn effects(&self, _: &AnyObject, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::session())
    }

    async fn run(&self, params: AnyObject, cx: &Cx<'_>) -> Result<Output, ToolError> {
        cx.session.slot::<nika_contract::Wanted>().answer(Value::Object(params.0));
        Ok(Output::text("Taken."))
    }
}

/// Somebody who answers everything alike, and remembers what was asked.
#[derive(Default)]
pub struct Person {
    pub asked: Mutex<Vec<String>>,
    pub no: bool,
    /// What they answer to inquiries, one after the other.
    pub replies: Mutex<Vec<Replied>>,
}

impl Asker for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        self.asked.lock().expect("unpoisoned").push(question.text.clone());
        let who = "the tester".to_owned();
        let answer = if self.no { Answer::No { who, why: None } } else { Answer::Yes { who } };
        Box::pin(async move { Asked::Answered(answer) })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        self.asked.lock().expect("unpoisoned").push(inquiry.text.clone());
        let mut replies = self.replies.lock().expect("unpoisoned");
        let reply = if replies.is_empty() { Replied::Nobody } else { replies.remove(0) };
        Box::pin(async move { reply })
    }
}

/// The fleet as the tools for tasks know it.
#[derive(Debug)]
struct Running(Arc<Fleet>);

impl Runner for Running {
    fn start<'a>(&'a self, task: NewTask, prompt: &'a str, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Task, ToolError>> {
        Box::pin(self.0.start_prompt(task, prompt, cx))
    }
}

/// Settings first, then [`Made`].
pub struct World {
    pub mode: Stance,
    pub rules: Vec<LayeredRule>,
    pub budgets: Budgets,
    pub models: Known,
    pub types: Types,
    pub at_once: usize,
    pub depth: usize,
    pub asker: Arc<dyn Asker>,
    /// Only the tools that start agents.
    pub bare: bool,
    /// `structured_output` is among the tools.
    pub objects: bool,
}

pub fn world(script: &str) -> World {
    let model = Scripted::parse("script.yaml", script).unwrap_or_else(|error| panic!("{error}"));
    let mut models = Known::default();
    models.0.insert(None, Arc::new(model));
    World {
        mode: Mode::AcceptAll.into(),
        rules: Vec::new(),
        budgets: Budgets::default(),
        models,
        types: Types::new([]),
        at_once: 8,
        depth: 2,
        asker: Arc::new(Nobody),
        bare: false,
        objects: true,
    }
}

impl World {
    pub fn mode(mut self, mode: Mode) -> World {
        self.mode = mode.into();
        self
    }

    pub fn rule(mut self, kind: RuleKind, text: &str) -> World {
        let rule = Rule::parse(text, None).expect("a rule");
        self.rules.push(LayeredRule { kind, rule, layer: Layer::User, at: "a test".into() });
        self
    }

    pub fn budget(mut self, budget: Budget, amount: u64) -> World {
        self.budgets.set(budget, Limit { amount, layer: Layer::User, at: "a test".into() });
        self
    }

    pub fn person(mut self, person: &Arc<Person>) -> World {
        self.asker = Arc::clone(person) as Arc<dyn Asker>;
        self
    }

    pub fn make(self) -> Made {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path().canonicalize().expect("there").join("proj");
        std::fs::create_dir_all(&root).expect("made");
        let state = State::open(&dir.path().join("state")).expect("a state directory");
        let db = Arc::new(Db::at(&state));
        let ground = Arc::new(Ground {
            state: state.clone(),
            stance: self.mode,
            rules: self.rules,
            budgets: self.budgets,
            clock: Arc::new(WallClock::default()),
            fleet: OnceLock::new(),
            bare: self.bare,
            objects: self.objects,
        });
        let fleet = Fleet::new(Settings {
            types: self.types,
            models: Arc::new(self.models),
            root: root.clone(),
            db: Some(Arc::clone(&db)),
            git: Some(Git::new(PATH, None)),
            grounds: Some(Arc::clone(&ground) as Arc<dyn Grounds>),
            at_once: self.at_once,
            depth: self.depth,
        });
        assert!(ground.fleet.set(Arc::clone(&fleet)).is_ok());
        let crew = ground.at(&root).expect("the workspace opens");
        fleet.settle(&crew);
        let session = Arc::new(crew.runtime.session("test", true));
        let enrolment = Enrolment { asker: Arc::clone(&self.asker), watch: Arc::new(Unwatched), model: None };
        fleet.enrol(&session, enrolment);
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Made { dir, root, state, db, runtime: crew.runtime, fleet, session, asker: self.asker, tokio }
    }
}

/// The pipeline over a directory, as the program builds it.
struct Ground {
    state: State,
    stance: Stance,
    rules: Vec<LayeredRule>,
    budgets: Budgets,
    clock: Arc<WallClock>,
    fleet: OnceLock<Arc<Fleet>>,
    bare: bool,
    objects: bool,
}

impl Grounds for Ground {
    fn at(&self, root: &Path) -> Result<Crew, ToolError> {
        let checkpoints = Arc::new(Checkpoints::open(&self.state).expect("a checkpoint log"));
        let files = Workspace::open(Files {
            roots: vec![root.to_path_buf()],
            readable: Vec::new(),
            home: None,
            git: None,
            state: self.state.dir().to_path_buf(),
            own: self.state.dir().to_path_buf(),
            fsync: Fsync::Off,
        });
        let files = Arc::new(files.expect("the root opens"));
        let fleet = self.fleet.get().expect("set before");
        let runner: Arc<dyn Runner> = Arc::new(Running(Arc::clone(fleet)));
        let work = work::Ground { db: Arc::new(Db::at(&self.state)), runner: Some(runner) };
        let needs = nika_tools::Needs {
            files,
            checkpoints: Arc::clone(&checkpoints),
            parsers: None,
            shell: None,
            work: Some(Arc::new(work)),
            talk: nika_tools::talk::Talk { herald: None, skills: None, objects: false },
        };
        let mut tools = if self.bare { Vec::new() } else { nika_tools::all(&needs) };
        tools.extend(nika_agent::tools::all(fleet));
        tools.push(Erased::boxed(Bash { root: root.to_path_buf() }));
        if self.objects {
            tools.push(Erased::boxed(StructuredOutput));
        }
        let clock: Arc<dyn Clock> = self.clock.clone();
        let runtime = Runtime::new(Parts {
            tools,
            foreign: None,
            policy: Policy::new(self.rules.clone(), true),
            rules: None,
            stance: self.stance,
            state: self.state.clone(),
            checkpoints,
            durability: Durability::Os,
            clock: Arc::clone(&clock),
            dialect: Dialect::Nika,
            prefixed: false,
            listing: Listing::All,
            defer_above: 8,
            limits: Limits::default(),
            hooks: Hooks {
                list: Vec::new(),
                runner: HookRunner { dir: root.to_path_buf(), env: Vec::new(), guard: None },
            },
            messages: Default::default(),
            budgets: self.budgets.clone(),
            home: None,
            header: Map::new(),
            watcher: None,
            news: None,
            recovered: None,
        });
        Ok(Crew {
            runtime: Arc::new(runtime),
            state: self.state.clone(),
            jobs: None,
            clock,
            bounds: Bounds::default(),
            briefing: Briefing { instructions: "A test.".into(), ..Briefing::default() },
            notes: None,
        })
    }
}

pub struct Made {
    pub dir: TempDir,
    pub root: PathBuf,
    pub state: State,
    pub db: Arc<Db>,
    pub runtime: Arc<Runtime>,
    pub fleet: Arc<Fleet>,
    pub session: Arc<Session>,
    pub asker: Arc<dyn Asker>,
    pub tokio: tokio::runtime::Runtime,
}

impl Made {
    pub fn incoming(&self, tool: &str, arguments: Value) -> Incoming {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object: {arguments}") };
        Incoming {
            name: tool.to_owned(),
            arguments,
            cancel: Cancel::default(),
            progress: Arc::new(Silent),
            asker: Arc::clone(&self.asker),
            deferral: false,
            origin: None,
        }
    }

    /// The agent of the session itself, in a process of its own: with a session that knows nothing but what is on disk.
    pub fn agent(&self, script: &str) -> Agent {
        let session = Arc::new(self.runtime.session("test", true));
        let enrolment = Enrolment { asker: Arc::clone(&self.asker), watch: Arc::new(Unwatched), model: None };
        self.fleet.enrol(&session, enrolment);
        let talk = Conversation::open(&self.state, "test").expect("the transcript opens");
        Agent {
            runtime: Arc::clone(&self.runtime),
            session,
            model: Arc::new(Scripted::parse("script.yaml", script).unwrap_or_else(|error| panic!("{error}"))),
            asker: Arc::clone(&self.asker),
            watch: Arc::new(Unwatched),
            clock: Arc::new(WallClock::default()),
            cancel: Cancel::default(),
            bounds: Bounds::default(),
            briefing: Briefing::default(),
            notes: None,
            news: Some(Arc::clone(&self.fleet) as Arc<dyn News>),
            talk,
        }
    }

    pub async fn dispatch(&self, tool: &str, arguments: Value) -> Outcome {
        self.runtime.dispatch(&self.session, self.incoming(tool, arguments)).await.expect("no fault of ours")
    }

    /// A call of the session; its answer.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Output {
        let outcome = self.tokio.block_on(self.dispatch(tool, arguments));
        outcome.result.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// A call that is refused; its error.
    #[track_caller]
    pub fn refused(&self, tool: &str, arguments: Value, code: u16) -> ToolError {
        let outcome = self.tokio.block_on(self.dispatch(tool, arguments));
        let error = outcome.result.expect_err("it is refused");
        assert_eq!(error.code.0, code, "{error}");
        error
    }

    pub fn file(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    /// The events of a session's journal of one name.
    pub fn events(&self, session: &str, event: &str) -> Vec<Value> {
        nika_store::journal::verify(&self.state, session).expect("the journal verifies");
        let lines = nika_store::journal::lines(&self.state, session).expect("a journal");
        lines.map(|line| line.expect("whole")).filter(|line| line["event"] == event).collect()
    }

    pub fn git(&self, words: &[&str]) -> String {
        let out = Command::new("git")
            .args(words)
            .current_dir(&self.root)
            .env_clear()
            .envs([("PATH", PATH), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .output()
            .expect("git runs");
        assert!(out.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// Makes the workspace a repository with everything in it committed.
    pub fn repository(&self) {
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Ada"],
            &["config", "user.email", "ada@example.org"],
            &["add", "."],
            &["commit", "--quiet", "--allow-empty", "-m", "begin"],
        ] {
            self.git(words);
        }
    }
}
