//! The plan of a session, and its mirror in task rows.
//!
//! A plan is one session's; rows are the workspace's. When the two are kept in step, each step is a row: it is
//! found again by its id or, in the next version of the plan, by its words. A row that the plan made and no longer
//! names is cancelled, unless somebody works on it or it has ended.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Transaction, params};
use serde::{Deserialize, Serialize};

use crate::db::Db;
use crate::error::StoreError;
use crate::tasks::{Change, NewTask, Priority, Status, TaskError, TaskId, To, rows};

/// What a session means to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Why it is so.
    pub explanation: Option<String>,
    /// In order.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// What is to be done.
    pub step: String,
    /// Where it stands; of a step with a row, what the row says.
    pub status: Option<Status>,
    /// Its name in `depends_on`: its row's id once it has one, else whatever its author called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// In more words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// What to show while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// Who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Steps that come first: by number from 1, by `task_id`, or by their words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl Step {
    fn row(&self) -> Option<TaskId> {
        // A bare number is a step's, never a row's.
        self.task_id.as_deref().filter(|name| name.starts_with(['t', 'T']))?.parse().ok()
    }
}

/// Steps of one plan.
pub const MAX_STEPS: usize = 200;

/// What a plan's change did to rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mirrored {
    /// Rows that were made.
    pub made: Vec<TaskId>,
    /// Rows that the plan no longer names.
    pub cancelled: Vec<TaskId>,
}

impl Db {
    /// The plan of `session`, its steps standing where their rows do.
    pub fn plan(&self, session: &str) -> Result<Option<Plan>, TaskError> {
        self.read(|tx| load(tx, session))
    }

    /// Replaces the plan of `session`; with `sync`, rows follow. The plan as it is now. When a row cannot follow,
    /// nothing is changed.
    pub fn set_plan(&self, session: &str, plan: Plan, sync: bool, now_ms: u64) -> Result<(Plan, Mirrored), TaskError> {
        self.write(|tx| {
            let mut plan = plan;
            let ordered = order(&plan.steps)?;
            let mut mirrored = Mirrored::default();
            if sync {
                let former = load(tx, session)?.unwrap_or_default();
                mirrored = mirror(tx, session, &former, &mut plan, &ordered, now_ms)?;
            }
            save(tx, session, &plan)?;
            Ok((load(tx, session)?.unwrap_or(plan), mirrored))
        })
    }

    /// Removes the plan of `session`; with `sync`, its open rows are cancelled. `None` when there
    /// was nothing to remove.
    pub fn clear_plan(&self, session: &str, sync: bool, now_ms: u64) -> Result<Option<Mirrored>, TaskError> {
        self.write(|tx| {
            let removed = tx.execute("DELETE FROM plan WHERE session = ?1", [session])?;
            let cancelled = if sync { drop_rows(tx, session, &[], now_ms)? } else { Vec::new() };
            let happened = removed > 0 || !cancelled.is_empty();
            Ok(happened.then(|| Mirrored { made: Vec::new(), cancelled }))
        })
    }
}

/// Which steps each step comes after, by their place. What names no step has to be a row.
fn order(steps: &[Step]) -> Result<Vec<Vec<After>>, TaskError> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        by_name.entry(step.step.as_str()).or_insert(at);
    }
    for (at, step) in steps.iter().enumerate() {
        by_name.extend(step.task_id.as_deref().map(|name| (name, at)));
    }
    let find = |name: &str| {
        let name = name.trim();
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let row = || name.starts_with(['t', 'T']).then(|| name.parse().ok()).flatten();
        match by_name.get(name).copied().or(number.filter(|at| *at < steps.len())) {
            Some(at) => Ok(After::Step(at)),
            None => row().map(After::Row).ok_or_else(|| TaskError::Text {
                field: "depends_on",
                why: format!("'{name}' is no step; name it by number from 1 to {}, task_id or words", steps.len()),
            }),
        }
    };
    steps.iter().map(|step| step.depends_on.iter().map(|name| find(name)).collect()).collect()
}

/// What a step comes after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Step(usize),
    Row(TaskId),
}

