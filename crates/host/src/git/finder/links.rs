//! The links that a path with wildcards means. Who reads `src/*.c` reads what the links among these lead to.

use std::fs;
use std::path::{Path, PathBuf};

use nika_guard::bash::may_mean;

/// Entries that are looked at for one pattern. Default 100,000, some thirty milliseconds.
const ENTRIES: usize = 100_000;

/// Links below `roots` that the absolute `pattern` may mean, or that lie on its way. None where there is too much to look at.
pub(super) fn meant(roots: &[PathBuf], pattern: &Path) -> Option<Vec<PathBuf>> {
    let is_wild = |part: &str| part.contains(['*', '?', '[']);
    let parts: Vec<&str> = pattern.to_str()?.split('/').skip(1).collect();
    let fixed = parts.iter().take_while(|part| !is_wild(part)).count();
    let base: PathBuf = std::iter::once("/").chain(parts[..fixed].iter().copied()).collect();
    // Outside the roots a pattern is judged by where it begins.
    if !roots.iter().any(|root| base.starts_with(root)) {
        return Some(Vec::new());
    }
    let (mut dirs, mut links, mut left) = (vec![base], Vec::new(), ENTRIES);
    for (at, part) in parts.iter().enumerate().skip(fixed) {
        if *part == "**" {
            // With `globstar` it is any number of directories, and else one.
            with_all_below(&mut dirs, &mut left)?;
        }
        let mut below = Vec::new();
        for dir in dirs {
            let mut step = |path: PathBuf, is_link: bool| {
                // On the way only a directory is meant. What a link leads to is looked at as well: there may be another one.
                let is_dir = !is_link || path.is_dir();
                links.extend((is_link && (is_dir || at + 1 == parts.len())).then(|| path.clone()));
                below.extend(is_dir.then_some(path));
            };
            if !is_wild(part) {
                let path = dir.join(part);
                let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
                step(path, is_link);
                continue;
            }
            let Ok(entries) = fs::read_dir(&dir) else { continue };
            for entry in entries.flatten() {
                left = left.checked_sub(1)?;
                let Ok(kind) = entry.file_type() else { continue };
                let may = |entry: &fs::DirEntry| entry.file_name().to_str().is_none_or(|name| may_mean(part, name));
                if (kind.is_symlink() || kind.is_dir()) && may(&entry) {
                    step(entry.path(), kind.is_symlink());
                }
            }
        }
        dirs = below;
    }
    Some(links)
}

/// Adds to some directories all that are below them, links aside. None where there is too much to look at.
fn with_all_below(dirs: &mut Vec<PathBuf>, left: &mut usize) -> Option<()> {
    let mut at = 0;
    while let Some(dir) = dirs.get(at).cloned() {
        at += 1;
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            *left = left.checked_sub(1)?;
            dirs.extend(entry.file_type().is_ok_and(|kind| kind.is_dir()).then(|| entry.path()));
        }
    }
    Some(())
}
