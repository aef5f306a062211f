//! The recorder of one command: hears of its calls on a thread, and says what came of them.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use nika_contract::{Lasting, ToolError, code};
use nika_guard::Permit;
use nika_guard::profile::Profile;
use rustix::fs::{AtFlags, statat};
use rustix::io::Errno;
use rustix::process::Pid;

use super::calls::{self, Act};
use super::handled::{Handled, Passed};
use super::held_open;
use super::off::Off;
use super::round::Round;
use super::sight::{Seen, Sight};
use super::turn::Turn;
use crate::connect::{Connects, Room};
use crate::fs::Workspace;
use crate::git::Before;
use crate::sandbox::{Answer, Heard, Listener, Stopped};

/// The thread hashes and packs what it keeps.
const STACK_BYTES: usize = 1 << 20;

/// What a recorded command changed, for its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The call that undo takes.
    pub call: String,
    /// Paths that came to be.
    pub created: usize,
    /// Paths whose content, kind or rights are others.
    pub changed: usize,
    /// Paths that are gone.
    pub deleted: usize,
    /// What was changed and cannot be taken back: too large or too much to be kept, or not to be read.
    pub not_kept: Vec<PathBuf>,
    /// Devices, FIFOs and sockets that were made, which undo leaves, or went, which it cannot bring back.
    pub special: Vec<PathBuf>,
    /// Files with other names, which changed with them and are not taken back.
    pub linked: Vec<PathBuf>,
    /// Files that had other names, of which undo makes files of their own.
    pub parted: Vec<PathBuf>,
    /// The first path that was one too many: of it and all that came after nothing is known.
    pub beyond: Option<PathBuf>,
    /// What others changed after the command was last seen to write there, or it did so unseen.
    pub others: Vec<PathBuf>,
    /// Whether undo is refused for what they changed.
    pub refused: bool,
    /// Whether something was changed of which nobody could tell what.
    pub blind: bool,
    /// What git has recorded otherwise than it could put in place.
    pub behind: Vec<PathBuf>,
}

/// What came of a command, as its recorder says that at the end of a call; and what git has recorded since `before` otherwise than
/// it could put in place, where the command itself may have gone to another commit.
pub(crate) fn came_of(
    before: Option<&Before>,
    recorder: Option<&Recorder>,
    settle: impl FnOnce(&Recorder) -> Option<Recorded>,
) -> Option<Recorded> {
    let touched = |log: &Path| recorder.is_none_or(|recorder| recorder.may_have_touched(log));
    let behind = before.map(|before| before.behind_by(touched)).unwrap_or_default();
    let mut recorded = recorder.and_then(settle);
    if !behind.is_empty() {
        recorded.get_or_insert_default().behind = behind;
    }
    recorded
}

/// Records what one command changes. Copies are the same recorder.
#[derive(Clone)]
pub struct Recorder(Arc<Shared>);

struct Shared {
    sight: Sight,
    /// What it may not change.
    off: OnceLock<Off>,
    /// Files that were there before it changed them, whichever of its calls did.
    handled: Handled,
    turn: Mutex<Option<Turn>>,
}

impl PartialEq for Recorder {
    fn eq(&self, other: &Recorder) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Recorder {}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// For a command that `permit` allows to change what lies in the roots; pre-images go to the call's undo.
    pub fn new(permit: &Permit, files: &Arc<Workspace>, lasting: Lasting) -> Result<Recorder, ToolError> {
        if !permit.covers_changes_of_a_command() {
            let message = "this call was not allowed to run what changes files";
            return Err(ToolError::new(code::OUT_OF_BOUNDS, message));
        }
        let sight = Sight::new(Arc::clone(files));
        let (off, handled) = (OnceLock::new(), Handled::default());
        Ok(Recorder(Arc::new(Shared { sight, off, handled, turn: Mutex::new(Some(Turn::new(lasting))) })))
    }

    /// Refuses what changes the guarded names of `profile`, which a mount protects as long as nobody outside puts
    /// something else in its place. Once for each command.
    pub(crate) fn keep_off(&self, profile: &Profile) {
        self.0.off.get_or_init(|| Off::of(profile));
    }

