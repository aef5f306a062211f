//! Ranges, and answers that make no sense.

use super::*;

#[test]
fn ranges_are_read_as_people_write_them() {
    let range = |text| Pages::new(Some(text)).ok().map(|pages| (pages.from, pages.to));
    assert_eq!(range("3"), Some((3, Some(3))));
    assert_eq!(range("1-5"), Some((1, Some(5))));
    assert_eq!(range("1 - 5"), Some((1, Some(5))));
    assert_eq!(range("10-"), Some((10, None)));
    assert_eq!(Pages::new(None).ok(), Some(Pages { from: 1, to: None }));
    for bad in ["", "-", "0", "-5", "3-1", "a-b", "1-2-3", "4294967296"] {
        assert_eq!(range(bad), None, "{bad}");
    }
}

#[test]
fn an_answer_that_lies_is_none() {
    let pages = Pages { from: 1, to: None };
    assert!(text("a", pages, &[]).is_none());
    assert!(text("a", pages, &[Frame::Facts(json!({"pages": 2})), Frame::Bytes(vec![])]).is_none());
    let (text, _) = text(
        "a",
        pages,
        &[Frame::Facts(json!({"pages": 1})), Frame::Facts(json!({"page": 1})), Frame::Bytes(b"\x1b[2J\xff".to_vec())],
    )
    .expect("whole");
    assert!(text.contains("␛[2J\u{fffd}"), "{text}");
}
