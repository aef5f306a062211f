//! What a task packet asks for, in the words that packets are written in. Pure.
//!
//! Every field means something: a word that is not known is refused by name, as a policy that is not understood is a
//! policy that is not kept.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use nika_contract::ToolError;
use nika_guard::{PathPattern, Place};

/// Which paths may be written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Scope {
    /// Patterns from the root; every path when empty.
    pub patterns: Vec<String>,
}

/// When the work is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    Never,
    /// Once, when every acceptance test has passed.
    OnSuccess,
}

/// A packet whose words are understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    pub scope: Scope,
    /// Whether the work is done in a worktree with a branch of its own.
    pub apart: bool,
    pub commit: Commit,
    /// Whether a person is asked when it does not go on.
    pub asks: bool,
    /// The directory below the root that the packet is about.
    pub below: PathBuf,
}

const BRANCH: &[(&str, bool)] = &[
    ("none", false),
    ("current", false),
    ("in_place", false),
    ("worktree", true),
    ("branch", true),
    ("new_branch", true),
    ("isolated", true),
];

const COMMIT: &[(&str, Commit)] = &[
    ("never", Commit::Never),
    ("none", Commit::Never),
    ("on_success", Commit::OnSuccess),
    ("single_commit", Commit::OnSuccess),
];

const ESCALATION: &[(&str, bool)] = &[("ask", true), ("stop", false), ("never", false), ("fail", false)];

/// One word of a table, whatever its case and however its words are joined.
fn word<T: Copy>(field: &str, said: &str, table: &[(&str, T)]) -> Result<T, ToolError> {
    let plain = said.trim().to_lowercase().replace(['-', ' '], "_");
    table.iter().find(|(name, _)| *name == plain).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        ToolError::argument(
            field,
            format!("takes {}, not '{}'", names.join(", "), nika_contract::text::preview(said, 60)),
        )
    })
}

/// The packet's policies, as written.
pub(crate) struct Written<'a> {
    pub scope: &'a str,
    pub scope_path: Option<&'a str>,
    pub repo: &'a str,
    pub branch_policy: &'a str,
    pub commit_policy: &'a str,
    pub escalation_policy: &'a str,
}

impl Packet {
    /// Reads the words; `root` is the workspace's first.
    pub(crate) fn read(written: &Written<'_>, root: &Path) -> Result<Packet, ToolError> {
        let below = below(written.repo, root)?;
        Ok(Packet {
            scope: Scope::read(written.scope, written.scope_path, &below)?,
            apart: word("branch_policy", written.branch_policy, BRANCH)?,
            commit: word("commit_policy", written.commit_policy, COMMIT)?,
            asks: word("escalation_policy", written.escalation_policy, ESCALATION)?,
            below,
        })
    }
}

/// The directory that `repo` means, from the root: the root's own name, a path in it, or nothing of the kind.
fn below(repo: &str, root: &Path) -> Result<PathBuf, ToolError> {
    let said = Path::new(repo.trim());
    let is_root = root.file_name().is_some_and(|name| said.as_os_str() == name);
    let path = if is_root { Path::new("") } else { said.strip_prefix(root).unwrap_or(said) };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => plain.push(name),
            _ => {
                let why = format!("takes `.` or a directory below the workspace, {}", root.display());
                return Err(ToolError::argument("repo", why));
            }
        }
    }
    Ok(plain)
}

