//! Putting the crates together: the only place that knows all of them.
//!
//! [`Ground`] is where the work happens (roots and the workspace's durable state), [`Ground::configure`] what
//! configuration says there, [`build`] the pipeline over both.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nika_agent::sub::Fleet;
use nika_contract::{AnyTool, Clock, Guests, Herald, News, Spoken, ToolError, code};
use nika_guard::profile::environment;
use nika_guard::{Effect, Layer, LayeredRule, Place, Rule, RuleKind, classify};
use nika_host::fs::{Settings, Workspace, sha256};
use nika_host::git::Git;
use nika_host::proc::{HookRunner, Isolated, Jobs};
use nika_mcp::Tell;
use nika_mcp::client::{Authorizers, Pool};
use nika_runtime::{Dialect, Hooks, Limits, Listing, Parts, Rules, Runtime};
use nika_store::{Checkpoints, Db, Durability, PinFile, State};
use nika_tools::Needs;
use nika_tools::shell::ground::{EndedJobs, Ground as Shell, told};
use nika_tools::talk::Talk;
use nika_tools::talk::skill::Skills;
use nika_tools::work;
use serde_json::{Map, Value};

use crate::args::{Standing, Where};
use crate::config::{self, CommandLine, Effective, Sources, Stamps};
use crate::crew;
use crate::failure::Failure;
use crate::flows::Shelf as Shelved;
use crate::mcp;
use crate::mcp_logins;
use crate::out;
use crate::recovered;
use crate::skills::{self, Shelf};
use crate::talk::Said;
use crate::time::SystemClock;
use crate::trust;
use crate::watch::Watch;
use crate::world::World;

/// The administrator's configuration.
const MANAGED: &str = "/etc/nika/config.yaml";

/// Where the work happens.
#[derive(Debug, Clone)]
pub struct Ground {
    /// Canonical; the first is where relative paths begin.
    pub roots: Vec<PathBuf>,
    /// The state of all workspaces.
    base: PathBuf,
    /// The root whose state it is: the first, but for a worktree the one it belongs to.
    of: Option<PathBuf>,
}

impl Ground {
    /// The named roots, or the current directory.
    pub fn find(world: &World, place: &Where) -> Result<Ground, Failure> {
        let wanted = if place.roots.is_empty() { vec![world.cwd()?] } else { place.roots.clone() };
        let roots = wanted.iter().map(|path| canonical(path)).collect::<Result<_, _>>()?;
        let ground = Ground { roots, base: world.state_base()?, of: None };
        if place.roots.is_empty() {
            ground.say_what_is_passed_over();
        }
        Ok(ground)
    }

    /// Whoever begins in a directory of a repository may think that the repository's configuration holds there.
    fn say_what_is_passed_over(&self) {
        let names = [".nika/config.yaml", ".nika/config.local.yaml"];
        let in_it = |dir: PathBuf| Some((names.into_iter().find(|name| dir.join(name).is_file())?, dir));
        if let Some((name, dir)) = trust::above(self.root()).ok().and_then(|above| above.into_iter().find_map(in_it)) {
            let (dir, root) = (dir.display(), self.root().display());
            out::complain(&format!("note: {dir}/{name} is not in force in {root}; with `--root {dir}` it is"));
        }
    }

    /// Roots that need not exist, for judging without running anything.
    pub fn on_paper(world: &World, place: &Where) -> Result<Ground, Failure> {
        let absolute = |path: &PathBuf| Ok::<_, Failure>(world.cwd()?.join(path));
        let roots = place.roots.iter().map(absolute).collect::<Result<_, _>>()?;
        Ok(Ground { roots, base: world.state_base()?, of: None })
    }

    /// A worktree of the workspace at `of`, whose journal, undo and tasks are that one's.
    pub fn worktree(root: &Path, base: PathBuf, of: PathBuf) -> Ground {
        Ground { roots: vec![root.to_owned()], base, of: Some(of) }
    }

    /// All that commands in the sandbox may write of: the roots, and of a worktree the workspace that it belongs to.
    fn written(&self) -> Vec<PathBuf> {
        self.roots.iter().chain(&self.of).cloned().collect()
    }

    /// The first root.
    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// All roots.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Where the state of all workspaces lies.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The workspace's durable state; made when missing.
    pub fn state(&self) -> Result<State, Failure> {
        Ok(State::open(&self.base.join(workspace_id(self.of.as_deref().unwrap_or(self.root()))))?)
    }

