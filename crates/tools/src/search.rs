//! Tools that find files and what is in them.

pub mod glob;
pub mod grep;
mod record;
mod scope;
