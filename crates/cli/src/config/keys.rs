//! Every key that a configuration may hold: one table, from which files and `--set` are read, defaults
//! shown and the JSON schema written.

use nika_contract::text::near_names;
use nika_guard::{Layer, Mode, RuleError, RuleKind};
use nika_host::fs::Fsync;
use serde_json::{Value, json};

use super::ConfigError;
use super::change::Change;
use super::file::File;
use super::hooks;
use super::mcp;
use super::models::{self, Choice};
use super::rules;
use super::schema::{chars_schema, rule_list};
use super::tool_names;
use super::values::{CHARS, chars, chars_by_tool, one, size, whole, word};
use super::web;
use super::yaml::{self, Key, Kind, Node, Spot};

/// A key, what it takes, and what holds where nobody says otherwise.
pub(super) struct Row {
    /// Dotted.
    pub name: &'static str,
    pub doc: &'static str,
    /// As it would be written in a file; `None` where nothing is the default.
    pub default: Option<&'static str>,
    read: fn(&Node, Option<&str>) -> Reads,
    pub schema: fn() -> Value,
}

/// What a node says: where, the name below the row's own where it has such, and the change.
pub(super) type Reads = Result<Vec<(Spot, Option<String>, Change)>, Wrong>;

/// Names that tools may be listed under. The runtime's `Dialect` parses the same four.
pub(super) const DIALECTS: [&str; 4] = ["nika", "claude", "claw", "claw-agent"];

const FSYNC: &[(&str, Fsync)] =
    &[("data", Fsync::Data), ("off", Fsync::Off), ("full", Fsync::Full), ("true", Fsync::Data), ("false", Fsync::Off)];
const JOURNAL: &[(&str, bool)] = &[("each-call", true), ("off", false), ("true", true), ("false", false)];

