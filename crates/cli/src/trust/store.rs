//! The file of trust records: one JSON line each, 0600, in the user's state directory.
//!
//! Replaced whole by rename under a lock, so that it is never torn and no grant is lost. A record that
//! does not parse, or a file that others can write, is an error: never an empty list, and never trust.

use std::fs::{self, DirBuilder};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::brings::Brought;
use super::place::{Place, text};
use crate::config::ConfigError;

/// The largest store taken: some ten thousand repositories.
const MAX_BYTES: u64 = 64 << 20;

/// A person's yes to one project directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub repository: String,
    dir: String,
    below: String,
    #[serde(flatten)]
    pub files: Brought,
}

impl Record {
    pub fn new(place: &Place, files: Brought) -> Record {
        Record { repository: place.repository.clone(), dir: text(&place.dir), below: place.below.clone(), files }
    }

    /// Whether it speaks of this very directory, in the same repository as then.
    pub fn is_at(&self, place: &Place) -> bool {
        self.repository == place.repository && self.dir == text(&place.dir)
    }

    /// Whether it speaks of the same directory in another worktree.
    pub fn is_kin(&self, place: &Place) -> bool {
        self.repository == place.repository && self.below == place.below && self.dir != text(&place.dir)
    }
}

/// Every record; none where there is no file yet.
pub(super) fn read(store: &Path) -> Result<Vec<Record>, ConfigError> {
    let refuse = |why: String| ConfigError::Unusable { file: store.display().to_string(), why };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(store, flags, Mode::empty()) {
        Ok(fd) => fs::File::from(fd),
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(Errno::LOOP) => return Err(refuse("is a link; trust records are a file".into())),
        Err(errno) => return Err(refuse(format!("cannot be read: {}", std::io::Error::from(errno)))),
    };
    let failed = |error: std::io::Error| refuse(format!("cannot be read: {error}"));
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(refuse("is not a regular file".into()));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(refuse("belongs to another user".into()));
    }
    if meta.mode() & 0o022 != 0 {
        return Err(refuse("can be written by others; `chmod 600` it, and look at what it says first".into()));
    }
    let mut lines = String::new();
    let length = file.take(MAX_BYTES + 1).read_to_string(&mut lines).map_err(failed)?;
    if length as u64 > MAX_BYTES {
        return Err(refuse("is larger than 64 MiB".into()));
    }
    let record = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| ConfigError::Malformed {
            at: format!("{}:{}:{}", store.display(), index + 1, error.column()),
            what: format!("this is no trust record: {error}"),
            hint: Some("remove the line and run `nika trust` again where it is wanted".into()),
        })
    };
    lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(record).collect()
}

/// Changes the records as one step.
pub(super) fn change(store: &Path, change: impl FnOnce(&mut Vec<Record>)) -> Result<(), ConfigError> {
    let refuse = |why: String| ConfigError::Unusable { file: store.display().to_string(), why };
    let failed = |error: std::io::Error| refuse(format!("cannot be written: {error}"));
    let dir = store.parent().ok_or_else(|| refuse("is not a file's path".into()))?;
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let beside = |ending: &str| {
        let mut name = store.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        dir.join(name)
    };
    let private = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lock = rustix::fs::open(beside(".lock"), flags, private).map_err(|errno| failed(errno.into()))?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|errno| failed(errno.into()))?;

    let mut records = read(store)?;
    change(&mut records);
    let mut lines = String::new();
    for record in &records {
        lines.push_str(&serde_json::to_string(record).map_err(|error| failed(error.into()))?);
        lines.push('\n');
    }
    // Under the lock nobody else has this name; one that is there was left by a kill.
    let fresh = beside(".new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = fs::File::from(rustix::fs::open(&fresh, flags, private).map_err(|errno| failed(errno.into()))?);
    file.write_all(lines.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    rustix::fs::renameat(CWD, &fresh, CWD, store).map_err(|errno| failed(errno.into()))
}
