//! The state directory of one workspace: ours alone, and whole.
//!
//! Where it lies and how a workspace gets its id is the caller's business.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// `sets` is made last: where it exists, the others do.
const SUBDIRECTORIES: [&str; 6] = ["journal", "heads", "objects", "sessions", "spill", "sets"];

/// The state directory of one workspace.
#[derive(Debug, Clone)]
pub struct State {
    dir: PathBuf,
}

impl State {
    /// The state in `dir`, which is made with its parents (all 0700) when missing. A link or a
    /// directory of another user is refused. Two `lstat`s when everything is there already.
    pub fn open(dir: &Path) -> Result<State, StoreError> {
        let state = State { dir: dir.to_owned() };
        if !state.is_ours()? {
            DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|e| StoreError::io("make", dir, e))?;
            // Asked again: somebody may have put a link there in between.
            state.is_ours()?;
        }
        if fs::symlink_metadata(state.sets_dir()).is_err() {
            for name in SUBDIRECTORIES {
                let path = dir.join(name);
                match DirBuilder::new().mode(0o700).create(&path) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        return Err(StoreError::io("make", &path, error));
                    }
                    _ => {}
                }
            }
        }
        Ok(state)
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where output too long for an answer goes.
    pub fn spill_dir(&self) -> PathBuf {
        self.dir.join("spill")
    }

    /// Where the host keeps the intents of multi-file changes.
    pub fn sets_dir(&self) -> PathBuf {
        self.dir.join("sets")
    }

    /// A file to `flock` for work that one process at a time may do on this workspace.
    pub fn lock_path(&self) -> PathBuf {
        self.dir.join("lock")
    }

    pub(crate) fn objects_dir(&self) -> PathBuf {
        self.dir.join("objects")
    }

    pub(crate) fn sessions_dir(&self) -> PathBuf {
        self.dir.join("sessions")
    }

    pub(crate) fn transcripts_dir(&self) -> PathBuf {
        self.dir.join("transcripts")
    }

    pub(crate) fn journal_dir(&self) -> PathBuf {
        self.dir.join("journal")
    }

    pub(crate) fn journal_path(&self, session: &str) -> PathBuf {
        self.dir.join("journal").join(format!("{session}.jsonl"))
    }

    pub(crate) fn heads_dir(&self) -> PathBuf {
        self.dir.join("heads")
    }

    pub(crate) fn head_path(&self, session: &str) -> PathBuf {
        self.heads_dir().join(session)
    }

    pub(crate) fn database_path(&self) -> PathBuf {
        self.dir.join("nika.db")
    }

    pub(crate) fn pins_path(&self) -> PathBuf {
        self.dir.join("mcp-pins.json")
    }

    pub(crate) fn checkpoints_path(&self) -> PathBuf {
        self.dir.join("checkpoints.log")
    }

    /// Whether the directory exists; refuses one that is not ours, and closes one that others can enter.
    fn is_ours(&self) -> Result<bool, StoreError> {
        let unusable = |why: &str| StoreError::Unusable { path: self.dir.clone(), why: why.to_owned() };
        let meta = match fs::symlink_metadata(&self.dir) {
            Ok(meta) => meta,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io("open", &self.dir, error)),
        };
        if meta.is_symlink() {
            return Err(unusable("is a symbolic link; name the directory it leads to"));
        }
        if !meta.is_dir() {
            return Err(unusable("is not a directory"));
        }
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(unusable("belongs to another user"));
        }
        if meta.mode() & 0o077 != 0 {
            fs::set_permissions(&self.dir, Permissions::from_mode(0o700))
                .map_err(|e| StoreError::io("close to others", &self.dir, e))?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_closed_and_whole() {
        let world = tempfile::tempdir().unwrap();
        let dir = world.path().join("a/b");
        State::open(&dir).unwrap();
        for path in [dir.clone(), dir.join("journal"), dir.join("sets"), dir.join("heads")] {
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700, "{}", path.display());
        }
        State::open(&dir).unwrap();
    }

    #[test]
    fn half_made_and_open_directories_are_mended() {
        let world = tempfile::tempdir().unwrap();
        let dir = world.path().join("s");
        fs::create_dir_all(dir.join("journal")).unwrap();
        fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        State::open(&dir).unwrap();
        assert!(dir.join("objects").is_dir() && dir.join("sets").is_dir());
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn links_and_files_are_refused() {
        let world = tempfile::tempdir().unwrap();
        let link = world.path().join("link");
        fs::create_dir(world.path().join("real")).unwrap();
        std::os::unix::fs::symlink(world.path().join("real"), &link).unwrap();
        assert!(matches!(State::open(&link), Err(StoreError::Unusable { .. })));
        let file = world.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(State::open(&file), Err(StoreError::Unusable { .. })));
        std::os::unix::fs::symlink("nowhere", world.path().join("dangling")).unwrap();
        assert!(State::open(&world.path().join("dangling")).is_err());
    }

    #[test]
    fn another_users_directory_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // Only root can make a directory that belongs to somebody else.
        }
        let world = tempfile::tempdir().unwrap();
        let dir = world.path().join("theirs");
        fs::create_dir(&dir).unwrap();
        std::os::unix::fs::chown(&dir, Some(12345), None).unwrap();
        assert!(matches!(State::open(&dir), Err(StoreError::Unusable { .. })));
    }
}
