//! Who says where a name is. The system's resolver; in tests, somebody who lies.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use nika_contract::BoxFuture;

/// A resolver of names.
pub trait Lookup: Send + Sync + fmt::Debug {
    /// The addresses of `host`, to be asked at `port`.
    fn addresses<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
}

/// The system's own.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Lookup for System {
    fn addresses<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}
