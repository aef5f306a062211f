//! What is told of changed paths, as a diff for whoever reads an answer or a question: of what a command changed, and of
//! what `undo` would do with it, in the same words and within the same bounds.
//!
//! What the lines of a diff do not say of a path: [`kinds`]. Directories that are one line: [`folders`].

pub(crate) mod folders;
pub(crate) mod kinds;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_edit::{BINARY_FILES, Limits, NEW_DIRECTORY, unified};
use nika_host::fs::Workspace;
use nika_host::overlay::{Entry, What};

use folders::{Binary, Shown, folded, gathered};

/// Paths whose diff is shown; the others are counted.
const SHOWN_PATHS: usize = 50;
/// Paths that are looked at for it: of what is no text, only the number is shown.
const LOOKED_AT: usize = 2_000;
/// Bytes that are read for it: less than half a second, before somebody is asked.
const LOOKED_AT_BYTES: u64 = 64 << 20;
/// Lines of diff in all: some 20 KB, which a result can carry.
const SHOWN_LINES: usize = 500;
/// The largest content that is shown, in bytes.
const SHOWN_BYTES: u64 = 1 << 20;

/// What stands at changed paths, and what stood or shall stand there.
pub(crate) trait Sides {
    /// The content before, and of a link where it leads; `None` where it has more bytes, or cannot be read.
    fn before(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>>;
    /// The same of what comes after it.
    fn after(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>>;
    /// The line in place of a content that is not to be shown.
    fn withheld(&self, entry: &Entry) -> Option<String>;
}

/// Changes that are told together: directories before what is in them.
pub(crate) struct Telling<'a> {
    pub files: &'a Workspace,
    pub entries: Vec<&'a Entry>,
    pub sides: &'a dyn Sides,
    /// Whether git keeps something there for itself, which says nothing to a reader.
    pub hides: &'a dyn Fn(&Path) -> bool,
}

/// The diff of all, within the bounds above; the last line says how many paths it leaves out.
pub(crate) fn diff(all: &[Telling<'_>]) -> String {
    let mut diff = String::new();
    let (mut shown, mut looked_at, mut bytes, mut lines, mut unshown) = (0, 0, 0, SHOWN_LINES, 0);
    let mut binary = Vec::new();
    for telling in all {
        let entries = || telling.entries.iter().copied();
        // That there is a repository now, or none any more, is said of what is in it.
        for line in entries().filter_map(|entry| repository(telling, entry)).take(SHOWN_PATHS) {
            diff.push_str(&line);
            lines = lines.saturating_sub(1);
        }
        let filled: HashSet<&Path> = entries().filter_map(|entry| entry.path.parent()).collect();
        for one in folded(entries().filter(|entry| !(telling.hides)(&entry.path))) {
            let head = |entry: &Entry| match directory(&telling.files.shown(&entry.path), entry, &filled) {
                Some(line) => line,
                None => telling.head(entry),
            };
            // What is told of below it names it.
            if matches!(one, Shown::Path(entry) if entry.kind == Kind::Directory && head(entry).is_empty()) {
                continue;
            }
            if shown == SHOWN_PATHS || looked_at == LOOKED_AT || bytes > LOOKED_AT_BYTES || lines == 0 {
                unshown += 1;
                continue;
            }
            looked_at += 1;
            let said = match one {
                Shown::Folder(path, filled) => folders::line(&telling.files.shown(path), &filled),
                Shown::Path(entry) => {
                    bytes += if telling.is_readable(entry) { entry.bytes + entry.was_bytes } else { 0 };
                    let head = head(entry);
                    let body = telling.piece(entry, &head, lines);
                    let (of_text, rights) = (!body.starts_with(BINARY_FILES), !head.is_empty());
                    let line = head + &body;
                    if !of_text {
                        let name = telling.files.shown(&entry.path);
                        binary.push(Binary { name, what: entry.what, rights, line });
                        continue;
                    }
                    line
                }
            };
            shown += 1;
            lines = lines.saturating_sub(said.lines().count());
            diff.push_str(&said);
        }
    }
    let (said, left_out) = gathered(binary, SHOWN_PATHS);
    diff.push_str(&said);
    unshown += left_out;
    match unshown {
        0 => {}
        1 => diff.push_str("… 1 path more, not shown\n"),
        many => diff.push_str(&format!("… {many} paths more, not shown\n")),
    }
    diff
}

/// The diff of `paths` alone.
pub(crate) fn diff_of(all: &[Telling<'_>], paths: &[PathBuf]) -> String {
    let (mut diff, mut lines) = (String::new(), SHOWN_LINES);
    for telling in all {
        for entry in telling.entries.iter().filter(|entry| paths.contains(&entry.path)).take(SHOWN_PATHS) {
            let head = telling.head(entry);
            let said = format!("{head}{}", telling.piece(entry, &head, lines));
            lines = lines.saturating_sub(said.lines().count());
            diff.push_str(&said);
        }
    }
    diff
}

impl Telling<'_> {
    /// What is said of one path before its lines.
    fn head(&self, entry: &Entry) -> String {
        let before = (entry.was == Some(Kind::Link)).then(|| self.sides.before(entry, SHOWN_BYTES)).flatten();
        let after = (entry.kind == Kind::Link).then(|| self.sides.after(entry, SHOWN_BYTES)).flatten();
        kinds::line(&self.files.shown(&entry.path), entry, before.as_deref(), after.as_deref())
    }

    /// What a diff says of one path after `head`, in no more than `lines`.
    fn piece(&self, entry: &Entry, head: &str, lines: usize) -> String {
        let name = self.files.shown(&entry.path);
        let of_file = |kind: Option<Kind>| kind == Some(Kind::File);
        let (was, is) = (of_file(entry.was) && !entry.was_special, of_file(Some(entry.kind)));
        if entry.what == What::Mode || !(was || is) {
            return String::new();
        }
        if let Some(line) = self.sides.withheld(entry) {
            return line;
        }
        if !self.is_readable(entry) {
            return sizes(&name, entry);
        }
        let was = was.then(|| self.sides.before(entry, SHOWN_BYTES)).flatten();
        let now = is.then(|| self.sides.after(entry, SHOWN_BYTES)).flatten();
        let limits = Limits { max_lines: lines, ..Limits::default() };
        let diff = unified(was.as_deref(), now.as_deref(), &name, &limits);
        match diff.is_empty() && head.is_empty() {
            true if was.is_some() && was == now => format!("{name}: the same content, with other attributes\n"),
            true => sizes(&name, entry),
            false => diff,
        }
    }

    /// Whether what stands there is read to be shown.
    fn is_readable(&self, entry: &Entry) -> bool {
        entry.what != What::Mode
            && entry.bytes.max(entry.was_bytes) <= SHOWN_BYTES
            && self.sides.withheld(entry).is_none()
    }
}

/// What is said of a content that is not shown.
pub(crate) fn sizes(name: &str, entry: &Entry) -> String {
    match (entry.what, entry.was) {
        (What::Deleted, _) => format!("{name}: deleted, it had {} bytes\n", entry.was_bytes),
        (_, None) => format!("{name}: new, {} bytes\n", entry.bytes),
        _ => format!("{name}: {} → {} bytes\n", entry.was_bytes, entry.bytes),
    }
}

/// The line of a repository that comes or goes.
fn repository(telling: &Telling<'_>, entry: &Entry) -> Option<String> {
    let comes_or_goes = match entry.what {
        _ if !entry.path.ends_with(".git") => None,
        What::Deleted => Some("Deleted"),
        _ if entry.was.is_none() => Some("New"),
        _ => None,
    };
    comes_or_goes.map(|how| format!("{how} repository {}\n", telling.files.shown(&entry.path)))
}

/// The line of a directory that is all there is to say.
fn directory(name: &str, entry: &Entry, filled: &HashSet<&Path>) -> Option<String> {
    let is_bare = entry.kind == Kind::Directory && !filled.contains(entry.path.as_path());
    let made = entry.was.is_none() && entry.what == What::Created;
    match entry.what {
        _ if !is_bare => None,
        _ if made => Some(format!("{NEW_DIRECTORY}{name}/\n")),
        What::Deleted => Some(deleted_directory(name)),
        _ => None,
    }
}

/// The line of a directory that goes.
pub(crate) fn deleted_directory(name: &str) -> String {
    format!("{}{name}/\n", folders::DELETED_DIRECTORY)
}

/// What git keeps for itself says nothing to a reader.
pub(crate) fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}

/// Whether git notes there what it did and when, which is something else every time.
pub(crate) fn is_noted(path: &Path) -> bool {
    const CODE: &[&str] = &["hooks", "config", "config.worktree", "gitdir", "commondir"];
    let is_code = path.components().any(|part| CODE.iter().any(|name| part.as_os_str() == *name));
    is_of_git(path) && !is_code
}
