//! Task rows in the database: made, found, changed, removed.

use nika_contract::text::preview;
use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde_json::{Map, Value};

use super::life::{apply, circle, said, title_of};
use super::{Change, Changed, Filter, Move, NewTask, Priority, Run, Status, Task, TaskError, TaskId, To};
use crate::db::Db;
use crate::error::StoreError;

impl Db {
    /// Makes a row.
    pub fn add_task(&self, new: &NewTask, now_ms: u64) -> Result<Changed, TaskError> {
        self.write(|tx| add(tx, new, now_ms))
    }

    /// One row.
    pub fn task(&self, id: TaskId) -> Result<Task, TaskError> {
        self.read(|tx| load(tx, id))
    }

    /// Rows, and how many there are without the limit. What is not ended comes first, by priority, then by age;
    /// what has ended follows, the latest first.
    pub fn tasks(&self, filter: &Filter) -> Result<(Vec<Task>, u64), TaskError> {
        self.read(|tx| {
            let statuses = filter.statuses.iter().map(|status| status.name()).collect::<Vec<_>>().join(",");
            let wanted = "(?1 = '' OR instr(',' || ?1 || ',', ',' || status || ',') > 0) AND (?2 IS NULL OR owner = ?2)
                 AND (NOT ?3 OR (status = 'pending' AND NOT EXISTS (SELECT 1 FROM run WHERE task = id)))";
            let count = format!("SELECT count(*) FROM task WHERE {wanted}");
            let count: i64 =
                tx.query_row(&count, params![statuses, filter.owner, filter.actionable], |row| row.get(0))?;
            let mut ids = tx.prepare(&format!(
                "SELECT id, status IN ('completed', 'cancelled', 'failed') AS ended FROM task WHERE {wanted}
                 ORDER BY ended, CASE WHEN ended THEN -updated_ms ELSE priority END, id LIMIT ?4"
            ))?;
            let limit = filter.limit.map_or(-1, i64::from);
            let ids = ids
                .query_map(params![statuses, filter.owner, filter.actionable, limit], |row| Ok(TaskId(row.get(0)?)))?;
            let rows = ids.map(|id| load(tx, id?)).collect::<Result<Vec<_>, _>>()?;
            Ok((rows, u64::try_from(count).unwrap_or(0)))
        })
    }

    /// Changes a row, and frees or holds back those that wait for it.
    pub fn change_task(&self, id: TaskId, change: &Change, now_ms: u64) -> Result<Changed, TaskError> {
        self.write(|tx| self::change(tx, id, change, now_ms))
    }

    /// Removes a row, and frees those that wait for nothing else. One that an agent works on stays.
    pub fn remove_task(&self, id: TaskId, now_ms: u64) -> Result<Changed, TaskError> {
        self.write(|tx| {
            let task = load(tx, id)?;
            if task.run.is_some() && !task.status.has_ended() {
                let hint = "`task_stop` ends its agent".to_owned();
                return Err(TaskError::Refused { id, by: Move::Cancel, is: task.status.to_string(), hint });
            }
            let waiting = dependents(tx, id, "blocked")?;
            tx.execute("DELETE FROM task WHERE id = ?1", [id.0])?;
            let freed = free(tx, &waiting, now_ms)?;
            Ok(Changed { task, freed, waiting: Vec::new() })
        })
    }
}

/// The farthest that a name may be from those that were given: counting goes on behind it, and it ends somewhere.
const FARTHEST: i64 = 10_000;

/// Refuses a name that was given before, also to a row that is gone, and one that is far from all others.
fn free_name(tx: &Transaction<'_>, id: TaskId) -> Result<(), TaskError> {
    let last: Option<i64> =
        tx.query_row("SELECT seq FROM sqlite_sequence WHERE name = 'task'", [], |row| row.get(0)).optional()?;
    let last = last.unwrap_or(0);
    let why = match id.0 {
        given if given <= last => format!("names are given once, and t{last} was the last; leave it out"),
        far if far > last + FARTHEST => {
            format!("the next is t{}, and at most t{} may be asked for", last + 1, last + FARTHEST)
        }
        _ => return Ok(()),
    };
    Err(TaskError::Name { id, why })
}

