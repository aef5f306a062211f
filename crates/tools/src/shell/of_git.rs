//! What of a call is git, and what git says it did and could not: where something is guarded or hidden by a mount, it switches
//! branches and leaves that file as it was.

use std::path::{Path, PathBuf};

use nika_contract::{Cx, code};
use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::git::Recorded;
use nika_host::overlay::OfGit;
use nika_host::proc::Job;

use super::layered::{SHOWN_NAMES, Settled};
use super::report;

/// Programs that write a repository for whoever starts them.
const WORKS_WITH_GIT: &[&str] = &["git", "git-lfs", "gh", "glab", "hub", "jj", "pre-commit"];
/// What git does that puts files in place wherever it records others.
const REPLACES: &[&str] = &["switch", "checkout", "merge", "rebase", "pull", "stash", "cherry-pick", "revert", "am"];

fn execs(effects: &Effects) -> impl Iterator<Item = &Exec> {
    effects.all.iter().filter_map(|effect| match effect {
        Effect::Exec(exec) => Some(exec),
        _ => None,
    })
}

/// What a call's command line has of git.
pub(super) fn of_git(effects: &Effects) -> OfGit {
    if execs(effects).all(|exec| !exec.commands.is_empty() && exec.commands.iter().all(|words| is_git(words))) {
        return OfGit::All;
    }
    if names_git(effects) { OfGit::Something } else { OfGit::Nothing }
}

fn is_git(words: &[String]) -> bool {
    words.first().is_some_and(|name| name == "git")
}

/// Whether a simple command of the call is one that works with git, or runs one.
pub(super) fn names_git(effects: &Effects) -> bool {
    let works = |word: &String| WORKS_WITH_GIT.iter().any(|name| Path::new(word).file_name() == Some(name.as_ref()));
    execs(effects).flat_map(|exec| &exec.commands).flatten().any(works)
}

/// Whether the call is git that puts files in place wherever it records others, and nothing beside it that may run one.
fn only_replaces(effects: &Effects) -> bool {
    let replaces =
        |words: &Vec<String>| is_git(words) && words.get(1).is_some_and(|sub| REPLACES.contains(&sub.as_str()));
    execs(effects).all(|exec| exec.kind == ExecKind::ReadOnly || exec.commands.iter().all(replaces))
}

/// What git had recorded before a command for files that it may not be able to replace: of each root, and of which paths.
#[derive(Debug)]
pub(super) struct Watched(Vec<(PathBuf, Recorded, Vec<PathBuf>)>);

impl Watched {
    /// Where the command names git and may write.
    pub fn of(cx: &Cx<'_>, profile: &Profile) -> Option<Watched> {
        if profile.access != Access::Workspace || !names_git(cx.permit.effects()) {
            return None;
        }
        let held: Vec<&PathBuf> = profile.protected.iter().chain(&profile.secrets).collect();
        let watched = profile.roots.iter().map(|root| {
            let held: Vec<PathBuf> = held.iter().copied().filter(|path| path.starts_with(root)).cloned().collect();
            (root.clone(), Recorded::of(cx.permit, root, &held), held)
        });
        Some(Watched(watched.collect()))
    }

    /// Says what git has recorded otherwise since then and did not put in place; the call has failed then.
    pub fn tell(&self, cx: &Cx<'_>, job: &Job, settled: &mut Settled) {
        let behind = self.behind(cx, &report::output(&job.summary()));
        if behind.is_empty() {
            return;
        }
        let names = behind.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
        settled.lines.push(format!(
            "[git has recorded other content than it could put in place: {names}. These are guarded or hidden here: take the \
             call back with undo. Beside a job, a command of nothing but git can replace them; elsewhere a person can]"
        ));
        settled.failed = settled.failed.or(Some(code::COMMAND_FAILED));
    }

    /// What it says itself; and where it cannot have been told to change its records alone, what these tell.
    fn behind(&self, cx: &Cx<'_>, output: &str) -> Vec<String> {
        let said = said_to_stay(output);
        if !said.is_empty() || !only_replaces(cx.permit.effects()) {
            return said;
        }
        let now = |root, held| Recorded::of(cx.permit, root, held);
        let of = self.0.iter().flat_map(|(root, before, held)| now(root, held).not_in_place(cx.permit, before));
        of.map(|path| path.display().to_string()).collect()
    }
}

/// Files that git says it could not take away, by the names that it says.
fn said_to_stay(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| line.split_once("unable to unlink ").map(|(_, rest)| rest));
    let names = lines.filter_map(|rest| rest.split_once('\'').and_then(|(_, rest)| rest.split_once("':")));
    let mut names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(commands: &[&str], kind: ExecKind) -> Effects {
        let words = |command: &&str| command.split(' ').map(str::to_owned).collect();
        let all = commands.iter().map(|one| Effect::Exec(Exec::plain(vec![words(one)], kind, ""))).collect();
        Effects { tool: "bash".into(), all }
    }

    #[test]
    fn a_line_of_nothing_but_git_is_told_from_one_that_names_it() {
        for (commands, of) in [
            (&["git switch a", "git log"][..], OfGit::All),
            (&["git switch a", "sh x.sh"], OfGit::Something),
            (&["/usr/bin/git log"], OfGit::Something),
            (&["sh x.sh"], OfGit::Nothing),
        ] {
            assert_eq!(of_git(&call(commands, ExecKind::WritesInside)), of, "{commands:?}");
        }
    }

    #[test]
    fn what_may_change_records_alone_is_believed_by_its_word_only() {
        let replaces = |commands: &[&str]| only_replaces(&call(commands, ExecKind::WritesInside));
        assert!(replaces(&["git switch a", "git stash pop"]));
        for commands in [&["git reset HEAD~1"][..], &["git rm --cached a"], &["git switch a", "sh x.sh"]] {
            assert!(!replaces(commands), "{commands:?}");
        }
        let said =
            "warning: unable to unlink 'b': Busy\nerror: unable to unlink old 'a b': Read-only\nunable to unlink\n";
        assert_eq!(said_to_stay(said), ["a b", "b"]);
    }
}
