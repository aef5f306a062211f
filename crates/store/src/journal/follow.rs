//! Waiting for more lines, of one session or of all.
//!
//! Looks at the files' sizes a few times a second. `inotify` would save those looks, but a person
//! who watches cannot see fifty milliseconds, and sizes work on every file system.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use super::chain::MAX_LINE_BYTES;
use super::log;
use crate::error::StoreError;
use crate::id;
use crate::state::State;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Read at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A line that appeared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// Whose journal.
    pub session: String,
    /// The line, without its newline.
    pub line: String,
}

/// Follows journals as they grow.
#[derive(Debug)]
pub struct Follow {
    state: State,
    only: Option<String>,
    places: BTreeMap<String, Place>,
    ready: VecDeque<Followed>,
}

/// How far one file was read.
#[derive(Debug, Default)]
struct Place {
    file: Option<File>,
    at: u64,
    piece: Vec<u8>,
}

impl Follow {
    /// Follows one session, whose journal need not exist yet. `from_start` begins with the lines that are
    /// there; otherwise with the next one.
    pub fn session(state: &State, session: &str, from_start: bool) -> Result<Follow, StoreError> {
        id::check(session)?;
        Follow::new(state, Some(session.to_owned()), from_start)
    }

    /// Follows every session, also those that begin later.
    pub fn all(state: &State, from_start: bool) -> Result<Follow, StoreError> {
        Follow::new(state, None, from_start)
    }

    fn new(state: &State, only: Option<String>, from_start: bool) -> Result<Follow, StoreError> {
        let mut follow = Follow { state: state.clone(), only, places: BTreeMap::new(), ready: Default::default() };
        if !from_start {
            for session in follow.sessions()? {
                if let Ok(file) = File::open(state.journal_path(&session)) {
                    let at = end_of_last_line(&file).map_err(|e| StoreError::journal(&session, e))?;
                    follow.places.insert(session, Place { file: Some(file), at, piece: Vec::new() });
                }
            }
        }
        Ok(follow)
    }

    /// The next line; `None` when none came within `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Followed>, StoreError> {
        let mut left = timeout;
        loop {
            if self.ready.is_empty() {
                self.look()?;
            }
            if let Some(line) = self.ready.pop_front() {
                return Ok(Some(line));
            }
            if left.is_zero() {
                return Ok(None);
            }
            // Counted, not measured: no clock here.
            let pause = LOOK_EVERY.min(left);
            thread::sleep(pause);
            left -= pause;
        }
    }

    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        match &self.only {
            Some(session) => Ok(vec![session.clone()]),
            None => log::ids(&self.state),
        }
    }

    fn look(&mut self) -> Result<(), StoreError> {
        for session in self.sessions()? {
            let place = self.places.entry(session.clone()).or_default();
            if place.file.is_none() {
                match File::open(self.state.journal_path(&session)) {
                    Ok(file) => place.file = Some(file),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(StoreError::journal(&session, error)),
                }
            }
            place.read(&session, &mut self.ready).map_err(|e| StoreError::journal(&session, e))?;
        }
        Ok(())
    }
}

impl Place {
    /// Moves the whole lines that are there now to `ready`.
    fn read(&mut self, session: &str, ready: &mut VecDeque<Followed>) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let size = file.metadata()?.len();
        // Read anew from the last whole line: what a kill left of a line may have been cut off since.
        self.piece.clear();
        let mut chunk = vec![0; CHUNK_BYTES.min(size.saturating_sub(self.at) as usize)];
        loop {
            let read = file.read_at(&mut chunk, self.at + self.piece.len() as u64)?;
            if read == 0 {
                return Ok(());
            }
            self.piece.extend_from_slice(&chunk[..read]);
            let Some(last) = self.piece.iter().rposition(|&b| b == b'\n') else {
                if self.piece.len() > MAX_LINE_BYTES {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a line is longer than any that is written",
                    ));
                }
                continue;
            };
            for line in self.piece[..last].split(|&b| b == b'\n') {
                let line = String::from_utf8_lossy(line).into_owned();
                ready.push_back(Followed { session: session.to_owned(), line });
            }
            self.piece.drain(..=last);
            self.at += last as u64 + 1;
        }
    }
}

/// Where the first line begins that is not whole yet.
fn end_of_last_line(file: &File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let mut chunk = vec![0; CHUNK_BYTES];
    while end > 0 {
        let from = end.saturating_sub(CHUNK_BYTES as u64);
        let part = &mut chunk[..(end - from) as usize];
        file.read_exact_at(part, from)?;
        if let Some(at) = part.iter().rposition(|&b| b == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use serde_json::Map;

    use super::super::write::tests::journal;
    use super::*;

    const NOT_LONG: Duration = Duration::ZERO;

    fn scene() -> (tempfile::TempDir, State) {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        (dir, state)
    }

    fn events(follow: &mut Follow) -> Vec<String> {
        let next = || follow.next(NOT_LONG).unwrap();
        std::iter::from_fn(next)
            .map(|followed| {
                let line: serde_json::Value = serde_json::from_str(&followed.line).unwrap();
                format!("{} {}", followed.session, line["event"].as_str().unwrap())
            })
            .collect()
    }

    #[test]
    fn every_session_also_new_ones() {
        let (_dir, state) = scene();
        let a = journal(&state, "a");
        let mut all = Follow::all(&state, false).unwrap();
        let mut from_start = Follow::session(&state, "a", true).unwrap();
        assert_eq!(events(&mut all), Vec::<String>::new());
        a.append("CallBegun", &Map::new()).unwrap();
        let b = journal(&state, "b");
        assert_eq!(events(&mut all), ["a CallBegun", "b SessionStarted"]);
        b.append("CallBegun", &Map::new()).unwrap();
        assert_eq!(events(&mut all), ["b CallBegun"]);
        assert_eq!(events(&mut from_start), ["a SessionStarted", "a CallBegun"]);
    }

    #[test]
    fn a_session_that_is_still_to_begin() {
        let (_dir, state) = scene();
        let mut follow = Follow::session(&state, "late", false).unwrap();
        assert_eq!(follow.next(NOT_LONG).unwrap(), None);
        journal(&state, "late");
        assert_eq!(events(&mut follow), ["late SessionStarted"]);
    }

    #[test]
    fn pieces_wait_for_their_end() {
        let (_dir, state) = scene();
        let log = journal(&state, "s");
        let mut follow = Follow::session(&state, "s", true).unwrap();
        let mut file = OpenOptions::new().append(true).open(state.journal_path("s")).unwrap();
        file.write_all(b"{\"torn").unwrap();
        assert_eq!(events(&mut follow), ["s SessionStarted"]);
        // The journal cuts the piece off and writes over it.
        log.append("CallBegun", &Map::new()).unwrap();
        assert_eq!(events(&mut follow), ["s CallBegun"]);
    }

    #[test]
    fn lines_longer_than_a_look() {
        let (_dir, state) = scene();
        let log = journal(&state, "s");
        let mut follow = Follow::session(&state, "s", false).unwrap();
        for _ in 0..3 {
            let text = serde_json::Value::from("x".repeat(100_000));
            log.append("ToolResult", &[("text".to_owned(), text)].into_iter().collect()).unwrap();
        }
        assert_eq!(events(&mut follow).len(), 3);
        let end = fs::metadata(state.journal_path("s")).unwrap().len();
        assert_eq!(end_of_last_line(&File::open(state.journal_path("s")).unwrap()).unwrap(), end);
    }
}
