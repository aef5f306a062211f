//! Tasks: what is to be done in a workspace, by whom, and what waits for what.
//!
//! This file is what a row is, `life` what may happen to one, `rows` where they are kept, `runs` those that an
//! agent does. Between two changes it holds for every row: a pending one waits for nothing, and a blocked one waits
//! for a row that is not completed or has a reason of its own.

mod life;
pub(crate) mod rows;
mod runs;

use std::fmt;
use std::str::FromStr;

use nika_contract::{ToolError, code};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::StoreError;

pub use life::{LIFE, Move, Status, step};
pub use runs::{Beat, DEAD_AFTER_MS, RunEnd};

/// A row's name: `t7`. Counted up in a workspace, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = String;

    /// `t7`, also `T7`, `#7` and `7`, as models shorten it.
    fn from_str(text: &str) -> Result<TaskId, String> {
        let digits = text.trim().trim_start_matches(['t', 'T', '#']);
        match digits.parse() {
            Ok(number) if number > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(TaskId(number)),
            _ => Err(format!("'{text}' is no task id; one looks like t7")),
        }
    }
}

/// How soon. Rows without one stand where `Normal` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Before everything else.
    Urgent,
    /// Soon.
    High,
    /// In its turn.
    Normal,
    /// When nothing else is left.
    Low,
}

impl Priority {
    /// All of them, the soonest first.
    pub const ALL: [Priority; 4] = [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low];

    /// The word in rows, answers and arguments.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Urgent => "urgent",
            Priority::High => "high",
            Priority::Normal => "normal",
            Priority::Low => "low",
        }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// In a few words.
    pub title: String,
    /// In more words.
    pub description: Option<String>,
    /// Where it stands.
    pub status: Status,
    /// How soon.
    pub priority: Priority,
    /// What to show while it is in progress: *Fixing the parser*.
    pub active_form: Option<String>,
    /// Who works on it, or should.
    pub owner: Option<String>,
    /// Rows that wait for this one.
    pub blocks: Vec<TaskId>,
    /// Rows that this one waits for, those that are completed included.
    pub blocked_by: Vec<TaskId>,
    /// Those of them that are not completed.
    pub waits_for: Vec<TaskId>,
    /// Why it is blocked, cancelled or failed.
    pub reason: Option<String>,
    /// Whatever its users keep here.
    pub metadata: Map<String, Value>,
    /// What was said about it, the oldest first.
    pub notes: Vec<String>,
    /// The agent that does it, where one does.
    pub run: Option<Run>,
    /// When it was made, in Unix milliseconds.
    pub created_ms: u64,
    /// When it last changed.
    pub updated_ms: u64,
    /// Counts its changes, from 1.
    pub version: u64,
}

/// The agent behind a row, or several. Only its runner changes it, and whoever asks it to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What it was told.
    pub prompt: String,
    /// Its session: journal and transcript have this name. Of several the one that started them, whose journal names
    /// each.
    pub session: String,
    /// What it may do, as its runner wrote it down.
    pub stance: String,
    /// The process that runs it, once one does.
    pub pid: Option<u32>,
    /// When its process last said that it lives.
    pub beat_ms: u64,
    /// Whether somebody wants it to end.
    pub stop_asked: bool,
    /// What it answered.
    pub result: Option<String>,
}

/// A row to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewTask {
    /// The name that it is to have; the next when nothing is said.
    pub id: Option<TaskId>,
    /// In a few words.
    pub title: String,
    /// In more words.
    pub description: Option<String>,
    /// Where it stands at once; pending when nothing is said. One that waits for others is blocked.
    pub status: Option<Status>,
    /// How soon.
    pub priority: Option<Priority>,
    /// What to show while it is in progress.
    pub active_form: Option<String>,
    /// Who should do it.
    pub owner: Option<String>,
    /// Rows that are to wait for it.
    pub blocks: Vec<TaskId>,
    /// Rows it waits for.
    pub blocked_by: Vec<TaskId>,
    /// Whatever its users keep here.
    pub metadata: Map<String, Value>,
    /// The session whose plan it mirrors.
    pub plan: Option<String>,
    /// The agent that is to do it.
    pub run: Option<NewRun>,
}

