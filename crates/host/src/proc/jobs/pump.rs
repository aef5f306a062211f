//! The thread of one job: takes its output, hears its supervisor, notices that it waits for input.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::job::Job;
use super::order::Noted;
use super::output::Spill;
use super::{END_WITHIN, Notice, Shared, lock};
use crate::proc::tree;
use crate::proc::wire::{Exited, How, KilledBy, Lines, NewlyGuarded, Report};
use crate::record::{Recorded, Recorder, came_of};

/// A pipe's usual size.
const PIECE_BYTES: usize = 64 << 10;
/// How often a job that could wait for input is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How long a job runs before a supervisor for the next one is made beside it: a short one ends first.
const PREPARE_AFTER: Duration = Duration::from_millis(50);
/// How long it must have been quiet.
const QUIET: Duration = Duration::from_secs(1);
/// How many pieces of output are taken before the supervisor is heard again.
const PIECES: usize = 16;

/// All that the thread owns.
pub(super) struct Pump {
    job: Arc<Job>,
    all: Weak<Shared>,
    supervisor: Child,
    lines: Lines,
    output: Option<OwnedFd>,
    /// Whether nobody has the terminal open now. Who belongs to it can open it again, by `/dev/tty`.
    away: bool,
    mark: String,
    spill: Spill,
    piece: Vec<u8>,
    /// Processor time of the tree, and since when it has not changed.
    idle: (u64, Instant),
    stopped_for_output: bool,
    /// Files that got guarded names from others, and that the command had opened before or could write.
    handled: Vec<PathBuf>,
    /// Whether it was ended for one of them.
    ended_for_handled: bool,
    /// Guarded names that were set aside when the last of what it had left running ended.
    set_aside: Vec<String>,
    /// Whether it is known what came of all that it did.
    is_settled: bool,
    /// When a supervisor for the next job is made, if this one has not ended by then; none when there is one.
    prepare_at: Option<Instant>,
}

impl Pump {
    pub(super) fn new(
        job: Arc<Job>,
        all: Weak<Shared>,
        supervisor: Child,
        lines: Lines,
        output: OwnedFd,
        mark: String,
    ) -> Pump {
        let spill = Spill::new(&job.order().output);
        Pump {
            job,
            all,
            supervisor,
            lines,
            output: Some(output),
            away: false,
            mark,
            spill,
            piece: vec![0; PIECE_BYTES],
            idle: (0, Instant::now()),
            stopped_for_output: false,
            handled: Vec::new(),
            ended_for_handled: false,
            set_aside: Vec::new(),
            is_settled: false,
            prepare_at: Some(Instant::now() + PREPARE_AFTER),
        }
    }

    pub(super) fn run(mut self) {
        // What came together with the news that it runs is here already, and nothing may come after it.
        self.hear();
        loop {
            let (written, said) = self.wait();
            if written || self.away {
                self.take_output();
            }
            if said {
                let there = self.lines.fill(self.job.link().as_fd()).unwrap_or(false);
                self.hear();
                if !there {
                    break;
                }
            }
            self.look_whether_waiting();
            if self.prepare_at.is_some_and(|at| Instant::now() >= at) {
                self.prepare_next();
            }
        }
        self.take_all_output();
        let exited = lock(&self.job.inside).exited.clone();
        match exited {
            None => {
                let exited = self.sweep();
                self.exited(exited, true);
            }
            // Of what ran on when the command had ended.
            Some(exited) if !self.handled.is_empty() || !self.set_aside.is_empty() => {
                let killed_by = if self.ended_for_handled { Some(KilledBy::Handled) } else { exited.killed_by };
                self.exited(Exited { killed_by, left: 0, ..exited }, true);
            }
            Some(_) => {}
        }
        let _ = self.supervisor.wait();
        self.job.forget_input();
        // Of what lingered it is known only now.
        let lingered = if self.is_settled { None } else { self.came_of(|recorder| recorder.finish(false)) };
        let mut inside = lock(&self.job.inside);
        inside.recorded = lingered.or(inside.recorded.take());
        (inside.network, inside.caches) = (None, None);
        inside.gone = true;
        drop(inside);
        self.job.changed.notify_all();
        self.prepare_next();
    }

