//! Tools that run commands.
//!
//! A command is read before it runs ([`command`]); the verdict on what was found picks what the system
//! enforces on it ([`ground`]), so that a mistake in the reading changes nothing.

pub mod bash;
pub mod command;
pub mod exec;
pub mod ground;
mod isolation;
pub mod job_input;
pub mod job_list;
pub mod job_output;
pub mod job_stop;
mod layered;
mod of_git;
mod over;
pub mod powershell;
mod recorded;
mod rehearsed;
pub mod repl;
mod report;
pub(crate) mod scratch;
mod settling;
pub mod sleep;
