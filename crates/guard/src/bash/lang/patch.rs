//! Which files a patch names: the headers that git and `patch` read, each name as it is written there.
//!
//! What a patch does to a file is not read. A line of its content that looks like a header names a file too many, which
//! does no harm to whoever only asks for more.

use std::collections::BTreeSet;

/// How names stand behind the start of a header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// One, to the end of the line, or to the date behind it.
    One,
    /// Two, which may have blanks in them.
    Two,
}

/// Starts of the lines that name files.
const HEADERS: &[(&str, Names)] = &[
    ("--- ", Names::One),
    ("+++ ", Names::One),
    ("*** ", Names::One),
    ("Index: ", Names::One),
    ("rename from ", Names::One),
    ("rename to ", Names::One),
    ("copy from ", Names::One),
    ("copy to ", Names::One),
    ("diff --git ", Names::Two),
];

/// The names of files in `text`, with whatever stands before them there (`a/`, `b/`).
pub fn names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines() {
        // `patch` takes a patch that a mail has indented, and one that was signed.
        let line = line.trim_start_matches([' ', '\t', 'X']);
        let line = line.strip_prefix("- ").unwrap_or(line).trim_end();
        for (start, kind) in HEADERS {
            let Some(rest) = line.strip_prefix(start) else { continue };
            match kind {
                Names::One => one(rest.trim_start(), &mut found),
                Names::Two => two(rest.trim_start(), &mut found),
            }
        }
    }
    found.retain(|name| !name.is_empty() && name != "/dev/null");
    found
}

/// A name with a date behind it ends at a tab, or at a blank: which, depends on who reads it.
fn one(rest: &str, found: &mut BTreeSet<String>) {
    if let Some((name, _)) = quoted(rest) {
        found.insert(name);
        return;
    }
    found.extend(rest.split('\t').next().map(|name| name.trim_end().to_owned()));
    found.extend(rest.split_whitespace().next().map(str::to_owned));
}

/// `a/x b/x`. Without quotes, names with blanks are the same behind their first part.
fn two(rest: &str, found: &mut BTreeSet<String>) {
    if let Some((name, behind)) = quoted(rest) {
        found.insert(name);
        return one(behind.trim_start(), found);
    }
    if let Some((name, behind)) = rest.split_once(" \"") {
        found.insert(name.to_owned());
        found.extend(quoted(&format!("\"{behind}")).map(|(name, _)| name));
        return;
    }
    let below = |name: &str| name.split_once('/').map_or(name.to_owned(), |(_, below)| below.to_owned());
    let cuts =
        rest.match_indices(' ').map(|(at, _)| rest.split_at(at)).map(|(first, second)| (first, second.trim_start()));
    let same = cuts.clone().find(|(first, second)| below(first) == below(second));
    if let Some((first, second)) = same.or_else(|| cuts.clone().next()) {
        found.extend([first.to_owned(), second.to_owned()]);
    }
}

/// A name in quotes, in which backslashes mean what they mean in C, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut letters = body.bytes().enumerate().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            b'"' => return Some((String::from_utf8_lossy(&bytes).into_owned(), body.get(at + 1..)?)),
            b'\\' => match letters.next()?.1 {
                first @ b'0'..=b'7' => {
                    let mut value = u32::from(first - b'0');
                    for _ in 0..2 {
                        let digit = letters.next_if(|(_, digit)| matches!(digit, b'0'..=b'7'));
                        value = digit.map_or(value, |(_, digit)| value * 8 + u32::from(digit - b'0'));
                    }
                    bytes.push((value & 0xff) as u8);
                }
                b'a' => bytes.push(7),
                b'b' => bytes.push(8),
                b't' => bytes.push(b'\t'),
                b'n' => bytes.push(b'\n'),
                b'v' => bytes.push(11),
                b'f' => bytes.push(12),
                b'r' => bytes.push(b'\r'),
                other => bytes.push(other),
            },
            other => bytes.push(other),
        }
    }
    None
}

/// Of a name with more parts, so many of the longest and of the shortest ways to read it.
const ENDS: usize = 16;

/// What is left of a name, where `strip` parts are taken away in front. Names of what was renamed have one part less, so
/// that counts as well. Where the number is not known, any may be.
pub fn stripped(name: &str, strip: Option<usize>) -> Vec<&str> {
    let mut left = vec![name];
    let mut rest = name;
    while let Some((_, behind)) = rest.split_once('/') {
        rest = behind.trim_start_matches('/');
        left.push(rest);
    }
    // Nobody has more directories in directories; each way to read the name is looked at.
    if strip.is_none() && left.len() > 2 * ENDS {
        left.drain(ENDS..left.len() - ENDS);
    }
    let counts = |at: usize| strip.is_none_or(|strip| at == strip || at + 1 == strip);
    let kept = left.into_iter().enumerate().filter(|(at, left)| counts(*at) && !left.is_empty());
    kept.map(|(_, left)| left).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        names(text).into_iter().collect()
    }

    #[test]
    fn every_header_names_its_files() {
        for (text, expected) in [
            ("--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n", vec!["a/x.rs", "b/x.rs"]),
            ("--- /dev/null\n+++ b/new\n", vec!["b/new"]),
            ("--- old.c\t2024-01-01 00:00:00\n+++ new.c\t2024-01-02\n", vec!["new.c", "old.c"]),
            ("*** a/x.c\t2024\n--- b/x.c\t2024\n", vec!["a/x.c", "b/x.c"]),
            ("Index: src/x\n=====\n", vec!["src/x"]),
            ("diff --git a/x b/x\nnew file mode 100755\n", vec!["a/x", "b/x"]),
            ("diff --git a/x y b/x y\n", vec!["a/x y", "b/x y"]),
            ("diff --git \"a/x\\ty\" b/z\n", vec!["a/x\ty", "b/z"]),
            ("diff --git a/z \"b/\\303\\244\"\n", vec!["a/z", "b/ä"]),
            ("rename from x\nrename to y z\n", vec!["x", "y", "y z"]),
            ("copy from x\r\ncopy to y\r\n", vec!["x", "y"]),
            ("  --- a/x\n  +++ b/x\n", vec!["a/x", "b/x"]),
            ("- --- a/x\n+++ \"b/x \\\"y\\\"\"\n", vec!["a/x", "b/x \"y\""]),
            ("-a\n+b\n context\n---\n", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn parts_are_taken_away_in_front() {
        assert_eq!(stripped("a/b/c", Some(1)), ["a/b/c", "b/c"]);
        assert_eq!(stripped("a/b/c", Some(0)), ["a/b/c"]);
        assert_eq!(stripped("a/b/c", Some(2)), ["b/c", "c"]);
        assert_eq!(stripped("a//b/c", None), ["a//b/c", "b/c", "c"]);
        assert_eq!(stripped("/etc/x", Some(1)), ["/etc/x", "etc/x"]);
        assert_eq!(stripped("x", Some(3)), Vec::<&str>::new());
    }
}
