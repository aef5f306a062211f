//! Turns: a model, the tools it calls, and the agents that work for it.
//!
//! [`Agent`] is the loop. [`provider`] says what a model is asked and what it answers, whoever serves it. The crate
//! calls tools through the pipeline as everybody does, and knows none of them.
//!
//! ```text
//! budgets ─▶ assemble ─▶ ask ─▶ transcript ─▶ calls, at once where they do not meet ─▶ transcript ─▶ account ─▶ …
//! ```

mod agent;
mod ask;
mod calls;
mod compact;
mod context;
mod conversation;
mod ended;
mod happening;
mod looping;
pub mod memory;
mod prompt;
pub mod provider;
mod resume;
mod room;
mod run;
pub mod sub;
mod took;
pub mod tools;
mod wanted;

pub use agent::{Agent, Bounds, Briefing, Notes, SIMPLE};
pub use ask::{Answer, Caller, Purpose, Tally};
pub use conversation::{Conversation, Conversed};
pub use ended::{Ended, Why};
pub use happening::{Happening, Unwatched, Watch};
pub use run::remember_spent;
pub use took::Took;
pub use wanted::takes_an_object;
