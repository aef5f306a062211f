//! Policy manifests: `.nika/policy.json` and the names that other agents use for the same file.
//!
//! A manifest says in JSON what a repository, a person or an administrator wants of every session: tools that
//! are not there, budgets, settings, variables that commands may see, texts for the model. Both styles of
//! keys are read; what is not known, stands twice or has the wrong kind is an error with its line, as a
//! manifest that is half understood protects half.
//!
//! Who wins over whom, and what an untrusted one may say, is not known here: [`parse`] answers with entries,
//! each with its place, and configuration settles them like its own.

mod json;

use crate::budget::Budget;
use crate::rule::{Rule, is_tool};

pub use json::{Json, JsonKey, JsonKind};

/// A place in the text; lines and columns start at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The line.
    pub line: u64,
    /// The column.
    pub column: u64,
}

/// One thing that a manifest says.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The key, canonical: `denyTools`, `budget.max_tool_calls`, `hooks.beforeTool`.
    pub key: String,
    /// Where its value stands.
    pub spot: Spot,
    /// What it says.
    pub says: Says,
}

/// What an entry says.
#[derive(Debug, Clone)]
pub enum Says {
    /// Whether the repository may be trusted. Only `false` means something.
    Trusted(bool),
    /// A setting of Nika's or of another program's: its key and its value.
    Setting(JsonKey, Json),
    /// A variable of the environment that commands may see.
    SafeEnv(String),
    /// A tool that is not there.
    Deny(Rule),
    /// How much a session may spend.
    Budget(Budget, u64),
    /// A text for the model.
    Message(Message),
}

/// When a text is put before the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// At the start of a conversation.
    BeforePrompt,
    /// With a tool's answer, for what should be known before it is used again.
    BeforeTool,
    /// With a tool's answer, about that answer.
    AfterTool,
    /// When a turn has ended.
    AfterTurn,
}

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// When.
    pub moment: Moment,
    /// For which tool, by its name in any dialect; `None` for every one.
    pub tool: Option<String>,
    /// What.
    pub text: String,
    /// `file:line`; empty until somebody knows the file.
    pub at: String,
}

/// The texts in force, the nearest manifest's first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages(pub Vec<Message>);

impl Messages {
    /// The texts of a moment that concern no tool.
    pub fn at(&self, moment: Moment) -> impl Iterator<Item = &Message> {
        self.0.iter().filter(move |message| message.moment == moment)
    }

    /// The texts of a moment for a tool, by its canonical name.
    pub fn for_tool<'a>(&'a self, moment: Moment, tool: &'a str) -> impl Iterator<Item = &'a Message> {
        self.at(moment).filter(move |message| message.tool.as_deref().is_none_or(|named| is_tool(named, tool)))
    }
}

/// Why a manifest cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {what}", .spot.line, .spot.column)]
pub struct ManifestError {
    /// Where.
    pub spot: Spot,
    /// What is wrong there.
    pub what: String,
    /// The unknown key, and those that are known in its place.
    pub unknown: Option<(String, Vec<&'static str>)>,
}

/// Canonical keys, and other ways to write each.
type Keys = &'static [(&'static str, &'static [&'static str])];

const KEYS: Keys = &[
    ("trusted", &[]),
    ("managedSettings", &["managed_settings"]),
    ("safeEnv", &["safe_env", "safeEnvNames", "safe_env_names"]),
    ("denyTools", &["deny_tools"]),
    ("denyToolPrefixes", &["deny_tool_prefixes"]),
    ("budget", &["budgetOverrides", "budget_overrides"]),
    ("hooks", &[]),
];

const MOMENTS: Keys = &[
    ("beforePrompt", &["before_prompt"]),
    ("beforeTool", &["before_tool"]),
    ("afterTool", &["after_tool"]),
    ("afterTurn", &["after_turn"]),
];

/// The most characters of one text: it is paid for with every answer that it comes with.
const MAX_MESSAGE_CHARS: usize = 4_000;

