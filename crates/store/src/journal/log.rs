//! Reading journals: the list of them, their lines, and taking them elsewhere.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use nika_contract::{Code, code, event};
use serde_json::Value;

use super::chain::MAX_LINE_BYTES;
use crate::error::StoreError;
use crate::id;
use crate::state::State;

/// One journal in few words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogInfo {
    /// The session.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// The file's length.
    pub bytes: u64,
    /// Whole lines.
    pub lines: u64,
    /// The first line's time in Unix milliseconds.
    pub first_at: Option<u64>,
    /// The last line's.
    pub last_at: Option<u64>,
    /// Calls that began.
    pub calls: u64,
    /// Calls that ended refused (NIKA-102, 204, 205).
    pub refusals: u64,
}

/// How to [`export`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One array.
    Json,
    /// The lines as they are.
    Ndjson,
}

/// Every journal, the latest first.
pub fn list(state: &State) -> Result<Vec<LogInfo>, StoreError> {
    let mut logs = Vec::new();
    for id in ids(state)? {
        let path = state.journal_path(&id);
        match survey(&path) {
            Ok(info) => logs.push(LogInfo { id, path, ..info }),
            // Removed between the listing and the look.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("read", &path, error)),
        }
    }
    logs.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.id.cmp(&b.id)));
    Ok(logs)
}

/// Sessions whose head is there and whose journal is not.
pub fn missing(state: &State) -> Vec<String> {
    let heads = std::fs::read_dir(state.heads_dir()).into_iter().flatten().flatten();
    let named = heads.filter_map(|entry| entry.file_name().into_string().ok());
    let mut lost: Vec<String> =
        named.filter(|name| id::check(name).is_ok() && !state.journal_path(name).exists()).collect();
    lost.sort();
    lost
}

/// The lines of one journal, parsed, in order. A torn last line is left out; a line that is not
/// JSON is an error in its place ([`super::verify`] says what is wrong with it).
pub fn lines(state: &State, session: &str) -> Result<Lines, StoreError> {
    let path = state.journal_path(id::check(session)?);
    let file = File::open(&path).map_err(|e| StoreError::io("open", &path, e))?;
    Ok(Lines { reader: BufReader::with_capacity(64 << 10, file), path, number: 0, line: Vec::new() })
}

/// See [`lines`].
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    /// The next whole line as it stands, without its newline.
    fn next_raw(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        io::Read::take(&mut self.reader, limit).read_until(b'\n', &mut self.line)?;
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            if self.line.len() > MAX_LINE_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than any that is written"));
            }
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(&self.line))
    }
}

impl Iterator for Lines {
    type Item = Result<Value, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.next_raw() {
            Ok(None) => None,
            Ok(Some(line)) => {
                let parsed = serde_json::from_slice(line);
                Some(parsed.map_err(|e| StoreError::Damaged {
                    path: self.path.clone(),
                    why: format!("line {}: {e}", self.number),
                }))
            }
            Err(error) => Some(Err(StoreError::io("read", &self.path, error))),
        }
    }
}

/// Writes one journal to `out`.
pub fn export(state: &State, session: &str, format: Format, out: &mut dyn Write) -> Result<(), StoreError> {
    let mut lines = lines(state, session)?;
    let path = lines.path.clone();
    let failed = |error| StoreError::io("export", &path, error);
    let (open, between, close): (&[u8], &[u8], &[u8]) = match format {
        Format::Json => (b"[\n", b",\n", b"\n]\n"),
        Format::Ndjson => (b"", b"\n", b"\n"),
    };
    out.write_all(open).map_err(failed)?;
    let mut any = false;
    while let Some(line) = lines.next_raw().map_err(failed)? {
        if any {
            out.write_all(between).map_err(failed)?;
        }
        out.write_all(line).map_err(failed)?;
        any = true;
    }
    if any || format == Format::Json {
        out.write_all(close).map_err(failed)?;
    }
    Ok(())
}

/// The sessions that have a journal, in the order of their names.
pub(crate) fn ids(state: &State) -> Result<Vec<String>, StoreError> {
    let dir = state.journal_dir();
    let mut ids = Vec::new();
    for entry in fs::read_dir(&dir).map_err(|e| StoreError::io("list", &dir, e))? {
        let entry = entry.map_err(|e| StoreError::io("list", &dir, e))?;
        // Whatever else lies there is no journal, and a FIFO would be waited for.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        if let Some(id) = id.filter(|id| id::check(id).is_ok()) {
            ids.push(id.to_owned());
        }
    }
    ids.sort();
    Ok(ids)
}

