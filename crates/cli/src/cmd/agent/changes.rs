//! What a call changed, in the few lines that a person reads in passing: the change itself where it is small, the
//! files with their counts where there are several, one line for a folder in which a build has left a hundred of them.

use nika_edit::{BINARY_FILES, NEW_DIRECTORY};

/// Lines of a change that are shown whole.
const LINES: usize = 24;
/// Files that are named.
const FILES: usize = 6;

/// One file of a diff, or a directory that is told as one.
#[derive(Debug, Default)]
struct File<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    added: usize,
    removed: usize,
    /// What no line can show.
    binary: bool,
    /// Of a directory, what it has or had: `90 new files, 5.1 MB`.
    whole: Option<&'a str>,
}

impl File<'_> {
    /// The folder below the root that it lies in, or its own name.
    fn top(&self) -> &str {
        self.name.split('/').next().unwrap_or(self.name)
    }

    /// How many files it stands for.
    fn count(&self) -> usize {
        let Some(whole) = self.whole else { return 1 };
        let words = whole.split(' ').zip(whole.split(' ').skip(1));
        let counted = |(count, of): (&str, &str)| {
            let of = of.trim_end_matches(',');
            matches!(of, "new" | "changed" | "deleted").then(|| count.parse::<usize>().ok()).flatten()
        };
        words.filter_map(counted).sum::<usize>().max(1)
    }

    fn line(&self) -> String {
        match (self.whole, self.binary) {
            (Some(whole), true) => format!("{}  {whole}, binary\n", self.name),
            (Some(whole), false) => format!("{}  {whole}\n", self.name),
            (None, true) => format!("{}  binary\n", self.name),
            (None, false) => format!("{}  {}\n", self.name, counts(self.added, self.removed)),
        }
    }
}

fn counts(added: usize, removed: usize) -> String {
    format!("+{added} −{removed}")
}

