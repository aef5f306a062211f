//! Stories of changes recorded, listed, taken back and dropped.

use std::fs;
use std::io::Write;

use nika_contract::{Before, Kind, Known, More};

use super::*;
use crate::sessions::{self, ReadEntry, SessionFile};

const NOW: u64 = 4_000_000_000_000;
const DAY: u64 = 24 * 60 * 60 * 1000;

fn world() -> (tempfile::TempDir, Checkpoints) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    (dir, checkpoints)
}

fn meta(call: &str, session: &str, at: u64) -> CheckpointMeta {
    CheckpointMeta {
        call: call.into(),
        session: session.into(),
        tool: "edit".into(),
        at,
        asked: false,
        begun: Begun::default(),
    }
}

fn change(checkpoints: &Checkpoints, meta: &CheckpointMeta, path: &str, before: Option<&str>, after: Option<&str>) {
    let preimage = Preimage {
        path: Path::new(path),
        kind: Kind::File,
        bytes: before.map(str::as_bytes),
        hash: None,
        mode: before.map(|_| 0o100_644),
        mode_left: None,
        after: after.map(|text| Hash::of(text.as_bytes()).0),
        more: None,
        dress: None,
        linked: false,
    };
    CallUndo { checkpoints, meta }.keep(&preimage).unwrap();
}

fn names(calls: &[CallChanges]) -> Vec<&str> {
    calls.iter().map(|call| call.call.as_str()).collect()
}

#[test]
fn the_first_before_and_the_last_after() {
    let (_dir, checkpoints) = world();
    let call = meta("c1", "s", NOW);
    change(&checkpoints, &call, "/w/a", Some("one"), Some("two"));
    change(&checkpoints, &call, "/w/b", None, Some("new"));
    change(&checkpoints, &call, "/w/a", Some("two"), None);
    let found = checkpoints.find("c1").unwrap();
    assert_eq!((found.session.as_str(), found.tool.as_str(), found.at, &found.undone_by), ("s", "edit", NOW, &None));
    let [a, b] = &found.changes[..] else { panic!("{found:?}") };
    assert_eq!((a.path.to_str(), a.before, a.after, a.mode), (Some("/w/a"), Some(Hash::of(b"one")), None, Some(0o644)));
    assert_eq!((b.path.to_str(), b.before, b.after, b.mode), (Some("/w/b"), None, Some(Hash::of(b"new")), None));
    assert_eq!(checkpoints.objects().get(&a.before.unwrap()).unwrap(), b"one");
    assert!(matches!(checkpoints.find("c2"), Err(StoreError::NoSuchCall(_))));
}

#[test]
fn links_directories_and_odd_names() {
    use std::os::unix::ffi::OsStrExt;
    let (_dir, checkpoints) = world();
    let call = meta("c1", "s", NOW);
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff\n\""));
    for (path, kind) in [(Path::new("/w/l"), Kind::Link), (Path::new("/w/d"), Kind::Directory), (odd, Kind::File)] {
        let preimage = Preimage {
            path,
            kind,
            bytes: Some(b"x"),
            hash: None,
            mode: Some(0o644),
            mode_left: None,
            after: None,
            more: None,
            dress: None,
            linked: false,
        };
        checkpoints.record(&call, &preimage).unwrap();
    }
    let changes = checkpoints.find("c1").unwrap().changes;
    assert_eq!(changes.iter().map(|change| change.kind).collect::<Vec<_>>(), [Kind::Link, Kind::Directory, Kind::File]);
    assert_eq!(changes[2].path, odd);
}

#[test]
fn newest_first_and_by_session() {
    let (_dir, checkpoints) = world();
    for n in 0..10 {
        let session = if n % 2 == 0 { "even" } else { "odd" };
        change(&checkpoints, &meta(&format!("c{n}"), session, NOW + n), "/w/a", Some("x"), Some("y"));
    }
    assert_eq!(names(&checkpoints.list(3, None).unwrap()), ["c9", "c8", "c7"]);
    assert_eq!(names(&checkpoints.list(2, Some("even")).unwrap()), ["c8", "c6"]);
    assert_eq!(checkpoints.list(100, None).unwrap().len(), 10);
    assert_eq!(checkpoints.list(0, None).unwrap(), []);
    assert_eq!(checkpoints.list(5, Some("nobody")).unwrap(), []);
}

