//! Output: in order, whole, bounded, and read by a cursor.

use std::cell::Cell;
use std::time::Duration;

use nika_host::proc::{Bounds, How, Jobs, KilledBy, Reading, Until};

use crate::scene::{LONG, end, jobs, output, permit, run, shell, text};

/// Our own resident memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("our own");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

#[test]
fn both_streams_come_in_the_order_they_were_written() {
    let jobs = jobs();
    let (job, _) = run(&jobs, shell("for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done"));
    let expected: String = (1..=8).map(|n| format!("o{n}\ne{n}\n")).collect();
    assert_eq!(text(&job), expected);
}

#[test]
fn bytes_are_kept_as_they_are() {
    let jobs = jobs();
    let (job, _) = run(&jobs, shell(r"printf 'a\0b\033[31m\xff\r\n'"));
    assert_eq!(output(&job), b"a\0b\x1b[31m\xff\r\n");
}

#[test]
fn a_hundred_megabytes_are_bounded_here_and_spilled_there() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let spill = dir.path().join("spill");
    let mut order = shell("head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo the end");
    order.output = Bounds { spill: Some(spill.clone()), ..Bounds::default() };
    let before = resident();
    let (job, exited) = run(&jobs, order);
    assert!(resident() < before + (48 << 20), "{} more", resident() - before);
    assert_eq!((exited.how, exited.killed_by), (How::Status(0), None));
    let summary = job.summary();
    assert_eq!((summary.total, summary.head.len()), (100_000_009, 64 << 10));
    assert!(summary.tail.len() >= 64 << 10 && summary.tail.len() <= 128 << 10 && summary.tail.ends_with(b"the end\n"));
    assert_eq!(summary.omitted + (summary.head.len() + summary.tail.len()) as u64, summary.total);
    assert_eq!(summary.spilled, Some((spill.clone(), 64 << 20)));
    assert_eq!(std::fs::metadata(&spill).expect("it is there").len(), 64 << 20);
    // A read from the middle comes from the file; one behind its end says what is missing.
    let chunk = job.read(&Reading { max_bytes: 10, ..Reading::from(1 << 20) });
    assert_eq!((chunk.bytes.as_slice(), chunk.skipped, chunk.next), (&b"xxxxxxxxxx"[..], 0, (1 << 20) + 10));
    let chunk = job.read(&Reading { max_bytes: 1 << 20, ..Reading::from(70 << 20) });
    assert!(chunk.skipped > 20_000_000 && chunk.bytes.ends_with(b"the end\n") && chunk.next == summary.total);
}

#[test]
fn a_spill_is_the_whole_output_when_it_has_room() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let spill = dir.path().join("spill");
    let mut order = shell("seq 1 100000");
    order.output = Bounds { spill: Some(spill.clone()), head_bytes: 1000, tail_bytes: 1000, ..Bounds::default() };
    let (job, _) = run(&jobs, order);
    // Lines in the middle and at the cuts are found, all that please and no other.
    let sevens = job.find(&Reading::from(0), &|line| line.ends_with(b"777")).text;
    let expected: String = (0..100).map(|n| format!("{n}777\n")).collect();
    assert_eq!(sevens, expected.replacen("0777", "777", 1));
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(std::fs::read_to_string(&spill).expect("it is there"), expected);
    let mut all = Vec::new();
    let mut cursor = 0;
    while cursor < job.summary().total {
        let chunk = job.read(&Reading::from(cursor));
        assert_eq!(chunk.skipped, 0);
        all.extend(chunk.bytes);
        cursor = chunk.next;
    }
    assert!(all == expected.as_bytes());
}

#[test]
fn little_output_leaves_no_file_and_a_bad_place_is_said() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut order = shell("echo little");
    order.output.spill = Some(dir.path().join("spill"));
    let (job, _) = run(&jobs, order);
    assert!(job.summary().spilled.is_none() && !dir.path().join("spill").exists());
    let mut order = shell("seq 1 100000");
    order.output.spill = Some(dir.path().join("no/such/spill"));
    let (job, exited) = run(&jobs, order);
    assert_eq!(exited.how, How::Status(0));
    assert!(job.summary().spill_error.is_some_and(|why| why.contains("No such file")));
}

#[test]
fn a_job_that_writes_without_end_is_ended() {
    let jobs = jobs();
    let mut order = shell("yes");
    order.output.most_bytes = 3 << 20;
    let (_, exited) = run(&jobs, order);
    assert_eq!(exited.killed_by, Some(KilledBy::Output));
}

