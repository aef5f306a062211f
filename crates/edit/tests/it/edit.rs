//! Edits: what matches, what is refused, which line endings new lines get.

use nika_edit::{EditError, Level, Replace, plan};

fn edit(file: &str, old: &str, new: &str) -> Result<(String, Level), EditError> {
    let made = plan(file.as_bytes(), &Replace { old, new, all: false })?;
    Ok((String::from_utf8(made.apply(file.as_bytes())).unwrap(), made.level))
}

#[track_caller]
fn exact(file: &str, old: &str, new: &str, after: &str) {
    assert_eq!(edit(file, old, new).unwrap(), (after.to_owned(), Level::Exact));
}

#[test]
fn line_breaks_match_the_files_own() {
    // (file, old, new, after)
    for (file, old, new, after) in [
        ("a\nb\n", "a\nb", "x", "x\n"),
        ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x", "x\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\r", "a\nb", "x\ny\nz", "x\ry\rz\r"),
        ("a\rb\r", "a\rb", "x", "x\r"),
        // Mixed: each new line takes the ending of the line in whose place it stands.
        ("a\r\nb\nc\r\n", "a\nb\nc", "x\ny\nz", "x\r\ny\nz\r\n"),
        ("a\r\nb\nc\n", "b", "b1\nb2", "a\r\nb1\nb2\nc\n"),
        ("a\r\nb\nc\n", "a", "a1\na2", "a1\r\na2\r\nb\nc\n"),
        // The last line has none: the line before says.
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("b", "b", "b\nc", "b\nc"),
        ("\u{feff}a\r\nb", "a", "x", "\u{feff}x\r\nb"),
        ("\u{feff}a\r\nb", "\u{feff}a", "\u{feff}x\n", "\u{feff}x\r\n\r\nb"),
        // A CR alone is a character where lines end with LF.
        ("a\rb\nc\n", "\r", "-", "a-b\nc\n"),
        ("a\r\r\nb", "a\r\nb", "x", "a\r\r\nb"),
    ] {
        match edit(file, old, new) {
            Ok((found, Level::Exact)) => assert_eq!(found, after, "{file:?} {old:?} → {new:?}"),
            Ok((_, level)) => panic!("{file:?}: {level:?}"),
            Err(_) => assert_eq!(file, after, "{file:?} {old:?} refused"),
        }
    }
}

#[test]
fn asking_for_crlf_picks_the_place_that_has_it() {
    exact("a\nb\n--\r\na\r\nb\r\n", "a\r\nb", "x", "a\nb\n--\r\nx\r\n");
    assert!(matches!(edit("a\nb\n--\r\na\r\nb\r\n", "a\nb", "x"), Err(EditError::NotUnique { count: 2, .. })));
}

#[test]
fn unchanged_lines_inside_the_old_text_keep_their_bytes() {
    exact("a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nNEW\nc\nd", "a\r\nb\nNEW\nc\r\nd\n");
    let file = b"one\ntwo\nthree\n";
    let made = plan(file, &Replace { old: "one\ntwo\nthree", new: "one\n2\nthree", all: false }).unwrap();
    assert_eq!((made.spans[0].old.clone(), made.spans[0].with.as_slice()), (4..7, &b"2"[..]));
    assert_eq!((made.spans[0].matched.clone(), made.spans[0].old_lines.clone()), (0..13, 2..3));
}

#[test]
fn blanks_at_line_ends_are_the_only_looseness() {
    for (file, old, new, after) in [
        ("a  \nb\nc\n", "a\nb", "x\ny", Some("x\ny\nc\n")),
        ("a\nb\t\nc\n", "a  \nb\nc", "a  \nB\nc", Some("a\nB\nc\n")),
        ("keep  \nb\n", "keep\nb\n", "keep\nc\n", Some("keep  \nc\n")),
        ("a\t\r\nb\r\n", "a\nb", "x\ny", Some("x\r\ny\r\n")),
        ("if x:\n    y\nz\n", "if x: \n    y", "if z:\n    y", Some("if z:\n    y\nz\n")),
        ("foo(1)\n", "foo(1)  ", "foo(2)", Some("foo(2)\n")),
        // Blanks in front, or in the middle of a line, are not line ends.
        ("  a\n  b\n", "a\nb", "x", None),
        ("a b\n", "a  b", "x", None),
        ("foo(1) + 2\n", "foo(1)  ", "x", None),
        // Twice is not unique.
        ("a \nb\na \nb\n", "a\nb", "x", None),
    ] {
        match (edit(file, old, new), after) {
            (Ok(found), Some(after)) => {
                assert_eq!(found, (after.to_owned(), Level::TrailingBlanks), "{file:?} {old:?}")
            }
            (Err(_), None) => {}
            (found, _) => panic!("{file:?} {old:?}: {found:?}"),
        }
    }
}

