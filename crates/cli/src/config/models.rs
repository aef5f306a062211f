//! Which model works as the agent, how far it may go, and addresses of one's own where models are served.
//!
//! ```yaml
//! agent: {provider: local, model: qwen3, max_turns: 40}
//! providers: {local: {address: "http://127.0.0.1:8080/v1/", context_tokens: 32768}}
//! ```

use std::fmt;

use nika_agent::provider::choose::{Configured, Provided};
use nika_agent::provider::{ANY, Adapter, Effort, PriceList, Prices};
use serde_json::{Value, json};

use super::change::Change;
use super::keys::{Reads, Wrong, expected};
use super::values::whole;
use super::yaml::{Key, Kind, Node};

/// What configuration says about agents and models.
#[derive(Debug, Clone)]
pub struct Models {
    /// The provider, its model, and what is said of single providers.
    pub configured: Configured,
    /// Turns of one run; `None` is no bound of its own.
    pub max_turns: Option<u32>,
    /// Agents at work at once below one session.
    pub max_agents: u32,
    /// How deep agents may start agents.
    pub max_depth: u32,
    /// Calls of one turn that run at once.
    pub parallel: u32,
}

impl Default for Models {
    fn default() -> Models {
        Models { configured: Configured::default(), max_turns: None, max_agents: 8, max_depth: 2, parallel: 8 }
    }
}

/// One value of `agent`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    Provider(String),
    Model(String),
    MaxTurns(u32),
    MaxAgents(u32),
    MaxDepth(u32),
    Parallel(u32),
    /// One thing that is said of a provider, and how it was written.
    Provided(String, Provided, String),
}

impl Choice {
    pub(super) fn apply(&self, to: &mut Models) {
        match self {
            Choice::Provider(name) => to.configured.provider = Some(name.clone()),
            Choice::Model(name) => to.configured.model = Some(name.clone()),
            Choice::MaxTurns(count) => to.max_turns = Some(*count),
            Choice::MaxAgents(count) => to.max_agents = *count,
            Choice::MaxDepth(count) => to.max_depth = *count,
            Choice::Parallel(count) => to.parallel = *count,
            Choice::Provided(name, said, _) => to.configured.providers.entry(name.clone()).or_default().lay(said),
        }
    }

    /// Why a repository that nobody trusts may not say this.
    pub(super) fn loosens(&self, now: &Models) -> Option<String> {
        let more = |count: &u32, now: u32| (*count > now).then(|| format!("it would raise the bound of {now}"));
        match self {
            Choice::Provider(_) | Choice::Model(_) | Choice::Provided(..) => {
                Some("it chooses who reads the conversation, and who is paid".to_owned())
            }
            Choice::MaxTurns(count) => now.max_turns.and_then(|now| more(count, now)),
            Choice::MaxAgents(count) => more(count, now.max_agents),
            Choice::MaxDepth(count) => more(count, now.max_depth),
            Choice::Parallel(count) => more(count, now.parallel),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Provider(name) | Choice::Model(name) => f.write_str(name),
            Choice::MaxTurns(count) | Choice::MaxAgents(count) | Choice::MaxDepth(count) | Choice::Parallel(count) => {
                count.fmt(f)
            }
            Choice::Provided(.., written) => f.write_str(written),
        }
    }
}

const FIELDS: [&str; 8] =
    ["address", "adapter", "key_env", "model", "context_tokens", "max_output", "prices", "effort"];
