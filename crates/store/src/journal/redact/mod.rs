//! What of a call's arguments may stand in the journal: no secrets, nothing long.
//!
//! A value under a name such as `password` goes whole; in other texts what looks like a credential
//! goes ([`secrets`]); a long text keeps its beginning, its length and its sha256. Each leaves
//! `[redacted:KIND]` in its place. This is a net for accidents, not a proof: a secret without a
//! name, a known form or a known place passes.

mod elements;
mod keys;
mod pairs;
mod piped;
mod programs;
mod rows;
mod secrets;
mod shapes;

use serde_json::{Map, Value};

use crate::hash::Hash;
use keys::Strength;

/// Characters of a text that are shown. The architecture's width of a preview.
const PREVIEW_CHARS: usize = 240;
/// How far behind the preview secrets are looked for: one that begins inside must be seen whole
/// enough to be known. The longest that need their end are tokens with a domain behind them.
const MARGIN_BYTES: usize = 4096;
/// Elements of a list, fields of an object, that are shown.
const MAX_ITEMS: usize = 100;

/// `value` as it may stand in the journal.
pub fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact_text(text)),
        Value::Array(items) => {
            let mut shown: Vec<Value> = items.iter().take(MAX_ITEMS).map(redact).collect();
            if items.len() > MAX_ITEMS {
                shown.push(Value::String(format!("[{} more]", items.len() - MAX_ITEMS)));
            }
            Value::Array(shown)
        }
        Value::Object(fields) => Value::Object(redact_fields(fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// `text` as it may stand in the journal.
pub fn redact_text(text: &str) -> String {
    // Bytes are never fewer than characters: the short way for almost every text.
    let cut = if text.len() <= PREVIEW_CHARS { None } else { text.char_indices().nth(PREVIEW_CHARS) };
    let Some((cut, _)) = cut else {
        return without_secrets(text, text.len());
    };
    let window = &text[..text.floor_char_boundary(cut + MARGIN_BYTES)];
    let shown = without_secrets(window, cut);
    format!("{shown}… [{} bytes, sha256 {}]", text.len(), Hash::of(text.as_bytes()))
}

/// Whether such a text is the beginning of a longer one.
pub fn is_shortened(text: &str) -> bool {
    text.ends_with(']') && text.rsplit_once("… [").is_some_and(|(_, rest)| rest.contains(" bytes, sha256 "))
}

/// The first `cut` bytes of `text`, with every secret that begins there replaced whole.
fn without_secrets(text: &str, cut: usize) -> String {
    let mut shown = String::with_capacity(cut + 32);
    let mut at = 0;
    for secret in secrets::find(text).iter().take_while(|secret| secret.range.start < cut) {
        shown.push_str(&text[at..secret.range.start]);
        push_mark(&mut shown, secret.kind);
        at = secret.range.end;
    }
    shown.push_str(text.get(at..cut).unwrap_or_default());
    shown
}

fn redact_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    // `{"name": "Authorization", "value": "…"}`: the name stands in another field.
    let named = ["name", "key", "header"].iter().find_map(|name| fields.get(*name)?.as_str());
    let named = named.and_then(keys::strength);
    let mut shown = Map::with_capacity(fields.len().min(MAX_ITEMS + 1));
    for (key, value) in fields.iter().take(MAX_ITEMS) {
        let strength = if key == "value" { named } else { None }.or_else(|| keys::strength(key));
        let is_secret = |text: &str| !keys::is_no_secret(key, text.as_bytes());
        let value = match strength.filter(|_| value.as_str().is_none_or(is_secret)) {
            Some(Strength::Strong) => hidden(value),
            Some(Strength::Weak) => match value.as_str() {
                Some(text) if secrets::is_random(text) => mark("key"),
                _ => redact(value),
            },
            None => redact(value),
        };
        shown.insert(redact_text(key), value);
    }
    if fields.len() > MAX_ITEMS {
        shown.insert("…".to_owned(), Value::String(format!("[{} more]", fields.len() - MAX_ITEMS)));
    }
    shown
}

/// A value under a secret's name. Its shape stays: it says what the call was.
fn hidden(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) if text.is_empty() => value.clone(),
        Value::String(_) | Value::Number(_) => mark("key"),
        Value::Array(items) => Value::Array(items.iter().take(MAX_ITEMS).map(hidden).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().take(MAX_ITEMS).map(|(key, value)| (redact_text(key), hidden(value))).collect())
        }
    }
}

fn mark(kind: &str) -> Value {
    let mut text = String::new();
    push_mark(&mut text, kind);
    Value::String(text)
}

fn push_mark(text: &mut String, kind: &str) {
    text.push_str("[redacted:");
    text.push_str(kind);
    text.push(']');
}

#[cfg(test)]
mod tables;
#[cfg(test)]
mod tests;
