//! Which guarded names a command could create, and what stands in for them meanwhile.
//!
//! A name that does not exist cannot be bound read-only, so something empty takes its place while the command
//! runs. That is visible, and therefore only done for what starts code on the user's own machine; the rest of the
//! names is looked at afterwards.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::path::{Spot, classify, guarded_spots, is_of_elsewhere, rooted_secrets, secret_spots};

/// What stands in for a guarded name that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placeholder {
    /// An empty file; for a directory, too: nothing can be put below it.
    File,
    /// The same, which git opens: one that it can read.
    Empty,
    /// An empty directory.
    Directory,
    /// A file that says `.`: git fails on an empty one and takes this for "here".
    Here,
}

/// Names below `.git` that mean a state of work when they exist: they can neither be stood in for nor set aside.
const STATES: &[&str] = &["rebase-merge", "rebase-apply", "sequencer", "gitdir"];
/// Guarded names that stand in git directories alone, which need not be called `.git`, and what stands in for them.
const OF_GIT: &[(&str, Placeholder)] =
    &[("commondir", Placeholder::Here), ("config.worktree", Placeholder::Empty), ("modules", Placeholder::File)];
/// What counts in a home only, though nothing but its name says so.
const OF_HOME: &[&str] = &[".config", ".gitconfig", ".emacs", ".emacs.d", ".vim"];

fn path_of(spot: &Spot) -> PathBuf {
    spot.below.iter().chain(spot.name.iter()).collect()
}

/// Guarded names below `directory`. Those inside `.git` only when `has_git` (it is a directory there).
pub fn guarded_below(directory: &Path, has_git: bool) -> Vec<PathBuf> {
    guarded_spots()
        .filter(|spot| has_git || spot.below.len() < 2 || spot.below.first() != Some(&".git"))
        .filter(|spot| !spot.below.last().is_some_and(|last| STATES.contains(last)))
        .map(|spot| directory.join(path_of(&spot)))
        .collect()
}

/// What stands in for the guarded `path`, or for the first part of the way to a guarded path; `None` when it is only
/// looked at afterwards.
pub fn placeholder(path: &Path) -> Option<Placeholder> {
    if let Some((_, what)) = OF_GIT.iter().find(|(name, _)| path.file_name() == Some(OsStr::new(name))) {
        return Some(*what);
    }
    // Asked for each of a root's absent names before each command, so nothing is put together for it.
    let parts: Vec<&OsStr> = path.iter().collect();
    let spot = guarded_spots().find(|spot| {
        let names = || spot.below.iter().chain(&spot.name);
        let last = parts.len().checked_sub(names().count()).and_then(|from| parts.get(from..));
        last.is_some_and(|last| last.iter().zip(names()).all(|(part, name)| part == name))
    });
    let spot = spot.or_else(|| {
        // The way to one that is two deep: `.cargo`.
        guarded_spots().find(|spot| spot.below.len() == 2 && parts.last().is_some_and(|last| *last == spot.below[0]))
    })?;
    let first = spot.below.first().or(spot.name.as_ref())?;
    if (is_of_elsewhere(spot.why) && spot.name != Some(".envrc")) || OF_HOME.contains(first) {
        return None;
    }
    Some(match path.file_name()?.to_str()? {
        ".git" => Placeholder::Directory,
        "config" | "attributes" => Placeholder::Empty,
        _ => Placeholder::File,
    })
}

/// Whether what stands at `path`, absolute or relative to a root, starts code on the user's own machine by standing
/// there: as what is stood in for at a root, but however deep it lies and however it is spelled. A state of git's work
/// is none.
pub fn starts_code(path: &Path) -> bool {
    let Some(why) = classify(path).guarded else { return false };
    let names: Vec<_> = path.components().map(|part| part.as_os_str()).collect();
    let is = |name: &OsStr, other: &str| name.eq_ignore_ascii_case(other);
    let is_envrc = names.last().is_some_and(|name| is(name, ".envrc"));
    let is_state = |pair: &[&OsStr]| is(pair[0], ".git") && STATES.iter().any(|state| is(pair[1], state));
    (is_envrc || !is_of_elsewhere(why))
        && !names.iter().any(|name| OF_HOME.iter().any(|other| is(name, other)))
        && !names.windows(2).any(is_state)
}

