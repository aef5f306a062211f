//! Tasks that an agent does: what its runner writes down, and how others reach it.
//!
//! The runner adds a row with [`super::NewTask::run`], takes it with [`Db::begin_run`] (of several that try, one
//! gets it), says every second that it lives with [`Db::beat`] and hears there whether to stop, and writes how it
//! ended with [`Db::end_run`]. A row whose runner has been silent for [`DEAD_AFTER_MS`] has failed: whoever looks
//! next says so ([`Db::bury`]).

use rusqlite::{Transaction, params};

use super::life::{is, step};
use super::rows::{load, put, stamp};
use super::{Changed, Move, Task, TaskError, TaskId};
use crate::db::Db;

/// After this many milliseconds without a beat, a runner is dead: thirty of its seconds, so that a machine under
/// load is not taken for a dead one.
pub const DEAD_AFTER_MS: u64 = 30_000;

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// It answered this.
    Completed(String),
    /// It could not do it.
    Failed {
        /// Why, in a line.
        why: String,
        /// What it answered all the same.
        answer: Option<String>,
    },
    /// It was asked to stop, and did.
    Stopped {
        /// What it had answered by then.
        answer: Option<String>,
    },
}

/// What a runner hears when it says that it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// Somebody wants it to end: [`Db::end_run`] with [`RunEnd::Stopped`] is next.
    pub stop_asked: bool,
    /// The row is still this runner's. If not, it was taken for dead: nothing it says counts any more.
    pub yours: bool,
    /// Notes on the row, for the agent: those from its last look on are new.
    pub notes: usize,
}

impl Db {
    /// Takes a pending row with a run for the process `pid`.
    pub fn begin_run(&self, id: TaskId, pid: u32, now_ms: u64) -> Result<Task, TaskError> {
        self.write(|tx| {
            let mut task = load(tx, id)?;
            move_run(&mut task, Move::Start)?;
            tx.execute("UPDATE run SET pid = ?2, beat_ms = ?3 WHERE task = ?1", params![id.0, pid, stamp(now_ms)])?;
            put(tx, task, now_ms)?;
            load(tx, id)
        })
    }

    /// Says that the row's runner lives, before and after it began.
    pub fn beat(&self, id: TaskId, now_ms: u64) -> Result<Beat, TaskError> {
        self.write(|tx| {
            let task = load(tx, id)?;
            let Some(run) = &task.run else { return Err(no_run(&task, Move::Start)) };
            let yours = !task.status.has_ended();
            if yours {
                tx.execute("UPDATE run SET beat_ms = ?2 WHERE task = ?1", params![id.0, stamp(now_ms)])?;
            }
            Ok(Beat { stop_asked: run.stop_asked, yours, notes: task.notes.len() })
        })
    }

    /// Writes how the run ended. Refused when the row has ended before.
    pub fn end_run(&self, id: TaskId, end: &RunEnd, now_ms: u64) -> Result<Changed, TaskError> {
        self.write(|tx| self::end_run(tx, id, end, now_ms))
    }

    /// Asks the row's runner to stop; the row as it is. It ends when its runner says so.
    pub fn ask_stop(&self, id: TaskId) -> Result<Task, TaskError> {
        self.write(|tx| {
            let task = load(tx, id)?;
            if task.run.is_none() {
                return Err(no_run(&task, Move::Cancel));
            }
            if task.status.has_ended() {
                return Ok(task);
            }
            tx.execute("UPDATE run SET stop_asked = 1 WHERE task = ?1", [id.0])?;
            load(tx, id)
        })
    }

    /// Fails the rows whose runners are dead; which ones.
    pub fn bury(&self, now_ms: u64) -> Result<Vec<TaskId>, TaskError> {
        let dead = |tx: &Transaction<'_>| -> Result<Vec<TaskId>, TaskError> {
            let mut found = tx.prepare(
                "SELECT id FROM task JOIN run ON run.task = id
                 WHERE status IN ('pending', 'in_progress') AND beat_ms < ?1",
            )?;
            let before = stamp(now_ms.saturating_sub(DEAD_AFTER_MS));
            let found = found.query_map([before], |row| Ok(TaskId(row.get(0)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        };
        // Mostly nobody is: a look takes no lock.
        if self.read(dead)?.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|tx| {
            let dead = dead(tx)?;
            for id in &dead {
                let why = "the process that ran its agent is gone".to_owned();
                end_run(tx, *id, &RunEnd::Failed { why, answer: None }, now_ms)?;
            }
            Ok(dead)
        })
    }
}

fn end_run(tx: &Transaction<'_>, id: TaskId, end: &RunEnd, now_ms: u64) -> Result<Changed, TaskError> {
    let mut task = load(tx, id)?;
    let (by, reason, result) = match end {
        // A run that ends so quickly that nobody saw it begin has ended all the same.
        RunEnd::Completed(result) => (Move::Complete, None, Some(result)),
        RunEnd::Failed { why, answer } => (Move::Fail, Some(why.clone()), answer.as_ref()),
        RunEnd::Stopped { answer } => (Move::Cancel, Some("it was asked to stop".to_owned()), answer.as_ref()),
    };
    move_run(&mut task, by)?;
    task.reason = reason;
    tx.execute("UPDATE run SET result = ?2, beat_ms = ?3 WHERE task = ?1", params![id.0, result, stamp(now_ms)])?;
    let mut changed = put(tx, task, now_ms)?;
    changed.task = load(tx, id)?;
    Ok(changed)
}

/// Moves a row that has a run, by the same table as any other.
fn move_run(task: &mut Task, by: Move) -> Result<(), TaskError> {
    if task.run.is_none() {
        return Err(no_run(task, by));
    }
    let Some(next) = step(task.status, by) else {
        let hint = "its run is over; make a new task for another".to_owned();
        return Err(TaskError::Refused { id: task.id, by, is: is(task), hint });
    };
    task.status = next;
    Ok(())
}

fn no_run(task: &Task, by: Move) -> TaskError {
    let is = format!("{}, and no agent does it", task.status);
    TaskError::Refused { id: task.id, by, is, hint: "`task_update` moves it".to_owned() }
}