/// Everything that a manifest says, in the order it is written.
pub fn parse(text: &str) -> Result<Vec<Entry>, ManifestError> {
    let root =
        json::parse(text).map_err(|broken| ManifestError { spot: broken.spot, what: broken.what, unknown: None })?;
    let mut entries = Vec::new();
    let mut say = |key: String, spot, says| entries.push(Entry { key, spot, says });
    for (name, key, value) in fields(&root, KEYS)? {
        let plain = || name.to_owned();
        match name {
            "trusted" => match value.kind {
                JsonKind::Bool(said) => say(plain(), value.spot, Says::Trusted(said)),
                _ => return expected(value, "true or false"),
            },
            "managedSettings" => {
                for (key, value) in object(value)? {
                    say(format!("managedSettings.{}", key.name), key.spot, Says::Setting(key.clone(), value.clone()));
                }
            }
            "safeEnv" => {
                for (name, spot) in texts(value)? {
                    say(plain(), spot, Says::SafeEnv(variable(name, spot)?));
                }
            }
            "denyTools" => {
                for (name, spot) in texts(value)? {
                    say(plain(), spot, Says::Deny(Rule::denying_tool(tool_name(name, spot)?)));
                }
            }
            "denyToolPrefixes" => {
                for (prefix, spot) in texts(value)? {
                    for rule in Rule::denying_prefix(tool_name(prefix, spot)?) {
                        say(plain(), spot, Says::Deny(rule));
                    }
                }
            }
            "budget" => {
                let mut met: Vec<(Budget, u64)> = Vec::new();
                for (key, value) in object(value)? {
                    let (budget, amount) = budget(key, value)?;
                    twice(met.iter().find(|(other, _)| *other == budget).map(|(_, line)| *line), key)?;
                    met.push((budget, key.spot.line));
                    say(format!("budget.{budget}"), value.spot, Says::Budget(budget, amount));
                }
            }
            _ => {
                debug_assert_eq!(key.name, "hooks");
                for (name, _, value) in fields(value, MOMENTS)? {
                    for (message, spot) in messages(name, value)? {
                        say(format!("hooks.{name}"), spot, Says::Message(message));
                    }
                }
            }
        }
    }
    Ok(entries)
}

/// Whether a variable's name is one that credentials have. A repository may not name such a one, trusted or
/// not: only the person knows what theirs hold.
pub fn looks_like_credential(name: &str) -> bool {
    const PARTS: &[&str] =
        &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "AUTH", "PRIVATE", "COOKIE"];
    let name = name.to_ascii_uppercase();
    let word = |wanted: &str| name.split('_').any(|word| word == wanted);
    PARTS.iter().any(|part| name.contains(part))
        || word("KEY")
        || word("KEYS")
        || word("PASS")
        || word("PWD") && name != "PWD"
}

fn messages(name: &str, value: &Json) -> Result<Vec<(Message, Spot)>, ManifestError> {
    let moment = match name {
        "beforePrompt" => Moment::BeforePrompt,
        "beforeTool" => Moment::BeforeTool,
        "afterTool" => Moment::AfterTool,
        _ => Moment::AfterTurn,
    };
    let message = |tool: Option<&str>, (text, spot): (&str, Spot)| {
        let count = text.chars().count();
        if count == 0 || count > MAX_MESSAGE_CHARS {
            return wrong(spot, format!("a text has 1 to {MAX_MESSAGE_CHARS} characters, and this has {count}"));
        }
        Ok((Message { moment, tool: tool.map(str::to_owned), text: text.to_owned(), at: String::new() }, spot))
    };
    if !matches!(moment, Moment::BeforeTool | Moment::AfterTool) {
        return texts(value)?.into_iter().map(|text| message(None, text)).collect();
    }
    let mut found = Vec::new();
    for (key, value) in object(value)? {
        let tool = tool_name(&key.name, key.spot)?;
        let tool = (tool != "*").then_some(tool);
        for text in texts(value)? {
            found.push(message(tool, text)?);
        }
    }
    Ok(found)
}