const PRICES: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// A name: of a provider or a model.
pub(super) fn name(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Text(text) if !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// A bound from 1 on.
pub(super) fn bound(kind: &Kind, most: u64) -> Option<u32> {
    whole(kind, 1, most).and_then(|count| u32::try_from(count).ok())
}

/// Reads the mapping under `providers`.
pub(super) fn read(node: &Node, _home: Option<&str>) -> Reads {
    match &node.kind {
        Kind::Nothing => Ok(Vec::new()),
        Kind::Map(entries) => {
            Ok(entries.iter().map(|(key, value)| said_of(&key.name, value)).collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => expected(node, "a mapping from names to addresses, for example {local: {address: \"http://…/v1/\"}}"),
    }
}

/// What is said of one provider, a change a field: a nearer layer that says one thing leaves the others as they are.
fn said_of(name: &str, node: &Node) -> Reads {
    let row = provided(node)?;
    let change = |said, written| Change::Agent(Choice::Provided(name.to_owned(), said, written));
    let fields = match &node.kind {
        Kind::Map(entries) => entries.as_slice(),
        _ => &[],
    };
    if fields.is_empty() {
        return Ok(vec![(node.spot, Some(name.to_owned()), change(row, "known by name".to_owned()))]);
    }
    let one = |(key, value): &(Key, Node)| match &value.kind {
        // The price of each model is a value of its own.
        Kind::Map(models) if key.name == "prices" && !is_one_price(models) => {
            let priced = |(model, value): &(Key, Node)| {
                let prices = row.prices.of(&model.name).map(|of_it| PriceList::default().with(&model.name, of_it));
                let said = Provided { prices: prices.unwrap_or_default(), ..Provided::default() };
                (value.spot, Some(format!("{name}.prices.{}", model.name)), change(said, written(&value.kind)))
            };
            models.iter().map(priced).collect()
        }
        _ => vec![(
            value.spot,
            Some(format!("{name}.{}", key.name)),
            change(only(&row, &key.name), written(&value.kind)),
        )],
    };
    Ok(fields.iter().flat_map(one).collect())
}

/// Of a row, one field.
fn only(row: &Provided, field: &str) -> Provided {
    let (row, mut one) = (row.clone(), Provided::default());
    match field {
        "address" => one.address = row.address,
        "adapter" => one.adapter = row.adapter,
        "key_env" => one.key_env = row.key_env,
        "model" => one.model = row.model,
        "context_tokens" => one.context_tokens = row.context_tokens,
        "max_output" => one.max_output = row.max_output,
        "prices" => one.prices = row.prices,
        "effort" => one.effort = row.effort,
        _ => unreachable!("`provided` takes the names of FIELDS alone"),
    }
    one
}

/// A value as a person writes it.
fn written(kind: &Kind) -> String {
    match kind {
        Kind::Text(text) | Kind::Odd(text) => text.clone(),
        Kind::Whole(number) => number.to_string(),
        Kind::Map(entries) => {
            let all: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", key.name, written(&value.kind))).collect();
            format!("{{{}}}", all.join(", "))
        }
        _ => String::new(),
    }
}

fn provided(node: &Node) -> Result<Provided, Wrong> {
    let Kind::Map(entries) = &node.kind else {
        return expected(node, "a provider such as {address: \"http://127.0.0.1:8080/v1/\"}");
    };
    if let Some((key, _)) = entries.iter().find(|(key, _)| !FIELDS.contains(&key.name.as_str())) {
        return Err(Wrong::unknown(key, FIELDS));
    }
    let field = |name: &str| entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value);
    let address = some(field("address"), "an address that begins with http:// or https://", |kind| {
        name(kind).filter(|text| ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)))
    })?;
    let adapters = Adapter::names().collect::<Vec<_>>().join(", ");
    let efforts = Effort::names().collect::<Vec<_>>().join(", ");
    Ok(Provided {
        address,
        adapter: some(field("adapter"), &format!("one of {adapters}"), |kind| Adapter::named(&name(kind)?))?,
        key_env: some(field("key_env"), "the name of a variable", name)?,
        model: some(field("model"), "a model's name", name)?,
        context_tokens: some(field("context_tokens"), "a whole number of tokens from 1000 to 100000000", |kind| {
            whole(kind, 1_000, MAX_CONTEXT)
        })?,
        max_output: some(field("max_output"), "a whole number of tokens from 1 to 10000000", |kind| {
            bound(kind, MAX_OUTPUT)
        })?,
        prices: field("prices").map(price_list).transpose()?.unwrap_or_default(),
        effort: some(field("effort"), &format!("one of {efforts}"), |kind| Effort::named(&name(kind)?))?,
    })
}

