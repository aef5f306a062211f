//! One job, as its starter and later calls see it.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nika_guard::ExecKind;
use nika_guard::profile::Access;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::order::{Noted, Order, Stdin};
use super::output::{Kept, from_spill};
use super::screen::{self, Picture, Screen};
use super::seek::{Found, Seek};
use super::typed::{Keys, LONGEST_LINE, Line};
use super::{END_WITHIN, GRACE, lock};
use crate::proc::tree::{self, Input, Process};
use crate::proc::wire::{self, Exited, Held, KilledBy, Reached, Request};
use crate::record::{Recorded, Recorder};
use crate::sandbox::Network;
use crate::scratch::Caches;

/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// How long what is there is searched, however short the wait for more. Default 10 s: usual patterns are through all that is
/// kept within one.
const SEARCH: Duration = Duration::from_secs(10);
/// How many hosts that were asked for are remembered.
const MOST_REACHED: usize = 1000;
/// Characters of a host's name that are kept: the longest name has 253.
const MOST_HOST_CHARS: usize = 260;
/// The end of a terminal's input: what the key Ctrl-D sends.
const END_OF_INPUT: u8 = 4;
/// How long a terminal is quiet before what is new is read: a program writes its screen in pieces, and what was typed
/// comes back before the answer.
const SETTLED: Duration = Duration::from_millis(200);
/// How long is waited for that: some never are quiet.
const SETTLED_MOST: Duration = Duration::from_secs(1);

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running,
    /// It runs, and for at least a second it did nothing but wait for input.
    Waiting,
    /// It ended.
    Ended(Exited),
}

/// When a read of output is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// At once.
    Now,
    /// When there is anything new.
    Output,
    /// When the job has ended.
    End,
}

/// A read of output.
pub struct Reading<'a> {
    /// How much of the output was read before: [`Chunk::next`] of the last read.
    pub cursor: u64,
    /// When it is over. A job that ends, or waits for input where no reader was told yet, ends every read: a server that
    /// would take keys can be waited for all the same.
    pub until: Until,
    /// How long it waits at most.
    pub at_most: Duration,
    /// How many bytes it gives at most.
    pub max_bytes: usize,
    /// Asked every 20 ms: whether nobody wants the answer any more.
    pub stopped: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("cursor", &self.cursor).field("until", &self.until).finish_non_exhaustive()
    }
}

impl<'a> Reading<'a> {
    /// What is there from `cursor` on, at most 64 KiB.
    pub fn from(cursor: u64) -> Reading<'a> {
        Reading { cursor, until: Until::Now, at_most: Duration::ZERO, max_bytes: 64 << 10, stopped: &|| false }
    }

    /// The same, waiting at most `at_most` until `until`.
    pub fn waiting(self, until: Until, at_most: Duration) -> Reading<'a> {
        Reading { until, at_most, ..self }
    }
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many before them were not kept anywhere.
    pub skipped: u64,
    /// The cursor for the next read.
    pub next: u64,
    /// Whether there is more already.
    pub more: bool,
    /// How the job stands.
    pub state: State,
}

/// A piece of output as a person would have read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The piece, without the beginning of a character that is not whole yet, of a terminal's of a sequence either.
    pub chunk: Chunk,
    /// Its lines.
    pub text: String,
    /// What stands on the terminal's screen, where that says more.
    pub screen: Option<Picture>,
}

/// What holds a job, for judging what is done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confinement {
    /// How much of the sandbox.
    pub access: Access,
    /// Whether it may reach hosts.
    pub reaches: bool,
    /// Whether it runs on a terminal.
    pub terminal: bool,
    /// Whether only who started it talks to it.
    pub reserved: bool,
    /// The strictest kind that its start was judged as.
    pub kind: ExecKind,
}

/// All of an output that is at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its beginning.
    pub head: Vec<u8>,
    /// How many bytes lie between the two.
    pub omitted: u64,
    /// Its end.
    pub tail: Vec<u8>,
    /// How many bytes there were.
    pub total: u64,
    /// The file with its first bytes, and how many those are.
    pub spilled: Option<(PathBuf, u64)>,
    /// Why there is no such file although there should be one.
    pub spill_error: Option<String>,
}

