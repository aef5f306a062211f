//! What a call changed, in the few lines that a person reads in passing: the change itself where it is small, the
//! files with their counts where a build has left a hundred of them.

/// Lines of a change that are shown whole.
const LINES: usize = 24;
/// Files that are named.
const FILES: usize = 6;

/// One file of a diff.
#[derive(Debug, Default)]
struct File<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    added: usize,
    removed: usize,
}

/// A diff, short.
pub fn shown(diff: &str) -> String {
    let files = files(diff);
    let lines: usize = files.iter().map(|file| file.lines.len()).sum();
    let mut out = String::new();
    if let [file] = files.as_slice() {
        for line in file.lines.iter().take(LINES) {
            out.push_str(&format!("{line}\n"));
        }
        if lines > LINES {
            out.push_str(&format!("… {} lines more\n", lines - LINES));
        }
        return out;
    }
    for file in files.iter().take(FILES) {
        out.push_str(&format!("{}  +{} −{}\n", file.name, file.added, file.removed));
    }
    if files.len() > FILES {
        out.push_str(&format!("… {} files more\n", files.len() - FILES));
    }
    out
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
        } else if let Some(binary) = line.strip_prefix("Binary files ") {
            let name =
                binary.split_once(" and ").map_or(binary, |(_, rest)| rest.split(" differ").next().unwrap_or(rest));
            files.push(File { name: name.split_once('/').map_or(name, |(_, name)| name), ..File::default() });
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
        assert!(shown.starts_with("gone  +0 −1\nbin  +0 −0\ntarget/0  +2 −0\n"), "{shown}");
        assert!(shown.ends_with("… 6 files more\n"), "{shown}");
        assert_eq!(super::shown(""), "");
    }
}