    /// Where records of trust lie.
    pub fn trust_store(&self) -> PathBuf {
        self.base.join("trust.jsonl")
    }

    /// What configuration says here.
    pub fn configure(&self, world: &World, standing: &Standing) -> Result<Effective, Failure> {
        loaded(world, &self.sources(world, standing, own_file(world)))
    }

    /// What it would say to calls with `user`, configuration or a manifest, in place of the person's own file. No hook of
    /// it runs.
    pub fn configure_with(&self, world: &World, standing: &Standing, user: PathBuf) -> Result<Effective, Failure> {
        if !user.is_file() {
            return Err(Failure::usage(format!("{} is no configuration file", user.display())));
        }
        loaded(world, &Sources { runs_hooks: false, ..self.sources(world, standing, Some(user)) })
    }

    /// What tells without reading whether [`Ground::configure`] would say the same.
    pub fn stamps(&self, world: &World, standing: &Standing) -> Stamps {
        config::stamps(&self.sources(world, standing, own_file(world)))
    }

    /// What it says, also where rules contradict their own examples.
    pub fn configure_untried(&self, world: &World, standing: &Standing) -> Result<Effective, Failure> {
        loaded(world, &Sources { keeps_misfits: true, ..self.sources(world, standing, own_file(world)) })
    }

    fn sources(&self, world: &World, standing: &Standing, user: Option<PathBuf>) -> Sources {
        let said = standing.clone();
        Sources {
            managed: MANAGED.into(),
            user,
            project_dir: self.root().to_owned(),
            command_line: CommandLine {
                mode: said.mode,
                allow_write: said.allow_write,
                allow_shell: said.allow_shell,
                unsafe_: said.unsafe_,
                yolo: said.yolo,
                set: said.set,
                allow: said.allow,
                ask: said.ask,
                deny: said.deny,
            },
            home: world.home_text(),
            trust_store: self.trust_store(),
            keeps_misfits: false,
            runs_hooks: true,
        }
    }
}

/// The person's own configuration.
fn own_file(world: &World) -> Option<PathBuf> {
    world.config_dir.as_ref().map(|dir| dir.join("config.yaml"))
}

fn loaded(world: &World, sources: &Sources) -> Result<Effective, Failure> {
    let mut effective = config::load(sources)?;
    effective.policy = effective.policy.with(own_rules(world));
    Ok(effective)
}

/// What differs between the ways to use the pipeline.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// The vocabulary asked for; configuration's where none was.
    pub dialect: Option<Dialect>,
    /// The tools to list; configuration's where nothing was asked for.
    pub listing: Option<Listing>,
    /// Whether canonical names are prefixed in lists.
    pub prefixed: bool,
    /// Where a message to the person goes.
    pub voice: Voice,
    /// Whether a caller may want an object for an answer.
    pub objects: bool,
    /// The agents that work here; new ones where none is given.
    pub fleet: Option<Arc<Fleet>>,
    /// Other people's MCP servers, where they are connected to already.
    pub servers: Option<Arc<Pool>>,
    /// Whether workflows are run: the tools that their verbs stand on are there, too.
    pub flows: bool,
    /// Whether many calls are expected: then the next command's sandbox is made while a model thinks.
    pub lasting: bool,
    /// What says which rules are in force later.
    pub rules: Option<Arc<Watch>>,
}

impl Shape {
    /// For agents: nobody is spoken to, and one may be asked for an object.
    pub fn agents() -> Shape {
        Shape { voice: Voice::Nowhere, objects: true, ..Shape::default() }
    }
}

/// Where a message to the person goes.
#[derive(Clone, Default)]
pub enum Voice {
    /// On stderr, where what this program prints is read by a person.
    #[default]
    Here,
    /// To the client that listens.
    Client,
    /// To nobody: it cannot be said.
    Nowhere,
    /// To somebody who has a way of their own.
    Through(Arc<dyn Herald>),
}

impl std::fmt::Debug for Voice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Voice").finish_non_exhaustive()
    }
}

