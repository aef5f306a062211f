//! Children of ours.
//!
//! So far one kind: [`Isolated`], this same program run again to parse what a stranger wrote. It gets
//! bytes and gives bytes, and whatever the bytes do to the parser ends with it: it is killed when it is
//! slow, refused memory when it is greedy, and can open, write and start next to nothing
//! ([`limit_self`]). What the bytes mean is the tools' business.

mod isolated;
mod limits;

pub use isolated::{Crash, Isolated, Running};
pub use limits::{Limits, limit_self};
