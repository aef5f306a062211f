//! A conversation and its transcript: what is said is on disk before anything follows from it.
//!
//! One function ([`Conversation::apply`]) makes of a line what it means, for lines that are written and for lines
//! that are read again: a conversation that is gone on with is the one that was left. Calls and results are paired
//! by construction: an answer with calls opens a turn, each result fills its place, and the message with the results
//! comes to be when none is missing.

use std::sync::Arc;

use nika_contract::{Fault, ToolError, code, text};
use nika_store::State;
use nika_store::transcript::{self, Transcript};
use serde::{Deserialize, Serialize};

use crate::compact;
use crate::provider::{Call, CallResult, Message, Part, Role, Usage};

/// A line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// A process goes on with the conversation, or begins it.
    Opened {
        /// Whose: a fork holds the lines of another one.
        session: String,
        at_ms: u64,
        model: String,
        /// What was asked, in a line.
        task: String,
    },
    /// The person, or who gave the task.
    Said(Message),
    /// The program, between turns.
    Told(String),
    /// The model. Its calls begin after this line is there.
    Answered { message: Message, model: String, usage: Usage, cost_micros: Option<u64> },
    /// What came of the call `index` of the answer in line `of`.
    Result { of: u64, index: usize, call: Option<String>, result: CallResult },
    /// Deferred tools whose schema the model has seen, in that order.
    Loaded(Vec<String>),
    /// An answer that is no part of the conversation (a summary of it, or one with nothing in it) took this.
    Spent { usage: Usage, cost_micros: Option<u64> },
    /// What was said before line `from` is now this text.
    Compacted { from: u64, text: String },
    /// Results are cut to so many characters.
    Shortened { chars: usize },
    /// A run ended.
    Ended { why: String },
}

/// A conversation with a model, kept by a transcript.
#[derive(Debug)]
pub struct Conversation {
    transcript: Arc<Transcript>,
    state: State,
    lines: u64,
    messages: Vec<Message>,
    /// The line that each message comes from, rising; of a summary, the last that it stands for.
    from: Vec<u64>,
    open: Option<Open>,
    loaded: Vec<String>,
    /// What was asked for, in order; kept whole when the conversation is made shorter.
    asked: Vec<String>,
    /// Who wrote the last lines.
    opened_in: String,
    /// What this session's own answers took.
    spent: Spent,
    /// Tokens that the last answer's request and answer were, and messages at that time.
    size: Option<(u64, usize)>,
}

/// What answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub usage: Usage,
    pub cost_micros: u64,
    /// Tokens of answers that nobody knew a price for.
    pub unpriced: u64,
    pub answers: u64,
    /// Answers that are no part of the conversation.
    pub summaries: u64,
}

impl Spent {
    /// Counts what a line took.
    fn note(&mut self, line: &Line) {
        let (usage, cost_micros) = match line {
            Line::Answered { usage, cost_micros, .. } => {
                self.answers += 1;
                (usage, cost_micros)
            }
            Line::Spent { usage, cost_micros } => {
                self.summaries += 1;
                (usage, cost_micros)
            }
            _ => return,
        };
        self.usage = self.usage.plus(*usage);
        match cost_micros {
            Some(cost) => self.cost_micros += cost,
            None => self.unpriced += usage.read() + usage.output,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Spent) -> Spent {
        Spent {
            usage: self.usage.plus(other.usage),
            cost_micros: self.cost_micros + other.cost_micros,
            unpriced: self.unpriced + other.unpriced,
            answers: self.answers + other.answers,
            summaries: self.summaries + other.summaries,
        }
    }

    /// What the lines of a session's transcript took; those that it was forked with are another's.
    pub(crate) fn of(session: &str, lines: Vec<serde_json::Value>) -> Spent {
        let (mut spent, mut opened_in) = (Spent::default(), session.to_owned());
        for line in lines {
            match serde_json::from_value(line) {
                Ok(Line::Opened { session, .. }) => opened_in = session,
                Ok(line) if opened_in == session => spent.note(&line),
                // A line that means nothing has spent nothing.
                _ => {}
            }
        }
        spent
    }
}

/// An answer whose calls have not all their results.
#[derive(Debug)]
struct Open {
    line: u64,
    calls: Vec<Call>,
    results: Vec<Option<CallResult>>,
    /// Whether the answer was given to another session, whose calls are not this one's to make.
    elsewhere: bool,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unanswered {
    pub of: u64,
    pub index: usize,
    pub call: Call,
}

impl Unanswered {
    /// What watchers know the call by.
    pub(crate) fn place(&self) -> String {
        format!("{}.{}", self.of, self.index)
    }

