//! When the checkpoints are collected: as soon as a share of what may be kept was added since the last time, by whichever
//! processes, and once a day for what is too old. On a thread of its own, so that no call waits for it.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use super::Checkpoints;
use super::collect::Limits;
use super::tally::{BLOCK_BYTES, Tally};
use crate::error::StoreError;
use crate::state::State;

/// An eighth of the bound: so much more than it may lie there, and so seldom is all looked through.
const SHARES: u64 = 8;
/// The smallest bound that can be configured: below it there would be a collection every few edits.
const MIN_SHARE_BYTES: u64 = 1 << 20;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What may be kept, and when to look next.
#[derive(Default)]
pub(super) struct Bound {
    /// `None` for who only looks, or collects by hand.
    limits: Option<Limits>,
    tally: OnceLock<Tally>,
    /// At how many bytes added.
    next_bytes: AtomicU64,
    /// At which time, in Unix milliseconds.
    next_ms: AtomicU64,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Limits {
    fn share(&self) -> u64 {
        (self.max_bytes / SHARES).max(MIN_SHARE_BYTES)
    }
}

impl Bound {
    fn within(limits: Limits) -> Bound {
        Bound { limits: Some(limits), next_bytes: limits.share().into(), ..Bound::default() }
    }
}

impl Checkpoints {
    /// The same as [`Checkpoints::open`], kept within `limits` while it records.
    pub fn bounded(state: &State, limits: Limits) -> Result<Checkpoints, StoreError> {
        Ok(Checkpoints { bound: Arc::new(Bound::within(limits)), ..Checkpoints::open(state)? })
    }

    /// Waits for a collection that this process began, and makes one that is due: before the process ends. What cannot
    /// be dropped now will be another time: nobody has to hear of it.
    pub fn settle(&self, now_unix_ms: u64) {
        let Some(limits) = self.bound.limits else { return };
        let running = self.bound.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        running.map(JoinHandle::join);
        let added = fs::metadata(self.tally_path()).map_or(0, |meta| meta.len() * BLOCK_BYTES);
        if added >= limits.share() || now_unix_ms >= self.due_by_age(now_unix_ms) {
            let _ = self.collect(&limits, now_unix_ms);
        }
    }

    /// Takes note of bytes that were added, and says how many there are then; nothing where none were, or where they
    /// cannot be counted: those are found by whoever counts next.
    pub(super) fn count(&self, bytes: u64) -> u64 {
        if bytes > 0 { self.tally().and_then(|tally| tally.add(bytes)).unwrap_or(0) } else { 0 }
    }

    /// Collects on a thread of its own, where `total` bytes added or the time `at` of a call make it due.
    pub(super) fn collect_when_due(&self, total: u64, at: u64) {
        let bound = &*self.bound;
        let Some(limits) = bound.limits else { return };
        let is_full = total >= bound.next_bytes.load(Ordering::Relaxed);
        if !is_full && at < bound.next_ms.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut running) = bound.running.try_lock() else { return };
        if running.as_ref().is_some_and(|running| !running.is_finished()) {
            return;
        }
        bound.next_ms.store(self.due_by_age(at), Ordering::Relaxed);
        if !is_full && at < bound.next_ms.load(Ordering::Relaxed) {
            return;
        }
        // Where it comes to nothing, because another process is at it or the disk is full: not again at once.
        bound.next_bytes.store(total + limits.share() / 4, Ordering::Relaxed);
        bound.next_ms.store(at + DAY_MS, Ordering::Relaxed);
        let twin = self.clone();
        let collect = move || {
            if let Ok(Some(_)) = twin.collect(&limits, at) {
                twin.bound.next_bytes.store(limits.share(), Ordering::Relaxed);
            }
        };
        *running = thread::Builder::new().name("nika-undo".to_owned()).spawn(collect).ok();
    }

    pub(super) fn tally(&self) -> io::Result<&Tally> {
        if self.bound.tally.get().is_none() {
            let _ = self.bound.tally.set(Tally::open(&self.tally_path())?);
        }
        Ok(self.bound.tally.get().expect("it was set above, here or by another thread"))
    }

    /// A day after the last collection, by the time that it left at its lock. At once where there was none, or where the
    /// clock went back since.
    fn due_by_age(&self, now_unix_ms: u64) -> u64 {
        let last = fs::metadata(self.alone_path()).and_then(|meta| meta.modified()).ok();
        let last = last.and_then(|last| last.duration_since(SystemTime::UNIX_EPOCH).ok());
        let last = last.map_or(0, |since| since.as_millis() as u64);
        if last > now_unix_ms + DAY_MS { 0 } else { last + DAY_MS }
    }

    fn tally_path(&self) -> PathBuf {
        self.path.with_extension("added")
    }
}
