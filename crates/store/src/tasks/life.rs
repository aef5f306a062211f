//! The life cycle as one table, what a change does to a row, and whether rows would wait for each other in a
//! circle. Pure: nothing here knows where rows are kept.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Change, MAX_NOTES, MAX_TEXT_BYTES, Task, TaskError, TaskId, To, list};

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// May be started: it waits for nothing.
    Pending,
    /// Somebody works on it.
    InProgress,
    /// Waits for other tasks, or for what its reason says.
    Blocked,
    /// Done.
    Completed,
    /// Will not be done.
    Cancelled,
    /// Its agent could not do it.
    Failed,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 6] =
        [Status::Pending, Status::InProgress, Status::Blocked, Status::Completed, Status::Cancelled, Status::Failed];

    /// The word in rows, answers and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Blocked => "blocked",
            Status::Completed => "completed",
            Status::Cancelled => "cancelled",
            Status::Failed => "failed",
        }
    }

    /// Whether nothing more is expected of it.
    pub fn has_ended(self) -> bool {
        matches!(self, Status::Completed | Status::Cancelled | Status::Failed)
    }

    pub(super) fn named(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What may be done with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// Somebody begins. Of many who try, one does.
    Start,
    /// It is done.
    Complete,
    /// It has to wait.
    Block,
    /// It need not wait any more, is given back, or is wanted after all.
    Reopen,
    /// It will not be done.
    Cancel,
    /// Its agent could not do it.
    Fail,
}

impl Move {
    /// All of them.
    pub const ALL: [Move; 6] = [Move::Start, Move::Complete, Move::Block, Move::Reopen, Move::Cancel, Move::Fail];

    /// What cannot be done, in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Move::Start => "started",
            Move::Complete => "completed",
            Move::Block => "blocked",
            Move::Reopen => "set back to pending",
            Move::Cancel => "cancelled",
            Move::Fail => "failed",
        }
    }

    /// The move that ends in `status`.
    pub(super) fn toward(status: Status) -> Move {
        match status {
            Status::Pending => Move::Reopen,
            Status::InProgress => Move::Start,
            Status::Blocked => Move::Block,
            Status::Completed => Move::Complete,
            Status::Cancelled => Move::Cancel,
            Status::Failed => Move::Fail,
        }
    }
}

/// The whole life cycle: from, by, to. What is not here cannot happen.
pub const LIFE: &[(Status, Move, Status)] = &[
    (Status::Pending, Move::Start, Status::InProgress),
    (Status::Pending, Move::Complete, Status::Completed),
    (Status::Pending, Move::Block, Status::Blocked),
    (Status::Pending, Move::Cancel, Status::Cancelled),
    (Status::Pending, Move::Fail, Status::Failed),
    (Status::InProgress, Move::Complete, Status::Completed),
    (Status::InProgress, Move::Block, Status::Blocked),
    (Status::InProgress, Move::Reopen, Status::Pending),
    (Status::InProgress, Move::Cancel, Status::Cancelled),
    (Status::InProgress, Move::Fail, Status::Failed),
    (Status::Blocked, Move::Block, Status::Blocked),
    (Status::Blocked, Move::Reopen, Status::Pending),
    (Status::Blocked, Move::Cancel, Status::Cancelled),
    (Status::Completed, Move::Reopen, Status::Pending),
    (Status::Cancelled, Move::Reopen, Status::Pending),
    (Status::Failed, Move::Reopen, Status::Pending),
];

/// Where `by` leads from `from`; `None` when it cannot be done.
pub fn step(from: Status, by: Move) -> Option<Status> {
    LIFE.iter().find(|(at, via, _)| *at == from && *via == by).map(|(_, _, to)| *to)
}

/// Does to a row what `change` says, but for who waits for whom: that is in the row already.
pub(super) fn apply(task: &mut Task, change: &Change) -> Result<(), TaskError> {
    if let Some(to) = change.to {
        go(task, to, change)?;
    }
    if task.status == Status::Pending && !task.waits_for.is_empty() {
        task.status = Status::Blocked;
    }
    let texts = [
        ("description", &change.description, &mut task.description),
        ("active_form", &change.active_form, &mut task.active_form),
        ("owner", &change.owner, &mut task.owner),
    ];
    for (field, new, old) in texts {
        if let Some(new) = new {
            // An empty text takes the old one away.
            *old = said(field, Some(new))?;
        }
    }
    if let Some(title) = &change.title {
        task.title = title_of(title)?;
    }
    task.priority = change.priority.unwrap_or(task.priority);
    for (key, value) in &change.metadata {
        match value {
            Value::Null => drop(task.metadata.shift_remove(key)),
            value => drop(task.metadata.insert(key.clone(), value.clone())),
        }
    }
    if !change.metadata.is_empty() {
        said("metadata", Some(&Value::from(task.metadata.clone()).to_string()))?;
    }
    task.notes.extend(said("message", change.note.as_deref())?);
    if task.notes.len() > MAX_NOTES {
        let why = format!("{} has {MAX_NOTES} of them already; write on in its description", task.id);
        return Err(TaskError::Text { field: "message", why });
    }
    Ok(())
}