    /// What the journal knows the call by. The line makes it unlike every other call of the conversation; the
    /// model's own name for it only where it names no two alike.
    pub(crate) fn origin(&self) -> String {
        text::preview(&format!("{} {}", self.place(), self.call.id), 80)
    }
}

/// A conversation in few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversed {
    /// The session.
    pub session: String,
    /// When it began, in Unix milliseconds.
    pub began_ms: u64,
    /// When it was last added to.
    pub changed_ms: u64,
    /// The model that it began with.
    pub model: String,
    /// What was asked first, in a line that cannot steer a terminal.
    pub task: String,
    /// Lines of its transcript.
    pub lines: u64,
}

impl Conversation {
    /// The conversation of `session`: the one that was left, or a new one.
    pub fn open(state: &State, session: &str) -> Result<Conversation, ToolError> {
        let transcript = Arc::new(Transcript::open(state, session)?);
        let mut conversation = Conversation {
            transcript,
            state: state.clone(),
            lines: 0,
            messages: Vec::new(),
            from: Vec::new(),
            open: None,
            loaded: Vec::new(),
            asked: Vec::new(),
            opened_in: session.to_owned(),
            spent: Spent::default(),
            size: None,
        };
        for line in transcript::lines(state, session)? {
            let number = conversation.lines + 1;
            let line = serde_json::from_value(line).map_err(|error| {
                let message =
                    format!("line {number} of the transcript of session {session:?} is no line of one: {error}");
                ToolError::new(code::STATE_UNUSABLE, message).hint("fork the session from the lines before it")
            })?;
            conversation.lines = number;
            conversation.apply(number, line);
        }
        Ok(conversation)
    }

    /// Begins the conversation of `to` with the first `upto` lines of another, all of them without a number. Calls
    /// whose results are not among them are not made in the new one.
    pub fn fork(state: &State, from: &str, to: &str, upto: Option<u64>) -> Result<Conversation, ToolError> {
        transcript::fork(state, from, to, upto)?;
        Conversation::open(state, to)
    }

    /// The conversations there are, the latest first.
    pub fn list(state: &State) -> Result<Vec<Conversed>, ToolError> {
        let conversed = |info: nika_store::TranscriptInfo| {
            let first = info.first.and_then(|line| serde_json::from_value(line).ok());
            let Some(Line::Opened { at_ms, model, task, .. }) = first else { return None };
            let (session, lines, changed_ms) = (info.session, info.lines, info.changed_ms);
            let (model, task) = (text::harmless(&model).into_owned(), text::harmless(&task).into_owned());
            Some(Conversed { session, began_ms: at_ms, changed_ms, model, task, lines })
        };
        Ok(transcript::list(state)?.into_iter().filter_map(conversed).collect())
    }

    /// Whose it is.
    pub fn session(&self) -> &str {
        self.transcript.session()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// What was said, as the model is told it. Calls whose results are missing stand last.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Lines of the transcript: the number to fork at.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The deferred tools that the model has seen, in that order.
    pub(crate) fn loaded(&self) -> &[String] {
        &self.loaded
    }

    /// What this session's answers took so far, in every process.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Tokens of this session's answers that no price was known for: no bound on its cost has counted them.
    pub fn unpriced_tokens(&self) -> u64 {
        self.spent.unpriced
    }

    /// What was asked for so far, in order.
    pub(crate) fn asked(&self) -> &[String] {
        &self.asked
    }

    /// The calls that have no result.
    pub(crate) fn unanswered(&self) -> Vec<Unanswered> {
        let Some(open) = &self.open else { return Vec::new() };
        let missing = open.results.iter().enumerate().filter(|(_, result)| result.is_none());
        let unanswered = |(index, _)| Unanswered { of: open.line, index, call: open.calls[index].clone() };
        missing.map(unanswered).collect()
    }

    /// Whether the calls that have no result are those of a session that this one was forked from.
    pub(crate) fn is_forked(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.elsewhere)
    }

