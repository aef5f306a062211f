//! Unified diffs.

use expect_test::expect;
use nika_edit::{Limits, Replace, plan, unified};

#[test]
fn a_plan_is_shown_as_hunks() {
    let file = (1..=30).map(|n| format!("line {n}\n")).collect::<String>() + "end";
    let made = plan(file.as_bytes(), &Replace { old: "line 5\n", new: "line five\nand more\n", all: false }).unwrap();
    expect![[r#"
        --- a/f.txt
        +++ b/f.txt
        @@ -2,7 +2,8 @@
         line 2
         line 3
         line 4
        -line 5
        +line five
        +and more
         line 6
         line 7
         line 8
    "#]]
    .assert_eq(&made.diff(file.as_bytes(), "f.txt"));
    let made = plan(file.as_bytes(), &Replace { old: "end", new: "END\n", all: false }).unwrap();
    expect![[r#"
        --- a/f.txt
        +++ b/f.txt
        @@ -28,4 +28,4 @@
         line 28
         line 29
         line 30
        -end
        \ No newline at end of file
        +END
    "#]]
    .assert_eq(&made.diff(file.as_bytes(), "f.txt"));
}

#[test]
fn spans_agree_with_a_diff_of_the_whole() {
    let file = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\na\nm\r\nn\na\n";
    for (old, new) in [("a", "x"), ("a\n", ""), ("a", "a\nz"), ("\na", "\n\na"), ("e\nf\ng", "g\nf")] {
        let made = plan(file.as_bytes(), &Replace { old, new, all: true }).unwrap();
        let after = made.apply(file.as_bytes());
        let whole = unified(Some(file.as_bytes()), Some(&after), "f", &Limits::default());
        // Within one file marks for CRLF may differ: a hunk that has only one kind shows none.
        assert_eq!(made.diff(file.as_bytes(), "f").replace('␍', ""), whole.replace('␍', ""), "{old:?} {new:?}");
    }
}

#[test]
fn versions_of_a_file() {
    let limits = Limits::default();
    assert_eq!(unified(Some(b"a"), Some(b"a"), "f", &limits), "");
    expect![[r#"
        --- /dev/null
        +++ b/f
        @@ -0,0 +1,2 @@
        +a
        +b
    "#]]
    .assert_eq(&unified(None, Some(b"a\nb\n"), "f", &limits));
    expect![[r#"
        --- a/f
        +++ /dev/null
        @@ -1,1 +0,0 @@
        -a
        \ No newline at end of file
    "#]]
    .assert_eq(&unified(Some(b"a"), None, "f", &limits));
    expect![[r#"
        --- a/f
        +++ b/f
        @@ -1,2 +1,2 @@
        -a
        +a␍
         b
    "#]]
    .assert_eq(&unified(Some(b"a\nb\n"), Some(b"a\r\nb\n"), "f", &limits));
    assert_eq!(unified(Some(b"a\0"), Some(b"b"), "f", &limits), "Binary files a/f and b/f differ (2 → 1 bytes)\n");
    let wide: Vec<u8> = "\u{feff}a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    expect![[r#"
        --- a/f
        +++ b/f
        \ Encoding: UTF-16LE → UTF-8
        \ Byte order mark removed
        @@ -1,1 +1,2 @@
         a
        +b
    "#]]
    .assert_eq(&unified(Some(&wide), Some(b"a\nb\n"), "f", &limits));
}

#[test]
fn long_diffs_are_cut_and_counted() {
    let new = "x\n".repeat(100);
    let shown = unified(Some(b""), Some(new.as_bytes()), "f", &Limits { max_lines: 11, ..Limits::default() });
    assert!(shown.ends_with("+x\n… 90 more lines of this diff are not shown\n"), "{shown}");
    let shown =
        unified(Some(b""), Some("é".repeat(900).as_bytes()), "f", &Limits { max_line_chars: 10, ..Limits::default() });
    assert!(shown.contains(&format!("+{}… [+890 chars]\n", "é".repeat(10))), "{shown}");
}
