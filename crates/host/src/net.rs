//! HTTP to other machines, one exchange at a time: what a permit names is reached, and nothing behind it.
//!
//! ```text
//! Address ──permit──▶ resolved once ──every address looked at──▶ connected to those ──▶ head ──▶ body, within caps
//! ```
//!
//! An exchange follows no redirect, asks no proxy of the environment, sends no cookie and keeps no connection: where a
//! redirect leads is the caller's to decide, as a new address. A name is resolved here and only here; the connection
//! goes to the very addresses that were looked at, so a name that answers differently a moment later changes nothing.
//! Addresses of this machine and of private networks are refused whatever led there; a person may except some
//! ([`Allowed`]). Nothing is built before the first exchange: a program that fetches nothing holds no certificates.

mod address;
mod allowed;
mod body;
mod exchange;
mod lookup;

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cancel, ToolError, code};
use nika_guard::Permit;

pub use address::Address;
pub use allowed::Allowed;
pub use lookup::{Lookup, System};

use crate::sandbox::reach;

/// How large and how slow an exchange may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of a body as it comes. 10 MiB: the longest specifications are about that.
    pub body_bytes: usize,
    /// Bytes of a body once it is unpacked. 20 MiB.
    pub unpacked_bytes: usize,
    /// How many times larger a body may become beyond its first mebibyte. Text packs to a tenth, seldom to a fiftieth; a
    /// bomb to a thousandth.
    pub ratio: usize,
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the head of an answer is there.
    pub head: Duration,
    /// For the whole exchange.
    pub whole: Duration,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps {
            body_bytes: 10 << 20,
            unpacked_bytes: 20 << 20,
            ratio: 100,
            connect: Duration::from_secs(10),
            head: Duration::from_secs(20),
            whole: Duration::from_secs(60),
        }
    }
}

/// Headers in an answer: more is a flood.
const HEADERS: usize = 200;

/// Headers that an exchange sets itself, or that would make another exchange of it.
const OWN_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// What an exchange asks.
#[derive(Clone)]
pub struct Asked {
    /// `GET`, `POST` and the like.
    pub method: &'static str,
    /// Of whom, and what.
    pub address: Address,
    /// The types that are wanted.
    pub accept: &'static str,
    /// Headers besides. They may hold secrets, and are not printed.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Option<Vec<u8>>,
}

impl Asked {
    /// A look at a page.
    pub fn get(address: Address) -> Asked {
        Asked { method: "GET", address, accept: "*/*", headers: Vec::new(), body: None }
    }

    /// Whether its headers are such as may be sent; an error names the one that is not.
    pub fn headers_fit(&self) -> Result<(), ToolError> {
        if let Some((name, _)) = self.headers.iter().find(|(name, _)| is_own(name)) {
            let why = format!("`{name}` is set by the connection itself");
            return Err(ToolError::argument("headers", why).hint("leave it out"));
        }
        exchange::headers_of(self).map(drop)
    }

    /// Whether it sends nothing but an ordinary address.
    fn is_plain(&self) -> bool {
        self.method == "GET" && self.headers.is_empty() && self.body.is_none() && self.address.is_ordinary()
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked")
            .field("method", &self.method)
            .field("address", &self.address)
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("body_bytes", &self.body.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Got {
    /// The status.
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// Unpacked; empty for a redirect.
    pub body: Vec<u8>,
    /// Whom the connection was to.
    pub peer: SocketAddr,
}

impl Got {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Where it leads instead, if it is a redirect that says so.
    pub fn leads_to(&self) -> Option<&str> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| self.header("location")).flatten()
    }
}

/// The way out. Cheap to make.
#[derive(Debug)]
pub struct Net {
    /// Who resolves names.
    pub lookup: Arc<dyn Lookup>,
    /// Addresses of this machine or of private networks that a person lets be reached.
    pub allowed: Vec<Allowed>,
    /// Who asks, as servers are told.
    pub agent: String,
}

impl Net {
    /// A way out through the system's resolver.
    pub fn new(allowed: Vec<Allowed>, agent: impl Into<String>) -> Net {
        Net { lookup: Arc::new(System), allowed, agent: agent.into() }
    }

    /// One exchange, under a permit that names the host.
    pub async fn exchange(
        &self,
        permit: &Permit,
        asked: &Asked,
        caps: &Caps,
        cancel: &Cancel,
    ) -> Result<Got, ToolError> {
        let host = asked.address.host();
        if !(permit.covers_net(host) || (asked.is_plain() && permit.covers_fetch(host))) {
            return Err(ToolError::new(code::PERMISSION_DENIED, format!("this call was not allowed to reach {host}")));
        }
        asked.headers_fit()?;
        let work = async {
            let addresses = self.addresses(&asked.address, caps).await?;
            exchange::run(&self.agent, asked, &addresses, caps).await
        };
        let whole = async {
            tokio::time::timeout(caps.whole, work).await.unwrap_or_else(|_| {
                let limit = caps.whole.as_secs_f32();
                Err(ToolError::new(code::NET_TIMED_OUT, format!("{host} took longer than {limit} s for its answer")))
            })
        };
        tokio::select! {
            got = whole => got,
            () = cancelled(cancel) => Err(ToolError::cancelled()),
        }
    }

    /// Where `address` is, if every address of its name may be reached.
    async fn addresses(&self, address: &Address, caps: &Caps) -> Result<Vec<SocketAddr>, ToolError> {
        let host = address.host();
        let unreachable = |why: String| {
            ToolError::new(code::UNREACHABLE, format!("{host} cannot be reached: {why}")).hint("look at its spelling")
        };
        let mut found = match address.number() {
            Some(number) => vec![SocketAddr::new(number, address.port())],
            None => {
                let lookup = self.lookup.addresses(host, address.port());
                let found = tokio::time::timeout(caps.connect, lookup).await;
                let found = found.map_err(|_| unreachable("its name was not resolved in time".into()))?;
                found.map_err(|error| unreachable(format!("its name is not resolved: {error}")))?
            }
        };
        if let Some(port) = address.explicit_port() {
            found.iter_mut().for_each(|address| address.set_port(port));
        }
        if found.is_empty() {
            return Err(unreachable("its name has no address".into()));
        }
        // One of them is enough to refuse all: which one would be connected to, the other side decides.
        if let Some(refused) = found.iter().find(|address| !self.may_reach(address)) {
            let number = refused.ip().to_string();
            let leads = if number == host { "is".to_owned() } else { format!("leads to {number},") };
            let message = format!("{host} {leads} an address of this machine or of a private network");
            return Err(ToolError::new(code::FORBIDDEN_ADDRESS, message)
                .hint("a person can except an address by `web.allow_addresses` in their own configuration"));
        }
        Ok(found)
    }

    fn may_reach(&self, address: &SocketAddr) -> bool {
        let number = address.ip().to_canonical();
        !reach::is_private(number) || self.allowed.iter().any(|allowed| allowed.holds(number, address.port()))
    }
}

/// Whether a header is the connection's own.
fn is_own(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    OWN_HEADERS.contains(&name.as_str())
}

/// Between two looks at whether an exchange is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Ends when the call is cancelled.
async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}
