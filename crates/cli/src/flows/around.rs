//! What a check knows of the world around a workflow: our tools as they describe themselves, configured prices, files
//! below the root. It starts no command, and a server only when `nika check` wants to know what one says that was never
//! asked. `nika check` builds the pipeline when the first tool is asked about; a run is checked over the one it runs in.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_agent::provider::choose::{self, Configured, PROVIDERS, SCRIPTED, Said};
use nika_contract::text::near_names;
use nika_contract::{AnyTool, Scene, SessionState, ToolError, code};
use nika_flow::MAX_BYTES;
use nika_flow::check::{OF_ARGUMENTS, Prices, Surroundings, ToolFacts};
use nika_guard::Effects;
use nika_guard::bash::Site;
use nika_mcp::client::Pool;
use nika_runtime::{Dialect, Runtime};
use serde_json::{Map, Value};

use super::ourselves::Ourselves;
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::world::World;

/// Where workflows are checked.
#[derive(Debug)]
pub struct Around {
    world: World,
    roots: Vec<PathBuf>,
    models: crate::config::Models,
    /// Of what the pipeline is built, where there is none yet.
    unbuilt: Option<(Ground, Effective)>,
    strict: bool,
    reach: OnceCell<Option<Reach>>,
    /// Servers that are this program.
    ourselves: OnceCell<Ourselves>,
    /// Servers that were asked, and what came of it.
    asked: RefCell<BTreeMap<String, Result<(), ToolError>>>,
}

/// Tools that verbs stand on, and that no document may name: they are in the pipeline of runs alone.
const OF_VERBS: &[&str] = &["exec"];

/// What is asked of a pipeline.
#[derive(Debug)]
struct Reach {
    runtime: Arc<Runtime>,
    servers: Arc<Pool>,
}

impl Reach {
    fn of(built: &Built) -> Reach {
        Reach { runtime: Arc::clone(&built.runtime), servers: Arc::clone(&built.servers) }
    }
}

impl Around {
    /// As configuration has it here.
    pub fn new(world: World, ground: Ground, effective: Effective, strict: bool) -> Around {
        let (roots, models) = (ground.roots().to_vec(), effective.models.clone());
        let unbuilt = Some((ground, effective));
        Around {
            world,
            roots,
            models,
            unbuilt,
            strict,
            reach: OnceCell::new(),
            ourselves: OnceCell::new(),
            asked: RefCell::default(),
        }
    }

    /// Over a pipeline that is there.
    pub fn over(world: &World, built: &Built) -> Around {
        Around {
            world: world.clone(),
            roots: built.files.roots().map(Path::to_owned).collect(),
            models: built.effective.models.clone(),
            unbuilt: None,
            strict: false,
            reach: OnceCell::from(Some(Reach::of(built))),
            ourselves: OnceCell::from(Ourselves::default()),
            asked: RefCell::default(),
        }
    }

    /// Whether what goes to stdout may carry colours.
    pub fn colours(&self) -> bool {
        self.world.colours
    }

    /// Whether what goes to stderr may.
    pub fn colours_in_errors(&self) -> bool {
        self.world.colours_in_errors
    }

    /// The pipeline; `None` where it cannot be built, and then nothing is known of tools.
    fn reach(&self) -> Option<&Reach> {
        let build = || {
            let (ground, effective) = self.unbuilt.as_ref()?;
            let shape = Shape { dialect: Some(Dialect::Nika), objects: true, ..Shape::default() };
            Some(Reach::of(&compose::build(&self.world, ground, effective.clone(), shape).ok()?))
        };
        self.reach.get_or_init(build).as_ref()
    }

    /// What is known of servers that are this program. A run asks them like any other.
    fn ourselves(&self) -> &Ourselves {
        let look = |(ground, effective): &(Ground, Effective)| Ourselves::of(&self.world, ground, effective);
        self.ourselves.get_or_init(|| self.unbuilt.as_ref().map(look).unwrap_or_default())
    }

