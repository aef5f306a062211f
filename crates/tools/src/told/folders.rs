//! Changes as a person reads them: a directory that comes, or goes, with all that is in it is one line, as what a build leaves
//! or a package manager downloads has hundreds of files, and nobody finds the edited one among them.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use nika_contract::Kind;
use nika_edit::{BINARY_FILES, NEW_DIRECTORY};
use nika_guard::classify;
use nika_host::overlay::{Entry, What};

use crate::file::list_dir::size;

/// How the line of a directory begins that is shown as one, as it goes with what is in it.
pub(crate) const DELETED_DIRECTORY: &str = "Deleted directory ";

/// Files of such a directory that are shown one by one. As many as a new module or a small example has.
const FILES: usize = 12;
/// Files of one directory that are no text and have a line each.
const BINARIES: usize = 3;
/// Names of such files in one line.
const NAMES: usize = 6;

/// What is shown at one place.
#[derive(Debug)]
pub(crate) enum Shown<'a> {
    Path(&'a Entry),
    /// A directory that was not there before, or is no more.
    Folder(&'a Path, Filled),
}

/// What is in it.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Filled {
    files: usize,
    bytes: u64,
    links: usize,
    programs: usize,
    /// Files whose name a deleted one had, or of a directory that goes, a new one has.
    moved: usize,
    goes: bool,
}

impl Filled {
    fn add(&mut self, entry: &Entry, elsewhere: &HashSet<&OsStr>) {
        let name = entry.path.file_name().unwrap_or_default();
        self.goes = entry.what == What::Deleted;
        let (bytes, mode) = if self.goes { (entry.was_bytes, entry.was_mode) } else { (entry.bytes, entry.mode) };
        self.files += 1;
        self.bytes += bytes;
        self.links += usize::from(entry.kind == Kind::Link);
        self.programs += usize::from(entry.kind == Kind::File && mode.is_some_and(|mode| mode & 0o111 != 0));
        self.moved += usize::from(elsewhere.contains(name));
    }

    /// Of a directory with another name, what is other in it would not be seen.
    fn is_folded(&self) -> bool {
        self.files > FILES && self.moved * 2 < self.files
    }

    /// `13 new files, 3.4 MB, 1 link, 2 executable`.
    fn said(&self) -> String {
        let how = if self.goes { "deleted" } else { "new" };
        let mut said = format!("{} {how} files, {}", self.files, size(self.bytes));
        match self.links {
            0 => {}
            1 => said.push_str(", 1 link"),
            links => said.push_str(&format!(", {links} links")),
        }
        if self.programs > 0 {
            said.push_str(&format!(", {} executable", self.programs));
        }
        said
    }
}

/// The entries in their order, those of a filled directory that comes or goes as one. What is asked about by its name is
/// shown for itself.
pub(crate) fn folded<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Shown<'a>> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let of = |what: What| entries.iter().filter(move |entry| entry.what == what);
    let dirs = |what: What| -> HashSet<&Path> {
        of(what).filter(|entry| entry.kind == Kind::Directory).map(|entry| entry.path.as_path()).collect()
    };
    let names = |what: What| -> HashSet<&OsStr> { of(what).filter_map(|entry| entry.path.file_name()).collect() };
    let (made, gone) = (dirs(What::Created), dirs(What::Deleted));
    let (new_names, gone_names) = (names(What::Created), names(What::Deleted));
    let above = |entry: &'a Entry| {
        let whole = match entry.what {
            What::Created => &made,
            What::Deleted => &gone,
            _ => return None,
        };
        entry.path.ancestors().filter(|path| whole.contains(path)).last()
    };
    let is_told = |entry: &Entry| {
        let class = classify(&entry.path);
        class.asked().is_some() || class.secret.is_some()
    };
    let mut filled: HashMap<&Path, Filled> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.kind != Kind::Directory && !is_told(entry)) {
        if let Some(top) = above(entry) {
            let elsewhere = if entry.what == What::Deleted { &new_names } else { &gone_names };
            filled.entry(top).or_default().add(entry, elsewhere);
        }
    }
    filled.retain(|_, filled| filled.is_folded());
    let mut shown = Vec::new();
    let mut told = HashSet::new();
    for entry in entries {
        match above(entry).and_then(|top| filled.get_key_value(top)) {
            Some((path, filled)) => {
                if told.insert(*path) {
                    shown.push(Shown::Folder(path, *filled));
                }
                if entry.kind != Kind::Directory && is_told(entry) {
                    shown.push(Shown::Path(entry));
                }
            }
            None => shown.push(Shown::Path(entry)),
        }
    }
    shown
}

/// The line of such a directory.
pub(crate) fn line(name: &str, filled: &Filled) -> String {
    let how = if filled.goes { DELETED_DIRECTORY } else { NEW_DIRECTORY };
    format!("{how}{name}/: {}\n", filled.said())
}

