//! `todo_write`: the session's own short list, replaced whole.
//!
//! For what one session does next; what others have to see, or what waits for something, is a task.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::todos::{MAX_TODOS, Todo, TodoStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{Ground, answer, lasting, note, words};

/// Replaces this session's to-do list. Send all items each time; a list whose items are all completed is cleared.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The whole list, in order.
    #[serde(alias = "items", deserialize_with = "items")]
    pub todos: Vec<Item>,
}

/// One line of the list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct Item {
    /// What to do.
    #[serde(alias = "title", alias = "step")]
    pub content: String,
    /// Default pending.
    pub status: Option<Word>,
    /// What to show while it is in progress.
    #[serde(rename = "activeForm", alias = "active_form")]
    pub active_form: Option<String>,
}

/// Where an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    #[serde(alias = "todo", alias = "open")]
    Pending,
    #[serde(alias = "in-progress", alias = "inProgress", alias = "running")]
    InProgress,
    #[serde(alias = "done", alias = "complete")]
    Completed,
}

fn items<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Item>, D::Error> {
    words::items(input, "content")
}

/// The tool.
#[derive(Debug)]
pub struct TodoWrite {
    /// Where the list is kept.
    pub ground: Arc<Ground>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// As they are now; empty once all are completed.
    pub todos: Vec<Line>,
    /// Whether all were completed.
    pub cleared: bool,
}

/// One item of the result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Line {
    /// What to do.
    pub content: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: TodoWord,
}

/// A status of the result.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoWord {
    Pending,
    InProgress,
    Completed,
}

/// From this many items on, a list that is done without a check is remarked on.
const WORTH_A_CHECK: usize = 3;

impl Tool for TodoWrite {
    type Params = Params;
    const SPEC: Spec = Spec::new("todo_write", "Write to-do list", Group::Work)
        .idempotent()
        .terms(&[
            "todo",
            "checklist",
            "track",
            "progress",
            "steps",
            "remember",
            "to-do",
            "note",
            "list",
            "write down",
            "left",
            "things to do",
            "set",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        lasting(scene, "to-do list")?;
        if params.todos.len() > MAX_TODOS {
            let why = format!("takes at most {MAX_TODOS} items, not {}; `task_create` keeps more", params.todos.len());
            return Err(ToolError::argument("todos", why));
        }
        match params.todos.iter().position(|item| item.content.trim().is_empty()) {
            Some(at) => Err(ToolError::argument(&format!("todos[{at}].content"), "says nothing")),
            None => Ok(note("todo")),
        }
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let todos: Vec<Todo> = params.todos.into_iter().map(Todo::from).collect();
        let session = cx.session.id().to_owned();
        let (todos, cleared) =
            self.ground.ask(move |db| db.set_todos(&session, &todos).map(|cleared| (todos, cleared))).await?;
        let said = said(&todos, cleared);
        let open = todos.iter().filter(|todo| todo.status != TodoStatus::Completed).count();
        let shown = if cleared { &[] } else { todos.as_slice() };
        let listed = Listed { todos: shown.iter().map(line).collect(), cleared };
        Ok(Output::data(answer::data(&listed), said).with_fact("items", todos.len()).with_fact("open", open))
    }
}

impl From<Item> for Todo {
    fn from(item: Item) -> Todo {
        let status = match item.status.unwrap_or(Word::Pending) {
            Word::Pending => TodoStatus::Pending,
            Word::InProgress => TodoStatus::InProgress,
            Word::Completed => TodoStatus::Completed,
        };
        let active_form = item.active_form.filter(|form| !form.trim().is_empty());
        Todo { content: item.content.trim().to_owned(), status, active_form }
    }
}

fn line(todo: &Todo) -> Line {
    let status = match todo.status {
        TodoStatus::Pending => TodoWord::Pending,
        TodoStatus::InProgress => TodoWord::InProgress,
        TodoStatus::Completed => TodoWord::Completed,
    };
    Line { content: todo.content.clone(), status }
}

fn said(todos: &[Todo], cleared: bool) -> String {
    if cleared {
        let checked = ["verif", "test", "check", "review"];
        let checks = |todo: &Todo| checked.iter().any(|word| todo.content.to_lowercase().contains(word));
        let remark = if todos.len() >= WORTH_A_CHECK && !todos.iter().any(checks) {
            " None of it was a check: verify the result before you call it done."
        } else {
            ""
        };
        return match todos {
            [] => "The list is empty.".to_owned(),
            _ => format!("All {} done; the list is cleared.{remark}", todos.len()),
        };
    }
    let mark = |todo: &Todo| match todo.status {
        TodoStatus::Pending => "[ ]",
        TodoStatus::InProgress => "[>]",
        TodoStatus::Completed => "[x]",
    };
    todos.iter().map(|todo| format!("{} {}", mark(todo), todo.content)).collect::<Vec<_>>().join("\n")
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "Three things to do",
        files: &[],
        before: &[],
        arguments: r#"{"todos": [{"content": "Find the bug", "status": "completed"}, {"content": "Mend it", "status": "in_progress", "activeForm": "Mending it"}, {"content": "Run the tests"}]}"#,
        answer: "[>] Mend it\n[ ] Run the tests",
    },
    Example {
        title: "All done",
        files: &[],
        before: &[("todo_write", r#"{"todos": ["Run the tests"]}"#)],
        arguments: r#"{"todos": [{"content": "Run the tests", "status": "completed"}]}"#,
        answer: "All 1 done; the list is cleared.",
    },
];