pub(super) const KEYS: &[Row] = &[
    Row {
        name: "mode",
        doc: "How a session stands: what goes ahead, what is asked, what is refused.",
        default: Some("ask"),
        read: |node, _| {
            one(node, "deny, read-only, ask, accept-edits, workspace or accept-all", |kind| match kind {
                Kind::Text(name) => name.parse().ok().map(Change::Mode),
                _ => None,
            })
        },
        schema: || json!({ "anyOf": [{ "enum": Mode::ALL.map(Mode::name) }, { "type": "string", "description": "a name that other agents use" }] }),
    },
    Row {
        name: "trusted",
        doc: "`false` refuses trust for this repository, whatever `nika trust` said. `true` means nothing: only `nika trust` trusts.",
        default: None,
        read: |node, _| {
            one(node, "true or false", |kind| match kind {
                Kind::Bool(value) => Some(Change::Trusted(*value)),
                _ => None,
            })
        },
        schema: || json!({ "type": "boolean" }),
    },
    Row {
        name: "permissions.allow",
        doc: "Rules that answer a question with yes. They lower no floor, and a deny or ask rule of any layer wins.",
        default: None,
        read: |node, home| rules::read(RuleKind::Allow, node, home),
        schema: rule_list,
    },
    Row {
        name: "permissions.ask",
        doc: "Rules for what is always asked.",
        default: None,
        read: |node, home| rules::read(RuleKind::Ask, node, home),
        schema: rule_list,
    },
    Row {
        name: "permissions.deny",
        doc: "Rules for what is refused. A deny of any layer is final.",
        default: None,
        read: |node, home| rules::read(RuleKind::Deny, node, home),
        schema: rule_list,
    },
    Row {
        name: "files.fsync",
        doc: "How far a write goes before it counts as done: `off`, `data` (the bytes are on the disk before the rename), `full` (the directory too).",
        default: Some("data"),
        read: |node, _| one(node, "data, off or full", |kind| word(kind, FSYNC).map(Change::Fsync)),
        schema: || json!({ "enum": ["data", "off", "full", true, false] }),
    },
    Row {
        name: "journal.fsync",
        doc: "`each-call` syncs the journal with every line, so that it survives a power cut; `off` leaves that to the system.",
        default: Some("off"),
        read: |node, _| one(node, "each-call or off", |kind| word(kind, JOURNAL).map(Change::JournalEachCall)),
        schema: || json!({ "enum": ["each-call", "off", true, false] }),
    },
    Row {
        name: "output.max_chars",
        doc: "Characters of text in one answer; the rest is spilled to a file. A tool with a limit of its own keeps it while nothing is said here.",
        default: Some("30000"),
        read: |node, _| one(node, CHARS, |kind| chars(kind).map(|count| Change::MaxChars("*".into(), count))),
        schema: chars_schema,
    },
    Row {
        name: "output.tools",
        doc: "The same for single tools, by name.",
        default: None,
        read: chars_by_tool,
        schema: || json!({ "type": "object", "additionalProperties": chars_schema() }),
    },
    Row {
        name: "tools.list",
        doc: "Which tools are in the first list: `eager`, `all`, or a list of names.",
        default: Some("eager"),
        read: tool_names::list,
        schema: || json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] }),
    },
    Row {
        name: "tools.defer_above",
        doc: "Up to so many tools, every one is listed with its schema.",
        default: Some("8"),
        read: |node, _| {
            one(node, "a whole number from 0 to 10000", |kind| {
                whole(kind, 0, 10_000).and_then(|count| usize::try_from(count).ok()).map(Change::DeferAbove)
            })
        },
        schema: || json!({ "type": "integer", "minimum": 0, "maximum": 10_000 }),
    },
    Row {
        name: "tools.dialect",
        doc: "The names that tools and parameters are listed under.",
        default: Some("nika"),
        read: |node, _| {
            one(node, "nika, claude, claw or claw-agent", |kind| match kind {
                Kind::Text(name) if DIALECTS.contains(&name.as_str()) => Some(Change::Dialect(name.clone())),
                _ => None,
            })
        },
        schema: || json!({ "enum": DIALECTS }),
    },
    Row {
        name: "shell.undo",
        doc: "Whether what a command changes in the workspace is held apart until it ended, so that `undo` takes it back.",
        default: Some("on"),
        read: |node, _| {
            one(node, "on or off", |kind| match kind {
                Kind::Text(text) if text == "on" => Some(Change::ShellUndo(true)),
                Kind::Text(text) if text == "off" => Some(Change::ShellUndo(false)),
                _ => None,
            })
        },
        schema: || json!({ "enum": ["on", "off"] }),
    },
    Row {
        name: "shell.preview",
        doc: "Whether a command that is asked about and writes only inside is tried over a layer first, so that the question shows what it did and a yes applies just that.",
        default: Some("on"),
        read: |node, _| {
            one(node, "on or off", |kind| match kind {
                Kind::Text(text) if text == "on" => Some(Change::ShellPreview(true)),
                Kind::Text(text) if text == "off" => Some(Change::ShellPreview(false)),
                _ => None,
            })
        },
        schema: || json!({ "enum": ["on", "off"] }),
    },
    Row {
        name: "sandbox.landlock_only",
        doc: "Whether Landlock and seccomp alone may hold commands where the system grants no user namespaces; each result names what is missing then.",
        default: Some("off"),
        read: |node, _| {
            one(node, "on or off", |kind| match kind {
                Kind::Text(text) if text == "on" => Some(Change::LandlockOnly(true)),
                Kind::Text(text) if text == "off" => Some(Change::LandlockOnly(false)),
                _ => None,
            })
        },
        schema: || json!({ "enum": ["on", "off"] }),
    },
    Row {
        name: "undo.max_bytes",
        doc: "How much is kept of what was changed, so that it can be taken back.",
        default: Some("1GiB"),
        read: |node, _| {
            one(node, "a size of at least 1MiB, for example 512MiB or 1GiB", |kind| {
                size(kind).filter(|bytes| *bytes >= 1 << 20).map(Change::UndoMaxBytes)
            })
        },
        schema: || {
            json!({ "anyOf": [
            { "type": "string", "pattern": "^[0-9]+ ?([KMGT]i?)?B$" },
            { "type": "integer", "minimum": 1 << 20 },
        ] })
        },
    },
    Row {
        name: "undo.max_days",
        doc: "For how many days it is kept.",
        default: Some("30"),
        read: |node, _| {
            one(node, "a whole number of days from 1 to 36500", |kind| {
                whole(kind, 1, 36_500).and_then(|days| u32::try_from(days).ok()).map(Change::UndoMaxDays)
            })
        },
        schema: || json!({ "type": "integer", "minimum": 1, "maximum": 36_500 }),
    },
    Row {
        name: "hooks",
        doc: "Commands that have a say before (`on: before`) or after (`on: after`) a call of `tool`. `run` is a program and its arguments; it reads the call as JSON and may print a decision. Without an answer in `timeout_ms`, or with none that can be read, `on_failure` counts: deny, allow or note.",
        default: None,
        read: hooks::read,
        schema: hooks::schema,
    },
    Row {
        name: "agent.provider",
        doc: "Who serves the model of `nika agent`: anthropic, openai, openai-chat, gemini, mistral, groq, deepseek, ollama, or a name under `providers`. Where nothing is said, the first whose key is set.",
        default: None,
        read: |node, _| {
            one(node, "a provider's name", |kind| models::name(kind).map(Choice::Provider).map(Change::Agent))
        },
        schema: || json!({ "type": "string" }),
    },
    Row {
        name: "agent.model",
        doc: "The model, as its provider names it. Where nothing is said, the provider's default.",
        default: None,
        read: |node, _| one(node, "a model's name", |kind| models::name(kind).map(Choice::Model).map(Change::Agent)),
        schema: || json!({ "type": "string" }),
    },
    Row {
        name: "agent.max_turns",
        doc: "How many times one run may ask the model.",
        default: None,
        read: |node, _| {
            one(node, "a whole number from 1 to 10000", |kind| {
                models::bound(kind, 10_000).map(Choice::MaxTurns).map(Change::Agent)
            })
        },
        schema: || models::bound_schema(10_000),
    },
    Row {
        name: "agent.max_agents",
        doc: "Agents at work at once for one session.",
        default: Some("8"),
        read: |node, _| {
            one(node, "a whole number from 1 to 64", |kind| {
                models::bound(kind, 64).map(Choice::MaxAgents).map(Change::Agent)
            })
        },
        schema: || models::bound_schema(64),
    },
    Row {
        name: "agent.max_depth",
        doc: "How deep agents may start agents of their own.",
        default: Some("2"),
        read: |node, _| {
            one(node, "a whole number from 1 to 8", |kind| {
                models::bound(kind, 8).map(Choice::MaxDepth).map(Change::Agent)
            })
        },
        schema: || models::bound_schema(8),
    },
    Row {
        name: "agent.parallel",
        doc: "Calls of one turn that run at once, where none is in the way of another.",
        default: Some("8"),
        read: |node, _| {
            one(node, "a whole number from 1 to 64", |kind| {
                models::bound(kind, 64).map(Choice::Parallel).map(Change::Agent)
            })
        },
        schema: || models::bound_schema(64),
    },
    Row {
        name: "web.hosts",
        doc: "Hosts whose pages `web_fetch` may look at without a question, beside the shipped list: `wiki.example.com`, `*.example.com` for what is below it.",
        default: None,
        read: web::hosts,
        schema: web::hosts_schema,
    },
    Row {
        name: "web.hosts_off",
        doc: "Hosts that are taken off the list; `*` for the whole of it. What is taken off by one layer stays off.",
        default: None,
        read: web::hosts_off,
        schema: web::hosts_schema,
    },
    Row {
        name: "web.allow_addresses",
        doc: "Addresses of this machine or of private networks that pages and searches may reach: `127.0.0.1:8888`, `10.20.0.0/16`. Never from a repository.",
        default: None,
        read: web::addresses,
        schema: web::hosts_schema,
    },
    Row {
        name: "web.search_provider",
        doc: "The search provider that is asked where a search names none; the first where nothing is said.",
        default: None,
        read: web::provider,
        schema: || json!({ "type": "string" }),
    },
    Row {
        name: "web.search_providers",
        doc: "Search providers by name: `kind` (searxng, brave, tavily, json), `base_url`, `api_key_env` (the variable that holds the key), `default_max_results`; of kind json `url` with `{query}` and `{max_results}`, `results` (where the list stands, dotted), `title`, `address`, `snippet` (its fields), `key_header`.",
        default: None,
        read: web::providers,
        schema: web::providers_schema,
    },
    Row {
        name: "providers",
        doc: "What is said of single providers, known ones and one's own: `address` (the URL that requests are put below), `adapter` (how it speaks; openai-chat where nothing is said), `key_env` (the variable that holds the key), `model`, `context_tokens`, `max_output`, `prices` (US dollars for a million tokens, by the names of models: `input`, `output`, `cache_read`, `cache_write`), `effort`.",
        default: None,
        read: models::read,
        schema: models::schema,
    },
    Row {
        name: "mcp.servers",
        doc: "Other people's MCP servers, by name: a program (`command`, `args`, `env`, `cwd`) or an address (`url`, `headers`). `net` names the hosts that a program may reach, `write` lets it write the workspace, `tools` says which of its tools are seen.",
        default: None,
        read: mcp::read,
        schema: mcp::schema,
    },
];

