//! A directory that a pattern finds: `for d in */; do (cd "$d" && wc -l README.md); done`.
//!
//! Its name is not known, but above it everything is. So what is read there is read somewhere below that, which is what
//! `cat */README.md` does, too. What a build finds there is code of the workspace, and nothing that only reads. What git
//! finds there, nobody has looked at.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::super::commands;
use super::super::fact::{Fact, Target as Place, each_once};
use super::super::judge::{Arg, Judge, Stdin, normal};
use super::{State, Walker};

/// Stands for each part of the way that is not known. There are [`PARTS`] of it. `..` takes none away: it stays behind
/// them, and is then seen.
const PART: &str = "\u{2}";
const PARTS: usize = 16;

/// Programs that only read the files they are given, whatever lies around them.
pub(super) const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "wc",
    "ls",
    "grep",
    "echo",
    "printf",
    "pwd",
    "true",
    ":",
    "test",
    "[",
    "stat",
    "file",
    "du",
    "sort",
    "uniq",
    "cut",
    "nl",
    "basename",
    "dirname",
    "tac",
    "cksum",
    "md5sum",
    "sha256sum",
];

/// Programs that run what the repository around them says, which lies there with its own settings.
pub(super) fn asks_the_repository(name: &str) -> bool {
    let base = name.rsplit('/').next().unwrap_or(name);
    base.starts_with("git") || matches!(base, "hg" | "svn" | "jj" | "sl" | "bzr" | "fossil")
}

/// Where `cd` to a pattern leads; nowhere that is known, unless it is certain to be a directory below a known one. A
/// name with a slash at its end, or behind the name of a directory, is neither an option nor `-`, and a pattern finds no
/// hidden directory that it does not spell.
pub(super) fn below(from: &[PathBuf], pattern: &str, prefix: &str) -> Vec<PathBuf> {
    let hidden = pattern.split('/').any(|part| part.starts_with('.') && part != ".");
    let plain = pattern.chars().all(|c| c.is_ascii_alphanumeric() || "_-./*".contains(c));
    if !pattern.ends_with('/') && !prefix.contains('/')
        || pattern.starts_with(['-', '/'])
        || hidden
        || !plain
        || from.iter().any(|at| is_found(at))
    {
        return Vec::new();
    }
    let above = prefix.rsplit_once('/').map_or("", |(above, _)| above);
    let unknown: PathBuf = std::iter::repeat_n(PART, PARTS).collect();
    from.iter().map(|at| normal(&at.join(above)).join(&unknown)).collect()
}

/// Whether a path leads through such a directory.
pub(super) fn is_found(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == PART)
}

/// A path as a person reads it.
pub(super) fn spelled(path: &Path) -> String {
    let unknown: PathBuf = std::iter::repeat_n(PART, PARTS).collect();
    path.display().to_string().replace(unknown.to_string_lossy().as_ref(), "*")
}

/// What a read or a write there is: of something below what is known, and by the rest of its name, which may be a
/// secret's, or guarded.
pub(super) fn found_below(target: &Place, fact: fn(Place) -> Fact) -> Vec<Fact> {
    let parts: Vec<Component<'_>> = target.path.components().collect();
    let unknown = |part: &Component<'_>| part.as_os_str() == PART;
    if parts.contains(&Component::ParentDir) || parts.iter().filter(|part| unknown(part)).count() != PARTS {
        return vec![Fact::Opaque("`..` out of a directory that a pattern finds".to_owned())];
    }
    let above: PathBuf = parts.iter().take_while(|part| !unknown(part)).collect();
    let rest: PathBuf = parts.iter().skip_while(|part| !unknown(part)).filter(|part| !unknown(part)).collect();
    let named =
        Place { path: above.join(rest), tree: target.tree, itself: target.itself, redirected: target.redirected };
    vec![fact(Place { path: above, tree: true, itself: false, redirected: false }), fact(named)]
}

impl<'a> Walker<'a> {
    /// Secrets that a program of the workspace is given to read.
    pub(super) fn secrets_given(&self, args: &[Arg], state: &State, span: &Range<usize>) -> Vec<Fact> {
        self.looked_up(args.get(1..).unwrap_or_default(), commands::secrets, state, span)
    }

    /// What is said of words by themselves, from wherever the command may stand.
    pub(super) fn looked_up(
        &self,
        words: &[Arg],
        look: fn(&[Arg], &mut Judge<'_>),
        state: &State,
        span: &Range<usize>,
    ) -> Vec<Fact> {
        let at = |place: &PathBuf| {
            let site = self.seen_from(place);
            let mut judge = Judge::new(&site, Stdin::None, span.clone());
            look(words, &mut judge);
            judge.facts
        };
        let mut facts: Vec<Fact> = state.cwd.iter().flat_map(at).collect();
        each_once(&mut facts);
        facts
    }

    /// What follows from where a command runs.
    pub(super) fn placed(&self, facts: Vec<Fact>, place: &Path) -> Vec<Fact> {
        let lost = |target: &Place| target.path.starts_with("/\u{1}");
        let unknown = "relative paths behind a `cd` to a directory that is not known";
        let mut out = Vec::with_capacity(facts.len());
        for fact in facts {
            match fact {
                Fact::Read(target) | Fact::Write(target) | Fact::Delete(target) if lost(&target) => {
                    out.push(Fact::Opaque(unknown.to_owned()));
                }
                Fact::Read(target) if is_found(&target.path) => out.extend(found_below(&target, Fact::Read)),
                Fact::Write(target) if is_found(&target.path) => out.extend(found_below(&target, Fact::Write)),
                Fact::Delete(target) if is_found(&target.path) => {
                    out.push(Fact::Opaque("something is removed in a directory that a pattern finds".to_owned()));
                }
                Fact::Code(why) if !self.inside(place) => {
                    out.push(Fact::Opaque(format!("{why}, outside the workspace")));
                }
                other => out.push(other),
            }
        }
        out
    }
}
