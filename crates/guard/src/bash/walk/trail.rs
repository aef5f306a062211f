//! Where the shell was before: what `cd -` and `$OLDPWD` lead back to, and the stack of `pushd` and `popd`.
//!
//! Each is a set of what is possible by itself, as the directory is. An empty set stands for anything.

use super::*;

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
    pub(super) fn place(&self) -> (Vec<PathBuf>, Trail) {
        (self.cwd.clone(), self.trail.clone())
    }

    /// Whether anything of what a chain of commands sets is otherwise.
    pub(super) fn differs(&self, other: &State) -> bool {
        (&self.cwd, &self.trail, &self.vars, self.gone) != (&other.cwd, &other.trail, &other.vars, other.gone)
    }

    /// The same where `pipeline` failed: a `cd` then leaves the shell where it was.
    pub(super) fn failed(&self, before: &(Vec<PathBuf>, Trail), pipeline: &Pipeline) -> State {
        let (cwd, trail) = match is_cd(pipeline) {
            true => before.clone(),
            false => (join_cwd(&before.0, &self.cwd), before.1.join(&self.trail)),
        };
        State { cwd, trail, ..self.clone() }
    }

    /// It may be anywhere, and may have been.
    pub(super) fn strays(&mut self) {
        self.cwd.clear();
        self.trail = Trail::default();
    }
}
