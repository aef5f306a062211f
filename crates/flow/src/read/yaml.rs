//! YAML text as a tree in which every value and every key knows its place.
//!
//! One tree and tables of keys, not one struct a section: so all that is wrong is found at once, near misses are named,
//! and each finding points at its word. The parser has bounds, as a workflow may come from anybody.

use std::fmt;

use nika_contract::code;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Location, Spanned};

use super::slips::{no_colon, slip};
use crate::finding::Finding;
use crate::model::{At, Span};

/// Bytes of a document. Ten thousand tasks of the usual size fit four times.
pub const MAX_BYTES: usize = 4 << 20;

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub kind: Kind,
    pub at: Span,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(At<String>, Node)>),
}

impl Node {
    /// How a finding names what stands there.
    pub fn described(&self) -> String {
        let short = |text: &str| nika_contract::text::preview(text, 40);
        match &self.kind {
            Kind::Null => "nothing".into(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Number(value) => format!("the number {value}"),
            Kind::Text(text) if text.is_empty() => "an empty text".into(),
            Kind::Text(text) => format!("the text '{}'", short(text)),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a mapping".into(),
        }
    }

    /// As JSON; of keys that occur twice the last counts.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(value) => Value::Number(value.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Node::value).collect()),
            Kind::Map(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.value.clone(), node.value())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// Parses one document.
pub(crate) fn parse(text: &str) -> Result<Node, Finding> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = Span { line: 1, column: 1, length: 1 };
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; a workflow has at most {MAX_BYTES}", text.len());
        return Err(Finding::error(code::FLOW_UNREADABLE, start, message)
            .suggest("keep data in files of their own, and read them with a task"));
    }
    let options = serde_saphyr::options! {
        // Deepest in use: a schema inside `output` inside a task, a dozen levels of objects.
        budget: serde_saphyr::budget! {
            max_depth: 64, max_nodes: 600_000, max_events: 1_500_000, max_aliases: 1_000, max_anchors: 200,
            max_documents: 2,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 50_000, max_replay_stack_depth: 8, max_alias_expansions_per_anchor: 500,
        },
        // Ours finds them all, and says where the first one stands.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::Error,
        // `fail_fast: no` is a word, and not a truth value.
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let nodes: Vec<Spanned<Bare>> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| broken(text, &error))?;
    let mut nodes = nodes.into_iter().map(Node::from);
    match (nodes.next(), nodes.next()) {
        (_, Some(second)) => {
            let message = "a second document begins here (`---`); a workflow is one document";
            Err(Finding::error(code::FLOW_UNREADABLE, second.at, message).suggest("put it into a file of its own"))
        }
        (Some(Node { kind: Kind::Null, .. }) | None, None) => {
            Err(Finding::error(code::FLOW_UNREADABLE, start, "the file is empty")
                .suggest("`nika init` writes a workflow to begin with"))
        }
        (Some(node), None) => Ok(node),
    }
}

fn broken(text: &str, error: &serde_saphyr::Error) -> Finding {
    use serde_saphyr::Error;
    let mut at = error.location().map_or(Span { line: 1, column: 1, length: 1 }, |location| span(&location));
    let error = match error.without_snippet() {
        Error::AliasError { error, .. } => error.without_snippet(),
        error => error,
    };
    let large = "this is larger or deeper than a workflow is";
    let (what, instead) = match error {
        Error::MergeKeyNotAllowed { .. } => ("merge keys (`<<`) are not taken".into(), "write the values out"),
        Error::NullIntoString { .. } => ("a key is missing before the `:`".into(), ""),
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } | Error::MultipleDocuments { .. } => {
            ("another document begins here (`---`); a workflow is one document".into(), "put it into a file of its own")
        }
        Error::Budget { .. } => (large.into(), "keep data in files of their own, and read them with a task"),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            ("aliases (`*name`) expand to more than is taken".into(), "write the values out")
        }
        // The place is said before the message already.
        other => {
            let text = other.to_string();
            let what = text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned());
            (what, "")
        }
    };
    let (mut what, mut instead) = (what, instead.to_owned());
    // A scanner stops some words after the tab, or where a text began that the tab ends; it is what a reader has to see.
    let to = at.line + usize::from(what.contains("a tab"));
    let tab = text.lines().take(to).enumerate().find_map(|(number, line)| {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let column = line[..indent].find('\t')?;
        (!line.trim().is_empty()).then_some(Span { line: number + 1, column: column + 1, length: 1 })
    });
    if let Some(tab) = tab {
        (at, what, instead) = (tab, "a tab indents this line".into(), "indent with spaces".into());
    } else if instead.is_empty() {
        let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
        if [": {{", "- {{", "[{{", ", {{"].iter().any(|begin| line.contains(begin)) {
            instead = "a value that begins with `{{` has to be quoted: \"{{ … }}\"".into();
        } else if what.contains("mapping values are not allowed")
            && let Some((of, said)) = no_colon(text, at.line)
        {
            (at, what) = (of, "this line is neither a key with its value nor a text that goes on".into());
            instead = said;
        } else if let Some(slip) = slip(text, at.line) {
            instead = slip;
        }
    }
    at.length = at.length.max(1);
    Finding::error(code::FLOW_UNREADABLE, clamped(text, at), what)
        .suggest_some((!instead.is_empty()).then_some(instead))
}

/// A place inside the text: a scanner may stop past its end.
fn clamped(text: &str, at: Span) -> Span {
    let lines = text.lines().count().max(1);
    let line = at.line.clamp(1, lines);
    let width = text.lines().nth(line - 1).map_or(0, |line| line.chars().count());
    let column = if at.line > lines { width.max(1) } else { at.column.clamp(1, width + 1) };
    Span { line, column, length: at.length.min(width.max(1)) }
}

fn span(location: &Location) -> Span {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Span {
        line: number(location.line()).max(1),
        column: number(location.column()).max(1),
        length: number(location.span().len()).max(1),
    }
}

impl From<Spanned<Bare>> for Node {
    fn from(spanned: Spanned<Bare>) -> Node {
        Node { kind: spanned.value.0, at: span(&spanned.referenced) }
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
        Ok(Kind::Null)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    // A number that JSON's readers would round is a text: an id of twenty digits stays what it is.
    fn visit_i128<E>(self, value: i128) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Kind, E> {
        Ok(Number::from_f64(value).map_or_else(|| Kind::Text(value.to_string()), Kind::Number))
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
            map.push((At { at: span(&key.referenced), value: key.value }, value.into()));
        }
        Ok(Kind::Map(map))
    }
}
