//! The person at a terminal on which something is drawn: the picture holds still while they think.

use nika_contract::{Asked, Asker, BoxFuture, Inquiry, Question, Replied};

use super::Terminal;

/// `hold` stops what is drawn; drawing goes on with the next event.
pub struct Interrupting<F> {
    pub hold: F,
    pub terminal: Terminal,
}

impl<F: Fn() + Send + Sync> Asker for Interrupting<F> {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async {
            (self.hold)();
            self.terminal.ask(question).await
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        Box::pin(async {
            (self.hold)();
            self.terminal.inquire(inquiry).await
        })
    }
}

impl<F> std::fmt::Debug for Interrupting<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupting").field("terminal", &self.terminal).finish_non_exhaustive()
    }
}
