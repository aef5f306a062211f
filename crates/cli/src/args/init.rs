//! `nika init`.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 written, 1 a directory that cannot be written, 2 wrong usage or something is there already."
)]
pub struct Init {
    /// The directory to make. Default: the current one.
    // An empty name is refused where the others are, in the same words.
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub name: Option<PathBuf>,
    /// What the workflow shows: one prompt, an agent with the tools of an MCP server, or tasks that wait for each
    /// other and need no model.
    #[arg(short, long, value_name = "TEMPLATE", default_value = "basic")]
    pub template: Template,
}

/// What `nika init` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// One task that asks a model.
    Basic,
    /// An agent with the tools of an MCP server.
    Agent,
    /// Tasks that wait for each other, and a loop; no model.
    Pipeline,
}
