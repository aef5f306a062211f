//! What a tool or the pipeline needs from outside and does not know: a person, a clock, a place for
//! pre-images, somebody who watches progress.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use nika_guard::{Answer, Budget};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::ToolError;
use crate::rehearsal::Held;

/// A future behind a pointer, for ports that are trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Stands for this question over a round trip: equal calls ask equal questions.
    pub id: String,
    /// The tool that would run.
    pub tool: String,
    /// What it would do, and why that needs a yes.
    pub text: String,
    /// What would happen, when it can be shown: a diff.
    pub preview: Option<String>,
    /// What may be answered beyond yes and no.
    pub choices: Vec<Choice>,
}

/// An answer that keeps a rule for the session, or several where a call does several things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The rule that would be kept; of several, all, joined by ` and `.
    pub rule: String,
    /// What else it would let through, in words; empty where it holds for this call alone.
    pub beyond: String,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A person answered.
    Answered(Answer),
    /// A person answered yes and wants this rule kept for the session.
    Always(Answer, String),
    /// There is nobody to ask.
    Nobody,
    /// The answer comes with a second call: this one ends here and did nothing.
    Later,
}

/// What a tool wants to know from a person: no permission, an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inquiry {
    /// Stands for this inquiry over a round trip. The pipeline gives it.
    pub id: String,
    /// The tool that asks. The pipeline gives it.
    pub tool: String,
    /// What its asker calls it, for answers that were given beforehand.
    pub name: Option<String>,
    /// A few words that stand above it.
    pub header: Option<String>,
    /// The question.
    pub text: String,
    /// What may be chosen; none where only words will do.
    pub options: Vec<Offer>,
    /// Whether words of the person's own are an answer, too.
    pub free_text: bool,
}

/// One of the answers that an [`Inquiry`] offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What is chosen.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// What became of an [`Inquiry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replied {
    /// One of the options, by its label.
    Chosen(String),
    /// Words of the person's own.
    Wrote(String),
    /// The person would not answer.
    Declined {
        /// What they said instead.
        why: Option<String>,
    },
    /// There is nobody to ask.
    Nobody,
    /// The answer comes with a second call: this one ends here and did nothing.
    Later,
}

/// What has to be answered before a call can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// Whether it may happen.
    Permission(Question),
    /// What its tool wants to know.
    Inquiry(Inquiry),
}

/// Someone who can put a question to a person.
pub trait Asker: Send + Sync {
    /// Puts the question and waits, as long as the person takes.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked>;

    /// Puts a tool's own question and waits.
    fn inquire<'a>(&'a self, _: &'a Inquiry) -> BoxFuture<'a, Replied> {
        Box::pin(async { Replied::Nobody })
    }

    /// Whether there may be somebody: no question is worked out for nobody.
    fn is_there(&self) -> bool {
        true
    }

    /// How many answers came with this call that are to other questions than this one: those of earlier rounds, where
    /// answers come with a second call.
    fn answers_to_others(&self, _id: &str) -> usize {
        0
    }
}

/// Nobody is there.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }

    fn is_there(&self) -> bool {
        false
    }
}

/// Writes lines of a call to the journal.
pub type Noting = Arc<dyn Fn(&'static str, Map<String, Value>) + Send + Sync>;

/// What a running call has beside it: somebody who can be asked about what came up on the way, and the journal.
pub trait Beside: Send + Sync {
    /// Who can be asked.
    fn asker(&self) -> &Arc<dyn Asker>;

    /// Writes a line of the call's to the journal.
    fn note(&self, event: &'static str, fields: Map<String, Value>);

    /// The same for what goes on when the call has ended.
    fn noting(&self) -> Noting {
        Arc::new(|_, _| ())
    }

    /// What was held of the call's rehearsal when a person said yes to it.
    fn held(&self) -> Option<&Held> {
        None
    }
}

/// Nobody is there and nothing is noted.
#[derive(Clone)]
pub struct Alone(Arc<dyn Asker>);

impl Default for Alone {
    fn default() -> Alone {
        Alone(Arc::new(Nobody))
    }
}

impl fmt::Debug for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alone").finish_non_exhaustive()
    }
}

impl Beside for Alone {
    fn asker(&self) -> &Arc<dyn Asker> {
        &self.0
    }

    fn note(&self, _: &'static str, _: Map<String, Value>) {}
}

/// What happened beside the calls of a session and should be told without being asked: a job that ended.
pub trait News: Send + Sync {
    /// What was not told yet, a line each.
    fn take(&self, session: &str) -> Vec<String>;

    /// What is at work for the session and was promised to be told of, by name: worth waiting for. A command that
    /// was left running is not, as it may run for ever.
    fn at_work(&self, _session: &str) -> Vec<String> {
        Vec::new()
    }

    /// Whether some of that has ended and was not told yet.
    fn has_ended(&self, _session: &str) -> bool {
        false
    }
}

/// What a tool says to the person without waiting for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// In words.
    pub message: String,
    /// Files that go with it, as a person recognises them.
    pub attachments: Vec<String>,
    /// Whether nobody had asked for it.
    pub proactive: bool,
}

/// Someone who shows a person what a tool says.
pub trait Herald: Send + Sync {
    /// Shows it. Whether anybody saw it is the answer.
    fn say(&self, session: &str, spoken: &Spoken) -> bool;
}

