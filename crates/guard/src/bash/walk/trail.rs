//! Where the shell was before: what `cd -` and `$OLDPWD` lead back to, and the stack of `pushd` and `popd`.
//!
//! Each is a set of what is possible by itself, as the directory is. An empty set stands for anything.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::super::judge::Site;
use super::super::print::text_of;
use super::super::script::{Command, Kind, Pipeline, Program};
use super::found::is_found;
use super::merge::{self, join_cwd};
use super::shapes::is_cd;
use super::shared::Shared;
use super::{NOWHERE, State, Walker};

/// Most possibilities that are told apart.
const POSSIBLE: usize = 4;

/// The directories that the shell has left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Trail {
    /// Where it may have been before.
    old: Vec<PathBuf>,
    /// It may have moved nowhere yet: then `cd -` fails, for no command is given `OLDPWD`.
    fresh: bool,
    /// What may lie on the stack below the directory, the last one on top.
    stacks: Vec<Vec<PathBuf>>,
}

/// Where the shell is and was.
pub(super) type Place = (Shared<Vec<PathBuf>>, Shared<Trail>);

impl Trail {
    /// A shell that has just begun.
    pub(super) fn begins() -> Trail {
        Trail { old: Vec::new(), fresh: true, stacks: vec![Vec::new()] }
    }

    /// Whatever is so in one of them.
    pub(super) fn join(&self, other: &Trail) -> Trail {
        let known = |trail: &Trail| trail.fresh || !trail.old.is_empty();
        let mut old = self.old.clone();
        old.extend(other.old.iter().filter(|path| !self.old.contains(path)).cloned());
        let lost = !known(self) || !known(other) || old.len() > POSSIBLE;
        let (old, fresh) = if lost { (Vec::new(), false) } else { (old, self.fresh || other.fresh) };
        let mut stacks = self.stacks.clone();
        stacks.extend(other.stacks.iter().filter(|stack| !self.stacks.contains(stack)).cloned());
        if self.stacks.is_empty() || other.stacks.is_empty() || stacks.len() > POSSIBLE {
            stacks.clear();
        }
        Trail { old, fresh, stacks }
    }

    /// The value of `OLDPWD`, where it is certain.
    pub(super) fn before(&self) -> Option<&Path> {
        match self.old.as_slice() {
            [old] if !self.fresh && !is_found(old) => Some(old),
            _ => None,
        }
    }

    /// Where `cd -` leads, from `cwd`.
    pub(super) fn back(&self, cwd: &[PathBuf]) -> Vec<PathBuf> {
        match (self.fresh, self.old.is_empty()) {
            (false, _) => self.old.clone(),
            // Nobody writes that in a command of its own.
            (true, true) => Vec::new(),
            (true, false) => merge::join_cwd(&self.old, cwd),
        }
    }

    /// The shell has moved away from `cwd`.
    pub(super) fn moved(&mut self, cwd: &[PathBuf]) {
        (self.old, self.fresh) = (cwd.to_vec(), false);
    }

    /// `pushd` has put `cwd` away.
    pub(super) fn pushed(&mut self, cwd: &[PathBuf]) {
        let above = |stack: &Vec<PathBuf>| {
            let stack = stack.clone();
            cwd.iter().map(move |place| stack.iter().chain([place]).cloned().collect())
        };
        self.stacks = self.stacks.iter().flat_map(above).collect();
        if self.stacks.len() > POSSIBLE {
            self.stacks.clear();
        }
    }

    /// Where `popd` leads from `cwd`: where nothing is on the stack, it fails.
    pub(super) fn popped(&mut self, cwd: &[PathBuf]) -> Vec<PathBuf> {
        let mut next: Vec<PathBuf> = Vec::new();
        let empty = self.stacks.iter().all(Vec::is_empty);
        for stack in &mut self.stacks {
            match stack.pop() {
                Some(top) if !next.contains(&top) => next.push(top),
                Some(_) => {}
                None => next.extend(cwd.iter().filter(|place| !next.contains(place)).cloned().collect::<Vec<_>>()),
            }
        }
        // Where nothing was put on it, nobody writes that in a command of its own.
        if empty || cwd.is_empty() || next.len() > POSSIBLE {
            next.clear();
        }
        next
    }

