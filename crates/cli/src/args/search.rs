//! The command line of `nika search`.

use clap::{Args, Subcommand};

use super::McpCommon;

#[derive(Debug, Args)]
pub struct Search {
    #[command(subcommand)]
    pub command: SearchCommand,
}

#[derive(Debug, Subcommand)]
pub enum SearchCommand {
    /// Keep the key of a search provider, read from standard input.
    ///
    /// It lies in one file of your state directory that only you can read, and goes to the provider's host alone.
    Login {
        /// The provider, by its name in configuration; `brave` and `tavily` need none there.
        provider: String,
        #[command(flatten)]
        common: McpCommon,
    },
    /// Forget the key of a search provider.
    Logout {
        /// The provider.
        provider: String,
        #[command(flatten)]
        common: McpCommon,
    },
}