/// A live job in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub job: String,
    /// What it is.
    pub command: String,
    /// Whether a call waits for it.
    pub background: bool,
    /// Whether it outlives the session.
    pub keep: bool,
    /// Whether it runs on a terminal.
    pub terminal: bool,
    /// How it stands. A job that ended is still live when it left processes that linger.
    pub state: State,
    /// Milliseconds since it was started.
    pub age_ms: u64,
    /// Its processes, with the age of each in milliseconds.
    pub processes: Vec<(Process, u64)>,
}

/// The processes of a job, and the way to them.
pub(super) struct Runs {
    /// Its command, as this process sees it.
    pub(super) pid: i32,
    /// What holds it.
    pub(super) held: Held,
    pub(super) supervisor: Pid,
    /// The way to its supervisor.
    pub(super) link: OwnedFd,
}

/// Our ends of its streams, but for its output, which the thread of the job takes.
pub(super) struct Streams {
    pub(super) stdin: Option<OwnedFd>,
    /// What a process that waits for input is blocked on.
    pub(super) input: Option<Input>,
    /// Whoever reads its standard error, where that is kept apart.
    pub(super) errors: Option<JoinHandle<Vec<u8>>>,
}

/// One job.
pub struct Job {
    id: String,
    order: Order,
    kind: ExecKind,
    runs: Runs,
    began: Instant,
    stdin: Mutex<Option<Feed>>,
    pub(super) input: Option<Input>,
    pub(super) inside: Mutex<Inside>,
    pub(super) changed: Condvar,
    errors: Mutex<Option<JoinHandle<Vec<u8>>>>,
    errors_read: OnceLock<Vec<u8>>,
}

/// The way to its input, and what a line of its terminal holds already.
struct Feed {
    to: OwnedFd,
    line: Line,
}

impl Feed {
    /// Whether nothing of these bytes would be dropped.
    fn takes(&self, bytes: &[u8], keys: Option<&Keys>) -> bool {
        keys.is_none_or(|keys| self.line.after(bytes, keys).is_some())
    }

    fn took(&mut self, bytes: &[u8], keys: Option<&Keys>) {
        // What is typed while no lines are put together counts as an ended one when that begins again.
        self.line = keys.and_then(|keys| self.line.after(bytes, keys)).unwrap_or_default();
    }
}

/// What changes while it runs.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) kept: Kept,
    /// What its terminal shows, where it has one.
    pub(super) screen: Option<Screen>,
    pub(super) waiting: bool,
    /// Whether a reader was told so.
    pub(super) told: bool,
    /// When it last said something or was told something.
    pub(super) stirred: Instant,
    pub(super) exited: Option<Exited>,
    reached: Vec<Reached>,
    /// What it changed, once it has ended.
    pub(super) recorded: Option<Recorded>,
    /// The network that it shares, for as long as anything of it is left.
    pub(super) network: Option<Arc<Network>>,
    /// Where it writes caches, for as long.
    pub(super) caches: Option<Arc<Caches>>,
    /// Nothing of it is left.
    pub(super) gone: bool,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("id", &self.id).field("pid", &self.runs.pid).finish_non_exhaustive()
    }
}

impl Job {
    pub(super) fn new(
        id: String,
        mut order: Order,
        kind: ExecKind,
        runs: Runs,
        streams: Streams,
        network: Option<Arc<Network>>,
    ) -> Job {
        let caches = order.caches.take();
        let kept = Kept::new(&order.output);
        let screen = match order.stdin {
            Stdin::Terminal { rows, cols } => Some(Screen::new(rows, cols)),
            Stdin::Closed | Stdin::Pipe => None,
        };
        let now = Instant::now();
        Job {
            id,
            order,
            kind,
            runs,
            began: now,
            stdin: Mutex::new(streams.stdin.map(|to| Feed { to, line: Line::default() })),
            input: streams.input,
            inside: Mutex::new(Inside {
                kept,
                screen,
                waiting: false,
                told: false,
                stirred: now,
                exited: None,
                reached: Vec::new(),
                recorded: None,
                network,
                caches,
                gone: false,
            }),
            changed: Condvar::new(),
            errors: Mutex::new(streams.errors),
            errors_read: OnceLock::new(),
        }
    }