/// What one layer says.
#[derive(Debug)]
pub(super) struct Brought {
    pub layer: Layer,
    pub said: Vec<Said>,
}

/// One change with its key and its place.
#[derive(Debug)]
pub(super) struct Said {
    pub key: String,
    pub change: Change,
    /// The file and line, or the flag.
    pub at: String,
    /// Where in that line, of a file's.
    pub column: Option<u64>,
}

impl Said {
    /// The place that an error names.
    pub fn place(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{column}", self.at),
            None => self.at.clone(),
        }
    }

    /// The same of a part of it, which may stand in another line.
    pub fn place_of(&self, part: Spot) -> String {
        match (self.column, self.at.rsplit_once(':')) {
            (Some(_), Some((file, _))) => format!("{file}:{}:{}", part.line, part.column),
            _ => self.place(),
        }
    }
}

/// Where text comes from, for positions.
pub(super) struct Origin<'a> {
    pub name: &'a str,
    /// A flag has no lines.
    pub lines: bool,
}

impl Origin<'_> {
    pub fn line(&self, spot: Spot) -> String {
        if self.lines { format!("{}:{}", self.name, spot.line) } else { self.name.to_owned() }
    }

    pub fn column(&self, spot: Spot) -> String {
        if self.lines { format!("{}:{}:{}", self.name, spot.line, spot.column) } else { self.name.to_owned() }
    }
}

