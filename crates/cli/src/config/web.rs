//! What configuration says about the web: hosts whose pages need no question, private addresses that may be reached,
//! and who is asked for a search.
//!
//! ```yaml
//! web:
//!   hosts: [wiki.example.com]
//!   hosts_off: [docs.rs]
//!   allow_addresses: ["127.0.0.1:8888"]
//!   search_providers: {local: {kind: searxng, base_url: "http://127.0.0.1:8888"}}
//! ```

use std::fmt;
use std::path::Path;

use nika_guard::{HostPattern, Layer};
use nika_host::net::Allowed;
use nika_tools::web::search::provider::{Kind as Speaks, Provider, Shape};
use serde_json::{Value, json};

use super::ConfigError;
use super::change::Change;
use super::file;
use super::keys::{Brought, Origin, Reads, Said, Wrong, expected};
use super::models::{bound, name};
use super::yaml::{self, Key, Kind, Node};

/// A repository's lists of search providers, written for another program.
const MANIFESTS: [&str; 2] = [".claude/search.json", ".claw-search.json"];

/// What is in force.
#[derive(Debug, Clone, Default)]
pub struct Web {
    /// Hosts whose pages may be looked at without a question, beside the shipped ones.
    pub hosts: Vec<HostPattern>,
    /// Those that may not.
    pub hosts_off: Vec<HostPattern>,
    /// Addresses of this machine or of private networks that may be reached.
    pub allowed: Vec<Allowed>,
    /// The provider that is asked where a search names none.
    pub search_provider: Option<String>,
    /// The providers, each name once.
    pub search_providers: Vec<Searched>,
}

/// A search provider as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// What it is called.
    pub name: String,
    /// How it speaks.
    pub speaks: Speaks,
    /// Where, unless the kind has a home.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Results where a search does not say how many.
    pub max_results: Option<u32>,
}

/// One value of `web`.
#[derive(Debug, Clone)]
pub(super) enum Choice {
    Host(HostPattern),
    HostOff(HostPattern),
    Address(Allowed),
    SearchProvider(String),
    Searched(Searched),
}

impl Choice {
    /// Whether it stands beside others of its key.
    pub fn adds(&self) -> bool {
        matches!(self, Choice::Host(_) | Choice::HostOff(_) | Choice::Address(_))
    }

    pub fn apply(&self, to: &mut Web) {
        match self {
            Choice::Host(host) => to.hosts.push(host.clone()),
            Choice::HostOff(host) => to.hosts_off.push(host.clone()),
            Choice::Address(address) => to.allowed.push(*address),
            Choice::SearchProvider(name) => to.search_provider = Some(name.clone()),
            Choice::Searched(one) => {
                to.search_providers.retain(|known| known.name != one.name);
                to.search_providers.push(one.clone());
            }
        }
    }

    /// Why `layer` may never say this, whoever trusts it.
    pub fn never(&self, layer: Layer) -> Option<String> {
        match self {
            Choice::Address(_) if layer.is_repository() => {
                Some("only a person's own or the managed configuration lets private addresses be reached".to_owned())
            }
            Choice::Searched(one) if layer.is_repository() => {
                let usual = one.speaks.usual_key();
                let home = one.base_url.is_none() && one.speaks.home().is_some();
                let own = one.key_env.as_deref().is_none_or(|variable| Some(variable) == usual);
                let keyless = usual.is_none() && one.key_env.is_none();
                (!(keyless || (home && own))).then(|| {
                    "an address that a repository brings is given no key; a person's own configuration can name it"
                        .to_owned()
                })
            }
            _ => None,
        }
    }

