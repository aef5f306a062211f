//! The life cycle, and what many who use one row at once see.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::json;

use super::life::circle;
use super::*;
use crate::db::Db;
use crate::state::State;

fn db() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::at(&State::open(dir.path()).unwrap());
    (dir, db)
}

fn add(db: &Db, title: &str, blocked_by: &[TaskId]) -> TaskId {
    let new = NewTask { title: title.to_owned(), blocked_by: blocked_by.to_vec(), ..NewTask::default() };
    db.add_task(&new, 1).unwrap().task.id
}

fn by(by: Move) -> Change {
    Change { to: Some(To::By(by)), ..Change::default() }
}

fn be(status: Status) -> Change {
    Change { to: Some(To::Be(status)), ..Change::default() }
}

#[test]
fn a_refused_row_is_not_among_those_that_are_there() {
    let (_dir, db) = db();
    let first = add(&db, "one", &[]);
    for stranger in [
        NewTask { blocked_by: vec![TaskId(9)], ..NewTask::default() },
        NewTask { blocks: vec![TaskId(9)], ..NewTask::default() },
    ] {
        let refused = db.add_task(&NewTask { title: "two".to_owned(), ..stranger }, 2).unwrap_err();
        assert_eq!(refused.to_string(), "there is no task t9; the latest are t1");
    }
    assert_eq!(add(&db, "two", &[first]), TaskId(2), "and its name was not used up");
}

#[test]
fn the_table_is_whole() {
    for (at, row) in LIFE.iter().enumerate() {
        assert!(LIFE[..at].iter().all(|other| (other.0, other.1) != (row.0, row.1)), "{row:?} is there twice");
        assert_eq!(Move::toward(row.2), row.1, "a move leads to one status");
    }
    for status in Status::ALL {
        assert!(LIFE.iter().any(|(_, _, to)| *to == status), "{status} can be reached");
        assert!(LIFE.iter().any(|(from, _, _)| *from == status), "{status} can be left");
        assert_eq!(serde_json::to_value(status).unwrap(), json!(status.name()));
        // What is given up or done is opened again before anything else happens to it.
        if status.has_ended() {
            let ways: Vec<Move> = Move::ALL.into_iter().filter(|by| step(status, *by).is_some()).collect();
            assert_eq!(ways, [Move::Reopen]);
        }
    }
    assert_eq!(step(Status::InProgress, Move::Start), None, "of two who start it, one does");
}

#[test]
fn ids_as_models_write_them() {
    for text in ["t7", "T7", "#7", "7", " t7 "] {
        assert_eq!(text.parse(), Ok(TaskId(7)), "{text}");
    }
    for text in ["", "t", "t0", "-1", "t-1", "x7", "7x", "t7.1", "99999999999999999999"] {
        assert!(text.parse::<TaskId>().is_err(), "{text}");
    }
}

#[test]
fn a_row_lives() {
    let (_dir, db) = db();
    let new = NewTask {
        title: "  Fix the parser ".to_owned(),
        description: Some("It drops the last line.".to_owned()),
        priority: Some(Priority::High),
        metadata: json!({"issue": 7}).as_object().unwrap().clone(),
        ..NewTask::default()
    };
    let made = db.add_task(&new, 5).unwrap().task;
    assert_eq!(
        (made.id.to_string(), made.title.as_str(), made.status),
        ("t1".into(), "Fix the parser", Status::Pending)
    );
    assert_eq!((made.version, made.created_ms, made.updated_ms), (1, 5, 5));
    let start = Change { owner: Some("ada".to_owned()), ..by(Move::Start) };
    let started = db.change_task(made.id, &start, 6).unwrap().task;
    assert_eq!((started.status, started.owner.as_deref(), started.version), (Status::InProgress, Some("ada"), 2));
    let again = db.change_task(made.id, &start, 7).unwrap_err();
    assert_eq!(again.to_string(), "t1 cannot be started: it is in_progress, ada has it");
    // Saying what is so already changes nothing, unless it takes it from somebody.
    assert_eq!(db.change_task(made.id, &be(Status::InProgress), 8).unwrap().task.version, 2);
    let steal = Change { owner: Some("bob".to_owned()), ..be(Status::InProgress) };
    assert!(matches!(db.change_task(made.id, &steal, 8), Err(TaskError::Refused { .. })));
    let note = Change {
        note: Some("half done".to_owned()),
        metadata: json!({"issue": null, "branch": "fix"}).as_object().unwrap().clone(),
        description: Some(String::new()),
        ..Change::default()
    };
    let noted = db.change_task(made.id, &note, 9).unwrap().task;
    assert_eq!((noted.notes, noted.description), (vec!["half done".to_owned()], None));
    assert_eq!(Value::from(noted.metadata), json!({"branch": "fix"}));
    let done = db.change_task(made.id, &by(Move::Complete), 10).unwrap().task;
    assert_eq!((done.status, done.version), (Status::Completed, 4));
    assert_eq!(db.task(made.id).unwrap(), done);
    assert!(matches!(db.task(TaskId(9)), Err(TaskError::Missing { .. })));
    assert_eq!(db.remove_task(made.id, 11).unwrap().task, done);
    assert!(matches!(db.task(made.id), Err(TaskError::Missing { .. })));
    assert_eq!(add(&db, "next", &[]), TaskId(2), "ids are not given twice");
}

