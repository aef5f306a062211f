//! Servers that are this program itself: `nika serve`, as the template `agent` and many a repository configure it. What
//! its tools take we know without starting anything, so that nobody has to trust a repository before they may check what
//! it holds. A run starts it like any other, and asks for trust before.

use std::collections::BTreeMap;
use std::ffi::OsString;

use nika_flow::check::ToolFacts;

use crate::args::{self, Command};
use crate::compose::{self, Ground, Shape};
use crate::config::Effective;
use crate::world::World;

/// What it is called on a command line; one that is written with its directory may be another build.
const NAME: &str = "nika";

/// What is known of such servers: of each, by the name of the server, its tools by their own.
#[derive(Debug, Default)]
pub(super) struct Ourselves(BTreeMap<String, BTreeMap<String, ToolFacts>>);

impl Ourselves {
    /// Those of a configuration. One whose command line this program would not take is left to be started, and to say so.
    pub fn of(world: &World, ground: &Ground, effective: &Effective) -> Ourselves {
        let mut known = BTreeMap::new();
        for server in &effective.servers {
            let Ok(written) = &server.written else { continue };
            let Some([program, words @ ..]) = written.bare_command() else { continue };
            if program != NAME || words.iter().any(|word| word.contains("${")) {
                continue;
            }
            let argv: Vec<OsString> = [program].into_iter().chain(words).map(OsString::from).collect();
            if let Some(mut tools) = served(world, ground, &argv) {
                tools.retain(|name, _| written.shows(name));
                known.insert(server.name.clone(), tools);
            }
        }
        Ourselves(known)
    }

    /// A tool, by its name in the pool.
    pub fn tool(&self, name: &str) -> Option<&ToolFacts> {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        self.0.get(server)?.get(tool)
    }

    /// Whether the server is one of them: then what it does not have, it has not.
    pub fn knows(&self, name: &str) -> bool {
        let server = name.strip_prefix("mcp__").map(|rest| rest.split_once("__").map_or(rest, |(server, _)| server));
        server.is_some_and(|server| self.0.contains_key(server))
    }

    /// The names of their tools in the pool.
    pub fn tools(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(server, tools)| tools.keys().map(move |tool| format!("mcp__{server}__{tool}")))
    }
}

/// The tools that this program would list with this command line over stdio, as a client is shown them.
fn served(world: &World, ground: &Ground, argv: &[OsString]) -> Option<BTreeMap<String, ToolFacts>> {
    let Command::Serve(serve) = args::parse(argv).ok()?.command else { return None };
    if serve.http.is_some() || !serve.place.roots.is_empty() {
        return None;
    }
    let effective = ground.configure(world, &serve.standing).ok()?;
    let (dialect, listing) = (serve.dialect, serve.list);
    let shape = Shape { dialect, listing, prefixed: true, objects: true, ..Shape::default() };
    let built = compose::build(world, ground, effective, shape).ok()?;
    // Of a server's tool only what it takes is known: what it answers is not held to be of its schema.
    let facts = |input| ToolFacts { input, output: None };
    Some(built.runtime.list(None).into_iter().map(|tool| (tool.name, facts(tool.input_schema))).collect())
}