impl Scope {
    /// `workspace`; `module`, `single_file` or `custom` with a path; or paths and patterns outright.
    fn read(said: &str, path: Option<&str>, below: &Path) -> Result<Scope, ToolError> {
        let kind = said.trim().to_lowercase().replace('-', "_");
        let kinds = ["module", "single_file", "custom"];
        let base = below.to_string_lossy();
        let listed = match (kind.as_str(), path) {
            ("workspace" | "." | "repo", _) if base.is_empty() => return Ok(Scope::default()),
            ("workspace" | "." | "repo", _) => String::new(),
            (kind, Some(path)) if kinds.contains(&kind) => path.to_owned(),
            (kind, None) if kinds.contains(&kind) => {
                return Err(ToolError::argument("scope_path", format!("says which path, with scope {kind}")));
            }
            _ => said.to_owned(),
        };
        let paths = listed.split(',').map(str::trim);
        let patterns: Vec<String> = paths
            .map(|path| {
                let path = path.trim_start_matches("./").trim_matches('/');
                let from_root = if base.is_empty() { format!("/{path}") } else { format!("/{base}/{path}") };
                from_root.trim_end_matches('/').to_owned()
            })
            .collect();
        for pattern in &patterns {
            if pattern.is_empty()
                || pattern.contains(char::is_whitespace)
                || pattern.split('/').any(|part| part == "..")
            {
                let why = "takes `workspace`, or paths and patterns below the workspace, with commas between them";
                return Err(ToolError::argument("scope", why));
            }
            PathPattern::new(pattern, None).map_err(|error| ToolError::argument("scope", error.to_string()))?;
        }
        Ok(Scope { patterns })
    }

    /// Whether a path from the root may be written.
    pub(crate) fn holds(&self, root: &Path, path: &Path) -> bool {
        let place = Place::inside(root, path);
        self.patterns.is_empty()
            || self
                .patterns
                .iter()
                .any(|text| PathPattern::new(text, None).is_ok_and(|pattern| pattern.matches(&place)))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.patterns.as_slice() {
            [] => f.write_str("the whole workspace"),
            patterns => f.write_str(&patterns.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Written<'static> = Written {
        scope: "workspace",
        scope_path: None,
        repo: ".",
        branch_policy: "none",
        commit_policy: "never",
        escalation_policy: "stop",
    };

    fn read(written: &Written<'_>) -> Result<Packet, String> {
        Packet::read(written, Path::new("/w/proj")).map_err(|error| error.to_string())
    }

    #[test]
    fn policies_are_words_and_other_words_are_refused() {
        let packet = read(&PLAIN).expect("reads");
        assert_eq!((packet.apart, packet.commit, packet.asks), (false, Commit::Never, false));
        let other =
            Written { branch_policy: "Worktree", commit_policy: "on-success", escalation_policy: "ASK", ..PLAIN };
        let packet = read(&other).expect("reads");
        assert_eq!((packet.apart, packet.commit, packet.asks), (true, Commit::OnSuccess, true));
        for (written, said) in [
            (Written { branch_policy: "origin/main only", ..PLAIN }, "branch_policy"),
            (Written { commit_policy: "one verified commit", ..PLAIN }, "on_success"),
            (Written { escalation_policy: "", ..PLAIN }, "ask, stop"),
            (Written { scope: "the task system", ..PLAIN }, "with commas"),
            (Written { scope: "single_file", ..PLAIN }, "scope_path"),
            (Written { scope: "../other", ..PLAIN }, "scope"),
            (Written { repo: "../other", ..PLAIN }, "repo"),
            (Written { repo: "/elsewhere", ..PLAIN }, "repo"),
        ] {
            let error = read(&written).expect_err(said);
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_scope_holds_what_it_names_and_what_is_below() {
        let scope = |scope, scope_path, repo| read(&Written { scope, scope_path, repo, ..PLAIN }).expect("reads").scope;
        let holds = |scope: &Scope, path: &str| scope.holds(Path::new("/w/proj"), Path::new(path));
        assert!(holds(&scope("workspace", None, "proj"), "any/thing.rs"));
        let module = scope("module", Some("src/parser"), ".");
        assert!(
            holds(&module, "src/parser/a.rs") && !holds(&module, "src/other.rs") && !holds(&module, "x/src/parser/a")
        );
        let file = scope("single_file", Some("./src/a.rs"), ".");
        assert!(holds(&file, "src/a.rs") && !holds(&file, "src/b.rs"));
        let several = scope("src/**/*.rs, docs", None, "/w/proj");
        assert!(holds(&several, "src/x/a.rs") && holds(&several, "docs/a.md") && !holds(&several, "src/x/a.md"));
        let part = scope("workspace", None, "crates/core");
        assert!(holds(&part, "crates/core/src/a.rs") && !holds(&part, "crates/other/a.rs"));
        assert_eq!(scope("tests", None, "crates/core").to_string(), "/crates/core/tests");
    }
}
