//! Writing a journal: one `write` for a line, or for two that stand together, under a lock, then the head.
//!
//! Several processes may append to one session. Each append takes the file's lock, and whoever finds
//! the file longer than it left it catches up from the head first, so the chain stays one chain. A
//! journal whose end does not fit its head is never continued: a new head would hide what was done
//! to it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Clock, event};
use rustix::fs::FlockOperation;
use rustix::io::retry_on_intr;
use serde_json::{Map, Value};

use super::chain::{self, HEAD_BYTES, Head, Link, MAX_LINE_BYTES, MAX_TOGETHER, SEAL_BYTES};
use super::verify::Broken;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::id;
use crate::state::State;

/// The fields that every line has. A caller's field of the same name gets an underscore: `hash_`.
const OWN_FIELDS: [&str; 5] = ["seq", "at", "event", "prev", "hash"];

/// When a line is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Handed to the kernel: survives any kill, not a power cut.
    #[default]
    Os,
    /// Synced to the disk, log and head, line by line.
    EachCall,
}

/// A line to be written: its event and its fields.
pub type Line<'a> = (&'a str, &'a Map<String, Value>);

/// A line that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the session's log, from 1.
    pub seq: u64,
    /// Its hash, to which the next line is chained.
    pub hash: Hash,
}

/// One session's journal, open for appending. Threads may share it.
pub struct Journal {
    session: String,
    durability: Durability,
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
}

type Listener = Box<dyn FnMut(&str) -> ControlFlow<()> + Send>;

struct Inner {
    log: File,
    head: File,
    /// The end as this value left it; `None` after a failure, when the head must be asked.
    end: Option<Head>,
    lines: Vec<u8>,
    listeners: Vec<Listener>,
}

impl Journal {
    /// The journal of `session`. A new one begins with a `SessionStarted` line of `session` and
    /// `header`'s fields; one that exists is continued, by this process beside others. Refused when
    /// the log's end does not fit its head (NIKA-907).
    pub fn create(
        state: &State,
        session: &str,
        header: &Map<String, Value>,
        clock: Arc<dyn Clock>,
    ) -> Result<Journal, StoreError> {
        id::check(session)?;
        let open = |path: &Path, append: bool| {
            let mut options = OpenOptions::new();
            options.read(true).create(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
            if append { options.append(true) } else { options.write(true) }.open(path)
        };
        let failed = |error| StoreError::journal(session, error);
        let inner = Inner {
            log: open(&state.journal_path(session), true).map_err(failed)?,
            head: open(&state.head_path(session), false).map_err(failed)?,
            end: None,
            lines: Vec::with_capacity(1024),
            listeners: Vec::new(),
        };
        let journal =
            Journal { session: session.to_owned(), durability: Durability::Os, clock, inner: Mutex::new(inner) };
        journal.with_inner(|inner| {
            let end = inner.settle(session)?;
            if end.link.seq == 0 {
                let mut fields = Map::with_capacity(header.len() + 1);
                fields.insert("session".to_owned(), Value::from(session));
                let extra = header.iter().filter(|(key, _)| *key != "session");
                fields.extend(extra.map(|(key, value)| (key.clone(), value.clone())));
                inner.add(
                    end,
                    session,
                    journal.clock.unix_ms(),
                    &[(event::SESSION_STARTED, &fields)],
                    Durability::Os,
                )?;
            }
            Ok(())
        })?;
        Ok(journal)
    }

    /// The same journal with another durability.
    pub fn durability(mut self, durability: Durability) -> Journal {
        self.durability = durability;
        self
    }

    /// Whose journal this is.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Appends one line. When it fails nothing is left of the line, and what it announces must not
    /// happen.
    pub fn append(&self, event: &str, fields: &Map<String, Value>) -> Result<Entry, StoreError> {
        self.append_together(&[(event, fields)])
    }

    /// Appends a line, or two of one moment, for the price of one. Either all of them are there or none;
    /// only a kill may leave the first alone. The answer is the last line's.
    pub fn append_together(&self, lines: &[Line<'_>]) -> Result<Entry, StoreError> {
        debug_assert!((1..=MAX_TOGETHER).contains(&lines.len()), "who goes on with a journal expects no more");
        let at = self.clock.unix_ms();
        self.with_inner(|inner| {
            let end = inner.settle(&self.session)?;
            inner.add(end, &self.session, at, lines, self.durability)
        })
    }

    /// Syncs what was written to the disk: for the end of a turn under [`Durability::Os`].
    pub fn sync(&self) -> Result<(), StoreError> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.sync().map_err(|e| StoreError::journal(&self.session, e))
    }

    /// Hands every line that this value writes from now on, newline included, to `listener`, in
    /// order, until it answers `Break`. It runs inside the append: send it elsewhere, do no work, and
    /// do not append from it.
    pub fn subscribe(&self, listener: impl FnMut(&str) -> ControlFlow<()> + Send + 'static) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).listeners.push(Box::new(listener));
    }

    /// Runs `act` under the thread's and the file's lock.
    fn with_inner<T>(&self, act: impl FnOnce(&mut Inner) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: rustix::io::Errno| StoreError::journal(&self.session, error);
        retry_on_intr(|| rustix::fs::flock(&inner.log, FlockOperation::LockExclusive)).map_err(failed)?;
        let result = act(&mut inner);
        if result.is_err() {
            inner.end = None;
        }
        // An unlock of a lock that we hold does not fail; if it did, closing the file would free it.
        let _ = rustix::fs::flock(&inner.log, FlockOperation::Unlock);
        result
    }
}

impl Inner {
    /// Where the log ends now. The caller holds the lock.
    fn settle(&mut self, session: &str) -> Result<Head, StoreError> {
        let failed = |error: io::Error| StoreError::journal(session, error);
        let stat = rustix::fs::fstat(&self.log).map_err(|e| failed(e.into()))?;
        // A line in a file without a name is in no journal.
        if stat.st_nlink == 0 {
            return Err(failed(io::Error::other("its file was removed")));
        }
        let size = stat.st_size as u64;
        match self.end {
            Some(end) if end.len == size => Ok(end),
            _ => {
                let end = self.catch_up(session, size)?;
                self.end = Some(end);
                Ok(end)
            }
        }
    }

