//! Stories of writers: one, many, killed, out of space.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use serde_json::json;

use super::*;
use crate::journal::{lines, verify};

#[derive(Debug, Default)]
pub(crate) struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn unix_ms(&self) -> u64 {
        1_763_766_000_000 + self.0.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("no object: {other}"),
    }
}

pub(crate) fn journal(state: &State, session: &str) -> Journal {
    Journal::create(state, session, &fields(json!({"nika": "0.1.0"})), Arc::new(Ticks::default())).unwrap()
}

fn world() -> (tempfile::TempDir, State) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    (dir, state)
}

#[test]
fn a_line_is_what_the_rule_says() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    let entry = log.append("CallBegun", &fields(json!({"call": "c1", "arguments": {"a": [1, "é\n"]}}))).unwrap();
    let text = fs::read_to_string(state.journal_path("s")).unwrap();
    let (first, second) = text.trim_end().split_once('\n').unwrap();
    let first_hash = Hash::of(first.split_once(",\"hash\":").unwrap().0.as_bytes());
    assert!(first.starts_with(r#"{"seq":1,"at":1763766000000,"event":"SessionStarted","session":"s","nika":"0.1.0","#));
    assert_eq!(
        second,
        format!(
            r#"{{"seq":2,"at":1763766000001,"event":"CallBegun","call":"c1","arguments":{{"a":[1,"é\n"]}},"prev":"{first_hash}","hash":"{}"}}"#,
            entry.hash
        )
    );
    assert_eq!(entry.seq, 2);
    assert_eq!(
        fs::read_to_string(state.head_path("s")).unwrap(),
        format!("{:020} {:020} {}\n", 2, text.len(), entry.hash)
    );
}

#[test]
fn a_stranger_can_verify_it() {
    let (dir, state) = world();
    let log = journal(&state, "s");
    for n in 0..5 {
        log.append("ToolResult", &fields(json!({"n": n, "text": "back\\slash \"quoted\" %s $x é"}))).unwrap();
    }
    // The script of `chain`'s documentation, as it stands there.
    let source = include_str!("chain.rs");
    let script = source.split("//! ```sh\n").nth(1).unwrap().split("//! ```").next().unwrap();
    let script: String = script.lines().map(|line| format!("{}\n", line.trim_start_matches("//!"))).collect();
    let path = dir.path().join("verify.sh");
    fs::write(&path, script).unwrap();
    let run = |log: &Path| {
        let mut sh = std::process::Command::new("sh");
        sh.arg(&path).arg(log).arg(state.head_path("s")).output().unwrap().status.success()
    };
    assert!(run(&state.journal_path("s")));
    let text = fs::read_to_string(state.journal_path("s")).unwrap();
    let changed = dir.path().join("changed");
    fs::write(&changed, text.replacen("\"n\":3", "\"n\":4", 1)).unwrap();
    assert!(!run(&changed));
    fs::write(&changed, text.lines().take(5).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    assert!(!run(&changed));
}

#[test]
fn a_callers_field_does_not_shadow_ours() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    log.append("ToolRead", &fields(json!({"hash": "h", "hash_": "i", "seq": 9, "prev": null}))).unwrap();
    let line = lines(&state, "s").unwrap().nth(1).unwrap().unwrap();
    assert_eq!(
        (&line["hash_"], &line["hash__"], &line["seq_"], &line["seq"]),
        (&json!("h"), &json!("i"), &json!(9), &json!(2))
    );
    verify(&state, "s").unwrap();
}

#[test]
fn continued_by_another_process() {
    let (_dir, state) = world();
    let first = journal(&state, "s");
    first.append("CallBegun", &Map::new()).unwrap();
    let second = journal(&state, "s");
    assert_eq!(second.append("CallBegun", &Map::new()).unwrap().seq, 3);
    assert_eq!(first.append("CallEnded", &Map::new()).unwrap().seq, 4);
    drop(first);
    assert_eq!(second.append("CallEnded", &Map::new()).unwrap().seq, 5);
    assert_eq!(verify(&state, "s").unwrap().lines, 5);
}

#[test]
fn sixteen_writers_make_one_chain() {
    let (_dir, state) = world();
    std::thread::scope(|scope| {
        for writer in 0..16 {
            let state = &state;
            scope.spawn(move || {
                let log = journal(state, "s");
                for n in 0..500 {
                    log.append("CallBegun", &fields(json!({"writer": writer, "n": n}))).unwrap();
                }
            });
        }
    });
    let verified = verify(&state, "s").unwrap();
    assert_eq!((verified.lines, verified.beyond_head, verified.torn_bytes), (16 * 500 + 1, false, 0));
    let mut next = [0; 16];
    for line in lines(&state, "s").unwrap().skip(1) {
        let line = line.unwrap();
        let writer = line["writer"].as_u64().unwrap() as usize;
        assert_eq!(line["n"], json!(next[writer]));
        next[writer] += 1;
    }
    assert_eq!(next, [500; 16]);
}

#[test]
fn killed_at_any_byte_of_a_line() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    log.append("CallBegun", &fields(json!({"call": "c1"}))).unwrap();
    let before = fs::read(state.journal_path("s")).unwrap();
    let head_before = fs::read(state.head_path("s")).unwrap();
    log.append("CallEnded", &fields(json!({"call": "c1", "ok": true}))).unwrap();
    drop(log);
    let after = fs::read(state.journal_path("s")).unwrap();
    for end in before.len()..=after.len() {
        fs::write(state.journal_path("s"), &after[..end]).unwrap();
        fs::write(state.head_path("s"), &head_before).unwrap();
        let whole = end == after.len();
        let verified = verify(&state, "s").unwrap();
        let torn = if whole { 0 } else { end - before.len() };
        assert_eq!(
            (verified.lines, verified.beyond_head, verified.torn_bytes),
            (if whole { 3 } else { 2 }, whole, torn as u64),
            "{end}"
        );
        // The next process goes on from the last whole line.
        let next = journal(&state, "s").append("CallBegun", &Map::new()).unwrap();
        assert_eq!(next.seq, if whole { 4 } else { 3 });
        assert_eq!(verify(&state, "s").unwrap().lines, next.seq);
    }
}

