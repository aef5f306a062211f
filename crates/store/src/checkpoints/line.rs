//! The lines of `checkpoints.log`.
//!
//! ```text
//! {"at":1763766000000,"call":"c1","session":"s","tool":"edit","path":"/w/a.rs","kind":"file",
//!  "mode":420,"mode_left":420,"before":"<sha256>"|null,"after":"<sha256>"|null,"unasked":true,"goes_on":true}
//! {"undone":"c1","by":"c2"}
//! ```
//!
//! A change that a command made has `"left":{"kind":…,"stamp":[…],"was":[…],"before":"same"|"lost","known":…}` besides, each
//! part where it is needed. What is recorded while it happens has two lines: `"known":"begun"` before the change, and
//! `"settled"` or `"unchanged"` when it is known what came of it. What is applied as a whole has `"unchanged"` where it was taken
//! back, as others were in its way.
//!
//! Where what stood there had an owner or attributes of its own, `"dress":{"owner":[…],"attributes":[["name","hex"]…]}` says so;
//! of a file with other names, `"linked":true` does.
//!
//! Each is written with a newline before and behind it, so that a piece left by a kill or a full disk
//! spoils no line but its own. Readers pass over empty lines and over what they cannot parse.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use nika_contract::{Before, Dress, Kind, Known, More, pathtext};
use serde::{Deserialize, Serialize};

use crate::hash::Hash;

/// [`Kind`] as a line has it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Kind", rename_all = "snake_case")]
enum KindName {
    File,
    Link,
    Directory,
}

/// A path was about to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record<'a> {
    pub(crate) at: u64,
    #[serde(borrow)]
    pub(crate) call: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) session: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) tool: Cow<'a, str>,
    #[serde(with = "pathtext")]
    pub(crate) path: PathBuf,
    #[serde(with = "KindName")]
    pub(crate) kind: Kind,
    pub(crate) mode: Option<u32>,
    /// Lines of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mode_left: Option<u32>,
    pub(crate) before: Option<Hash>,
    pub(crate) after: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left: Option<Box<Left>>,
    /// What stood there had of its own, where it was not what a new file is given. Lines of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dress: Option<Box<Worn>>,
    /// Whether what stood there is a file with other names. Lines of earlier versions do not say.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) linked: bool,
    /// Whether the call ran without a question. Lines of earlier versions do not say, and count as asked about.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) unasked: bool,
    /// Whether the call has a line before this one. Lines of earlier versions do not say, and count as first ones.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) goes_on: bool,
}

/// [`Dress`] as a line has it: values in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worn {
    owner: (u32, u32),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attributes: Vec<(String, String)>,
}

impl From<&Dress> for Worn {
    fn from(dress: &Dress) -> Worn {
        let digits = |value: &[u8]| value.iter().map(|byte| format!("{byte:02x}")).collect();
        let attributes = dress.attributes.iter().map(|(name, value)| (name.clone(), digits(value)));
        Worn { owner: dress.owner, attributes: attributes.collect() }
    }
}

impl From<Worn> for Dress {
    fn from(worn: Worn) -> Dress {
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes = |digits: &str| digits.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>();
        let attributes = worn.attributes.into_iter().filter_map(|(name, digits)| Some((name, bytes(&digits)?)));
        Dress { owner: worn.owner, attributes: attributes.collect() }
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What a change made by a command has beyond an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Left {
    /// What the command leaves there.
    #[serde(with = "option_kind", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<Kind>,
    /// Instead of a hash: inode, bytes, modification time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<[i64; 4]>,
    /// The same of a large file that stood there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<[i64; 4]>,
    /// What is kept of what stood there, when that is not its content.
    #[serde(with = "BeforeName", default = "kept", skip_serializing_if = "is_kept")]
    pub(crate) before: Before,
    /// How much of it the line knows.
    #[serde(with = "KnownName", default, skip_serializing_if = "is_whole")]
    pub(crate) known: Known,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Known", rename_all = "snake_case")]
enum KnownName {
    Whole,
    Begun,
    Settled,
    Unchanged,
}

fn is_whole(known: &Known) -> bool {
    *known == Known::Whole
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Before", rename_all = "snake_case")]
enum BeforeName {
    Kept,
    Same,
    Lost,
}

fn kept() -> Before {
    Before::Kept
}

fn is_kept(before: &Before) -> bool {
    *before == Before::Kept
}

mod option_kind {
    use super::{Kind, KindName};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Held(#[serde(with = "KindName")] Kind);

    pub(super) fn serialize<S: Serializer>(kind: &Option<Kind>, serializer: S) -> Result<S::Ok, S::Error> {
        kind.map(Held).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Kind>, D::Error> {
        Ok(Option::<Held>::deserialize(deserializer)?.map(|Held(kind)| kind))
    }
}

impl From<More> for Left {
    fn from(more: More) -> Left {
        Left { kind: more.left, stamp: more.left_as, was: more.was_as, before: more.before, known: more.known }
    }
}

impl From<Left> for More {
    fn from(left: Left) -> More {
        More { left: left.kind, left_as: left.stamp, was_as: left.was, before: left.before, known: left.known }
    }
}

/// A call was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark<'a> {
    #[serde(borrow)]
    pub(crate) undone: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) by: Cow<'a, str>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Change(Record<'a>),
    Mark(Mark<'a>),
}

impl Line<'_> {
    pub(crate) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::with_capacity(512);
        text.push(b'\n');
        match self {
            Line::Change(record) => serde_json::to_writer(&mut text, record)?,
            Line::Mark(mark) => serde_json::to_writer(&mut text, mark)?,
        }
        text.push(b'\n');
        Ok(text)
    }

    /// `None` for what is no line of ours.
    pub(crate) fn decode(text: &[u8]) -> Option<Line<'_>> {
        if text.starts_with(b"{\"undone\":") {
            return serde_json::from_slice(text).ok().map(Line::Mark);
        }
        serde_json::from_slice(text).ok().map(Line::Change)
    }
}

/// The time, call and session of a change's line, without parsing it: they stand first, in this
/// order. `None` where that cannot be told, and it must be parsed.
pub(crate) fn glance(text: &[u8]) -> Option<(u64, &str, &str)> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix("{\"at\":")?;
    let (at, text) = text.split_once(",\"call\":\"")?;
    let (call, text) = text.split_once("\",\"session\":\"")?;
    let (session, _) = text.split_once('"')?;
    if call.contains('\\') || session.contains('\\') {
        return None;
    }
    Some((at.parse().ok()?, call, session))
}