/// The pipeline, and what its callers need beside it.
pub struct Built {
    /// The pipeline.
    pub runtime: Arc<Runtime>,
    /// The workspace's durable state.
    pub state: State,
    /// What can be taken back.
    pub checkpoints: Arc<Checkpoints>,
    /// The roots.
    pub files: Arc<Workspace>,
    /// The directory that the program was started in, where there is one: memory files are looked up on the way to it.
    pub cwd: Option<PathBuf>,
    /// What configuration said.
    pub effective: Effective,
    /// The clock everybody uses.
    pub clock: Arc<dyn Clock>,
    /// Rings when a background job ends.
    pub bell: Arc<Bell>,
    /// What a session is told without asking.
    pub news: Arc<dyn News>,
    /// Notes and tasks; opened when they are asked for.
    pub db: Arc<Db>,
    /// What commands have left running.
    pub jobs: Arc<Jobs>,
    /// The agents that work for sessions.
    pub fleet: Arc<Fleet>,
    /// The skills.
    pub skills: Arc<dyn Skills>,
    /// Other people's MCP servers.
    pub servers: Arc<Pool>,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Built").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}

/// Who is told at once that a background job ended: nobody, until a client listens.
#[derive(Default)]
pub struct Bell(Mutex<Option<Tell>>);

impl Bell {
    /// From now on, this one.
    pub fn answer(&self, tell: Tell) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
    }

    /// Whether somebody was told.
    fn ring(&self, text: &str) -> bool {
        let tell = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tell.is_some_and(|tell| tell(text))
    }
}

impl Herald for Bell {
    fn say(&self, _: &str, spoken: &Spoken) -> bool {
        self.ring(&Said(spoken).to_string())
    }
}

impl std::fmt::Debug for Bell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bell").finish_non_exhaustive()
    }
}

/// Questions about what configures us where no table of names knows it: a configuration directory that the
/// environment moved.
fn own_rules(world: &World) -> Vec<LayeredRule> {
    let Some(dir) = world.config_dir.as_ref().filter(|dir| classify(&dir.join("config.yaml")).guarded.is_none()) else {
        return Vec::new();
    };
    let place = Place::outside(dir.canonicalize().unwrap_or_else(|_| dir.clone()));
    let text = Effect::Write(place).rule();
    let rule = text.and_then(|text| Rule::parse(&text, None).ok());
    let layered =
        |rule| LayeredRule { kind: RuleKind::Ask, rule, layer: Layer::BuiltIn, at: "it configures Nika".to_owned() };
    rule.map(layered).into_iter().collect()
}

/// Opens the roots.
pub fn open_files(world: &World, ground: &Ground, effective: &Effective) -> Result<Workspace, Failure> {
    let state = ground.state()?;
    Ok(Workspace::open(Settings {
        roots: ground.roots.clone(),
        readable: std::iter::once(state.spill_dir()).chain(apart(skills::own(world), ground)).collect(),
        home: world.home.clone(),
        git: Some(world.git()),
        state: state.dir().to_owned(),
        own: ground.base.clone(),
        fsync: effective.fsync,
    })?)
}

/// Those of the person's own directories that may be read without a question. One that a root holds, or lies below,
/// is the root's: what is only readable could not be written there any more.
fn apart(dirs: Vec<PathBuf>, ground: &Ground) -> impl Iterator<Item = PathBuf> {
    let canonical = dirs.into_iter().filter_map(|dir| std::fs::canonicalize(dir).ok());
    canonical.filter(|dir| ground.roots.iter().all(|root| !dir.starts_with(root) && !root.starts_with(dir)))
}

/// What commands see of the environment: what is known to be harmless, and what a manifest names besides.
pub fn command_env(world: &World, effective: &Effective) -> Vec<(String, String)> {
    let mut env = environment(world.variables());
    for (name, value) in world.variables() {
        if effective.safe_env.contains(&name) && !env.iter().any(|(known, _)| *known == name) {
            env.push((name, value));
        }
    }
    env
}

