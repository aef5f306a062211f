//! `nika log`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

#[derive(Debug, Args)]
pub struct Log {
    /// Print lines as they are written, until interrupted.
    #[arg(long)]
    pub follow: bool,
    /// Print text or JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub output: Format,
    /// The workspace whose journal it is. Default: the current directory's.
    #[arg(long = "root", value_name = "DIR", global = true)]
    pub root: Option<PathBuf>,
    #[command(subcommand)]
    pub what: Option<LogCommand>,
}

#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// List the journals, the latest first.
    List,
    /// Show a journal's calls, a line each; without an id, the latest's.
    Show {
        /// The session.
        id: Option<String>,
    },
    /// Check that a journal is what was written; without an id, every one.
    Verify {
        /// The session.
        id: Option<String>,
    },
    /// Print a whole journal.
    Export {
        /// The session.
        id: String,
        /// One array, or the lines as they are.
        #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
        format: ExportFormat,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One array.
    Json,
    /// The lines as they are.
    Ndjson,
}