    /// What came of asking the server of this tool for its tools, once a check. A run asks it when it calls it.
    fn ask_server_of(&self, tool: &str) -> Option<Result<(), ToolError>> {
        self.unbuilt.as_ref()?;
        let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
        let servers = &self.reach()?.servers;
        let ask = || {
            servers.server(server)?;
            let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let threads = threads.map_err(|error| {
                ToolError::new(code::SERVER_UNREACHABLE, format!("the MCP server '{server}' cannot be asked: {error}"))
            })?;
            threads.block_on(async {
                let asked = servers.refresh(server).await;
                servers.close().await;
                asked
            })
        };
        Some(self.asked.borrow_mut().entry(server.to_owned()).or_insert_with(ask).clone())
    }

    /// The first root.
    pub fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// What `~/` means.
    pub fn home(&self) -> Option<String> {
        self.world.home_text()
    }

    fn found(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let tool = self.reach()?.runtime.find(name).ok()?;
        (!OF_VERBS.contains(&tool.spec().name)).then_some(tool)
    }
}

impl Surroundings for Around {
    fn site(&self) -> Site {
        Site::on_paper(
            self.roots.clone(),
            self.roots[0].clone(),
            self.world.home.clone().unwrap_or_else(|| PathBuf::from("/nonexistent")),
        )
    }

    fn tool(&self, name: &str) -> Option<ToolFacts> {
        if name.starts_with("mcp__") && self.ourselves().knows(name) {
            return self.ourselves().tool(name).cloned();
        }
        let tool = self.found(name).or_else(|| {
            self.strict.then(|| self.ask_server_of(name))??.ok()?;
            self.found(name)
        })?;
        Some(ToolFacts { input: tool.input_schema().clone(), output: tool.output_schema().cloned() })
    }

    fn tools(&self) -> Vec<String> {
        let surface = self.reach().map(|reach| reach.runtime.surface()).unwrap_or_default();
        let named = surface.into_iter().map(|tool| tool.canonical).filter(|name| !OF_VERBS.contains(name));
        named.map(str::to_owned).chain(self.ourselves().tools()).collect()
    }

