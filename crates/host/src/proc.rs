//! Processes: commands that calls start, and children of ours.
//!
//! A command is a job ([`Jobs`]): supervised by a process of its own ([`supervise`]), bounded, listed, and
//! gone with all it started when it ends. An interpreter that keeps its state is a job that is talked to
//! ([`Repl`]).
//!
//! [`Isolated`] is this same program run again to parse what a stranger wrote. It gets bytes and gives
//! bytes, and whatever the bytes do to the parser ends with it: it is killed when it is slow, refused memory
//! when it is greedy, and can open, connect and start nothing ([`limit_self`]). What the bytes mean is
//! the tools' business.
//!
//! [`HookRunner`] runs a command that a person configured to have a say in calls; [`Peer`] is a server that they
//! configured, talked to over pipes.

mod hook;
mod isolated;
mod jobs;
mod limits;
mod memory;
mod repl;
mod still;
mod supervise;
pub(crate) mod tree;
mod wire;

pub use hook::{HookEnd, HookRunner, RunningHook, guard};
pub use isolated::{Crash, Isolated, Running};
pub(crate) use jobs::MARK;
pub use jobs::{
    Bounds, Chunk, Confinement, GRACE, Job, Jobs, Listed, Noted, Notes, Notice, OnEnd, Order, Peer, PeerPipes, Picture,
    Program, Reachable, Reading, StartError, State, Stdin, Summary, TIMEOUT, TIMEOUT_MOST, Until, View,
};
pub use limits::{Limits, limit_self};
pub use repl::{Code, Evaluated, Language, Outcome, PRINTED_BYTES, Repls};
pub use supervise::supervise;
pub use tree::Process;
pub use wire::{Exited, Held, How, KilledBy, Reached};