/// Makes a row within a transaction.
pub(crate) fn add(tx: &Transaction<'_>, new: &NewTask, now_ms: u64) -> Result<Changed, TaskError> {
    let title = title_of(&new.title)?;
    let priority = new.priority.unwrap_or(Priority::Normal);
    if let Some(id) = new.id {
        free_name(tx, id)?;
    }
    // Before the row is there: which others there are is said without it, as it goes with the refusal.
    for other in new.blocks.iter().chain(&new.blocked_by).filter(|other| Some(**other) != new.id) {
        known(tx, *other)?;
    }
    tx.execute(
        "INSERT INTO task (id, title, status, priority, metadata, notes, plan, created_ms, updated_ms, version)
         VALUES (?5, ?1, 'pending', ?2, '{}', '[]', ?3, ?4, ?4, 1)",
        params![title, priority as i64, new.plan, stamp(now_ms), new.id.map(|id| id.0)],
    )?;
    let id = TaskId(tx.last_insert_rowid());
    let change = Change {
        to: new.status.map(To::Be),
        title: None,
        description: new.description.clone(),
        active_form: new.active_form.clone(),
        owner: new.owner.clone(),
        priority: None,
        add_blocks: new.blocks.clone(),
        add_blocked_by: new.blocked_by.clone(),
        metadata: new.metadata.clone(),
        note: None,
        reason: None,
    };
    let mut changed = self::change(tx, id, &change, now_ms)?;
    // What it was made with is its first version.
    tx.execute("UPDATE task SET version = 1 WHERE id = ?1", [id.0])?;
    changed.task.version = 1;
    if let Some(run) = &new.run {
        said("prompt", Some(&run.prompt))?;
        tx.execute(
            "INSERT INTO run (task, prompt, session, stance, beat_ms, stop_asked) VALUES (?1, ?2, ?3, ?4, ?5, 0)",
            params![id.0, run.prompt, run.session, run.stance, stamp(now_ms)],
        )?;
        changed.task = load(tx, id)?;
    }
    Ok(changed)
}

/// Changes a row within a transaction. A change that changes nothing leaves the version as it is.
pub(crate) fn change(tx: &Transaction<'_>, id: TaskId, change: &Change, now_ms: u64) -> Result<Changed, TaskError> {
    let before = load(tx, id)?;
    let edges = change
        .add_blocked_by
        .iter()
        .map(|other| (id, *other))
        .chain(change.add_blocks.iter().map(|other| (*other, id)))
        .collect::<Vec<_>>();
    for (waiting, blocker) in &edges {
        for other in [waiting, blocker] {
            known(tx, *other)?;
        }
        tx.execute("INSERT OR IGNORE INTO waits (task, blocker) VALUES (?1, ?2)", [waiting.0, blocker.0])?;
    }
    if !edges.is_empty()
        && let Some(circle) = circle(&all_edges(tx)?, id)
    {
        return Err(TaskError::Circle(circle));
    }
    let mut task = load(tx, id)?;
    apply(&mut task, change)?;
    if task != before {
        task.version += 1;
        task.updated_ms = now_ms;
        save(tx, &task)?;
    }
    let freed = settle(tx, &task, now_ms)?;
    let waiting = dependents(tx, id, "blocked")?;
    Ok(Changed { task, freed, waiting })
}

/// Writes a row that was changed elsewhere (by its runner), and settles those that wait for it.
pub(super) fn put(tx: &Transaction<'_>, mut task: Task, now_ms: u64) -> Result<Changed, TaskError> {
    task.version += 1;
    task.updated_ms = now_ms;
    save(tx, &task)?;
    let freed = settle(tx, &task, now_ms)?;
    let waiting = dependents(tx, task.id, "blocked")?;
    Ok(Changed { task, freed, waiting })
}

/// Frees those that wait for a completed row, holds back those that could start although it is not.
fn settle(tx: &Transaction<'_>, task: &Task, now_ms: u64) -> Result<Vec<TaskId>, TaskError> {
    if task.status == Status::Completed {
        return free(tx, &dependents(tx, task.id, "blocked")?, now_ms);
    }
    for other in dependents(tx, task.id, "pending")? {
        turn(tx, other, Status::Blocked, now_ms)?;
    }
    Ok(Vec::new())
}

/// Those of `waiting` that wait for nothing any more are pending from now on.
pub(crate) fn free(tx: &Transaction<'_>, waiting: &[TaskId], now_ms: u64) -> Result<Vec<TaskId>, TaskError> {
    let mut freed = Vec::new();
    for id in waiting {
        let held: bool = tx.query_row("SELECT reason IS NOT NULL FROM task WHERE id = ?1", [id.0], |row| row.get(0))?;
        if !held && open_blockers(tx, *id)?.is_empty() {
            turn(tx, *id, Status::Pending, now_ms)?;
            freed.push(*id);
        }
    }
    Ok(freed)
}

fn turn(tx: &Transaction<'_>, id: TaskId, status: Status, now_ms: u64) -> Result<(), TaskError> {
    tx.execute(
        "UPDATE task SET status = ?2, updated_ms = ?3, version = version + 1 WHERE id = ?1",
        params![id.0, status.name(), stamp(now_ms)],
    )?;
    Ok(())
}

/// The row, or which ones there are.
pub(crate) fn load(tx: &Transaction<'_>, id: TaskId) -> Result<Task, TaskError> {
    let found = tx
        .query_row(
            "SELECT id, title, description, status, priority, active_form, owner, reason, metadata, notes,
                    created_ms, updated_ms, version, prompt, session, stance, pid, beat_ms, stop_asked, result
             FROM task LEFT JOIN run ON run.task = task.id WHERE id = ?1",
            [id.0],
            read,
        )
        .optional()?;
    let Some(task) = found else { return Err(missing(tx, id)?) };
    let mut task = task?;
    task.blocked_by = ids(tx, "SELECT blocker FROM waits WHERE task = ?1 ORDER BY blocker", id)?;
    task.waits_for = open_blockers(tx, id)?;
    task.blocks = ids(tx, "SELECT task FROM waits WHERE blocker = ?1 ORDER BY task", id)?;
    Ok(task)
}

