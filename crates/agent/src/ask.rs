//! One request to a model: what it may cost, what the journal has of it, and a way out while it lasts. The same for an
//! agent's turns and for whoever asks a model one thing.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cancel, Fault, ToolError, event, text};
use nika_guard::Budget;
use nika_runtime::{Runtime, Session};
use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::compact;
use crate::happening::{self, Happening, Watch};
use crate::provider::{Answered, Asking, ModelError, Part, Piece, Provider, Stop};
use crate::took::{self, Below, Took};

/// Who asks which model, and on whose account.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// Where it is written down.
    pub runtime: &'a Runtime,
    /// Who pays.
    pub session: &'a Session,
    /// Who is asked.
    pub model: &'a dyn Provider,
    /// Who watches.
    pub watch: &'a dyn Watch,
    /// Set when nobody wants the answer any more.
    pub cancel: &'a Cancel,
}

/// What was spent so far.
#[derive(Debug, Default)]
pub struct Tally {
    /// By the asker's own answers.
    pub own: Took,
    /// By the agents below it.
    pub(crate) below: Arc<Below>,
    /// What the last answer has overspent.
    pub over: Option<ToolError>,
}

impl Tally {
    /// All of it.
    pub fn total(&self) -> Took {
        self.own.plus(self.below.now())
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// That the model goes on.
    Turn,
    /// The sum of what was said.
    Summary,
}

/// What came of it.
#[derive(Debug)]
pub enum Answer {
    /// The answer, accounted for.
    Whole(Answered),
    /// None.
    Failed(ModelError),
    /// Nobody wants it any more.
    Cancelled,
    /// Nothing was asked: the budget has no room for it.
    Spent(ToolError),
}

/// How often the wish to end is looked for: a flag has no way to wake anybody.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Returns once `cancel` is set.
pub(crate) async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

impl Agent {
    /// Asks the agent's model.
    pub(crate) async fn ask(&self, tally: &mut Tally, asking: &Asking<'_>, purpose: Purpose) -> Result<Answer, Fault> {
        let caller = Caller {
            runtime: &self.runtime,
            session: &self.session,
            model: &*self.model,
            watch: &*self.watch,
            cancel: &self.cancel,
        };
        caller.ask(tally, asking, purpose).await
    }
}

impl Caller<'_> {
    /// Asks the model. What the answer took is spent before anything is done with it; [`Tally::over`] says whether that
    /// was too much.
    pub async fn ask(&self, tally: &mut Tally, asking: &Asking<'_>, purpose: Purpose) -> Result<Answer, Fault> {
        if let Err(error) = self.session.spend(Budget::ModelCalls, 1) {
            return Ok(Answer::Spent(error));
        }
        let mut fields = self.named();
        fields.insert("purpose".into(), if purpose == Purpose::Turn { "turn" } else { "summary" }.into());
        fields.insert("about_tokens".into(), compact::about_tokens(asking.messages).into());
        self.runtime.note(self.session, event::PROVIDER_CALLED, &fields)?;
        let watch = self.watch;
        let mut sink = |piece: Piece<'_>| {
            if purpose == Purpose::Turn || matches!(piece, Piece::Waiting { .. }) {
                happening::piece(watch, piece);
            }
        };
        let answer = tokio::select! {
            answer = self.model.answer(asking, &mut sink) => answer,
            () = cancelled(self.cancel) => {
                self.unanswered("cancelled", "nobody wanted it any more")?;
                return Ok(Answer::Cancelled);
            }
        };
        match answer {
            Ok(answered) => {
                self.account(tally, &answered)?;
                Ok(Answer::Whole(answered))
            }
            Err(error) => {
                self.unanswered(&format!("{:?}", error.kind), &error.message)?;
                Ok(Answer::Failed(ModelError { message: text::harmless(&error.message).into_owned(), ..error }))
            }
        }
    }

    fn named(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("provider".into(), self.model.name().into());
        fields.insert("model".into(), self.model.model().id.as_str().into());
        fields
    }

    fn unanswered(&self, kind: &str, message: &str) -> Result<(), Fault> {
        let mut fields = self.named();
        fields.insert("kind".into(), kind.into());
        fields.insert("message".into(), text::preview(message, 240).into());
        self.runtime.note(self.session, event::PROVIDER_FAILED, &fields)
    }

    fn account(&self, tally: &mut Tally, answered: &Answered) -> Result<(), Fault> {
        let usage = answered.usage;
        let cost = self.model.model().prices.map(|prices| usage.cost_micros(&prices));
        let took = Took { usage, cost_micros: cost };
        tally.own = tally.own.plus(took);
        took::tell_above(self.session, took);
        tally.over = spend(self.session, answered, cost).err();
        let mut fields = self.named();
        let calls = answered.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
        let told = json!({
            "stop": stop_word(&answered.stop),
            "calls": calls,
            "input": usage.input,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
            "output": usage.output,
            "reasoning": usage.reasoning,
            "cost_micros": cost,
            "first_ms": answered.first_ms,
            "took_ms": answered.took_ms,
        });
        if let Value::Object(told) = told {
            fields.extend(told);
        }
        self.runtime.note(self.session, event::PROVIDER_RESPONDED, &fields)?;
        let Took { usage: total, cost_micros } = tally.total();
        self.watch.saw(&Happening::Spent { usage, cost, total, cost_micros });
        Ok(())
    }
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("session", &self.session).finish_non_exhaustive()
    }
}

/// Spends all of it, also where the first of it was too much; the first refusal is the answer.
fn spend(session: &Session, answered: &Answered, cost: Option<u64>) -> Result<(), ToolError> {
    let usage = answered.usage;
    let all = [
        (Budget::InputTokens, usage.read()),
        (Budget::OutputTokens, usage.output),
        (Budget::ReasoningTokens, usage.reasoning),
        (Budget::TotalCost, cost.unwrap_or(0)),
    ];
    let spent: Vec<_> = all.into_iter().map(|(budget, amount)| session.spend(budget, amount)).collect();
    spent.into_iter().collect()
}

fn stop_word(stop: &Stop) -> String {
    match stop {
        Stop::Done => "done".into(),
        Stop::Calls => "calls".into(),
        Stop::Length => "length".into(),
        Stop::Filter => "filter".into(),
        Stop::Other(word) => text::preview(word, 40),
    }
}
