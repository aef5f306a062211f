//! What a command over the bare roots changes, kept as it was before: for what lives longer than a call, and wherever
//! no layer can be had.
//!
//! The kernel stops a process of the command before a call that changes files by name, and tells us
//! ([`Listener`](crate::sandbox::Listener)). We look where the name leads, keep what stands there, and let the call through; when the command has
//! ended, what stands there then is noted beside it. So the cost follows what is touched, and nothing is covered.
//!
//! ```text
//! openat(…, O_WRONLY) ─▶ stopped ─▶ where does it lead? ─▶ first touch: the pre-image, then its line ─▶ goes on
//!                                                        └▶ touched before, outside, only read: goes on
//! ```
//!
//! A path that was left alone for a while is looked at before the end, too: what stands there is written down as what the
//! command left, so that what somebody else writes there later is not taken back with it.
//!
//! What holds a command is the sandbox. Where somebody outside has replaced a guarded file, and its mount is gone with it,
//! a call that changes it is refused here (`off`); and where that file had another name before, it is known whether the
//! command was about to change it then (`handled`). Between our look and the kernel's the process may make a name lead
//! elsewhere; what it changes so is inside the roots all the same, but may not be kept. It only ever reads, beneath the
//! handles of the roots, what the command itself reaches there and could write.

mod before;
mod calls;
mod firsts;
mod handled;
mod held_open;
mod off;
mod recorder;
mod rest;
mod round;
mod sight;
mod touched;
mod turn;
#[cfg(test)]
mod turn_tests;

pub(crate) use calls::CALLS;
pub(crate) use held_open::{writable, writers};
pub(crate) use recorder::came_of;
pub use recorder::{Recorded, Recorder};
