//! What a parent sees of its agents, and what a person is asked on their behalf.

use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Asked, Asker, BoxFuture, Inquiry, Progress, Question, Replied};

use super::child::Step;
use crate::happening::{Happening, Watch};

/// The parent's asker, with the agent's name in every question.
pub(super) struct OnBehalf {
    pub asker: Arc<dyn Asker>,
    pub name: String,
}

impl Asker for OnBehalf {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async move {
            let text = format!("The agent {} asks: {}", self.name, question.text);
            let question = Question { text, ..question.clone() };
            match self.asker.ask(&question).await {
                // An agent cannot be left and gone on with between two requests: what is not answered is refused.
                Asked::Later => Asked::Nobody,
                asked => asked,
            }
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        Box::pin(async move {
            let text = format!("The agent {} asks: {}", self.name, inquiry.text);
            match self.asker.inquire(&Inquiry { text, ..inquiry.clone() }).await {
                Replied::Later => Replied::Nobody,
                replied => replied,
            }
        })
    }

    fn is_there(&self) -> bool {
        self.asker.is_there()
    }
}

/// Steps of one agent that its starter is told of; an agent of more is read in its transcript.
const MAX_STEPS: usize = 200;

/// Watches one agent: tells who watches its parent, and keeps what it did.
pub(super) struct Below {
    pub above: Arc<dyn Watch>,
    pub progress: Arc<dyn Progress>,
    pub name: String,
    pub session: String,
    pub steps: Arc<Mutex<Vec<Step>>>,
}

impl Watch for Below {
    fn saw(&self, what: &Happening<'_>) {
        match what {
            Happening::TurnBegan { turn } => {
                self.progress.step(u64::from(*turn), None, &format!("{}: turn {turn}", self.name));
            }
            Happening::CallEnded { tool, call, result, .. } => {
                let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
                if steps.len() < MAX_STEPS {
                    let code = match result {
                        Ok(output) => output.failed,
                        Err(error) => Some(error.code),
                    };
                    let call = call.map(str::to_owned);
                    steps.push(Step { tool: (*tool).to_owned(), call, code: code.map(|code| code.to_string()) });
                }
            }
            _ => {}
        }
        self.above.saw(&Happening::Agent { name: &self.name, session: &self.session, what });
    }
}