/// Builds the pipeline. Opens the roots and the undo log; reads nothing else yet.
pub fn build(world: &World, ground: &Ground, effective: Effective, shape: Shape) -> Result<Built, Failure> {
    let state = ground.state()?;
    let files = Arc::new(open_files(world, ground, &effective)?);
    let limits = nika_store::checkpoints::Limits {
        max_bytes: effective.undo_max_bytes,
        max_age_ms: u64::from(effective.undo_max_days) * 24 * 60 * 60 * 1000,
    };
    let checkpoints = Arc::new(Checkpoints::bounded(&state, limits)?);
    let bell = Arc::new(Bell::default());
    let (ringer, roots) = (Arc::clone(&bell), Arc::clone(&files));
    let jobs = Jobs::new(world.exe(), Some(Box::new(move |notice| _ = ringer.ring(&told(&roots, notice)))));
    let jobs = Arc::new(jobs);
    if shape.lasting {
        jobs.expect_more();
    }
    let shell = Shell::new(
        Arc::clone(&files),
        Arc::clone(&jobs),
        command_env(world, &effective),
        state.spill_dir(),
        effective.landlock_only,
        effective.shell_undo,
    );
    let shell = Arc::new(shell.rehearsing(effective.shell_preview));
    let skills: Arc<dyn Skills> =
        Arc::new(Shelf::new(ground.root(), ground.trust_store(), &effective.trusted, skills::own(world)));
    let herald: Option<Arc<dyn Herald>> = match &shape.voice {
        Voice::Here => Some(Arc::new(crate::talk::OnStderr)),
        Voice::Client => Some(Arc::<Bell>::clone(&bell)),
        Voice::Nowhere => None,
        Voice::Through(herald) => Some(Arc::clone(herald)),
    };
    let of_flows = if shape.flows { nika_tools::of_flows(&shell) } else { Vec::new() };
    let db = Arc::new(Db::at(&state));
    let logins = mcp_logins::logins(world, &ground.base);
    let servers = shape.servers.clone().unwrap_or_else(|| {
        let (jobs, files, pins) = (Arc::clone(&jobs), Arc::clone(&files), PinFile::at(&state));
        let authorizers = Arc::clone(&logins) as Arc<dyn Authorizers>;
        mcp::pool(
            world,
            &effective,
            mcp::Ground { jobs, files, env: command_env(world, &effective), pins, authorizers },
        )
    });
    let fleet = shape.fleet.clone().unwrap_or_else(|| fleet(world, ground, &effective, &db, &servers));
    let ended = Arc::new(EndedJobs { jobs: Arc::clone(&jobs), files: Arc::clone(&files) });
    let news: Arc<dyn News> = Arc::new(crew::Both(ended, Arc::<Fleet>::clone(&fleet)));
    let mut tools = nika_tools::all(&Needs {
        files: Arc::clone(&files),
        checkpoints: Arc::clone(&checkpoints),
        parsers: Some(parsers(world)),
        shell: Some(shell),
        work: Some(Arc::new(work::Ground {
            db: Arc::clone(&db),
            runner: Some(Arc::new(crew::Tasks(Arc::clone(&fleet)))),
        })),
        talk: Talk { herald, skills: Some(Arc::clone(&skills)), objects: shape.objects },
    });
    tools.extend(nika_agent::tools::all(&fleet));
    tools.extend(nika_tools::web::all(&Arc::new(crate::web::ground(world, &effective, parsers(world)))));
    tools.extend(nika_mcp::client::tools(&servers));
    tools.extend(of_flows);
    tools.push(nika_mcp::client::auth::tool(&servers, &logins));
    let shelf: Arc<dyn nika_flow::tools::Shelf> = Arc::new(Shelved {
        world: world.clone(),
        ground: ground.clone(),
        effective: effective.clone(),
        files: Arc::clone(&files),
        fleet: Arc::clone(&fleet),
        servers: Arc::clone(&servers),
    });
    tools.extend(nika_flow::tools::all(&shelf));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let listing = listing(&shape, &effective, &tools)?;
    let runtime = Runtime::new(Parts {
        tools,
        foreign: (!servers.is_empty()).then(|| Arc::clone(&servers) as Arc<dyn Guests>),
        policy: effective.policy.clone(),
        rules: shape.rules.clone().map(|rules| rules as Arc<dyn Rules>),
        stance: effective.stance,
        state: state.clone(),
        checkpoints: Arc::clone(&checkpoints),
        durability: if effective.journal_each_call { Durability::EachCall } else { Durability::Os },
        clock: Arc::clone(&clock),
        dialect: dialect(&shape, &effective)?,
        prefixed: shape.prefixed,
        listing,
        defer_above: effective.defer_above,
        limits: Limits { max_output_chars: effective.max_output_chars.clone() },
        hooks: Hooks {
            list: effective.hooks.clone(),
            runner: HookRunner {
                dir: ground.root().to_owned(),
                env: world.hook_env(&ground.written()),
                guard: Some(world.exe()),
            },
        },
        messages: effective.messages.clone(),
        budgets: effective.budgets.clone(),
        home: world.home_text(),
        header: header(ground),
        watcher: None,
        news: Some(Arc::clone(&news)),
        recovered: Some(recovered::settled(Arc::clone(&files), Arc::clone(&checkpoints))),
    });
    recovered::tell(&runtime, &files, &checkpoints);
    Ok(Built {
        runtime: Arc::new(runtime),
        state,
        checkpoints,
        files,
        cwd: world.cwd().ok(),
        effective,
        clock,
        bell,
        news,
        db,
        jobs,
        fleet,
        skills,
        servers,
    })
}

