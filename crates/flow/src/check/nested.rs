//! Workflows that a workflow runs: each is checked as a whole, once, and what it needs is needed by whoever runs it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::{Ceiling, Checked, Need, Surroundings, Type, within};
use crate::model::Flow;

/// The workflows below the one that is checked.
pub(super) struct Nested<'a> {
    pub around: &'a dyn Surroundings,
    /// Those that are being checked, from the first on: how each is called, and its text.
    above: RefCell<Vec<(String, String)>>,
    known: RefCell<HashMap<String, Rc<Inner>>>,
}

/// What is known of another workflow.
pub(super) enum Inner {
    /// There is no such file, or nobody can look.
    Missing,
    /// It has findings of its own.
    Faulty,
    /// It runs what runs it: the names on the way.
    Circle(Vec<String>),
    /// It is fine.
    Fine(Box<Fine>),
}

/// A workflow without a fault.
pub(super) struct Fine {
    pub flow: Flow,
    pub needs: Vec<Need>,
    pub outputs: Vec<(String, Type)>,
    /// How many workflows stand below one another, itself the first.
    pub height: usize,
    /// What its models can cost.
    pub ceiling: Ceiling,
}

impl<'a> Nested<'a> {
    pub fn new(around: &'a dyn Surroundings) -> Nested<'a> {
        Nested { around, above: RefCell::default(), known: RefCell::default() }
    }

    /// Calls `check` while `text` is one of those above.
    pub fn below<T>(&self, path: &str, text: &str, check: impl FnOnce() -> T) -> T {
        self.above.borrow_mut().push((path.to_owned(), text.to_owned()));
        let checked = check();
        self.above.borrow_mut().pop();
        checked
    }

    /// What is known of the workflow at `path`.
    pub fn look(&self, path: &str) -> Rc<Inner> {
        if let Some(known) = self.known.borrow().get(path) {
            return Rc::clone(known);
        }
        let inner = Rc::new(self.read(path));
        self.known.borrow_mut().insert(path.to_owned(), Rc::clone(&inner));
        inner
    }

    fn read(&self, path: &str) -> Inner {
        let Some(text) = self.around.file(path) else { return Inner::Missing };
        // By its text, as one file has many names: whoever runs the same text runs itself.
        let circle = {
            let above = self.above.borrow();
            let from = above.iter().position(|(_, other)| *other == text);
            from.map(|from| above[from..].iter().map(|(name, _)| name.clone()).chain([path.to_owned()]).collect())
        };
        if let Some(circle) = circle {
            return Inner::Circle(circle);
        }
        let looked = within(&text, path, self);
        let Checked { flow, needs, ceiling, .. } = match (looked.circle, looked.checked.is_clean()) {
            (Some(circle), _) => return Inner::Circle(circle),
            (None, false) => return Inner::Faulty,
            (None, true) => looked.checked,
        };
        match flow {
            Some(flow) => {
                let (outputs, height) = (looked.outputs, looked.height);
                Inner::Fine(Box::new(Fine { flow, needs, outputs, height, ceiling }))
            }
            None => Inner::Faulty,
        }
    }
}
