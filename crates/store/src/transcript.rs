//! What a conversation was: append-only lines, one file a session, so that it can be gone on with.
//!
//! Unlike a journal, a transcript is not redacted (a provider's signatures must come back byte for byte) and
//! not chained: it is read by the program that wrote it. What a line means is its writer's business. Several
//! processes may append to one: each line is one `write` under the file's lock, and a piece of a line that a
//! kill left is cut off by whoever opens or appends next. Readers leave it out.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags};
use rustix::io::retry_on_intr;
use serde_json::Value;

use crate::error::StoreError;
use crate::id;
use crate::state::State;

/// Longest line: an answer with several large pictures in base64 has room; a runaway has not.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// One session's transcript, open for appending. Threads may share it.
pub struct Transcript {
    session: String,
    path: PathBuf,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    /// Bytes of whole lines, and their number, as this value last saw them.
    bytes: u64,
    lines: u64,
}

/// One transcript in few words.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptInfo {
    /// The session.
    pub session: String,
    /// Whole lines.
    pub lines: u64,
    /// The file's length.
    pub bytes: u64,
    /// When it was last added to, in Unix milliseconds, by the file system's clock.
    pub changed_ms: u64,
    /// The first line, when it is JSON: what the conversation began with.
    pub first: Option<Value>,
}

impl Transcript {
    /// The transcript of `session`, made when there is none.
    pub fn open(state: &State, session: &str) -> Result<Transcript, StoreError> {
        let path = path(state, session)?;
        make_dir(state)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&path)
            .map_err(|e| StoreError::io("open", &path, e))?;
        let inner = Mutex::new(Inner { file, bytes: 0, lines: 0 });
        let transcript = Transcript { session: session.to_owned(), path, inner };
        transcript.locked(Inner::settle)?;
        Ok(transcript)
    }

    /// Takes the name `session` for a conversation that is begun later: makes its transcript, without a line.
    /// False when there is one already. Of several processes that try at once, one is told true.
    pub fn claim(state: &State, session: &str) -> Result<bool, StoreError> {
        let path = path(state, session)?;
        make_dir(state)?;
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(StoreError::io("make", &path, error)),
        }
    }

    /// Whose transcript this is.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Appends one line; its number, from 1. When it fails nothing is left of the line.
    pub fn append(&self, line: &Value) -> Result<u64, StoreError> {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        if bytes.len() > MAX_LINE_BYTES {
            let why = format!("a line of {} bytes is longer than {MAX_LINE_BYTES}", bytes.len());
            return Err(StoreError::io("write", &self.path, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        self.locked(|inner| {
            inner.settle()?;
            inner.add(&bytes)
        })
    }

    /// How many lines it has, those of other processes included.
    pub fn len(&self) -> Result<u64, StoreError> {
        self.locked(|inner| {
            inner.settle()?;
            Ok(inner.lines)
        })
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> Result<bool, StoreError> {
        Ok(self.len()? == 0)
    }

    /// Syncs what was written to the disk: for the end of a turn.
    pub fn sync(&self) -> Result<(), StoreError> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.file.sync_data().map_err(|e| StoreError::io("sync", &self.path, e))
    }

    /// Runs `act` under the thread's and the file's lock.
    fn locked<T>(&self, act: impl FnOnce(&mut Inner) -> io::Result<T>) -> Result<T, StoreError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |error: io::Error| StoreError::io("write", &self.path, error);
        retry_on_intr(|| rustix::fs::flock(&inner.file, FlockOperation::LockExclusive))
            .map_err(|e| failed(e.into()))?;
        let result = act(&mut inner);
        // An unlock of a lock that we hold does not fail; if it did, closing the file would free it.
        let _ = rustix::fs::flock(&inner.file, FlockOperation::Unlock);
        result.map_err(failed)
    }
}

impl Inner {
    /// Counts what others appended, and cuts off what a kill left of a line. The caller holds the lock.
    fn settle(&mut self) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        if size == self.bytes {
            return Ok(());
        }
        if size < self.bytes {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "lines were removed from it"));
        }
        let mut piece = vec![0; 64 << 10];
        let mut at = self.bytes;
        while at < size {
            let want = piece.len().min(usize::try_from(size - at).unwrap_or(usize::MAX));
            self.file.read_exact_at(&mut piece[..want], at)?;
            for (offset, byte) in piece[..want].iter().enumerate() {
                if *byte == b'\n' {
                    self.lines += 1;
                    self.bytes = at + offset as u64 + 1;
                }
            }
            at += want as u64;
        }
        if self.bytes < size {
            self.file.set_len(self.bytes)?;
        }
        Ok(())
    }

    fn add(&mut self, line: &[u8]) -> io::Result<u64> {
        let written = retry_on_intr(|| rustix::io::write(&self.file, line)).map_err(io::Error::from);
        if !matches!(written, Ok(written) if written == line.len()) {
            // The lock is ours, so everything after `bytes` is of this line. Where it cannot be cut off now,
            // whoever appends next does it.
            let _ = self.file.set_len(self.bytes);
            return Err(written.err().unwrap_or_else(|| io::ErrorKind::StorageFull.into()));
        }
        self.bytes += line.len() as u64;
        self.lines += 1;
        Ok(self.lines)
    }
}