/// How hostile formats are parsed: by this program, started again.
fn parsers(world: &World) -> Isolated {
    Isolated::new(world.exe(), vec!["__parse".to_owned()])
}

/// The agents that may be started here. Nothing is asked of a model, and nothing of git, before one is.
fn fleet(world: &World, ground: &Ground, effective: &Effective, db: &Arc<Db>, servers: &Arc<Pool>) -> Arc<Fleet> {
    let over = crew::Over::new(world.clone(), effective.clone(), ground.base.clone(), ground.root());
    let over = Arc::new(over.with_servers(servers));
    let fleet = Fleet::new(nika_agent::sub::Settings {
        types: crew::types(world, ground.root(), &effective.trusted),
        models: Arc::new(crew::Known { world: world.clone(), effective: effective.clone() }),
        root: ground.root().to_owned(),
        db: Some(Arc::clone(db)),
        git: Some(Git::new(world.programs(&ground.written()), world.home.clone())),
        grounds: Some(Arc::<crew::Over>::clone(&over)),
        at_once: effective.models.max_agents as usize,
        depth: effective.models.max_depth as usize,
    });
    over.joins(&fleet);
    fleet
}

impl Built {
    /// Brings the undo store back within its bounds, where this program or others before it went beyond. To be called when
    /// all is answered.
    pub fn tidy(&self) {
        self.checkpoints.settle(self.clock.unix_ms());
    }
}

fn dialect(shape: &Shape, effective: &Effective) -> Result<Dialect, Failure> {
    let configured = || effective.dialect.as_deref().map_or(Ok(Dialect::default()), str::parse);
    shape.dialect.map_or_else(configured, Ok).map_err(|why| ToolError::new(code::CONFIG_MALFORMED, why).into())
}

fn listing(shape: &Shape, effective: &Effective, tools: &[Box<dyn AnyTool>]) -> Result<Listing, Failure> {
    let malformed = |why: String| Failure::from(ToolError::new(code::CONFIG_MALFORMED, why));
    let configured = || effective.list.as_deref().map_or(Ok(Listing::default()), str::parse);
    let chosen = shape.listing.clone().map_or_else(configured, Ok).map_err(malformed)?;
    let dialect = dialect(shape, effective)?;
    let known = tools.iter().map(|tool| tool.spec().name);
    let Some((name, near)) = chosen.unknown(dialect, known.clone()) else {
        return Ok(chosen.canonical(dialect, known));
    };
    let near = if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) };
    let why = format!("no tool is called `{name}`{near} (`nika tools` lists all)");
    Err(match shape.listing {
        Some(_) => Failure::usage(format!("--list: {why}")),
        None => {
            let said = effective.shown.iter().rfind(|shown| shown.key == "tools.list");
            let at = said.map(|said| format!("{}: ", said.at)).unwrap_or_default();
            malformed(format!("{at}`tools.list`: {why}"))
        }
    })
}

/// The fields of every journal's first line.
fn header(ground: &Ground) -> Map<String, Value> {
    let mut header = Map::new();
    header.insert("nika".into(), env!("CARGO_PKG_VERSION").into());
    header.insert("workspace".into(), ground.root().to_string_lossy().into_owned().into());
    header
}

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    let refused = |why: &dyn std::fmt::Display| {
        ToolError::new(code::BAD_ROOT, format!("cannot open root {}: {why}", path.display()))
            .hint("--root takes a directory that exists")
    };
    let found = std::fs::canonicalize(path).map_err(|error| refused(&error))?;
    if !found.is_dir() {
        return Err(refused(&"it is no directory").into());
    }
    Ok(found)
}

/// The name of a workspace's state directory: the root's own name for people, and a hash of its canonical path
/// so that two of one name stay apart.
fn workspace_id(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let name = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().take(60).map(plain).collect();
    let hash: String = sha256(root.as_os_str().as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{name}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_of_one_name_stay_apart() {
        let [one, other] = ["/a/app", "/b/app"].map(|path| workspace_id(Path::new(path)));
        assert!(one.starts_with("app-") && other.starts_with("app-") && one != other);
        assert_eq!(one.len(), "app-".len() + 12);
        assert!(workspace_id(Path::new("/")).starts_with("root-"));
        assert!(workspace_id(Path::new("/ü b")).starts_with("__b-"));
    }
}
