//! Workflows: a YAML file that a team keeps in its repository.
//!
//! ```text
//! text ─▶ parse ─▶ Flow ─▶ check (graph, bindings, authority, cost) ─▶ run ─▶ trace ─▶ resume
//! ```
//!
//! [`model`] is what everybody agrees on: whatever version a document is written in, it becomes one [`model::Flow`],
//! and only a `Flow` is run.

pub mod check;
pub mod finding;
pub mod graph;
pub mod model;
mod old;
pub mod picture;
mod read;
pub mod run;
pub mod schema;
mod shape;
mod template;
pub mod tools;
mod write;

pub use check::{Checked, Surroundings, check};
pub use finding::{Finding, Weight};
pub use read::{MAX_BYTES, OLDER, VERSION, read};
pub use template::{Context, DataError, DataKind, Templates, is_template};
pub use write::write;
