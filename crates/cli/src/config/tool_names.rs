//! Names of tools in configuration. One that no tool has, in any dialect, would bound, list or refuse nothing, and nobody
//! would know: it is an error, with the names that are like it.

use nika_contract::text::near_names;
use nika_guard::{Rule, names};

use super::change::Change;
use super::keys::{Reads, Wrong};
use super::values;
use super::yaml::{Key, Kind, Node, Spot};

/// Words of `tools.list` that are no names.
const LISTS: [&str; 2] = ["all", "eager"];

/// Why a name is none; nothing where it is one.
pub(super) fn flaw(name: &str) -> Option<String> {
    if names::is_known(name) {
        return None;
    }
    let mut near: Vec<&str> = Vec::new();
    for like in near_names(name, names::all().map(str::to_owned), 3) {
        let ours = names::all().find(|known| *known == like).map(names::canonical);
        near.extend(ours.filter(|ours| !near.contains(ours)));
    }
    let near =
        if near.is_empty() { "`nika tools` lists all".to_owned() } else { format!("is it {}?", near.join(" or ")) };
    Some(format!("no tool is called '{}'; {near}", name.escape_debug()))
}

/// The name of ours for a tool's in any dialect.
pub(super) fn canonical(name: &str) -> &str {
    names::canonical(name.strip_prefix("nika_").unwrap_or(name))
}

/// Why a rule would hold for nothing.
pub(super) fn flaw_of_rule(rule: &Rule) -> Option<String> {
    rule.unknown_tool().and_then(flaw).map(|why| format!("rule '{rule}': {why}"))
}

/// Refuses a name that is none, where it stands.
pub(super) fn check(name: &str, spot: Spot) -> Result<(), Wrong> {
    match flaw(name) {
        Some(what) => Err(Wrong::Value { spot, what, hint: None }),
        None => Ok(()),
    }
}

/// Refuses a key that is no tool's name.
pub(super) fn check_key(key: &Key) -> Result<(), Wrong> {
    check(&key.name, key.spot)
}

/// `tools.list`: each name where it stands.
pub(super) fn list(node: &Node, _home: Option<&str>) -> Reads {
    let read = values::one(node, "eager, all, or a list of tool names", values::listing)?;
    let named: Vec<(&str, Spot)> = match &node.kind {
        Kind::List(items) => items.iter().filter_map(|item| Some((text(item)?, item.spot))).collect(),
        _ => text(node).into_iter().flat_map(|text| text.split(',')).map(|name| (name, node.spot)).collect(),
    };
    let names = named.into_iter().map(|(name, spot)| (name.trim(), spot));
    for (name, spot) in names.filter(|(name, _)| !LISTS.contains(name) && !name.is_empty()) {
        check(name, spot)?;
    }
    debug_assert!(read.iter().all(|(.., change)| matches!(change, Change::List(_))), "the row is that of a list");
    Ok(read)
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Text(text) => Some(text),
        _ => None,
    }
}
