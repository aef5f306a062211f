//! What of a call is git, and what git says it did and could not: where something is guarded or hidden by a mount, it switches
//! branches and leaves that file as it was.

use std::path::Path;

use nika_contract::Cx;
use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::git::Before;
use nika_host::overlay::OfGit;

use super::layered::SHOWN_NAMES;

/// Programs that write a repository for whoever starts them.
const WORKS_WITH_GIT: &[&str] = &["git", "git-lfs", "gh", "glab", "hub", "jj", "pre-commit"];

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

/// What a call does whose programs run git, as a run of it has shown.
pub(super) fn runs_git() -> Effect {
    let why = "a program of it runs git".to_owned();
    Effect::Exec(Exec::plain(vec![vec!["git".to_owned()]], ExecKind::WritesInside, why))
}

/// What git had recorded of files that the command cannot replace, where it may write a repository that no layer covers.
pub(super) fn before(cx: &Cx<'_>, profile: &Profile) -> Option<Before> {
    let elsewhere = names_git(cx.permit.effects()) && !profile.repositories.is_empty();
    let bare = profile.layers.is_empty();
    let held = profile.protected.iter().chain(&profile.secrets);
    (profile.access == Access::Workspace && (bare || elsewhere))
        .then(|| Before::of(cx.permit, profile.roots.iter(), held))
}

/// What is said of files that git has recorded otherwise than it could put in place; nothing where there are none.
pub(super) fn about_behind(names: &[String]) -> Option<String> {
    let shown = names.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "[git has recorded other content than it could put in place: {shown}. These are guarded or hidden here, and the \
             next commit would take back what the other has of them. A command line of nothing but git can replace them]"
        )
    })
}

/// Files that git says it could not take away, by the names that it says.
pub(super) fn said_to_stay(output: &str) -> Vec<String> {
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
    fn what_git_says_that_it_could_not_take_away_is_known_by_name() {
        let said =
            "warning: unable to unlink 'b': Busy\nerror: unable to unlink old 'a b': Read-only\nunable to unlink\n";
        assert_eq!(said_to_stay(said), ["a b", "b"]);
    }
}