    /// About how many tokens the next request is: what the provider counted last, and a guess at what came since;
    /// `prefix` is a guess at what stands before the conversation, for when nothing was counted yet.
    pub(crate) fn about_tokens(&self, prefix: u64) -> u64 {
        let (counted, messages) = self.size.unwrap_or((prefix, 0));
        counted + compact::about_tokens(&self.messages[messages.min(self.messages.len())..])
    }

    /// The line that each message comes from, rising; of a summary, the last that it stands for.
    pub(crate) fn lines_of_messages(&self) -> &[u64] {
        &self.from
    }

    /// Puts a line on disk, then into the conversation. Whoever else writes to it makes that a fault: two that go on
    /// with one conversation would each make its calls.
    pub(crate) fn write(&mut self, line: Line) -> Result<u64, Fault> {
        let lost = |message: String| Fault { code: code::TRANSCRIPT_LOST, message };
        let value = serde_json::to_value(&line).expect("a line is plain data");
        let number = self.transcript.append(&value).map_err(|error| lost(error.to_string()))?;
        if number != self.lines + 1 {
            let message = format!("another process goes on with the session {:?}", self.session());
            return Err(lost(message));
        }
        self.lines = number;
        self.apply(number, line);
        Ok(number)
    }

    /// The file, for whoever forces it to the disk.
    pub(crate) fn transcript(&self) -> Arc<Transcript> {
        Arc::clone(&self.transcript)
    }

    /// What a line means.
    fn apply(&mut self, number: u64, line: Line) {
        if self.opened_in == self.session() {
            self.spent.note(&line);
        }
        match line {
            Line::Opened { session, .. } => self.opened_in = session,
            Line::Said(message) => {
                self.asked.push(said(&message));
                self.push(number, message);
            }
            Line::Told(told) => self.push(number, Message { role: Role::User, parts: vec![Part::Text(told)] }),
            Line::Answered { message, usage, .. } => {
                let calls: Vec<Call> = calls(&message).cloned().collect();
                let results = vec![None; calls.len()];
                let elsewhere = self.opened_in != self.session();
                self.open = (!calls.is_empty()).then_some(Open { line: number, calls, results, elsewhere });
                self.push(number, message);
                self.size = Some((usage.read() + usage.output, self.messages.len()));
            }
            Line::Result { of, index, result, .. } => {
                let open = self.open.as_mut().filter(|open| open.line == of);
                let Some(place) = open.and_then(|open| open.results.get_mut(index)) else { return };
                *place = Some(result);
                if let Some(Open { results, .. }) = self.open.take_if(|open| open.results.iter().all(Option::is_some)) {
                    let parts = results.into_iter().flatten().map(Part::Result).collect();
                    self.push(number, Message { role: Role::Tool, parts });
                }
            }
            Line::Loaded(tools) => self.loaded.extend(tools),
            Line::Compacted { from, text } => {
                let gone = self.from.iter().take_while(|line| **line < from).count();
                self.from.drain(..gone);
                self.messages.drain(..gone);
                // It stands for what was before `from`: by its own, later line the next one would not find it gone.
                self.from.insert(0, from.saturating_sub(1));
                self.messages.insert(0, Message { role: Role::User, parts: vec![Part::Text(text)] });
                self.size = None;
            }
            Line::Shortened { chars } => {
                compact::shorten(&mut self.messages, chars);
                self.size = None;
            }
            Line::Spent { .. } | Line::Ended { .. } => {}
        }
    }

    fn push(&mut self, number: u64, message: Message) {
        self.messages.push(message);
        self.from.push(number);
    }
}

/// The calls of a message.
pub(crate) fn calls(message: &Message) -> impl Iterator<Item = &Call> {
    message.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    })
}

/// The text of a message.
pub(crate) fn said(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("")
}
