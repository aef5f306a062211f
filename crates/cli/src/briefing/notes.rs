//! What a session has noted down, for when its conversation becomes too long for the model: the plan, the to-do list,
//! the workspace's unfinished tasks, the commands that it left running.

use std::sync::Arc;

use nika_agent::Notes;
use nika_contract::text;
use nika_host::proc::Jobs;
use nika_store::Db;
use nika_store::tasks::{Filter, Status};
use nika_store::todos::TodoStatus;

use crate::compose::Built;

/// Unfinished tasks that are told; the list has the rest.
const TASKS: u32 = 40;

/// The notes in the workspace's database, and the commands that a session has left running.
#[derive(Debug)]
pub struct Noted {
    db: Arc<Db>,
    jobs: Arc<Jobs>,
}

impl Noted {
    /// Of what was built.
    pub fn of(built: &Built) -> Noted {
        Noted { db: Arc::clone(&built.db), jobs: Arc::clone(&built.jobs) }
    }
}

impl Notes for Noted {
    /// What cannot be read is left out: a conversation is not ended for it.
    fn of(&self, session: &str) -> Vec<(String, String)> {
        let plan = self.db.plan(session).ok().flatten().map(|plan| {
            let steps = plan.steps.iter().map(|step| {
                let status = step.status.map_or("", Status::name);
                format!("- {} {}", step.step, bracketed(status))
            });
            plan.explanation.iter().cloned().chain(steps).collect::<Vec<_>>().join("\n")
        });
        let todos = self.db.todos(session).unwrap_or_default();
        let todos = todos.iter().map(|todo| format!("- {} {}", todo.content, bracketed(word(todo.status))));
        let open = vec![Status::Pending, Status::InProgress, Status::Blocked];
        let filter = Filter { statuses: open, limit: Some(TASKS), ..Filter::default() };
        let tasks = self.db.tasks(&filter).map(|(tasks, _)| tasks).unwrap_or_default();
        let tasks = tasks.iter().map(|task| format!("- {} {} {}", task.id, task.title, bracketed(task.status.name())));
        let jobs = self.jobs.running(session);
        let jobs =
            jobs.iter().map(|(job, command)| format!("- {job} {}", text::preview(&text::harmless(command), 160)));
        vec![
            ("plan".to_owned(), plan.unwrap_or_default()),
            ("to-do list".to_owned(), todos.collect::<Vec<_>>().join("\n")),
            ("unfinished tasks".to_owned(), tasks.collect::<Vec<_>>().join("\n")),
            ("commands that run in the background".to_owned(), jobs.collect::<Vec<_>>().join("\n")),
        ]
    }
}

fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in progress",
        TodoStatus::Completed => "completed",
    }
}

fn bracketed(status: &str) -> String {
    if status.is_empty() { String::new() } else { format!("[{status}]") }
}