/// More tokens than any model reads, or writes: a slip of the pen.
const MAX_CONTEXT: u64 = 100_000_000;
const MAX_OUTPUT: u64 = 10_000_000;

fn some<T>(node: Option<&Node>, wanted: &str, read: impl Fn(&Kind) -> Option<T>) -> Result<Option<T>, Wrong> {
    let Some(node) = node else { return Ok(None) };
    read(&node.kind).map_or_else(|| expected(node, wanted), |value| Ok(Some(value)))
}

/// Prices by the names of models, or one for all of them.
fn price_list(node: &Node) -> Result<PriceList, Wrong> {
    let Kind::Map(entries) = &node.kind else { return expected(node, PRICE_LIST) };
    if is_one_price(entries) {
        return Ok(PriceList::of_all(prices(node)?));
    }
    let mut list = PriceList::default();
    for (key, value) in entries {
        let name = key.name.as_str();
        let stem = name.strip_suffix(ANY).unwrap_or(name);
        if name.is_empty() || stem.contains(ANY) || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let spot = Node { kind: Kind::Text(name.to_owned()), spot: key.spot };
            return expected(&spot, "a model's name, which may end with one `*`");
        }
        list = list.with(name, prices(value)?);
    }
    Ok(list)
}

const PRICE_LIST: &str = "prices of a million tokens in US dollars: {input: 3, output: 15}, or those by the names of \
                          models";

/// Whether a mapping is the prices themselves. A model may be called `input`: its price is a mapping again.
fn is_one_price(entries: &[(Key, Node)]) -> bool {
    entries.is_empty() || entries.iter().any(|(_, value)| !matches!(value.kind, Kind::Map(_)))
}

/// Prices; what a cache costs is what the input costs where nothing is said.
fn prices(node: &Node) -> Result<Prices, Wrong> {
    let Kind::Map(entries) = &node.kind else { return expected(node, PRICE_LIST) };
    if let Some((key, _)) = entries.iter().find(|(key, _)| !PRICES.contains(&key.name.as_str())) {
        return Err(Wrong::unknown(key, PRICES));
    }
    let price = |name: &str| match entries.iter().find(|(key, _)| key.name == name).map(|(_, value)| value) {
        None => Ok(None),
        Some(value) => match &value.kind {
            Kind::Whole(dollars) => Ok(Some(*dollars as f64)),
            Kind::Odd(text) | Kind::Text(text) => match text.parse::<f64>() {
                Ok(dollars) if dollars.is_finite() && dollars >= 0.0 => Ok(Some(dollars)),
                _ => expected(value, "US dollars for a million tokens"),
            },
            _ => expected(value, "US dollars for a million tokens"),
        },
    };
    let (input, output) = (price("input")?, price("output")?);
    let (Some(input), Some(output)) = (input, output) else { return expected(node, "prices with input and output") };
    let cache = |name: &str| Ok::<_, Wrong>(price(name)?.unwrap_or(input));
    Ok(Prices { input, output, cache_read: cache("cache_read")?, cache_write: cache("cache_write")? })
}

pub(super) fn schema() -> Value {
    let price = json!({ "type": "number", "minimum": 0 });
    let prices = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["input", "output"],
        "properties": { "input": price, "output": price, "cache_read": price, "cache_write": price },
    });
    json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "address": { "type": "string", "pattern": "^https?://" },
                "adapter": { "enum": Adapter::names().collect::<Vec<_>>() },
                "key_env": { "type": "string" },
                "model": { "type": "string" },
                "context_tokens": { "type": "integer", "minimum": 1_000, "maximum": MAX_CONTEXT },
                "max_output": { "type": "integer", "minimum": 1, "maximum": MAX_OUTPUT },
                "effort": { "enum": Effort::names().collect::<Vec<_>>() },
                "prices": {
                    "anyOf": [
                        prices,
                        { "type": "object", "propertyNames": { "pattern": "^[^*\\s]*[*]?$" }, "additionalProperties": prices },
                    ],
                },
            },
        },
    })
}

pub(super) fn bound_schema(most: u64) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": most })
}
