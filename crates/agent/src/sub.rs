//! Agents that work for an agent, or for whoever else holds a session.
//!
//! ```text
//! tools/agent ─▶ order ─▶ Fleet ─▶ type, model, seat ─▶ child session ─▶ Agent::run ─▶ Finished
//!                                   └ worktree            └ parent's stance ⋈ type ⋈ order, parent's rules + denials
//! ```
//!
//! An agent never stands wider than who starts it: its session is a child ([`nika_runtime::Session::child`]), whose
//! stance and rules are asked of the parent live. What a type or an order says can only narrow that further.

mod background;
mod bound;
mod child;
mod earlier;
mod fleet;
pub mod graph;
mod lens;
mod narrow;
mod packet;
mod report;
mod several;
pub mod types;

pub use bound::CostBound;
pub(crate) use child::{Child, apart};
pub use child::{Finished, Left, Step};
pub use fleet::{Crew, Enrolment, Fleet, Grounds, Models, Settings};
pub(crate) use fleet::{git_failed, spent_below};
pub use narrow::{OPEN, Order};
pub(crate) use packet::{Commit, Packet, Written};
pub(crate) use report::Report;
pub(crate) use several::{Delegated, Several};
