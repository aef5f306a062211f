//! Interpreters that keep their state from one call to the next.
//!
//! Each is a job that is talked to. It gets code over its input, behind a word that nobody could know before, and
//! ends its answer with that word: whatever the code prints cannot pass for the end. Its output is what
//! the code printed, in order.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nika_guard::Permit;
use nika_guard::profile::Profile;

use rustix::process::Pid;

use super::jobs::{
    Bounds, Job, Jobs, Order, Program, Reachable, Reading, StartError, State, Stdin, Until, random_word,
};
use super::tree;
use crate::git::Before;
use crate::record::{Recorded, Recorder, came_of};

/// How long code that was interrupted may take to stop.
const INTERRUPT_WITHIN: Duration = Duration::from_secs(2);
/// How long one read of output waits before it looks at the time.
const LOOK: Duration = Duration::from_millis(50);
/// How long an interpreter has to take code: one that lives takes it at once.
const SEND_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of what a piece of code prints that are kept: a log that is worth reading. Of more its end is kept, too.
pub const PRINTED_BYTES: usize = 4 << 20;
/// Bytes of that end.
const END_BYTES: usize = 64 << 10;
/// What the job keeps of its end: so much a piece of code can print before any of it is read here. A value is at most 1
/// MiB, so that it fits in with its frame.
const TAIL_BYTES: usize = PRINTED_BYTES;
/// The byte before a frame: the record separator.
const FRAME: u8 = 0x1e;

/// Which interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// `python3`.
    Python,
    /// `node`.
    Node,
    /// `bash`.
    Bash,
}

impl Language {
    /// The program that has to be installed.
    pub fn program(self) -> &'static str {
        match self {
            Language::Python => "python3",
            Language::Node => "node",
            Language::Bash => "bash",
        }
    }

    fn argv(self) -> Vec<String> {
        let words: &[&str] = match self {
            Language::Python => &["python3", "-c", include_str!("repl/driver.py")],
            // Node cannot give itself another standard input; the shell before it can.
            Language::Node => {
                &["sh", "-c", "exec node -e \"$1\" 3<&0 0</dev/null", "sh", include_str!("repl/driver.js")]
            }
            Language::Bash => &["bash", "--noprofile", "--norc", "-c", include_str!("repl/driver.sh")],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// What became of a piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Done,
    /// It raised an error, which the output shows.
    Failed,
    /// It took too long, or nobody wanted it any more, and was interrupted. What it did before stays.
    Interrupted,
    /// It raised, or sent itself, the interrupt.
    BrokeOff,
    /// The interpreter is gone, and all its state with it; this is why. The next call begins anew.
    Lost(String),
}

/// What a piece of code gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// The beginning of what was printed.
    pub head: Vec<u8>,
    /// How many bytes lie between the two.
    pub omitted: u64,
    /// The end of what was printed.
    pub tail: Vec<u8>,
    /// The value of its last expression; for bash, the status of its last command.
    pub value: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// Whether the interpreter was started for it: nothing of before is known there.
    pub fresh: bool,
    /// The job that the interpreter is.
    pub job: String,
    /// What the code changed, where that was recorded.
    pub recorded: Option<Recorded>,
}

/// The interpreters of all sessions.
pub struct Repls {
    jobs: Arc<Jobs>,
    kept: Mutex<HashMap<(String, Language), Slot>>,
}

/// One interpreter's place; whoever holds its lock talks to it.
type Slot = Arc<Mutex<Option<Kept>>>;

struct Kept {
    job: Arc<Job>,
    profile: Profile,
    cursor: u64,
}

impl fmt::Debug for Repls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repls").finish_non_exhaustive()
    }
}

/// One piece of code.
pub struct Code<'a> {
    /// Whose interpreter.
    pub session: &'a str,
    /// Which.
    pub language: Language,
    /// The code.
    pub text: &'a str,
    /// What the interpreter is held to. One that was started under another profile is not used any more.
    pub profile: &'a Profile,
    /// How long it may take.
    pub timeout: Duration,
    /// Who keeps what it changes.
    pub recorder: Option<Recorder>,
    /// What git had recorded before of what the code cannot replace.
    pub git_before: Option<&'a Before>,
    /// Asked again and again: whether nobody wants the answer any more.
    pub stopped: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("language", &self.language).field("text", &self.text).finish_non_exhaustive()
    }
}

impl Repls {
    /// None yet; they will be jobs of `jobs`, and end with their sessions there.
    pub fn new(jobs: Arc<Jobs>) -> Repls {
        Repls { jobs, kept: Mutex::default() }
    }

