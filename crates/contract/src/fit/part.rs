//! What is known of a value before it is there: all of it, some of it, or of which types it may be.

use std::borrow::Cow;

use serde_json::Value;

use super::{kind, names_of, same};

/// A value as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Part<'v> {
    /// All of it.
    Known(Cow<'v, Value>),
    /// That it is of one of these types, as JSON schema names them; nothing at all where there is none.
    Open(&'static [&'static str]),
    /// A list whose elements are known that far.
    List(Vec<Part<'v>>),
    /// Names and values that are known that far.
    Object(Vec<(String, Part<'v>)>),
}

impl<'v> Part<'v> {
    /// A value that is known.
    pub fn of(value: &'v Value) -> Part<'v> {
        Part::Known(Cow::Borrowed(value))
    }

    /// The same, owned.
    pub fn known_as(value: Value) -> Part<'static> {
        Part::Known(Cow::Owned(value))
    }

    /// The value, where all of it is known.
    pub fn known(&self) -> Option<&Value> {
        match self {
            Part::Known(value) => Some(value),
            _ => None,
        }
    }

    /// Its elements, where it is a list.
    pub(super) fn items(&self) -> Option<Vec<Part<'_>>> {
        match self {
            Part::List(items) => Some(items.iter().map(Part::again).collect()),
            Part::Known(value) => Some(value.as_array()?.iter().map(Part::of).collect()),
            _ => None,
        }
    }

    /// Its names and values, where it is an object.
    pub(super) fn entries(&self) -> Option<Vec<(&str, Part<'_>)>> {
        match self {
            Part::Object(entries) => Some(entries.iter().map(|(name, part)| (name.as_str(), part.again())).collect()),
            Part::Known(value) => {
                Some(value.as_object()?.iter().map(|(name, value)| (name.as_str(), Part::of(value))).collect())
            }
            _ => None,
        }
    }

    /// The same without what it owns.
    fn again(&self) -> Part<'_> {
        match self {
            Part::Known(value) => Part::Known(Cow::Borrowed(value)),
            Part::Open(kinds) => Part::Open(kinds),
            Part::List(items) => Part::List(items.iter().map(Part::again).collect()),
            Part::Object(entries) => {
                Part::Object(entries.iter().map(|(name, part)| (name.clone(), part.again())).collect())
            }
        }
    }

    /// Whether it is of one of `types`, a name or a list of them; `None` where that is not known.
    pub(super) fn is_of(&self, types: &Value) -> Option<bool> {
        let names = names_of(types);
        let named = |kind: &str| names.iter().any(|name| name == kind);
        match self {
            Part::Known(value) => Some(names.iter().any(|name| is_one(name, value))),
            Part::List(_) => Some(named("array")),
            Part::Object(_) => Some(named("object")),
            Part::Open([]) => None,
            Part::Open(kinds) => {
                // A number may be a whole one.
                let may = |kind: &&str| named(kind) || (*kind == "number" && named("integer"));
                let is = |kind: &&str| named(kind) || (*kind == "integer" && named("number"));
                match (kinds.iter().all(is), kinds.iter().any(|kind| may(kind) || is(kind))) {
                    (true, _) => Some(true),
                    (false, true) => None,
                    (false, false) => Some(false),
                }
            }
        }
    }

    /// Whether it is this value; `None` where that is not known.
    pub(super) fn is(&self, other: &Value) -> Option<bool> {
        match (self, other) {
            (Part::Known(value), other) => Some(same(value, other)),
            (Part::Open(kinds), other) => {
                let may = kinds.is_empty() || kinds.iter().any(|kind| is_one(kind, other));
                if may { None } else { Some(false) }
            }
            (Part::List(items), Value::Array(others)) if items.len() == others.len() => {
                all(items.iter().zip(others).map(|(item, other)| item.is(other)))
            }
            (Part::Object(entries), Value::Object(others)) if entries.len() == others.len() => {
                all(entries.iter().map(|(name, part)| others.get(name).map_or(Some(false), |other| part.is(other))))
            }
            _ => Some(false),
        }
    }

    /// As messages name it.
    pub(super) fn kind(&self) -> String {
        match self {
            Part::Known(value) => kind(value).to_owned(),
            Part::List(_) => "an array".to_owned(),
            Part::Object(_) => "an object".to_owned(),
            Part::Open(kinds) => kinds.join(" or "),
        }
    }
}

/// Whether all of them are; a single no decides.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = true;
    for one in each {
        match one {
            Some(true) => {}
            Some(false) => return Some(false),
            None => known = false,
        }
    }
    known.then_some(true)
}

fn is_one(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        // 1.0 is an integer.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}
