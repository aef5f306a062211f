//! Notes and durable work: the session's to-do list and plan, the workspace's tasks.
//!
//! A to-do list and a plan are one session's, and last as long as it does. Tasks are rows that every session and
//! process of the workspace sees; what may happen to one is the store's table. A task with a prompt is done by an
//! agent, which runs behind [`Runner`].

mod answer;
pub mod plan_clear;
pub mod plan_get;
pub mod task_block;
pub mod task_cancel;
pub mod task_complete;
pub mod task_create;
pub mod task_get;
pub mod task_list;
pub mod task_next;
pub mod task_output;
pub mod task_start;
pub mod task_stop;
pub mod task_update;
pub mod todo_write;
pub mod update_plan;
mod words;

use std::fmt;
use std::sync::Arc;

use nika_contract::{BoxFuture, Cx, Output, Scene, ToolError, code};
use nika_guard::{Effect, Effects};
use nika_store::Db;
use nika_store::tasks::{Change, Move, NewTask, Task, TaskError, TaskId, To};

/// What these tools stand on.
#[derive(Debug)]
pub struct Ground {
    /// Where everything is kept. Opened by the first call that needs it.
    pub db: Arc<Db>,
    /// Who runs agents for tasks, where somebody does.
    pub runner: Option<Arc<dyn Runner>>,
}

/// Somebody who runs an agent for a task with a prompt.
pub trait Runner: Send + Sync + fmt::Debug {
    /// Makes the row, with its run ([`NewTask::run`]), and begins or queues its agent, which goes on when the call
    /// has ended. The row as it is then. `task` has everything but the run.
    fn start<'a>(&'a self, task: NewTask, prompt: &'a str, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Task, ToolError>>;
}

impl Ground {
    /// Asks the database on a thread of its own: another process may hold it for a moment.
    async fn ask<T: Send + 'static, E: Into<ToolError> + Send + 'static>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, E> + Send + 'static,
    ) -> Result<T, ToolError> {
        let db = Arc::clone(&self.db);
        let asked = tokio::task::spawn_blocking(move || act(&db).map_err(Into::into)).await;
        asked.map_err(|error| ToolError::new(code::BUG, format!("the database could not be asked: {error}")))?
    }

    /// Changes one row, and answers with it and what that set free.
    async fn change(&self, id: TaskId, change: Change, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let now = cx.clock.unix_ms();
        Ok(answer::changed(self.ask(move |db| db.change_task(id, &change, now)).await?))
    }

    /// Ends the work on one row for good: its agent is asked to stop and heard of, or the row is given up.
    async fn end(&self, id: TaskId, reason: Option<String>, cx: &Cx<'_>) -> Result<Output, ToolError> {
        if self.look(id, cx).await?.run.is_some() {
            return task_stop::stop(self, id, cx).await;
        }
        self.change(id, Change { to: Some(To::By(Move::Cancel)), reason, ..Change::default() }, cx).await
    }

    /// One row, after those whose agents are gone were failed.
    async fn look(&self, id: TaskId, cx: &Cx<'_>) -> Result<Task, ToolError> {
        let now = cx.clock.unix_ms();
        self.ask(move |db| {
            db.bury(now)?;
            db.task(id)
        })
        .await
    }

    /// The row as a person who is asked sees it; an error where there is none, so that nobody is asked for
    /// nothing.
    fn shown(&self, id: TaskId) -> Result<String, ToolError> {
        self.db.task(id).map(|task| answer::line(&task)).map_err(|error: TaskError| error.into())
    }
}

/// What changes only our own list called `name`.
fn note(name: &str) -> Effects {
    Effects::one(Effect::Note(name.to_owned()))
}

/// What ends or removes durable work.
fn control() -> Effects {
    Effects::one(Effect::Control("task".to_owned()))
}

/// Whether the session outlives the call: what a call keeps for its session would be lost otherwise.
fn lasting(scene: &Scene<'_>, what: &str) -> Result<(), ToolError> {
    if scene.session.is_lasting() {
        return Ok(());
    }
    let message = format!("a {what} belongs to a session that lasts, and this call has none");
    Err(ToolError::new(code::NEEDS_SESSION, message)
        .hint("name one: `--session NAME` on the command line, `nika_session` over HTTP"))
}