    /// Evaluates `code`, in an interpreter that is started when there is none. One piece at a time: another
    /// for the same interpreter waits.
    pub fn evaluate(&self, permit: &Permit, code: &Code<'_>) -> Result<Evaluated, StartError> {
        let key = (code.session.to_owned(), code.language);
        let slot = self.kept.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let usable = slot.as_ref().is_some_and(|kept| {
            kept.profile == *code.profile && matches!(kept.job.state(), State::Running | State::Waiting)
        });
        if !usable && let Some(old) = slot.take() {
            old.job.stop_within(Duration::ZERO);
        }
        let kept = match &mut *slot {
            Some(kept) => kept,
            empty => empty.insert(self.start(permit, code)?),
        };
        if let (true, Some(next)) = (usable, &code.recorder) {
            kept.follow(next);
        }
        let evaluated = kept.evaluate(code, !usable)?;
        if matches!(evaluated.outcome, Outcome::Lost(_)) {
            *slot = None;
        }
        Ok(evaluated)
    }

    fn start(&self, permit: &Permit, code: &Code<'_>) -> Result<Kept, StartError> {
        let program = Program::Argv(code.language.argv());
        let order = Order {
            stdin: Stdin::Pipe,
            // It lives as long as its session.
            background: true,
            recorder: code.recorder.clone(),
            network: Reachable::AsServer,
            reserved: Some(format!("{}, the interpreter of repl", code.language.program())),
            output: Bounds { head_bytes: 0, tail_bytes: TAIL_BYTES, most_bytes: u64::MAX, ..Bounds::default() },
            ..Order::new(program, code.profile.clone(), code.session)
        };
        let job = self.jobs.start(permit, order)?;
        Ok(Kept { job, profile: code.profile.clone(), cursor: 0 })
    }

    /// Ends an interpreter; whether there was one.
    pub fn end(&self, permit: &Permit, session: &str, language: Language) -> bool {
        let slot = self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&(session.to_owned(), language));
        let Some(kept) = slot.and_then(|slot| slot.lock().unwrap_or_else(PoisonError::into_inner).take()) else {
            return false;
        };
        // The same door as for any job of the session.
        self.jobs.job(permit, session, kept.job.id()).is_some_and(|job| job.stop_within(Duration::ZERO).is_some())
    }
}

impl Kept {
    fn evaluate(&mut self, code: &Code<'_>, fresh: bool) -> Result<Evaluated, StartError> {
        let token = random_word()?;
        let mut seen = Seen::new(&token);
        let request = [format!("{token} {}\n", code.text.len()).as_bytes(), code.text.as_bytes()].concat();
        let sent = self.job.write(&request, SEND_WITHIN).is_ok_and(|sent| sent == request.len());
        let mut until = Instant::now() + code.timeout;
        let mut interrupted = false;
        let (outcome, value) = loop {
            let chunk = self.job.read(&Reading::from(self.cursor).waiting(Until::Output, LOOK));
            self.cursor = chunk.next;
            seen.push(&chunk.bytes, chunk.skipped);
            if let Some((status, value)) = seen.end() {
                break outcome(&status, value);
            }
            if let (State::Ended(exited), false) = (&chunk.state, chunk.more) {
                break (Outcome::Lost(super::wire::how_it_ended(exited)), None);
            }
            if interrupted && Instant::now() >= until || !sent {
                self.job.stop_within(Duration::ZERO);
                let why = if sent { "it could not be interrupted and was killed" } else { "it took no code" };
                break (Outcome::Lost(why.to_owned()), None);
            }
            if !interrupted && (Instant::now() >= until || (code.stopped)()) {
                interrupted = true;
                until = Instant::now() + INTERRUPT_WITHIN;
                let _ = self.job.signal(libc::SIGINT);
            }
        };
        let outcome = match outcome {
            // What an interrupted piece of bash returns is a status like any other.
            Outcome::Done if interrupted => Outcome::Interrupted,
            Outcome::Interrupted if !interrupted => Outcome::BrokeOff,
            outcome => outcome,
        };
        let (head, omitted, tail) = seen.output();
        // Of an interpreter that is gone its job knows.
        let settle = |recorder: &Recorder| recorder.settle(&self.processes()).or_else(|| self.job.recorded());
        let recorded = came_of(code.git_before, self.recorder(), settle);
        Ok(Evaluated { head, omitted, tail, value, outcome, fresh, job: self.job.id().to_owned(), recorded })
    }

