//! Transcripts: two writers, kills inside a write, forks.

use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use serde_json::json;

use super::*;

fn scene() -> (tempfile::TempDir, State) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    (dir, state)
}

#[test]
fn written_read_and_listed() {
    let (_dir, state) = scene();
    assert_eq!(list(&state).unwrap(), []);
    assert!(matches!(lines(&state, "s"), Err(StoreError::NoTranscript(_))));
    let transcript = Transcript::open(&state, "s").unwrap();
    assert!(transcript.is_empty().unwrap());
    let odd = json!({"text": "two\nlines \u{2028} and \"quotes\"", "n": 1.5});
    assert_eq!(transcript.append(&json!({"first": true})).unwrap(), 1);
    assert_eq!(transcript.append(&odd).unwrap(), 2);
    transcript.sync().unwrap();
    assert_eq!(lines(&state, "s").unwrap(), [json!({"first": true}), odd]);
    let all = list(&state).unwrap();
    assert_eq!((all.len(), all[0].session.as_str(), all[0].lines), (1, "s", 2));
    assert_eq!(all[0].first, Some(json!({"first": true})));
    let file = path(&state, "s").unwrap();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    for bad in ["", "../s", ".s", "a/b"] {
        assert!(matches!(Transcript::open(&state, bad), Err(StoreError::BadId(_))), "{bad}");
        assert!(matches!(lines(&state, bad), Err(StoreError::BadId(_))), "{bad}");
    }
}

#[test]
fn what_a_kill_left_of_a_line_is_dropped() {
    let (_dir, state) = scene();
    let file = path(&state, "s").unwrap();
    let whole = Transcript::open(&state, "s").unwrap();
    whole.append(&json!(1)).unwrap();
    let torn = |piece: &[u8]| {
        let mut file = OpenOptions::new().append(true).open(&file).unwrap();
        file.write_all(piece).unwrap();
    };
    torn(b"{\"half");
    assert_eq!(lines(&state, "s").unwrap(), [json!(1)]);
    let other = Transcript::open(&state, "s").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"1\n");
    // The one that was open before finds the piece on its next append, too, and the other's line.
    assert_eq!(other.append(&json!(2)).unwrap(), 2);
    torn(b"[[[");
    assert_eq!(whole.append(&json!(3)).unwrap(), 3);
    assert_eq!(lines(&state, "s").unwrap(), [json!(1), json!(2), json!(3)]);
    // A whole line that is no JSON is damage, and named.
    torn(b"no json\n");
    assert!(lines(&state, "s").unwrap_err().to_string().contains("line 4"));
}

#[test]
fn removed_lines_are_noticed() {
    let (_dir, state) = scene();
    let transcript = Transcript::open(&state, "s").unwrap();
    transcript.append(&json!("long enough")).unwrap();
    fs::write(path(&state, "s").unwrap(), "1\n").unwrap();
    assert!(transcript.append(&json!(2)).unwrap_err().to_string().contains("removed"));
}

#[test]
fn many_writers_lose_nothing() {
    let (_dir, state) = scene();
    let shared = Arc::new(Transcript::open(&state, "s").unwrap());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let shared = Arc::clone(&shared);
            let state = state.clone();
            scope.spawn(move || {
                let own = Transcript::open(&state, "s").unwrap();
                for n in 0..50 {
                    let line = json!({"writer": writer, "n": n, "long": "x".repeat(n * 97)});
                    if n % 2 == 0 { shared.append(&line) } else { own.append(&line) }.unwrap();
                }
            });
        }
    });
    let all = lines(&state, "s").unwrap();
    assert_eq!((all.len() as u64, shared.len().unwrap()), (200, 200));
    for writer in 0..4 {
        let order: Vec<u64> =
            all.iter().filter(|line| line["writer"] == writer).map(|line| line["n"].as_u64().unwrap()).collect();
        assert_eq!(order, (0..50).collect::<Vec<_>>(), "each writer's lines stand in its order");
    }
}

#[test]
fn forks_take_what_was_asked_and_replace_nothing() {
    let (_dir, state) = scene();
    let transcript = Transcript::open(&state, "s").unwrap();
    for n in 1..=3 {
        transcript.append(&json!(n)).unwrap();
    }
    assert_eq!(fork(&state, "s", "all", None).unwrap(), 3);
    assert_eq!(fork(&state, "s", "two", Some(2)).unwrap(), 2);
    assert_eq!(fork(&state, "s", "none", Some(0)).unwrap(), 0);
    assert_eq!(lines(&state, "two").unwrap(), [json!(1), json!(2)]);
    assert_eq!(Transcript::open(&state, "two").unwrap().append(&json!("other")).unwrap(), 3);
    assert_eq!(lines(&state, "s").unwrap().len(), 3);
    let shorter = fork(&state, "s", "x", Some(4)).unwrap_err();
    assert!(shorter.to_string().contains("3 lines"), "{shorter}");
    assert!(matches!(fork(&state, "s", "two", None), Err(StoreError::TranscriptExists(_))));
    assert!(matches!(fork(&state, "nobody", "x", None), Err(StoreError::NoTranscript(_))));
    assert_eq!(lines(&state, "two").unwrap().len(), 3);
    assert_eq!(list(&state).unwrap().len(), 4, "nothing stray is left");
    assert_eq!(fs::read_dir(state.transcripts_dir()).unwrap().count(), 4);
}

#[test]
fn a_line_too_long_leaves_nothing() {
    let (_dir, state) = scene();
    let transcript = Transcript::open(&state, "s").unwrap();
    assert!(transcript.append(&Value::from("x".repeat(MAX_LINE_BYTES))).is_err());
    assert_eq!(transcript.append(&json!(1)).unwrap(), 1);
}

#[test]
fn one_process_alone_holds_a_session_until_it_lets_go() {
    let (_dir, state) = scene();
    let held = hold(&state, "s").unwrap().expect("nobody has it");
    assert!(hold(&state, "s").unwrap().is_none(), "it is taken");
    assert!(hold(&state, "other").unwrap().is_some());
    // Its lines are locked apart from it.
    assert_eq!(Transcript::open(&state, "s").unwrap().append(&json!(1)).unwrap(), 1);
    drop(held);
    assert!(hold(&state, "s").unwrap().is_some());
    // A kill leaves the file behind, and no lock.
    fs::write(state.transcripts_dir().join("s.lock"), "").unwrap();
    assert!(hold(&state, "s").unwrap().is_some());
    assert_eq!(list(&state).unwrap().len(), 1, "what holds a session is no transcript");
}
