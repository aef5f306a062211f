//! Every effect on the world.
//!
//! Functions that change or reveal something take the call's `Permit` (or the `Cx` that holds it) and
//! check themselves against it, so an act that was not declared does not happen. Paths are resolved by
//! the kernel beneath directory handles, never by comparing strings.

mod connect;
pub mod fs;
pub mod git;
mod mount_table;
mod moves;
pub mod net;
pub mod overlay;
pub mod proc;
pub mod record;
pub mod sandbox;
pub mod scratch;
