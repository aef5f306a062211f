//! The loop, as a page: what one agent does from a task to an answer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Asker, Cancel, Clock, Fault, News, event, text};
use nika_guard::Budget;
use nika_runtime::{Runtime, Session};
use serde_json::{Map, Value};

use crate::ask::{self, Answer, Purpose};
use crate::conversation::{Conversation, Line, said};
use crate::ended::{Ended, Why};
use crate::happening::{Happening, Watch};
use crate::memory::MemoryFile;
use crate::provider::{Answered, Asking, Kind, Message, Provider, Role, Stop};
use crate::room::Room;
use crate::run::{Run, tell_apart};

/// An agent: a model that works in a session, and what surrounds it. It runs on a tokio runtime with time.
pub struct Agent {
    /// Where its calls go.
    pub runtime: Arc<Runtime>,
    /// The session that it works in.
    pub session: Arc<Session>,
    /// Who thinks.
    pub model: Arc<dyn Provider>,
    /// Who is asked when a call needs a yes.
    pub asker: Arc<dyn Asker>,
    /// Who watches.
    pub watch: Arc<dyn Watch>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Set when nobody wants its work any more.
    pub cancel: Cancel,
    /// How far it may go.
    pub bounds: Bounds,
    /// What it is told before its task.
    pub briefing: Briefing,
    /// The plan and the to-do list, for when the conversation becomes too long.
    pub notes: Option<Arc<dyn Notes>>,
    /// What it is told between turns without asking.
    pub news: Option<Arc<dyn News>>,
    /// What was said so far.
    pub talk: Conversation,
}

/// How far an agent may go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Turns of one run; without a number the budgets alone bound it.
    pub max_turns: Option<u32>,
    /// Calls that run at once.
    pub parallel: usize,
    /// The part of the model's context that, once full, is made room in: 0.8.
    pub compact_at: f64,
    /// So many equal calls with equal answers are pointed out to the model; twice as many end the run.
    pub same_call: u32,
    /// How long a model that has said its last words waits for what it has set to work in the background.
    pub wait: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        // Eight: more calls than that in one turn are rare, and each may be a process with a megabyte of output.
        // Three: twice the same is a second look. Half an hour: what is bounded by turns and money is mostly done by
        // then, and one that hangs is given up before anybody has forgotten it.
        let wait = Duration::from_secs(30 * 60);
        Bounds { max_turns: None, parallel: 8, compact_at: 0.8, same_call: 3, wait }
    }
}

/// What an agent is told before its task, and given for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Briefing {
    /// Where it works, what it may do, who it is: the program's own words.
    pub instructions: String,
    /// Memory files, from the root down to the working directory.
    pub memory: Vec<MemoryFile>,
    /// Skills by name, with what each is for.
    pub skills: Vec<(String, String)>,
    /// These tools and no others, by canonical name; nothing is deferred then.
    pub allowed: Option<Vec<String>>,
    /// The JSON schema of the object that is wanted for an answer.
    pub wanted: Option<Value>,
}

/// The tools of `--simple`.
pub const SIMPLE: &[&str] = &["bash", "read", "edit"];

/// What a session has noted down and has to know still when the conversation became too long.
pub trait Notes: Send + Sync {
    /// Titles and texts: the plan, the to-do list, unfinished tasks. Empty ones are left out.
    fn of(&self, session: &str) -> Vec<(String, String)>;
}

impl Agent {
    /// Works on a task until it is done, or may not go on. A conversation that was interrupted is settled first: a
    /// call that had not begun is made, one that had is not made again. `Err` is a fault of ours; the conversation
    /// can be gone on with all the same.
    pub async fn run(&mut self, task: &str) -> Result<Ended, Fault> {
        let mut run = self.open(task)?;
        self.settle(&mut run).await?;
        self.hear(task)?;
        let why = self.turns(&mut run).await?;
        self.end(run, why).await
    }