    /// Those of `files` that the command was about to change before, whatever they were called then. They have guarded names
    /// by now, which somebody else gave them. What stands there now is what counts: where another file came in place of the
    /// one that was heard of, that is news of its own, and this is asked again. The others it is refused from now on, also by
    /// names that are not guarded.
    pub(crate) fn handled(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        self.0.handled.of(files)
    }

    /// Whether the command changed what stands at a path, or may have: outside the roots nobody hears of that.
    pub(crate) fn may_have_touched(&self, path: &Path) -> bool {
        let is_heard_of = self.0.off.get().is_some_and(|off| off.is_in_a_root(path));
        !is_heard_of || self.0.turn().as_ref().is_none_or(|turn| turn.may_have_touched(path))
    }

    /// Notes in the journal that the command had a hold of files which got guarded names.
    pub(crate) fn tell_handled(&self, files: &[PathBuf]) {
        if let Some(turn) = self.0.turn().as_ref() {
            turn.tell_handled(files);
        }
    }

    /// Hears of the calls of a command, which is all that lives below `above`, until nothing of it is left, and makes its
    /// connections. Until this is called each of them waits.
    pub(crate) fn watch(&self, listener: OwnedFd, above: Pid, shares_network: bool, room: &Room) -> io::Result<()> {
        let (shared, listener) = (Arc::clone(&self.0), Arc::new(Listener::new(listener)));
        let connects = Connects::new(shares_network, room);
        let thread = std::thread::Builder::new().name("recorder".to_owned()).stack_size(STACK_BYTES);
        let hear = move || {
            shared.hear(&listener, &connects, above);
            connects.end();
        };
        thread.spawn(hear).map(drop)
    }

    /// What came of all that was touched for the present call. From now on it can be taken back. `left`: processes that
    /// live on, and may write through what they hold open.
    /// `None` where the command has come to its end before.
    pub(crate) fn settle(&self, left: &[Pid]) -> Option<Recorded> {
        let mut turn = self.0.turn();
        let (places, is_all) = held_open::places_of(left, &self.0.sight);
        turn.as_mut().map(|turn| {
            // What is written there later undo finds, and refuses; that it may be, is said now.
            if !is_all {
                turn.touch_unknown();
            }
            turn.settle(&self.0.sight, &places)
        })
    }

    /// The same at the command's end: nothing is touched any more, and what is known of paths goes.
    /// `left`: whether something of it could not be ended, and may go on changing what nobody keeps.
    pub(crate) fn finish(&self, left: bool) -> Option<Recorded> {
        let mut turn = self.0.turn().take()?;
        if left {
            turn.touch_unknown();
        }
        Some(turn.settle(&self.0.sight, &[]))
    }

    /// From now on, what is changed belongs to the call of `next`, which takes no command of its own. What `processes`
    /// hold open for writing counts as touched by it.
    pub(crate) fn follow(&self, next: &Recorder, processes: &[Pid]) {
        let Some(mut turn) = next.0.turn().take() else { return };
        let mut present = self.0.turn();
        if let Some(mut last) = present.take() {
            // Also what was written since through what was held open.
            last.settle(&self.0.sight, &[]);
        }
        let (places, is_all) = held_open::places_of(processes, &self.0.sight);
        places.iter().for_each(|found| turn.touch(found));
        if !is_all {
            turn.touch_unknown();
        }
        *present = Some(turn);
    }
}

impl Shared {
    /// What a panic elsewhere left is still what was touched.
    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something may be changed from now on that is not kept.
    fn miss(&self) {
        if let Some(turn) = self.turn().as_mut() {
            turn.touch_unknown();
        }
    }