    /// Has a supervisor wait for the next job, once: not while this one starts, which both would pay for.
    fn prepare_next(&mut self) {
        if let (Some(_), Some(all)) = (self.prepare_at.take(), self.all.upgrade()) {
            all.prepare_next();
        }
    }

    /// Does what the supervisor said.
    fn hear(&mut self) {
        while let Some(report) = self.lines.next() {
            match report {
                Report::Exited(exited) => {
                    let lingers = self.job.order().linger && exited.left > 0;
                    self.take_all_output();
                    self.exited(exited, !lingers);
                }
                Report::Reached(reached) => self.job.reached(reached),
                Report::NewlyGuarded(files) => self.end_where_handled(files),
                Report::SetAside(names) => self.set_aside.extend(names),
                Report::Started { .. } | Report::Refused { .. } => {}
            }
        }
    }

    /// Waits for output or words; no longer than until the next look.
    fn wait(&self) -> (bool, bool) {
        let look = self.job.input.map(|_| LOOK);
        let prepare = self.prepare_at.map(|at| at.saturating_duration_since(Instant::now()));
        let first = [look, prepare].into_iter().flatten().min();
        let timeout = first.map(|first| Timespec { tv_sec: 0, tv_nsec: i64::from(first.subsec_nanos()) });
        let mut fds = vec![PollFd::from_borrowed_fd(self.job.link().as_fd(), PollFlags::IN)];
        // Of a terminal that nobody has open the news is always that: it is looked at whenever the input is.
        let heard = self.output.iter().filter(|_| !self.away);
        fds.extend(heard.map(|output| PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)));
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return (false, false);
        }
        let ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        (ready(1), ready(0))
    }

    fn take_all_output(&mut self) {
        while self.take_output() {}
    }

    /// Takes some output; whether there may be more at once.
    fn take_output(&mut self) -> bool {
        for _ in 0..PIECES {
            let Some(output) = &self.output else { return false };
            match rustix::io::read(output, &mut self.piece[..]) {
                Ok(read) if read > 0 => {
                    self.away = false;
                    self.keep(read);
                }
                Err(rustix::io::Errno::AGAIN) => {
                    self.away = false;
                    return false;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::IO) if self.job.is_on_terminal() => {
                    self.away = true;
                    return false;
                }
                // At its end.
                Ok(_) | Err(_) => {
                    self.output = None;
                    return false;
                }
            }
        }
        true
    }

    fn keep(&mut self, read: usize) {
        let piece = &self.piece[..read];
        let mut inside = lock(&self.job.inside);
        if self.spill.is_open() {
            // Only this thread adds output, so nothing comes between.
            drop(inside);
            let written = self.spill.write(&[], piece);
            inside = lock(&self.job.inside);
            note(&mut inside.kept, &mut self.spill, written);
        } else if inside.kept.overflows(read) {
            let written = self.spill.write(&[inside.kept.head(), inside.kept.tail()], piece);
            note(&mut inside.kept, &mut self.spill, written);
        }
        inside.kept.push(piece);
        let replies = inside.screen.as_mut().map(|screen| screen.take(piece)).unwrap_or_default();
        inside.stirred = Instant::now();
        inside.waiting = false;
        let total = inside.kept.total();
        drop(inside);
        if !replies.is_empty() {
            self.job.reply(&replies);
        }
        self.job.changed.notify_all();
        if total > self.job.order().output.most_bytes && !self.stopped_for_output {
            self.stopped_for_output = true;
            self.job.ask_to_stop(KilledBy::Output, Duration::ZERO);
        }
    }

    /// Quiet for a second, no processor time, and somebody blocked on the input: it waits.
    fn look_whether_waiting(&mut self) {
        let Some(input) = self.job.input else { return };
        let supervisor = self.job.supervisor();
        let now = Instant::now();
        {
            let inside = lock(&self.job.inside);
            if inside.waiting || inside.exited.is_some() || now.duration_since(inside.stirred) < QUIET / 4 {
                return;
            }
        }
        let used: u64 = tree::look_below(supervisor).iter().map(|process| process.cpu_ms).sum();
        if used != self.idle.0 || !tree::waits_for(supervisor, input) {
            self.idle = (used, now);
            return;
        }
        let mut inside = lock(&self.job.inside);
        let quiet_since = self.idle.1.max(inside.stirred);
        if now.duration_since(quiet_since) >= QUIET {
            (inside.waiting, inside.told) = (true, false);
            drop(inside);
            self.job.changed.notify_all();
        }
    }

    /// Ends a command that had opened one of these files before somebody gave it a guarded name. It may have written there
    /// until a moment ago, and whoever uses the file has to know. One that had not is kept off them by its recorder.
    fn end_where_handled(&mut self, newly: NewlyGuarded) {
        self.ended_for_handled |= !newly.writable.is_empty();
        self.handled.extend(newly.writable);
        let handled = self.job.recorded_by().map(|recorder| recorder.handled(&newly.files)).unwrap_or_default();
        if handled.is_empty() {
            return;
        }
        self.handled.extend(handled);
        if !newly.over {
            self.ended_for_handled = true;
            self.job.ask_to_stop(KilledBy::Handled, Duration::ZERO);
        }
    }

    fn exited(&mut self, mut exited: Exited, gone: bool) {
        exited.handled.append(&mut self.handled);
        exited.handled.sort();
        exited.handled.dedup();
        if !self.set_aside.is_empty() {
            exited.set_aside = std::mem::take(&mut self.set_aside);
        }
        let told = lock(&self.job.inside).exited.as_ref().map(|exited| exited.set_aside.clone()).unwrap_or_default();
        let new: Vec<String> = exited.set_aside.iter().filter(|name| !told.contains(name)).cloned().collect();
        if !new.is_empty() {
            self.job.note(Noted::SetAside(&new));
        }
        if let Some(recorder) = self.job.recorded_by().filter(|_| !exited.handled.is_empty()) {
            recorder.tell_handled(&exited.handled);
        }
        let recorded = self.came_of(|recorder| if gone { recorder.finish(exited.left > 0) } else { None });
        self.is_settled |= gone;
        // Before anybody sees that it ended: who then tells it takes the notice, so that it is told once.
        if self.job.is_background()
            && let Some(all) = self.all.upgrade()
        {
            all.tell(Notice {
                job: self.job.id().to_owned(),
                session: self.job.session().to_owned(),
                command: self.job.command(),
                exited: exited.clone(),
                recorded: recorded.clone(),
            });
        }
        let mut inside = lock(&self.job.inside);
        inside.waiting = false;
        inside.exited = Some(exited);
        inside.recorded = recorded;
        inside.caches.iter().filter(|_| gone).for_each(|caches| caches.end());
        drop(inside);
        if gone {
            self.job.forget_input();
        }
        self.job.changed.notify_all();
    }

    fn came_of(&self, settle: impl FnOnce(&Recorder) -> Option<Recorded>) -> Option<Recorded> {
        came_of(self.job.order().git_before.as_deref(), self.job.recorded_by(), settle)
    }

    /// The supervisor is gone without a word: somebody killed it. What it held is found by its mark.
    fn sweep(&mut self) -> Exited {
        let until = Instant::now() + END_WITHIN;
        let mark = format!("NIKA_JOB={}", self.mark);
        let mut left = tree::marked(&mark);
        while !left.is_empty() && Instant::now() < until {
            for pid in &left {
                let _ = rustix::process::kill_process(*pid, Signal::KILL);
            }
            std::thread::yield_now();
            left = tree::marked(&mark);
        }
        Exited {
            how: How::Signal(libc::SIGKILL),
            killed_by: Some(KilledBy::Lost),
            wall_ms: 0,
            user_ms: 0,
            sys_ms: 0,
            max_rss_bytes: 0,
            cwd: None,
            left: left.len(),
            ended_too: Vec::new(),
            set_aside: Vec::new(),
            handled: Vec::new(),
            opens: None,
        }
    }
}

fn note(kept: &mut super::output::Kept, spill: &mut Spill, written: io::Result<()>) {
    if let Err(error) = written {
        kept.spill_error = Some(error.to_string());
        kept.spilled = spill.state();
        spill.close();
        return;
    }
    kept.spilled = spill.state();
}
