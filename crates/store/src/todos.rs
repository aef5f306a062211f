//! The to-do list of a session: short, replaced whole, gone when all of it is done.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::db::Db;
use crate::error::StoreError;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// Where it stands.
    pub status: TodoStatus,
    /// What to show while it is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

/// Where a line of the list stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done.
    Completed,
}

/// Lines of one list. What is longer is a plan, or tasks.
pub const MAX_TODOS: usize = 200;

impl Db {
    /// The list of `session`; empty when it has none.
    pub fn todos(&self, session: &str) -> Result<Vec<Todo>, StoreError> {
        let text: Option<String> = self.read(|tx| {
            let found = tx.query_row("SELECT items FROM todo WHERE session = ?1", [session], |row| row.get(0));
            Ok::<_, StoreError>(found.optional()?)
        })?;
        let unknown = |error| StoreError::Database(format!("the to-do list of session {session:?}: {error}"));
        text.map_or_else(|| Ok(Vec::new()), |text| serde_json::from_str(&text).map_err(unknown))
    }

    /// Replaces the list of `session`. One that is empty or all done is removed; whether it was.
    pub fn set_todos(&self, session: &str, todos: &[Todo]) -> Result<bool, StoreError> {
        let done = todos.iter().all(|todo| todo.status == TodoStatus::Completed);
        let items = serde_json::to_string(todos).map_err(|error| StoreError::Database(error.to_string()))?;
        self.write(|tx| {
            if done {
                tx.execute("DELETE FROM todo WHERE session = ?1", [session])?;
            } else {
                tx.execute(
                    "INSERT INTO todo (session, items) VALUES (?1, ?2)
                     ON CONFLICT (session) DO UPDATE SET items = excluded.items",
                    params![session, items],
                )?;
            }
            Ok::<_, StoreError>(done)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    fn todo(content: &str, status: TodoStatus) -> Todo {
        Todo { content: content.to_owned(), status, active_form: None }
    }

    #[test]
    fn each_session_has_its_own_until_it_is_done() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        let db = Db::at(&state);
        assert_eq!(db.todos("a").unwrap(), []);
        let list = [todo("one", TodoStatus::InProgress), todo("two", TodoStatus::Completed)];
        assert!(!db.set_todos("a", &list).unwrap());
        assert!(!db.set_todos("b", &[todo("other", TodoStatus::Pending)]).unwrap());
        assert_eq!(Db::at(&state).todos("a").unwrap(), list);
        assert!(db.set_todos("a", &[todo("one", TodoStatus::Completed)]).unwrap());
        assert_eq!(db.todos("a").unwrap(), []);
        assert_eq!(db.todos("b").unwrap().len(), 1);
    }
}