#[test]
fn a_job_may_close_its_output_and_go_on() {
    let jobs = jobs();
    let (job, exited) = run(&jobs, shell("echo before; exec >&- 2>&-; python3 -c 'pass'; exit 7"));
    assert_eq!((text(&job).as_str(), exited.how), ("before\n", How::Status(7)));
}

#[test]
fn a_cursor_waits_for_more_for_a_line_and_for_the_end() {
    let jobs = jobs();
    let mut order =
        shell("echo one; read x; echo two; echo thr; read x; echo three; read x; printf 'prompt> '; read x");
    order.stdin = nika_host::proc::Stdin::Pipe;
    let job = jobs.start(&permit(), order).expect("it starts");
    let chunk = job.read(&Reading::from(0).waiting(Until::Output, LONG));
    assert_eq!(chunk.bytes, b"one\n");
    job.write(b"\n", LONG).expect("taken");
    let chunk = job.find(&Reading { at_most: LONG, ..Reading::from(chunk.next) }, &|line| line == b"thr").chunk;
    assert_eq!(chunk.bytes, b"thr\n");
    // Nothing new, and no wish to wait.
    assert!(job.read(&Reading::from(chunk.next)).bytes.is_empty());
    let none = job.read(&Reading::from(chunk.next).waiting(Until::Output, Duration::from_millis(30)));
    assert!(none.bytes.is_empty());
    job.write(b"\n\n", LONG).expect("taken");
    // A prompt is a line that has only begun.
    let prompts = |line: &[u8]| line.starts_with(b"prompt");
    let chunk = job.find(&Reading { at_most: LONG, ..Reading::from(chunk.next) }, &prompts).chunk;
    assert_eq!(chunk.bytes, b"prompt> \n");
    job.close_input().expect("closed");
    let chunk = job.read(&Reading::from(chunk.next).waiting(Until::End, LONG));
    assert!(chunk.bytes.is_empty() && matches!(chunk.state, nika_host::proc::State::Ended(_)));
}

#[test]
fn a_read_that_nobody_wants_ends() {
    let jobs = jobs();
    let job = jobs.start(&permit(), shell("sleep 62.5")).expect("it starts");
    let asked = std::cell::Cell::new(0);
    let stopped = || asked.replace(asked.get() + 1) > 1;
    job.read(&Reading { stopped: &stopped, ..Reading::from(0).waiting(Until::Output, LONG) });
    assert!(job.wait(LONG, &|| true).is_none());
    job.stop();
}

#[test]
fn a_search_that_nobody_wants_ends_where_it_is_and_goes_on_from_there() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut order = shell("seq 1 400000");
    order.output = Bounds { spill: Some(dir.path().join("spill")), ..Bounds::default() };
    let (job, _) = run(&jobs, order);
    let looked = Cell::new(0);
    let pleases = |line: &[u8]| {
        looked.set(looked.get() + 1);
        line.ends_with(b"9999")
    };
    let stopped = || looked.get() >= 1000;
    let view = job.find(&Reading { stopped: &stopped, ..Reading::from(0) }, &pleases);
    assert!(looked.get() <= 1100, "{} lines were looked at", looked.get());
    assert!(view.chunk.more && view.text.is_empty() && view.chunk.next > 0, "{:?}", view.chunk);
    let rest = job.find(&Reading::from(view.chunk.next), &pleases);
    assert_eq!((rest.text.lines().count(), rest.chunk.more), (40, false));
}

#[test]
fn nothing_is_left_open_after_two_hundred_jobs() {
    // In a process of its own: the other tests of this one open and close all the time.
    let again = std::process::Command::new("/proc/self/exe")
        .args(["--exact", "jobs::output::two_hundred_jobs", "--nocapture", "--test-threads=1"])
        .env("NIKA_TWO_HUNDRED", "1")
        .output()
        .expect("this program");
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(again.status.success() && said.contains("the same"), "{said}{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn two_hundred_jobs() {
    if std::env::var_os("NIKA_TWO_HUNDRED").is_none() {
        return;
    }
    let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).expect("our own").count();
    let jobs: Jobs = jobs();
    let one = || {
        let mut order = shell("echo x");
        order.stdin = nika_host::proc::Stdin::Pipe;
        let job = jobs.start(&permit(), order).expect("it starts");
        end(&job);
    };
    // Those whose output can still be read are counted before and after.
    (0..70).for_each(|_| one());
    crate::scene::until("the threads are gone", || count("task") <= 2);
    let before = count("fd");
    (0..200).for_each(|_| one());
    crate::scene::until("the threads are gone", || count("task") <= 2);
    crate::scene::until("no more is open", || count("fd") <= before);
    println!("the same");
}