#[test]
fn two_lines_written_together_stand_or_fall_by_the_byte() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    let before = fs::read(state.journal_path("s")).unwrap();
    let head_before = fs::read(state.head_path("s")).unwrap();
    let (read, ended) = (fields(json!({"call": "c1"})), fields(json!({"call": "c1", "ok": true})));
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    log.subscribe(move |line| {
        hears.lock().unwrap().push(line.to_owned());
        ControlFlow::Continue(())
    });
    assert_eq!(log.append_together(&[("ToolRead", &read), ("CallEnded", &ended)]).unwrap().seq, 3);
    drop(log);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2, "a listener hears lines one by one");
    let after = fs::read(state.journal_path("s")).unwrap();
    assert_eq!(heard.concat().as_bytes(), &after[before.len()..]);
    let first_ends = before.len() + heard[0].len();
    for end in before.len()..=after.len() {
        fs::write(state.journal_path("s"), &after[..end]).unwrap();
        fs::write(state.head_path("s"), &head_before).unwrap();
        let whole = 1 + u64::from(end >= first_ends) + u64::from(end == after.len());
        let verified = verify(&state, "s").unwrap();
        assert_eq!((verified.lines, verified.beyond_head), (whole, whole > 1), "{end}");
        assert_eq!(journal(&state, "s").append("CallBegun", &Map::new()).unwrap().seq, whole + 1);
        assert_eq!(verify(&state, "s").unwrap().lines, whole + 1);
    }
    // A third line that the head does not name was not written by an append that was killed.
    fs::write(state.journal_path("s"), &after).unwrap();
    fs::write(state.head_path("s"), &head_before).unwrap();
    journal(&state, "s").append("CallBegun", &Map::new()).unwrap();
    fs::write(state.head_path("s"), &head_before).unwrap();
    assert!(verify(&state, "s").is_err());
    let again = Journal::create(&state, "s", &Map::new(), Arc::new(Ticks::default()));
    assert!(matches!(again, Err(StoreError::Broken(_))));
}