/// Somebody who reads a page and answers what was asked about it: a model that has no tools.
pub trait Reader: Send + Sync + fmt::Debug {
    /// Reads and answers, spending of `purse`; `None` where no model is configured.
    fn read<'a>(
        &'a self,
        reading: &'a Reading<'a>,
        purse: &'a dyn Purse,
    ) -> BoxFuture<'a, Result<Option<Reply>, ToolError>>;
}

/// A page, and what is asked about it.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Where the page is from.
    pub address: &'a str,
    /// The page. Nobody vouches for it.
    pub page: &'a str,
    /// What the caller wants to know.
    pub prompt: &'a str,
}

/// What a [`Reader`] answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The answer.
    pub text: String,
    /// Who answered.
    pub model: String,
    /// Tokens that it took, in and out.
    pub tokens: u64,
}

/// What a session may spend, for what a tool spends beyond its own call.
pub trait Purse: Send + Sync {
    /// Spends some of a budget, or says why it may not be.
    fn spend(&self, budget: Budget, amount: u64) -> Result<(), ToolError>;
}

/// A purse without a bottom.
#[derive(Debug, Clone, Copy)]
pub struct Unbounded;

impl Purse for Unbounded {
    fn spend(&self, _: Budget, _: u64) -> Result<(), ToolError> {
        Ok(())
    }
}

/// What time it is.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn unix_ms(&self) -> u64;
}

/// Somebody who watches a call.
pub trait Progress: Send + Sync {
    /// `done` of `total` units (when it is known), and what is being done.
    fn step(&self, done: u64, total: Option<u64>, what: &str);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: u64, _: Option<u64>, _: &str) {}
}

/// What stands, or stood, at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file; `bytes` are its content.
    File,
    /// A symbolic link; `bytes` are where it points.
    Link,
    /// A directory that the call makes, so that undo can remove it while it is empty.
    Directory,
}

/// What a file or directory has beside its content and its permission bits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Dress {
    /// Owner and group.
    pub owner: (u32, u32),
    /// Access lists, labels and what else is attached to it, by name.
    pub attributes: Vec<(String, Vec<u8>)>,
}

/// One path as it was before a call changes it.
#[derive(Debug)]
pub struct Preimage<'a> {
    /// Absolute and resolved.
    pub path: &'a Path,
    /// What stands there now, or will when nothing does.
    pub kind: Kind,
    /// The bytes there; `None` where nothing was.
    pub bytes: Option<&'a [u8]>,
    /// sha256 of `bytes`, when the caller has it already.
    pub hash: Option<[u8; 32]>,
    /// Permission bits, where something was.
    pub mode: Option<u32>,
    /// Those that will stand there, where that is known.
    pub mode_left: Option<u32>,
    /// sha256 of what will stand there; `None` when nothing will, or when `more` says it another way.
    pub after: Option<[u8; 32]>,
    /// What a change that a command made has beyond an edit.
    pub more: Option<More>,
    /// What else stands there has that would be lost with it; `None` where that is what a new file is given, too.
    pub dress: Option<&'a Dress>,
    /// Whether it is a file with other names.
    pub linked: bool,
}

/// Beyond an edit: a command may put one kind of entry in place of another, leave files that are too large to
/// be hashed, and change more than can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    /// What will stand there; `None` when nothing will.
    pub left: Option<Kind>,
    /// Instead of its sha256: inode, bytes, and the seconds and nanoseconds of its modification time.
    pub left_as: Option<[i64; 4]>,
    /// The same of a large file that stood there, so that it is known again as what an earlier call left.
    pub was_as: Option<[i64; 4]>,
    /// What is kept of what stood there.
    pub before: Before,
    /// How much of the change is known.
    pub known: Known,
}

/// How much of a change is known. What runs over a layer is known whole before it counts; what is recorded while it
/// happens is known in two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
    /// What stood there and what will.
    #[default]
    Whole,
    /// Only what stood there: it is about to be changed, or perhaps not.
    Begun,
    /// What came of a change that had begun.
    Settled,
    /// What had begun and changed nothing.
    Unchanged,
}

/// What an undo store has of what stood at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// All of it, or nothing stood there.
    Kept,
    /// Nothing, as the content stays: only permission bits change.
    Same,
    /// Nothing: it was too large, or neither file, link nor directory.
    Lost,
}

/// Where pre-images go. Durable (as far as the journal is) before the change is made.
pub trait Undo: Send + Sync {
    /// Keeps one path as it is now.
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError>;

    /// What was kept for this call so far was not changed after all: there is nothing to take back.
    fn void(&self) {}

    /// The call fails, and yet not all that it changed could be taken back: what was kept counts, whatever becomes of it.
    fn stands(&self) {}

    /// Notes for whoever reads the journal that the call's command was ended, as it had a hold of these files, to which
    /// somebody else gave guarded names.
    fn tell_handled(&self, _files: &[PathBuf]) {}

    /// The same, for what goes on changing paths when the call has ended. `None` where nothing outlives a call.
    fn lasting(&self) -> Result<Option<Lasting>, ToolError> {
        Ok(None)
    }
}

/// The undo of a call whose work goes on.
pub struct Lasting {
    /// The call.
    pub call: String,
    /// Where its pre-images go.
    pub undo: Arc<dyn Undo>,
    /// Held while more may come: until it is dropped the call cannot be taken back.
    pub hold: Box<dyn Any + Send>,
}

impl fmt::Debug for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lasting").field("call", &self.call).finish_non_exhaustive()
    }
}
