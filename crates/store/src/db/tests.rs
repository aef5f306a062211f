//! Making, opening and sharing the database.

use std::os::unix::fs::MetadataExt;

use super::*;
use crate::tasks::{NewTask, TaskId};

fn state() -> (tempfile::TempDir, State) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    (dir, state)
}

fn named(title: &str) -> NewTask {
    NewTask { title: title.to_owned(), ..NewTask::default() }
}

#[test]
fn nothing_is_made_before_something_is_asked() {
    let (_dir, state) = state();
    let db = Db::at(&state);
    assert!(!state.database_path().exists());
    db.todos("s").unwrap();
    let beside = |end: &str| PathBuf::from(format!("{}{end}", state.database_path().display()));
    for path in [beside(""), beside("-wal"), beside("-shm")] {
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{}", path.display());
    }
    let mode: String =
        connect(&state.database_path()).unwrap().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn many_make_it_at_once() {
    let (dir, state) = state();
    fs::write(dir.path().join("nika.4711.0.new"), "one that was killed").unwrap();
    let ids = std::thread::scope(|scope| {
        let adding = || {
            let db = Db::at(&state);
            (0..5).map(|n| db.add_task(&named(&format!("task {n}")), 1).unwrap().task.id).collect::<Vec<_>>()
        };
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(adding)).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<std::collections::BTreeSet<_>>()
    });
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), (1..=40).map(TaskId).collect::<Vec<_>>());
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains(".new")), "{names:?}");
}

#[test]
fn a_newer_database_is_left_alone() {
    let (_dir, state) = state();
    Db::at(&state).add_task(&named("one"), 1).unwrap();
    connect(&state.database_path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Db::at(&state).todos("s").unwrap_err().to_string();
    assert!(error.contains("version is 99"), "{error}");
}

#[test]
fn what_is_no_database_is_named() {
    let (_dir, state) = state();
    fs::write(state.database_path(), "hello, I am a text file and not a database at all").unwrap();
    let error = Db::at(&state).todos("s").unwrap_err();
    assert!(error.to_string().contains("nika.db"), "{error}");
    assert_eq!(nika_contract::ToolError::from(error).code.0, 901);
}

#[test]
fn an_older_database_is_brought_up_to_date() {
    let (_dir, state) = state();
    let path = state.database_path();
    fs::write(&path, "").unwrap();
    // An empty file is a database of version 0.
    Db::at(&state).add_task(&named("one"), 1).unwrap();
    assert_eq!(version(&connect(&path).unwrap()).unwrap(), MIGRATIONS.len() as i64);
}

#[test]
fn what_fails_leaves_nothing() {
    let (_dir, state) = state();
    let db = Db::at(&state);
    let id = db.add_task(&named("one"), 1).unwrap().task.id;
    let failed: Result<(), StoreError> = db.write(|tx| {
        tx.execute("UPDATE task SET title = 'two'", [])?;
        Err(StoreError::Database("no".to_owned()))
    });
    assert!(failed.is_err());
    assert_eq!(db.task(id).unwrap().title, "one");
}