    /// `pushd` and `popd` with words that turn the stack around.
    pub(super) fn turned(&mut self) {
        *self = Trail::default();
    }
}

impl State {
    /// Where it is and was.
    pub(super) fn place(&self) -> Place {
        (self.cwd.clone(), self.trail.clone())
    }

    /// The directories in which a command may run: one that stands for any, where they are not known.
    pub(super) fn places(&self) -> Cow<'_, [PathBuf]> {
        match self.cwd.is_empty() {
            true => Cow::Owned(vec![PathBuf::from(NOWHERE)]),
            false => Cow::Borrowed(&self.cwd),
        }
    }

    /// Whether anything of what a chain of commands sets is otherwise.
    pub(super) fn differs(&self, other: &State) -> bool {
        (&self.cwd, &self.trail, &self.vars, &self.keyed, self.gone)
            != (&other.cwd, &other.trail, &other.vars, &other.keyed, other.gone)
    }

    /// The same where `pipeline` failed: a `cd` then leaves the shell where it was.
    pub(super) fn failed(&self, before: &Place, pipeline: &Pipeline) -> State {
        let (cwd, trail) = match is_cd(pipeline) {
            true => before.clone(),
            false => (join_cwd(&before.0, &self.cwd).into(), before.1.join(&self.trail).into()),
        };
        State { cwd, trail, ..self.clone() }
    }

    /// It may be anywhere, and may have been.
    pub(super) fn strays(&mut self) {
        self.cwd = Shared::default();
        self.trail = Shared::default();
    }
}

