//! Templates: `{{ expression }}`, `{% for %}` and `{% if %}` in a text, in minijinja's language with bounds.
//!
//! ```text
//! text ──source──▶ minijinja's text (`??` written out) ──names──▶ what it names and of what type (check)
//!                                                      ──engine──▶ a text or a value (run)
//! ```
//!
//! No files, no includes, no macros, and no names that change: what a template makes grows with what it is given.

mod engine;
mod filters;
pub(crate) mod names;
mod source;

pub(crate) use engine::condition_source;
pub use engine::{Context, DataError, DataKind, Templates};
pub(crate) use source::{Source, source};

/// Whether a text holds templates.
pub fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}
