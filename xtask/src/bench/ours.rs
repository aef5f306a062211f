//! How the benches start Nika: the program, the options, and a state folder of the bench's own, so that a measurement
//! never writes into the person's journal.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use crate::args::Args;
use crate::{paths, process};

/// The setting that turns fsync off.
pub(crate) const NO_FSYNC: [&str; 2] = ["--set", "files.fsync=false"];

/// The program under test, if it is built.
pub(crate) struct Ours {
    pub program: PathBuf,
}

/// An answer is cut at 30,000 characters for a model's sake; a comparison with rg wants all of it.
const EVERYTHING: &str = "output.max_chars=10000000";

impl Ours {
    /// `--nika PROGRAM`, or the release build.
    pub(crate) fn from_args(args: &mut Args) -> Result<Option<Self>> {
        let program = match args.value("--nika")? {
            Some(given) => paths::workspace().join(given),
            None => paths::binary("release", "nika"),
        };
        if program.exists() {
            return Ok(Some(Ours { program }));
        }
        println!("nika is not built ({}): only the peers are measured", program.display());
        Ok(None)
    }

    /// What it says it is.
    pub(crate) fn version(&self) -> Result<String> {
        let text = process::output(&paths::workspace(), &self.program, &["--version"])?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    /// `nika serve` on a folder.
    pub(crate) fn serve(&self, root: &Path) -> Vec<String> {
        let words = ["serve", "--mode", "accept-edits", "--root"];
        let program = self.program.to_string_lossy().into_owned();
        let root = root.to_string_lossy().into_owned();
        [program].into_iter().chain(words.map(str::to_owned)).chain([root]).collect()
    }

    /// `nika call TOOL` on a folder, one process a call.
    pub(crate) fn call(&self, tool: &str, arguments: &Value, root: &Path) -> Vec<String> {
        let json = arguments.to_string();
        let root = root.to_string_lossy();
        let words = ["call", tool, "--json", &json, "--root", &root, "--mode", "read-only", "--set", EVERYTHING];
        let program = self.program.to_string_lossy().into_owned();
        [program].into_iter().chain(words.map(str::to_owned)).collect()
    }
}

/// A server named on the command line: `{dir}` in it becomes the folder, else `--root DIR` is appended.
pub(crate) fn given_server(command: &str, root: &Path) -> Vec<String> {
    let root = root.to_string_lossy();
    let mut words = process::words(command);
    if words.iter().any(|word| word.contains("{dir}")) {
        return words.iter().map(|word| word.replace("{dir}", &root)).collect();
    }
    words.extend(["--root".to_owned(), root.into_owned()]);
    words
}

/// Where the journal and the checkpoints of measured calls go.
pub(crate) fn environment() -> Result<Vec<(String, String)>> {
    let state = paths::made("bench/state")?;
    Ok(vec![("XDG_STATE_HOME".to_owned(), state.to_string_lossy().into_owned())])
}
