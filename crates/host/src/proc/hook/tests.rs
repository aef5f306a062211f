//! Hooks that behave, and hooks that do not; the shell plays them all.

use std::time::{Duration, Instant};

use nika_guard::{Configured, Layer};

use super::{HookEnd, HookRunner};

fn run_within(wall: Duration, script: &str, input: Vec<u8>) -> HookEnd {
    let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    let dir = tempfile::tempdir().expect("a directory");
    let runner =
        HookRunner { dir: dir.path().to_owned(), env: vec![("PATH".into(), "/usr/bin:/bin".into())], guard: None };
    let configured = Configured::new(argv, Layer::User, "test:1", true).expect("a person's own");
    match runner.start(&configured, &[("NIKA_EVENT", "before")], input, wall) {
        Ok(running) => running.finish(&|| false),
        Err(end) => end,
    }
}

fn run(script: &str, input: Vec<u8>) -> HookEnd {
    run_within(Duration::from_secs(20), script, input)
}

fn answer(end: HookEnd) -> String {
    match end {
        HookEnd::Answered(bytes) => String::from_utf8(bytes).expect("text"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_go_in_and_come_out() {
    let input = "x".repeat(900_000);
    assert_eq!(answer(run("cat", input.clone().into_bytes())), input);
    assert_eq!(answer(run("echo no", vec![0; 1 << 20])), "no\n");
}

#[test]
fn it_finds_what_it_is_given_and_nothing_of_ours() {
    let said = answer(run("env", Vec::new()));
    assert!(said.contains("PATH=/usr/bin:/bin") && said.contains("NIKA_EVENT=before"), "{said}");
    assert!(!said.contains("CARGO") && !said.contains("HOME"), "{said}");
}

#[test]
fn every_bad_end_has_its_name() {
    match run("echo why >&2; exit 7", Vec::new()) {
        HookEnd::Exited(7, why) => assert_eq!(why, "why"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(run("kill -9 $$", Vec::new()), HookEnd::Killed(9)));
    assert!(matches!(run("cat /dev/zero", Vec::new()), HookEnd::TooMuch(_)));
    assert!(matches!(run_within(Duration::from_millis(50), "sleep 60", Vec::new()), HookEnd::TimedOut));
    let nowhere = Configured::new(vec!["/nowhere/at/all".into()], Layer::User, "test:1", true).expect("a person's");
    let runner = HookRunner { dir: "/".into(), ..HookRunner::default() };
    let end = runner.start(&nowhere, &[], Vec::new(), Duration::from_secs(1)).expect_err("there is none");
    assert!(matches!(end, HookEnd::NotFound(_)));
}

#[test]
fn endless_complaints_do_not_hold_an_answer_back() {
    assert_eq!(answer(run("head -c 3000000 /dev/zero >&2; echo done", Vec::new())), "done\n");
}

#[test]
fn what_it_leaves_in_the_background_is_neither_waited_for_nor_left() {
    let begun = Instant::now();
    // One in its group, one in a session of its own, and one whose parent is gone, too.
    let script = "sleep 78.25 & setsid sleep 78.25 & (setsid sh -c 'sleep 78.25; true' &) ; echo done";
    let said = answer(run(&format!("({script}) >/dev/null 2>&1; echo done"), Vec::new()));
    assert_eq!(said, "done\n");
    assert!(begun.elapsed() < Duration::from_secs(10));
    let left = || {
        std::fs::read_dir("/proc")
            .expect("proc")
            .flatten()
            .any(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default() == b"sleep\x0078.25\0")
    };
    // The kernel kills the group a moment after the signal was sent.
    while left() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it outlived its hook");
        std::thread::yield_now();
    }
}