/// The part of [`apply`] that moves.
fn go(task: &mut Task, to: To, change: &Change) -> Result<(), TaskError> {
    let reason = said("reason", change.reason.as_deref())?;
    let by = match to {
        To::By(by) => by,
        To::Be(status) if status == task.status => {
            let taken = status == Status::InProgress && change.owner.is_some() && change.owner != task.owner;
            match status {
                Status::InProgress if taken => return Err(refused(task, Move::Start)),
                Status::Blocked if reason.is_some() => Move::Block,
                _ => return Ok(()),
            }
        }
        To::Be(status) => Move::toward(status),
    };
    if task.run.is_some() {
        let hint = "an agent does it: `task_output` waits for it, `task_stop` ends it".to_owned();
        return Err(TaskError::Refused { id: task.id, by, is: is(task), hint });
    }
    let next = step(task.status, by).ok_or_else(|| refused(task, by))?;
    match next {
        // What waits for rows waits for nothing else, so that it is free when they are completed.
        Status::Blocked if !task.waits_for.is_empty() => task.notes.extend(reason),
        Status::Blocked if reason.is_none() => {
            let why = "say what it waits for: `blocked_by`, or a `reason`".to_owned();
            return Err(TaskError::Text { field: "blocked_by", why });
        }
        Status::Pending if task.status == Status::Blocked && !task.waits_for.is_empty() => {
            return Err(refused(task, by));
        }
        _ => task.reason = reason,
    }
    task.status = next;
    Ok(())
}

fn refused(task: &Task, by: Move) -> TaskError {
    let open = &task.waits_for;
    let hint = match task.status {
        Status::Blocked if !open.is_empty() => format!("complete or cancel {} first", list(open)),
        Status::Blocked => "`task_update` with status pending takes the block away".to_owned(),
        Status::InProgress => "choose another with `task_next`".to_owned(),
        Status::Pending if !open.is_empty() => format!("it waits for {}", list(open)),
        Status::Pending => "`task_start` begins it".to_owned(),
        Status::Completed | Status::Cancelled | Status::Failed => {
            "`task_update` with status pending opens it again".to_owned()
        }
    };
    TaskError::Refused { id: task.id, by, is: is(task), hint }
}

/// Where a row stands, in words.
pub(super) fn is(task: &Task) -> String {
    let open = &task.waits_for;
    let more = match (task.status, &task.owner, &task.reason) {
        (Status::InProgress, Some(owner), _) => format!(", {owner} has it"),
        (Status::Blocked, _, _) if !open.is_empty() => format!(" by {}", list(open)),
        (Status::Pending, _, _) if !open.is_empty() => format!(" and would wait for {}", list(open)),
        (Status::Blocked | Status::Cancelled | Status::Failed, _, Some(reason)) => {
            format!(": {}", nika_contract::text::preview(reason, 200))
        }
        _ => String::new(),
    };
    format!("{}{more}", task.status)
}

/// A text as it is kept: trimmed, and `None` when nothing is left.
pub(super) fn said(field: &'static str, text: Option<&str>) -> Result<Option<String>, TaskError> {
    let text = text.map(str::trim).unwrap_or_default();
    if text.len() > MAX_TEXT_BYTES {
        let why = format!("takes at most {MAX_TEXT_BYTES} bytes, not {}; put it into a file and name that", text.len());
        return Err(TaskError::Text { field, why });
    }
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

pub(super) fn title_of(title: &str) -> Result<String, TaskError> {
    let missing = || TaskError::Text { field: "title", why: "takes a few words".to_owned() };
    said("title", Some(title))?.ok_or_else(missing)
}

/// The circle that rows would stand in, if `edges` (who waits, for what) has one through `start`.
pub(super) fn circle(edges: &[(TaskId, TaskId)], start: TaskId) -> Option<Vec<TaskId>> {
    let mut waits: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for (waiting, for_what) in edges {
        waits.entry(*waiting).or_default().push(*for_what);
    }
    // From whom each row was reached, so that the way back can be told.
    let mut from: BTreeMap<TaskId, TaskId> = BTreeMap::new();
    let mut seen = HashSet::from([start]);
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in waits.get(&at).into_iter().flatten() {
            if *next == start {
                let mut way = vec![start];
                let mut back = at;
                while back != start {
                    way.push(back);
                    back = from[&back];
                }
                way.push(start);
                way.reverse();
                return Some(way);
            }
            if seen.insert(*next) {
                from.insert(*next, at);
                open.push(*next);
            }
        }
    }
    None
}
