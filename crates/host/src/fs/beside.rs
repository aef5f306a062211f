//! Change sets of other workspaces over the same files: one root may lie in another's, and a kill leaves the files of both
//! between two states. So while a set is under way its workspace is noted in one place for all, with its roots, and
//! whoever starts over any of these files settles it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Locked, Recovered, Settings, Workspace};

/// In Nika's own state: a file for each workspace that has sets under way, with its roots, NUL between.
const UNDER_WAY: &str = "under-way";

/// What was settled of another workspace.
#[derive(Debug)]
pub struct Beside {
    /// Its directory in Nika's state.
    pub state: PathBuf,
    /// Its sets.
    pub recovered: Vec<Recovered>,
}

impl Locked<'_> {
    /// Says that a set is under way. Where that cannot be said, the workspace's own next start settles what a kill leaves.
    pub(super) fn note_under_way(&mut self) {
        if self.state.noted {
            return;
        }
        let Some(note) = self.files.note() else { return };
        let roots: Vec<&[u8]> = self.files.roots().map(|root| root.as_os_str().as_bytes()).collect();
        let written = std::fs::write(&note, roots.join(&0)).or_else(|_| {
            std::fs::create_dir_all(self.files.own.join(UNDER_WAY))?;
            std::fs::write(&note, roots.join(&0))
        });
        self.state.noted = written.is_ok();
    }

    /// Says that none is any more, unless one is left that a start can still settle.
    pub(super) fn note_settled(&mut self) {
        self.state.noted = false;
        let left = std::fs::read_dir(self.files.sets_dir()).into_iter().flatten().flatten();
        if !left.map(|entry| entry.path()).any(|note| self.can_be_settled(&note)) {
            self.files.note().map(std::fs::remove_file);
        }
    }
}

impl Workspace {
    /// Settles what was interrupted in workspaces that share files with this one, as their own next start would.
    pub fn settle_beside(&self) -> Vec<Beside> {
        let notes = std::fs::read_dir(self.own.join(UNDER_WAY)).into_iter().flatten().flatten();
        notes.filter_map(|note| self.settle_noted(&note.path())).collect()
    }

    fn settle_noted(&self, note: &Path) -> Option<Beside> {
        let state = self.own.join(note.file_name()?);
        let text = std::fs::read(note).ok()?;
        let roots: Vec<PathBuf> = text.split(|byte| *byte == 0).map(|root| OsStr::from_bytes(root).into()).collect();
        let meets = |root: &PathBuf| self.roots().any(|own| own.starts_with(root) || root.starts_with(own));
        if state == self.state || !roots.iter().any(meets) {
            return None;
        }
        // It settles what is left as it opens.
        let other = Workspace::open(Settings {
            roots,
            readable: Vec::new(),
            home: self.home.clone(),
            git: Some(self.person().clone()),
            state,
            own: self.own.clone(),
            fsync: self.fsync,
        });
        let other = other.ok()?;
        // A kill before the first of a set leaves the note alone.
        if let Ok(Some(mut locked)) = other.lock_within(Duration::ZERO) {
            locked.note_settled();
        }
        Some(Beside { state: other.state.clone(), recovered: other.take_recovered() })
    }

    /// Where this workspace says that it has sets under way.
    fn note(&self) -> Option<PathBuf> {
        Some(self.own.join(UNDER_WAY).join(self.state.file_name()?))
    }
}
