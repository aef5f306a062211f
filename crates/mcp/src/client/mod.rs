//! Other people's MCP servers: connections to them, their tools as ours, and what they ask of us.
//!
//! ```text
//! configuration ─▶ Written ─settle▶ Server ─connect─▶ Connection ◀── Pool ◀── mcp_* tools, mcp__server__tool
//!                                      │ pipes (Launch) · HTTP · events          │
//!                                      └ Authorizer                             Pins: what a person has seen
//! ```
//!
//! A server is somebody else's word throughout: what it says is cut, made harmless and marked; what its tools are is
//! pinned; what it asks for is answered within policy; that it is slow, floods or dies costs one call.

mod answer;
mod ask;
pub mod auth;
mod authorizer;
mod connect;
mod connection;
mod direct;
mod events;
mod foreign;
mod form;
mod handler;
mod health;
mod held;
mod http;
mod launch;
mod pin;
mod pipes;
mod pool;
mod server;
mod sse;
mod till;
mod tools;

pub use ask::{Sample, Sampled, Sampler};
pub use authorizer::{Again, Authorizer, Authorizers, ByHeaders, Headers, Refusal};
pub use connect::Ways;
pub use connection::About;
pub use direct::Direct;
pub use handler::root_uri;
pub use held::HeldBack;
pub use http::{Http, Proxies};
pub use launch::{Launch, Launched, NoPrograms, Process};
pub use pin::{Definition, Keep, Pins, Standing};
pub use pool::{Entry, Pool, State, Status};
pub use server::{
    Address, CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, Filter, KEYS, Program, Reach, Server, Written, name_problem,
};
pub use till::Amounts;
pub use tools::tools;
