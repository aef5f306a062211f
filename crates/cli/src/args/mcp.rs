//! The command line of `nika mcp`.

use clap::{Args, Subcommand};

use super::{Format, Standing, Where};

#[derive(Debug, Args)]
pub struct Mcp {
    #[command(subcommand)]
    pub command: McpCommand,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// List the MCP servers of the configuration: how each stands, its tools, and why one is withheld.
    List {
        /// Start or reach each server and say whether that works.
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        common: McpCommon,
    },
    /// Show the tools of the servers, or of one, as they were seen, and those that are held back.
    ///
    /// One server is asked for what it has now.
    Tools {
        /// The server, by its name in configuration.
        server: Option<String>,
        #[command(flatten)]
        common: McpCommon,
    },
    /// Say yes to a server's tools as they are now, after showing what is new or other than you saw.
    Approve {
        /// The server, by its name in configuration.
        server: String,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        common: McpCommon,
    },
    /// Log in to a server over HTTP that wants to know who asks.
    ///
    /// Shows a page to open in a browser, and waits up to 5 minutes for it.
    Login {
        /// The server, by its name in configuration.
        server: String,
        /// Read the address that the browser ended at from stdin, also where stdin is no terminal.
        #[arg(long)]
        paste: bool,
        #[command(flatten)]
        common: McpCommon,
    },
    /// Forget the login to a server.
    Logout {
        /// The server, by its name in configuration.
        server: String,
        #[command(flatten)]
        common: McpCommon,
    },
}

#[derive(Debug, Args)]
pub struct McpCommon {
    /// Print text, or one JSON value.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    /// The same as `--output json`.
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}