impl fmt::Debug for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transcript").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A session that this process alone goes on with, until this value is dropped or the process dies.
#[derive(Debug)]
pub struct Hold {
    path: PathBuf,
    _file: File,
}

/// Takes `session` for this process; `None` while another one has it. Its own file, as the transcript is locked for each
/// line.
pub fn hold(state: &State, session: &str) -> Result<Option<Hold>, StoreError> {
    let path = path(state, session)?.with_extension("lock");
    make_dir(state)?;
    loop {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(&path)
            .map_err(|e| StoreError::io("open", &path, e))?;
        match retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            other => other.map_err(|e| StoreError::io("lock", &path, e))?,
        }
        // Who held it may have taken it away between the two: then the lock is on a file that nobody else finds.
        let ours = file.metadata().map_err(|e| StoreError::io("read", &path, e))?;
        if fs::metadata(&path).is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())) {
            return Ok(Some(Hold { path, _file: file }));
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Still locked: nobody else has it. What is left by a kill is taken by the next.
        let _ = fs::remove_file(&self.path);
    }
}

/// The lines of a transcript, in order. A torn last line is left out; any other that is not JSON is
/// [`StoreError::Damaged`], with its number.
pub fn lines(state: &State, session: &str) -> Result<Vec<Value>, StoreError> {
    let path = path(state, session)?;
    let mut whole = Vec::new();
    let mut reader = Raw::open(&path, session)?;
    while let Some(line) = reader.next(&path)? {
        let number = whole.len() + 1;
        let parsed = serde_json::from_slice(line);
        whole.push(parsed.map_err(|e| StoreError::Damaged { path: path.clone(), why: format!("line {number}: {e}") })?);
    }
    Ok(whole)
}

/// Begins the transcript of `to` with the first `upto` lines of `from` (all of them without a number).
/// Refused when `to` has a transcript already, or `from` has fewer lines. How many were taken.
pub fn fork(state: &State, from: &str, to: &str, upto: Option<u64>) -> Result<u64, StoreError> {
    let (source, target) = (path(state, from)?, path(state, to)?);
    let mut reader = Raw::open(&source, from)?;
    // Under a name of its own first: whoever sees the new transcript sees all of it.
    let (temporary, file) = beside(&target)?;
    let mut taken = 0;
    let copied = (|| {
        let failed = |e| StoreError::io("write", &temporary, e);
        let mut out = io::BufWriter::new(file);
        while upto.is_none_or(|upto| taken < upto) {
            let Some(line) = reader.next(&source)? else { break };
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(failed)?;
            taken += 1;
        }
        if let Some(upto) = upto.filter(|upto| *upto > taken) {
            return Err(StoreError::TranscriptShorter { session: from.to_owned(), lines: taken, wanted: upto });
        }
        out.flush().map_err(failed)?;
        match rustix::fs::renameat_with(CWD, &temporary, CWD, &target, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::EXIST) => Err(StoreError::TranscriptExists(to.to_owned())),
            other => other.map_err(|e| StoreError::io("make", &target, e)),
        }
    })();
    if copied.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    copied.map(|()| taken)
}

