//! Destructive acts that a pattern can say: the tables, one file for a category, and how a pattern is read.
//!
//! A pattern is words separated by blanks, `|` between alternatives and `*` for anything:
//! the program; then its leading operands in order; then what must be there besides:
//! `-f|--force` an option, `--prune=now` an option with that value, `+.|:/` an operand behind the leading
//! ones, with no word before it that only looks, `#2` at least two of these; a `!` before any of them says that it must not be there.

mod backups;
mod cloud;
mod clusters;
mod containers;
mod databases;
mod disks;
mod files;
mod frameworks;
mod git;
mod infrastructure;
mod migrations;
mod packages;
mod queues;
mod secrets;
mod system;

use super::super::super::fact::Category::{self, *};
use super::super::index::{self, Index};
use super::super::spec::lists;
use super::Hit;
use super::words::{Line, Piece, fits, fits_one};

/// A pattern, and why in words that stand behind the command.
type Act = (&'static str, &'static str);

/// Every table. Of two rows that fit, the first says why.
const TABLES: &[(Category, &[Act])] = &[
    (GitDiscard, git::WORK),
    (GitHistory, git::HISTORY),
    (Files, files::FILES),
    (Files, backups::BACKUPS),
    (Disk, disks::DISKS),
    (Database, databases::DATABASES),
    (Database, migrations::MIGRATIONS),
    (Database, frameworks::FRAMEWORKS),
    (Database, queues::QUEUES),
    (Container, containers::CONTAINERS),
    (Kubernetes, clusters::CLUSTERS),
    (Infrastructure, infrastructure::INFRASTRUCTURE),
    (Infrastructure, secrets::SECRETS),
    (Cloud, cloud::CLOUD),
    (Package, packages::PACKAGES),
    (System, system::SYSTEM),
];

/// How many rows all tables have.
const ROWS: usize = {
    let (mut table, mut rows) = (0, 0);
    while table < TABLES.len() {
        rows += TABLES[table].1.len();
        table += 1;
    }
    rows
};

/// The rows of all tables, their patterns read.
const ACTS: &[(Category, Pattern<'_>, &str)] = &{
    let mut acts = [(System, Pattern::of(""), ""); ROWS];
    let (mut table, mut used) = (0, 0);
    while table < TABLES.len() {
        let (category, rows) = TABLES[table];
        let mut row = 0;
        while row < rows.len() {
            acts[used] = (category, Pattern::of(rows[row].0), rows[row].1);
            (row, used) = (row + 1, used + 1);
        }
        table += 1;
    }
    acts
};

/// How many programs the patterns name.
const NAMES: usize = {
    let (mut row, mut names) = (0, 0);
    while row < ACTS.len() {
        names += index::count(ACTS[row].1.programs, b'|', None);
        row += 1;
    }
    names
};

/// Which rows are about a program.
static INDEX: Index<NAMES> = {
    let (mut index, mut row) = (Index::new(), ACTS.len());
    while row > 0 {
        row -= 1;
        index = index.add(ACTS[row].1.programs, b'|', None, row);
    }
    index
};

/// What the tables say about `line`. One warning for one command: the first row that fits says it.
pub(super) fn hit(line: &Line) -> Option<Hit> {
    let fitting = |row: &usize| ACTS.get(*row).is_some_and(|(_, pattern, _)| pattern.fits(line));
    let (named, wild) = (INDEX.named(&line.program).find(fitting), INDEX.wild(&line.program).find(fitting));
    let first = named.into_iter().chain(wild).min()?;
    let (category, pattern, why) = ACTS.get(first)?;
    let shown: String = line.leading(pattern.path).iter().map(|word| format!(" {word}")).collect();
    Some((*category, format!("`{}{shown}` {why}", line.program)))
}

/// Whether a row is about `program`. Names share buckets, so it is looked at closely: most commands go no further.
pub(super) fn names(program: &str) -> bool {
    let is_about = |row: usize| ACTS.get(row).is_some_and(|(_, pattern, _)| pattern.names(program));
    INDEX.named(program).chain(INDEX.wild(program)).any(is_about)
}

/// A pattern, read: the compiler does that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pattern<'p> {
    programs: &'p str,
    path: &'p str,
    needs: &'p str,
}

impl<'p> Pattern<'p> {
    pub(super) const fn of(pattern: &'p str) -> Pattern<'p> {
        let bytes = pattern.as_bytes();
        let programs = until_blank(bytes, 0);
        let mut path = programs;
        while path + 1 < bytes.len() && !matches!(bytes[path + 1], b'-' | b'+' | b'#' | b'!') {
            path = until_blank(bytes, path + 1);
        }
        let (before, needs) = pattern.split_at(path);
        let (programs, path) = before.split_at(programs);
        Pattern { programs, path: path.trim_ascii(), needs: needs.trim_ascii() }
    }

    /// Whether it is about `program`.
    pub(super) fn names(&self, program: &str) -> bool {
        fits_one(self.programs, program)
    }

    /// Whether `line` is what it says.
    pub(super) fn fits(&self, line: &Line) -> bool {
        if !self.names(&line.program) {
            return false;
        }
        let Some(own) = line.leads(self.path) else { return false };
        self.needs.split(' ').filter(|need| !need.is_empty()).all(|need| needed(need, own, line))
    }
}

/// Where the next blank stands, or the end.
const fn until_blank(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b' ' {
        at += 1;
    }
    at
}

/// Subcommands that only look or make something new.
const LOOKING: &str =
    "get list ls show describe explain read find info status create tail start launch trigger pub produce";

/// Whether what a pattern needs is there. `own`: how many operands the program's path takes up.
fn needed(need: &str, own: usize, line: &Line) -> bool {
    if let Some(not) = need.strip_prefix('!') {
        return !needed(not, own, line);
    }
    let behind = line.operands.get(own..).unwrap_or_default();
    if let Some(count) = need.strip_prefix('#') {
        return count.parse().is_ok_and(|count: usize| behind.len() >= count);
    }
    if let Some(operands) = need.strip_prefix('+') {
        // `doctl compute droplet get delete`: behind a word that only looks, a subcommand is a name.
        let subcommand = operands.starts_with(|first: char| first.is_ascii_lowercase());
        let names = |piece: &&Piece| subcommand && lists(LOOKING, &piece.text);
        return behind.iter().take_while(|piece| !names(piece)).any(|piece| fits_one(operands, &piece.text));
    }
    if !need.starts_with('-') {
        return behind.iter().any(|piece| fits_one(need, &piece.text));
    }
    need.split('|').any(|option| match option.split_once('=') {
        None if option.ends_with('*') => line.flags.iter().any(|flag| fits(option, &flag.name)),
        None => line.has(option),
        Some((name, value)) => line.values(name).any(|piece| fits(value, &piece.text)),
    })
}
