//! Everything durable except workspace files.
//!
//! One [`State`] is the state directory of one workspace. In it:
//!
//! ```text
//! journal/ID.jsonl   what happened, a hash-chained line each      → journal
//! heads/ID           where each chain ends, outside the log       → journal
//! objects/ab/cdef…   contents by sha256, compressed               → objects
//! checkpoints.log    which call changed which path from what      → checkpoints
//! checkpoints.added  how much that was since the last collection  → checkpoints
//! checkpoints.lock   when that was, and who collects              → checkpoints
//! recording/CALL     calls that go on changing paths              → checkpoints
//! sessions/ID.json   what a named session had read and granted    → sessions
//! transcripts/ID.jsonl  what a conversation was                 → transcript
//! mcp-pins.json      tools of other servers, as a person saw them → pins
//! nika.db            tasks, plans, to-do lists                    → tasks, plans, todos
//! spill/CALL.txt     output too long for an answer                → spill
//! runs/              traces of workflows, and their long outputs → runs
//! sets/              intents of multi-file changes (host's own)
//! ```
//!
//! Beside them all, a person's own file of logins is a [`Private`].
//!
//! Many processes may use one directory at once. The crate reads no clock and no environment: times
//! are parameters, and where only "older than" matters, the file system's own stamps are compared.

pub mod checkpoints;
mod db;
mod error;
mod hash;
mod id;
pub mod journal;
pub mod objects;
mod pins;
pub mod plans;
mod private;
pub mod runs;
pub mod sessions;
pub mod spill;
mod state;
pub mod tasks;
pub mod todos;
pub mod transcript;

pub use checkpoints::{CallChanges, CallUndo, Change, CheckpointMeta, Checkpoints};
pub use db::Db;
pub use error::StoreError;
pub use hash::Hash;
pub use journal::{Broken, Durability, Entry, Journal, Line};
pub use objects::Objects;
pub use pins::PinFile;
pub use private::{Held, Private};
pub use sessions::{ReadEntry, SessionFile};
pub use state::State;
pub use transcript::{Transcript, TranscriptInfo};
