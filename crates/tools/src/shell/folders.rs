//! Changes as a person reads them: a directory that a command made and filled is one line, as what a build leaves or a
//! package manager downloads has hundreds of files, and nobody finds the edited one among them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use nika_contract::Kind;
use nika_host::overlay::{Entry, What};

use crate::file::list_dir::size;

/// Files of a made directory that are shown one by one. As many as a new module or a small example has.
const FILES: usize = 12;

/// What is shown at one place.
#[derive(Debug)]
pub(super) enum Shown<'a> {
    Path(&'a Entry),
    /// A directory that was not there before.
    Folder {
        path: &'a Path,
        files: usize,
        bytes: u64,
    },
}

/// The entries in their order, those of a filled directory as one.
pub(super) fn folded<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Shown<'a>> {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let is_made = |entry: &&&Entry| entry.what == What::Created && entry.kind == Kind::Directory;
    let made: HashSet<&Path> = entries.iter().filter(is_made).map(|entry| entry.path.as_path()).collect();
    let above = |entry: &'a Entry| entry.path.ancestors().filter(|path| made.contains(path)).last();
    let mut filled: HashMap<&Path, (usize, u64)> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.kind != Kind::Directory) {
        if let Some(top) = above(entry) {
            let (files, bytes) = filled.entry(top).or_default();
            (*files, *bytes) = (*files + 1, *bytes + entry.bytes);
        }
    }
    filled.retain(|_, (files, _)| *files > FILES);
    let mut shown = Vec::new();
    let mut told = HashSet::new();
    for entry in entries {
        let folder = above(entry).and_then(|top| filled.get_key_value(top));
        match folder {
            None => shown.push(Shown::Path(entry)),
            Some((path, (files, bytes))) if told.insert(*path) => {
                shown.push(Shown::Folder { path, files: *files, bytes: *bytes });
            }
            Some(_) => {}
        }
    }
    shown
}

/// `13 new files, 3.4 MB`.
pub(super) fn sum(files: usize, bytes: u64) -> String {
    format!("{files} new files, {}", size(bytes))
}

/// How a diff begins of what is no text.
pub(super) const BINARY: &str = "Binary files ";
/// Files of one directory that are no text and are named. Nobody reads more of such names.
const BINARIES: usize = 3;

/// The lines of what is no text: each name with its line, where one directory of a root has many of them, one line for all.
pub(super) fn gathered(binary: Vec<(String, String)>) -> String {
    let top = |name: &str| name.split_once('/').map(|(top, _)| top.to_owned());
    let mut places: Vec<(Option<String>, Vec<String>)> = Vec::new();
    for (name, line) in binary {
        let top = top(&name);
        match places.iter_mut().find(|(place, _)| *place == top) {
            Some((_, lines)) => lines.push(line),
            None => places.push((top, vec![line])),
        }
    }
    let said = |(place, lines): (Option<String>, Vec<String>)| match place {
        Some(place) if lines.len() > BINARIES => format!("{BINARY}below {place}/: {} differ\n", lines.len()),
        _ => lines.concat(),
    };
    places.into_iter().map(said).collect()
}

/// The names of some paths, and how many more there are.
pub(super) fn names(shown: &[Shown<'_>], most: usize, name: impl Fn(&Path) -> String) -> String {
    let one = |shown: &Shown<'_>| match shown {
        Shown::Path(entry) => name(&entry.path),
        Shown::Folder { path, files, bytes } => format!("{}/ ({})", name(path), sum(*files, *bytes)),
    };
    let mut names: Vec<String> = shown.iter().take(most).map(one).collect();
    if shown.len() > most {
        names.push(format!("{} more", shown.len() - most));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::gathered;

    #[test]
    fn many_files_that_are_no_text_are_one_line_for_each_directory_of_the_root() {
        let line = |name: &str| (name.to_owned(), format!("Binary files a/{name} and b/{name} differ (1 → 2 bytes)\n"));
        let many = ["target/a", "x.bin", "target/b/c", "target/d", "target/e", "docs/p.png"];
        let told = gathered(many.map(line).into());
        let alone = |name: &str| line(name).1;
        let wanted = format!("Binary files below target/: 4 differ\n{}{}", alone("x.bin"), alone("docs/p.png"));
        assert_eq!(told, wanted);
        assert_eq!(gathered(Vec::new()), "");
    }
}
