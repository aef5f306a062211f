//! Walk, glob and grep over a tree, with a record of what was not looked at.
//!
//! The engine knows no tools: it takes an *open directory* and plain structs
//! of parameters, and hands back plain structs. It depends on none of our
//! crates, reads no environment and no current directory, prints nothing and
//! changes nothing. Every file is opened for reading relative to the open
//! directory that lists it, never through a symbolic link, so a search cannot
//! leave its root however the tree changes meanwhile.
//!
//! Results equal ripgrep's (`rg`, 15.x); what differs is said where it does.
//!
//! | module | idea |
//! |---|---|
//! | [`scope`] | where a search looks, and what may stop it |
//! | [`glob()`] | files by name, newest first |
//! | [`grep()`] | files by content |
//! | [`list()`] | one directory |
//! | [`record`] | what was, and was not, looked at |
//! | [`error`] | the ways a search cannot start |

pub mod error;
pub mod record;
pub mod scope;

mod fuzz;
mod glob;
mod grep;
mod ignores;
mod list;
mod matcher;
mod order;
mod pattern;
mod runs;
mod select;
mod walk;

pub use error::SearchError;
pub use fuzz::fuzz_one;
pub use glob::{GlobFile, GlobFound, GlobQuery, glob};
pub use grep::{BinaryNote, FileHits, GrepFound, GrepQuery, Line, Mode, grep};
pub use list::{Entry, Kind, Listing, Withhold, list};
pub use order::path_order;
pub use record::{Cut, Ignored, Record, RuleCount, Unreadable, Widen, Widening};
pub use scope::{OuterDir, Scope, Veto};