#[test]
fn a_journal_that_was_cut_is_not_continued() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    for _ in 0..3 {
        log.append("CallBegun", &Map::new()).unwrap();
    }
    let text = fs::read_to_string(state.journal_path("s")).unwrap();
    let again = || Journal::create(&state, "s", &Map::new(), Arc::new(Ticks::default()));
    let three: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    let forged = text.replacen("\"seq\":4", "\"seq\":5", 1);
    let digit = if text.ends_with(
        "0\"}
",
    ) {
        '1'
    } else {
        '0'
    };
    let swapped_end = format!(
        "{}{digit}\"}}
",
        &text[..text.len() - 4]
    );
    for bad in [String::new(), three, format!("{text}{text}"), format!("{text}\n"), swapped_end] {
        fs::write(state.journal_path("s"), &bad).unwrap();
        assert!(matches!(again(), Err(StoreError::Broken(_))), "{bad}");
        // Also for the process that has it open.
        assert!(matches!(log.append("CallBegun", &Map::new()), Err(StoreError::Broken(_))));
        assert!(verify(&state, "s").is_err());
    }
    fs::write(state.journal_path("s"), &forged).unwrap();
    assert_eq!(verify(&state, "s").unwrap_err().line, Some(4));
    fs::write(state.journal_path("s"), &text).unwrap();
    assert_eq!(log.append("CallBegun", &Map::new()).unwrap().seq, 5);

    fs::remove_file(state.journal_path("s")).unwrap();
    assert!(matches!(again(), Err(StoreError::Broken(_))));
}

#[test]
fn a_line_that_cannot_be_written_leaves_nothing() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    let huge = Value::String("x".repeat(MAX_LINE_BYTES));
    let fields: Map<String, Value> = [("text".to_owned(), huge)].into_iter().collect();
    let size = fs::metadata(state.journal_path("s")).unwrap().len();
    assert!(matches!(log.append("ToolResult", &fields), Err(StoreError::Journal { .. })));
    assert_eq!(fs::metadata(state.journal_path("s")).unwrap().len(), size);
    assert_eq!(log.append("ToolResult", &Map::new()).unwrap().seq, 2);
}

#[test]
fn a_head_that_cannot_be_written_takes_the_line_back() {
    let (_dir, state) = world();
    let log = journal(&state, "s");
    log.inner.lock().unwrap().head = File::open(state.head_path("s")).unwrap();
    let size = fs::metadata(state.journal_path("s")).unwrap().len();
    assert!(matches!(log.append("ToolResult", &Map::new()), Err(StoreError::Journal { .. })));
    assert_eq!(fs::metadata(state.journal_path("s")).unwrap().len(), size);
    verify(&state, "s").unwrap();
}

#[test]
fn a_full_disk_is_an_error_and_no_line() {
    let (dir, state) = world();
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let log = journal(&state, "s");
    let real = std::mem::replace(
        &mut log.inner.lock().unwrap().log,
        OpenOptions::new().append(true).read(true).open(full).unwrap(),
    );
    assert!(log.append("ToolResult", &Map::new()).is_err());
    log.inner.lock().unwrap().log = real;
    assert_eq!(log.append("ToolResult", &Map::new()).unwrap().seq, 2);
    assert_eq!(verify(&state, "s").unwrap().lines, 2);
    drop(dir);
}

#[test]
fn listeners_hear_every_line_until_they_leave() {
    let (_dir, state) = world();
    let log = journal(&state, "s").durability(Durability::EachCall);
    let (send, receive) = mpsc::channel::<String>();
    log.subscribe(move |line| match send.send(line.to_owned()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    log.append("CallBegun", &Map::new()).unwrap();
    log.append("CallEnded", &Map::new()).unwrap();
    let heard: Vec<String> = receive.try_iter().collect();
    assert!(heard[0].contains("CallBegun") && heard[1].contains("CallEnded") && heard[1].ends_with("}\n"));
    drop(receive);
    log.append("CallBegun", &Map::new()).unwrap();
    assert!(log.inner.lock().unwrap().listeners.is_empty());
    log.sync().unwrap();
}

#[test]
fn names_that_are_no_file_names_are_refused() {
    let (_dir, state) = world();
    for bad in ["../x", "", ".x", "a/b"] {
        let made = Journal::create(&state, bad, &Map::new(), Arc::new(Ticks::default()));
        assert!(matches!(made, Err(StoreError::BadId(_))));
    }
}

#[test]
fn a_link_in_the_logs_place_is_refused() {
    let (dir, state) = world();
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), state.journal_path("s")).unwrap();
    assert!(Journal::create(&state, "s", &Map::new(), Arc::new(Ticks::default())).is_err());
    assert!(!dir.path().join("elsewhere").exists());
}