/// Why a node cannot be used.
#[derive(Debug)]
pub(super) enum Wrong {
    Value { spot: Spot, what: String, hint: Option<String> },
    Rule { spot: Spot, what: String },
}

impl Wrong {
    pub fn rule(spot: Spot, error: RuleError) -> Wrong {
        Wrong::Rule { spot, what: error.to_string() }
    }

    /// A key that nobody reads, with the names it may have meant.
    pub fn unknown<'a>(key: &Key, known: impl IntoIterator<Item = &'a str>) -> Wrong {
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let near = near_names(&key.name, known.iter().cloned(), 2);
        let hint = match near.is_empty() {
            true => format!("use one of {}", known.join(", ")),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        Wrong::Value { spot: key.spot, what: format!("unknown key `{}`", key.name.escape_debug()), hint: Some(hint) }
    }

    pub fn at(self, origin: &Origin<'_>) -> ConfigError {
        match self {
            Wrong::Value { spot, what, hint } => ConfigError::Malformed { at: origin.column(spot), what, hint },
            Wrong::Rule { spot, what } => ConfigError::Rule { at: origin.column(spot), what },
        }
    }
}

pub(super) fn expected<T>(node: &Node, wanted: &str) -> Result<T, Wrong> {
    let what = format!("found {} where {wanted} is expected", node.describe());
    Err(Wrong::Value { spot: node.spot, what, hint: None })
}

