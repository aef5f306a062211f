//! One fuzz input through our own readers of patterns: globs, ignore files, and what we read off a regular expression.
//! Each has a model in the crates that ripgrep is made of; where the two differ it panics. A plain function, so that
//! tests and campaigns in xtask can drive it.

use std::path::Path;

use grep_matcher::{LineMatchKind, Matcher};

use crate::ignores::{IgnoreFile, Said};
use crate::matcher::{Reading, compile};
use crate::pattern::Pattern;

/// Runs one input. Panics when something that must hold does not.
pub fn fuzz_one(data: &[u8]) {
    let mut input = Input { data };
    match input.byte() % 8 {
        0..=3 => glob(&mut input),
        4..=6 => ignore_file(&mut input),
        _ => regex(&mut input),
    }
}

/// Reads a fuzz input front to back; zeros when it is used up.
struct Input<'a> {
    data: &'a [u8],
}

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.data.split_first() else { return 0 };
        self.data = rest;
        *first
    }

    fn pieces(&mut self, pieces: &[&str], most: u8) -> String {
        let count = self.byte() % (most + 1);
        (0..count).map(|_| pieces[usize::from(self.byte()) % pieces.len()]).collect()
    }
}

/// What globs and ignore rules are made of.
const GLOBS: &[&str] = &[
    "a",
    "b",
    "c",
    ".",
    ".c",
    "é",
    "-",
    "_",
    " ",
    "#",
    "!",
    "*",
    "*",
    "**",
    "**/",
    "/**",
    "/",
    "/",
    "?",
    "[a-c]",
    "[!a]",
    "[^b]",
    "[a",
    "]",
    "[]",
    "[]a]",
    "[-a]",
    "[a-]",
    "[c-a]",
    "[/]",
    "[é]",
    "{",
    "}",
    ",",
    "{a,b}",
    "{a,b/c}",
    "{*.a,b*}",
    "{,a}",
    "{a,{b,c}}",
    "\\",
    "\\*",
    "\\[",
    "\\!",
    "\\ ",
];

/// What paths are made of.
const PATHS: &[&str] =
    &["a", "b", "c", "aa", "ab", ".c", "é", "-", "_", " ", "#", "!", "*", "[", "{", ",", "/", "/", "/"];

/// A path as a walk has it; others are never asked about.
fn path(input: &mut Input<'_>) -> Option<String> {
    let path = input.pieces(PATHS, 9);
    let walked = !path.is_empty() && path.split('/').all(|part| !["", ".", ".."].contains(&part));
    walked.then_some(path)
}

fn name_at(path: &str) -> usize {
    path.rfind('/').map_or(0, |slash| slash + 1)
}

/// A glob means what `globset` makes of it.
fn glob(input: &mut Input<'_>) {
    let lenient = input.byte().is_multiple_of(2);
    let glob = input.pieces(GLOBS, 9);
    let parsed = globset::GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(true)
        .allow_unclosed_class(lenient)
        .build();
    let ours = Pattern::new(&glob, lenient);
    assert_eq!(ours.is_ok(), parsed.is_ok(), "{glob:?}");
    let (Ok(ours), Ok(parsed)) = (ours, parsed) else { return };
    let theirs = parsed.compile_matcher();
    for _ in 0..4 {
        let Some(path) = path(input) else { continue };
        let wanted = theirs.is_match(&path);
        assert_eq!(ours.matches(path.as_bytes(), name_at(&path)), wanted, "{glob:?} on {path:?}");
        if wanted {
            for (at, _) in path.match_indices('/') {
                assert!(ours.may_match_below(&path.as_bytes()[..at]), "{glob:?} below {:?}", &path[..at]);
            }
        }
    }
}

/// An ignore file says what the `ignore` crate says.
fn ignore_file(input: &mut Input<'_>) {
    let lines: Vec<String> = (0..input.byte() % 12).map(|_| input.pieces(GLOBS, 6)).collect();
    let ours = IgnoreFile::new(".gitignore".into(), lines.join("\n").as_bytes());
    let mut builder = ignore::gitignore::GitignoreBuilder::new("");
    for line in &lines {
        // What is malformed is passed over, by them and by us.
        let _ = builder.add_line(None, line);
    }
    if let Ok(theirs) = builder.build() {
        for _ in 0..4 {
            let is_dir = input.byte().is_multiple_of(2);
            let Some(path) = path(input) else { continue };
            let wanted = match theirs.matched(Path::new(&path), is_dir) {
                ignore::Match::None => Said::Nothing,
                ignore::Match::Ignore(_) => Said::Ignore,
                ignore::Match::Whitelist(_) => Said::Keep,
            };
            assert_eq!(ours.says(path.as_bytes(), name_at(&path), is_dir), wanted, "{lines:?} on {path:?}");
        }
    }
    // Bytes that are no text at all.
    let _ = IgnoreFile::new(".gitignore".into(), input.data);
}

const REGEXES: &[&str] = &[
    "a",
    "b",
    "é",
    "[a-c]",
    "[0-9]",
    "\\d",
    "\\w",
    "[^a]",
    "[A-Z]",
    "[a-zA-Z0-9_]",
    ".",
    "{2}",
    "{1,3}",
    "{2,}",
    "+",
    "*",
    "?",
    "(",
    ")",
    "(?:",
    "(?i)",
    "|",
    "^",
    "$",
    "\\b",
    "\\n",
    "\\",
    "[",
    "{",
    "\\x00",
    "\\pL",
    " ",
];

const TEXTS: &[&str] =
    &["a", "b", "c", "A", "Z", "x", "0", "4", "9", "é", "٣", "_", " ", "\n", "\n", "\r\n", "abc", "0123"];

/// A pattern is compiled or refused in words; no line that matches is passed over.
fn regex(input: &mut Input<'_>) {
    let reading = Reading {
        literal: input.byte().is_multiple_of(8),
        ignore_case: input.byte().is_multiple_of(4),
        multiline: input.byte().is_multiple_of(8),
    };
    let pattern = input.pieces(REGEXES, 8);
    let quick = match compile(&pattern, reading) {
        Ok(quick) => quick,
        Err(refused) => return assert!(!refused.to_string().is_empty(), "{pattern:?}"),
    };
    let text = input.pieces(TEXTS, 40);
    let line_of = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
    let Ok(Some(first)) = quick.find(text.as_bytes()) else { return };
    // Over several lines the searcher asks the pattern itself.
    if reading.multiline {
        return;
    }
    let at = quick.find_candidate_line(text.as_bytes()).ok().flatten().map(|line| match line {
        LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => at,
    });
    let candidate = at.unwrap_or_else(|| panic!("{pattern:?} passes over {text:?}"));
    assert!(line_of(candidate) <= line_of(first.start()), "{pattern:?} passes over {text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_ignore_files_and_patterns_mean_what_ripgreps_crates_say() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..1_500 {
            let data: Vec<u8> = (0..120)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    (state >> 24) as u8
                })
                .collect();
            fuzz_one(&data);
        }
    }
}
