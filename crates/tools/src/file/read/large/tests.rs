//! A large file must read as a small one does, as far as it says the same things.

use std::fs::File;

use super::*;
use crate::file::read::args::Window;

fn shown(bytes: &[u8], offset: i64, limit: i64) -> Result<String, String> {
    let file = tempfile::tempfile().expect("a file");
    file.write_all_at(bytes, 0).expect("written");
    show(&file, bytes.len() as u64, offset, limit)
}

fn show(file: &File, size: u64, offset: i64, limit: i64) -> Result<String, String> {
    let window = Window::new(Some(offset), Some(limit)).expect("a window");
    match page(file, size, window, 0, &mut Marks::default(), &|| false) {
        Ok(page) => Ok(page.text),
        Err(NoPage::Refused(refused)) => Err(refused.to_string()),
        Err(NoPage::NotText(not_text)) => Err(not_text.to_string()),
    }
}

/// 30,000 lines of different length.
fn lines() -> String {
    (1..=30_000).map(|n| format!("voilà la ligne {n}, très {}!\n", "é".repeat(n % 7))).collect()
}

fn in_encoding(text: &str, encoding: &str) -> Vec<u8> {
    match encoding {
        "UTF-16LE" => "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect(),
        "UTF-32LE" => "\u{feff}".chars().chain(text.chars()).flat_map(|c| u32::from(c).to_le_bytes()).collect(),
        "windows-1252" => text.chars().map(|c| c as u8).collect(),
        "CRLF" => text.replace('\n', "\r\n").into_bytes(),
        "CR" => text.replace('\n', "\r").into_bytes(),
        _ => text.as_bytes().to_vec(),
    }
}

#[test]
fn any_window_of_any_encoding_is_found() {
    for encoding in ["UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "windows-1252", "CRLF", "CR"] {
        let bytes = in_encoding(&lines(), encoding);
        for first in [1, 2, 1_000, 12_345, 29_999, 30_000] {
            let text = shown(&bytes, first, 2).expect("it is there");
            let expected = format!("{first:>6}\tvoilà la ligne {first}, très {}!", "é".repeat(first as usize % 7));
            assert_eq!(text.lines().next(), Some(expected.as_str()), "{encoding}");
        }
        for back in [1, 2, 1_000, 12_345, 29_999] {
            let text = shown(&bytes, -back, 2).expect("it is there");
            let number = 30_001 - back;
            let expected = format!("{:>6}\tvoilà la ligne {number}, très {}!", -back, "é".repeat(number as usize % 7));
            assert_eq!(text.lines().next(), Some(expected.as_str()), "{encoding}");
        }
        for back in [30_000, 30_001, 1 << 40] {
            let text = shown(&bytes, -back, 1).expect("it is there");
            assert!(text.starts_with("     1\tvoilà la ligne 1, très é!\n") || back == 30_000, "{encoding}: {text}");
        }
        let note = shown(&bytes, 1, 1).expect("it is there");
        assert_eq!(note.contains(encoding), encoding != "UTF-8", "{note}");
    }
}

#[test]
fn a_file_that_is_not_too_large_is_counted() {
    let bytes = lines();
    let file = tempfile::tempfile().expect("a file");
    file.write_all_at(bytes.as_bytes(), 0).expect("written");
    let shown = |offset, limit| {
        let window = Window::new(Some(offset), Some(limit)).expect("a window");
        page(&file, bytes.len() as u64, window, COUNTED_BYTES, &mut Marks::default(), &|| false).map(|page| page.text)
    };
    let text = shown(-2, 9).expect("there");
    assert!(text.starts_with(" 29999\tvoil") && text.ends_with("\n[lines 29,999–30,000 of 30,000]"), "{text}");
    let text = shown(1, 1).expect("there");
    assert!(text.ends_with("\n[line 1 of 30,000; go on with offset=2]"), "{text}");
    assert!(shown(30_001, 1).is_err());
}

#[test]
fn going_on_from_line_to_line_reads_everything_once() {
    let text: String = (1..=5_000).map(|n| format!("{n} {}\n", "x".repeat(n % 2_500))).collect();
    let (mut next, mut seen) = (1, 0);
    loop {
        let page = shown(text.as_bytes(), next, 700).expect("it is there");
        seen += page.lines().filter(|line| !line.starts_with('[')).count();
        match page.split("go on with offset=").nth(1) {
            Some(rest) => next = rest.split([',', ']']).next().and_then(|n| n.parse().ok()).expect("a number"),
            None => break,
        }
    }
    assert_eq!(seen, 5_000);
}

#[test]
fn beyond_the_end_the_total_is_known() {
    assert!(shown(lines().as_bytes(), 30_001, 1).expect_err("beyond").contains("has 30,000 lines"));
    assert!(shown(b"a\nb", 3, 1).expect_err("beyond").contains("has 2 lines"));
    assert!(shown(b"a\nb\n", 9, 1).expect_err("beyond").contains("has 2 lines"));
    assert!(shown(b"a\nb", 2, 1).expect("there").starts_with("     2\tb"));
}

#[test]
fn a_line_without_end_is_given_up_on() {
    let mut bytes = b"first\n".to_vec();
    bytes.resize(20 << 20, b'x');
    let text = shown(&bytes, 1, 10).expect("there");
    assert!(text.starts_with("     1\tfirst\n     2\txxx"), "{}", &text[..30]);
    assert!(text.contains("x… [+ more than 8.4 MB]\n[line 2 of 2]") || text.contains("too long"), "{}", &text[2_000..]);
}

