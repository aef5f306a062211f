//! How a run begins and ends, and what it holds meanwhile beside the conversation.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use nika_contract::{Fault, Wanted, code, event, text};
use nika_guard::Budget;
use nika_guard::manifest::Moment;
use nika_runtime::Session;
use nika_store::{State, StoreError, journal, transcript};
use serde_json::{Map, Value, json};
use tokio::task::{JoinError, JoinHandle};

use crate::agent::Agent;
use crate::ask::Tally;
use crate::compact;
use crate::context::{Cards, WANTED};
use crate::conversation::{Line, Spent, Unanswered, said};
use crate::ended::{Ended, Why};
use crate::happening::Happening;
use crate::looping::Circles;
use crate::prompt;
use crate::provider::{Arguments, Message, Part, Role};
use crate::resume::{self, Fate};
use crate::sub;
use crate::took::{Below, Took};

/// One run.
#[derive(Debug)]
pub(crate) struct Run {
    /// What stands before the conversation.
    pub system: String,
    /// The tools.
    pub cards: Cards,
    /// What was spent.
    pub tally: Tally,
    pub turns: u32,
    pub calls: u32,
    /// What a result has said about going on.
    pub stop: Option<Why>,
    /// The last words.
    pub answer: String,
    /// Whether they were cut at the most tokens.
    pub cut: bool,
    pub circles: Circles,
    /// How often the model was told to go on.
    pub nudged: u32,
    /// Whether it was told that an object is wanted.
    pub reminded: bool,
    /// Whether the model had said all that it wanted before it was told of others' work.
    pub had_ended: bool,
    /// What was written is being forced to the disk.
    syncing: Option<JoinHandle<Result<(), Fault>>>,
    prefix_tokens: u64,
}

impl Run {
    /// About how many tokens stand before the conversation.
    pub(crate) fn prefix_tokens(&self) -> u64 {
        self.prefix_tokens
    }
}

impl Agent {
    /// Begins a run: from the line that it writes on, the conversation is this process's.
    pub(crate) fn open(&mut self, task: &str) -> Result<Run, Fault> {
        for tool in self.talk.loaded() {
            self.session.load(tool);
        }
        self.remember_spending()?;
        let below = Arc::new(Below::default());
        self.session.state.set(Arc::clone(&below));
        let wanted = Wanted::default();
        if let Some(schema) = &self.briefing.wanted {
            wanted.ask(schema.clone());
            // Its card is shown from the beginning.
            self.session.load(WANTED);
        }
        self.session.state.set(Arc::new(wanted));
        let cards = Cards::new(&self.briefing, &self.runtime, &self.session, self.talk.loaded());
        let system = prompt::system(&self.briefing, self.runtime.messages(Moment::BeforePrompt));
        let prefix_tokens = compact::about_tokens_of(&system, cards.all());
        self.talk.write(Line::Opened {
            session: self.session.id().to_owned(),
            at_ms: self.clock.unix_ms(),
            model: self.model_name(),
            task: text::preview(task, 120),
        })?;
        Ok(Run {
            system,
            cards,
            tally: Tally { below, ..Tally::default() },
            turns: 0,
            calls: 0,
            stop: None,
            answer: String::new(),
            cut: false,
            circles: Circles::new(self.bounds.same_call),
            nudged: 0,
            reminded: false,
            had_ended: false,
            syncing: None,
            prefix_tokens,
        })
    }

    /// Budgets hold over processes: what the conversation took before this one counts. What the session knows already
    /// is left as it is. A turn is an answer here. What the agents below it took is in their own transcripts.
    fn remember_spending(&self) -> Result<(), Fault> {
        remember(&self.session, self.talk.state(), self.talk.spent())
    }

