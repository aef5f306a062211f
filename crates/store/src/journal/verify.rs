//! Whether a journal is what was written.
//!
//! Accepted: a log that ends with its head's line; as many lines more as one append writes (a kill between
//! them and the head); a last piece without a newline beyond the head (a kill inside the write). Anything
//! else is [`Broken`], with the first line that does not fit.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::retry_on_intr;

use super::chain::{self, Head, MAX_LINE_BYTES, MAX_TOGETHER};
use super::write::read_head;
use crate::hash::Hash;
use crate::id;
use crate::state::State;

/// A journal that is what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Whose.
    pub session: String,
    /// Whole lines.
    pub lines: u64,
    /// The last line's hash.
    pub hash: Hash,
    /// The last lines are beyond the head: the writer was killed between the two.
    pub beyond_head: bool,
    /// Bytes of a last line that a kill cut short; 0 when there is none.
    pub torn_bytes: u64,
}

/// A journal that is not what was written, or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal of session {session:?} does not verify: {}{why}", line.map_or(String::new(), |n| format!("line {n}: ")))]
pub struct Broken {
    /// Whose.
    pub session: String,
    /// The first line that does not fit, from 1; `None` when it is no single line's matter.
    pub line: Option<u64>,
    /// In words.
    pub why: String,
}

/// Checks the journal of `session` line by line, and its end against its head.
pub fn verify(state: &State, session: &str) -> Result<Verified, Broken> {
    let broken = |line: Option<u64>, why: String| Broken { session: session.to_owned(), line, why };
    id::check(session).map_err(|e| broken(None, e.to_string()))?;
    let head = open(&state.head_path(session)).map_err(|e| broken(None, format!("its head: {e}")))?;
    let log = open(&state.journal_path(session)).map_err(|e| broken(None, format!("its log: {e}")))?;
    let Some(log) = log else {
        let why = if head.is_some() { "the log is missing, its head is there" } else { "there is no such journal" };
        return Err(broken(None, why.to_owned()));
    };
    // Size and head belong together under the lock; the lines below that size never change again.
    let unreadable = |e: io::Error| broken(None, format!("it cannot be read: {e}"));
    retry_on_intr(|| rustix::fs::flock(&log, FlockOperation::LockShared)).map_err(|e| unreadable(e.into()))?;
    let size = log.metadata().map(|meta| meta.len());
    let head = match &head {
        Some(file) => read_head(file),
        None => Ok(Some(Head::START)),
    };
    let _ = rustix::fs::flock(&log, FlockOperation::Unlock);
    let (head, size) = (head.map_err(unreadable)?, size.map_err(unreadable)?);
    examine(BufReader::with_capacity(64 << 10, log).take(size), head, session)
}

/// Judges a log by its head, `None` for one that is malformed.
fn examine(log: impl BufRead, head: Option<Head>, session: &str) -> Result<Verified, Broken> {
    let broken = |line: Option<u64>, why: String| Broken { session: session.to_owned(), line, why };
    let head = head.ok_or_else(|| broken(None, "its head is malformed".to_owned()))?;
    let Walked { end, at_head, torn_bytes } = walk(log, head.link.seq, session).map_err(|bad| match bad {
        Bad::Line(line, why) => broken(Some(line), why.to_owned()),
        Bad::Io(error) => broken(None, format!("it cannot be read: {error}")),
    })?;
    let (lines, named) = (end.link.seq, head.link.seq);
    let Some(at_head) = at_head else {
        return Err(broken(Some(lines + 1), format!("it is missing: the head names {named} lines")));
    };
    // A piece counts as the line that it would have become.
    let more = lines - named + u64::from(torn_bytes > 0);
    if at_head != head || more > MAX_TOGETHER as u64 {
        return Err(broken(Some(lines.min(named + 1)), format!("it is not what the head ({named} lines) names")));
    }
    let beyond_head = end != head;
    Ok(Verified { session: session.to_owned(), lines, hash: end.link.hash, beyond_head, torn_bytes })
}

/// How far the lines of a log fit.
struct Walked {
    end: Head,
    /// The state after as many lines as the head names; `None` when there are fewer.
    at_head: Option<Head>,
    torn_bytes: u64,
}

enum Bad {
    Line(u64, &'static str),
    Io(io::Error),
}

fn walk(mut log: impl BufRead, named: u64, session: &str) -> Result<Walked, Bad> {
    let mut walked = Walked { end: Head::START, at_head: None, torn_bytes: 0 };
    let mut line = Vec::new();
    loop {
        if walked.end.link.seq == named {
            walked.at_head = Some(walked.end);
        }
        line.clear();
        let next = walked.end.link.seq + 1;
        let read = (&mut log).take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line).map_err(Bad::Io)?;
        if read == 0 {
            return Ok(walked);
        }
        if line.last() != Some(&b'\n') {
            if read > MAX_LINE_BYTES {
                return Err(Bad::Line(next, "it is longer than any line that is written"));
            }
            walked.torn_bytes = read as u64;
            return Ok(walked);
        }
        line.pop();
        let link = chain::follows(&line, walked.end.link).map_err(|why| Bad::Line(next, why))?;
        if next == 1 && !is_header_of(&line, session) {
            return Err(Bad::Line(1, "it is the beginning of another session's journal"));
        }
        walked.end = Head { link, len: walked.end.len + read as u64 };
    }
}

/// Whether the first line says that it is `session`'s.
fn is_header_of(line: &[u8], session: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_slice(line).ok();
    value.is_some_and(|value| value["session"] == session)
}

/// The file, `None` when there is none. Links are not followed.
fn open(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path) {
        Ok(file) if !file.metadata()?.is_file() => Err(io::Error::other("it is no file")),
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
