//! Task rows as answers: a line each for a model, data for programs.

use std::fmt::Write as _;

use nika_contract::{Output, text};
use nika_store::tasks::{Changed, Priority, Status, Task, TaskId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Characters of a title or reason in a line.
const LINE_CHARS: usize = 120;

/// A row whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it stands.
    pub status: String,
    /// How soon.
    pub priority: String,
    /// In more words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to show while it is in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
    /// Who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Rows that wait for it.
    pub blocks: Vec<String>,
    /// Rows it waits for, completed ones included.
    pub blocked_by: Vec<String>,
    /// Those of them that are not completed.
    pub waits_for: Vec<String>,
    /// Why it is blocked, cancelled or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What its users keep.
    pub metadata: Map<String, Value>,
    /// What was said about it.
    pub notes: Vec<String>,
    /// The agent that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// When it was made, in milliseconds since 1970.
    pub created_unix_ms: u64,
    /// When it last changed.
    pub updated_unix_ms: u64,
    /// Counts its changes.
    pub version: u64,
}

/// The agent of a row.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// The session whose journal tells of it.
    pub session: String,
    /// What it was told.
    pub prompt: String,
    /// Whether it was asked to stop.
    pub stop_asked: bool,
    /// What it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// A row in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Brief {
    /// Its name.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it stands.
    pub status: String,
    /// How soon.
    pub priority: String,
    /// Who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Rows it waits for.
    pub waits_for: Vec<String>,
    /// Why it is blocked, cancelled or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether an agent does it.
    pub agent: bool,
    /// Whether that agent was asked to stop; it may not have ended yet.
    pub stop_asked: bool,
    /// Counts its changes.
    pub version: u64,
}

/// A changed row, and what that did to others.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The row.
    pub task: Brief,
    /// Rows that may be started now.
    pub freed: Vec<String>,
    /// Rows that still wait for it.
    pub waiting: Vec<String>,
}

/// Some rows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Rows {
    /// In order.
    pub tasks: Vec<Brief>,
    /// How many there are, those not shown included.
    pub total: u64,
}

impl From<Task> for Row {
    fn from(task: Task) -> Row {
        let agent = task.run.map(|run| Agent {
            session: run.session,
            prompt: run.prompt,
            stop_asked: run.stop_asked,
            result: run.result,
        });
        Row {
            id: task.id.to_string(),
            title: task.title,
            status: task.status.name().to_owned(),
            priority: task.priority.name().to_owned(),
            description: task.description,
            active_form: task.active_form,
            owner: task.owner,
            blocks: names(&task.blocks),
            blocked_by: names(&task.blocked_by),
            waits_for: names(&task.waits_for),
            reason: task.reason,
            metadata: task.metadata,
            notes: task.notes,
            agent,
            created_unix_ms: task.created_ms,
            updated_unix_ms: task.updated_ms,
            version: task.version,
        }
    }
}

impl From<Task> for Brief {
    fn from(task: Task) -> Brief {
        Brief {
            id: task.id.to_string(),
            title: task.title,
            status: task.status.name().to_owned(),
            priority: task.priority.name().to_owned(),
            owner: task.owner,
            waits_for: names(&task.waits_for),
            reason: task.reason,
            agent: task.run.is_some(),
            stop_asked: task.run.is_some_and(|run| run.stop_asked),
            version: task.version,
        }
    }
}

/// The answer to a change: the row, whom it freed, who waits.
pub(super) fn changed(changed: Changed) -> Output {
    let mut said = line(&changed.task);
    if !changed.freed.is_empty() {
        let _ = write!(said, "\nMay be started now: {}.", list(&changed.freed));
    }
    if changed.task.status.has_ended() && !changed.waiting.is_empty() {
        let waits = if changed.waiting.len() == 1 { "waits" } else { "wait" };
        let for_what = if changed.task.status == Status::Completed { "for others" } else { "for it" };
        let _ = write!(said, "\nStill {waits} {for_what}: {}.", list(&changed.waiting));
    }
    let (id, status) = (changed.task.id.to_string(), changed.task.status.name());
    let answer = Answer { task: changed.task.into(), freed: names(&changed.freed), waiting: names(&changed.waiting) };
    Output::data(data(&answer), said).with_fact("task", id).with_fact("status", status)
}

/// The answer of rows.
pub(super) fn rows(tasks: Vec<Task>, total: u64, said: String) -> Output {
    let count = tasks.len();
    let rows = Rows { tasks: tasks.into_iter().map(Brief::from).collect(), total };
    Output::data(data(&rows), said).with_fact("count", count)
}

/// A row in a line: `t7 [blocked] Write the tests (high, ada; waits for t2)`
pub(super) fn line(task: &Task) -> String {
    let mut more: Vec<String> = Vec::new();
    if task.priority != Priority::Normal {
        more.push(task.priority.name().to_owned());
    }
    more.extend(task.owner.clone());
    if task.run.is_some() {
        more.push("an agent's".to_owned());
    }
    if !task.waits_for.is_empty() && !task.status.has_ended() {
        more.push(format!("waits for {}", list(&task.waits_for)));
    }
    more.extend(task.reason.as_deref().map(|reason| text::preview(reason, LINE_CHARS)));
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    format!("{} [{}] {}{more}", task.id, task.status, text::preview(&task.title, LINE_CHARS))
}

pub(super) fn names(ids: &[TaskId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

pub(super) fn list(ids: &[TaskId]) -> String {
    names(ids).join(", ")
}

pub(super) fn data(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