#[test]
fn rows_wait_and_are_freed() {
    let (_dir, db) = db();
    let first = add(&db, "first", &[]);
    let second = add(&db, "second", &[]);
    let last = add(&db, "last", &[first, second]);
    assert_eq!(db.task(last).unwrap().status, Status::Blocked);
    let early = db.change_task(last, &by(Move::Start), 2).unwrap_err();
    assert_eq!(early.to_string(), "t3 cannot be started: it is blocked by t1, t2");
    assert!(db.change_task(last, &be(Status::Pending), 2).is_err(), "it still waits");
    let one = db.change_task(first, &by(Move::Complete), 3).unwrap();
    assert_eq!((one.freed, one.waiting), (vec![], vec![last]));
    let other = db.change_task(second, &by(Move::Complete), 4).unwrap();
    assert_eq!((other.freed, other.waiting), (vec![last], vec![]));
    assert_eq!(db.task(last).unwrap().status, Status::Pending);
    // Opened again, it holds back what did not begin.
    db.change_task(first, &by(Move::Reopen), 5).unwrap();
    assert_eq!(db.task(last).unwrap().status, Status::Blocked);
    // Given up is not done: what waits for it goes on waiting, and the answer says so.
    let given_up = db.change_task(first, &by(Move::Cancel), 6).unwrap();
    assert_eq!((given_up.freed, given_up.waiting), (vec![], vec![last]));
    assert_eq!(db.remove_task(first, 7).unwrap().freed, [last]);
}

#[test]
fn a_reason_holds_until_it_is_taken_away() {
    let (_dir, db) = db();
    let (one, other) = (add(&db, "one", &[]), add(&db, "other", &[]));
    let nothing = db.change_task(one, &by(Move::Block), 2).unwrap_err();
    assert!(matches!(&nothing, TaskError::Text { field: "blocked_by", .. }), "{nothing}");
    let held = Change { reason: Some("the key is missing".to_owned()), ..by(Move::Block) };
    db.change_task(one, &held, 3).unwrap();
    db.change_task(one, &Change { add_blocked_by: vec![other], ..Change::default() }, 4).unwrap();
    assert_eq!(db.change_task(other, &by(Move::Complete), 5).unwrap().freed, []);
    let refused = db.change_task(one, &by(Move::Start), 6).unwrap_err();
    assert_eq!(refused.to_string(), "t1 cannot be started: it is blocked: the key is missing");
    let open = db.change_task(one, &be(Status::Pending), 7).unwrap().task;
    assert_eq!((open.status, open.reason), (Status::Pending, None));
    // With rows to wait for, the reason is a note and holds nothing.
    let waits =
        Change { add_blocked_by: vec![add(&db, "third", &[])], reason: Some("needs it".to_owned()), ..by(Move::Block) };
    let waiting = db.change_task(one, &waits, 8).unwrap().task;
    assert_eq!((waiting.reason, waiting.notes), (None, vec!["needs it".to_owned()]));
    assert_eq!(db.change_task(TaskId(3), &by(Move::Complete), 9).unwrap().freed, [one]);
}

#[test]
fn circles_are_refused_and_leave_nothing() {
    let (_dir, db) = db();
    let a = add(&db, "a", &[]);
    let b = add(&db, "b", &[a]);
    let c = add(&db, "c", &[b]);
    let waits = |on: TaskId| Change { add_blocked_by: vec![on], ..Change::default() };
    let circle = db.change_task(a, &waits(c), 2).unwrap_err();
    assert_eq!(circle.to_string(), "t1 → t3 → t2 → t1 would wait for each other");
    assert!(matches!(db.change_task(a, &waits(a), 2), Err(TaskError::Circle(_))));
    assert!(matches!(db.change_task(a, &waits(TaskId(77)), 2), Err(TaskError::Missing { .. })));
    let task = db.task(a).unwrap();
    assert_eq!((task.blocked_by, task.status, task.version), (vec![], Status::Pending, 1));
}

