//! What only tests need. Nothing here ships.

pub mod conformance;
mod world;

pub use world::{Called, TickingClock, World, no, world, world_in, yes};