/// The names of some paths, and how many more there are.
pub(crate) fn names(shown: &[Shown<'_>], most: usize, name: impl Fn(&Path) -> String) -> String {
    let one = |shown: &Shown<'_>| match shown {
        Shown::Path(entry) => name(&entry.path),
        Shown::Folder(path, filled) => format!("{}/ ({})", name(path), filled.said()),
    };
    listed(shown.iter().map(one), most)
}

fn listed(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut listed: Vec<String> = names.take(most).collect();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    listed.join(", ")
}

/// A changed path that is no text, and its line of a diff.
#[derive(Debug)]
pub(crate) struct Binary {
    pub name: String,
    pub what: What,
    /// Its line says that it is executable, or has another mode.
    pub rights: bool,
    pub line: String,
}

/// The lines of what is no text, at most so many, and how many files have none. Where one directory of a root has many
/// such files it is one line for all, with the names of those that were there before.
pub(crate) fn gathered(binary: Vec<Binary>, most: usize) -> (String, usize) {
    let mut places: Vec<(String, Vec<Binary>)> = Vec::new();
    for one in binary {
        let top = top(&one.name);
        match places.iter_mut().find(|(place, _)| place == top) {
            Some((_, all)) => all.push(one),
            None => places.push((top.to_owned(), vec![one])),
        }
    }
    let (mut said, mut lines, mut left_out) = (String::new(), 0, 0);
    for (place, all) in &places {
        let together = all.len() > BINARIES;
        let wanted = if together { 1 } else { all.len() };
        if lines + wanted > most {
            left_out += all.len();
            continue;
        }
        lines += wanted;
        match together {
            true => said.push_str(&format!("{BINARY_FILES}below {place}/: {}\n", kinds(place, all))),
            false => said.extend(all.iter().map(|one| one.line.as_str())),
        }
    }
    (said, left_out)
}

/// The directory of a root that a path lies in; that of its own where it lies in another root.
fn top(name: &str) -> &str {
    match (name.starts_with('/'), name.split_once('/')) {
        (true, _) => name.rsplit_once('/').map_or("", |(above, _)| above),
        (false, Some((top, _))) => top,
        (false, None) => ".",
    }
}

/// `39 new, 2 changed (a.rlib, b.rmeta)`.
fn kinds(place: &str, all: &[Binary]) -> String {
    let of = |is: fn(What) -> bool, word: &str, named: bool, rights: &str| {
        let of_them = all.iter().filter(|one| is(one.what) && one.rights).count();
        let rights = if of_them > 0 { format!(", {of_them} of them {rights}") } else { String::new() };
        let names: Vec<&str> = all.iter().filter(|one| is(one.what)).map(|one| one.name.as_str()).collect();
        let below = |name: &&str| name.strip_prefix(place).unwrap_or(name).trim_start_matches('/').to_owned();
        let list = if named { format!(" ({})", listed(names.iter().map(below), NAMES)) } else { String::new() };
        (!names.is_empty()).then(|| format!("{} {word}{list}{rights}", names.len()))
    };
    let kinds = [
        of(|what| what == What::Created, "new", false, "executable"),
        of(|what| !matches!(what, What::Created | What::Deleted), "changed", true, "with another mode"),
        of(|what| what == What::Deleted, "deleted", true, ""),
    ];
    kinds.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_that_are_no_text_are_one_line_for_each_directory_of_the_root() {
        let line = |name: &str| format!("Binary files a/{name} and b/{name} differ (1 → 2 bytes)\n");
        let one = |(name, what): (&str, What)| Binary {
            name: name.to_owned(),
            what,
            rights: name == "target/e",
            line: line(name),
        };
        let many = [
            ("target/a", What::Changed),
            ("x.bin", What::Changed),
            ("target/b/c", What::Created),
            ("target/d", What::Deleted),
            ("target/e", What::Created),
            ("docs/p.png", What::Created),
        ];
        let (told, left_out) = gathered(many.map(one).into(), 50);
        let together = "Binary files below target/: 2 new, 1 of them executable, 1 changed (a), 1 deleted (d)\n";
        assert_eq!((told, left_out), (format!("{together}{}{}", line("x.bin"), line("docs/p.png")), 0));
        assert_eq!(gathered(Vec::new(), 50), (String::new(), 0));
        for (dir, place) in [("b/", "b"), ("", "."), ("/other/root/", "/other/root")] {
            let many = (0..9).map(|n| one((&format!("{dir}{n}"), What::Changed))).collect();
            let line = format!("Binary files below {place}/: 9 changed (0, 1, 2, 3, 4, 5, 3 more)\n");
            assert_eq!(gathered(many, 50), (line, 0));
        }
    }

    #[test]
    fn so_many_lines_and_no_more() {
        let one = |n: usize| Binary {
            name: format!("d{n}/a"),
            what: What::Changed,
            rights: false,
            line: "line\n".to_owned(),
        };
        let (told, left_out) = gathered((0..2_000).map(one).collect(), 50);
        assert_eq!((told.lines().count(), left_out), (50, 1_950));
    }
}
