//! Workflows and their tests by the names of their files, with the walker of every search: it follows no link, and
//! leaves no directory that it was let into.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::text::{harmless, near_names};
use nika_flow::tools::{DIRECTORIES, ENDING};
use nika_search::{GlobQuery, Scope, glob};

/// Which files, and how far they are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// How their names end.
    pub ending: &'a str,
    /// Directories below one another, where that is bounded.
    pub depth: Option<usize>,
    /// Whether what is hidden or ignored counts.
    pub all: bool,
    /// Directories that are passed by wherever they stand.
    pub without: &'a [&'a str],
}

/// The plain files below `dir`, in the order of their paths; none where it cannot be read.
pub fn below(dir: &Path, wanted: Wanted<'_>) -> Vec<PathBuf> {
    let Ok(opened) = File::open(dir) else { return Vec::new() };
    let passed_by = |path: &[u8], is_dir: bool| {
        let name = Path::new(OsStr::from_bytes(path)).file_name();
        is_dir && name.is_some_and(|name| wanted.without.iter().any(|other| name == *other))
    };
    let scope = Scope {
        hidden: wanted.all,
        no_ignore: wanted.all,
        max_depth: wanted.depth,
        veto: Some(&passed_by),
        ..Scope::new(opened.as_fd())
    };
    let query = GlobQuery { overrides_ignore: false, ..GlobQuery::new(format!("*{}", wanted.ending)) };
    let Ok(found) = glob(&scope, &query) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.files.into_iter().map(|file| dir.join(file.path)).collect();
    paths.sort();
    paths
}

/// Directories below one another in which a workflow is looked for that somebody misspelt.
const MOST_DEEP: usize = 3;
/// Workflows that are named where none is near.
const MOST_NAMED: usize = 5;

/// What was meant by a file that is no workflow: one of a near name, those that there are, or the files of a directory.
pub fn instead(root: &Path, wanted: &Path) -> Option<String> {
    if wanted.is_dir() {
        return Some(format!("the workflows in it: {}/*{ENDING}", wanted.display()));
    }
    let all = Wanted { ending: ENDING, depth: Some(MOST_DEEP), all: true, without: &[] };
    let found: Vec<PathBuf> = DIRECTORIES.iter().flat_map(|dir| below(&root.join(dir), all)).collect();
    let stem = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [ENDING, ".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name).to_owned()
    };
    let near = near_names(&stem(wanted), found.iter().map(|path| stem(path)), 1);
    let shown = |path: &PathBuf| harmless(&path.strip_prefix(root).unwrap_or(path).display().to_string()).into_owned();
    match near.first().and_then(|near| found.iter().find(|path| stem(path) == *near)) {
        Some(meant) => Some(format!("did you mean {}?", shown(meant))),
        None if found.is_empty() || found.len() > MOST_NAMED => None,
        None => Some(format!("there is {}", found.iter().map(shown).collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn scene(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().expect("it lies below")).expect("a directory");
            fs::write(path, "x").expect("a file");
        }
        dir
    }

    fn names(dir: &Path, wanted: Wanted<'_>) -> Vec<String> {
        let found = below(dir, wanted);
        found.iter().map(|path| path.strip_prefix(dir).expect("below it").display().to_string()).collect()
    }

    const ALL: Wanted<'static> = Wanted { ending: ".nika.yaml", depth: None, all: true, without: &[] };

    #[test]
    fn what_is_passed_by_hidden_or_too_deep_is_not_found() {
        let dir = scene(&[
            "b.nika.yaml",
            "a/c.nika.yaml",
            "a/b/d.nika.yaml",
            ".h/e.nika.yaml",
            "target/f.nika.yaml",
            "g.yaml",
        ]);
        let open = ["a/b/d.nika.yaml", "a/c.nika.yaml", "b.nika.yaml", "target/f.nika.yaml"];
        assert_eq!(names(dir.path(), Wanted { all: false, ..ALL }), open);
        assert_eq!(names(dir.path(), Wanted { all: false, without: &["target"], ..ALL }), open[..3]);
        assert_eq!(names(dir.path(), ALL).len(), 5);
        let shallow = names(dir.path(), Wanted { depth: Some(2), ..ALL });
        assert!(!shallow.contains(&open[0].to_owned()) && shallow.contains(&open[1].to_owned()), "{shallow:?}");
        assert!(names(&dir.path().join("nowhere"), ALL).is_empty());
    }

    #[test]
    fn what_was_meant_is_near_or_what_there_is() {
        let dir = scene(&["workflows/hello.nika.yaml", "examples/report.nika.yaml"]);
        let said = |wanted: &str| instead(dir.path(), &dir.path().join(wanted));
        for near in ["hello", "hello.nika.yaml", "workflows/helo.nika.yaml", "hello.yaml"] {
            assert_eq!(said(near).as_deref(), Some("did you mean workflows/hello.nika.yaml?"), "{near}");
        }
        assert_eq!(said("zebra").as_deref(), Some("there is workflows/hello.nika.yaml, examples/report.nika.yaml"));
        assert!(said("workflows").is_some_and(|said| said.ends_with("workflows/*.nika.yaml")));
        assert_eq!(instead(&dir.path().join("workflows"), Path::new("zebra")), None);
    }

    #[test]
    fn links_lead_nowhere() {
        let dir = scene(&["a/one.nika.yaml"]);
        symlink("a", dir.path().join("b")).expect("a link");
        symlink("a/one.nika.yaml", dir.path().join("two.nika.yaml")).expect("a link");
        assert_eq!(names(dir.path(), ALL), ["a/one.nika.yaml"]);
    }
}
