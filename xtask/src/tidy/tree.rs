//! What the checks look at: every text file of the repository that is ours, read once.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

use super::clean::clean;

/// Folders that hold nothing of ours.
const SKIPPED: &[&str] = &["target", ".git", ".bench", "node_modules"];
const TEXT: &[&str] = &["rs", "toml", "md", "json", "yaml", "yml", "sh", "run"];

/// The repository.
pub(super) struct Tree {
    pub files: Vec<Text>,
    pub sources: Vec<Source>,
    pub manifests: Vec<Manifest>,
}

/// A text file, by its path from the root.
pub(super) struct Text {
    pub path: String,
    pub text: String,
}

/// A Rust file.
pub(super) struct Source {
    pub path: String,
    /// The folder below `crates/`, or `xtask`.
    pub owner: String,
    /// Below `src/`, and not only compiled for tests.
    pub ships: bool,
    pub lines: Vec<Line>,
}

/// A line, with and without what is not code.
pub(super) struct Line {
    pub text: String,
    pub code: String,
    pub test: bool,
}

/// A `Cargo.toml`.
pub(super) struct Manifest {
    pub path: String,
    pub owner: String,
    pub text: String,
}

/// A row of a manifest: its number, its section, what it names.
pub(super) struct Row<'a> {
    pub line: usize,
    pub section: &'a str,
    pub name: &'a str,
}

impl Tree {
    pub fn read(root: &Path) -> Result<Tree> {
        let mut files = Vec::new();
        gather(root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let tests = test_files(&files);
        let sources = files.iter().filter(|file| file.path.ends_with(".rs")).map(|file| source(file, &tests)).collect();
        let manifests = files
            .iter()
            .filter(|file| file.path.ends_with("Cargo.toml"))
            .map(|file| Manifest { path: file.path.clone(), owner: owner(&file.path), text: file.text.clone() })
            .collect();
        Ok(Tree { files, sources, manifests })
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
    }

    /// Sources that ship.
    pub fn shipped(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| source.ships)
    }
}

impl Source {
    /// The code lines with their numbers, without those that only tests compile.
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().enumerate().filter(|(_, line)| !line.test).map(|(at, line)| (at + 1, line.code.as_str()))
    }
}

impl Manifest {
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut section = "";
        self.text.lines().enumerate().filter_map(move |(at, line)| {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
                return None;
            }
            let name = line.split(['=', '.']).next().unwrap_or_default().trim();
            (!name.is_empty()).then_some(Row { line: at + 1, section, name })
        })
    }

    pub fn has_line(&self, wanted: &str) -> bool {
        self.text.lines().any(|line| line.trim() == wanted)
    }
}

fn gather(root: &Path, below: &str, files: &mut Vec<Text>) -> Result<()> {
    let dir = root.join(below);
    for entry in std::fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                gather(root, &path, files)?;
            }
        } else if TEXT.contains(&name.rsplit('.').next().unwrap_or_default()) || name == "run" {
            // Bytes that are not text are nothing these checks speak of.
            if let Ok(text) = std::fs::read_to_string(entry.path()) {
                files.push(Text { path, text });
            }
        } else if name.starts_with("LICENSE") {
            files.push(Text { path, text: String::new() });
        }
    }
    Ok(())
}

fn owner(path: &str) -> String {
    let mut parts = path.split('/');
    match parts.next() {
        Some("crates") => parts.next().unwrap_or_default().to_owned(),
        Some(first) => first.to_owned(),
        None => String::new(),
    }
}

fn source(file: &Text, tests: &BTreeSet<String>) -> Source {
    let code = clean(&file.text);
    let test = only_for_tests(&code);
    let in_tests = is_test_file(&file.path, tests);
    let lines = file
        .text
        .lines()
        .zip(code.lines().chain(std::iter::repeat("")))
        .enumerate()
        .map(|(at, (text, code))| Line {
            text: text.to_owned(),
            code: code.to_owned(),
            test: in_tests || test.contains(&at),
        })
        .collect();
    let ships = file.path.contains("/src/") && !in_tests && !file.path.starts_with("xtask/");
    Source { path: file.path.clone(), owner: owner(&file.path), ships, lines }
}

fn is_test_file(path: &str, tests: &BTreeSet<String>) -> bool {
    path.contains("/tests/") || tests.iter().any(|test| path == test || path.starts_with(&format!("{}/", stem(test))))
}

fn stem(path: &str) -> &str {
    path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path)
}

/// Files that a `#[cfg(test)] mod NAME;` names.
fn test_files(files: &[Text]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| **line == "#[cfg(test)]") {
            let dir = file.path.rsplit_once('/').map_or("", |(dir, _)| dir);
            let whole = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| file.path.ends_with(&format!("/{name}")));
            let home = if whole { dir } else { stem(&file.path) };
            let mut named = None;
            for line in lines[at + 1..].iter().take(3) {
                if let Some(path) = line.strip_prefix("#[path = \"") {
                    named = Some(format!("{dir}/{}", path.trim_end_matches("\"]")));
                } else if let Some((_, name)) = line.strip_suffix(';').and_then(|line| line.split_once("mod ")) {
                    let both = [format!("{home}/{name}.rs"), format!("{home}/{name}/mod.rs")];
                    found.extend(named.take().map_or(both.to_vec(), |path| vec![path]));
                    break;
                }
            }
        }
    }
    found
}

/// The lines (from 0) of items behind `#[cfg(test)]`.
fn only_for_tests(code: &str) -> BTreeSet<usize> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = BTreeSet::new();
    for (start, _) in lines.iter().enumerate().filter(|(_, line)| line.trim() == "#[cfg(test)]") {
        let mut depth = 0_i64;
        'item: for (at, line) in lines.iter().enumerate().skip(start) {
            found.insert(at);
            for c in line.chars() {
                match c {
                    '{' | '(' | '[' => depth += 1,
                    '}' | ')' | ']' => {
                        depth -= 1;
                        if depth == 0 && c == '}' {
                            break 'item;
                        }
                    }
                    ';' if depth == 0 => break 'item,
                    _ => {}
                }
            }
        }
    }
    found
}
