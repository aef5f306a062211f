//! What a named session had read and was granted, between two processes of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use nika_contract::pathtext;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::hash::Hash;
use crate::id;
use crate::state::State;

/// Of the file's form. Another number is refused: what a newer Nika meant must not be guessed.
const VERSION: u32 = 1;

/// One session at rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionFile {
    /// Its name.
    pub id: String,
    /// The workspace it belongs to.
    #[serde(with = "pathtext")]
    pub workspace: PathBuf,
    /// What it has read.
    #[serde(default)]
    pub reads: Vec<ReadEntry>,
    /// The rules a person granted it.
    #[serde(default)]
    pub grants: Vec<String>,
    /// What other owners keep here.
    #[serde(default)]
    pub extra: serde_json::Value,
    /// When it was saved, in Unix milliseconds.
    pub saved_at: u64,
}

/// A file as the session read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadEntry {
    /// Absolute.
    #[serde(with = "pathtext")]
    pub path: PathBuf,
    /// sha256 of its bytes.
    pub hash: Hash,
    /// The bytes, where they were kept.
    pub object: Option<Hash>,
    /// What `stat` said, where the owner wants it.
    pub stamp: Option<[u64; 6]>,
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    session: T,
}

/// Saves a session in place of its former self.
pub fn save(state: &State, session: &SessionFile) -> Result<(), StoreError> {
    let path = path(state, &session.id)?;
    let failed = |error: io::Error| StoreError::io("save", &path, error);
    let text = serde_json::to_vec(&Versioned { version: VERSION, session }).map_err(|e| failed(e.into()))?;
    // Two processes of one session may save at once: each under a name of its own, the last one stays.
    let mut number = 0;
    let (temporary, mut file) = loop {
        let temporary = path.with_extension(format!("{}.{number}.new", std::process::id()));
        match File::options().write(true).create_new(true).mode(0o600).open(&temporary) {
            Ok(file) => break (temporary, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failed(error)),
        }
    };
    let result = file.write_all(&text).and_then(|()| fs::rename(&temporary, &path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result.map_err(failed)
}

/// The session with this name; `None` when it was never saved.
pub fn load(state: &State, id: &str) -> Result<Option<SessionFile>, StoreError> {
    let path = path(state, id)?;
    let damaged = |why: String| StoreError::Damaged { path: path.clone(), why };
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", &path, error)),
    };
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_slice(&text).map_err(|e| damaged(e.to_string()))?;
    if version != VERSION {
        return Err(damaged(format!("its version is {version}, this Nika knows {VERSION}; remove it or update")));
    }
    let session: SessionFile = serde_json::from_slice(&text).map_err(|e| damaged(e.to_string()))?;
    if session.id != id {
        return Err(damaged(format!("it is the session {:?}", session.id)));
    }
    Ok(Some(session))
}

/// The names of the saved sessions.
pub fn list(state: &State) -> Result<Vec<String>, StoreError> {
    let dir = state.sessions_dir();
    let mut ids = Vec::new();
    for entry in fs::read_dir(&dir).map_err(|e| StoreError::io("list", &dir, e))? {
        let name = entry.map_err(|e| StoreError::io("list", &dir, e))?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
        ids.extend(id.filter(|id| id::check(id).is_ok()).map(str::to_owned));
    }
    ids.sort();
    Ok(ids)
}

/// Forgets a session; whether there was one.
pub fn remove(state: &State, id: &str) -> Result<bool, StoreError> {
    let path = path(state, id)?;
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("remove", &path, error)),
    }
}

/// The objects that saved sessions name, for [`crate::Checkpoints::collect`]. A session that cannot be
/// read names none.
pub fn objects_in_use(state: &State) -> Result<HashSet<Hash>, StoreError> {
    let mut hashes = HashSet::new();
    for id in list(state)? {
        if let Ok(Some(session)) = load(state, &id) {
            hashes.extend(session.reads.iter().filter_map(|read| read.object));
        }
    }
    Ok(hashes)
}

fn path(state: &State, id: &str) -> Result<PathBuf, StoreError> {
    Ok(state.sessions_dir().join(format!("{}.json", id::check(id)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> SessionFile {
        use std::os::unix::ffi::OsStringExt;
        let odd = PathBuf::from(std::ffi::OsString::from_vec(b"/w/\xff".to_vec()));
        SessionFile {
            id: id.to_owned(),
            workspace: PathBuf::from("/w"),
            reads: vec![
                ReadEntry { path: "/w/a".into(), hash: Hash::of(b"a"), object: Some(Hash::of(b"a")), stamp: None },
                ReadEntry { path: odd, hash: Hash::of(b"b"), object: None, stamp: Some([1, 2, 3, 4, 5, u64::MAX]) },
            ],
            grants: vec!["write(src/**)".to_owned()],
            extra: serde_json::json!({"mode": "ask"}),
            saved_at: 1_763_766_000_000,
        }
    }

    #[test]
    fn saved_loaded_listed_removed() {
        use std::os::unix::fs::MetadataExt;
        let world = tempfile::tempdir().unwrap();
        let state = State::open(world.path()).unwrap();
        assert_eq!(load(&state, "s").unwrap(), None);
        save(&state, &session("s")).unwrap();
        save(&state, &session("s")).unwrap();
        save(&state, &session("t.1")).unwrap();
        assert_eq!(load(&state, "s").unwrap(), Some(session("s")));
        assert_eq!(list(&state).unwrap(), ["s", "t.1"]);
        assert_eq!(fs::metadata(path(&state, "s").unwrap()).unwrap().mode() & 0o777, 0o600);
        assert_eq!(objects_in_use(&state).unwrap(), HashSet::from([Hash::of(b"a")]));
        assert!(remove(&state, "s").unwrap() && !remove(&state, "s").unwrap());
        assert_eq!(fs::read_dir(state.sessions_dir()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let world = tempfile::tempdir().unwrap();
        let state = State::open(world.path()).unwrap();
        save(&state, &session("s")).unwrap();
        let path = path(&state, "s").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for bad in [text.replace("\"version\":1", "\"version\":2"), text[..40].to_owned(), String::new()] {
            fs::write(&path, bad).unwrap();
            assert!(matches!(load(&state, "s"), Err(StoreError::Damaged { .. })));
        }
        fs::write(state.sessions_dir().join("other.json"), &text).unwrap();
        assert!(load(&state, "other").unwrap_err().to_string().contains("session \"s\""));
        assert!(matches!(load(&state, "../s"), Err(StoreError::BadId(_))));
    }
}
