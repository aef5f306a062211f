//! Files by name, newest first.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use rustix::fs::AtFlags;

use crate::error::SearchError;
use crate::order::path_order;
use crate::record::{Record, Tally};
use crate::scope::Scope;
use crate::select::Select;
use crate::walk::{self, Base, FileAt, Plan, Stop, Visit};

/// Which files to find.
#[derive(Clone, Debug)]
pub struct GlobQuery {
    /// The pattern, as `rg --files -g` takes it, relative to the base:
    /// `*.rs` matches at any depth, `src/*.rs` only there.
    pub pattern: String,
    /// File types to keep, as `rg -t`; all when empty.
    pub types: Vec<String>,
    /// At most this many, if bounded.
    pub limit: Option<usize>,
    /// Leave out this many of the newest.
    pub offset: usize,
    /// Whether a file the pattern names is found even when it is ignored or
    /// hidden, as ripgrep's `-g` does. `false`: ignore files and hiddenness
    /// count first.
    pub overrides_ignore: bool,
}

impl GlobQuery {
    /// All files a pattern names, by ripgrep's rules.
    pub fn new(pattern: impl Into<String>) -> GlobQuery {
        GlobQuery { pattern: pattern.into(), types: Vec::new(), limit: None, offset: 0, overrides_ignore: true }
    }
}

impl GlobQuery {
    /// Whether a search for it can begin, as far as its pattern says.
    pub fn compiles(&self) -> Result<(), SearchError> {
        self.select().map(drop)
    }

    fn select(&self) -> Result<Select, SearchError> {
        Select::new(std::slice::from_ref(&self.pattern), &self.types, !self.overrides_ignore)
    }
}

/// A file found by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobFile {
    /// Relative to the root.
    pub path: PathBuf,
    /// When its content last changed: seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
    /// Its size in bytes.
    pub size: u64,
}

/// The files found by name.
#[derive(Clone, Debug)]
pub struct GlobFound {
    /// Newest first; files of one time by path.
    pub files: Vec<GlobFile>,
    /// How many matched, shown or not.
    pub total: u64,
    /// Where the next page starts, if there is more.
    pub next_offset: Option<usize>,
    /// What was looked at.
    pub record: Record,
}

struct Hit {
    modified: (i64, u32),
    size: u64,
    path: Vec<u8>,
}

#[derive(Default)]
struct Collect(Vec<Hit>);

impl Visit for Collect {
    const BATCH: usize = 512;
    const READS: bool = false;

    fn file(&mut self, at: &FileAt<'_>, tally: &mut Tally) {
        match rustix::fs::statat(at.dir, at.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                tally.scanned += 1;
                let modified = (stat.st_mtime, stat.st_mtime_nsec as u32);
                self.0.push(Hit { modified, size: stat.st_size as u64, path: at.path.to_vec() });
            }
            Err(e) if walk::gone(&e) => {}
            Err(e) => tally.unreadable(walk::to_path(at.path), e),
        }
    }
}

/// Finds files by name. The base must be a directory.
pub fn glob(scope: &Scope<'_>, query: &GlobQuery) -> Result<GlobFound, SearchError> {
    let select = query.select()?;
    let Base::Dir(base) = walk::open_base(scope)? else {
        return Err(SearchError::BaseKind { path: scope.base.to_path_buf(), found: "a file", wanted: "a directory" });
    };
    let stop = Stop::new(scope.cancel, scope.timeout);
    let plan = Plan { scope, select: &select, globs_from_base: true, ordered: false, stop: &stop };
    let (found, mut record) = walk::walk(&plan, base, Collect::default)?;

    let mut hits: Vec<Hit> = found.into_iter().flat_map(|c| c.0).collect();
    let total = hits.len();
    let end = query.limit.map_or(total, |l| query.offset.saturating_add(l).min(total));
    let newest = |a: &Hit, b: &Hit| b.modified.cmp(&a.modified).then_with(|| path_order(&a.path, &b.path));
    if end < total {
        // Only the page shown, and what comes before it, needs an order.
        if end > 0 {
            hits.select_nth_unstable_by(end - 1, newest);
        }
        hits.truncate(end);
    }
    hits.sort_unstable_by(newest);
    record.cut.limit = end < total;
    let files = hits.into_iter().skip(query.offset).map(|h| GlobFile {
        path: PathBuf::from(OsString::from_vec(h.path)),
        modified: h.modified,
        size: h.size,
    });
    Ok(GlobFound { files: files.collect(), total: total as u64, next_offset: (end < total).then_some(end), record })
}
