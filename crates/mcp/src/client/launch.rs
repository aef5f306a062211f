//! How a server that is a program comes to run: the one thing that this crate asks of whoever starts processes.

use std::fmt;

use nika_contract::{BoxFuture, ToolError};
use tokio::io::{AsyncRead, AsyncWrite};

use super::server::{Program, Server};

/// Starts servers.
pub trait Launch: Send + Sync + fmt::Debug {
    /// Starts `program`, which is `server`'s. It ends when [`Launched::process`] is dropped.
    fn launch<'a>(&'a self, server: &'a Server, program: &'a Program) -> BoxFuture<'a, Result<Launched, ToolError>>;
}

/// A server that runs.
pub struct Launched {
    /// What it reads.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it answers.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// What it complains of.
    pub stderr: Box<dyn AsyncRead + Send + Unpin>,
    /// Holds it.
    pub process: Box<dyn Process>,
}

impl fmt::Debug for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launched").field("process", &self.process).finish_non_exhaustive()
    }
}

/// A running server, whose end is the end of this.
pub trait Process: Send + Sync + fmt::Debug {
    /// How it ended and what hindered it, in words; nothing while it runs unhindered.
    fn remarks(&self) -> Vec<String>;
}

/// Starts nothing: for surfaces that have no processes.
#[derive(Debug, Clone, Copy)]
pub struct NoPrograms;

impl Launch for NoPrograms {
    fn launch<'a>(&'a self, server: &'a Server, _: &'a Program) -> BoxFuture<'a, Result<Launched, ToolError>> {
        Box::pin(async move {
            let message = format!("the MCP server '{}' is a program, and nothing starts programs here", server.name);
            Err(ToolError::new(nika_contract::code::SERVER_UNREACHABLE, message))
        })
    }
}
