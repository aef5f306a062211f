//! `nika check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Standing, Where};

/// The exit codes of a check.
const EXITS: &str = "\
Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage or a file that cannot be read.";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub struct Check {
    /// The workflows, and scripts (`NAME.script.yaml`) and tests (`NAME.test.yaml`) beside them; `-` is what comes from
    /// stdin.
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    pub files: Vec<PathBuf>,
    /// Hold every call of a server's tool against what the server says of it; a tool that no server has is an error. A
    /// server that was never asked is started for it.
    #[arg(long)]
    pub strict: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print the smallest `permits` that hold for all that the tasks do.
    #[arg(long, conflicts_with = "graph")]
    pub infer_permits: bool,
    /// Print a picture of the graph in place of findings.
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    pub graph: Option<Picture>,
    /// Write the picture to this file.
    #[arg(short, long, value_name = "FILE", requires = "graph")]
    pub output: Option<PathBuf>,
    /// Print the JSON schema of workflows, for editors, and check nothing.
    #[arg(long, conflicts_with_all = ["files", "strict", "json", "infer_permits", "graph"])]
    pub schema: bool,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// For browsers and documents.
    Svg,
    /// For Markdown that draws it.
    Mermaid,
}
