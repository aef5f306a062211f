//! Edits carried over outside changes, and three-way merges.

use nika_edit::{MergeError, Overlap, Replace, merge3, plan, rebase};

fn carried(base: &str, old: &str, new: &str, theirs: &str) -> Result<String, Overlap> {
    let made = plan(base.as_bytes(), &Replace { old, new, all: false }).unwrap();
    let moved = rebase(base.as_bytes(), theirs.as_bytes(), &made)?;
    Ok(String::from_utf8(moved.plan.apply(theirs.as_bytes())).unwrap())
}

#[test]
fn changes_elsewhere_are_kept() {
    let base = "a\nb\nc\nd\ne\nf\n";
    for (theirs, after) in [
        (base, "a\nb\nc\nD\ne\nf\n"),
        ("NEW\na\nb\nc\nd\ne\nf\n", "NEW\na\nb\nc\nD\ne\nf\n"),
        ("b\nc\nd\ne\nf\nG\n", "b\nc\nD\ne\nf\nG\n"),
        ("A\nA\nb\nc\nd\ne\nF", "A\nA\nb\nc\nD\ne\nF"),
    ] {
        assert_eq!(carried(base, "d", "D", theirs).unwrap(), after, "{theirs:?}");
    }
    let made = plan(base.as_bytes(), &Replace { old: "d", new: "D", all: false }).unwrap();
    let moved = rebase(base.as_bytes(), b"X\na\nb\nc\nd\ne\nf\n", &made).unwrap();
    assert_eq!((moved.outside[0].base_lines.clone(), moved.outside[0].their_lines.clone()), (1..1, 1..2));
    assert_eq!(moved.plan.spans[0].old_lines, 5..6);
}

#[test]
fn what_touches_is_refused_with_both_sides() {
    let base = "a\nb\nc\nd\ne\n";
    for theirs in ["a\nb\nX\nd\ne\n", "a\nX\nc\nd\ne\n", "a\nb\nc\nX\nd\ne\n", "a\nd\ne\n", "", "z\n"] {
        assert!(matches!(carried(base, "c", "C", theirs), Err(Overlap::Touches(_))), "{theirs:?}");
    }
    let Err(Overlap::Touches(conflict)) = carried(base, "c", "C", "a\nb\nX\nd\ne\n") else { panic!() };
    assert_eq!((conflict.base.as_str(), conflict.theirs.as_str(), conflict.ours.as_str()), ("c", "X", "C"));
    assert_eq!((conflict.base_lines, conflict.their_lines), (3..4, 3..4));
    // Lines of the old text that do not themselves change count, too.
    assert!(carried("a\nb\nc\nd\n", "b\nc", "b\nC", "a\nB\nc\nd\n").is_err());
}

#[test]
fn sides_that_differ_in_line_endings_alone_name_them() {
    // (base, theirs, heading of each as it is shown)
    for (base, theirs, headings) in [
        ("a\nb\n", "a\r\nb\r\n", ["read (LF)", "now (CRLF)"]),
        ("a\r\nb\r\n", "a\nb\n", ["read (CRLF)", "now (LF)"]),
        ("a\nb\n", "a\rb\r", ["read (LF)", "now (CR)"]),
        ("a\nb\n", "a\nb", ["read (LF)", "now (no line ending)"]),
        ("a\nb\n", "a\nB\n", ["read", "now"]),
    ] {
        let said = carried(base, "b", "c", theirs).unwrap_err().to_string();
        let [read, now] = headings;
        assert!(said.contains(&format!("--- as it was {read}\n")), "{said}");
        assert!(said.contains(&format!("--- as it is {now}\n")), "{said}");
    }
}

#[test]
fn never_the_wrong_copy() {
    let block = "start\nx = 1\nend\n";
    let base = format!("head\n{block}mid\n{block}tail\n");
    // Which of the copies was taken away cannot be known.
    for (base, theirs) in [
        ("A\nA\n".to_owned(), "A\n".to_owned()),
        (format!("{block}{block}"), block.to_owned()),
        (block.to_owned(), format!("{block}{block}")),
        (block.to_owned(), format!("{block}other\n{block}")),
    ] {
        let old = if base.starts_with('A') {
            "A\nA"
        } else if base.len() > block.len() {
            "end\nstart"
        } else {
            "x = 1"
        };
        assert!(carried(&base, old, "new", &theirs).is_err(), "{base:?} {theirs:?}");
    }
    // A neighbour that is unique tells the copies apart.
    let theirs = format!("new head\n{base}");
    assert_eq!(
        carried(&base, "mid\nstart\nx = 1", "mid\nstart\nx = 2", &theirs).unwrap(),
        theirs.replace("mid\nstart\nx = 1", "mid\nstart\nx = 2")
    );
}

#[test]
fn an_edit_for_other_bytes_is_refused() {
    let made = plan(b"abc", &Replace { old: "b", new: "x", all: false }).unwrap();
    assert_eq!(rebase(b"abcd", b"abc", &made), Err(Overlap::OtherBase));
    let wide: Vec<u8> = "\u{feff}abc".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(matches!(rebase(b"abc", &wide, &made), Err(Overlap::EncodingChanged { .. })));
    assert!(matches!(rebase(b"abc", b"a\0c", &made), Err(Overlap::NotText(_))));
}

#[test]
fn three_ways() {
    let base = "a\nb\nc\nd\ne\nf\ng\n";
    let merged = |ours: &str, theirs: &str| {
        merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).map(|m| String::from_utf8(m.bytes).unwrap())
    };
    assert_eq!(merged("A\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nG\n").unwrap(), "A\nb\nc\nd\ne\nf\nG\n");
    assert_eq!(merged("a\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nx\ny\nf\ng\nz\n").unwrap(), "a\nc\nd\ne\nx\ny\nf\ng\nz\n");
    assert_eq!(
        merged("X\nb\nc\nd\ne\nf\nQ\n", "X\nb\nc\nD\ne\nf\ng\n").unwrap(),
        "X\nb\nc\nD\ne\nf\nQ\n",
        "the same change once"
    );
    let Err(MergeError::Conflicts(conflicts)) = merged("a\nB\nc\nd\ne\nf\ng\n", "a\nb\nC\nd\ne\nf\ng\n") else {
        panic!()
    };
    assert_eq!((conflicts[0].ours.as_str(), conflicts[0].theirs.as_str()), ("B\nc", "b\nC"));
    assert_eq!(merge3(b"\0", b"\0a", b"\0b"), Err(MergeError::NotText));
    assert_eq!(merge3(b"\0", b"\0a", b"\0").unwrap().bytes, b"\0a");
}
