//! What only tests need. Nothing here ships.

pub mod conformance;
pub mod login;
mod world;

pub use world::{Called, TickingClock, World, no, world, world_in, yes};