/// Reads one file of a layer.
pub(super) fn read(layer: Layer, file: &File, home: Option<&str>) -> Result<Brought, ConfigError> {
    let origin = Origin { name: &file.name, lines: true };
    let root = yaml::parse(&file.text).map_err(|broken| ConfigError::Malformed {
        at: origin.column(broken.spot),
        what: broken.what,
        hint: None,
    })?;
    Ok(Brought { layer, said: changes(&root, &origin, home)? })
}

/// Everything a tree says.
pub(super) fn changes(root: &Node, origin: &Origin<'_>, home: Option<&str>) -> Result<Vec<Said>, ConfigError> {
    let mut said = Vec::new();
    descend(root, "", origin, home, &mut said).map_err(|wrong| wrong.at(origin))?;
    Ok(said)
}

/// Reads the section `above`, which is dotted and empty or ends in a dot.
fn descend(
    node: &Node,
    above: &str,
    origin: &Origin<'_>,
    home: Option<&str>,
    said: &mut Vec<Said>,
) -> Result<(), Wrong> {
    let entries = match &node.kind {
        Kind::Nothing => return Ok(()),
        Kind::Map(entries) => entries,
        _ => return expected(node, &format!("a mapping with {}", names_below(above).join(", "))),
    };
    for (key, value) in entries {
        let name = format!("{above}{}", key.name);
        let section = format!("{name}.");
        // `files.fsync: off` on one line is not what it looks like in YAML, and is not taken for it here.
        if key.name.contains('.') {
            return Err(Wrong::unknown(key, names_below(above)));
        }
        if let Some(row) = KEYS.iter().find(|row| row.name == name) {
            for (spot, below, change) in (row.read)(value, home)? {
                let key = below.map_or(name.clone(), |below| format!("{section}{below}"));
                said.push(Said { key, change, at: origin.line(spot), column: origin.lines.then_some(spot.column) });
            }
        } else if KEYS.iter().any(|row| row.name.starts_with(&section)) {
            descend(value, &section, origin, home, said)?;
        } else {
            return Err(Wrong::unknown(key, names_below(above)));
        }
    }
    Ok(())
}

/// What one setting of a manifest says, its key dotted or nested. What is no key of ours is kept for the
/// program that knows it.
pub(super) fn setting(
    key: &Key,
    node: &Node,
    origin: &Origin<'_>,
    home: Option<&str>,
) -> Result<Vec<Said>, ConfigError> {
    let section = format!("{}.", key.name);
    if let Some(row) = KEYS.iter().find(|row| row.name == key.name) {
        let read = (row.read)(node, home).map_err(|wrong| wrong.at(origin))?;
        let said = |(spot, below, change): (Spot, Option<String>, Change)| {
            let key = below.map_or(key.name.clone(), |below| format!("{section}{below}"));
            Said { key, change, at: origin.line(spot), column: origin.lines.then_some(spot.column) }
        };
        return Ok(read.into_iter().map(said).collect());
    }
    match &node.kind {
        Kind::Map(entries) if KEYS.iter().any(|row| row.name.starts_with(&section)) => {
            let mut all = Vec::new();
            for (below, value) in entries {
                let below = Key { name: format!("{section}{}", below.name), spot: below.spot };
                all.extend(setting(&below, value, origin, home)?);
            }
            Ok(all)
        }
        _ => {
            let change = Change::Foreign(node.describe());
            let key_shown = format!("managedSettings.{}", key.name);
            Ok(vec![Said { key: key_shown, change, at: origin.line(key.spot), column: None }])
        }
    }
}

/// The keys and sections right below `above`, each once.
fn names_below(above: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = KEYS
        .iter()
        .filter_map(|row| row.name.strip_prefix(above))
        .map(|rest| rest.split_once('.').map_or(rest, |(section, _)| section))
        .collect();
    names.dedup();
    names
}
