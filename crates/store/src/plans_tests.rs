//! Plans alone, and in step with rows.

use super::*;
use crate::state::State;
use crate::tasks::Filter;

fn db() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::at(&State::open(dir.path()).unwrap());
    (dir, db)
}

fn step(words: &str, status: Option<Status>, depends_on: &[&str]) -> Step {
    let depends_on = depends_on.iter().map(|name| (*name).to_owned()).collect();
    Step { step: words.to_owned(), status, depends_on, ..Step::default() }
}

fn plan(steps: Vec<Step>) -> Plan {
    Plan { explanation: Some("why".to_owned()), steps }
}

/// Title, status, waits for.
fn rows_of(db: &Db) -> Vec<(String, Status, Vec<TaskId>)> {
    let mut rows = db.tasks(&Filter::default()).unwrap().0;
    rows.sort_by_key(|task| task.id);
    rows.into_iter().map(|task| (task.title, task.status, task.blocked_by)).collect()
}

#[test]
fn each_session_has_its_own() {
    let (_dir, db) = db();
    assert_eq!(db.plan("a").unwrap(), None);
    let mine = plan(vec![step("look", Some(Status::InProgress), &[]), step("mend", None, &["1", "look"])]);
    assert_eq!(db.set_plan("a", mine.clone(), false, 1).unwrap(), (mine.clone(), Mirrored::default()));
    assert_eq!((db.plan("a").unwrap(), db.plan("b").unwrap()), (Some(mine), None));
    assert_eq!(rows_of(&db), []);
    assert!(db.clear_plan("a", true, 2).unwrap().is_some());
    assert_eq!(db.clear_plan("a", true, 2).unwrap(), None);
    let unknown = db.set_plan("a", plan(vec![step("look", None, &["2"])]), false, 3).unwrap_err();
    assert_eq!(unknown.to_string(), "`depends_on`: '2' is no step; name it by number from 1 to 1, task_id or words");
}

#[test]
fn rows_follow_the_plan() {
    let (_dir, db) = db();
    let named = |mut step: Step, name: &str| {
        step.task_id = Some(name.to_owned());
        step
    };
    let steps = vec![
        named(step("look", Some(Status::InProgress), &[]), "first"),
        step("mend", None, &["first"]),
        step("check", Some(Status::Pending), &["2"]),
        step("tell", None, &[]),
    ];
    let refused = db.set_plan("a", plan(steps.clone()), true, 1).unwrap_err();
    assert_eq!(refused.to_string(), "t3 cannot be set back to pending: it is blocked by t2");
    assert_eq!((rows_of(&db), db.plan("a").unwrap()), (vec![], None), "nothing was changed");

    let steps: Vec<Step> =
        steps.into_iter().map(|step| Step { status: step.status.filter(|s| *s != Status::Pending), ..step }).collect();
    let (kept, mirrored) = db.set_plan("a", plan(steps), true, 2).unwrap();
    assert_eq!(mirrored.made.len(), 4);
    let ids: Vec<_> = kept.steps.iter().map(|step| step.task_id.clone().unwrap()).collect();
    assert_eq!(ids, ["t1", "t2", "t3", "t4"]);
    assert_eq!(kept.steps[2].status, Some(Status::Blocked));
    assert_eq!(kept.steps[1].depends_on, ["t1"]);

    // The next version: one step done, one dropped, one new, found again by their words.
    let steps = vec![
        step("mend", Some(Status::InProgress), &["look"]),
        step("look", Some(Status::Completed), &[]),
        step("check", None, &[]),
        step("celebrate", None, &["3"]),
    ];
    let (_, mirrored) = db.set_plan("a", plan(steps), true, 3).unwrap();
    assert_eq!(mirrored, Mirrored { made: vec![TaskId(5)], cancelled: vec![TaskId(4)] });
    assert_eq!(
        rows_of(&db),
        [
            ("look".to_owned(), Status::Completed, vec![]),
            ("mend".to_owned(), Status::InProgress, vec![TaskId(1)]),
            ("check".to_owned(), Status::Pending, vec![]),
            ("tell".to_owned(), Status::Cancelled, vec![]),
            ("celebrate".to_owned(), Status::Blocked, vec![TaskId(3)]),
        ]
    );

    // What somebody does to a row is seen in the plan; what a version without rows forgot is found again.
    db.change_task(TaskId(3), &Change { to: Some(To::Be(Status::Completed)), ..Change::default() }, 4).unwrap();
    let steps = db.plan("a").unwrap().unwrap().steps;
    assert_eq!((steps[2].status, steps[3].status), (Some(Status::Completed), Some(Status::Pending)));
    db.set_plan("a", plan(vec![step("mend", None, &[])]), false, 5).unwrap();
    let (kept, mirrored) = db.set_plan("a", plan(vec![step("mend", None, &[])]), true, 6).unwrap();
    assert_eq!(kept.steps[0].task_id.as_deref(), Some("t2"));
    assert_eq!(mirrored, Mirrored { made: vec![], cancelled: vec![TaskId(5)] });

    // Rows of others stay out of it.
    let other = db.add_task(&NewTask { title: "other".to_owned(), ..NewTask::default() }, 7).unwrap().task.id;
    let cleared = db.clear_plan("a", true, 8).unwrap().unwrap();
    assert_eq!(cleared.cancelled, [], "somebody works on t2");
    assert_eq!(db.task(other).unwrap().status, Status::Pending);
}

#[test]
fn a_plan_names_rows_that_others_made() {
    let (_dir, db) = db();
    let other = db.add_task(&NewTask { title: "theirs".to_owned(), ..NewTask::default() }, 1).unwrap().task.id;
    let mut first = step("theirs, as we say it", None, &[]);
    first.task_id = Some(other.to_string());
    let (kept, mirrored) = db.set_plan("a", plan(vec![first, step("ours", None, &["t1"])]), true, 2).unwrap();
    assert_eq!((kept.steps[1].status, mirrored.made), (Some(Status::Blocked), vec![TaskId(2)]));
    let dropped = db.set_plan("a", plan(vec![step("ours", None, &[])]), true, 3).unwrap();
    assert_eq!(dropped.1.cancelled, [], "it was not the plan's");
    let mut gone = step("gone", None, &[]);
    gone.task_id = Some("t99".to_owned());
    assert!(matches!(db.set_plan("a", plan(vec![gone]), true, 4), Err(TaskError::Missing { .. })));
}
