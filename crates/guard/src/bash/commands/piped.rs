//! What the commands in front of a pipe print for the one behind it, as far as they say: names, numbers, words.
//!
//! It is found out once, by [`Printed::by`]. Whoever reads it names every kind, so that none is forgotten when another one
//! comes. How a command is known to print it is another matter, see [`printed`].

use super::super::judge::{Arg, Site};
use super::super::words::{Output, Start};
use super::{listers, printed, standard};

/// What comes through a pipe, or out of a substitution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Printed {
    /// That is not known.
    #[default]
    Anything,
    /// What `cat` passes on, wherever it takes it from.
    Copied,
    /// What the files hold that are named, and nothing else.
    Files {
        /// It is unpacked on the way, as `zcat` does.
        packed: bool,
    },
    /// What is uncommitted, as `git diff` prints it.
    Changes,
    /// The files of a commit, as `git archive` does.
    Stored,
    /// Names of files, one a line.
    Names {
        /// Each begins as a directory does that is known, so it is no option.
        here: bool,
    },
    /// Names of files as git writes them: one with a backslash stands in quotes, with two for each.
    Quoted,
    /// Names of files, each with a zero byte behind it.
    Zeros {
        /// Each begins as a directory does that is known.
        here: bool,
    },
    /// Names of files among other lines.
    Loose,
    /// These words.
    Words(Vec<String>),
    /// Paths of programs of the system.
    Programs,
    /// Hashes of commits.
    Hashes,
    /// The hash of a commit, a blank and more of it, one a line.
    Commits,
    /// Numbers.
    Numbers,
    /// Numbers of lines that grep finds, or what it says of a file that is no text.
    Found,
    /// The name of a branch.
    Branch,
}

/// How what a command prints is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum SplitAt {
    /// At blanks, so that empty lines are no words.
    Words,
    /// At the ends of lines.
    Lines,
    /// At zero bytes.
    Zeros,
}

impl Printed {
    /// What the commands of a pipeline write for the next one.
    pub(in super::super) fn by(stages: &[&[Arg]], site: &Site) -> Printed {
        let name = |argv: &[Arg]| argv.first().and_then(Arg::exact).and_then(standard).unwrap_or("?").to_owned();
        let Some((lister, filters)) = stages.split_first() else { return Printed::Anything };
        let argv = filters.last().unwrap_or(lister);
        let last = name(argv);
        if printed::counts(&last, argv) {
            return Printed::Numbers;
        }
        if !filters.is_empty() && printed::line_numbers(stages) {
            return Printed::Found;
        }
        if filters.is_empty() && printed::prints_files(&last, lister) {
            return Printed::Files { packed: last != "cat" };
        }
        if let Some(work) = Some(lister).filter(|_| last == "git").and_then(|argv| printed::of_git(argv)) {
            return work;
        }
        let listed = match filters.iter().all(|argv| printed::filters_lines(&name(argv), argv)) {
            true => printed::lists(&name(lister), lister),
            false => None,
        };
        let listed =
            listed.filter(|listed| !listed.are_names() || !listers::look_elsewhere(&name(lister), lister, site));
        listed.unwrap_or(if last == "cat" { Printed::Copied } else { Printed::Anything })
    }

    /// What the words are that it is taken apart into, where anything is known of them.
    pub(in super::super) fn words(&self, at: SplitAt) -> Option<Output> {
        let start = match self {
            Printed::Names { here: true } => Start::Here,
            Printed::Names { here: false } | Printed::Quoted => Start::Anyhow,
            Printed::Zeros { here } if at == SplitAt::Zeros => {
                if *here {
                    Start::Here
                } else {
                    Start::Anyhow
                }
            }
            Printed::Loose if at == SplitAt::Words => Start::Anyhow,
            Printed::Programs => Start::Program,
            Printed::Hashes => Start::Plain,
            Printed::Branch if at == SplitAt::Words => Start::Branch,
            Printed::Found if at == SplitAt::Words => Start::Line,
            Printed::Numbers => return Some(Output::NUMBER),
            Printed::Found | Printed::Commits => return None,
            Printed::Zeros { .. } | Printed::Loose | Printed::Branch => return None,
            Printed::Anything | Printed::Copied | Printed::Files { .. } => return None,
            Printed::Changes | Printed::Stored | Printed::Words(_) => return None,
        };
        Some(Output::starting(start))
    }

    /// Whether it is names of files that a command has found.
    fn are_names(&self) -> bool {
        matches!(self, Printed::Names { .. } | Printed::Quoted | Printed::Zeros { .. } | Printed::Loose)
    }

    /// Whether its lines mean the same where backslashes are taken out of them: none has one, or it is a name in quotes, of
    /// which no part becomes `..`.
    pub(in super::super) fn has_no_escapes(&self) -> bool {
        matches!(self, Printed::Quoted | Printed::Hashes)
    }
}
