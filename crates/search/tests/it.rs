//! The engine beside ripgrep: generated searches over generated trees full of
//! what breaks searches, and the hazards of a tree that is not kind.

#[path = "it/hazards.rs"]
mod hazards;
#[path = "it/oracle.rs"]
mod oracle;
#[path = "it/render.rs"]
mod render;
#[path = "it/same_as_rg.rs"]
mod same_as_rg;
#[path = "it/tree.rs"]
mod tree;
