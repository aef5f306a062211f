//! Workflows from outside: what anybody who embeds the crate sees.

#[path = "it/documents.rs"]
mod documents;
#[path = "it/mutants.rs"]
mod mutants;
#[path = "it/played.rs"]
mod played;
#[path = "it/ran.rs"]
mod ran;
#[path = "it/world.rs"]
mod world;
