//! A profile as an ordered list of mounts.
//!
//! The host first makes everything read-only; these are the exceptions and the exceptions to them, parents before
//! children. A directory on the way to a protected or hidden entry becomes a mount point of its own (`Pin`): otherwise it
//! could be renamed, and be another directory to the next command: one whose name protects or hides nothing.
//! Over a layer that is no concern of what is hidden: the kernel renames no directory there that was there before.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::names::Placeholder;
use super::{Access, Profile, Repository};
use crate::pathtext;

/// How many protected entries are bound one by one. Default 512, which takes about 10 ms; beyond it, the directories
/// that hold them become read-only as a whole.
pub const MAX_PROTECTED: usize = 512;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// This directory and all below it may be written.
    Writable(#[serde(with = "pathtext")] PathBuf),
    /// This directory stays as it is, but cannot be renamed or removed.
    Pin(#[serde(with = "pathtext")] PathBuf),
    /// This entry and all below it may not be written.
    ReadOnly(#[serde(with = "pathtext")] PathBuf),
    /// Nothing is here and nothing may come to be.
    Absent(#[serde(with = "pathtext")] PathBuf, Placeholder),
    /// This file is seen as the other one.
    Instead(#[serde(with = "pathtext")] PathBuf, #[serde(with = "pathtext")] PathBuf),
    /// Something is here that may not be looked into.
    Hide(#[serde(with = "pathtext")] PathBuf),
}

impl Step {
    /// Where it happens.
    pub fn path(&self) -> &Path {
        match self {
            Step::Writable(path) | Step::Pin(path) | Step::ReadOnly(path) | Step::Absent(path, _) => path,
            Step::Instead(path, _) | Step::Hide(path) => path,
        }
    }

    /// Of two steps at one place the later kind wins.
    fn rank(&self) -> u8 {
        match self {
            Step::Pin(_) => 0,
            Step::Writable(_) => 1,
            Step::Absent(..) => 2,
            Step::Instead(..) => 3,
            Step::ReadOnly(_) => 4,
            Step::Hide(_) => 5,
        }
    }
}

/// The mounts of `profile`, parents before children.
pub fn plan(profile: &Profile) -> Vec<Step> {
    let mut steps: BTreeMap<PathBuf, Step> = BTreeMap::new();
    let mut add = |step: Step| {
        let path = step.path().to_path_buf();
        match steps.get(&path) {
            Some(old) if old.rank() >= step.rank() => {}
            _ => drop(steps.insert(path, step)),
        }
    };
    if profile.access == Access::Workspace {
        let tops = tops(profile);
        tops.iter().for_each(|top| add(Step::Writable(top.clone())));
        let protected: Vec<PathBuf> =
            profile.protected.iter().filter(|path| !profile.is_opened(path)).cloned().collect();
        let protected = bounded(protected, &tops);
        let absent: Vec<_> =
            profile.absent.iter().filter_map(|path| profile.stand_in(path).map(|what| (path, what))).collect();
        let hidden = hidden(profile).filter(|path| !profile.is_layered(path));
        for path in protected.iter().chain(absent.iter().map(|(path, _)| *path)).chain(hidden) {
            for between in between(path, &tops) {
                add(Step::Pin(between.to_path_buf()));
            }
        }
        protected.into_iter().for_each(|path| add(Step::ReadOnly(path)));
        absent.into_iter().for_each(|(path, what)| add(Step::Absent(path.clone(), what)));
    }
    let stand_ins: HashSet<&PathBuf> = profile.layers.iter().flat_map(|layer| &layer.stand_ins).collect();
    hidden(profile).filter(|path| !stand_ins.contains(path)).for_each(|path| add(Step::Hide(path.clone())));
    profile.instead.iter().for_each(|one| add(Step::Instead(one.path.clone(), one.by.clone())));
    // A path sorts before what is below it, by components.
    let mut kept: BTreeMap<PathBuf, Step> = BTreeMap::new();
    for (path, step) in steps {
        if !is_idle(&step, &kept, &profile.repositories) {
            kept.insert(path, step);
        }
    }
    kept.into_values().collect()
}

/// What may not be looked into. Nothing that holds a root is hidden whole: the command stands in it, and what is hidden
/// below would be left out as hidden already.
fn hidden(profile: &Profile) -> impl Iterator<Item = &PathBuf> {
    let holds_a_root = |path: &PathBuf| profile.roots.iter().any(|root| root.starts_with(path));
    profile.secrets.iter().filter(move |path| !holds_a_root(path)).chain(&profile.masked)
}

/// Below which directories a command may write: the roots, and of a worktree what git keeps of it elsewhere.
fn tops(profile: &Profile) -> Vec<PathBuf> {
    let open = profile.repositories.iter().filter(|repository| repository.is_open());
    let of_git = open.flat_map(|repository| [&repository.common, &repository.own]);
    profile.roots.iter().chain(of_git).cloned().collect()
}

/// Whether a step above already says what this one would.
fn is_idle(step: &Step, kept: &BTreeMap<PathBuf, Step>, repositories: &[Repository]) -> bool {
    // Not one by one: of thousands of hidden entries each would be held against all others.
    let nearest = step.path().ancestors().skip(1).find_map(|above| kept.get(above));
    match (nearest, step) {
        (Some(Step::Hide(_) | Step::Absent(..)), _) => true,
        (Some(Step::ReadOnly(_)), Step::Hide(_)) => false,
        // All worktrees of a repository are protected, and one of them is not.
        (Some(Step::ReadOnly(_)), Step::Writable(path)) => !repositories.iter().any(|one| one.own == *path),
        (Some(Step::ReadOnly(_)), _) => true,
        (Some(Step::Writable(_) | Step::Pin(_)), Step::Writable(_)) => true,
        _ => false,
    }
}

/// The directories strictly between a root and `path`.
fn between<'p>(path: &'p Path, roots: &'p [PathBuf]) -> impl Iterator<Item = &'p Path> {
    let root = roots.iter().filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count());
    path.ancestors().skip(1).take_while(move |above| root.is_some_and(|root| *above != root && above.starts_with(root)))
}

/// `protected`, or, when they are too many, directories that hold them: where they are most, deepest first, until few
/// enough are left.
fn bounded(mut paths: Vec<PathBuf>, roots: &[PathBuf]) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    while paths.len() > MAX_PROTECTED {
        let mut tops: BTreeMap<PathBuf, (usize, usize)> = BTreeMap::new();
        for path in &paths {
            let (count, depth) = tops.entry(top(path, roots)).or_default();
            *count += 1;
            *depth = path.components().count().max(*depth);
        }
        let crowded = tops.into_iter().max_by_key(|(_, (count, _))| *count);
        let Some((crowded, (_, depth))) = crowded.filter(|(_, (count, _))| *count > 1) else {
            // All stand in the roots themselves: the roots become read-only.
            return roots.to_vec();
        };
        for path in &mut paths {
            if path.starts_with(&crowded) && path.components().count() == depth {
                path.pop();
            }
        }
        paths.dedup();
    }
    paths
}

/// The entry of a root that holds `path`.
fn top(path: &Path, roots: &[PathBuf]) -> PathBuf {
    let holds = |above: &&Path| above.parent().is_some_and(|parent| roots.iter().any(|root| root == parent));
    path.ancestors().find(holds).unwrap_or(path).to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        Profile::new(Access::Workspace, "/w", "/home/dev")
    }

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn protected_entries_are_carved_out_and_their_parents_pinned() {
        let mut profile = profile();
        profile.protected = paths(&["/w/.git/hooks", "/w/.git/config", "/w/a/b/.vscode"]);
        profile.absent = paths(&["/w/.envrc", "/w/.travis.yml"]);
        profile.secrets = paths(&["/w/.env", "/home/dev/.ssh"]);
        assert_eq!(
            plan(&profile),
            [
                Step::Hide("/home/dev/.ssh".into()),
                Step::Writable("/w".into()),
                Step::Hide("/w/.env".into()),
                Step::Absent("/w/.envrc".into(), Placeholder::File),
                Step::Pin("/w/.git".into()),
                Step::ReadOnly("/w/.git/config".into()),
                Step::ReadOnly("/w/.git/hooks".into()),
                Step::Pin("/w/a".into()),
                Step::Pin("/w/a/b".into()),
                Step::ReadOnly("/w/a/b/.vscode".into()),
            ]
        );
    }

    #[test]
    fn over_a_layer_what_a_call_may_write_opens_the_protected_directory_around_it() {
        let mut profile = profile();
        profile.protected = paths(&["/w/.vscode", "/w/.idea"]);
        profile.release(Path::new("/w/.vscode/tasks.json"));
        assert!(plan(&profile).contains(&Step::ReadOnly("/w/.vscode".into())));
        let upper = PathBuf::from("/state/upper");
        let work = upper.clone();
        profile.layers = vec![super::super::Layered { root: "/w".into(), work, upper, stand_ins: Vec::new() }];
        assert_eq!(plan(&profile), [Step::Writable("/w".into()), Step::ReadOnly("/w/.idea".into())]);
        // The name is that of a whole component.
        profile.opened = paths(&["/w/.ideas/x", "/w"]);
        assert!(plan(&profile).contains(&Step::ReadOnly("/w/.idea".into())));
    }

    #[test]
    fn what_lies_below_is_not_said_twice() {
        let mut profile = profile();
        profile.roots = paths(&["/w", "/w/inner"]);
        profile.protected = paths(&["/w/.claude", "/w/.claude/settings.json"]);
        profile.secrets = paths(&["/w/.claude/.env", "/w/keys"]);
        profile.masked = paths(&["/w/keys/deep"]);
        assert_eq!(
            plan(&profile),
            [
                Step::Writable("/w".into()),
                Step::ReadOnly("/w/.claude".into()),
                Step::Hide("/w/.claude/.env".into()),
                Step::Hide("/w/keys".into()),
            ]
        );
    }

    #[test]
    fn of_a_repository_elsewhere_one_worktree_is_open_and_the_others_are_not() {
        let mut profile = profile();
        let [common, own] = ["/r/.git", "/r/.git/worktrees/w"].map(PathBuf::from);
        let open = vec!["/r/.git/objects".into(), own.clone()];
        profile.repositories = vec![Repository { root: "/w".into(), common, own, open }];
        profile.protected = paths(&["/r/.git/worktrees", "/r/.git/worktrees/w/gitdir", "/r/.git/logs/HEAD"]);
        profile.absent = paths(&["/r/.git/commondir"]);
        assert_eq!(
            plan(&profile),
            [
                Step::Writable("/r/.git".into()),
                Step::Absent("/r/.git/commondir".into(), Placeholder::Here),
                Step::Pin("/r/.git/logs".into()),
                Step::ReadOnly("/r/.git/logs/HEAD".into()),
                Step::ReadOnly("/r/.git/worktrees".into()),
                Step::Writable("/r/.git/worktrees/w".into()),
                Step::ReadOnly("/r/.git/worktrees/w/gitdir".into()),
                Step::Writable("/w".into()),
            ]
        );
        profile.repositories[0].open.clear();
        assert!(!plan(&profile).contains(&Step::Writable("/r/.git".into())));
        profile.access = Access::ReadOnly;
        assert_eq!(plan(&profile), []);
    }

    #[test]
    fn what_leads_to_something_hidden_stays_where_it_is_unless_a_layer_sees_to_that() {
        let mut profile = profile();
        profile.secrets = paths(&["/w/app/prod/.env", "/w/keys", "/home/dev/.config/gh"]);
        profile.masked = paths(&["/w/of/nika"]);
        let bare = plan(&profile);
        for path in ["/w/app", "/w/app/prod", "/w/of"] {
            assert!(bare.contains(&Step::Pin(path.into())), "{path} in {bare:?}");
        }
        assert_eq!(bare.iter().filter(|step| matches!(step, Step::Pin(_))).count(), 3, "{bare:?}");
        let [root, upper, work] = ["/w", "/state/upper", "/state/work"].map(PathBuf::from);
        profile.layers = vec![crate::profile::Layered { root, upper, work, stand_ins: paths(&["/w/keys"]) }];
        let over = plan(&profile);
        assert!(!over.iter().any(|step| matches!(step, Step::Pin(_))));
        let hides = |path: &str| over.contains(&Step::Hide(path.into()));
        assert!(!hides("/w/keys") && hides("/w/app/prod/.env"), "{over:?}");
        profile.layers.clear();
        profile.access = Access::ReadOnly;
        assert!(!plan(&profile).iter().any(|step| matches!(step, Step::Pin(_))));
    }

    #[test]
    fn what_holds_a_root_is_not_hidden_and_hides_nothing_from_being_hidden() {
        let mut profile = profile();
        profile.secrets = paths(&["/", "/w", "/w/.env", "/home/dev/.ssh"]);
        for access in [Access::ReadOnly, Access::Workspace] {
            profile.access = access;
            let plan = plan(&profile);
            let hidden = plan.iter().filter(|step| matches!(step, Step::Hide(_))).map(|step| step.path().to_path_buf());
            assert_eq!(hidden.collect::<Vec<_>>(), paths(&["/home/dev/.ssh", "/w/.env"]));
        }
    }

    #[test]
    fn reading_only_needs_nothing_carved_out_but_secrets() {
        let mut profile = profile();
        profile.access = Access::ReadOnly;
        profile.protected = paths(&["/w/.git/hooks"]);
        profile.absent = paths(&["/w/.envrc"]);
        profile.secrets = paths(&["/w/.env"]);
        assert_eq!(plan(&profile), [Step::Hide("/w/.env".into())]);
    }

    #[test]
    fn too_many_protected_entries_protect_their_parents() {
        let mut profile = profile();
        profile.protected = (0..2000).map(|n| PathBuf::from(format!("/w/deep/pkg{n}/.npmrc"))).collect();
        profile.protected.push("/w/.git/config".into());
        let steps = plan(&profile);
        assert!(steps.len() < MAX_PROTECTED);
        assert!(steps.contains(&Step::ReadOnly("/w/deep".into())), "{steps:?}");
        assert!(steps.contains(&Step::ReadOnly("/w/.git/config".into())), "{steps:?}");
        profile.protected = (0..2000).map(|n| PathBuf::from(format!("/w/{n}.code-workspace"))).collect();
        assert_eq!(plan(&profile), [Step::ReadOnly("/w".into())]);
    }
}