    /// Its id: `j7`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session that started it.
    pub fn session(&self) -> &str {
        &self.order.session
    }

    /// What it is.
    pub fn command(&self) -> String {
        self.order.command()
    }

    /// The process id of its command, as this process sees it.
    pub fn pid(&self) -> i32 {
        self.runs.pid
    }

    /// What holds it.
    pub fn confinement(&self) -> Confinement {
        Confinement {
            access: self.order.profile.access,
            reaches: !self.order.profile.hosts.is_empty(),
            terminal: self.is_on_terminal(),
            reserved: self.order.reserved.is_some(),
            kind: self.kind,
        }
    }

    /// Whether it runs on a terminal.
    pub fn is_on_terminal(&self) -> bool {
        matches!(self.order.stdin, Stdin::Terminal { .. })
    }

    /// The profile that holds it.
    pub fn held(&self) -> &Held {
        &self.runs.held
    }

    /// What it changed, where that was recorded and it has ended.
    pub fn recorded(&self) -> Option<Recorded> {
        lock(&self.inside).recorded.clone()
    }

    /// Whether nobody waits for it.
    pub fn is_background(&self) -> bool {
        self.order.background
    }

    /// Whether it outlives the session.
    pub fn is_kept(&self) -> bool {
        self.order.keep
    }

    /// Whether a process of it may still live.
    pub fn is_live(&self) -> bool {
        !lock(&self.inside).gone
    }

    /// How it stands.
    pub fn state(&self) -> State {
        state(&lock(&self.inside))
    }

    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// Who keeps what it changes.
    pub(in crate::proc) fn recorded_by(&self) -> Option<&Recorder> {
        self.order.recorded_by()
    }

    pub(super) fn link(&self) -> &OwnedFd {
        &self.runs.link
    }

    pub(in crate::proc) fn supervisor(&self) -> Pid {
        self.runs.supervisor
    }

