//! Stories of what verifies and what does not.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::super::write::tests::{fields, journal};
use super::*;

/// A log of 12 lines, and its head.
static SAMPLE: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let log = journal(&state, "s");
    for n in 0..11 {
        log.append("CallBegun", &fields(json!({"call": format!("c{n}"), "text": "é".repeat(n)}))).unwrap();
    }
    (fs::read(state.journal_path("s")).unwrap(), fs::read(state.head_path("s")).unwrap())
});

fn judge(log: &[u8], head: &[u8]) -> Result<Verified, Broken> {
    examine(log, Head::decode(head), "s")
}

fn sample_lines() -> Vec<Vec<u8>> {
    SAMPLE.0.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
}

/// The line, from 1, that holds the byte `at`.
fn line_of(at: usize) -> u64 {
    SAMPLE.0[..at].iter().filter(|&&b| b == b'\n').count() as u64 + 1
}

#[test]
fn the_sample_verifies() {
    let verified = judge(&SAMPLE.0, &SAMPLE.1).unwrap();
    assert_eq!((verified.lines, verified.beyond_head, verified.torn_bytes), (12, false, 0));
}

#[test]
fn every_changed_byte_is_found_in_its_line() {
    let (log, head) = &*SAMPLE;
    for at in 0..log.len() {
        let mut changed = log.clone();
        changed[at] ^= 0x01;
        let broken = judge(&changed, head).expect_err(&format!("byte {at}"));
        assert_eq!(broken.line, Some(line_of(at)), "byte {at}: {}", broken.why);
    }
}

#[test]
fn every_cut_is_found() {
    let (log, head) = &*SAMPLE;
    for end in 0..log.len() {
        assert!(judge(&log[..end], head).is_err(), "{end}");
    }
}

#[test]
fn missing_files() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    assert!(verify(&state, "s").unwrap_err().why.contains("no such journal"));
    fs::write(state.head_path("s"), &SAMPLE.1).unwrap();
    assert!(verify(&state, "s").unwrap_err().why.contains("the log is missing"));
    fs::remove_file(state.head_path("s")).unwrap();
    fs::write(state.journal_path("s"), &SAMPLE.0).unwrap();
    assert!(verify(&state, "s").is_err());
    assert!(verify(&state, "../s").is_err());
}

#[test]
fn another_sessions_log_under_this_name() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    fs::write(state.journal_path("t"), &SAMPLE.0).unwrap();
    fs::write(state.head_path("t"), &SAMPLE.1).unwrap();
    assert_eq!(verify(&state, "t").unwrap_err().line, Some(1));
}

#[test]
fn a_rebuilt_log_does_not_fit_its_head() {
    // Somebody with the rule and the log, but not the head: drops a line and seals the rest anew.
    let mut link = super::super::chain::Link::START;
    let mut forged = Vec::new();
    for line in sample_lines().iter().filter(|line| !line.windows(4).any(|part| part == b"\"c5\"")) {
        let text = String::from_utf8(line.clone()).unwrap();
        let body = text.split_once(",\"prev\":").unwrap().0;
        let body = body.split_once(",\"at\"").unwrap().1;
        let mut sealed = format!("{{\"seq\":{},\"at\"{body}", link.seq + 1).into_bytes();
        let hash = chain::seal(&mut sealed, 0, &link.hash);
        link = super::super::chain::Link { seq: link.seq + 1, hash };
        forged.extend(sealed);
    }
    assert!(judge(&forged, &SAMPLE.1).is_err());
    let head = Head { link, len: forged.len() as u64 };
    assert!(judge(&forged, &head.encode()).is_ok(), "the forgery itself is sound");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_other_byte_is_found(at in 0..SAMPLE.0.len(), byte: u8) {
        prop_assume!(SAMPLE.0[at] != byte);
        let mut changed = SAMPLE.0.clone();
        changed[at] = byte;
        prop_assert_eq!(judge(&changed, &SAMPLE.1).unwrap_err().line, Some(line_of(at)));
    }

    #[test]
    fn a_removed_line_is_found(at in 0_usize..12) {
        let mut lines = sample_lines();
        lines.remove(at);
        prop_assert_eq!(judge(&lines.concat(), &SAMPLE.1).unwrap_err().line, Some(at as u64 + 1));
    }

    #[test]
    fn moved_lines_are_found(a in 0_usize..12, b in 0_usize..12) {
        prop_assume!(a != b);
        let mut lines = sample_lines();
        lines.swap(a, b);
        prop_assert_eq!(judge(&lines.concat(), &SAMPLE.1).unwrap_err().line, Some(a.min(b) as u64 + 1));
    }

    #[test]
    fn an_inserted_line_is_found(from in 0_usize..12, to in 0_usize..=12) {
        let mut lines = sample_lines();
        let line = lines[from].clone();
        lines.insert(to, line);
        prop_assert!(judge(&lines.concat(), &SAMPLE.1).is_err());
    }

    #[test]
    fn a_changed_head_is_found(at in 0_usize..107, byte: u8) {
        prop_assume!(SAMPLE.1[at] != byte);
        let mut head = SAMPLE.1.clone();
        head[at] = byte;
        prop_assert!(judge(&SAMPLE.0, &head).is_err());
    }

    #[test]
    fn any_bytes_are_judged(log in prop::collection::vec(any::<u8>(), 0..300), head in prop::collection::vec(any::<u8>(), 1..120)) {
        prop_assert!(judge(&log, &head).is_err());
    }
}