#[test]
fn calls_that_ran_side_by_side_keep_all_their_lines() {
    let (_dir, checkpoints) = world();
    let [slow, quick] = [meta("slow", "s", NOW), meta("quick", "s", NOW + 5)];
    change(&checkpoints, &slow, "/w/0", Some("0"), None);
    for n in 0..2000 {
        change(&checkpoints, &quick, &format!("/w/{n}"), Some("x"), None);
    }
    change(&checkpoints, &slow, "/w/1", Some("1"), None);
    let listed = checkpoints.list(1, None).unwrap();
    assert_eq!(names(&listed), ["slow"]);
    assert_eq!(listed[0].changes.len(), 2);
    assert_eq!(checkpoints.find("quick").unwrap().changes.len(), 2000);
}

#[test]
fn taken_back_and_put_again() {
    let (_dir, checkpoints) = world();
    let undone = |call: &str| checkpoints.find(call).unwrap().undone_by;
    for n in 1..=4 {
        change(&checkpoints, &meta(&format!("c{n}"), "s", NOW + n), "/w/a", Some("x"), Some("y"));
    }
    checkpoints.mark_undone("c1", "c2").unwrap();
    assert_eq!(undone("c1").as_deref(), Some("c2"));
    checkpoints.mark_undone("c2", "c3").unwrap();
    assert_eq!((undone("c1"), undone("c2").as_deref()), (None, Some("c3")));
    checkpoints.mark_undone("c3", "c4").unwrap();
    assert_eq!((undone("c1").as_deref(), undone("c2"), undone("c3").as_deref()), (Some("c2"), None, Some("c4")));
}

#[test]
fn a_torn_line_spoils_no_other() {
    let (dir, checkpoints) = world();
    change(&checkpoints, &meta("c1", "s", NOW), "/w/a", Some("x"), None);
    let mut log = File::options().append(true).open(dir.path().join("checkpoints.log")).unwrap();
    log.write_all(b"\n{\"at\":1,\"call\":\"torn").unwrap();
    change(&checkpoints, &meta("c2", "s", NOW), "/w/a", Some("x"), None);
    assert_eq!(names(&checkpoints.list(9, None).unwrap()), ["c2", "c1"]);
}

#[test]
fn many_writers_and_a_collector() {
    let (dir, _) = world();
    let state = State::open(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let state = &state;
            scope.spawn(move || {
                let checkpoints = Checkpoints::open(state).unwrap();
                for n in 0..50 {
                    let call = meta(&format!("c{writer}-{n}"), "s", NOW);
                    change(&checkpoints, &call, "/w/a", Some(&format!("{writer} {n}")), None);
                }
            });
        }
        scope.spawn(|| {
            let checkpoints = Checkpoints::open(&state).unwrap();
            for n in 0..20 {
                // Something old every time, so that the log is replaced under the writers.
                change(&checkpoints, &meta(&format!("old{n}"), "s", 1), "/w/old", None, None);
                checkpoints.collect(&Limits::default(), NOW + n).unwrap();
            }
        });
    });
    let checkpoints = Checkpoints::open(&state).unwrap();
    let calls = checkpoints.list(1000, None).unwrap();
    let young: Vec<_> = calls.iter().filter(|call| call.at == NOW).collect();
    assert_eq!(young.len(), 400);
    for call in young {
        checkpoints.objects().get(&call.changes[0].before.unwrap()).unwrap();
    }
}

