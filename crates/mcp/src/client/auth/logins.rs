//! The logins of all servers: one [`OAuth`] a server, as long as the program runs, so that connections that come and go
//! share what they know of refusals. A server whose `headers` say who asks is left to them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{BoxFuture, ToolError, code};

use super::super::authorizer::{Again, Authorizer, Authorizers, Headers, Refusal};
use super::super::server::Server;
use super::flow::{Parts, Visit};
use super::oauth::OAuth;

/// Finds the login of a server.
pub struct Logins {
    parts: Arc<Parts>,
    visit: Option<Arc<dyn Visit>>,
    known: Mutex<HashMap<String, (Server, Arc<OAuth>)>>,
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins").finish_non_exhaustive()
    }
}

impl Logins {
    /// None is used yet.
    pub fn new(parts: Parts) -> Logins {
        Logins { parts: Arc::new(parts), visit: None, known: Mutex::default() }
    }

    /// The same, with somebody who is shown a page whenever a call needs one.
    pub fn with_visit(mut self, visit: Arc<dyn Visit>) -> Logins {
        self.visit = Some(visit);
        self
    }

    /// The login of `server`; an error where it has none to make.
    pub fn of(&self, server: &Server) -> Result<Arc<OAuth>, ToolError> {
        let without = |why: &str| {
            ToolError::new(code::MCP_LOGIN_SETTINGS, format!("the MCP server '{}' takes no login: {why}", server.name))
                .hint("`nika mcp list` shows how it is reached")
        };
        let url = server.url().ok_or_else(|| without("it is a program on this machine"))?;
        if by_headers(server) {
            return Err(without("its `headers` say who asks"));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((as_it_was, oauth)) = known.get(&server.name)
            && as_it_was == server
        {
            return Ok(Arc::clone(oauth));
        }
        let settings = server.oauth.clone().unwrap_or_default();
        let mut oauth = OAuth::new(&server.name, url, settings, Arc::clone(&self.parts))?;
        if let Some(visit) = &self.visit {
            oauth = oauth.with_visit(Arc::clone(visit));
        }
        let oauth = Arc::new(oauth);
        known.insert(server.name.clone(), (server.clone(), Arc::clone(&oauth)));
        Ok(oauth)
    }
}

fn by_headers(server: &Server) -> bool {
    server.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"))
}

impl Authorizers for Logins {
    fn of(&self, server: &Server) -> Arc<dyn Authorizer> {
        let headers = Headers(server.headers().to_vec());
        match Logins::of(self, server) {
            Ok(oauth) => Arc::new(Both { headers, oauth }),
            Err(_) => Arc::new(headers),
        }
    }
}

/// Headers of the configuration, and a login beside them.
#[derive(Debug)]
struct Both {
    headers: Headers,
    oauth: Arc<OAuth>,
}

impl Authorizer for Both {
    fn headers<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        Box::pin(async move {
            let mut headers = self.headers.headers(url).await?;
            headers.extend(self.oauth.headers(url).await?);
            Ok(headers)
        })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        self.oauth.refused(refusal)
    }
}