#[test]
fn a_loose_match_is_never_applied_to_many() {
    let file = b"a \nb\na \nb\n";
    let refused = plan(file, &Replace { old: "a\nb", new: "x", all: true }).unwrap_err();
    assert_eq!(refused, EditError::NotUnique { count: 2, lines: vec![1, 3], level: Level::TrailingBlanks });
    assert_eq!(
        refused.to_string(),
        "old_string occurs 2 times when blanks at line ends are ignored, and never exactly (lines 1, 3); send the blanks \
         as they stand in the file, or add surrounding lines to make it unique"
    );
}

#[test]
fn occurrences_are_counted_left_to_right_without_overlap() {
    let made = plan(b"aaaaa", &Replace { old: "aa", new: "b", all: true }).unwrap();
    assert_eq!((made.count, made.apply(b"aaaaa")), (2, b"bba".to_vec()));
    let refused = edit("x\nfoo\ny\nfoo\n", "foo", "bar").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "old_string occurs 2 times (lines 2, 4); add surrounding lines to make it unique, or set replace_all"
    );
    let many = "foo\n".repeat(30);
    let Err(EditError::NotUnique { count: 30, lines, .. }) = edit(&many, "foo", "bar") else { panic!() };
    assert_eq!(lines, (1..=10).collect::<Vec<_>>());
}

#[test]
fn occurrences_that_overlap_are_two() {
    let utf16 = |text: &str| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let jis = |text: &str| encoding_rs::ISO_2022_JP.encode(text).0.into_owned();
    // (file, old, lines where it starts)
    for (file, old, lines) in [
        (b"ababa".to_vec(), "aba", vec![1, 1]),
        (b"}\n}\n}\n".to_vec(), "}\n}\n", vec![1, 2]),
        (b"}\r\n}\n}\r\n".to_vec(), "}\n}\n", vec![1, 2]),
        (b"x\naaaaa".to_vec(), "aaa", vec![2, 2, 2]),
        (utf16("ababa"), "aba", vec![1, 1]),
        (jis("日本\n日本\n日本\n"), "日本\n日本", vec![1, 2]),
        // Blanks at line ends differ.
        (b"} \n} \n} \n".to_vec(), "}\n}", vec![1, 2]),
        (b"a \na \na".to_vec(), "a\na  ", vec![1, 2]),
    ] {
        match plan(&file, &Replace { old, new: "-", all: false }) {
            Err(EditError::NotUnique { count, lines: found, .. }) => assert_eq!((count, found), (lines.len(), lines)),
            other => panic!("{old:?}: {other:?}"),
        }
    }
    let made = plan(b"ababababa", &Replace { old: "aba", new: "-", all: true }).unwrap();
    assert_eq!(made.apply(b"ababababa"), b"-b-ba");
    // Nothing that a hostile file can make long.
    let start = std::time::Instant::now();
    let (file, old) = ("a".repeat(1_500_000), "a".repeat(1_000_000));
    assert!(matches!(edit(&file, &old, "b"), Err(EditError::NotUnique { .. })));
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn replacing_all_counts_lines_on_both_sides() {
    let file = b"a\nx\na\nx\n";
    let made = plan(file, &Replace { old: "a\n", new: "a\nb\n", all: true }).unwrap();
    let lines: Vec<_> = made.spans.iter().map(|s| (s.old_lines.clone(), s.new_lines.clone())).collect();
    assert_eq!(lines, [(2..2, 2..3), (4..4, 5..6)]);
}

#[test]
fn what_changes_nothing_is_refused_with_the_reason() {
    assert_eq!(edit("a", "", "x").unwrap_err(), EditError::EmptyOld);
    assert_eq!(edit("a", "a", "a").unwrap_err(), EditError::SameText);
    assert_eq!(edit("a\r\nb", "a\r\nb", "a\nb").unwrap_err(), EditError::NoChange);
    assert_eq!(edit("", "a", "b").unwrap_err(), EditError::EmptyFile);
    assert_eq!(edit("\u{feff}", "a", "b").unwrap_err(), EditError::EmptyFile);
    assert!(matches!(edit("a\0b", "a", "b"), Err(EditError::NotText(_))));
}

#[test]
fn plans_applied_to_other_bytes_do_not_panic() {
    let made = plan(b"hello world", &Replace { old: "world", new: "you", all: false }).unwrap();
    assert!(!made.fits(b"hi"));
    let _ = (made.apply(b"hi"), made.diff(b"hi", "f"), made.inverse(b"hi"));
}