    /// Why a repository that nobody trusts may not say this.
    pub fn loosens(&self) -> Option<String> {
        match self {
            Choice::Host(_) => Some("it lets pages be fetched without a question".to_owned()),
            Choice::HostOff(_) => None,
            Choice::Address(_) => Some("it lets private addresses be reached".to_owned()),
            Choice::SearchProvider(_) | Choice::Searched(_) => {
                Some("it chooses who reads what is searched for".to_owned())
            }
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Host(host) | Choice::HostOff(host) => host.fmt(f),
            Choice::Address(address) => address.fmt(f),
            Choice::SearchProvider(name) => f.write_str(name),
            Choice::Searched(one) => match (&one.speaks, &one.base_url) {
                (Speaks::Json(shape), _) => write!(f, "json {}", shape.url),
                (speaks, Some(base)) => write!(f, "{} {base}", speaks.name()),
                (speaks, None) => f.write_str(speaks.name()),
            },
        }
    }
}

/// Reads a list, or one text.
fn list<T>(node: &Node, wanted: &str, read: impl Fn(&str) -> Result<T, String>, to: impl Fn(T) -> Choice) -> Reads {
    let one = |item: &Node| match &item.kind {
        Kind::Text(text) => match read(text) {
            Ok(value) => Ok((item.spot, None, Change::Web(to(value)))),
            Err(what) => Err(Wrong::Value { spot: item.spot, what, hint: None }),
        },
        _ => expected(item, wanted),
    };
    match &node.kind {
        Kind::Nothing => Ok(Vec::new()),
        Kind::List(items) => items.iter().map(one).collect(),
        _ => one(node).map(|said| vec![said]),
    }
}

pub(super) fn hosts(node: &Node, _: Option<&str>) -> Reads {
    list(node, "a host such as wiki.example.com or *.example.com", HostPattern::new, Choice::Host)
}

pub(super) fn hosts_off(node: &Node, _: Option<&str>) -> Reads {
    list(node, "a host such as docs.rs, or * for the whole list", HostPattern::new, Choice::HostOff)
}

pub(super) fn addresses(node: &Node, _: Option<&str>) -> Reads {
    list(node, "an address such as \"127.0.0.1:8888\" or \"10.20.0.0/16\"", str::parse::<Allowed>, Choice::Address)
}

pub(super) fn provider(node: &Node, _: Option<&str>) -> Reads {
    match name(&node.kind) {
        Some(name) => Ok(vec![(node.spot, None, Change::Web(Choice::SearchProvider(name)))]),
        None => expected(node, "the name of a search provider"),
    }
}

const FIELDS: [&str; 10] = [
    "kind",
    "base_url",
    "api_key_env",
    "default_max_results",
    "url",
    "results",
    "title",
    "address",
    "snippet",
    "key_header",
];
const KINDS: &str = "searxng, brave, tavily or json";

/// Reads the mapping under `web.search_providers`.
pub(super) fn providers(node: &Node, _: Option<&str>) -> Reads {
    let one = |(key, value): &(Key, Node)| {
        let Kind::Map(entries) = &value.kind else {
            return expected(value, "a provider such as {kind: searxng, base_url: \"http://127.0.0.1:8888\"}");
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| !FIELDS.contains(&key.name.as_str())) {
            return Err(Wrong::unknown(key, FIELDS));
        }
        let searched = searched(&key.name, value, entries, "kind")?;
        Ok((value.spot, Some(key.name.clone()), Change::Web(Choice::Searched(searched))))
    };
    match &node.kind {
        Kind::Nothing => Ok(Vec::new()),
        Kind::Map(entries) => entries.iter().map(one).collect(),
        _ => expected(node, "a mapping from names to providers, for example {local: {kind: searxng, base_url: …}}"),
    }
}