/// Makes the rows say what the plan says.
fn mirror(
    tx: &Transaction<'_>,
    session: &str,
    former: &Plan,
    plan: &mut Plan,
    ordered: &[Vec<After>],
    now_ms: u64,
) -> Result<Mirrored, TaskError> {
    let mut known: Vec<(String, TaskId)> =
        former.steps.iter().filter_map(|step| Some((step.step.clone(), step.row()?))).collect();
    // A version between the two may not have been kept in step.
    known.extend(made_before(tx, session)?);
    let mut mirrored = Mirrored::default();
    let mut row_of = Vec::with_capacity(plan.steps.len());
    for step in &mut plan.steps {
        let same_words = || known.iter().position(|(words, _)| *words == step.step);
        let id = match step.row() {
            Some(id) => rows::load(tx, id)?.id,
            None => match same_words() {
                Some(at) => known.remove(at).1,
                None => {
                    let new =
                        NewTask { title: step.step.clone(), plan: Some(session.to_owned()), ..NewTask::default() };
                    let id = rows::add(tx, &new, now_ms)?.task.id;
                    mirrored.made.push(id);
                    id
                }
            },
        };
        known.retain(|(_, other)| *other != id);
        step.task_id = Some(id.to_string());
        row_of.push(id);
    }
    mirrored.cancelled = drop_rows(tx, session, &row_of, now_ms)?;
    // The plan says what its own rows wait for among each other, and nothing else does.
    for id in &row_of {
        tx.execute(
            "DELETE FROM waits WHERE task = ?1 AND blocker IN (SELECT id FROM task WHERE plan = ?2)",
            params![id.0, session],
        )?;
    }
    for (at, id) in row_of.iter().enumerate() {
        let step = &mut plan.steps[at];
        let row = |after: &After| match after {
            After::Step(before) => row_of[*before],
            After::Row(id) => *id,
        };
        let add_blocked_by: Vec<TaskId> = ordered[at].iter().map(row).collect();
        step.depends_on = add_blocked_by.iter().map(ToString::to_string).collect();
        let change = Change {
            title: Some(step.step.clone()),
            description: step.description.clone(),
            active_form: step.active_form.clone(),
            owner: step.owner.clone(),
            priority: step.priority,
            add_blocked_by,
            ..Change::default()
        };
        rows::change(tx, *id, &change, now_ms)?;
    }
    rows::free(tx, &waiting(tx, &row_of)?, now_ms)?;
    // What is completed frees what comes after it, so it goes first.
    let later = |step: &Step| step.status != Some(Status::Completed);
    let mut turns: Vec<usize> = (0..row_of.len()).filter(|at| plan.steps[*at].status.is_some()).collect();
    turns.sort_by_key(|at| later(&plan.steps[*at]));
    for at in turns {
        let Some(status) = plan.steps[at].status else { continue };
        let blocked = status == Status::Blocked && rows::load(tx, row_of[at])?.status != Status::Blocked;
        let reason = blocked.then(|| "its plan says so".to_owned());
        rows::change(tx, row_of[at], &Change { to: Some(To::Be(status)), reason, ..Change::default() }, now_ms)?;
    }
    Ok(mirrored)
}

/// The rows that the plan of `session` made and that were not given up, with their titles.
fn made_before(tx: &Transaction<'_>, session: &str) -> Result<Vec<(String, TaskId)>, TaskError> {
    let mut found =
        tx.prepare("SELECT title, id FROM task WHERE plan = ?1 AND status NOT IN ('cancelled', 'failed') ORDER BY id")?;
    let found = found.query_map([session], |row| Ok((row.get(0)?, TaskId(row.get(1)?))))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Those of `ids` that are blocked.
fn waiting(tx: &Transaction<'_>, ids: &[TaskId]) -> Result<Vec<TaskId>, TaskError> {
    let mut blocked = Vec::new();
    for id in ids {
        if rows::load(tx, *id)?.status == Status::Blocked {
            blocked.push(*id);
        }
    }
    Ok(blocked)
}

/// Cancels the rows that the plan of `session` made, except `named`, those that somebody works on and those that
/// have ended.
fn drop_rows(tx: &Transaction<'_>, session: &str, named: &[TaskId], now_ms: u64) -> Result<Vec<TaskId>, TaskError> {
    let mut found = tx.prepare(
        "SELECT id FROM task WHERE plan = ?1 AND status IN ('pending', 'blocked')
         AND NOT EXISTS (SELECT 1 FROM run WHERE task = id) ORDER BY id",
    )?;
    let found = found.query_map([session], |row| Ok(TaskId(row.get(0)?)))?.collect::<Result<Vec<_>, _>>()?;
    let dropped: Vec<TaskId> = found.into_iter().filter(|id| !named.contains(id)).collect();
    for id in &dropped {
        let reason = Some("no longer in the plan".to_owned());
        let change = Change { to: Some(To::Be(Status::Cancelled)), reason, ..Change::default() };
        rows::change(tx, *id, &change, now_ms)?;
    }
    Ok(dropped)
}

fn load(tx: &Transaction<'_>, session: &str) -> Result<Option<Plan>, TaskError> {
    let found: Option<(Option<String>, String)> = tx
        .query_row("SELECT explanation, steps FROM plan WHERE session = ?1", [session], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((explanation, steps)) = found else { return Ok(None) };
    let unknown = |error| StoreError::Database(format!("the plan of session {session:?}: {error}"));
    let mut steps: Vec<Step> = serde_json::from_str(&steps).map_err(unknown)?;
    for step in &mut steps {
        match step.row().map(|id| rows::load(tx, id)) {
            Some(Ok(task)) => step.status = Some(task.status),
            // The row was removed: the step stands as it was written.
            None | Some(Err(TaskError::Missing { .. })) => {}
            Some(Err(error)) => return Err(error),
        }
    }
    Ok(Some(Plan { explanation, steps }))
}

fn save(tx: &Transaction<'_>, session: &str, plan: &Plan) -> Result<(), TaskError> {
    let steps = serde_json::to_string(&plan.steps).map_err(|error| StoreError::Database(error.to_string()))?;
    tx.execute(
        "INSERT INTO plan (session, explanation, steps) VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO UPDATE SET explanation = excluded.explanation, steps = excluded.steps",
        params![session, plan.explanation, steps],
    )?;
    Ok(())
}

#[cfg(test)]
#[path = "plans_tests.rs"]
mod tests;
