//! What only tests need. Nothing here ships.

pub mod conformance;
mod katan;
pub mod login;
mod world;

pub use katan::Katan;
pub use world::{Called, TickingClock, World, no, world, world_in, yes};