/// A diff, short.
pub fn shown(diff: &str) -> String {
    let files = files(diff);
    let lines: usize = files.iter().map(|file| file.lines.len()).sum();
    let mut out = String::new();
    if let [file @ File { whole: None, .. }] = files.as_slice() {
        for line in file.lines.iter().take(LINES) {
            out.push_str(&format!("{line}\n"));
        }
        if lines > LINES {
            out.push_str(&format!("… {} lines more\n", lines - LINES));
        }
        return out;
    }
    let folded = folded(&files);
    let mut said: Vec<String> = Vec::new();
    let mut unsaid = 0;
    let mut told: Vec<&str> = Vec::new();
    for file in &files {
        let top = file.top();
        let is_folded = folded.contains(&top);
        if is_folded && told.contains(&top) {
            continue;
        }
        let of_it = || files.iter().filter(|other| other.top() == top);
        if said.len() >= FILES {
            unsaid += if is_folded { of_it().map(File::count).sum() } else { file.count() };
        } else if is_folded {
            let sum = |count: fn(&File<'_>) -> usize| of_it().map(count).sum::<usize>();
            let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
            let counts = if added + removed == 0 { String::new() } else { format!("  {}", counts(added, removed)) };
            said.push(format!("{top}/  {} files{counts}\n", of_it().map(File::count).sum::<usize>()));
        } else {
            said.push(file.line());
        }
        told.push(top);
    }
    out.extend(said);
    if unsaid > 0 {
        out.push_str(&format!("… {unsaid} files more\n"));
    }
    out
}

/// The folders that get one line: the fullest first, and no more than it takes for all to be said.
fn folded<'a>(files: &'a [File<'a>]) -> Vec<&'a str> {
    let mut sizes: Vec<(&str, usize)> = Vec::new();
    for file in files {
        match sizes.iter_mut().find(|(top, _)| *top == file.top()) {
            Some((_, size)) => *size += 1,
            None => sizes.push((file.top(), 1)),
        }
    }
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let mut lines = files.len();
    let mut folded = Vec::new();
    for (top, size) in sizes.into_iter().filter(|(_, size)| *size > 1) {
        if lines <= FILES {
            break;
        }
        lines -= size - 1;
        folded.push(top);
    }
    folded
}

/// The files of a unified diff, in its order.
fn files(diff: &str) -> Vec<File<'_>> {
    let mut files: Vec<File<'_>> = Vec::new();
    let mut old = None;
    for line in diff.lines() {
        // Only before its first hunk does a file have a header; in a hunk such lines are changes.
        let counts = files.last().map(|file| (file.added, file.removed, file.lines.is_empty()));
        if let Some(name) = line.strip_prefix("--- ") {
            old = Some(name);
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            let name = if name == "/dev/null" { before } else { name };
            files.push(File { name: name.split_once('/').map_or(name, |(_, name)| name), ..File::default() });
        } else if let Some((name, whole)) = line.strip_prefix(NEW_DIRECTORY).and_then(|rest| rest.split_once(": ")) {
            files.push(File { name, whole: Some(whole), ..File::default() });
        } else if let Some(binary) = line.strip_prefix(BINARY_FILES) {
            if let Some((name, whole)) = binary.strip_prefix("below ").and_then(|rest| rest.split_once(": ")) {
                files.push(File { name, binary: true, whole: Some(whole), ..File::default() });
                continue;
            }
            let name =
                binary.split_once(" and ").map_or(binary, |(_, rest)| rest.split(" differ").next().unwrap_or(rest));
            let name = name.split_once('/').map_or(name, |(_, name)| name);
            files.push(File { name, binary: true, ..File::default() });
        } else if let (Some(file), Some((added, removed, _))) = (files.last_mut(), counts) {
            file.added = added + usize::from(line.starts_with('+'));
            file.removed = removed + usize::from(line.starts_with('-'));
            file.lines.push(line);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_shown_and_cut() {
        let diff = format!("--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n{}", "-x\n+y\n".repeat(20));
        let shown = shown(&diff);
        assert!(shown.starts_with("@@ -1 +1 @@\n-x\n+y\n"), "{shown}");
        assert!(shown.ends_with("… 17 lines more\n"), "{shown}");
    }

    #[test]
    fn of_several_files_only_their_counts() {
        let one = |n: usize| format!("--- /dev/null\n+++ b/target/{n}\n@@ -0,0 +1 @@\n+one\n+two\n");
        let mut diff = "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n".to_owned();
        diff.push_str("Binary files /dev/null and b/bin differ (0 → 30 bytes)\n");
        diff.push_str(&(0..10).map(one).collect::<String>());
        let shown = shown(&diff);
        assert_eq!(shown, "gone  +0 −1\nbin  binary\ntarget/  10 files  +20 −0\n");
        assert_eq!(super::shown(""), "");
    }

    #[test]
    fn a_new_directory_is_its_own_line() {
        let made = "New directory target/: 90 new files, 5.1 MB\n";
        assert_eq!(shown(made), "target/  90 new files, 5.1 MB\n");
        let many = "Binary files below target/: 39 new, 2 changed (a, b)\n";
        assert_eq!(shown(many), "target/  39 new, 2 changed (a, b), binary\n");
        let one = |n: usize| format!("--- a/src/{n}\n+++ b/src/{n}\n@@ -1 +1 @@\n-a\n+b\n");
        let some: String = (0..7).map(one).collect();
        let all = format!(
            "{some}New directory src/gen/: 90 new files, 5.1 MB\nBinary files below src/: 3 new, 2 changed (x, y)\n"
        );
        assert_eq!(shown(&all), "src/  102 files  +7 −7\n");
        let both = format!("{made}--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(shown(&both), "target/  90 new files, 5.1 MB\nx  +1 −1\n");
    }

    #[test]
    fn the_fullest_folders_are_told_in_a_line_and_the_others_file_by_file() {
        let one = |name: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+one\n");
        let names = ["src/a.rs", "target/a", "target/b", "src/b.rs", "target/c", "target/d", "target/e"];
        let shown = shown(&names.map(one).concat());
        assert_eq!(shown, "src/a.rs  +1 −0\ntarget/  5 files  +5 −0\nsrc/b.rs  +1 −0\n");
        let apart: String = (0..9).map(|n| one(&format!("{n}"))).collect();
        assert!(super::shown(&apart).ends_with("5  +1 −0\n… 3 files more\n"), "{}", super::shown(&apart));
    }
}