    /// Output from a cursor on.
    pub fn read(&self, reading: &Reading<'_>) -> Chunk {
        let until = Instant::now().checked_add(reading.at_most);
        let mut stirs = None;
        let mut inside = lock(&self.inside);
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            let done = match reading.until {
                Until::Now => true,
                Until::Output => inside.kept.total() > reading.cursor && is_settled(&inside, &mut stirs),
                Until::End => false,
            };
            if done || is_over(&inside) || left.is_zero() || (reading.stopped)() {
                return self.chunk(inside, reading);
            }
            inside = self.wait_change(inside, left.min(LOOK));
        }
    }

    /// The lines from a cursor on that please, of a line that the cursor cuts all of it, and whether one stands on the
    /// screen. The first is waited for; lines that do not please are passed over, however many they are, until nobody wants
    /// them or [`SEARCH`] and the wait have passed: then there is more. Its chunk has the lines alone, at most as many bytes
    /// of them as are asked for, but one line whole.
    pub fn find(&self, reading: &Reading<'_>, pleases: &dyn Fn(&[u8]) -> bool) -> View {
        let until = Instant::now().checked_add(reading.at_most);
        let searched = Instant::now().checked_add(reading.at_most.max(SEARCH));
        let stopped = || (reading.stopped)() || searched.is_some_and(|searched| Instant::now() >= searched);
        let mut found = Found::at_most(reading.max_bytes, &stopped);
        let mut inside = lock(&self.inside);
        let mut seek = Seek::from(reading.cursor, &inside.kept, inside.screen.as_ref(), pleases);
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            let last = is_over(&inside) || left.is_zero() || stopped();
            if last || seek.is_due(inside.kept.total(), Instant::now()) {
                inside = self.gather(inside, &mut seek, pleases, &mut found);
            }
            if last || !found.is_empty() {
                return found_view(inside, reading.cursor, &seek, found);
            }
            inside = self.wait_change(inside, left.min(LOOK));
        }
    }

    fn gather<'a>(
        &'a self,
        mut inside: std::sync::MutexGuard<'a, Inside>,
        seek: &mut Seek,
        pleases: &dyn Fn(&[u8]) -> bool,
        found: &mut Found<'_>,
    ) -> std::sync::MutexGuard<'a, Inside> {
        while let Some(piece) = seek.in_file(&inside.kept) {
            // The job goes on while the file is read.
            drop(inside);
            let bytes = piece.read(seek);
            inside = lock(&self.inside);
            let tail_start = inside.kept.tail_start();
            if seek.gather_piece((&piece, &bytes), tail_start, inside.screen.as_ref(), pleases, found).is_break() {
                return inside;
            }
        }
        seek.gather(&inside.kept, inside.screen.as_ref(), Instant::now(), pleases, found);
        inside
    }

    fn wait_change<'a>(
        &self,
        inside: std::sync::MutexGuard<'a, Inside>,
        at_most: Duration,
    ) -> std::sync::MutexGuard<'a, Inside> {
        match self.changed.wait_timeout(inside, at_most) {
            Ok((inside, _)) => inside,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }

    fn chunk(&self, mut inside: std::sync::MutexGuard<'_, Inside>, reading: &Reading<'_>) -> Chunk {
        inside.told |= inside.waiting;
        let (total, tail_start) = (inside.kept.total(), inside.kept.tail_start());
        let cursor = reading.cursor.min(total);
        let end = total.min(cursor + reading.max_bytes as u64);
        let state = state(&inside);
        let mut bytes = inside.kept.in_memory(cursor..end);
        let spilled = inside.kept.spilled.clone();
        let mut skipped = 0;
        if bytes.is_empty() && cursor < end {
            // In the gap between beginning and end.
            match spilled.filter(|(_, written)| cursor < *written) {
                Some((path, written)) => {
                    drop(inside);
                    bytes = from_spill(&path, cursor..end.min(written));
                }
                None => {
                    skipped = tail_start.saturating_sub(cursor);
                    bytes = inside.kept.in_memory(tail_start..total.min(tail_start + reading.max_bytes as u64));
                }
            }
        }
        let next = cursor + skipped + bytes.len() as u64;
        Chunk { more: next < total, bytes, skipped, next, state }
    }

    /// The same, as it reads: of a terminal the lines that stood there, and its screen where a program draws on it.
    pub fn view(&self, reading: &Reading<'_>) -> View {
        let mut chunk = self.read(reading);
        let cursor = chunk.next - chunk.bytes.len() as u64;
        let inside = lock(&self.inside);
        if !matches!(chunk.state, State::Ended(_)) || chunk.more {
            // What is nothing but a beginning, and has stayed that, is handed on: a wait would end at it again and again.
            let whole = if inside.screen.is_some() { screen::whole } else { screen::whole_characters };
            let whole = whole(&chunk.bytes);
            chunk.bytes.truncate(if whole == 0 { chunk.bytes.len() } else { whole });
            // What there is no room for begins with a line, and so does what is being written: the next read gives it.
            let lines = chunk.bytes.iter().rposition(|byte| *byte == b'\n').filter(|_| inside.screen.is_none());
            chunk.bytes.truncate(
                lines.filter(|_| chunk.more || chunk.state == State::Running).map_or(chunk.bytes.len(), |end| end + 1),
            );
            chunk.next = cursor + chunk.bytes.len() as u64;
        }
        let Some(screen) = &inside.screen else {
            let text = String::from_utf8_lossy(&chunk.bytes).into_owned();
            return View { chunk, text, screen: None };
        };
        let mut text = screen.lines(&chunk.bytes, cursor);
        if !text.is_empty() {
            text.push('\n');
        }
        View { text, screen: screen.since(cursor), chunk }
    }

    /// Waits until the command has ended, at most `at_most`, or until `stopped` says that nobody cares.
    /// [`State::Waiting`] does not end this wait: a person may be about to type.
    pub fn wait(&self, at_most: Duration, stopped: &dyn Fn() -> bool) -> Option<Exited> {
        let until = Instant::now().checked_add(at_most);
        let mut inside = lock(&self.inside);
        loop {
            if inside.exited.is_some() {
                return inside.exited.clone();
            }
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() || stopped() {
                return None;
            }
            inside = self.wait_change(inside, left.min(LOOK));
        }
    }

    /// The hosts that it asked for so far, each with a port and what came of it; the first thousand of them.
    pub fn hosts(&self) -> Vec<Reached> {
        lock(&self.inside).reached.clone()
    }

    pub(super) fn reached(&self, mut reached: Reached) {
        // A command may ask for anything.
        reached.host = reached.host.chars().take(MOST_HOST_CHARS).collect();
        let mut inside = lock(&self.inside);
        if inside.reached.len() >= MOST_REACHED || inside.reached.contains(&reached) {
            return;
        }
        inside.reached.push(reached.clone());
        drop(inside);
        self.note(Noted::Host(&reached));
    }

    pub(super) fn note(&self, noted: Noted<'_>) {
        if let Some(notes) = &self.order.notes {
            (notes.0)(&self.id, noted);
        }
    }

    /// Waits until nothing of it is left; false when that took too long.
    pub(super) fn wait_gone(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut inside = lock(&self.inside);
        while !inside.gone {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            inside = self.wait_change(inside, left);
        }
        true
    }

    /// What it wrote to its standard error, where that was kept apart: its first [`Bounds::head_bytes`]. Waits until
    /// all of it has ended.
    ///
    /// [`Bounds::head_bytes`]: super::Bounds::head_bytes
    pub fn errors(&self) -> Vec<u8> {
        let all = || lock(&self.errors).take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        self.errors_read.get_or_init(all).clone()
    }

    /// All that is at hand of its output.
    pub fn summary(&self) -> Summary {
        let inside = lock(&self.inside);
        let kept = &inside.kept;
        Summary {
            head: kept.head().to_vec(),
            omitted: kept.tail_start() - kept.head().len() as u64,
            tail: kept.tail().to_vec(),
            total: kept.total(),
            spilled: kept.spilled.clone(),
            spill_error: kept.spill_error.clone(),
        }
    }

    /// Gives it input; how many of the bytes it took within `at_most`. What its terminal would drop is refused whole.
    pub fn write(&self, bytes: &[u8], at_most: Duration) -> io::Result<usize> {
        let until = Instant::now() + at_most;
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "this job takes no input");
        // Its end is known before its input is closed.
        if lock(&self.inside).exited.as_ref().is_some_and(|exited| exited.left == 0) {
            return Err(closed());
        }
        let mut guard = lock(&self.stdin);
        let feed = guard.as_mut().ok_or_else(closed)?;
        let keys = self.keys(feed);
        if !feed.takes(bytes, keys.as_ref()) {
            let before = match feed.line.held() {
                0 => String::new(),
                held => format!(", of which {held} stand there from before, without an end"),
            };
            let message = format!("its terminal takes lines of at most {LONGEST_LINE} bytes{before}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        self.stir();
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::write(&feed.to, &bytes[done..]) {
                Ok(written) => {
                    feed.took(&bytes[done..done + written], keys.as_ref());
                    done += written;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.min(LOOK).subsec_nanos()) };
                    let mut fds = [PollFd::from_borrowed_fd(feed.to.as_fd(), PollFlags::OUT)];
                    let _ = poll(&mut fds, Some(&timeout));
                }
                Err(rustix::io::Errno::PIPE | rustix::io::Errno::IO) => return Err(closed()),
                Err(error) => return Err(error.into()),
            }
        }
        self.stir();
        Ok(done)
    }

    /// Gives it what its terminal answers, if there is room: nobody waits for that.
    pub(super) fn reply(&self, bytes: &[u8]) {
        // Whoever types waits for this thread to take output, so this thread waits for nobody.
        if let Ok(mut guard) = self.stdin.try_lock()
            && let Some(feed) = guard.as_mut()
        {
            let keys = self.keys(feed);
            // Where a line would be cut, the answer would take the place of what was typed.
            if feed.takes(bytes, keys.as_ref())
                && let Ok(written) = rustix::io::write(&feed.to, bytes)
            {
                feed.took(&bytes[..written], keys.as_ref());
            }
        }
    }

    /// What keys do at its terminal now; none where no lines are put together.
    fn keys(&self, feed: &Feed) -> Option<Keys> {
        if self.is_on_terminal() { Keys::of(&feed.to) } else { None }
    }

    /// Ends its input: a pipe is closed, a terminal gets what the key Ctrl-D sends.
    pub fn close_input(&self) -> io::Result<()> {
        if self.is_on_terminal() {
            return self.write(&[END_OF_INPUT], LOOK).map(drop);
        }
        lock(&self.stdin).take();
        self.stir();
        Ok(())
    }

    /// Sends a signal to all of it.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        wire::say(self.runs.link.as_fd(), &Request::Signal(number))
    }

    /// Ends it: asks, kills what is left after two seconds, and returns when nothing of it is left.
    pub fn stop(&self) -> Option<Exited> {
        self.stop_within(GRACE)
    }

    /// Ends it, with another grace.
    pub fn stop_within(&self, grace: Duration) -> Option<Exited> {
        self.ask_to_stop(KilledBy::Stop, grace);
        self.wait_gone(grace + END_WITHIN);
        lock(&self.inside).exited.clone()
    }

    pub(super) fn ask_to_stop(&self, why: KilledBy, grace: Duration) {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        // When nobody hears it, it ended already.
        let _ = wire::say(self.runs.link.as_fd(), &Request::Stop { why, grace_ms });
    }

    /// Whatever is done to it is a reason to look anew at whether it waits.
    fn stir(&self) {
        let mut inside = lock(&self.inside);
        inside.stirred = Instant::now();
        inside.waiting = false;
    }

    pub(super) fn forget_input(&self) {
        lock(&self.stdin).take();
    }

    pub(super) fn listed(&self) -> Listed {
        let processes = tree::look_below(self.runs.supervisor);
        Listed {
            job: self.id.clone(),
            command: self.command(),
            background: self.order.background,
            keep: self.order.keep,
            terminal: self.is_on_terminal(),
            state: self.state(),
            age_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
            processes: processes.into_iter().map(|process| (process.clone(), tree::age_ms(&process))).collect(),
        }
    }
}

