//! The completeness record: what a search looked at, what it left out, by
//! which rule, and which parameter widens it. "No matches" may be said only
//! when [`Record::complete`] holds.

use std::io;
use std::path::PathBuf;

/// How many paths or rules of each sort a record names; the rest are counted.
pub const NAMED: usize = 10;

/// What one search looked at and what it left out.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Directories listed.
    pub dirs: u64,
    /// Files searched (grep) or considered (glob).
    pub scanned: u64,
    /// Bytes read from them.
    pub scanned_bytes: u64,
    /// Files that a glob or type parameter left out. Asked for, so no gap.
    pub unselected: u64,
    /// Entries that ignore files left out. A directory counts once, whatever
    /// is in it. Outside the scope by `no_ignore: false`, so no gap.
    pub ignored: Ignored,
    /// Hidden entries left out by `hidden: false`. No gap either.
    pub hidden: u64,
    /// Symbolic links, which are not followed. Those that the globs and the
    /// type leave open are among them: what they lead to could decide it.
    pub links: u64,
    /// Those of them that the fixed part of a glob leads through: files that
    /// were asked for may lie behind them, so they are a gap.
    pub asked_links: Named<PathBuf>,
    /// FIFOs, sockets and devices, which are not opened.
    pub special: u64,
    /// Files in which the search stopped at a NUL byte, as ripgrep does, so
    /// that a match may be in them.
    pub binary: Named<PathBuf>,
    /// Files without a match that are not UTF-8, where the pattern has letters beyond ASCII: they may hold these in another
    /// encoding, so they are a gap.
    pub other_bytes: u64,
    /// What could not be opened or read.
    pub unreadable: Named<Unreadable>,
    /// Files and directories the caller withheld.
    pub withheld: u64,
    /// What ended the search early.
    pub cut: Cut,
}

/// The first [`NAMED`] of some things, by path, and how many there were.
#[derive(Clone, Debug)]
pub struct Named<T> {
    /// The first of them.
    pub first: Vec<T>,
    /// How many there were in all.
    pub total: u64,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named { first: Vec::new(), total: 0 }
    }
}

/// What ignore files left out.
#[derive(Clone, Debug, Default)]
pub struct Ignored {
    /// Entries left out in all.
    pub entries: u64,
    /// The [`NAMED`] rules that left out most, the strongest first.
    pub rules: Vec<RuleCount>,
    /// How many more rules left something out.
    pub other_rules: u64,
}

/// One rule of one ignore file, and how many entries it left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleCount {
    /// The ignore file, relative to the root; above it, `../.gitignore`.
    pub file: PathBuf,
    /// Its line, from 1.
    pub line: u64,
    /// The rule as written.
    pub pattern: String,
    /// Entries left out.
    pub entries: u64,
}

/// What could not be read, and why.
#[derive(Debug)]
pub struct Unreadable {
    /// The path, relative to the root.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl Clone for Unreadable {
    fn clone(&self) -> Self {
        let error = match self.error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(self.error.kind(), self.error.to_string()),
        };
        Unreadable { path: self.path.clone(), error }
    }
}

/// What ended a search early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// `head_limit` or `limit` left results out.
    pub limit: bool,
    /// `timeout_ms` ran out.
    pub timeout: bool,
    /// The caller cancelled it.
    pub cancelled: bool,
    /// The matching lines would have taken more memory than allowed.
    pub bytes: bool,
    /// Directories not entered for `max_depth`.
    pub depth: u64,
}

/// What a caller of the engine calls the parameters that widen a search; `None` where it has no such parameter.
#[derive(Clone, Copy, Debug)]
pub struct Widening {
    /// More results.
    pub limit: &'static str,
    /// More time.
    pub timeout: Option<&'static str>,
    /// More levels of directories.
    pub depth: Option<&'static str>,
    /// What ignore files leave out.
    pub no_ignore: Option<&'static str>,
    /// Names that begin with a dot.
    pub hidden: Option<&'static str>,
}

/// A parameter that would widen the search, and what it would add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widen {
    /// The parameter's name.
    pub parameter: &'static str,
    /// What it holds back now.
    pub why: String,
}

impl Record {
    /// Whether every file in scope was searched to its end. Ignored and hidden
    /// entries are outside the scope; a binary, unreadable or withheld file, or one in another encoding, is
    /// a gap, and so is a link that a glob leads through and anything cut.
    pub fn complete(&self) -> bool {
        let gaps = [self.binary.total, self.other_bytes, self.unreadable.total, self.withheld, self.asked_links.total];
        gaps == [0; 5] && self.cut == Cut::default()
    }

