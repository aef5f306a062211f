//! Which keys each older version has, and what became of them: one table a place.

use std::fmt;

use nika_contract::code;
use nika_contract::text::near_names;

use super::Reader;
use crate::finding::Finding;
use crate::model::At;
use crate::read::yaml::{Kind, Node};

/// The digit behind `nika/workflow@0.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(u8);

impl Release {
    /// The release that a document's `schema` names; none for any other version.
    pub fn of(schema: &str) -> Option<Release> {
        match schema.strip_prefix("nika/workflow@0.")?.as_bytes() {
            [digit @ b'1'..=b'5'] => Some(Release(digit - b'0')),
            _ => None,
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.{}", self.0)
    }
}

/// A key of older documents.
pub(super) struct Key {
    name: &'static str,
    /// The release that it came with.
    since: u8,
    fate: Fate,
}

/// What became of a key.
enum Fate {
    Carried,
    /// Not carried over; what to write instead.
    Gone(&'static str),
}

const fn key(name: &'static str, since: u8) -> Key {
    Key { name, since, fate: Fate::Carried }
}

const fn gone(name: &'static str, since: u8, instead: &'static str) -> Key {
    Key { name, since, fate: Fate::Gone(instead) }
}

/// Of the document.
pub(super) const DOCUMENT: &[Key] = &[
    key("schema", 1),
    key("workflow", 1),
    key("description", 1),
    key("provider", 1),
    key("model", 1),
    key("mcp", 2),
    key("tasks", 1),
    key("flows", 1),
];

/// Of a task.
pub(super) const TASK: &[Key] = &[
    key("id", 1),
    key("description", 1),
    key("depends_on", 1),
    key("use", 1),
    key("output", 1),
    key("infer", 1),
    key("exec", 1),
    key("fetch", 1),
    key("invoke", 2),
    key("agent", 2),
    key("for_each", 3),
    key("as", 3),
    key("concurrency", 3),
    key("fail_fast", 3),
    gone("decompose", 5, "write a task that makes the list (`output: {format: json}`), and `for_each` in the next one"),
    gone("spawn_agent", 5, "write an `agent` task of its own; `use` hands over what it has to know"),
];

/// Of `infer`.
pub(super) const INFER: &[Key] = &[key("prompt", 1), key("provider", 1), key("model", 1)];
/// Of `exec`.
pub(super) const EXEC: &[Key] = &[key("command", 1)];
/// Of `fetch`.
pub(super) const FETCH: &[Key] = &[key("url", 1), key("method", 1), key("headers", 1), key("body", 1)];
/// Of `invoke`.
pub(super) const INVOKE: &[Key] = &[key("mcp", 2), key("tool", 2), key("resource", 2), key("params", 2)];
/// Of `agent`.
pub(super) const AGENT: &[Key] = &[
    key("prompt", 2),
    key("system", 2),
    key("provider", 2),
    key("model", 2),
    key("mcp", 2),
    key("max_turns", 2),
    key("token_budget", 2),
    gone("stop_conditions", 2, "say in `prompt` when it is done; `max_turns` and `token_budget` bound it"),
    // `full` is how agents are here; other values are not carried over.
    key("scope", 2),
    key("extended_thinking", 2),
    gone("thinking_budget", 2, "say how hard the model thinks in the configuration: `providers.NAME.effort: high`"),
    gone(
        "depth_limit",
        2,
        "take it out: an agent of a workflow starts others only where `tools` of nika/workflow@1 has `agent`",
    ),
    gone("spawn_agent", 5, "write an `agent` task of its own; `use` hands over what it has to know"),
];
/// Of `output`.
pub(super) const OUTPUT: &[Key] = &[key("format", 1), key("schema", 1)];
/// Of a name in `use`.
pub(super) const BINDING: &[Key] = &[key("path", 1), key("default", 1), key("lazy", 5)];
/// Of an entry of `flows`.
pub(super) const FLOWS: &[Key] = &[key("source", 1), key("target", 1)];

/// Keys that came with `nika/workflow@1`.
const TODAY: &[&str] = &[
    "name", "inputs", "secrets", "permits", "limits", "outputs", "when", "retry", "timeout", "on_error", "cwd", "env",
    "stdin", "ok_exit", "capture", "shell", "read", "workflow", "tools", "system",
];

/// The entries of a mapping that were taken.
pub(super) struct Taken<'n> {
    entries: Vec<(&'n At<String>, &'n Node)>,
    /// What the keys that were complained about may have meant.
    meant: Vec<String>,
}

impl<'n> Taken<'n> {
    /// The value of a key.
    pub fn get(&self, name: &str) -> Option<&'n Node> {
        self.entry(name).map(|(_, node)| node)
    }

