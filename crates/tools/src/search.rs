//! Tools that find files and what is in them.

pub mod glob;
mod globs;
pub mod grep;
pub(crate) mod record;
mod scope;