fn state(inside: &Inside) -> State {
    match &inside.exited {
        Some(exited) => State::Ended(exited.clone()),
        None if inside.waiting => State::Waiting,
        None => State::Running,
    }
}

/// Whether a wait is over: the job has ended, or waits for input and no reader was told.
fn is_over(inside: &Inside) -> bool {
    inside.exited.is_some() || (inside.waiting && !inside.told)
}

/// What was found, as it reads. A line that stands on the screen is not said twice.
fn found_view(mut inside: std::sync::MutexGuard<'_, Inside>, cursor: u64, seek: &Seek, found: Found<'_>) -> View {
    inside.told |= inside.waiting;
    let screen = inside.screen.as_ref().and_then(|screen| screen.since(cursor));
    let mut text = String::from_utf8_lossy(&found.lines).into_owned();
    if let Some(picture) = &screen {
        let is_drawn = |line: &str| picture.text.lines().any(|drawn| drawn == line);
        text = text.lines().filter(|line| !is_drawn(line)).flat_map(|line| [line, "\n"]).collect();
    }
    let (next, state) = (seek.next(), state(&inside));
    let more = next < inside.kept.total();
    View { chunk: Chunk { bytes: found.lines, skipped: seek.skipped, next, more, state }, text, screen }
}

/// Whether what is new can be read: at once, and on a terminal when it is quiet. `since` is when something new was first
/// there.
fn is_settled(inside: &Inside, since: &mut Option<Instant>) -> bool {
    let since = since.get_or_insert_with(Instant::now);
    inside.screen.is_none() || inside.stirred.elapsed() >= SETTLED || since.elapsed() >= SETTLED_MOST
}
