//! A server that offers what the MCP conformance suite asks for, over the real pipeline.
//!
//! Its tools are tools like any other and go through `nika_runtime`. What the suite wants beyond
//! tools (prompts, resources, requests to the client) Nika does not have: it is here, and nowhere else.

mod asking;
mod backend;
mod extras;
mod samples;
mod schemas;
mod slot;
mod tools;

pub use backend::Fixture;
