//! Hiding what a name stands for: however its letters are written, wherever its links lead, and without what has to be
//! seen in it.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// `hidden`, or, where something that is to be seen lies in it, all else that lies there. Of `entries` only themselves
/// are seen, and of directories which names they hold; of `trees` all that is in them.
pub fn all_but(hidden: &Path, entries: &[PathBuf], trees: &[PathBuf]) -> Vec<PathBuf> {
    let within =
        |seen: &[PathBuf]| -> Vec<PathBuf> { seen.iter().filter(|path| path.starts_with(hidden)).cloned().collect() };
    let (entries, trees) = (within(entries), within(trees));
    let is = |seen: &[PathBuf]| seen.iter().any(|path| path == hidden);
    match fs::read_dir(hidden) {
        _ if is(&trees) => Vec::new(),
        _ if entries.is_empty() && trees.is_empty() => vec![hidden.to_path_buf()],
        Ok(found) => found.flatten().flat_map(|one| all_but(&one.path(), &entries, &trees)).collect(),
        Err(_) if is(&entries) => Vec::new(),
        // What cannot be listed cannot be hidden in parts.
        Err(_) => vec![hidden.to_path_buf()],
    }
}

/// What stands at the absolute `path`, links followed, with letters that fold case: rules say no more of a name.
pub fn spelled(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for part in path.components() {
        let Component::Normal(part) = part else { continue };
        let folded = part.to_string_lossy().to_lowercase();
        let below = |dir: PathBuf| match fs::read_dir(&dir) {
            Ok(entries) => entries
                .flatten()
                .filter(|entry| entry.file_name().to_string_lossy().to_lowercase() == folded)
                .map(|entry| entry.path())
                .collect(),
            Err(_) => vec![dir.join(part)],
        };
        found = found.into_iter().flat_map(below).collect();
    }
    found.iter().filter_map(|path| fs::canonicalize(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_hidden_without_what_has_to_be_seen_in_it() {
        let scene = tempfile::tempdir().unwrap();
        let base = scene.path().canonicalize().unwrap();
        for file in ["home/w/a", "home/private/n", "home/private/deep/m", "home/x"] {
            fs::create_dir_all(base.join(file).parent().unwrap()).unwrap();
            fs::write(base.join(file), "x").unwrap();
        }
        let hidden = |entries: &[&str], trees: &[&str]| {
            let [entries, trees] =
                [entries, trees].map(|all| all.iter().map(|path| base.join(path)).collect::<Vec<_>>());
            let mut all = all_but(&base.join("home"), &entries, &trees);
            all.sort();
            let names = all.iter().map(|path| path.strip_prefix(&base).unwrap().to_string_lossy().into_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(hidden(&["elsewhere"], &[]), ["home"]);
        assert_eq!(hidden(&[], &["home/w"]), ["home/private", "home/x"]);
        assert_eq!(hidden(&["home/private/n"], &["home/w"]), ["home/private/deep", "home/x"]);
        assert_eq!(hidden(&[], &["home"]), [""; 0]);
        assert_eq!(hidden(&["home"], &[]), ["home/private", "home/w", "home/x"]);
        std::os::unix::fs::symlink("home/private", base.join("Link")).unwrap();
        assert_eq!(spelled(&base.join("HOME/Private")), [base.join("home/private")]);
        assert_eq!(spelled(&base.join("link/n")), [base.join("home/private/n")]);
        assert!(spelled(&base.join("home/none")).is_empty());
    }
}