#[test]
fn listed_by_what_is_next() {
    let (_dir, db) = db();
    let low = db.add_task(&NewTask { title: "low".into(), priority: Some(Priority::Low), ..NewTask::default() }, 1);
    let done = add(&db, "done", &[]);
    let normal = add(&db, "normal", &[]);
    let urgent =
        db.add_task(&NewTask { title: "urgent".into(), priority: Some(Priority::Urgent), ..NewTask::default() }, 1);
    let (low, urgent) = (low.unwrap().task.id, urgent.unwrap().task.id);
    db.change_task(done, &by(Move::Complete), 2).unwrap();
    db.change_task(low, &Change { owner: Some("ada".into()), ..Change::default() }, 3).unwrap();
    let ids = |filter: Filter| {
        let (rows, count) = db.tasks(&filter).unwrap();
        (rows.iter().map(|task| task.id).collect::<Vec<_>>(), count)
    };
    assert_eq!(ids(Filter::default()), (vec![urgent, normal, low, done], 4));
    assert_eq!(ids(Filter { limit: Some(2), ..Filter::default() }), (vec![urgent, normal], 4));
    assert_eq!(ids(Filter { statuses: vec![Status::Completed], ..Filter::default() }), (vec![done], 1));
    let two = Filter { statuses: vec![Status::Completed, Status::Blocked], ..Filter::default() };
    assert_eq!(ids(two), (vec![done], 1));
    assert_eq!(ids(Filter { owner: Some("ada".into()), ..Filter::default() }), (vec![low], 1));
}

#[test]
fn of_many_who_start_a_row_one_does() {
    let (dir, db) = db();
    let state = State::open(dir.path()).unwrap();
    for round in 0..10 {
        let id = add(&db, "wanted", &[]);
        let won = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for who in 0..8 {
                let (won, state) = (&won, &state);
                scope.spawn(move || {
                    let start = Change { owner: Some(format!("w{who}")), ..by(Move::Start) };
                    match Db::at(state).change_task(id, &start, 2) {
                        Ok(_) => won.fetch_add(1, Ordering::Relaxed),
                        Err(TaskError::Refused { .. }) => 0,
                        Err(error) => panic!("{error}"),
                    }
                });
            }
        });
        assert_eq!(won.load(Ordering::Relaxed), 1, "round {round}");
    }
}

#[test]
fn runs_begin_beat_stop_and_end() {
    let (_dir, db) = db();
    let run = || Some(NewRun { prompt: "Do it".into(), session: "s.a1".into(), stance: "workspace".into() });
    let add = |title: &str| {
        db.add_task(&NewTask { title: title.into(), run: run(), ..NewTask::default() }, 1).unwrap().task.id
    };
    let id = add("one");
    assert!(db.change_task(id, &by(Move::Complete), 2).unwrap_err().to_string().contains("cannot be completed"));
    let begun = db.begin_run(id, 42, 3).unwrap();
    assert_eq!((begun.status, begun.run.unwrap().pid), (Status::InProgress, Some(42)));
    assert!(matches!(db.begin_run(id, 43, 4), Err(TaskError::Refused { .. })), "one runner has it");
    assert_eq!(db.beat(id, 5).unwrap(), Beat { stop_asked: false, yours: true, notes: 0 });
    assert!(matches!(db.remove_task(id, 5), Err(TaskError::Refused { .. })));
    db.change_task(id, &Change { note: Some("also the tests".into()), ..Change::default() }, 6).unwrap();
    assert!(db.ask_stop(id).unwrap().run.unwrap().stop_asked);
    assert_eq!(db.beat(id, 7).unwrap(), Beat { stop_asked: true, yours: true, notes: 1 });
    let stopped = db.end_run(id, &RunEnd::Stopped { answer: None }, 8).unwrap().task;
    assert_eq!((stopped.status, stopped.reason.as_deref()), (Status::Cancelled, Some("it was asked to stop")));
    assert!(!db.beat(id, 9).unwrap().yours);
    assert!(matches!(db.end_run(id, &RunEnd::Completed("late".into()), 9), Err(TaskError::Refused { .. })));

    let (fine, dead) = (add("fine"), add("dead"));
    for id in [fine, dead] {
        db.begin_run(id, 1, 10).unwrap();
    }
    db.beat(fine, 10 + DEAD_AFTER_MS).unwrap();
    assert_eq!(db.bury(11 + DEAD_AFTER_MS).unwrap(), [dead]);
    assert_eq!(db.bury(11 + DEAD_AFTER_MS).unwrap(), []);
    assert_eq!(db.task(dead).unwrap().status, Status::Failed);
    let done = db.end_run(fine, &RunEnd::Completed("It is done.".into()), 12).unwrap().task;
    assert_eq!((done.status, done.run.unwrap().result.as_deref()), (Status::Completed, Some("It is done.")));
    let plain = db.add_task(&NewTask { title: "plain".into(), ..NewTask::default() }, 1).unwrap().task.id;
    add("for an agent");
    let actionable = Filter { actionable: true, ..Filter::default() };
    assert_eq!(db.tasks(&actionable).unwrap().0.iter().map(|task| task.id).collect::<Vec<_>>(), [plain]);
    assert!(db.ask_stop(plain).is_err() && db.begin_run(plain, 1, 1).is_err() && db.beat(plain, 1).is_err());
}

