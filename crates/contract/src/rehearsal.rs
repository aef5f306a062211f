//! A call that was tried before a person is asked about it: what they are shown, and what is held for their yes.

use std::any::Any;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// What came of trying a call where nothing of it counts.
#[derive(Debug)]
pub struct Rehearsal {
    /// What the person is shown; where it was not tried, why.
    pub shown: String,
    /// For the journal.
    pub facts: Vec<(&'static str, Value)>,
    /// What a yes puts in force. Without it a yes makes the call as ever.
    pub held: Option<Held>,
}

impl Rehearsal {
    /// Nothing was tried, or nothing of it can be held; `shown` says why.
    pub fn without(shown: impl Into<String>) -> Rehearsal {
        Rehearsal { shown: shown.into(), facts: Vec::new(), held: None }
    }
}

/// What was done and does not count yet. Dropped, it is gone, with all that it left.
pub struct Held {
    mark: String,
    what: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Held {
    /// Holds `what`. `mark` stands for what a yes to it changes: equal where the same would be changed, whatever was
    /// printed and however long it took.
    pub fn new<T: Any + Send>(mark: String, what: T) -> Held {
        Held { mark, what: Mutex::new(Some(Box::new(what))) }
    }

    /// What a yes changes.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// What is held, for the one who puts it in force. Once.
    pub fn take<T: Any>(&self) -> Option<T> {
        let mut what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = what.take_if(|held| held.is::<T>())?;
        taken.downcast().ok().map(|held| *held)
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("mark", &self.mark).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_taken_once_and_by_its_owner() {
        let held = Held::new("m".into(), 7u32);
        assert_eq!(held.take::<String>(), None);
        assert_eq!(held.take::<u32>(), Some(7));
        assert_eq!(held.take::<u32>(), None);
    }
}