    /// Answers what an interrupted process left open: what it had not begun is made now, what it had is not.
    pub(crate) async fn settle(&mut self, run: &mut Run) -> Result<(), Fault> {
        let open = self.talk.unanswered();
        if open.is_empty() {
            return Ok(());
        }
        let origins: Vec<String> = open.iter().map(Unanswered::origin).collect();
        let fates = if self.talk.is_forked() { Vec::new() } else { resume::fates(self.journal()?, &origins) };
        for (at, call) in open.iter().enumerate() {
            let answer = fates.get(at).map_or_else(|| Some(resume::elsewhere()), Fate::answer);
            if let Some(error) = answer {
                self.not_made(run, call, error)?;
            }
        }
        self.perform(run, None).await
    }

    /// The lines of the session's journal; none before the first.
    fn journal(&self) -> Result<impl Iterator<Item = Value>, Fault> {
        let lost = |error: StoreError| Fault { code: code::JOURNAL_LOST, message: error.to_string() };
        let lines = match journal::lines(self.talk.state(), self.session.id()) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(lost(error)),
            Ok(lines) => lines.collect::<Result<Vec<Value>, StoreError>>().map_err(lost)?,
        };
        Ok(lines.into_iter())
    }

    /// Puts the task into the conversation.
    pub(crate) fn hear(&mut self, task: &str) -> Result<(), Fault> {
        // What manifests say after a turn is read with the next task: a turn that has ended reads nothing.
        let went_before = !self.talk.is_empty();
        let after = self.runtime.messages(Moment::AfterTurn).filter(|_| went_before);
        let mut told: Vec<String> = after.map(|message| text::harmless(message).into_owned()).collect();
        told.push(task.to_owned());
        let parts = vec![Part::Text(told.join("\n\n"))];
        self.talk.write(Line::Said(Message { role: Role::User, parts })).map(|_| ())
    }

    /// Whether the conversation was left when its work was done.
    pub(crate) fn was_done(&self, run: &mut Run) -> bool {
        let Some(last) = self.talk.messages().last() else { return true };
        match last.role {
            Role::User => false,
            Role::Assistant => {
                run.answer = said(last);
                run.cards.wanted_name().is_none()
            }
            Role::Tool => self.object_of_last_turn().is_some_and(|object| {
                self.session.state.slot::<Wanted>().answer(object);
                true
            }),
        }
    }

    /// The object that the last turn gave, when a caller wants one and it was taken.
    fn object_of_last_turn(&self) -> Option<Value> {
        self.briefing.wanted.as_ref()?;
        let [.., answer, results] = self.talk.messages() else { return None };
        let is_taken = |id: &str| {
            results.parts.iter().any(|part| matches!(part, Part::Result(result) if result.id == id && !result.is_error))
        };
        answer.parts.iter().rev().find_map(|part| match part {
            Part::Call(call) if is_taken(&call.id) && self.is_wanted(&call.name) => match &call.arguments {
                Arguments::Object(fields) => Some(Value::Object(fields.clone())),
                Arguments::Malformed(_) => None,
            },
            _ => None,
        })
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.runtime.find(name).is_ok_and(|tool| tool.spec().name == WANTED)
    }

    /// The object that this run was given.
    pub(crate) fn object(&self) -> Option<Value> {
        self.briefing.wanted.as_ref()?;
        self.session.state.slot::<Wanted>().answered()
    }

    /// Tells the model something between turns.
    pub(crate) fn tell(&mut self, what: &str) -> Result<(), Fault> {
        let what = text::harmless(what);
        self.talk.write(Line::Told(what.clone().into_owned()))?;
        self.watch.saw(&Happening::Told(&what));
        Ok(())
    }

    /// Forces what was written to the disk, while the model thinks: a kill loses nothing of it either way, and a
    /// power cut at most the last turn. One at a time, and no later than the one after it does it fail the run.
    pub(crate) async fn sync(&self, run: &mut Run) -> Result<(), Fault> {
        self.synced(run).await?;
        let (runtime, session, transcript) =
            (Arc::clone(&self.runtime), Arc::clone(&self.session), self.talk.transcript());
        run.syncing = Some(tokio::task::spawn_blocking(move || {
            let lost = |error: StoreError| Fault { code: code::TRANSCRIPT_LOST, message: error.to_string() };
            transcript.sync().map_err(lost)?;
            runtime.sync(&session)
        }));
        Ok(())
    }

    /// Waits for the sync that runs.
    async fn synced(&self, run: &mut Run) -> Result<(), Fault> {
        let Some(syncing) = run.syncing.take() else { return Ok(()) };
        let broken = |error: JoinError| Fault { code: code::BUG, message: format!("a sync's thread: {error}") };
        syncing.await.map_err(broken).flatten()
    }

    pub(crate) fn model_name(&self) -> String {
        format!("{}/{}", self.model.name(), self.model.model().id)
    }

    /// Ends a run.
    pub(crate) async fn end(&mut self, mut run: Run, why: Why) -> Result<Ended, Fault> {
        let (tally, answer) = (std::mem::take(&mut run.tally), std::mem::take(&mut run.answer));
        let (turns, calls) = (run.turns, run.calls);
        let answer = text::harmless(&answer).into_owned();
        let Took { usage, cost_micros } = tally.total();
        let (structured, below) = (self.object(), tally.below.now());
        let ended = Ended { why, answer, structured, usage, cost_micros, below, turns, calls };
        let fields = json!({
            "why": ended.why.word(),
            "code": ended.why.error().map(|error| error.code.to_string()),
            "turns": turns,
            "calls": calls,
            "input": ended.usage.read(),
            "output": ended.usage.output,
            "cost_micros": ended.cost_micros,
        });
        let fields: Map<String, Value> = fields.as_object().cloned().unwrap_or_default();
        self.talk.write(Line::Ended { why: ended.why.word().to_owned() })?;
        self.runtime.note(&self.session, event::AGENT_ENDED, &fields)?;
        self.sync(&mut run).await?;
        self.synced(&mut run).await?;
        self.watch.saw(&Happening::Ended(&ended));
        Ok(ended)
    }
}