    /// What is changed from now on belongs to the call of `next`.
    fn follow(&self, next: &Recorder) {
        if let Some(recorder) = self.recorder() {
            recorder.follow(next, &self.processes());
        }
    }

    fn recorder(&self) -> Option<&Recorder> {
        self.job.recorded_by()
    }

    /// All that the interpreter has started, itself among them.
    fn processes(&self) -> Vec<Pid> {
        tree::below(self.job.supervisor())
    }
}

fn outcome(status: &str, value: String) -> (Outcome, Option<String>) {
    let value = Some(value).filter(|value| !value.is_empty());
    match status {
        "done" => (Outcome::Done, value),
        "interrupted" => (Outcome::Interrupted, value),
        _ => (Outcome::Failed, value),
    }
}

/// What was printed so far, and the frame behind it.
#[derive(Debug)]
struct Seen {
    mark: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    omitted: u64,
    /// What may be the beginning of the frame.
    pending: Vec<u8>,
}

impl Seen {
    fn new(token: &str) -> Seen {
        let mark = [&[FRAME], token.as_bytes(), b" "].concat();
        Seen { mark, head: Vec::new(), tail: Vec::new(), omitted: 0, pending: Vec::new() }
    }

    fn push(&mut self, bytes: &[u8], skipped: u64) {
        if skipped > 0 {
            let pending = std::mem::take(&mut self.pending);
            self.keep(&pending);
            self.omitted += skipped + self.tail.len() as u64;
            self.tail.clear();
        }
        self.pending.extend_from_slice(bytes);
        let plain = self.plain();
        let printed: Vec<u8> = self.pending.drain(..plain).collect();
        self.keep(&printed);
    }

    /// How much of what is pending is surely not the frame: all before the mark, or before what may be its beginning.
    fn plain(&self) -> usize {
        let mut from = 0;
        while let Some(at) = self.pending[from..].iter().position(|byte| *byte == FRAME) {
            let rest = &self.pending[from + at..];
            let known = rest.len().min(self.mark.len());
            if rest[..known] == self.mark[..known] {
                return from + at;
            }
            from += at + 1;
        }
        self.pending.len()
    }

    fn keep(&mut self, printed: &[u8]) {
        let room = if self.omitted > 0 || !self.tail.is_empty() { 0 } else { PRINTED_BYTES - self.head.len() };
        let (head, tail) = printed.split_at(room.min(printed.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        if self.tail.len() > 2 * END_BYTES {
            let over = self.tail.len() - END_BYTES;
            self.tail.drain(..over);
            self.omitted += over as u64;
        }
    }

    /// Status and value, once the frame is whole.
    fn end(&self) -> Option<(String, String)> {
        let rest = self.pending.strip_prefix(self.mark.as_slice())?;
        let line = rest.iter().position(|byte| *byte == b'\n')?;
        let (status, length) = std::str::from_utf8(&rest[..line]).ok()?.split_once(' ')?;
        let value = rest[line + 1..].get(..length.parse().ok()?)?;
        Some((status.to_owned(), String::from_utf8_lossy(value).into_owned()))
    }

    fn output(mut self) -> (Vec<u8>, u64, Vec<u8>) {
        if !self.pending.starts_with(&self.mark) {
            let pending = std::mem::take(&mut self.pending);
            self.keep(&pending);
        }
        (self.head, self.omitted, self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_found_however_it_is_cut() {
        let whole = b"out\x1eother 4\nput\x1etoken done 3\nabc";
        for cut in 0..whole.len() {
            let mut seen = Seen::new("token");
            seen.push(&whole[..cut], 0);
            assert_eq!(seen.end(), None, "{cut}");
            seen.push(&whole[cut..], 0);
            assert_eq!(seen.end(), Some(("done".to_owned(), "abc".to_owned())), "{cut}");
            assert_eq!(seen.output(), (b"out\x1eother 4\nput".to_vec(), 0, Vec::new()), "{cut}");
        }
    }

    #[test]
    fn a_lot_of_output_is_cut_in_the_middle() {
        let mut seen = Seen::new("token");
        for n in 0..1_000_000 {
            seen.push(format!("{n}\n").as_bytes(), 0);
        }
        seen.push(b"\x1etoken failed 0\n", 0);
        let (head, omitted, tail) = seen.output();
        assert!(head.starts_with(b"0\n1\n") && tail.ends_with(b"999999\n"));
        assert_eq!(head.len(), PRINTED_BYTES);
        assert_eq!(head.len() as u64 + omitted + tail.len() as u64, 6_888_890);
    }
}