/// One provider; `kind` is the field that says how it speaks.
fn searched(named: &str, node: &Node, entries: &[(Key, Node)], kind: &str) -> Result<Searched, Wrong> {
    let field = |name: &str| entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value);
    let text = |field_name: &str| match field(field_name) {
        None | Some(Node { kind: Kind::Nothing, .. }) => Ok(None),
        Some(Node { kind: Kind::Text(text), .. }) => Ok(Some(text.clone())),
        Some(other) => expected(other, "a text"),
    };
    let path = |name: &str, usual: &str| Ok::<_, Wrong>(text(name)?.unwrap_or_else(|| usual.to_owned()));
    let speaks = match text(kind)?.as_deref() {
        Some("searxng") => Speaks::Searxng,
        Some("brave") => Speaks::Brave,
        Some("tavily") => Speaks::Tavily,
        Some("json") => Speaks::Json(Shape {
            url: text("url")?.map_or_else(|| expected(node, "a provider of kind json with `url`"), Ok)?,
            results: path("results", "results")?,
            title: path("title", "title")?,
            address: path("address", "url")?,
            snippet: path("snippet", "snippet")?,
            key_header: text("key_header")?,
        }),
        _ => return expected(field(kind).unwrap_or(node), &format!("a provider whose `{kind}` is {KINDS}")),
    };
    let max_results = match field("default_max_results") {
        None | Some(Node { kind: Kind::Nothing, .. }) => None,
        Some(count) => match bound(&count.kind, 20) {
            Some(count) => Some(count),
            None => return expected(count, "a whole number from 1 to 20"),
        },
    };
    let one = Searched {
        name: named.to_owned(),
        speaks,
        base_url: text("base_url")?,
        key_env: text("api_key_env")?,
        max_results,
    };
    // What cannot be asked is said here, with its line, and not by the first search.
    let usable = Provider::new(&one.name, one.speaks.clone(), one.base_url.as_deref());
    usable.map_err(|error| Wrong::Value { spot: node.spot, what: error.message, hint: error.hint })?;
    Ok(one)
}

/// Files that were read, by name.
type Texts = Vec<(String, String)>;

/// What a repository's lists for another program say, the weaker first, and their texts.
pub(super) fn of_repository(project_dir: &Path) -> Result<(Vec<Brought>, Texts), ConfigError> {
    let (mut layers, mut seen) = (Vec::new(), Vec::new());
    for manifest in MANIFESTS {
        let Some(file) = file::open_beneath(project_dir, manifest)? else { continue };
        let origin = Origin { name: &file.name, lines: true };
        let malformed = |broken: yaml::Broken| ConfigError::Malformed {
            at: origin.column(broken.spot),
            what: broken.what,
            hint: None,
        };
        let root = yaml::parse(&file.text).map_err(malformed)?;
        let said = listed(&root, &origin).map_err(|wrong| wrong.at(&origin))?;
        layers.push(Brought { layer: Layer::Project, said });
        seen.push((manifest.to_owned(), file.text));
    }
    Ok((layers, seen))
}

/// A list of providers, an object that holds one, or one provider.
fn listed(root: &Node, origin: &Origin<'_>) -> Result<Vec<Said>, Wrong> {
    let items: Vec<&Node> = match &root.kind {
        Kind::Nothing => Vec::new(),
        Kind::List(items) => items.iter().collect(),
        Kind::Map(entries) => {
            match entries.iter().find(|(key, _)| key.name == "providers").map(|(_, value)| &value.kind) {
                Some(Kind::List(items)) => items.iter().collect(),
                _ => vec![root],
            }
        }
        _ => return expected(root, "a list of search providers"),
    };
    let one = |item: &Node| {
        let Kind::Map(entries) = &item.kind else { return expected(item, "a search provider") };
        let named = entries.iter().find(|(key, _)| key.name == "name").and_then(|(_, value)| name(&value.kind));
        let Some(named) = named else { return expected(item, "a search provider with `name`") };
        let searched = searched(&named, item, entries, "provider")?;
        let key = format!("web.search_providers.{named}");
        Ok(Said { key, change: Change::Web(Choice::Searched(searched)), at: origin.line(item.spot), column: None })
    };
    items.into_iter().map(one).collect()
}

pub(super) fn hosts_schema() -> Value {
    json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] })
}

pub(super) fn providers_schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "required": ["kind"],
            "properties": {
                "kind": { "enum": ["searxng", "brave", "tavily", "json"] },
                "base_url": { "type": "string", "pattern": "^https?://" },
                "api_key_env": text,
                "default_max_results": { "type": "integer", "minimum": 1, "maximum": 20 },
                "url": { "type": "string", "pattern": "^https?://" },
                "results": text,
                "title": text,
                "address": text,
                "snippet": text,
                "key_header": text,
            },
        },
    })
}
