//! Who says to a server over HTTP that we may: by headers that configuration has, or by another way that can answer a
//! refusal. Knows no transport.

use std::fmt;
use std::sync::Arc;

use nika_contract::{BoxFuture, ToolError};

use super::server::Server;

/// A server said no, with status 401 or 403.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked for.
    pub url: String,
    /// 401 or 403.
    pub status: u16,
    /// The values of `WWW-Authenticate`, as they came; none where the server gave none.
    pub challenges: Vec<String>,
}

/// What to do after a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Ask once more, with what [`Authorizer::headers`] says now.
    Yes,
    /// Let the refusal stand.
    No,
}

/// Says who we are to one server.
pub trait Authorizer: Send + Sync + fmt::Debug {
    /// The headers of a request to `url`, by name and value. An error ends the request before it is sent.
    fn headers<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>>;

    /// The server refused such a request. An error is what the caller reads instead of the refusal; a request is
    /// repeated twice at most.
    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>>;
}

/// Finds the authorizer of a server; asked once for each connection.
pub trait Authorizers: Send + Sync + fmt::Debug {
    /// The one of `server`.
    fn of(&self, server: &Server) -> Arc<dyn Authorizer>;
}

/// The headers of the configuration and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByHeaders;

impl Authorizers for ByHeaders {
    fn of(&self, server: &Server) -> Arc<dyn Authorizer> {
        Arc::new(Headers(server.headers().to_vec()))
    }
}

/// Headers that do not change.
pub struct Headers(pub Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values are secrets.
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Authorizer for Headers {
    fn headers<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        Box::pin(async { Ok(self.0.clone()) })
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        Box::pin(async { Ok(Again::No) })
    }
}