    /// Goes on where the conversation was left, without a new task. One that was done answers as it did.
    pub async fn resume(&mut self) -> Result<Ended, Fault> {
        let mut run = self.open("")?;
        self.settle(&mut run).await?;
        let why = if self.was_done(&mut run) { Why::Done } else { self.turns(&mut run).await? };
        self.end(run, why).await
    }

    /// The loop.
    async fn turns(&mut self, run: &mut Run) -> Result<Why, Fault> {
        loop {
            if let Some(why) = run.stop.take().or_else(|| self.may_not_go_on(run)) {
                // A task that was done is not undone because nobody may be told any more how others' work ended.
                let spent = matches!(why, Why::Turns(_) | Why::Budget(_));
                return Ok(if run.had_ended && spent { Why::Done } else { why });
            }
            self.begin_turn(run)?;
            let answered = match self.answer(run).await? {
                Ok(answered) => answered,
                Err(why) => return Ok(why),
            };
            // On disk before any of its calls begins.
            let calls = self.keep(run, &answered)?;
            let over = run.tally.over.take().map(Why::Budget);
            if calls == 0 {
                match self.after_words(run, &answered.stop) {
                    After::End(Why::Done) if over.is_none() => match self.others_have_ended(run).await? {
                        Some(why) => return Ok(why),
                        None => continue,
                    },
                    After::End(why) => return Ok(why),
                    After::GoOn(_) if over.is_some() => {}
                    After::GoOn(told) => self.tell(&told)?,
                }
            }
            self.perform(run, over.as_ref().and_then(Why::error).as_ref()).await?;
            self.sync(run).await?;
            if over.is_some() {
                run.stop = over;
            } else if self.object().is_some() {
                // What they bring changes the object no more; their work is done all the same.
                self.wait_for_others().await;
                return Ok(if self.cancel.is_cancelled() { Why::Cancelled } else { Why::Done });
            }
        }
    }

    /// What ends the run before its next turn.
    fn may_not_go_on(&self, run: &Run) -> Option<Why> {
        if self.cancel.is_cancelled() {
            return Some(Why::Cancelled);
        }
        if let Some(most) = self.bounds.max_turns.filter(|most| run.turns >= *most) {
            return Some(Why::Turns(most));
        }
        self.session.spend(Budget::SessionTurns, 1).err().map(Why::Budget)
    }

    fn begin_turn(&mut self, run: &mut Run) -> Result<(), Fault> {
        run.turns += 1;
        let news = self.news.as_ref().map(|news| news.take(self.session.id())).unwrap_or_default();
        if !news.is_empty() {
            self.tell(&news.join("\n"))?;
        }
        let mut fields = Map::new();
        fields.insert("turn".into(), run.turns.into());
        fields.insert("messages".into(), self.talk.messages().len().into());
        fields.insert("tools".into(), run.cards.all().len().into());
        self.runtime.note(&self.session, event::AGENT_TURN, &fields)?;
        self.watch.saw(&Happening::TurnBegan { turn: run.turns });
        Ok(())
    }

    /// The model's answer to the conversation, which is made shorter where it has to be.
    async fn answer(&mut self, run: &mut Run) -> Result<Result<Answered, Why>, Fault> {
        let mut too_long = false;
        loop {
            let room = self.make_room(run, too_long).await?;
            if self.cancel.is_cancelled() {
                return Ok(Err(Why::Cancelled));
            }
            let asking = Asking {
                system: &run.system,
                tools: run.cards.all(),
                messages: self.talk.messages(),
                cache_key: self.session.id(),
                must_call: run.cards.wanted_name().filter(|_| run.reminded),
            };
            match self.ask(&mut run.tally, &asking, Purpose::Turn).await? {
                Answer::Whole(answered) => return Ok(Ok(answered)),
                Answer::Cancelled => return Ok(Err(Why::Cancelled)),
                Answer::Spent(error) => return Ok(Err(Why::Budget(error))),
                Answer::Failed(error) if error.kind == Kind::TooLong && !(too_long && room == Room::None) => {
                    too_long = true;
                }
                Answer::Failed(error) => return Ok(Err(Why::Model(error))),
            }
        }
    }

