//! Byte-exact edits to text in any encoding: decode, match, splice, merge, diff.
//!
//! Bytes in, bytes or structs out. This crate opens nothing, reads no clock and keeps no state.
//! Bytes outside an edit never change, whatever the encoding, byte order mark or mix of line
//! endings; what cannot be done that way is refused in words.
//!
//! ```
//! use nika_edit::{Replace, plan, rebase};
//!
//! let read = b"one\r\ntwo\r\nthree\r\n";
//! let made = plan(read, &Replace { old: "three", new: "3\n4", all: false })?;
//! assert_eq!(made.apply(read), b"one\r\ntwo\r\n3\r\n4\r\n");
//! assert_eq!(made.inverse(read).apply(&made.apply(read)), read);
//!
//! // Meanwhile somebody else changed the first line.
//! let now = b"1\r\ntwo\r\nthree\r\n";
//! assert_eq!(rebase(read, now, &made)?.plan.apply(now), b"1\r\ntwo\r\n3\r\n4\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod align;
mod carry;
mod detect;
mod diff;
mod edit;
mod encoding;
mod ends;
mod find;
mod fold;
mod fuzz;
mod linediff;
mod lines;
mod merge;
mod near;
pub mod notebook;
mod outcome;
mod plan;
mod rivals;
mod splice;
mod text;
mod view;
mod western;

pub use carry::{carried, raw_lines};
pub use detect::{Detected, NotText, NotTextReason, detect, magic};
pub use diff::{BINARY_FILES, Limits, NEW_DIRECTORY, unified};
pub use edit::{EditError, LISTED_PLACES, Replace, plan};
pub use encoding::{Encoding, Unencodable};
pub use find::Level;
pub use fuzz::fuzz_one;
pub use lines::{Ending, Endings};
pub use merge::{Conflict, MergeError, Merged, OutsideChange, Overlap, Rebased, merge3, rebase};
pub use near::{Candidate, Difference, Hint, Kind, MAX_TEXT, NearMiss};
pub use outcome::{Unreadable, reads_back};
pub use plan::{Plan, Span};
pub use text::{Line, Text, count_lines, cut, decode, lines, lines_of, whole_lines};
