//! The lines of `checkpoints.log`.
//!
//! ```text
//! {"at":1763766000000,"call":"c1","session":"s","tool":"edit","path":"/w/a.rs","kind":"file",
//!  "mode":420,"before":"<sha256>"|null,"after":"<sha256>"|null}
//! {"undone":"c1","by":"c2"}
//! ```
//!
//! Each is written with a newline before and behind it, so that a piece left by a kill or a full disk
//! spoils no line but its own. Readers pass over empty lines and over what they cannot parse.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use nika_contract::Kind;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::pathtext;

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
    pub(crate) before: Option<Hash>,
    pub(crate) after: Option<Hash>,
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
