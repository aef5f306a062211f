//! Files by content, with ripgrep's semantics.
//!
//! Each file is read into a buffer and tested as a whole for "could there be
//! a match at all", which nearly every file answers with no. Only then does
//! ripgrep's own searcher run over it, in the way that leaves its result as
//! if it had read the file itself.

mod bound;
mod file;
mod sink;

use std::num::NonZeroU64;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::SearchError;
use crate::matcher::{self, Reading};
use crate::order::path_order;
use crate::record::{Record, Tally};
use crate::scope::Scope;
use crate::select::Select;
use crate::walk::{self, Base, Plan, Stop};
use bound::Bound;
use file::Finder;

/// What to tell of the files that match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Only which, as `rg -l`. The quickest.
    #[default]
    Files,
    /// How many lines match in each, as `rg -c` (matches, in multiline mode).
    Count,
    /// The lines themselves.
    Content,
}

/// What to search for.
#[derive(Clone, Debug)]
pub struct GrepQuery {
    /// A regular expression in Rust's syntax, or text when `literal`.
    pub pattern: String,
    /// Take the pattern as text (`-F`).
    pub literal: bool,
    /// Ignore case (`-i`).
    pub ignore_case: bool,
    /// Let a match span lines, and `.` match a line break
    /// (`-U --multiline-dotall`).
    pub multiline: bool,
    /// What to tell.
    pub mode: Mode,
    /// Lines to show before each match (`-B`), in content mode.
    pub before: usize,
    /// Lines to show after each match (`-A`), in content mode.
    pub after: usize,
    /// Number the lines (`-n`), in content mode.
    pub line_numbers: bool,
    /// Globs as `-g` takes them, relative to the root; a later one wins.
    pub globs: Vec<String>,
    /// File types to search, as `-t`; all when empty.
    pub types: Vec<String>,
    /// At most this many entries: files, or in content mode lines, context
    /// included.
    pub head_limit: Option<usize>,
    /// Leave out this many entries first.
    pub offset: usize,
    /// Whether a file a glob names is searched even when it is ignored or
    /// hidden, as ripgrep's `-g` does. `false`: ignore files and hiddenness
    /// count first.
    pub overrides_ignore: bool,
    /// Bytes of matching lines to keep in memory; a search that finds more
    /// stops and says so.
    pub max_bytes: usize,
}

impl GrepQuery {
    /// Which files match a regular expression, by ripgrep's rules.
    pub fn new(pattern: impl Into<String>) -> GrepQuery {
        GrepQuery {
            pattern: pattern.into(),
            literal: false,
            ignore_case: false,
            multiline: false,
            mode: Mode::Files,
            before: 0,
            after: 0,
            line_numbers: true,
            globs: Vec::new(),
            types: Vec::new(),
            head_limit: None,
            offset: 0,
            overrides_ignore: true,
            max_bytes: 256 << 20,
        }
    }
}

impl GrepQuery {
    /// Whether a search for it can begin, as far as its patterns say.
    pub fn compiles(&self) -> Result<(), SearchError> {
        matcher::compile(&self.pattern, self.reading())?;
        Select::new(&self.globs, &self.types, !self.overrides_ignore).map(drop)
    }

    fn reading(&self) -> Reading {
        Reading { literal: self.literal, ignore_case: self.ignore_case, multiline: self.multiline }
    }
}

/// What was found in one file.
#[derive(Clone, Debug, Default)]
pub struct FileHits {
    /// Relative to the root.
    pub path: PathBuf,
    /// Matching lines (matches, in multiline mode). In files mode one, and
    /// where a limit cut the file, as many as were met.
    pub matches: u64,
    /// In content mode, the lines shown.
    pub lines: Vec<Line>,
    /// Whether lines of it stand on an earlier page.
    pub goes_on: bool,
    /// The NUL byte that was met in it: said with the last of its lines.
    pub binary: Option<BinaryNote>,
    text: Vec<u8>,
}

/// One line shown.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// From 1; absent unless asked for.
    pub number: Option<NonZeroU64>,
    /// Whether it matches, or is context.
    pub is_match: bool,
    /// Whether lines were left out between it and the one before: where
    /// ripgrep prints `--` between groups of one file.
    pub gap_before: bool,
    start: usize,
    end: usize,
}

/// A NUL byte in a file that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinaryNote {
    /// Around which byte it is.
    pub offset: u64,
    /// Whether it ended the search, as in a file that was not named.
    pub stopped: bool,
    /// From which byte on lines that match, or stand beside such a one, are
    /// not shown because of it. In a file that was named, and content mode.
    pub not_shown_from: Option<u64>,
}

