//! YAML text as a tree in which every node and every key knows its line and column.
//!
//! One generic tree and a table of keys, not one struct a section: the same reader then serves files and
//! `--set`, names near misses, and points at the exact word that is wrong. The parser is given small
//! budgets, as a project's file may come from anybody.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Location, Spanned};

/// A place in the text; lines and columns start at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub line: u64,
    pub column: u64,
}

impl Spot {
    /// The first character.
    pub const START: Spot = Spot { line: 1, column: 1 };
}

impl From<Location> for Spot {
    fn from(location: Location) -> Spot {
        Spot { line: location.line().max(1), column: location.column().max(1) }
    }
}

/// A node and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub kind: Kind,
    pub spot: Spot,
}

/// What a node is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Nothing,
    Bool(bool),
    Whole(u64),
    Text(String),
    /// A scalar that no key takes: a fraction, a negative number.
    Odd(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub name: String,
    pub spot: Spot,
}

/// Text that is not YAML, or more than a configuration needs.
#[derive(Debug)]
pub(super) struct Broken {
    pub spot: Spot,
    pub what: String,
}

impl Node {
    /// How an error names it.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Nothing => "nothing".into(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Whole(value) => format!("`{value}`"),
            Kind::Text(text) | Kind::Odd(text) => format!("'{}'", text.escape_debug()),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a mapping".into(),
        }
    }
}

/// Parses one document. Empty text is [`Kind::Nothing`].
pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let options = serde_saphyr::options! {
        // The deepest key of the schema lies four levels down.
        budget: serde_saphyr::budget! {
            max_depth: 16, max_nodes: 20_000, max_events: 60_000, max_aliases: 200, max_anchors: 50, max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000, max_replay_stack_depth: 8, max_alias_expansions_per_anchor: 200,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        // `fsync: off` is a word, and `no` is not a boolean.
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let nodes: Vec<Spanned<Bare>> =
        serde_saphyr::from_multiple_with_options(text.strip_prefix('\u{feff}').unwrap_or(text), options)
            .map_err(|error| broken(&error))?;
    Ok(nodes.into_iter().next().map_or(Node { kind: Kind::Nothing, spot: Spot::START }, Node::from))
}

fn broken(error: &serde_saphyr::Error) -> Broken {
    use serde_saphyr::Error;
    let spot = error.location().map_or(Spot::START, Spot::from);
    let error = match error.without_snippet() {
        Error::AliasError { error, .. } => error.without_snippet(),
        error => error,
    };
    let what = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` occurs twice"),
        Error::DuplicateMappingKey { .. } => "a key occurs twice".into(),
        Error::MergeKeyNotAllowed { .. } => "merge keys (`<<`) are not taken here; write the values out".into(),
        Error::NullIntoString { .. } => "a key is missing before the `:`".into(),
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } | Error::MultipleDocuments { .. } => {
            "a second document starts here (`---`); a configuration is one document".into()
        }
        Error::Budget { .. } => "this is deeper or larger than any configuration needs".into(),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => "aliases (`*name`) expand to more than is taken here".into(),
        // The position is said before the message already.
        other => {
            let text = other.to_string();
            text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
        }
    };
    Broken { spot, what }
}

impl From<Spanned<Bare>> for Node {
    fn from(spanned: Spanned<Bare>) -> Node {
        Node { kind: spanned.value.0, spot: spanned.referenced.into() }
    }
}

struct Bare(Kind);

impl<'de> Deserialize<'de> for Bare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bare, D::Error> {
        deserializer.deserialize_any(Anything).map(Bare)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, a list or a mapping")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Nothing)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(u64::try_from(value).map_or_else(|_| Kind::Odd(value.to_string()), Kind::Whole))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Kind, E> {
        Ok(Kind::Odd(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Kind, E> {
        Ok(Kind::Odd(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Kind::Odd(value.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
        Ok(Kind::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Kind, E> {
        Ok(Kind::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Kind, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Bare>>()? {
            list.push(item.into());
        }
        Ok(Kind::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Kind, A::Error> {
        let mut map = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Spanned<String>, Spanned<Bare>>()? {
            map.push((Key { name: key.value, spot: key.referenced.into() }, value.into()));
        }
        Ok(Kind::Map(map))
    }
}