impl<'a> Walker<'a> {
    /// The same, believing that a directory that is there when the script begins is there when it is entered. That holds
    /// for a script that only reads: see [`Walker::believed`].
    pub fn believing(site: &'a Site, program: Rc<Program>) -> Walker<'a> {
        Walker { stands: Some(false), ..Walker::new(site, program) }
    }

    /// Whether what was found rests on that belief.
    pub fn believed(&self) -> bool {
        self.stands == Some(true)
    }

    /// Where a script goes on when a link of a chain fails. Behind an odd number of `!` the chain goes on where the command
    /// failed.
    pub(super) fn fails(&mut self, before: &State, state: &mut State, pipeline: &Pipeline) -> Option<State> {
        if self.arrives(&before.place(), pipeline, state) {
            return None;
        }
        let other = state.failed(&before.place(), pipeline);
        Some(if pipeline.bangs.is_multiple_of(2) { other } else { std::mem::replace(state, other) })
    }

    /// Whether a `cd` cannot have failed: the directories that it may lead to stand there, and, behind `..`, those that it
    /// leaves.
    pub(super) fn arrives(&mut self, before: &Place, pipeline: &Pipeline, state: &State) -> bool {
        if self.stands.is_none() || state.cwd.is_empty() || !pipeline.bangs.is_multiple_of(2) {
            return false;
        }
        let [Command { kind: Kind::Simple { words, assigns }, redirects, .. }] = pipeline.stages.as_slice() else {
            return false;
        };
        let [name, target] = words.as_slice() else { return false };
        if !assigns.is_empty() || !redirects.is_empty() || text_of(name).as_deref() != Some("cd") {
            return false;
        }
        // `cd a/../b` fails where there is no `a`.
        let Some(target) = text_of(target).filter(|text| !text.starts_with('-')) else { return false };
        let up = |part: &str| part == "..";
        let (only_up, any_up) = (target.split('/').all(up), target.split('/').any(up));
        let arrives = (only_up || !any_up)
            && state.cwd.iter().all(|place| self.is_there(place))
            && (!only_up || before.0.iter().all(|place| self.is_there(place)));
        if arrives {
            self.stands = Some(true);
        }
        arrives
    }

    /// Whether a directory of the workspace stands there. On paper none is known to.
    fn is_there(&self, place: &Path) -> bool {
        let Some(host) = self.site.repositories.as_ref() else { return false };
        let above = |root: &Path| self.site.roots.iter().any(|other| other != root && root.starts_with(other));
        let mut roots = self.site.roots.iter().filter(|root| place.starts_with(root) && !above(root));
        // Behind `/.` only a directory that may be entered is found; above a root nothing is looked for.
        roots.any(|root| {
            let below = place.strip_prefix(root).ok().and_then(Path::to_str);
            below.is_some_and(|below| {
                let name = if below.is_empty() { ".".to_owned() } else { format!("{below}/.") };
                host.has_file(root, &[&name], "")
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use crate::bash::{Analysis, Site, analyse};
    use crate::repository::{Repositories, Repository};

    /// A workspace with these directories in it.
    #[derive(Debug)]
    struct Holds(&'static [&'static str]);

    impl Repositories for Holds {
        fn at(&self, _: &Path) -> Arc<Repository> {
            Arc::default()
        }

        fn has_file(&self, dir: &Path, names: &[&str], _: &str) -> bool {
            let there = |name: &&str| *name == "." || self.0.iter().any(|held| *name == format!("{held}/."));
            dir == Path::new("/w/repo") && names.iter().any(there)
        }
    }

    fn at(text: &str, holds: &'static [&'static str]) -> Analysis {
        let site = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
        analyse(text, &Site { repositories: Some(Arc::new(Holds(holds))), ..site })
    }

    fn stays_inside(text: &str, holds: &'static [&'static str]) -> bool {
        let analysis = at(text, holds);
        let inside = analysis.touched().reads.iter().all(|target| target.path.starts_with("/w/repo"));
        inside && analysis.kind <= crate::ExecKind::WritesInside
    }

    #[test]
    fn into_a_directory_that_is_there_and_back() {
        for text in [
            "cd sub; ls; cd ..; ls",
            "cd sub && ls; cd ..; cat a.txt",
            "cd sub/deep; ls; cd ../..; ls",
            "cd sub\nls\ncd ..\ncd other\nls\ncd ..\nls",
            "cd sub; cd deep; ls; cd ..; ls; cd ..; ls",
            "cd sub; ls; cd ../other; cat b",
            "cd /w/repo/sub; ls; cd ..; ls",
        ] {
            assert!(stays_inside(text, &["sub", "sub/deep", "other"]), "{text}");
            assert!(!stays_inside(text, &[]) || text.starts_with("cd /w"), "{text}");
        }
    }

    #[test]
    fn where_it_may_lead_out_it_is_asked_about() {
        for text in [
            "cd gone; ls; cd ..; ls",
            "cd gone && ls; cd ..; ls",
            "cd sub; cd gone; ls; cd ..; cd ..; ls",
            "cd sub; ls; cd ../..; ls",
            "cd sub; cd ..; cd ..; ls",
            "cd gone/../sub; cd ..; ls",
            "! cd sub; cd ..; ls",
            "cd sub 2>x; cd ..; ls",
            "cd sub | ls; cd ..; ls",
            "(cd sub); cd ..; ls",
            "cd $x; cd ..; ls",
            "cd s*; cd ..; cd ..; ls",
            "mv sub x; cd sub; cd ..; ls",
            "rm -r sub; cd sub; cd ..; ls",
            "make; cd sub; cd ..; ls",
            "for i in 1 2; do cd sub; ls; cd ..; ls; rmdir sub; done",
            "(sleep 1; rm -r sub) & cd sub; ls; cd ..; ls",
            "rm -r sub & cd sub; cd ..; ls",
        ] {
            assert!(!stays_inside(text, &["sub", "sub/deep", "other"]), "{text}");
        }
    }
}