#[test]
fn long_texts_are_refused() {
    let (_dir, db) = db();
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    for new in [
        NewTask { title: long.clone(), ..NewTask::default() },
        NewTask { title: "  ".into(), ..NewTask::default() },
        NewTask { title: "t".into(), description: Some(long.clone()), ..NewTask::default() },
        NewTask {
            title: "t".into(),
            metadata: json!({ "k": long }).as_object().unwrap().clone(),
            ..NewTask::default()
        },
    ] {
        assert!(matches!(db.add_task(&new, 1), Err(TaskError::Text { .. })));
    }
    assert_eq!(db.tasks(&Filter::default()).unwrap().1, 0);
}

/// Something that somebody does to one of five rows.
fn act() -> impl Strategy<Value = (usize, Change)> {
    let status = prop::sample::select(Status::ALL.to_vec());
    let to = prop_oneof![prop::sample::select(Move::ALL.to_vec()).prop_map(To::By), status.prop_map(To::Be),];
    let others =
        || prop::collection::vec(1..=5i64, 0..2).prop_map(|ids| ids.into_iter().map(TaskId).collect::<Vec<_>>());
    (0..5usize, prop::option::of(to), others(), others(), prop::option::of(Just("why".to_owned()))).prop_map(
        |(at, to, add_blocks, add_blocked_by, reason)| {
            (at, Change { to, add_blocks, add_blocked_by, reason, ..Change::default() })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is done in whatever order: rows move only as the table says, a pending row waits for nothing, a
    /// blocked one for something, and nobody waits in a circle.
    #[test]
    fn rows_stay_true(acts in prop::collection::vec(act(), 1..25)) {
        let (_dir, db) = db();
        for n in 0..5 {
            add(&db, &format!("row {n}"), &[]);
        }
        for (now, (at, change)) in acts.into_iter().enumerate() {
            let id = TaskId(at as i64 + 1);
            let before = db.tasks(&Filter::default()).unwrap().0;
            let happened = db.change_task(id, &change, now as u64 + 2);
            let after = db.tasks(&Filter::default()).unwrap().0;
            if happened.is_err() {
                prop_assert_eq!(&before, &after, "what is refused changes nothing");
            }
            let find = |rows: &[Task], id: TaskId| rows.iter().find(|task| task.id == id).cloned().unwrap();
            for task in &after {
                let was = find(&before, task.id);
                let moved = was.status == task.status || LIFE.iter().any(|(from, _, to)| *from == was.status && *to == task.status)
                    // Opened again, it may have to wait at once.
                    || step(was.status, Move::Reopen).is_some() && task.status == Status::Blocked;
                prop_assert!(moved, "{} → {}", was.status, task.status);
                prop_assert!(task.version >= was.version);
                let waits = task.blocked_by.iter().any(|other| find(&after, *other).status != Status::Completed);
                match task.status {
                    Status::Pending => prop_assert!(!waits, "{task:?}"),
                    Status::Blocked => prop_assert!(waits || task.reason.is_some(), "{task:?}"),
                    _ => {}
                }
            }
            let edges: Vec<(TaskId, TaskId)> =
                after.iter().flat_map(|task| task.blocked_by.iter().map(|other| (task.id, *other))).collect();
            for task in &after {
                prop_assert_eq!(circle(&edges, task.id), None);
            }
            let mirrored: BTreeSet<(TaskId, TaskId)> =
                after.iter().flat_map(|task| task.blocks.iter().map(|other| (*other, task.id))).collect();
            prop_assert_eq!(edges.into_iter().collect::<BTreeSet<_>>(), mirrored);
        }
    }

    /// The circle that is told is one, and none is missed.
    #[test]
    fn circles_are_found(edges in prop::collection::vec((1..7i64, 1..7i64), 0..14), start in 1..7i64) {
        let edges: Vec<_> = edges.into_iter().map(|(a, b)| (TaskId(a), TaskId(b))).collect();
        let reach = |from: TaskId| {
            let mut seen = BTreeSet::new();
            let mut open = vec![from];
            while let Some(at) = open.pop() {
                open.extend(edges.iter().filter(|(a, _)| *a == at).map(|(_, b)| *b).filter(|b| seen.insert(*b)));
            }
            seen
        };
        let start = TaskId(start);
        match circle(&edges, start) {
            None => prop_assert!(!reach(start).contains(&start)),
            Some(way) => {
                prop_assert!(way.first() == Some(&start) && way.last() == Some(&start));
                prop_assert!(way.windows(2).all(|pair| edges.contains(&(pair[0], pair[1]))), "{way:?}");
            }
        }
    }
}