/// The agent of a row to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// What it is told.
    pub prompt: String,
    /// The name of its session, see [`Run::session`].
    pub session: String,
    /// What it may do.
    pub stance: String,
}

/// What is to become different about a row. Nothing is, by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// Where it goes, if anywhere.
    pub to: Option<To>,
    /// A new title.
    pub title: Option<String>,
    /// A new description.
    pub description: Option<String>,
    /// A new form for while it is in progress.
    pub active_form: Option<String>,
    /// A new owner.
    pub owner: Option<String>,
    /// A new priority.
    pub priority: Option<Priority>,
    /// More rows that wait for it.
    pub add_blocks: Vec<TaskId>,
    /// More rows it waits for.
    pub add_blocked_by: Vec<TaskId>,
    /// Merged into what is there; a null removes its key.
    pub metadata: Map<String, Value>,
    /// Something to be said about it.
    pub note: Option<String>,
    /// Why it is blocked or cancelled.
    pub reason: Option<String>,
}

/// Where a change leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// By this move, from wherever it stands; refused where the table has no such row.
    By(Move),
    /// To this status. Where it is that already, nothing happens, unless it is in progress with another owner.
    Be(Status),
}

/// A row after a change, and what the change did to others.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The row as it is now.
    pub task: Task,
    /// Rows that waited for it and may be started now.
    pub freed: Vec<TaskId>,
    /// Rows that are not ended and wait for it.
    pub waiting: Vec<TaskId>,
}

/// Which rows to list. All, by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these; all when empty.
    pub statuses: Vec<Status>,
    /// Only this owner's.
    pub owner: Option<String>,
    /// Only those that somebody may start: pending ones that no agent is meant for.
    pub actionable: bool,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Bytes of one text of a row. What is longer belongs into a file that the row names.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
/// Notes of one row: a conversation belongs elsewhere.
pub const MAX_NOTES: usize = 500;

/// Why a row was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// There is no such row.
    #[error("there is no task {id}{}", if near.is_empty() { String::new() } else { format!("; the latest are {}", list(near)) })]
    Missing {
        /// The one asked for.
        id: TaskId,
        /// Some that are there.
        near: Vec<TaskId>,
    },
    /// Its state does not allow the step.
    #[error("{id} cannot be {}: it is {is}", by.words())]
    Refused {
        /// The row.
        id: TaskId,
        /// What was to be done.
        by: Move,
        /// Where it stands, and why.
        is: String,
        /// What would work.
        hint: String,
    },
    /// A name that a row has had, or that is too far away.
    #[error("`task_id`: {id} cannot be given: {why}")]
    Name {
        /// The one asked for.
        id: TaskId,
        /// What is wrong with it.
        why: String,
    },
    /// Rows would wait for each other.
    #[error("{} would wait for each other", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → "))]
    Circle(Vec<TaskId>),
    /// A text is too long or missing.
    #[error("`{field}`: {why}")]
    Text {
        /// Which one.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for TaskError {
    fn from(error: rusqlite::Error) -> TaskError {
        TaskError::Store(error.into())
    }
}

impl From<TaskError> for ToolError {
    fn from(error: TaskError) -> ToolError {
        let message = error.to_string();
        match error {
            TaskError::Missing { .. } => {
                ToolError::new(code::NO_SUCH_TASK, message).hint("`task_list` shows those that are there")
            }
            TaskError::Refused { hint, .. } => ToolError::new(code::TASK_STATE, message).hint(hint),
            TaskError::Circle(_) => {
                ToolError::new(code::TASK_CIRCLE, message).hint("leave one of these out: nothing was changed")
            }
            TaskError::Name { .. } | TaskError::Text { .. } => ToolError::new(code::BAD_ARGUMENTS, message),
            TaskError::Store(error) => error.into(),
        }
    }
}

/// `t1, t2, t3`
fn list(ids: &[TaskId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "tasks/tests.rs"]
mod tests;
