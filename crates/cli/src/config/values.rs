//! What the keys take: each reader looks at one node and answers with a change, or says what it expected.

use super::change::{Change, UNITS};
use super::keys::{Reads, expected};
use super::tool_names;
use super::yaml::{Key, Kind, Node};

pub(super) fn one(node: &Node, wanted: &str, read: impl Fn(&Kind) -> Option<Change>) -> Reads {
    match read(&node.kind) {
        Some(change) => Ok(vec![(node.spot, None, change)]),
        None => expected(node, wanted),
    }
}

pub(super) fn word<T: Copy>(kind: &Kind, words: &[(&str, T)]) -> Option<T> {
    let said = match kind {
        Kind::Text(text) => text.as_str(),
        Kind::Bool(true) => "true",
        Kind::Bool(false) => "false",
        _ => return None,
    };
    words.iter().find(|(word, _)| *word == said).map(|(_, value)| *value)
}

pub(super) fn whole(kind: &Kind, least: u64, most: u64) -> Option<u64> {
    match kind {
        Kind::Whole(count) if (least..=most).contains(count) => Some(*count),
        _ => None,
    }
}

pub(super) const CHARS: &str = "a whole number of characters from 1000 to 10000000";

/// At least a thousand, as an answer has to hold its own notice; at most ten million, 40 MB.
pub(super) fn chars(kind: &Kind) -> Option<usize> {
    whole(kind, 1_000, 10_000_000).and_then(|count| usize::try_from(count).ok())
}

pub(super) fn chars_by_tool(node: &Node, _home: Option<&str>) -> Reads {
    let read = |(key, value): &(Key, Node)| {
        tool_names::check_key(key)?;
        match chars(&value.kind) {
            Some(count) => {
                let tool = tool_names::canonical(&key.name).to_owned();
                Ok((value.spot, Some(key.name.clone()), Change::MaxChars(tool, count)))
            }
            None => expected(value, CHARS),
        }
    };
    match &node.kind {
        Kind::Nothing => Ok(Vec::new()),
        Kind::Map(entries) => entries.iter().map(read).collect(),
        _ => expected(node, "a mapping from tool names to characters"),
    }
}

pub(super) fn listing(kind: &Kind) -> Option<Change> {
    let named = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    match kind {
        Kind::Text(text) if named(text) => Some(Change::List(text.clone())),
        Kind::List(items) if !items.is_empty() => {
            let name = |item: &Node| match &item.kind {
                Kind::Text(text) if named(text) && !text.contains(',') => Some(text.clone()),
                _ => None,
            };
            let names: Option<Vec<String>> = items.iter().map(name).collect();
            names.map(|names| Change::List(names.join(",")))
        }
        _ => None,
    }
}

pub(super) fn size(kind: &Kind) -> Option<u64> {
    match kind {
        Kind::Whole(bytes) => Some(*bytes),
        Kind::Text(text) => {
            let (name, unit) = UNITS.iter().find(|(name, _)| text.ends_with(name))?;
            text.strip_suffix(name)?.trim_end().parse::<u64>().ok()?.checked_mul(*unit)
        }
        _ => None,
    }
}