/// Counts without parsing: every line begins with `seq`, `at` and `event`, in that order. Only calls
/// that ended are parsed, for their code.
fn survey(path: &Path) -> io::Result<LogInfo> {
    let file = File::open(path)?;
    let mut info = LogInfo { bytes: file.metadata()?.len(), ..LogInfo::default() };
    let reader = BufReader::with_capacity(64 << 10, file);
    let mut lines = Lines { reader, path: PathBuf::new(), number: 0, line: Vec::new() };
    while let Some(line) = lines.next_raw()? {
        let Some((at, event)) = opening(line) else { continue };
        info.first_at.get_or_insert(at);
        info.last_at = Some(at);
        if event == event::CALL_BEGUN {
            info.calls += 1;
        } else if event == event::CALL_ENDED && is_refusal(line) {
            info.refusals += 1;
        }
    }
    info.lines = lines.number;
    Ok(info)
}

/// The time and event of a line.
fn opening(line: &[u8]) -> Option<(u64, &str)> {
    let line = std::str::from_utf8(line).ok()?.strip_prefix("{\"seq\":")?;
    let (at, rest) = line.split_once(",\"at\":")?.1.split_once(",\"event\":\"")?;
    Some((at.parse().ok()?, rest.split_once('"')?.0))
}

/// Whether a call's last line says that it was made, and that a person's hook withheld the answer: what it did is done and
/// can be taken back.
pub fn is_withheld(line: &Value) -> bool {
    line["decision"] == "allow" && line["code"].as_str().and_then(code::parse) == Some(code::HOOK_REFUSED)
}

/// Whether a line says that its call was refused; codes are numbers or texts such as `NIKA-205`.
fn is_refusal(line: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<Value>(line) else { return false };
    match &value["code"] {
        _ if is_withheld(&value) => false,
        Value::Number(number) => code::REFUSALS.iter().any(|code| number.as_u64() == Some(code.0.into())),
        Value::String(text) => code::parse(text).is_some_and(Code::is_refusal),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use serde_json::json;

    use super::super::write::tests::{fields, journal};
    use super::*;

    fn scene() -> (tempfile::TempDir, State) {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        let log = journal(&state, "s");
        for (event, more) in [
            ("CallBegun", json!({"call": "c1"})),
            ("CallEnded", json!({"call": "c1", "ok": true, "code": null})),
            ("CallBegun", json!({"call": "c2", "text": "\"event\":\"CallBegun\""})),
            ("CallEnded", json!({"call": "c2", "ok": false, "code": 205})),
            ("CallBegun", json!({"call": "c3"})),
            ("CallEnded", json!({"call": "c3", "ok": false, "code": "NIKA-204"})),
            ("CallBegun", json!({"call": "c4"})),
            ("CallEnded", json!({"call": "c4", "ok": false, "code": "NIKA-106"})),
            ("CallBegun", json!({"call": "c5"})),
            ("CallEnded", json!({"call": "c5", "ok": false, "code": "NIKA-107"})),
            ("CallBegun", json!({"call": "c6"})),
            ("CallEnded", json!({"call": "c6", "ok": false, "code": "NIKA-202"})),
        ] {
            log.append(event, &fields(more)).unwrap();
        }
        (dir, state)
    }

    #[test]
    fn counted() {
        let (_dir, state) = scene();
        journal(&state, "t");
        let logs = list(&state).unwrap();
        let s = logs.iter().find(|log| log.id == "s").unwrap();
        assert_eq!((logs.len(), s.lines, s.calls, s.refusals), (2, 13, 6, 4));
        assert_eq!((s.first_at, s.last_at), (Some(1_763_766_000_000), Some(1_763_766_000_012)));
        assert_eq!(s.bytes, fs::metadata(&s.path).unwrap().len());
    }

    #[test]
    fn taken_elsewhere() {
        let (_dir, state) = scene();
        let mut out = Vec::new();
        export(&state, "s", Format::Json, &mut out).unwrap();
        let all: Vec<Value> = serde_json::from_slice(&out).unwrap();
        assert_eq!(all, lines(&state, "s").unwrap().map(Result::unwrap).collect::<Vec<_>>());
        out.clear();
        export(&state, "s", Format::Ndjson, &mut out).unwrap();
        assert_eq!(out, fs::read(state.journal_path("s")).unwrap());
        assert!(lines(&state, "nobody").is_err() && lines(&state, "../s").is_err());
    }

    #[test]
    fn a_torn_line_is_left_out_and_a_spoiled_one_is_named() {
        let (_dir, state) = scene();
        let mut log = OpenOptions::new().append(true).open(state.journal_path("s")).unwrap();
        log.write_all(b"no json\n{\"seq\":9").unwrap();
        let all: Vec<_> = lines(&state, "s").unwrap().collect();
        assert_eq!(all.len(), 14);
        assert!(all[13].as_ref().unwrap_err().to_string().contains("line 14"));
    }
}