#[test]
fn the_oldest_go_first() {
    let (dir, checkpoints) = world();
    let text = |n: u64| format!("{n}").repeat(400);
    for n in 0..8 {
        let call = meta(&format!("c{n}"), "s", NOW + n * DAY);
        change(&checkpoints, &call, "/w/a", Some(&text(n)), None);
        change(&checkpoints, &call, "/w/b", None, Some("b"));
    }
    checkpoints.mark_undone("c1", "c2").unwrap();
    checkpoints.mark_undone("c6", "c7").unwrap();
    let now = NOW + 8 * DAY;
    let reads = [text(0)].map(|text| ReadEntry {
        path: "/w/a".into(),
        hash: Hash::of(text.as_bytes()),
        object: Some(Hash::of(text.as_bytes())),
        stamp: None,
    });
    let session = SessionFile {
        id: "s".into(),
        workspace: "/w".into(),
        reads: reads.into(),
        grants: vec![],
        extra: serde_json::Value::Null,
        saved_at: NOW,
    };
    sessions::save(&State::open(dir.path()).unwrap(), &session).unwrap();

    let by_age = Limits { max_age_ms: 6 * DAY, ..Limits::default() };
    let collected = checkpoints.collect(&by_age, now).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept, collected.objects.removed), (2, 6, 1));
    assert_eq!(names(&checkpoints.list(9, None).unwrap()), ["c7", "c6", "c5", "c4", "c3", "c2"]);
    assert!(checkpoints.objects().contains(&Hash::of(text(0).as_bytes())), "somebody else's");
    assert!(!checkpoints.objects().contains(&Hash::of(text(1).as_bytes())));
    assert!(!fs::read_to_string(dir.path().join("checkpoints.log")).unwrap().contains("\"c1\""));

    // Two objects of a block each, and the lines.
    let by_bytes = Limits { max_bytes: 10_000, ..Limits::default() };
    let collected = checkpoints.collect(&by_bytes, now).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept, collected.objects.kept), (4, 2, 3));
    let left = checkpoints.list(9, None).unwrap();
    assert_eq!(names(&left), ["c7", "c6"]);
    assert_eq!(left[1].undone_by.as_deref(), Some("c7"));
    assert_eq!(checkpoints.objects().get(&left[0].changes[0].before.unwrap()).unwrap(), text(7).as_bytes());

    // The same value goes on recording after the log was replaced.
    change(&checkpoints, &meta("c9", "s", now), "/w/a", Some("x"), None);
    assert_eq!(names(&checkpoints.list(1, None).unwrap()), ["c9"]);
}

#[test]
fn half_a_call_is_not_kept() {
    let (_dir, checkpoints) = world();
    let call = meta("c1", "s", NOW);
    change(&checkpoints, &call, "/w/a", Some(&"a".repeat(400)), None);
    change(&checkpoints, &call, "/w/b", Some(&"b".repeat(400)), None);
    let limits = Limits { max_bytes: 5000, ..Limits::default() };
    // What was done last can be taken back in any case.
    let collected = checkpoints.collect(&limits, NOW).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept, collected.objects.kept), (0, 1, 2));
    change(&checkpoints, &meta("c2", "s", NOW), "/w/c", None, Some("c"));
    let collected = checkpoints.collect(&limits, NOW).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept, collected.objects.kept), (1, 1, 0));
}

/// A line of something that is recorded while it happens.
fn recorded(checkpoints: &Checkpoints, call: &CheckpointMeta, path: &str, known: Known, after: Option<&str>) {
    let more = More { left: after.map(|_| Kind::File), left_as: None, was_as: None, before: Before::Kept, known };
    let preimage = Preimage {
        path: Path::new(path),
        kind: Kind::File,
        bytes: Some(b"one".as_slice()).filter(|_| known == Known::Begun),
        hash: Some(Hash::of(b"one").0),
        mode: Some(0o644),
        mode_left: None,
        after: after.map(|text| Hash::of(text.as_bytes()).0),
        more: Some(more),
        dress: None,
        linked: false,
    };
    checkpoints.record(call, &preimage).unwrap();
}

