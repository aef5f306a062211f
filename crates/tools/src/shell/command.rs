//! A command, read: what it would do where. The tool and `nika policy` ask this one function.

use std::ops::Range;
use std::path::{Path, PathBuf};

use nika_guard::bash::{self, Analysis, Site, Target, analyse};
use nika_guard::{Effects, Place};
use nika_host::fs::Workspace;

use super::scratch;

/// A command and its effects.
#[derive(Debug)]
pub struct Command {
    /// What was found.
    pub analysis: Analysis,
    /// What the policy judges.
    pub effects: Effects,
}

/// What only stands before a command of the shell itself.
const BEFORE: &[&str] = &["builtin", "command", "time", "-p", "--"];
/// What moves the shell, or may bring something that does.
const MOVES: &[&str] = &["cd", "pushd", "popd", "eval", "source", "."];

impl Command {
    /// Whether the shell may end elsewhere than it began. Where it runs its last program in its own place, that may end
    /// anywhere, and no shell would be there with it. A text that could not be read may do anything.
    pub fn may_move(&self) -> bool {
        let all = &self.analysis.commands;
        let within = |inner: &Range<usize>, outer: &Range<usize>| {
            inner != outer && outer.start <= inner.start && inner.end <= outer.end
        };
        // What a command starts with one of its words moves that, and not the shell.
        let own = |one: &&bash::Command| !all.iter().any(|other| within(&one.span, &other.span));
        self.analysis.canonical.is_none() || all.iter().filter(own).any(|one| moves(&one.argv))
    }
}

/// Whether a command may move its shell. One whose name is not known may be any.
fn moves(argv: &[String]) -> bool {
    let name = argv.iter().find(|word| !BEFORE.contains(&word.as_str()));
    name.is_none_or(|name| MOVES.contains(&name.as_str()) || name.contains(['$', '`', '…', '*', '?', '[']))
}

/// Reads `text` as bash would in `site`; `place` says where a path leads.
pub fn read(text: &str, site: &Site, place: &dyn Fn(&Target) -> Place) -> Command {
    let analysis = analyse(text, site);
    let mut effects = analysis.effects(place).of("bash");
    scratch::mark(&mut effects, site);
    Command { analysis, effects }
}

/// Where a path of a command leads in a workspace: the kernel follows its links. What cannot be followed
/// leads outside, as nobody knows where.
pub fn place_in(files: &Workspace, target: &Target) -> Place {
    let locate = if target.itself { Workspace::locate_entry_in_command } else { Workspace::locate_in_command };
    let place = target.path.to_str().and_then(|path| locate(files, path).ok());
    let place = place.unwrap_or_else(|| Place::outside(&target.path));
    if target.tree { place.tree() } else { place }
}

/// The same on paper: nothing needs to exist, and links are not known.
pub fn place_on_paper(roots: &[PathBuf], target: &Target) -> Place {
    let below = |root: &PathBuf| Some((root.clone(), target.path.strip_prefix(root).ok()?.to_path_buf()));
    let place = match roots.iter().find_map(below) {
        Some((root, below)) => Place { in_first_root: roots.first() == Some(&root), ..Place::inside(root, below) },
        None => Place::outside(Path::new(&target.path)),
    };
    if target.tree { place.tree() } else { place }
}
