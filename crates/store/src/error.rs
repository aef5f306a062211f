//! The ways durable state can fail, and the code a model sees for each.

use std::io;
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code};

use crate::hash::Hash;
use crate::journal::Broken;

/// What went wrong with durable state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A line could not be written: the call must not be made.
    #[error("the journal of session {session:?} could not be written: {source}")]
    Journal {
        /// Whose journal.
        session: String,
        /// What the system said.
        source: io::Error,
    },
    /// A journal does not verify, so nothing is added to it.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// A file or directory of the state cannot be used.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// In words: `open`, `write`.
        doing: &'static str,
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The state directory is not ours, or not a directory.
    #[error("the state directory {} {why}", .path.display())]
    Unusable {
        /// Which directory.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A stored file is not what was stored.
    #[error("{} is damaged: {why}", .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// A content is not (or no longer) kept.
    #[error("the content {0} is not kept any more")]
    Gone(Hash),
    /// No call with this id changed anything that is still kept.
    #[error("no kept change belongs to the call {0:?}")]
    NoSuchCall(String),
    /// The database of tasks, plans and to-do lists.
    #[error("the database `nika.db` of the state directory: {0}")]
    Database(String),
    /// The session never held a conversation.
    #[error("the session {0:?} has no transcript")]
    NoTranscript(String),
    /// A transcript is never written over.
    #[error("the session {0:?} has a transcript already")]
    TranscriptExists(String),
    /// A fork names a line that is not there.
    #[error("the transcript of session {session:?} has {lines} lines, not {wanted}")]
    TranscriptShorter {
        /// Whose.
        session: String,
        /// How many it has.
        lines: u64,
        /// How many were asked for.
        wanted: u64,
    },
    /// The text cannot name a session or call: it would become a file name.
    #[error("{0:?} cannot name a session: use at most 64 letters, digits, '-', '_' or '.', not beginning with '.'")]
    BadId(String),
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> StoreError {
        StoreError::Io { doing, path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn journal(session: &str, source: impl Into<io::Error>) -> StoreError {
        StoreError::Journal { session: session.to_owned(), source: source.into() }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Database(error.to_string())
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> ToolError {
        let (code, hint) = match &error {
            StoreError::Journal { .. } => {
                (code::JOURNAL_LOST, "free space or mend the permissions of the state directory")
            }
            StoreError::Broken(_) => {
                (code::JOURNAL_BROKEN, "look at it with `nika log verify`, and use another session meanwhile")
            }
            StoreError::Io { .. } | StoreError::Unusable { .. } | StoreError::Database(_) => {
                (code::STATE_UNUSABLE, "mend the state directory, or name another")
            }
            StoreError::Damaged { .. } => (code::STATE_UNUSABLE, "this one cannot be restored; others can"),
            StoreError::Gone(_) | StoreError::NoSuchCall(_) => {
                (code::NOTHING_TO_UNDO, "`checkpoints` lists what can be taken back")
            }
            StoreError::NoTranscript(_) => (code::BAD_ARGUMENTS, "name one that has"),
            StoreError::TranscriptExists(_) => (code::BAD_ARGUMENTS, "choose a new name"),
            StoreError::TranscriptShorter { .. } => (code::BAD_ARGUMENTS, "name one of its lines"),
            StoreError::BadId(_) => (code::BAD_ARGUMENTS, "choose a name such as `review-2`"),
        };
        ToolError::new(code, error.to_string()).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_code() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let broken = Broken { session: "s".into(), line: Some(3), why: "it was changed".into() };
        let cases: Vec<(StoreError, u16)> = vec![
            (StoreError::journal("s", full()), 900),
            (StoreError::io("write", Path::new("/x"), full()), 901),
            (StoreError::Broken(broken), 907),
            (StoreError::Gone(Hash::of(b"")), 221),
            (StoreError::NoSuchCall("c1".into()), 221),
        ];
        for (error, number) in cases {
            assert_eq!(ToolError::from(error).code.0, number);
        }
    }
}
