//! What the tools of other people's servers were when a person last saw them: one text, whose meaning is its owner's.
//!
//! Changes are made under a lock and by rename, so that two processes that pin at once lose nothing.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use rustix::fs::{FlockOperation, flock};

use crate::error::StoreError;
use crate::state::State;

/// The file of one workspace.
#[derive(Debug, Clone)]
pub struct PinFile {
    path: PathBuf,
}

impl PinFile {
    /// The one in `state`; made by the first change.
    pub fn at(state: &State) -> PinFile {
        PinFile { path: state.pins_path() }
    }

    /// Another number whenever the file is another; `None` when there is none. Each change makes a new file.
    pub fn stamp(&self) -> Option<u64> {
        let meta = fs::metadata(&self.path).ok()?;
        let mut hasher = DefaultHasher::new();
        (meta.dev(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec()).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// What it holds; `None` when nothing was pinned yet.
    pub fn load(&self) -> Result<Option<String>, StoreError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &self.path, error)),
        }
    }

    /// Puts what `make` makes of it in its place. Nobody else changes it meanwhile.
    pub fn change(&self, make: &mut dyn FnMut(Option<&str>) -> String) -> Result<(), StoreError> {
        let failed = |error: io::Error| StoreError::io("save", &self.path, error);
        let lock = self.path.with_extension("lock");
        let lock = File::options().write(true).create(true).truncate(false).mode(0o600).open(lock).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|errno| failed(errno.into()))?;
        let text = make(self.load()?.as_deref());
        // Under the lock there is one writer; what a killed one left is in nobody's way.
        let new = self.path.with_extension("new");
        let write = || {
            let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&new, &self.path)
        };
        write().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_at_once_are_all_kept() {
        let dir = tempfile::tempdir().expect("a directory");
        let state = State::open(&dir.path().join("state")).expect("a state");
        assert_eq!(PinFile::at(&state).load().expect("readable"), None);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = PinFile::at(&state);
                scope.spawn(move || {
                    file.change(&mut |now| format!("{}{number}", now.unwrap_or_default())).expect("it is saved");
                });
            }
        });
        let mut digits: Vec<char> = PinFile::at(&state).load().expect("readable").expect("there").chars().collect();
        digits.sort_unstable();
        assert_eq!(digits.into_iter().collect::<String>(), "01234567");
    }

    #[test]
    fn a_change_has_another_stamp() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = PinFile::at(&State::open(&dir.path().join("state")).expect("a state"));
        let mut seen = vec![file.stamp()];
        for text in ["a", "b", "b"] {
            file.change(&mut |_| text.to_owned()).expect("it is saved");
            seen.push(file.stamp());
        }
        assert_eq!(seen[0], None);
        assert!(seen.windows(2).all(|two| two[0] != two[1]), "{seen:?}");
        assert_eq!(file.stamp(), file.stamp());
    }
}
