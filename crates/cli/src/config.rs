//! What configuration says: layered YAML files and the command line, made into one [`Effective`]
//! whose every value knows its file and line.
//!
//! ```text
//! files ──read──▶ text ──yaml──▶ positioned tree ──keys──▶ changes ──settle(trust)──▶ Effective
//! ```
//!
//! Policy manifests (`.nika/policy.json` and its like) are layers too, each just below the file it lies beside.
//!
//! Plain values: command line > local > project > user > managed > default. Rules of all layers hold
//! together, and deny > ask > allow is the guard's to say. What a repository brings (project and local)
//! only tightens until [`crate::trust`] holds; what is kept out of force for that is listed, with why.
//!
//! Nothing here reads the environment, the current directory or the home: [`Sources`] is handed in.
//! A missing file is nothing; a file that is there and cannot be used is an error, never ignored.

mod change;
mod error;
mod file;
mod flags;
mod hooks;
mod keys;
mod managed;
mod manifests;
mod mcp;
mod models;
mod rules;
mod schema;
mod settle;
mod tool_names;
mod values;
mod web;
mod yaml;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use nika_guard::manifest::Messages;
use nika_guard::{Budgets, Hook, Layer, LayeredRule, Mode, Policy, Stance};
use nika_host::fs::Fsync;
use serde_json::{Value, json};

pub use error::ConfigError;
pub use manifests::MANIFESTS;
pub use mcp::McpServer;
pub use models::Models;
pub use schema::schema;
pub use web::Web;

pub use crate::trust::Stamps;
use crate::trust::{self, Trust};

/// The repository's own file, below the project directory.
pub const PROJECT_FILE: &str = ".nika/config.yaml";

/// The person's own file inside the repository, below the project directory.
pub const LOCAL_FILE: &str = ".nika/config.local.yaml";

/// Where configuration may lie. Made by the program, the only place that reads environment and home.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The administrator's file: `/etc/nika/config.yaml`.
    pub managed: PathBuf,
    /// The person's file: `~/.config/nika/config.yaml`, or where XDG says.
    pub user: Option<PathBuf>,
    /// The workspace root; [`PROJECT_FILE`] and [`LOCAL_FILE`] lie below it, if it exists.
    pub project_dir: PathBuf,
    /// What was said when the program was called.
    pub command_line: CommandLine,
    /// What `~/` means in rules and in shown paths.
    pub home: Option<String>,
    /// The file of trust records, in the user's state directory. Made, with its parents 0700, by the
    /// first grant.
    pub trust_store: PathBuf,
    /// Whether a rule may contradict its own examples: for whoever lists what they do.
    pub keeps_misfits: bool,
    /// Whether hooks run of what is read: then none may be a file that calls could write.
    pub runs_hooks: bool,
}

/// What the command line says about configuration.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// `--mode`.
    pub mode: Option<Mode>,
    /// `--allow-write`: accept-edits.
    pub allow_write: bool,
    /// `--allow-shell`: workspace, with writes asked unless `--allow-write` is there too.
    pub allow_shell: bool,
    /// `--unsafe`: accept-all, destructive and privileged commands included.
    pub unsafe_: bool,
    /// `--yolo`: accept-all.
    pub yolo: bool,
    /// `--set KEY=VALUE`, the key dotted, the value YAML.
    pub set: Vec<String>,
    /// `--allow RULE`.
    pub allow: Vec<String>,
    /// `--ask RULE`.
    pub ask: Vec<String>,
    /// `--deny RULE`.
    pub deny: Vec<String>,
}

/// The configuration in force.
#[derive(Debug, Clone)]
pub struct Effective {
    /// How the session stands.
    pub stance: Stance,
    /// Every rule in force.
    pub policy: Policy,
    /// Rules that are written down and not in force, as nobody trusts who brought them.
    pub idle_rules: Vec<LayeredRule>,
    /// How far a write of a workspace file goes.
    pub fsync: Fsync,
    /// Whether the journal is synced to the disk with every line.
    pub journal_each_call: bool,
    /// Characters of text in an answer, by tool; `*` for the tools not named. Only what was configured:
    /// a tool that nothing here names keeps its own limit.
    pub max_output_chars: Vec<(String, usize)>,
    /// The names that tools are listed under: nika, claude, claw or claw-agent; `None` is Nika's own.
    pub dialect: Option<String>,
    /// Which tools are in the first list: `eager`, `all` or names joined by commas.
    pub list: Option<String>,
    /// Up to so many tools, none is deferred.
    pub defer_above: usize,
    /// How many bytes of pre-images are kept for undo.
    pub undo_max_bytes: u64,
    /// For how many days they are kept.
    pub undo_max_days: u32,
    /// Whether what commands change can be taken back.
    pub shell_undo: bool,
    /// Whether commands are tried before a person is asked about them.
    pub shell_preview: bool,
    /// Whether Landlock and seccomp alone may hold commands.
    pub landlock_only: bool,
    /// Commands that have a say in calls.
    pub hooks: Vec<Hook>,
    /// Texts that manifests put before the model, the nearest manifest's first.
    pub messages: Messages,
    /// What a session may spend.
    pub budgets: Budgets,
    /// Variables of the environment that commands may see beside the built-in ones.
    pub safe_env: Vec<String>,
    /// Which model works as the agent, and how far it may go.
    pub models: Models,
    /// Hosts, addresses and search providers of the web.
    pub web: Web,
    /// Other people's MCP servers, those that may not be used among them.
    pub servers: Vec<McpServer>,
    /// Whether what the repository brings may loosen.
    pub trusted: Trust,
    /// Every effective value and rule, with where it was written.
    pub shown: Vec<Shown>,
    /// Values and rules that are written down and not in force, with why.
    pub inactive: Vec<Shown>,
}