    /// Reads the head, and mends what a kill may leave: a line without its head, a piece of a line.
    fn catch_up(&mut self, session: &str, size: u64) -> Result<Head, StoreError> {
        let failed = |error: io::Error| StoreError::journal(session, error);
        let broken = |line: u64, why: &str| {
            StoreError::Broken(Broken { session: session.to_owned(), line: Some(line), why: why.to_owned() })
        };
        let head = read_head(&self.head).map_err(failed)?;
        let head = head.ok_or_else(|| {
            StoreError::Broken(Broken { session: session.to_owned(), line: None, why: "its head is malformed".into() })
        })?;
        let Link { seq, hash } = head.link;
        if size < head.len {
            return Err(broken(seq, "the log ends before it: lines were removed"));
        }
        if head.len > 0 {
            let mut end = [0; SEAL_BYTES + 1];
            let at = head.len.checked_sub(end.len() as u64).ok_or_else(|| broken(seq, "its head is malformed"))?;
            self.log.read_exact_at(&mut end, at).map_err(failed)?;
            if end[SEAL_BYTES] != b'\n' || chain::claimed(&end[..SEAL_BYTES]) != Some(hash) {
                return Err(broken(seq, "it is not the line that the head names"));
            }
        }
        if size == head.len {
            return Ok(head);
        }
        let rest = size - head.len;
        if rest > (MAX_TOGETHER * MAX_LINE_BYTES) as u64 {
            return Err(broken(seq + 1, "more follows the head than one append writes"));
        }
        let mut bytes = vec![0; rest as usize];
        self.log.read_exact_at(&mut bytes, head.len).map_err(failed)?;
        let mut end = head;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let next = end.link.seq + 1;
            let Some(whole) = line.strip_suffix(b"\n") else {
                // What a kill left of a line. Cut off, so that the next line begins on its own.
                rustix::fs::ftruncate(&self.log, end.len).map_err(|e| failed(e.into()))?;
                break;
            };
            if next > seq + MAX_TOGETHER as u64 {
                return Err(broken(next, "more follows the head than one append writes"));
            }
            let link = chain::follows(whole, end.link).map_err(|why| broken(next, why))?;
            end = Head { link, len: end.len + line.len() as u64 };
        }
        if end != head {
            self.head.write_all_at(&end.encode(), 0).map_err(failed)?;
        }
        Ok(end)
    }

