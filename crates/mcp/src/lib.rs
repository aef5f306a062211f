//! The project's tools as an MCP server, over stdio and over streamable HTTP.
//!
//! Whoever starts a server implements [`Backend`] and calls [`serve_stdio`] or [`HttpServer::bind`].
//! Revisions 2025-06-18, 2025-11-25 and 2026-07-28 are spoken on both. The MCP SDK's types stop in
//! this crate; permission, journal and the cutting of outputs are the backend's.
//!
//! ```text
//! stdio: line ─▶ Conn ─▶ ┐                      ┌─▶ Backend::call ─▶ Answer ─▶ render ─▶ bytes
//! HTTP:  rmcp ─▶ Handler ┴▶ Engine ── Request ──┘        │ asks, tells progress
//!                                                        ▼
//!                                                      Link ─▶ the client
//! ```

mod ask;
pub mod client;
mod engine;
mod http;
mod link;
mod message;
mod port;
mod progress;
mod render;
mod revision;
mod seal;
mod stdio;

pub use http::{HttpConfig, HttpServer};
pub use port::{
    Answer, Answered, Backend, Client, Extras, ListKind, Listed, Object, ProtocolError, Reply, Request, Session, Tell,
};
pub use stdio::{serve_fds, serve_stdio};
