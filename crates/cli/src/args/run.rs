//! `nika run`, `nika trace` and `nika test`, as data.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{Format, Report, Standing, Where};

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 every task is done or skipped; 1 tasks failed; 2 wrong usage, inputs, configuration or workflow; \
3 refused, or a limit was reached; 130 interrupted. An interrupted or failed run goes on with `--resume`.")]
pub struct Run {
    /// The workflow. With `--resume` it may be left out.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Its inputs, each by its own kind: `words=TODO`, `most=3`, `paths=a,b`.
    #[arg(value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
    /// Take inputs from this JSON object; those of the command line are laid over it.
    #[arg(long, value_name = "FILE")]
    pub input_file: Option<PathBuf>,
    /// Go on with this run, or with the `last` one: what ended is not run again.
    #[arg(long, value_name = "TRACE")]
    pub resume: Option<String>,
    /// Say yes to what the workflow states beyond the mode.
    #[arg(long)]
    pub yes: bool,
    /// Who serves the model, whatever the workflow names.
    #[arg(long, short = 'p', value_name = "NAME", help_heading = "Model")]
    pub provider: Option<String>,
    /// The model, as its provider names it; for `scripted` the file of the script, by default `X.script.yaml` beside
    /// `X.nika.yaml`.
    #[arg(long, short = 'm', value_name = "NAME", help_heading = "Model")]
    pub model: Option<String>,
    /// Print text, one JSON object at the end, or a JSON object a line while it runs.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub output: Report,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Trace {
    /// The workspace whose traces they are. Default: the current directory's.
    #[arg(long = "root", value_name = "DIR", global = true)]
    pub root: Option<PathBuf>,
    /// Print text or JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub output: Format,
    #[command(subcommand)]
    pub what: Option<TraceCommand>,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// List the runs, the latest first.
    List,
    /// Show what happened in a run, a line each; without an id, in the latest.
    Show {
        /// The run, or `last`.
        id: Option<String>,
    },
    /// Check that a trace is what was written; without an id, every one.
    Verify {
        /// The run, or `last`.
        id: Option<String>,
    },
    /// Print a whole trace.
    Export {
        /// The run, or `last`.
        id: String,
        /// One JSON array, the lines as they are, or YAML.
        #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
        format: TraceFormat,
    },
}

/// How a trace is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TraceFormat {
    /// One array.
    Json,
    /// The lines as they are.
    Ndjson,
    /// A YAML list.
    Yaml,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 every result is the one that its test holds; 1 some are not; 2 wrong usage, or a file of cases that cannot be \
read.")]
pub struct Test {
    /// Workflows or their tests (`X.test.yaml` beside `X.nika.yaml`). Default: every one below the root.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Take what the workflows answer now for right: cases that differ are written anew. A workflow that is named and has
    /// no test gets its first one.
    #[arg(long)]
    pub update: bool,
    /// Say yes to what the workflows state beyond the mode.
    #[arg(long)]
    pub yes: bool,
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
}
