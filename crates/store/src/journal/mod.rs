//! What happened: append-only lines, hash-chained, one file a session.
//!
//! `chain` is the rule, [`Journal`] writes, [`verify`] judges, [`list`], [`lines`] and [`export`]
//! read, [`Follow`] waits for more, [`redact`] keeps secrets out of what callers write.

mod chain;
mod follow;
mod log;
mod redact;
mod verify;
mod write;

pub use follow::{Follow, Followed};
pub use log::{Format, Lines, LogInfo, export, is_withheld, lines, list, missing};
pub use redact::{is_shortened, redact, redact_text};
pub use verify::{Broken, Verified, verify};
pub use write::{Durability, Entry, Journal, Line};