fn budget(key: &JsonKey, value: &Json) -> Result<(Budget, u64), ManifestError> {
    let Some(budget) = Budget::all().find(|budget| key.name == budget.key() || key.name == budget.camel_key()) else {
        return unknown(key, Budget::all().map(Budget::key).collect());
    };
    let amount = match &value.kind {
        JsonKind::Number(text) => budget.parse(text),
        _ => None,
    };
    match amount {
        Some(amount) => Ok((budget, amount)),
        None if budget == Budget::TotalCost => expected(value, "US dollars with at most six decimals"),
        None => expected(value, "a whole number"),
    }
}

/// A tool's name or the beginning of one.
fn tool_name(name: &str, spot: Spot) -> Result<&str, ManifestError> {
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return wrong(spot, format!("'{}' is no tool's name; `*` stands for every tool", name.escape_debug()));
    }
    Ok(name)
}

fn variable(name: &str, spot: Spot) -> Result<String, ManifestError> {
    let fine = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fine { Ok(name.to_owned()) } else { wrong(spot, format!("'{}' is no variable's name", name.escape_debug())) }
}

/// The fields of an object, under their canonical names. Each once, whichever way it is written.
fn fields(node: &Json, keys: Keys) -> Result<Vec<(&'static str, &JsonKey, &Json)>, ManifestError> {
    let mut found: Vec<(&'static str, &JsonKey, &Json)> = Vec::new();
    for (key, value) in object(node)? {
        let row = keys.iter().find(|(name, others)| *name == key.name || others.contains(&key.name.as_str()));
        let Some((name, _)) = row else { return unknown(key, keys.iter().map(|(name, _)| *name).collect()) };
        twice(found.iter().find(|(other, ..)| other == name).map(|(_, key, _)| key.spot.line), key)?;
        found.push((name, key, value));
    }
    Ok(found)
}

fn twice(before: Option<u64>, key: &JsonKey) -> Result<(), ManifestError> {
    match before {
        None => Ok(()),
        Some(line) => wrong(key.spot, format!("`{}` says again what line {line} says in the other style", key.name)),
    }
}

fn object(node: &Json) -> Result<&[(JsonKey, Json)], ManifestError> {
    match &node.kind {
        JsonKind::Map(entries) => Ok(entries),
        _ => expected(node, "an object"),
    }
}

/// One text, or a list of them.
fn texts(node: &Json) -> Result<Vec<(&str, Spot)>, ManifestError> {
    let one = |node: &'_ Json| matches!(node.kind, JsonKind::Text(_));
    let items = match &node.kind {
        JsonKind::List(items) => items.as_slice(),
        JsonKind::Text(_) => std::slice::from_ref(node),
        _ => return expected(node, "text or a list of texts"),
    };
    match items.iter().find(|item| !one(item)) {
        Some(other) => expected(other, "text"),
        None => Ok(items
            .iter()
            .filter_map(|item| match &item.kind {
                JsonKind::Text(text) => Some((text.as_str(), item.spot)),
                _ => None,
            })
            .collect()),
    }
}

fn expected<T>(node: &Json, wanted: &str) -> Result<T, ManifestError> {
    wrong(node.spot, format!("found {} where {wanted} is expected", node.describe()))
}

fn unknown<T>(key: &JsonKey, known: Vec<&'static str>) -> Result<T, ManifestError> {
    let what = format!("unknown key `{}`", key.name.escape_debug());
    Err(ManifestError { spot: key.spot, what, unknown: Some((key.name.clone(), known)) })
}

fn wrong<T>(spot: Spot, what: String) -> Result<T, ManifestError> {
    Err(ManifestError { spot, what, unknown: None })
}

#[cfg(test)]
mod tests;