/// One value or rule, for `nika config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Dotted: `files.fsync`, `permissions.deny`.
    pub key: String,
    /// As it reads in a file.
    pub value: String,
    /// `file:line`, `default`, or the flag.
    pub at: String,
    /// Who brought it.
    pub layer: String,
    /// Why it is not in force; `None` for what is.
    pub why: Option<String>,
    /// Why it holds for nothing though it is in force.
    pub remark: Option<String>,
}

/// Tools shown whole before any is deferred: eight schemas cost less than a search for one.
const DEFER_ABOVE: usize = 8;
/// Pre-images kept: 1 GiB, some thousand sessions of ordinary edits.
const UNDO_MAX_BYTES: u64 = 1 << 30;
/// Pre-images kept: 30 days.
const UNDO_MAX_DAYS: u32 = 30;

impl Default for Effective {
    fn default() -> Effective {
        Effective {
            stance: Stance::from(Mode::Ask),
            policy: Policy::default(),
            idle_rules: Vec::new(),
            fsync: Fsync::default(),
            journal_each_call: false,
            max_output_chars: Vec::new(),
            dialect: None,
            list: None,
            defer_above: DEFER_ABOVE,
            undo_max_bytes: UNDO_MAX_BYTES,
            undo_max_days: UNDO_MAX_DAYS,
            shell_undo: true,
            shell_preview: true,
            landlock_only: false,
            hooks: Vec::new(),
            messages: Messages::default(),
            budgets: Budgets::default(),
            safe_env: Vec::new(),
            models: Models::default(),
            web: Web::default(),
            servers: Vec::new(),
            trusted: Trust::Nothing,
            shown: Vec::new(),
            inactive: Vec::new(),
        }
    }
}

/// What tells without reading whether [`load`] would say the same.
pub fn stamps(sources: &Sources) -> Stamps {
    let own = [Some(&sources.managed), sources.user.as_ref()].into_iter().flatten();
    let files = own.flat_map(|path| [path.clone(), path.with_file_name(manifests::BESIDE)]);
    let files: Vec<PathBuf> = files.chain([sources.trust_store.clone()]).collect();
    trust::stamps(&sources.project_dir, files.iter().map(PathBuf::as_path))
}

/// Reads every layer and settles what is in force.
pub fn load(sources: &Sources) -> Result<Effective, ConfigError> {
    let home = sources.home.as_deref();
    let stance = flags::stance(&sources.command_line)?;
    managed::check(&sources.managed)?;
    let mut layers = Vec::new();
    let own = [(Layer::Managed, Some(&sources.managed)), (Layer::User, sources.user.as_ref())];
    for (layer, path) in own.into_iter().filter_map(|(layer, path)| path.map(|path| (layer, path))) {
        // Whoever tries a policy may name a manifest in the place of configuration.
        let is_manifest = path.extension().is_some_and(|ending| ending == "json");
        if !is_manifest {
            layers.extend(manifests::beside(layer, path, home)?);
        }
        if let Some(file) = file::open(path, home)? {
            let read = if is_manifest { manifests::read } else { keys::read };
            layers.push(read(layer, &file, home)?);
        }
    }
    // A root on paper, for judging only, brings nothing.
    let on_paper = !sources.project_dir.exists();
    let (brought, mut seen) =
        if on_paper { Default::default() } else { manifests::of_repository(&sources.project_dir, home)? };
    layers.extend(brought);
    if !on_paper {
        let (brought, texts) = web::of_repository(&sources.project_dir)?;
        layers.extend(brought);
        seen.extend(texts);
        let (servers, texts) = mcp::of_repository(&sources.project_dir)?;
        layers.extend(servers);
        seen.extend(texts);
    }
    for (layer, name) in [(Layer::Project, PROJECT_FILE), (Layer::Local, LOCAL_FILE)] {
        if on_paper {
            continue;
        }
        if let Some(file) = file::open_beneath(&sources.project_dir, name)? {
            layers.push(keys::read(layer, &file, home)?);
            seen.push((name.to_owned(), file.text));
        }
    }
    layers.push(flags::layer(&sources.command_line, home)?);
    if sources.runs_hooks {
        hooks::check(&layers, &sources.project_dir)?;
    }
    if !sources.keeps_misfits {
        rules::check(&layers, home)?;
    }

    let said: Vec<(&str, &[u8])> = seen.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let trusted = match layers.iter().find_map(settle::untrusted_at) {
        Some(at) => Trust::Refused { at },
        None if on_paper => Trust::Nothing,
        None => trust::status(&sources.project_dir, &sources.trust_store, &said)?,
    };
    Ok(settle::settle(&layers, stance, trusted))
}

impl Effective {
    /// The whole of it, for `nika config --json`.
    pub fn to_json(&self) -> Value {
        let rows = |rows: &[Shown]| -> Vec<Value> { rows.iter().map(Shown::to_json).collect() };
        json!({
            "mode": self.stance.to_string(),
            "trust": self.trusted.to_json(),
            "safe_env": self.safe_env,
            "values": rows(&self.shown),
            "inactive": rows(&self.inactive),
        })
    }
}

impl Shown {
    fn to_json(&self) -> Value {
        let mut row = json!({ "key": self.key, "value": self.value, "at": self.at, "layer": self.layer });
        let notes = [("why", &self.why), ("remark", &self.remark)];
        for (name, text) in notes.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?))) {
            row[name] = text.into();
        }
        row
    }
}
