//! Other people's MCP servers, put together: which there are, how their programs are held, where what was seen of them
//! is kept.

mod sampler;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_contract::{BoxFuture, ToolError, code};
use nika_guard::profile::{Access, Profile};
use nika_host::fs::Workspace;
use nika_host::proc::{Jobs, Peer, PeerPipes, StartError};
use nika_host::sandbox::{PRIVATE_TMP, scan, secrets_at_home};
use nika_mcp::client::{
    Authorizers, Entry, Http, Keep, Launch, Launched, Pool, Process, Program, Server, Ways, root_uri,
};
use nika_store::PinFile;
use tokio::net::unix::pipe::{Receiver, Sender};

use crate::config::{Effective, McpServer};
use crate::mcp_logins::proxies;
use crate::world::World;

/// Says where a Nika keeps its state. Ours is masked in the sandbox, so a server that is a Nika itself keeps its own in
/// the sandbox's private directory, and it goes when the server ends. What it does is not lost with it: each of its
/// calls is a call of ours, and in our journal. Not written into a template's `.mcp.json`, which other clients read,
/// too: they would start it outside, where the temporary directory is everybody's.
const STATE_VARIABLE: &str = "NIKA_STATE_DIR";

/// What servers are started with.
#[derive(Debug)]
pub struct Ground {
    /// Starts and holds programs.
    pub jobs: Arc<Jobs>,
    /// The roots.
    pub files: Arc<Workspace>,
    /// The environment of commands.
    pub env: Vec<(String, String)>,
    /// What was seen of servers.
    pub pins: PinFile,
    /// Says to servers who asks.
    pub authorizers: Arc<dyn Authorizers>,
}

/// The servers of a configuration. Nothing is started, reached or read for it.
pub fn pool(world: &World, effective: &Effective, ground: Ground) -> Arc<Pool> {
    let variable = |name: &str| world.variable(name);
    let trusted = effective.trusted.holds();
    let entries = effective.servers.iter().map(|server| entry(server, trusted, &variable)).collect();
    let ways = Ways {
        roots: Arc::new(ground.files.roots().map(root_uri).collect()),
        authorizers: ground.authorizers,
        http: Arc::new(Http::new(proxies(world))),
        sampler: Some(Arc::new(sampler::Asks::new(world.clone(), effective.models.configured.clone()))),
        launch: Arc::new(Starter { jobs: ground.jobs, files: ground.files, env: ground.env }),
    };
    Pool::new(entries, ways, Arc::new(Kept(ground.pins)))
}

/// One server, or why it may not be used.
fn entry(server: &McpServer, trusted: bool, variable: &dyn Fn(&str) -> Option<String>) -> Entry {
    let settled = server
        .written
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|written| written.settle(server.layer, &server.at, trusted, variable).map(Arc::new));
    let written = server.written.as_ref().ok();
    Entry {
        name: server.name.clone(),
        at: server.at.clone(),
        layer: server.layer.to_string(),
        transport: written.map_or("unknown", |written| written.transport),
        place: written.map(nika_mcp::client::Written::place).unwrap_or_default(),
        server: settled,
    }
}

/// Starts servers in the sandbox.
#[derive(Debug, Clone)]
struct Starter {
    jobs: Arc<Jobs>,
    files: Arc<Workspace>,
    env: Vec<(String, String)>,
}

impl Starter {
    /// What the system must enforce on a server: it reads the workspace and writes it where it may, reaches the hosts
    /// that are named for it, and sees no secrets.
    fn profile(&self, program: &Program) -> Profile {
        let access = if program.write { Access::Workspace } else { Access::ReadOnly };
        let home = self.files.home().map_or_else(|| PathBuf::from("/nonexistent"), Path::to_owned);
        let mut profile = Profile::new(access, self.files.root(), &home);
        profile.roots = self.files.roots().map(Path::to_owned).collect();
        if let Some(cwd) = &program.cwd {
            profile.cwd = self.files.root().join(cwd);
        }
        for root in self.files.roots() {
            scan(root, self.files.person()).put_into(&mut profile);
        }
        profile.secrets.extend(secrets_at_home(&home));
        profile.masked.push(self.files.own_state().to_owned());
        profile.hosts.clone_from(&program.net);
        let below = (STATE_VARIABLE.to_owned(), format!("{PRIVATE_TMP}/nika-state"));
        let own = |name: &str| program.env.iter().any(|(own, _)| own == name);
        let given = self.env.iter().chain([&below]).filter(|(name, _)| !own(name));
        profile.env = given.chain(&program.env).cloned().collect();
        profile
    }
}

impl Launch for Starter {
    fn launch<'a>(&'a self, server: &'a Server, program: &'a Program) -> BoxFuture<'a, Result<Launched, ToolError>> {
        Box::pin(async move {
            let (starter, wanted) = (self.clone(), program.clone());
            // The profile, too: it looks at the whole tree.
            let started =
                tokio::task::spawn_blocking(move || starter.jobs.start_peer(&wanted.command, starter.profile(&wanted)));
            let started = started.await.map_err(|error| StartError::Io(error.into())).and_then(|started| started);
            let failed = |why: String| {
                let message = format!("the MCP server '{}' cannot be started: {why}", server.name);
                ToolError::new(code::SERVER_UNREACHABLE, message)
                    .hint(format!("its command line stands at {}", program.command.at()))
            };
            let (peer, PeerPipes { stdin, stdout, stderr }) = started.map_err(|error| failed(error.to_string()))?;
            let pipe = |error: std::io::Error| failed(format!("its pipes cannot be used: {error}"));
            Ok(Launched {
                stdin: Box::new(Sender::from_owned_fd(stdin).map_err(pipe)?),
                stdout: Box::new(Receiver::from_owned_fd(stdout).map_err(pipe)?),
                stderr: Box::new(Receiver::from_owned_fd(stderr).map_err(pipe)?),
                process: Box::new(Held(peer)),
            })
        })
    }
}

/// A server's program, which ends with this.
#[derive(Debug)]
struct Held(Peer);

impl Process for Held {
    fn remarks(&self) -> Vec<String> {
        let mut said: Vec<String> = self.0.ended().into_iter().collect();
        let hosts = self.0.refused_hosts();
        if !hosts.is_empty() {
            said.push(format!("it asked for hosts that `net` does not name: {}", hosts.join(", ")));
        }
        said
    }
}

/// Where what was seen is kept.
#[derive(Debug)]
struct Kept(PinFile);

impl Keep for Kept {
    fn stamp(&self) -> Option<u64> {
        self.0.stamp()
    }

    fn load(&self) -> Result<Option<String>, ToolError> {
        self.0.load().map_err(ToolError::from)
    }

    fn change(&self, make: &mut dyn FnMut(Option<&str>) -> String) -> Result<(), ToolError> {
        self.0.change(make).map_err(ToolError::from)
    }
}
