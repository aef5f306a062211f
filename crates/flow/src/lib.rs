//! Workflows: a YAML file that a team keeps in its repository.
//!
//! ```text
//! text ─▶ parse ─▶ Flow ─▶ check (graph, bindings, authority, cost) ─▶ run ─▶ trace ─▶ resume
//! ```
//!
//! [`model`] is what everybody agrees on: whatever version a document is written in, it becomes one [`model::Flow`],
//! and only a `Flow` is run.

pub mod model;
