//! Which lines of a new version are still lines of the old one that somebody marked: what a reader of a part has not
//! seen stays unseen after an edit elsewhere, wherever it then stands.

use std::collections::HashSet;
use std::hash::Hash;

use crate::detect::{Detected, detect};
use crate::linediff::diff;
use crate::lines::Shape;

/// The lines of a file with their endings, in any encoding. What is no text is split at its newlines.
pub fn raw_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let Ok(Detected { encoding, bom }) = detect(bytes) else {
        return bytes.split_inclusive(|byte| *byte == b'\n').collect();
    };
    let lines = Shape::of(bytes, encoding, bom).split(bytes, bom..bytes.len());
    lines.into_iter().filter_map(|line| bytes.get(line)).collect()
}

/// For each of `new`, whether it is one of `old` that is marked. In a block that differs the text decides: a marked line
/// that is still there keeps its mark, also where the block was too long to be compared, and one that was rewritten loses
/// it.
pub fn carried<T: Eq + Hash>(old: &[T], new: &[T], marked: &[bool]) -> Vec<bool> {
    let is_marked = |at: usize| marked.get(at).copied().unwrap_or_default();
    let mut out = Vec::with_capacity(new.len());
    let mut at = 0;
    for block in diff(old, new) {
        out.extend((at..block.old.start).map(is_marked));
        let left: HashSet<&T> = block.old.clone().filter(|at| is_marked(*at)).filter_map(|at| old.get(at)).collect();
        out.extend(new.get(block.new).unwrap_or_default().iter().map(|line| left.contains(line)));
        at = block.old.end;
    }
    out.extend((at..old.len()).map(is_marked));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old lines, new lines, and which of either are marked: with a dot.
    const CASES: &[(&str, &str)] = &[
        ("a b .c .d", "a x b .c .d"),
        ("a b .c .d", "b .c .d"),
        ("a .b .c", "a B .c"),
        (".a .b .c", ".a x .b .c"),
        ("a b", "a b c"),
        (".a", "x .a y"),
        ("", "a"),
        ("a .b", ""),
    ];

    #[test]
    fn marks_go_with_their_lines() {
        for (old, new) in CASES {
            let of = |text: &'static str| {
                text.split_whitespace().map(|line| (line.trim_start_matches('.'), line.starts_with('.'))).unzip()
            };
            let (old_lines, marked): (Vec<&str>, Vec<bool>) = of(old);
            let (new_lines, expected): (Vec<&str>, Vec<bool>) = of(new);
            assert_eq!(carried(&old_lines, &new_lines, &marked), expected, "{old} -> {new}");
        }
    }

    #[test]
    fn a_block_too_long_to_compare_hides_no_mark() {
        let old: Vec<String> = (0..4_000).map(|n| format!("{}", n % 7)).collect();
        let new: Vec<String> = old.iter().map(|line| if line == "3" { "x".into() } else { line.clone() }).collect();
        let marks = carried(&old, &new, &vec![true; old.len()]);
        assert!(marks.iter().zip(&new).all(|(mark, line)| *mark == (line != "x")));
    }

    #[test]
    fn lines_are_those_of_the_encoding() {
        assert_eq!(raw_lines(b"a\r\nb"), [&b"a\r\n"[..], b"b"]);
        assert_eq!(raw_lines(b"\xff\xfea\0\n\0b\0"), [&b"a\0\n\0"[..], b"b\0"]);
        assert_eq!(raw_lines(b"a\rb\r"), [&b"a\r"[..], b"b\r"]);
        assert_eq!(raw_lines(b"\0\x01\n\0"), [&b"\0\x01\n"[..], b"\0"]);
        assert!(raw_lines(b"").is_empty());
    }
}