    /// Puts an answer into the conversation. How many calls it has.
    fn keep(&mut self, run: &mut Run, answered: &Answered) -> Result<usize, Fault> {
        let mut message = Message { role: Role::Assistant, parts: answered.parts.clone() };
        let calls = tell_apart(&mut message.parts);
        let words = said(&message);
        // An answer without anything in it is none: providers refuse to be sent it.
        let is_empty = calls == 0 && words.trim().is_empty();
        // The rest of an answer that was cut belongs to its beginning.
        run.answer = if run.cut { format!("{}{words}", run.answer) } else { words };
        run.cut = answered.stop == Stop::Length;
        let (usage, model) = (answered.usage, self.model_name());
        let cost_micros = self.model.model().prices.map(|prices| usage.cost_micros(&prices));
        self.talk.write(match is_empty {
            true => Line::Spent { usage, cost_micros },
            false => Line::Answered { message, model, usage, cost_micros },
        })?;
        Ok(calls)
    }

    /// After the last words: waits for what was set to work in the background, and tells the model of its end, which
    /// it was promised. Nothing when there is something to tell; else why the run ends.
    async fn others_have_ended(&mut self, run: &mut Run) -> Result<Option<Why>, Fault> {
        self.wait_for_others().await;
        if self.cancel.is_cancelled() {
            return Ok(Some(Why::Cancelled));
        }
        let news = self.news.as_ref().filter(|news| news.has_ended(self.session.id()));
        let told = news.map(|news| news.take(self.session.id())).unwrap_or_default();
        run.had_ended = !told.is_empty();
        if told.is_empty() {
            return Ok(Some(Why::Done));
        }
        self.tell(&told.join("\n"))?;
        Ok(None)
    }

    /// Waits until nothing is at work in the background for this session any more, and no longer than it may.
    async fn wait_for_others(&self) {
        let Some(news) = &self.news else { return };
        let since = tokio::time::Instant::now();
        let mut said = Vec::new();
        loop {
            let at_work = news.at_work(self.session.id());
            if at_work.is_empty() || self.cancel.is_cancelled() || since.elapsed() >= self.bounds.wait {
                return;
            }
            if at_work != said {
                self.watch.saw(&Happening::Awaiting { what: &text::harmless(&at_work.join(", ")) });
                said = at_work;
            }
            tokio::time::sleep(ask::LOOK).await;
        }
    }

    /// After an answer without calls the work is done, unless something is missing.
    fn after_words(&self, run: &mut Run, stop: &Stop) -> After {
        if *stop == Stop::Filter {
            return After::End(Why::Withheld);
        }
        let lacks = match stop {
            Stop::Length => {
                Some("Your answer reached the most tokens that it may have. Go on exactly where it stopped.")
            }
            _ if run.answer.trim().is_empty() => Some("Nothing came. Go on with the task, or say that it is done."),
            _ => None,
        };
        if let Some(told) = lacks.filter(|_| run.nudged < NUDGES) {
            run.nudged += 1;
            return After::GoOn(told.to_owned());
        }
        match run.cards.wanted_name() {
            None => After::End(Why::Done),
            Some(_) if run.reminded => After::End(Why::NoObject),
            Some(tool) => {
                let told = format!("The caller wants an object: call `{tool}` with it now.");
                run.reminded = true;
                After::GoOn(told)
            }
        }
    }
}

/// What follows an answer without calls.
enum After {
    /// The run ends.
    End(Why),
    /// The model is told this, and goes on.
    GoOn(String),
}

/// So often in a run the model is told to go on after an answer that was cut or empty.
const NUDGES: u32 = 3;

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("session", &self.session).field("model", &self.model).finish_non_exhaustive()
    }
}