/// A row of the query in [`load`], without its edges.
fn read(row: &Row<'_>) -> rusqlite::Result<Result<Task, StoreError>> {
    let id: i64 = row.get("id")?;
    let bad = |what: &str, text: &str| {
        let text = preview(text, 80);
        StoreError::Database(format!("the task t{id} has {what} that this Nika does not know: {text}"))
    };
    let (status, metadata, notes): (String, String, String) =
        (row.get("status")?, row.get("metadata")?, row.get("notes")?);
    let number = |name: &str| row.get::<_, i64>(name).map(|number| u64::try_from(number).unwrap_or(0));
    let priority = usize::try_from(row.get::<_, i64>("priority")?).ok();
    let run = match row.get::<_, Option<String>>("prompt")? {
        None => None,
        Some(prompt) => Some(Run {
            prompt,
            session: row.get("session")?,
            stance: row.get("stance")?,
            pid: row.get("pid")?,
            beat_ms: number("beat_ms")?,
            stop_asked: row.get("stop_asked")?,
            result: row.get("result")?,
        }),
    };
    let (title, description, active_form, owner, reason) =
        (row.get("title")?, row.get("description")?, row.get("active_form")?, row.get("owner")?, row.get("reason")?);
    let (created_ms, updated_ms, version) = (number("created_ms")?, number("updated_ms")?, number("version")?);
    Ok((|| {
        Ok(Task {
            id: TaskId(id),
            title,
            description,
            status: Status::named(&status).ok_or_else(|| bad("a status", &status))?,
            priority: priority.and_then(|at| Priority::ALL.get(at).copied()).unwrap_or(Priority::Normal),
            active_form,
            owner,
            blocks: Vec::new(),
            blocked_by: Vec::new(),
            waits_for: Vec::new(),
            reason,
            metadata: serde_json::from_str::<Map<String, Value>>(&metadata).map_err(|_| bad("metadata", &metadata))?,
            notes: serde_json::from_str(&notes).map_err(|_| bad("notes", &notes))?,
            run,
            created_ms,
            updated_ms,
            version,
        })
    })())
}

/// Writes a row's own columns. Its edges are in a table of their own.
fn save(tx: &Transaction<'_>, task: &Task) -> Result<(), TaskError> {
    tx.execute(
        "UPDATE task SET title = ?2, description = ?3, status = ?4, priority = ?5, active_form = ?6, owner = ?7,
                reason = ?8, metadata = ?9, notes = ?10, updated_ms = ?11, version = ?12 WHERE id = ?1",
        params![
            task.id.0,
            task.title,
            task.description,
            task.status.name(),
            task.priority as i64,
            task.active_form,
            task.owner,
            task.reason,
            Value::from(task.metadata.clone()).to_string(),
            Value::from(task.notes.clone()).to_string(),
            stamp(task.updated_ms),
            stamp(task.version),
        ],
    )?;
    Ok(())
}

fn known(tx: &Transaction<'_>, id: TaskId) -> Result<(), TaskError> {
    let there: bool = tx.query_row("SELECT EXISTS (SELECT 1 FROM task WHERE id = ?1)", [id.0], |row| row.get(0))?;
    if there { Ok(()) } else { Err(missing(tx, id)?) }
}

fn missing(tx: &Transaction<'_>, id: TaskId) -> Result<TaskError, TaskError> {
    let near = ids(tx, "SELECT id FROM task WHERE id <> ?1 ORDER BY id DESC LIMIT 3", id)?;
    Ok(TaskError::Missing { id, near })
}

/// Those that `id` waits for and that are not completed.
fn open_blockers(tx: &Transaction<'_>, id: TaskId) -> Result<Vec<TaskId>, TaskError> {
    ids(
        tx,
        "SELECT blocker FROM waits JOIN task ON task.id = blocker
         WHERE waits.task = ?1 AND status <> 'completed' ORDER BY blocker",
        id,
    )
}

/// Those with this status that wait for `id`.
fn dependents(tx: &Transaction<'_>, id: TaskId, status: &'static str) -> Result<Vec<TaskId>, TaskError> {
    let mut found = tx.prepare(
        "SELECT waits.task FROM waits JOIN task ON task.id = waits.task
         WHERE blocker = ?1 AND status = ?2 ORDER BY waits.task",
    )?;
    let found = found.query_map(params![id.0, status], |row| Ok(TaskId(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn ids(tx: &Transaction<'_>, sql: &str, id: TaskId) -> Result<Vec<TaskId>, TaskError> {
    let mut found = tx.prepare(sql)?;
    let found = found.query_map([id.0], |row| Ok(TaskId(row.get(0)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn all_edges(tx: &Transaction<'_>) -> Result<Vec<(TaskId, TaskId)>, TaskError> {
    let mut found = tx.prepare("SELECT task, blocker FROM waits")?;
    let found = found.query_map([], |row| Ok((TaskId(row.get(0)?), TaskId(row.get(1)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// SQLite's integers have a sign; times and counts stay far below it.
pub(super) fn stamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
