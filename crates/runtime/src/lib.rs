//! How a call flows.
//!
//! [`Runtime::dispatch`] is the one way to a tool, whoever calls: an MCP client, a person at the command
//! line, an agent. The crate knows what a tool *is* and not which ones there are; the program hands it
//! the list.
//!
//! ```text
//! begin ─▶ refresh ─▶ lookup ─▶ spend ─▶ parse ─▶ before ─▶ decide ─▶ settle ─▶ inquire ─▶ checkpoint ─▶ run ─▶ after ─▶ shape ─▶ end
//!   │                       each stage takes the type that only the one before it makes                                         │
//!   └──────────────────────────── journal: one line before anything, one line after everything ─────────────────────────────────┘
//! ```

mod catalog;
mod dialect;
mod dispatch;
mod finder;
mod gateway;
mod hooks;
mod listing;
mod plan;
mod session;
mod stage;
mod synonyms;
mod wording;

pub use catalog::Tools;
pub use dialect::Dialect;
pub use dispatch::{Incoming, Limits, Outcome, Parts, Recovered, Runtime};
pub use finder::Finder;
pub use hooks::{HookOutcome, HookReport, Hooks, Rehearsal};
pub use listing::{Listed, Listing};
pub use plan::Planned;
pub use session::{Session, Veil, Watcher};
pub use stage::decide::HOOK_ASKS;
pub use stage::refresh::Rules;
pub use stage::shape::Whole;