    fn hear(&self, listener: &Arc<Listener>, connects: &Connects, above: Pid) {
        let (mut round, mut passed) = (Round::default(), Passed::default());
        loop {
            let rest = self.turn().as_ref().and_then(|turn| round.wait(turn));
            let at_most = [rest, passed.wait()].into_iter().flatten().min();
            let heard = listener.next(at_most);
            passed.settle(&self.handled);
            match heard {
                Ok(Heard::Stopped(stopped)) if Connects::concerns(&stopped) => {
                    connects.heed(listener, stopped);
                }
                // Whatever goes wrong with one call or one path, those behind it are kept.
                Ok(Heard::Stopped(stopped)) => {
                    let heeded = catch_unwind(AssertUnwindSafe(|| self.heed(listener, &stopped, &mut passed)));
                    let refusal = heeded.unwrap_or_else(|_| {
                        self.miss();
                        None
                    });
                    listener.answer(&stopped, refusal.map_or(Answer::GoOn, Answer::Failed));
                }
                Ok(Heard::Nothing) => {
                    let is_due = |round: &Round, turn: &Turn| round.wait(turn).is_some_and(|wait| wait.is_zero());
                    let step = || {
                        let mut turn = self.turn();
                        let turn = turn.as_mut().filter(|turn| is_due(&round, turn));
                        turn.map(|turn| round.step(turn, &self.sight, above))
                    };
                    if catch_unwind(AssertUnwindSafe(step)).is_err() {
                        self.miss();
                    }
                }
                Ok(Heard::End) => return,
                Err(_) => return self.miss(),
            }
        }
    }

    /// Keeps what the call is about to change; or says why it may not.
    fn heed(&self, listener: &Listener, stopped: &Stopped, passed: &mut Passed) -> Option<Errno> {
        let act = calls::read(stopped.number, &stopped.arguments)?;
        let thread = stopped.thread;
        self.sight.learn(thread, || listener.waits(stopped));
        let (first, second) = match act {
            Act::At(named) | Act::Find(named) | Act::Remove(named) => (self.sight.named(thread, &named), None),
            Act::Open(number) => (self.sight.open(thread, number), None),
            Act::Bind { at, length } => (self.sight.bound(thread, at, length), None),
            Act::Move { from, to, .. } | Act::Link { from, to } => {
                (self.sight.named(thread, &from), Some(self.sight.named(thread, &to)))
            }
        };
        if !listener.waits(stopped) {
            // It was killed, and what we looked at may have been another's.
            return None;
        }
        let off = self.off.get();
        let moves = matches!(act, Act::Move { .. });
        let refused = |seen: &Seen| match seen {
            Seen::Inside(found) => off.is_some_and(|off| off.keeps(&found.path) || moves && off.is_above(&found.path)),
            Seen::Unknown | Seen::Elsewhere => false,
        };
        if refused(&first) || second.as_ref().is_some_and(refused) {
            return Some(Errno::ROFS);
        }
        if let (Act::Find(_), Seen::Inside(found)) = (act, &first)
            && matches!(statat(&found.dir, &found.name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
        {
            // So the kernel would say. What comes to be there now would be opened, and nobody would know it.
            return Some(Errno::NOENT);
        }
        // What is removed, or gives way to what is moved, is not written: another name of it still has what it had.
        let removes = matches!(act, Act::Remove(_));
        let swaps = matches!(act, Act::Move { swaps: true, .. });
        let handled = [Some(&first).filter(|_| !removes), second.as_ref().filter(|_| swaps)];
        let names_alone = matches!(act, Act::Move { .. } | Act::Link { .. });
        for seen in handled.into_iter().flatten() {
            if let Seen::Inside(found) = seen
                && !self.handled.note(found)
                && !names_alone
            {
                return Some(Errno::ROFS);
            }
        }
        let leads = |seen: &Seen| match seen {
            Seen::Inside(found) => self.handled.is_led_to(&found.path, moves || removes),
            Seen::Unknown | Seen::Elsewhere => false,
        };
        if leads(&first) || second.as_ref().is_some_and(leads) {
            return Some(Errno::ROFS);
        }
        let mut turn = self.turn();
        let turn = turn.as_mut()?;
        match (act, first, second) {
            (Act::Move { swaps, .. }, Seen::Inside(from), Some(Seen::Inside(to))) => {
                for name in turn.touch_all(&from, &self.sight) {
                    turn.touch_at(&to.path.join(name), &self.sight);
                }
                if swaps {
                    for name in turn.touch_all(&to, &self.sight) {
                        turn.touch_at(&from.path.join(name), &self.sight);
                    }
                }
                turn.touch(&to);
            }
            (_, first, second) => {
                for seen in [Some(first), second].into_iter().flatten() {
                    match seen {
                        Seen::Inside(found) => {
                            turn.touch(&found);
                            if !removes {
                                passed.add(found, &self.handled);
                            }
                        }
                        Seen::Unknown => turn.touch_unknown(),
                        Seen::Elsewhere => {}
                    }
                }
            }
        }
        None
    }
}