    /// The parameters that would widen the search, by the caller's names for them, most effective first. Each once.
    pub fn widen(&self, by: &Widening) -> Vec<Widen> {
        let rows: [(Option<&'static str>, bool, String); 6] = [
            (Some(by.limit), self.cut.limit, "more results than were asked for; raise it or use offset".to_owned()),
            (by.timeout, self.cut.timeout, "time ran out".to_owned()),
            (
                Some(by.limit),
                self.cut.bytes && !self.cut.limit,
                "the matching lines outgrew the memory allowed; take fewer at a time".to_owned(),
            ),
            (by.depth, self.cut.depth > 0, format!("{} directories lie deeper", self.cut.depth)),
            (by.no_ignore, self.ignored.entries > 0, format!("{} entries ignored by rules", self.ignored.entries)),
            (by.hidden, self.hidden > 0, format!("{} hidden entries", self.hidden)),
        ];
        let held_back = rows.into_iter().filter(|row| row.1);
        held_back.filter_map(|(parameter, _, why)| Some(Widen { parameter: parameter?, why })).collect()
    }
}

/// One worker's share of a record: cheap to add to, merged at the end.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub dirs: u64,
    pub scanned: u64,
    pub scanned_bytes: u64,
    pub unselected: u64,
    pub hidden: u64,
    pub links: u64,
    pub special: u64,
    pub withheld: u64,
    pub too_deep: u64,
    pub asked_links: Vec<PathBuf>,
    pub binary: Vec<PathBuf>,
    pub other_bytes: u64,
    pub unreadable: Vec<Unreadable>,
}

impl Tally {
    pub fn unreadable(&mut self, path: PathBuf, error: impl Into<io::Error>) {
        self.unreadable.push(Unreadable { path, error: error.into() });
    }
}

impl Record {
    pub(crate) fn from_tallies(tallies: Vec<Tally>) -> Record {
        let mut record = Record::default();
        let (mut asked_links, mut binary, mut unreadable) = (Vec::new(), Vec::new(), Vec::new());
        for t in tallies {
            record.dirs += t.dirs;
            record.scanned += t.scanned;
            record.scanned_bytes += t.scanned_bytes;
            record.unselected += t.unselected;
            record.hidden += t.hidden;
            record.links += t.links;
            record.special += t.special;
            record.withheld += t.withheld;
            record.other_bytes += t.other_bytes;
            record.cut.depth += t.too_deep;
            asked_links.extend(t.asked_links);
            binary.extend(t.binary);
            unreadable.extend(t.unreadable);
        }
        asked_links.sort();
        binary.sort();
        unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        record.asked_links = named(asked_links);
        record.binary = named(binary);
        record.unreadable = named(unreadable);
        record
    }
}

fn named<T>(mut all: Vec<T>) -> Named<T> {
    let total = all.len() as u64;
    all.truncate(NAMED);
    Named { first: all, total }
}

/// The strongest rules of many, and the rest as a number.
pub(crate) fn strongest(mut rules: Vec<RuleCount>) -> Ignored {
    let entries = rules.iter().map(|r| r.entries).sum();
    rules.sort_by(|a, b| b.entries.cmp(&a.entries).then_with(|| a.file.cmp(&b.file)).then(a.line.cmp(&b.line)));
    let other_rules = rules.len().saturating_sub(NAMED) as u64;
    rules.truncate(NAMED);
    Ignored { entries, rules, other_rules }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREP: Widening = Widening {
        limit: "head_limit",
        timeout: Some("timeout_ms"),
        depth: None,
        no_ignore: Some("no_ignore"),
        hidden: Some("hidden"),
    };

    fn rule(line: u64, entries: u64) -> RuleCount {
        RuleCount { file: ".gitignore".into(), line, pattern: "x".into(), entries }
    }

    #[test]
    fn the_strongest_rules_are_named_and_the_rest_counted() {
        let ignored = strongest((1..=12).map(|n| rule(n, n)).collect());
        assert_eq!((ignored.entries, ignored.other_rules, ignored.rules.len()), (78, 2, NAMED));
        assert_eq!(ignored.rules[0], rule(12, 12));
    }

    #[test]
    fn ignored_and_hidden_entries_leave_a_search_complete() {
        let mut record = Record { hidden: 3, ..Record::default() };
        record.ignored.entries = 5;
        assert!(record.complete());
        let names = |record: &Record| record.widen(&GREP).iter().map(|w| w.parameter).collect::<Vec<_>>();
        assert_eq!(names(&record), ["no_ignore", "hidden"]);
        record.binary.total = 1;
        assert!(!record.complete());
    }

    #[test]
    fn what_widens_is_called_as_the_caller_calls_it_and_left_out_where_nothing_does() {
        let cut = Cut { limit: true, timeout: true, bytes: true, depth: 2, ..Cut::default() };
        let record = Record { cut, hidden: 1, ..Record::default() };
        let names = |by: &Widening| record.widen(by).iter().map(|w| w.parameter).collect::<Vec<_>>();
        assert_eq!(names(&GREP), ["head_limit", "timeout_ms", "hidden"]);
        let plain = Widening { limit: "limit", timeout: None, depth: None, no_ignore: None, hidden: None };
        assert_eq!(names(&plain), ["limit"]);
    }
}