impl FileHits {
    /// The bytes of one of its lines, without the line feed.
    pub fn text(&self, line: &Line) -> &[u8] {
        self.text.get(line.start..line.end).unwrap_or_default()
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct GrepFound {
    /// By path, as `rg --sort path`.
    pub files: Vec<FileHits>,
    /// Entries in all (see `head_limit`), unless a limit ended the search
    /// before all were known.
    pub total: Option<u64>,
    /// Where the next page starts, if there is more.
    pub next_offset: Option<usize>,
    /// What was looked at.
    pub record: Record,
}

/// Searches the files of a directory, or one file.
pub fn grep(scope: &Scope<'_>, query: &GrepQuery) -> Result<GrepFound, SearchError> {
    let matcher = matcher::compile(&query.pattern, query.reading())?;
    let select = Select::new(&query.globs, &query.types, !query.overrides_ignore)?;
    let base = walk::open_base(scope)?;
    let stop = Stop::new(scope.cancel, scope.timeout);
    let collected = AtomicUsize::new(0);
    // One more than is shown says whether there is more.
    let need = query.head_limit.map(|limit| query.offset.saturating_add(limit).saturating_add(1));
    let bound = Bound::new(need);
    let make = || Finder::new(query, matcher.clone(), &bound, &stop, &collected);

    let (finders, mut record) = match base {
        Base::Dir(fd) => {
            let ordered = query.head_limit.is_some();
            let plan = Plan { scope, select: &select, globs_from_base: false, ordered, stop: &stop };
            walk::walk(&plan, fd, make)?
        }
        Base::File(fd, path) => {
            let (mut finder, mut tally) = (make(), Tally::default());
            finder.named_file(fd, &path, &mut tally);
            if let Some(looked) = scope.looked {
                looked.fetch_add(1, Ordering::Relaxed);
            }
            let mut record = Record::from_tallies(vec![tally]);
            stop.note(&mut record.cut);
            (vec![finder], record)
        }
    };
    record.cut.bytes = query.mode == Mode::Content && collected.load(Ordering::Relaxed) > query.max_bytes;
    let pruned = bound.is_set();
    let mut files: Vec<FileHits> = finders.into_iter().flat_map(Finder::into_hits).collect();
    files.sort_unstable_by(|a, b| path_order(a.path.as_os_str().as_bytes(), b.path.as_os_str().as_bytes()));

    let total = files.iter().map(|f| entries(query.mode, f)).sum::<usize>();
    let end = query.head_limit.map_or(total, |l| query.offset.saturating_add(l).min(total));
    let files = page(query.mode, files, query.offset, end);
    record.cut.limit = end < total;
    Ok(GrepFound {
        files,
        total: (!pruned && !record.cut.timeout && !record.cut.cancelled && !record.cut.bytes).then_some(total as u64),
        next_offset: (end < total).then_some(end),
        record,
    })
}

/// How many entries a file is worth. A binary file that matches is one,
/// though none of its lines is shown.
fn entries(mode: Mode, file: &FileHits) -> usize {
    match mode {
        Mode::Content => file.lines.len().max(1),
        Mode::Files | Mode::Count => 1,
    }
}

/// The entries from one place to another.
fn page(mode: Mode, files: Vec<FileHits>, from: usize, to: usize) -> Vec<FileHits> {
    let (mut at, mut shown) = (0, Vec::new());
    for mut file in files {
        let len = entries(mode, &file);
        let (first, last) = (from.saturating_sub(at).min(len), to.saturating_sub(at).min(len));
        at += len;
        if first >= last {
            continue;
        }
        if mode == Mode::Content && !file.lines.is_empty() {
            file.lines.truncate(last);
            file.lines.drain(..first);
            file.goes_on = first > 0;
            file.binary = file.binary.filter(|_| last == len);
        }
        shown.push(file);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> FileHits {
        let line = Line { number: None, is_match: true, gap_before: false, start: 0, end: 0 };
        FileHits { path: path.into(), matches: lines as u64, lines: vec![line; lines], ..FileHits::default() }
    }

    #[test]
    fn a_page_of_lines_may_start_and_end_inside_files() {
        let shown = |from, to| {
            page(Mode::Content, vec![file("a", 2), file("b", 3), file("c", 0)], from, to)
                .iter()
                .map(|f| format!("{}{}", f.path.display(), f.lines.len()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(shown(0, 6), "a2 b3 c0");
        assert_eq!(shown(1, 3), "a1 b1");
        assert_eq!(shown(2, 5), "b3");
        assert_eq!(shown(5, 6), "c0");
        assert_eq!(shown(7, 9), "");
    }
}