#[test]
fn what_is_recorded_is_known_by_its_last_line() {
    let (_dir, checkpoints) = world();
    let call = meta("c1", "s", NOW);
    for path in ["/w/a", "/w/b", "/w/c", "/w/d"] {
        recorded(&checkpoints, &call, path, Known::Begun, None);
    }
    recorded(&checkpoints, &call, "/w/b", Known::Settled, Some("two"));
    recorded(&checkpoints, &call, "/w/b", Known::Settled, Some("three"));
    recorded(&checkpoints, &call, "/w/c", Known::Unchanged, None);
    recorded(&checkpoints, &call, "/w/d", Known::Unchanged, None);
    recorded(&checkpoints, &call, "/w/d", Known::Begun, None);
    let found = checkpoints.find("c1").unwrap();
    let seen: Vec<_> = found.changes.iter().map(|change| (change.path.to_str().unwrap(), change.after)).collect();
    assert_eq!(seen, [("/w/a", None), ("/w/b", Some(Hash::of(b"three"))), ("/w/d", None)]);
    assert!(found.changes.iter().all(|change| change.before == Some(Hash::of(b"one"))), "{found:?}");
    let told: Vec<_> = found.changes.iter().map(|change| change.more.unwrap().known).collect();
    assert_eq!(told, [Known::Begun, Known::Settled, Known::Begun]);
}

#[test]
fn a_call_that_only_touched_stands_in_no_list() {
    let (_dir, checkpoints) = world();
    change(&checkpoints, &meta("c1", "s", NOW), "/w/a", None, Some("a"));
    let call = meta("c2", "s", NOW + 1);
    recorded(&checkpoints, &call, "/w/a", Known::Begun, None);
    recorded(&checkpoints, &call, "/w/a", Known::Unchanged, None);
    assert_eq!(names(&checkpoints.list(1, None).unwrap()), ["c1"]);
}

/// A command is applied as a whole; where others were in the way of it, that is taken back and the rest is tried again.
#[test]
fn a_try_that_came_to_nothing_is_none() {
    let (_dir, checkpoints) = world();
    let call = meta("c1", "s", NOW);
    change(&checkpoints, &call, "/w/a", Some("one"), Some("two"));
    change(&checkpoints, &call, "/w/b", Some("one"), None);
    for path in ["/w/a", "/w/b"] {
        recorded(&checkpoints, &call, path, Known::Unchanged, None);
    }
    assert_eq!(names(&checkpoints.list(1, None).unwrap()), [""; 0]);
    change(&checkpoints, &call, "/w/b", Some("one"), None);
    let found = checkpoints.find("c1").unwrap();
    let [b] = &found.changes[..] else { panic!("{found:?}") };
    assert_eq!((b.path.to_str(), b.before, b.after), (Some("/w/b"), Some(Hash::of(b"one")), None));
}

#[test]
fn a_job_that_began_days_ago_hides_nothing_of_what_came_before_its_last_line() {
    let (_dir, checkpoints) = world();
    let job = meta("job", "s", NOW - 3 * DAY);
    recorded(&checkpoints, &job, "/w/log", Known::Begun, None);
    let call = meta("c1", "s", NOW);
    change(&checkpoints, &call, "/w/a", Some("one"), Some("two"));
    recorded(&checkpoints, &job, "/w/other", Known::Begun, None);
    change(&checkpoints, &call, "/w/b", Some("one"), Some("two"));
    let found = checkpoints.list(1, None).unwrap();
    assert_eq!((names(&found), found[0].changes.len()), (vec!["c1"], 2));
    assert_eq!(checkpoints.find("job").unwrap().changes.len(), 2);
}

#[test]
fn a_call_goes_on_while_it_is_held() {
    let (dir, checkpoints) = world();
    assert!(!checkpoints.is_held("c1"));
    let hold = checkpoints.hold("c1").unwrap();
    assert!(checkpoints.is_held("c1") && !checkpoints.is_held("c2"));
    drop(hold);
    assert!(!checkpoints.is_held("c1"));
    // What a dead process left holds nothing, and goes.
    let left = dir.path().join("recording/c3");
    fs::write(&left, "").unwrap();
    assert!(!checkpoints.is_held("c3") && !left.exists());
    assert!(checkpoints.hold("../c4").is_err() && !checkpoints.is_held("../c4"));
}
