//! Logins to MCP servers: OAuth 2.1 as the revisions 2025-11-25 and 2026-07-28 of MCP want it, 2025-03-26 where a server
//! knows nothing newer.
//!
//! ```text
//! 401 ─▶ challenge ─▶ discover (server, then authorization server) ─▶ client ─▶ a person's page, or a right of our own
//!                          │ judged, https, bounded                                      │ PKCE, state, iss
//!                          ▼                                                             ▼
//!                       metadata                                   vault ◀─ login ◀─ token
//! ```
//!
//! The SDK has an OAuth client. It is not used: it fetches what servers name without a judge, without a bound and over
//! redirects, renews without regard to other processes, and decides itself when a person is sent to a page.

mod address;
mod challenge;
mod client;
mod discover;
mod fetch;
mod flow;
mod jwt;
mod logins;
mod metadata;
mod oauth;
mod redirect;
mod secret;
mod settings;
mod token;
mod tool;
mod vault;

/// Whether `code` says something of a login.
pub(crate) fn is_login(code: nika_contract::Code) -> bool {
    (740..760).contains(&code.0)
}

pub use challenge::Challenge;
pub use discover::Judge;
pub use fetch::{Fetch, Limits};
pub use flow::{ByPerson, Invitation, Parts, Visit, Visited};
pub use jwt::SigningKey;
pub use logins::Logins;
pub use oauth::OAuth;
pub use secret::Secret;
pub use settings::{GRANTS, Grant, OAUTH_KEYS, Settings, Takes};
pub use tool::tool;
pub use vault::{Memory, State, Vault};