/// Puts into a session's budgets what its conversation and the agents below it took in earlier processes: for whoever
/// makes calls in a session without holding a conversation in it.
pub fn remember_spent(session: &Session, state: &State) -> Result<(), Fault> {
    let own = match transcript::lines(state, session.id()) {
        Ok(lines) => Spent::of(session.id(), lines),
        Err(StoreError::NoTranscript(_)) => Spent::default(),
        Err(error) => return Err(Fault { code: code::TRANSCRIPT_LOST, message: error.to_string() }),
    };
    remember(session, state, own)
}

/// The same with what its own answers took. What the session knows already is left as it is.
fn remember(session: &Session, state: &State, own: Spent) -> Result<(), Fault> {
    let (below, agents) = sub::spent_below(state, session.id())?;
    let Spent { usage, cost_micros, answers, summaries, .. } = own.plus(below);
    for (budget, amount) in [
        (Budget::InputTokens, usage.read()),
        (Budget::OutputTokens, usage.output),
        (Budget::TotalTokens, usage.read() + usage.output),
        (Budget::ReasoningTokens, usage.reasoning),
        (Budget::TotalCost, cost_micros),
        (Budget::ModelCalls, answers + summaries),
        (Budget::SessionTurns, answers),
        (Budget::DelegatedTasks, agents),
    ] {
        if session.spent(budget) < amount {
            session.resume_spent(budget, amount);
        }
    }
    Ok(())
}

/// Gives calls of one answer names that are not alike, as results are told apart by them; how many there are.
pub(crate) fn tell_apart(parts: &mut [Part]) -> usize {
    let mut met = HashSet::new();
    let mut calls = 0;
    for part in parts {
        if let Part::Call(call) = part {
            calls += 1;
            if call.id.is_empty() || !met.insert(call.id.clone()) {
                call.id = format!("{}call-{calls}", call.id);
                met.insert(call.id.clone());
            }
        }
    }
    calls
}
