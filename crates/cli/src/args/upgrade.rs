//! `nika upgrade`.

use std::path::PathBuf;

use clap::Args;

use super::{Standing, Where};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 printed, 1 the document has findings, 2 wrong usage or a file that cannot be read."
)]
pub struct Upgrade {
    /// The older workflow. Its file is left as it is.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}