    fn effects(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Effects> {
        let tool = self.found(tool)?;
        let call = tool.parse(Value::Object(arguments.clone())).ok()?;
        call.effects(&Scene { session: &SessionState::new("check", false) }).ok()
    }

    fn refusal(&self, tool: &str, arguments: &Map<String, Value>) -> Option<ToolError> {
        let tool = self.found(tool)?;
        let error = match tool.parse(Value::Object(arguments.clone())) {
            Err(error) => error,
            Ok(call) => {
                let session = SessionState::new("check", false);
                let scene = Scene { session: &session };
                let said = call.effects(&scene).err().or_else(|| call.inquires(&scene).err());
                said.or_else(|| call.flaw())?
            }
        };
        // What it says of the world may be another when the call is made; what it says of its arguments stays.
        OF_ARGUMENTS.contains(&error.code).then_some(error)
    }

    fn provider(&self, name: &str) -> Option<String> {
        // A run knows what its command line says, which stands over the document's word.
        self.unbuilt.as_ref()?;
        let configured = &self.models.configured;
        if may_choose(configured, name) {
            return None;
        }
        let known = || PROVIDERS.iter().map(|row| row.name).chain([SCRIPTED]);
        if known().any(|known| known == name) || configured.providers.contains_key(name) {
            return Some(format!(
                "the provider `{name}` is one that only a person can choose; take it out, and run with `--provider {name}`"
            ));
        }
        let all: Vec<String> =
            known().chain(configured.providers.keys().map(String::as_str)).map(str::to_owned).collect();
        let hint = match near_names(name, all.clone(), 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is {}", all.join(", ")),
        };
        Some(format!("there is no provider `{name}`; {hint}"))
    }

    fn prices(&self, provider: Option<&str>, model: Option<&str>) -> Option<Prices> {
        let is_set = |name: &str| self.world.variable(name).is_some();
        let prices = choose::prices(Said { provider, model }, &self.models.configured, &is_set)?;
        Some(Prices { input: prices.input.max(prices.cache_write), output: prices.output })
    }

    fn file(&self, path: &str) -> Option<String> {
        let path = self.roots[0].join(path).canonicalize().ok()?;
        let inside = self.roots.iter().any(|root| path.starts_with(root));
        if !inside || !path.is_file() {
            return None;
        }
        let mut text = String::new();
        std::fs::File::open(path).ok()?.take(MAX_BYTES as u64).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn unfit(&self, schema: &Value) -> Vec<String> {
        nika_contract::fit::check(schema).iter().map(ToString::to_string).collect()
    }

    fn missing(&self, tool: &str) -> Option<String> {
        if self.ourselves().knows(tool) {
            return None;
        }
        let why = self.ask_server_of(tool)?.err()?;
        Some(format!("{} {}", why.code, why.message))
    }

    fn strict(&self) -> bool {
        self.strict
    }
}

/// Whether a file of the repository may choose this provider: among those that are known, and it opens no file and no
/// address.
pub(super) fn may_choose(configured: &Configured, provider: &str) -> bool {
    PROVIDERS.iter().any(|row| row.name == provider && row.address.is_some())
        || configured.provider.as_deref() == Some(provider)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::fit::{check, validate};

    /// Documents of the page, and of the schema's own making.
    const PAGE: &str = include_str!("../../../../docs/workflows.md");

    #[test]
    fn the_published_schema_takes_what_the_page_shows_and_refuses_slips() {
        let schema = nika_flow::schema::schema();
        assert_eq!(check(&schema), []);
        let (_, rest) = PAGE.split_once("```yaml\n").expect("the page shows a document");
        let (document, _) = rest.split_once("```").expect("its block ends");
        let value = |text: &str| serde_saphyr::from_str::<Value>(text).expect("it is YAML");
        assert_eq!(validate(&schema, &value(document)), []);
        let secret = "schema: nika/workflow@1\nsecrets: TOKEN\ntasks: [{id: a, infer: x}]\n";
        assert_eq!(validate(&schema, &value(secret)), []);
        let task = |task: &str| value(&format!("schema: nika/workflow@1\ntasks:\n  - {task}\n"));
        for fine in [
            "{id: a, exec: {shell: 'ls | wc'}}",
            "{id: a, for_each: {items: [1], as: x}, infer: hi, on_error: {value: null}, retry: {attempts: 2, backoff: 1s}}",
            "{id: a, use: {x: 'b ?? 1', y: {path: b.c, default: []}}, agent: {prompt: x, tools: [read]}, output: {format: json}}",
            "{id: a, invoke: {mcp: s, resource: 'x://y'}, timeout: 1h30m, depends_on: [b], when: true}",
            "{id: a, infer: x, for_each: [1], concurrency: 64}",
            "{id: a, fetch: {url: 'https://a.org', method: POST, body: {x: 1}, headers: {n: 1}, read: answer}}",
        ] {
            assert_eq!(validate(&schema, &task(fine)), [], "{fine}");
        }
        for slip in [
            "{id: a}",
            "{id: 1a, infer: x}",
            "{id: a, infer: x, exec: [ls]}",
            "{id: a, exec: ls}",
            "{id: a, infer: x, timeout: 5}",
            "{id: a, infer: x, on_error: stop}",
            "{id: a, exec: {command: [ls], shell: ls}}",
            "{id: a, invoke: {params: {}}}",
            "{id: a, infer: x, retries: 3}",
            "{id: a, infer: x, for_each: [1], concurrency: 65}",
            "{id: a, fetch: {url: 'https://a.org', method: HEAD}}",
        ] {
            assert!(!validate(&schema, &task(slip)).is_empty(), "{slip}");
        }
    }
}