/// Whether a link at `path` would bring what starts code below it: `.cargo`, where `.cargo/config.toml` is guarded.
pub fn leads_to_code(path: &Path) -> bool {
    let parts: Vec<&OsStr> = path.iter().collect();
    guarded_spots().any(|spot| {
        let names: Vec<&str> = spot.below.iter().chain(&spot.name).copied().collect();
        (1..names.len()).any(|count| {
            let (way, rest) = names.split_at(count);
            let last = parts.len().checked_sub(count).and_then(|from| parts.get(from..));
            let ends =
                last.is_some_and(|last| last.iter().zip(way).all(|(part, name)| part.eq_ignore_ascii_case(name)));
            ends && starts_code(&path.join(rest.iter().collect::<PathBuf>()))
        })
    })
}

/// Where secrets may stand: below `home`, and at fixed places of the system. The host says which exist.
pub fn secrets_of(home: &Path) -> Vec<PathBuf> {
    let below_home =
        secret_spots().map(|spot| home.join(spot.below.iter().chain(spot.name.iter()).collect::<PathBuf>()));
    let of_system = rooted_secrets().map(|run| Path::new("/").join(run.iter().collect::<PathBuf>()));
    below_home.chain(of_system).filter(|path| !path.starts_with("/proc")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stand_in(path: &str) -> Option<Placeholder> {
        placeholder(Path::new(path))
    }

    #[test]
    fn what_starts_code_here_is_stood_in_for() {
        for path in ["/w/.envrc", "/w/.mcp.json", "/w/.vscode", "/w/.git/hooks", "/w/.cargo/config.toml", "/w/.cargo"] {
            assert_eq!(stand_in(path), Some(Placeholder::File), "{path}");
        }
        assert_eq!(stand_in("/w/.git"), Some(Placeholder::Directory));
        for path in ["/w/.git/commondir", "/r.git/worktrees/w/commondir", "/bare/commondir"] {
            assert_eq!(stand_in(path), Some(Placeholder::Here), "{path}");
        }
        assert_eq!(stand_in("/r.git/worktrees/w/modules"), Some(Placeholder::File));
        for path in ["/r.git/worktrees/w/config.worktree", "/bare/config.worktree", "/w/.git/config"] {
            assert_eq!(stand_in(path), Some(Placeholder::Empty), "{path}");
        }
    }

    #[test]
    fn a_link_in_the_place_of_a_directory_leads_to_what_it_guards() {
        for path in ["sub/.cargo", ".CARGO", "a/.hg", "n/.git/info", ".git"] {
            assert!(leads_to_code(Path::new(path)), "{path}");
        }
        for path in ["sub/cargo", "info", ".config", "a/.github/x", "docs"] {
            assert!(!leads_to_code(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_starts_code_does_so_however_deep_and_however_spelled() {
        for path in ["a/.envrc", "a/b/.vscode/tasks.json", "/w/a/.MCP.json", "a/.git/hooks/x", "a/.Cargo/config.toml"] {
            assert!(starts_code(Path::new(path)), "{path}");
        }
        for path in
            ["a/x", "a/.bashrc", "a/.github/workflows/x.yml", "a/.gitconfig", ".git/rebase-merge/todo", "a/.git/HEAD"]
        {
            assert!(!starts_code(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn what_runs_elsewhere_is_only_looked_at() {
        for path in ["/w/.github/workflows", "/w/.github", "/w/.travis.yml", "/w/.bashrc", "/w/.config/git", "/w/src"] {
            assert_eq!(stand_in(path), None, "{path}");
        }
    }

    #[test]
    fn names_inside_a_repository_need_one() {
        let names = guarded_below(Path::new("/w"), true);
        assert!(names.contains(&PathBuf::from("/w/.envrc")) && names.contains(&PathBuf::from("/w/.git/hooks")));
        assert!(!names.contains(&PathBuf::from("/w/.git/rebase-merge")));
        let without = guarded_below(Path::new("/w"), false);
        assert!(without.contains(&PathBuf::from("/w/.git")) && !without.contains(&PathBuf::from("/w/.git/hooks")));
    }

    #[test]
    fn secrets_stand_at_known_places() {
        let spots = secrets_of(Path::new("/home/dev"));
        for want in ["/home/dev/.ssh", "/home/dev/.netrc", "/home/dev/.config/gh", "/etc/shadow"] {
            assert!(spots.contains(&PathBuf::from(want)), "{want}");
        }
        assert!(!spots.iter().any(|spot| spot.starts_with("/proc")));
    }
}