/// Every transcript, the latest first.
pub fn list(state: &State) -> Result<Vec<TranscriptInfo>, StoreError> {
    let dir = state.transcripts_dir();
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", &dir, error)),
    };
    let mut all = Vec::new();
    for entry in entries {
        let name = entry.map_err(|e| StoreError::io("list", &dir, e))?.file_name();
        let session = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        let Some(session) = session.filter(|session| id::check(session).is_ok()) else { continue };
        match survey(&dir.join(&name), session) {
            Ok(info) => all.push(info),
            // Removed between the listing and the look.
            Err(StoreError::NoTranscript(_)) => {}
            Err(error) => return Err(error),
        }
    }
    all.sort_by(|a, b| b.changed_ms.cmp(&a.changed_ms).then_with(|| a.session.cmp(&b.session)));
    Ok(all)
}

fn survey(path: &Path, session: &str) -> Result<TranscriptInfo, StoreError> {
    let mut reader = Raw::open(path, session)?;
    let meta = reader.reader.get_ref().metadata().map_err(|e| StoreError::io("read", path, e))?;
    let changed = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let mut info = TranscriptInfo {
        session: session.to_owned(),
        lines: 0,
        bytes: meta.len(),
        changed_ms: u64::try_from(changed.as_millis()).unwrap_or(u64::MAX),
        first: None,
    };
    // What is damaged is told by `lines`; a list of all is no place to fail for one.
    while let Ok(Some(line)) = reader.next(path) {
        if info.lines == 0 {
            info.first = serde_json::from_slice(line).ok();
        }
        info.lines += 1;
    }
    Ok(info)
}

/// Whole lines as they stand.
struct Raw {
    reader: BufReader<File>,
    line: Vec<u8>,
}

impl Raw {
    fn open(path: &Path, session: &str) -> Result<Raw, StoreError> {
        match File::open(path) {
            Ok(file) => Ok(Raw { reader: BufReader::with_capacity(64 << 10, file), line: Vec::new() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StoreError::NoTranscript(session.to_owned())),
            Err(error) => Err(StoreError::io("open", path, error)),
        }
    }

    /// The next whole line without its newline.
    fn next(&mut self, path: &Path) -> Result<Option<&[u8]>, StoreError> {
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64;
        let read = Read::take(&mut self.reader, limit).read_until(b'\n', &mut self.line);
        read.map_err(|e| StoreError::io("read", path, e))?;
        if self.line.pop_if(|last| *last == b'\n').is_some() {
            return Ok(Some(&self.line));
        }
        if self.line.len() as u64 == limit {
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                why: "a line is longer than any that is written".to_owned(),
            });
        }
        Ok(None)
    }
}

/// A new file beside `target`, under a name that no transcript has.
fn beside(target: &Path) -> Result<(PathBuf, File), StoreError> {
    let mut number = 0;
    loop {
        let temporary = target.with_extension(format!("{}.{number}.new", std::process::id()));
        match File::options().write(true).create_new(true).mode(0o600).open(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(StoreError::io("make", &temporary, error)),
        }
    }
}

/// Made on first use: what a program does that holds no conversation stays as it is.
fn make_dir(state: &State) -> Result<(), StoreError> {
    let dir = state.transcripts_dir();
    match DirBuilder::new().mode(0o700).create(&dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::io("make", &dir, error)),
        _ => Ok(()),
    }
}

fn path(state: &State, session: &str) -> Result<PathBuf, StoreError> {
    Ok(state.transcripts_dir().join(format!("{}.jsonl", id::check(session)?)))
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
