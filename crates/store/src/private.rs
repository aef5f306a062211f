//! A small file that only its owner reads: logins. 0600 in a directory of 0700, replaced whole by rename under a lock,
//! shared by many processes. What stands in it is its user's business; a file that others could read or write, a link,
//! or somebody else's file is refused and not mended: what was in it may be known to others.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// The largest content taken: thousands of logins.
const MAX_BYTES: u64 = 16 << 20;

/// The file, wherever it lies.
#[derive(Debug, Clone)]
pub struct Private {
    path: PathBuf,
}

/// Holds a key until it is dropped. The system lets go of it with the process, too.
#[derive(Debug)]
pub struct Held(#[allow(dead_code, reason = "closing it is what it is for")] OwnedFd);

impl Private {
    /// The file at `path`. It and its directory are made by the first [`Private::change`].
    pub fn new(path: &Path) -> Private {
        Private { path: path.to_owned() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its content; `None` where there is no file yet.
    pub fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let failed = |error: std::io::Error| StoreError::io("read", &self.path, error);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(self.unfit("it is a link")),
            Err(errno) => return Err(failed(errno.into())),
        };
        let meta = file.metadata().map_err(failed)?;
        if !meta.is_file() {
            return Err(self.unfit("it is not a regular file"));
        }
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.unfit("it belongs to another user"));
        }
        if meta.mode() & 0o077 != 0 {
            return Err(self.unfit("others can read or write it; what is in it may be known to them: remove it"));
        }
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(self.unfit("it is larger than 16 MiB"));
        }
        Ok(Some(bytes))
    }

    /// Replaces the content as one step: `change` sees what is there and answers what will be.
    pub fn change<E: From<StoreError>>(
        &self,
        change: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let lock = self.open_lock(&self.beside("lock"))?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive)
            .map_err(|errno| StoreError::io("lock", &self.path, errno))?;
        let bytes = change(self.read()?)?;
        Ok(self.replace(&bytes)?)
    }

    fn replace(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| StoreError::io("write", &self.path, error);
        // Under the lock nobody else has this name; one that is there was left by a kill.
        let fresh = self.beside("new");
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(&fresh, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        // Rename, not write in place: a crash in between would lose every login.
        rustix::fs::renameat(CWD, &fresh, CWD, &self.path).map_err(|errno| failed(errno.into()))
    }

    /// Holds `key` against every other process and every other holder in this one; `None` while it is held. Apart from
    /// the lock of the content, so that work that takes seconds holds up nobody but those who want the same.
    pub fn hold(&self, key: &str) -> Result<Option<Held>, StoreError> {
        let digest: String = Sha256::digest(key.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let path = self.beside(&format!("{digest}.lock"));
        let lock = self.open_lock(&path)?;
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Held(lock))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(StoreError::io("lock", &path, errno)),
        }
    }

    fn open_lock(&self, path: &Path) -> Result<OwnedFd, StoreError> {
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| StoreError::io("make", dir, error))?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| StoreError::io("lock", path, errno))
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    fn unfit(&self, why: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), why: why.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn append(file: &Private, text: &str) {
        let added = file.change::<StoreError>(|old| {
            let mut bytes = old.unwrap_or_default();
            bytes.extend_from_slice(text.as_bytes());
            Ok(bytes)
        });
        added.unwrap();
    }

    #[test]
    fn only_its_owner_reads_it_and_a_change_sees_the_one_before() {
        let world = tempfile::tempdir().unwrap();
        let file = Private::new(&world.path().join("a/logins.json"));
        assert!(file.read().unwrap().is_none());
        append(&file, "one");
        append(&file, "two");
        assert_eq!(file.read().unwrap().unwrap(), b"onetwo");
        assert_eq!(fs::metadata(file.path()).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(world.path().join("a")).unwrap().mode() & 0o777, 0o700);
        assert!(!world.path().join("a/logins.json.new").exists());
    }

    #[test]
    fn what_others_could_have_read_and_links_are_refused() {
        let world = tempfile::tempdir().unwrap();
        let file = Private::new(&world.path().join("logins.json"));
        append(&file, "x");
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(file.read(), Err(StoreError::Damaged { .. })));
        let link = Private::new(&world.path().join("link"));
        std::os::unix::fs::symlink(file.path(), link.path()).unwrap();
        assert!(matches!(link.read(), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn a_change_that_fails_leaves_what_was_there() {
        let world = tempfile::tempdir().unwrap();
        let file = Private::new(&world.path().join("logins.json"));
        append(&file, "kept");
        let failed = file.change::<StoreError>(|_| Err(StoreError::Database("no".into())));
        assert!(failed.is_err());
        assert_eq!(file.read().unwrap().unwrap(), b"kept");
    }

    #[test]
    fn a_key_is_held_once_and_holds_up_neither_other_keys_nor_changes() {
        let world = tempfile::tempdir().unwrap();
        let file = Private::new(&world.path().join("logins.json"));
        let held = file.hold("one").unwrap();
        assert!(held.is_some() && file.hold("one").unwrap().is_none());
        assert!(file.hold("two").unwrap().is_some());
        append(&file, "x");
        drop(held);
        assert!(file.hold("one").unwrap().is_some());
    }

    #[test]
    fn changes_of_many_threads_are_all_kept() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("logins.json");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10).for_each(|_| append(&Private::new(&path), "x")));
            }
        });
        assert_eq!(Private::new(&path).read().unwrap().unwrap().len(), 80);
    }
}
