//! What an agent is told before its task: where it is, what it may do, who can work for it, and what the project has
//! written down for agents.

mod notes;

use std::path::{Path, PathBuf};

use nika_agent::Briefing;
use nika_agent::memory::{self, MemoryFile};
use nika_contract::text;
use nika_guard::classify;
use nika_host::fs::Workspace;

use crate::compose::Built;
use crate::serve::instructions;

pub use notes::Noted;

/// Bytes of one memory file that are read; what is longer is cut anyway.
const MAX_BYTES: u64 = 256 << 10;

/// Who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// A person's run.
    Run,
    /// A person's run with few tools, told of none that it lacks.
    SimpleRun,
    /// Agents that work for others: how each stands, and what it has, is its type's to say.
    Crew,
}

/// What is told before a task. How to work at all is the loop's to say.
pub fn write(built: &Built, who: For, cwd: Option<&Path>) -> Briefing {
    let mut said = vec![instructions::roots(built)];
    if who != For::Crew {
        said.push(instructions::standing(&built.effective.stance, "nobody is there to be asked"));
    }
    said.push(
        "Read a file before you edit or replace it; edits are byte exact, and what others changed meanwhile is kept."
            .to_owned(),
    );
    if who != For::SimpleRun {
        said.push("More tools than are listed: `tool_search` finds them.".to_owned());
    }
    if who == For::Run {
        said.push(format!(
            "Agents that can work for you (`agent`, `delegate_agent`):\n{}",
            text::harmless(built.fleet.types().to_string().trim_end())
        ));
    }
    let skills = if who == For::SimpleRun { Vec::new() } else { built.skills.all() };
    let usable = skills.into_iter().filter(|card| card.withheld.is_none());
    Briefing {
        instructions: said.join("\n"),
        memory: memory_files(&built.files, cwd),
        skills: usable.map(|card| (card.name, card.description)).collect(),
        ..Briefing::default()
    }
}

/// Memory files of every directory from the root down to `cwd`, or of the root alone. A link that leads out of the
/// workspace, or to a secret, is none.
fn memory_files(files: &Workspace, cwd: Option<&Path>) -> Vec<MemoryFile> {
    let mut found = Vec::new();
    for dir in down_to(files.root(), cwd) {
        for name in memory::NAMES {
            let path = dir.join(name);
            let Some(place) = path.to_str().and_then(|path| files.locate(path).ok()) else { continue };
            if place.below_root.is_none() || classify(&place.path).secret.is_some() {
                continue;
            }
            if let Some(text) = read(&place.path) {
                let shown = path.strip_prefix(files.root()).unwrap_or(&path).display().to_string();
                found.push(MemoryFile { path: shown, text });
            }
        }
    }
    found
}

/// The directories from `root` down to `cwd`, both included.
fn down_to(root: &Path, cwd: Option<&Path>) -> Vec<PathBuf> {
    let mut dirs = vec![root.to_owned()];
    let below = cwd.and_then(|cwd| cwd.strip_prefix(root).ok());
    for part in below.map(Path::components).into_iter().flatten() {
        dirs.push(dirs[dirs.len() - 1].join(part));
    }
    dirs
}

fn read(path: &Path) -> Option<String> {
    use std::io::Read;
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_leads_from_the_root_to_the_working_directory() {
        let root = Path::new("/w");
        assert_eq!(down_to(root, None), [PathBuf::from("/w")]);
        assert_eq!(down_to(root, Some(Path::new("/elsewhere"))), [PathBuf::from("/w")]);
        let all = ["/w", "/w/a", "/w/a/b"].map(PathBuf::from);
        assert_eq!(down_to(root, Some(Path::new("/w/a/b"))), all);
    }
}