    /// A key with its value.
    pub fn entry(&self, name: &str) -> Option<(&'n At<String>, &'n Node)> {
        self.entries.iter().find(|(key, _)| key.value == name).copied()
    }

    /// Whether a key that was complained about may have been this one.
    pub fn missed(&self, name: &str) -> bool {
        self.meant.iter().any(|meant| meant == name)
    }

    /// Every entry, in the document's order.
    pub fn all(&self) -> &[(&'n At<String>, &'n Node)] {
        &self.entries
    }
}

impl Reader<'_> {
    /// The entries of a mapping; what does not belong there is said.
    pub(super) fn mapping<'n>(&mut self, node: &'n Node, what: &str, table: &'static [Key]) -> Option<Taken<'n>> {
        let Kind::Map(entries) = &node.kind else {
            let names = names(table, self.release);
            let message = format!("{what} is names and values ({names}), not {}", node.described());
            self.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message));
            return None;
        };
        let mut taken: Vec<(&At<String>, &Node)> = Vec::new();
        let mut meant = Vec::new();
        for (key, value) in entries {
            if let Some((first, _)) = taken.iter().find(|(known, _)| known.value == key.value) {
                let message = format!("`{}` stands here twice; first in line {}", key.value, first.at.line);
                self.findings.push(Finding::error(code::FLOW_NAME, key.at, message));
            } else if self.takes(key, what, table) {
                taken.push((key, value));
            } else {
                meant.push(key.value.clone());
                meant.extend(near_names(&key.value, table.iter().map(|known| known.name.to_owned()), 1));
            }
        }
        Some(Taken { entries: taken, meant })
    }

    fn takes(&mut self, key: &At<String>, what: &str, table: &'static [Key]) -> bool {
        let name = key.value.as_str();
        let Some(known) = table.iter().find(|known| known.name == name) else {
            let message = format!("`{name}` is no key of {what}");
            let instead = match TODAY.contains(&name) {
                true => format!("`{name}` came with nika/workflow@1; this document is written in @{}", self.release),
                false => {
                    let known = table.iter().filter(|known| known.since <= self.release.0);
                    match near_names(name, known.map(|known| known.name.to_owned()), 1).first() {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("it takes {}", names(table, self.release)),
                    }
                }
            };
            self.findings.push(Finding::error(code::FLOW_SHAPE, key.at, message).suggest(instead));
            return false;
        };
        match known.fate {
            Fate::Gone(instead) => {
                self.gone(key.at, &format!("`{name}`"), instead);
                false
            }
            Fate::Carried if known.since > self.release.0 => {
                let (since, release) = (known.since, self.release);
                let message = format!("`{name}` came with nika/workflow@0.{since}; this document says @{release}");
                let instead = format!("write `schema: nika/workflow@0.{since}`");
                self.findings.push(Finding::error(code::FLOW_SHAPE, key.at, message).suggest(instead));
                false
            }
            Fate::Carried => true,
        }
    }
}

fn names(table: &'static [Key], release: Release) -> String {
    let known = table.iter().filter(|key| key.since <= release.0 && matches!(key.fate, Fate::Carried));
    known.map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_releases_and_no_other() {
        for digit in 1..=5 {
            assert_eq!(Release::of(&format!("nika/workflow@0.{digit}")), Some(Release(digit)));
        }
        for other in ["nika/workflow@1", "nika/workflow@0.6", "nika/workflow@0.12", "nika/workflow@0.0", "0.1", ""] {
            assert_eq!(Release::of(other), None, "{other}");
        }
    }
}