    /// Writes the lines after `end`, then the head.
    fn add(
        &mut self,
        end: Head,
        session: &str,
        at: u64,
        lines: &[Line<'_>],
        durability: Durability,
    ) -> Result<Entry, StoreError> {
        self.lines.clear();
        let mut link = end.link;
        for (event, fields) in lines {
            let start = self.lines.len();
            let seq = link.seq + 1;
            compose(&mut self.lines, seq, at, event, fields).map_err(|e| StoreError::journal(session, e))?;
            link = Link { seq, hash: chain::seal(&mut self.lines, start, &link.hash) };
            let length = self.lines.len() - start;
            if length > MAX_LINE_BYTES {
                let why = format!("a line of {length} bytes is longer than {MAX_LINE_BYTES}");
                return Err(StoreError::journal(session, io::Error::new(io::ErrorKind::InvalidInput, why)));
            }
        }
        let next = Head { link, len: end.len + self.lines.len() as u64 };
        let mut head_moved = false;
        if let Err(error) = self.put(&next, durability, &mut head_moved) {
            // The lock is ours, so everything after `end` is of these lines. The head goes back first: one
            // that is ahead of its log would read as lines removed. When either fails, the next append
            // finds the piece and cuts it off, or finds whole lines and keeps them.
            if !head_moved || self.head.write_all_at(&end.encode(), 0).is_ok() {
                let _ = rustix::fs::ftruncate(&self.log, end.len);
            }
            return Err(StoreError::journal(session, error));
        }
        self.end = Some(next);
        if !self.listeners.is_empty() {
            let lines = std::str::from_utf8(&self.lines).expect("serde_json writes UTF-8");
            for line in lines.split_inclusive('\n') {
                self.listeners.retain_mut(|listener| listener(line).is_continue());
            }
        }
        // One huge line must not hold its memory for ever.
        self.lines.shrink_to(64 << 10);
        Ok(Entry { seq: link.seq, hash: link.hash })
    }

    fn put(&mut self, next: &Head, durability: Durability, head_moved: &mut bool) -> io::Result<()> {
        let written = retry_on_intr(|| rustix::io::write(&self.log, &self.lines))?;
        if written != self.lines.len() {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        if durability == Durability::EachCall {
            self.log.sync_data()?;
        }
        self.head.write_all_at(&next.encode(), 0)?;
        *head_moved = true;
        if durability == Durability::EachCall {
            self.head.sync_data()?;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.log.sync_data()?;
        self.head.sync_data()
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("session", &self.session).finish_non_exhaustive()
    }
}

/// The head in `file`: the start when it is empty, `None` when it is not a head.
pub(crate) fn read_head(file: &File) -> io::Result<Option<Head>> {
    let mut bytes = [0; HEAD_BYTES + 1];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], filled as u64)? {
            0 => break,
            more => filled += more,
        }
    }
    Ok(if filled == 0 { Some(Head::START) } else { Head::decode(&bytes[..filled]) })
}

/// Everything of a line before `prev`.
fn compose(line: &mut Vec<u8>, seq: u64, at: u64, event: &str, fields: &Map<String, Value>) -> io::Result<()> {
    write!(line, "{{\"seq\":{seq},\"at\":{at},\"event\":")?;
    serde_json::to_writer(&mut *line, event)?;
    for (key, value) in fields {
        line.push(b',');
        if OWN_FIELDS.contains(&key.trim_end_matches('_')) {
            serde_json::to_writer(&mut *line, &format!("{key}_"))?;
        } else {
            serde_json::to_writer(&mut *line, key)?;
        }
        line.push(b':');
        serde_json::to_writer(&mut *line, value)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "write_tests.rs"]
pub(crate) mod tests;