#[test]
fn nothing_but_nuls_is_no_text_from_either_end() {
    for offset in [1, 5, -1, -2] {
        let refused = shown(&vec![0; 1 << 20], offset, 5).expect_err("there is nothing");
        assert!(refused.contains("a NUL byte at offset 0"), "{offset}: {refused}");
    }
}

#[test]
fn the_end_of_a_line_without_beginning_is_shown() {
    let file = tempfile::tempfile().expect("a file");
    let size = 200 << 20;
    file.write_all_at(b"head head\n", 0).expect("written");
    file.set_len(size).expect("grown");
    file.write_all_at(b"the very end", size - 12).expect("written");
    let text = show(&file, size, -5, 5);
    // A head of text and NULs: not text, said by the decoder; so is a file of NULs alone.
    assert!(text.is_err(), "{text:?}");
    let body = vec![b'y'; 70 << 20];
    let text = shown(&body, -5, 5).expect("there");
    assert!(
        text.starts_with("    -1\tyyy")
            && text.ends_with("yyy\n[only the end of the last line, which is longer than 67.1 MB]")
    );
    assert!(text.len() < 3_000);
}

#[test]
fn lines_far_before_the_end_are_those_that_were_asked_for() {
    let (lines, line) = (BACK_BYTES * 5 / 4 / 64, "x".repeat(53));
    let text: String = (1..=lines).map(|n| format!("{n:>9} {line}\n")).collect();
    let file = tempfile::tempfile().expect("a file");
    file.write_all_at(text.as_bytes(), 0).expect("written");
    for back in [lines - 1, lines * 9 / 10] {
        let shown = show(&file, text.len() as u64, -(back as i64), 1).expect("it is there");
        let wanted = format!("{:>6}\t{:>9} {line}\n", -(back as i64), lines + 1 - back);
        assert!(shown.starts_with(&wanted) && !shown.contains("longer than"), "{shown}");
    }
}

#[test]
fn a_legacy_page_far_down_is_still_found() {
    let mut bytes = "plain ascii line\n".repeat(100_000).into_bytes();
    bytes.extend(b"d\xe9j\xe0 vu, na\xefve caf\xe9, tr\xe8s bien\n".repeat(50));
    let text = shown(&bytes, -3, 3).expect("there");
    assert!(text.starts_with("    -3\tdéjà vu, naïve café, très bien\n"), "{text}");
    assert!(text.ends_with("[windows-1252]"), "{text}");
}

#[test]
fn a_character_is_not_split_by_the_sample() {
    for shift in 0..4 {
        let mut bytes = "x".repeat(SNIFFED - shift).into_bytes();
        bytes.extend("\u{1f600}\n".repeat(10).bytes());
        assert!(shown(&bytes, -1, 1).expect("there").contains('\u{1f600}'), "{shift}");
    }
    assert_eq!(unfinished("aé".as_bytes()), 0);
    assert_eq!(unfinished(&"aé".as_bytes()[..2]), 1);
    assert_eq!(unfinished(&"a\u{1f600}".as_bytes()[..4]), 3);
}

#[test]
fn estimates_do_not_look_exact() {
    assert_eq!([0, 7, 42, 123, 61_234_567].map(rounded), [0, 7, 42, 120, 61_000_000]);
}

/// How many blocks of a file are read for a page, by what was marked before.
fn blocks(file: &File, size: u64, first: i64, counted_bytes: u64, marks: &mut Marks) -> (String, u64) {
    let window = Window::new(Some(first), Some(10)).expect("a window");
    let read = std::cell::Cell::new(0);
    // It is asked before each block whether anybody still waits.
    let stopped = || {
        read.set(read.get() + 1);
        false
    };
    let Ok(page) = page(file, size, window, counted_bytes, marks, &stopped) else { panic!("line {first} is there") };
    (page.text, read.get())
}

#[test]
fn what_precedes_a_line_is_counted_once() {
    // 16 MB: 62 blocks.
    let text = "a line of forty bytes, with its line end\n".repeat(400_000);
    for encoding in ["UTF-8", "UTF-16LE"] {
        let bytes = in_encoding(&text, encoding);
        let (file, size) = (tempfile::tempfile().expect("a file"), bytes.len() as u64);
        file.write_all_at(&bytes, 0).expect("written");
        let whole = size / BLOCK as u64;
        // Far in, the next page, the one before, and the middle: the first counts, the others count what lies near.
        let mut marks = Marks::default();
        let (_, first) = blocks(&file, size, 360_000, 0, &mut marks);
        assert!(first > whole * 8 / 10, "{first} of {whole} blocks");
        for line in [360_010, 359_990, 180_000, 1, 12_345] {
            let (again, near) = blocks(&file, size, line, 0, &mut marks);
            assert!(near <= 8, "line {line}: {near} blocks");
            assert_eq!(again, blocks(&file, size, line, 0, &mut Marks::default()).0, "line {line} of {encoding}");
        }
        // Further in, counting goes on where it ended.
        let (_, rest) = blocks(&file, size, 396_000, 0, &mut marks);
        assert!(rest <= whole / 10 + 8, "{rest} blocks");
        // Where the total is wanted, it is counted once, too.
        let (known, _) = blocks(&file, size, 5, u64::MAX, &mut marks);
        assert!(known.contains("of 400,000"), "{known}");
        assert!(blocks(&file, size, 399_600, u64::MAX, &mut marks).1 <= 8);
    }
}
