//! Where a search looks, what it may not open, and what may stop it.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// Says whether a file or directory (its path relative to the root, in bytes,
/// and whether it is a directory) is withheld. A withheld file is never
/// opened, a withheld directory never entered; both are counted.
pub type Veto<'a> = &'a (dyn Fn(&[u8], bool) -> bool + Sync);

/// The part of the world one search may look at.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The open directory that every path below is relative to.
    pub root: BorrowedFd<'a>,
    /// Where to look, relative to the root; empty for the root itself. May be
    /// a file for [`crate::grep()`]. No component may be a symbolic link.
    pub base: &'a Path,
    /// Look at hidden files (names that start with a dot) too.
    pub hidden: bool,
    /// Do not read ignore files.
    pub no_ignore: bool,
    /// Ignore files of the directories above the root, nearest first.
    pub outer: &'a [OuterDir<'a>],
    /// The text of the person's global gitignore, matched relative to the root.
    pub global_ignore: Option<&'a [u8]>,
    /// What must not be opened.
    pub veto: Option<Veto<'a>>,
    /// Set by somebody else to stop the search; what was found so far is kept.
    pub cancel: Option<&'a AtomicBool>,
    /// Where to add up the files looked at, for somebody who watches. Added to
    /// once a batch, so that threads do not contend for it.
    pub looked: Option<&'a AtomicU64>,
    /// Stop after this long; what was found so far is kept.
    pub timeout: Option<Duration>,
    /// How many directories to descend below the base, if bounded.
    pub max_depth: Option<usize>,
    /// Threads to search with, the caller's included. At least one.
    pub threads: usize,
}

impl<'a> Scope<'a> {
    /// The whole of an open directory as ripgrep would see it: ignore files
    /// honoured, hidden files left out, two threads, nothing to stop it.
    pub fn new(root: BorrowedFd<'a>) -> Scope<'a> {
        Scope {
            root,
            base: Path::new(""),
            hidden: false,
            no_ignore: false,
            outer: &[],
            global_ignore: None,
            veto: None,
            cancel: None,
            looked: None,
            timeout: None,
            max_depth: None,
            threads: 2,
        }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("base", &self.base)
            .field("hidden", &self.hidden)
            .field("no_ignore", &self.no_ignore)
            .field("outer", &self.outer.len())
            .field("timeout", &self.timeout)
            .field("max_depth", &self.max_depth)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// The ignore files of one directory above the root, already read, because
/// the engine cannot look outside its root.
#[derive(Clone, Copy, Debug, Default)]
pub struct OuterDir<'a> {
    /// The path from that directory down to the root, such as `crates/search`.
    pub to_root: &'a [u8],
    /// Whether it holds a `.git` or `.jj`. Git's ignore files count only
    /// inside a repository, and stop counting above its top.
    pub is_repository: bool,
    /// The text of its `.gitignore`.
    pub gitignore: Option<&'a [u8]>,
    /// The text of its `.ignore`.
    pub ignore: Option<&'a [u8]>,
    /// The text of its `.rgignore`.
    pub rgignore: Option<&'a [u8]>,
    /// The text of its `.git/info/exclude`.
    pub exclude: Option<&'a [u8]>,
}
