//! What a session has seen: for each file, the identity and, while the budget lasts, the bytes.
//!
//! The bytes let an edit be moved onto a file that somebody else changed elsewhere. When the budget is
//! spent the oldest bytes go first; the hash stays, so the worst that follows is a refusal.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Stamp;

/// Bytes of snapshots that one session keeps.
const SNAPSHOT_BYTES: usize = 64 << 20;

/// How a file was when the session last saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// sha256 of its bytes; `None` when only a part was read.
    pub hash: Option<[u8; 32]>,
    /// Its bytes, while the budget lasts.
    pub bytes: Option<Arc<[u8]>>,
    /// Its identity.
    pub stamp: Stamp,
    /// How much of it the session was shown, or wrote.
    pub shown: Shown,
}

/// How much of a file a session was shown: in lines, or in cells of a notebook that was read as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// All that can be shown of it.
    All,
    /// From the first of these to the last, both counted from 1. Where a file is too large to have its lines counted,
    /// from -1 backwards: the last line is -1.
    Parts(Vec<(i64, i64)>),
}

impl Default for Shown {
    /// Nothing: what an older Nika kept of a session did not say.
    fn default() -> Shown {
        Shown::Parts(Vec::new())
    }
}

impl Shown {
    /// What both have together.
    #[must_use]
    pub fn with(self, other: Shown) -> Shown {
        let (Shown::Parts(mut parts), Shown::Parts(others)) = (self, other) else { return Shown::All };
        parts.extend(others);
        parts.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::with_capacity(parts.len());
        for (first, last) in parts {
            match joined.last_mut() {
                // Parts that touch are one; but -1 is the end of a file, and 1 its beginning.
                Some(before) if first <= before.1.saturating_add(1) && (before.1 < 0) == (first < 0) => {
                    before.1 = before.1.max(last);
                }
                _ => joined.push((first, last)),
            }
        }
        Shown::Parts(joined)
    }
}

impl Seen {
    /// Whether both are of the same bytes, as far as anybody knows.
    fn is_of(&self, other: &Seen) -> bool {
        match (self.hash, other.hash) {
            (Some(this), Some(other)) => this == other,
            _ => self.stamp == other.stamp,
        }
    }
}

/// States of a file that a session saw, by their hash, and how much of each it was shown.
pub type Former = VecDeque<([u8; 32], Shown)>;

/// What was read in one session. A new session, and a sub-agent, starts with an empty one.
#[derive(Debug, Default)]
pub struct Ledger {
    inner: Mutex<Inner>,
}

/// Earlier states of one path that are remembered.
const FORMER_STATES: usize = 8;
/// Paths of which earlier states are remembered. A kept session is read and written with each of its calls, and this is
/// up to a quarter of a megabyte of it; of what is lost, the worst that follows is to be read again.
pub const FORMER_PATHS: usize = 256;

#[derive(Debug, Default)]
struct Inner {
    seen: HashMap<PathBuf, Seen>,
    /// What the session saw of earlier states, each path's last state first: an undo brings one of them back. The paths
    /// are in the order in which they last had another state.
    former: VecDeque<(PathBuf, Former)>,
    /// Paths that were read, and that an undo has brought to a state which the session has not seen.
    undone: HashSet<PathBuf>,
    kept: VecDeque<PathBuf>,
    bytes: usize,
    changed: bool,
}

impl Inner {
    /// Makes `seen` an earlier state of `path`, where something of this hash stands now.
    fn pass(&mut self, path: &Path, seen: Seen, now: Option<[u8; 32]>) {
        self.bytes -= seen.bytes.map_or(0, |bytes| bytes.len());
        let Some(hash) = seen.hash.filter(|hash| Some(*hash) != now) else { return };
        let at = self.former.iter().position(|(known, _)| known == path);
        let mut states = at.and_then(|at| self.former.remove(at)).map(|(_, states)| states).unwrap_or_default();
        states.retain(|(known, _)| *known != hash);
        states.push_front((hash, seen.shown));
        self.remember(path.to_path_buf(), states);
    }

    /// As the newest; the oldest goes.
    fn remember(&mut self, path: PathBuf, mut states: Former) {
        states.truncate(FORMER_STATES);
        self.former.push_back((path, states));
        if self.former.len() > FORMER_PATHS {
            self.former.pop_front();
        }
    }

    fn former_of(&self, path: &Path) -> Option<&Former> {
        self.former.iter().find(|(known, _)| known == path).map(|(_, states)| states)
    }
}

impl Ledger {
    /// Notes that the session has seen `path` so. What it was shown of the same bytes before, it has still seen; and a
    /// hash that is known for them is worth more than to have looked again.
    pub fn note(&self, path: &Path, mut seen: Seen) {
        let mut inner = self.inner();
        inner.changed = true;
        if let Some(former) = inner.seen.get(path).filter(|former| former.is_of(&seen)) {
            seen.shown = seen.shown.with(former.shown.clone());
            if seen.hash.is_none() {
                (seen.hash, seen.bytes) = (former.hash, former.bytes.clone());
            }
        }
        let size = seen.bytes.as_ref().map_or(0, |bytes| bytes.len());
        inner.undone.remove(path);
        let hash = seen.hash;
        if let Some(former) = inner.seen.insert(path.to_path_buf(), seen) {
            inner.pass(path, former, hash);
        }
        inner.bytes += size;
        if size > 0 {
            inner.kept.push_back(path.to_path_buf());
        }
        while inner.bytes > SNAPSHOT_BYTES || inner.kept.len() > 2 * inner.seen.len() + 64 {
            let Some(oldest) = inner.kept.pop_front() else { break };
            // A later note of the same path stands further back in the queue; only the last one counts.
            let noted_again = inner.kept.contains(&oldest);
            if let Some(seen) = inner.seen.get_mut(&oldest).filter(|_| !noted_again)
                && let Some(bytes) = seen.bytes.take()
            {
                inner.bytes -= bytes.len();
            }
        }
    }

    /// How the session last saw `path`.
    pub fn seen(&self, path: &Path) -> Option<Seen> {
        self.inner().seen.get(path).cloned()
    }

    /// Forgets `path`: it was moved or deleted. What was seen of it counts again where an undo brings it back.
    pub fn forget(&self, path: &Path) {
        let mut inner = self.inner();
        inner.changed = true;
        if let Some(former) = inner.seen.remove(path) {
            inner.pass(path, former, None);
        }
    }

    /// Whether the session has seen any state of `path`.
    pub fn has_met(&self, path: &Path) -> bool {
        let inner = self.inner();
        inner.seen.contains_key(path) || inner.former_of(path).is_some()
    }

    /// An undo has brought `path` to this state. The session knows it as far as it has seen the same bytes before; else
    /// it is forgotten, and that there was something to forget is kept.
    pub fn brought_back(&self, path: &Path, now: Seen) {
        let known = {
            let inner = self.inner();
            let current = inner.seen.get(path).filter(|seen| seen.hash == now.hash).map(|seen| seen.shown.clone());
            let former = || inner.former_of(path)?.iter().find(|(hash, _)| Some(*hash) == now.hash);
            current.or_else(|| former().map(|(_, shown)| shown.clone()))
        };
        match known {
            Some(shown) => self.note(path, Seen { shown, ..now }),
            None => self.forget_undone(path),
        }
    }

    /// Forgets `path`, which an undo has changed.
    pub fn forget_undone(&self, path: &Path) {
        if self.has_met(path) {
            self.inner().undone.insert(path.to_path_buf());
        }
        self.forget(path);
    }

    /// Whether the session has seen `path` before an undo changed it, and not since.
    pub fn is_undone(&self, path: &Path) -> bool {
        self.inner().undone.contains(path)
    }

    /// Everything noted, for a session that is kept between processes.
    pub fn all(&self) -> Vec<(PathBuf, Seen)> {
        self.inner().seen.iter().map(|(path, seen)| (path.clone(), seen.clone())).collect()
    }

    /// What was seen of earlier states, for the same session; the path that had another state last is the last.
    pub fn former(&self) -> Vec<(PathBuf, Former)> {
        self.inner().former.iter().cloned().collect()
    }

    /// Takes over, in that order, what another process of the session saw of earlier states of a path.
    pub fn recall(&self, path: PathBuf, states: Former) {
        let mut inner = self.inner();
        inner.former.retain(|(known, _)| *known != path);
        inner.remember(path, states);
    }

    /// Whether something was noted since the last call of this.
    pub fn take_changed(&self) -> bool {
        std::mem::take(&mut self.inner().changed)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(size: usize) -> Seen {
        let stat = rustix::fs::stat("/").expect("the root can be asked");
        Seen { hash: Some([0; 32]), bytes: Some(vec![0; size].into()), stamp: Stamp::from(&stat), shown: Shown::All }
    }

    #[test]
    fn a_state_that_comes_back_is_known_as_far_as_it_was() {
        let ledger = Ledger::default();
        let path = Path::new("/a");
        let state = |n: u8, shown: Shown| Seen { hash: Some([n; 32]), shown, ..seen(1) };
        let half = Shown::Parts(vec![(1, 5)]);
        ledger.note(path, state(1, half.clone()));
        ledger.note(path, state(2, Shown::All));
        ledger.brought_back(path, state(1, Shown::default()));
        assert_eq!(ledger.seen(path).map(|seen| (seen.hash, seen.shown)), Some((Some([1; 32]), half)));
        assert!(!ledger.is_undone(path));
        ledger.brought_back(path, state(3, Shown::default()));
        assert!(ledger.seen(path).is_none() && ledger.is_undone(path));
        ledger.note(path, state(3, Shown::All));
        assert!(!ledger.is_undone(path));
        ledger.forget_undone(Path::new("/never read"));
        assert!(!ledger.is_undone(Path::new("/never read")));
    }

    #[test]
    fn earlier_states_of_the_paths_that_changed_last_are_remembered() {
        let ledger = Ledger::default();
        let path = |n: usize| PathBuf::from(format!("/{n}"));
        for n in 0..FORMER_PATHS + 2 {
            ledger.note(&path(n), seen(0));
        }
        for n in [0, 1].into_iter().chain(0..FORMER_PATHS + 2) {
            ledger.forget(&path(n));
            ledger.note(&path(n), seen(0));
            if n == FORMER_PATHS {
                ledger.forget(&path(0));
            }
        }
        let known: Vec<PathBuf> = ledger.former().into_iter().map(|(path, _)| path).collect();
        let wanted: Vec<PathBuf> = (3..=FORMER_PATHS).chain([0, FORMER_PATHS + 1]).map(path).collect();
        assert_eq!(known, wanted);
        let other = Ledger::default();
        ledger.former().into_iter().for_each(|(path, states)| other.recall(path, states));
        assert_eq!(other.former(), ledger.former());
    }

    #[test]
    fn parts_add_up() {
        let parts = |parts: &[(i64, i64)]| Shown::Parts(parts.to_vec());
        for (one, other, both) in [
            (parts(&[(1, 10)]), parts(&[(11, 20)]), parts(&[(1, 20)])),
            (parts(&[(5, 10)]), parts(&[(1, 3), (9, 12)]), parts(&[(1, 3), (5, 12)])),
            (parts(&[(1, 100)]), parts(&[(3, 4)]), parts(&[(1, 100)])),
            (parts(&[(-5, -1)]), parts(&[(1, 2)]), parts(&[(-5, -1), (1, 2)])),
            (parts(&[(1, 10)]), Shown::All, Shown::All),
            (parts(&[]), parts(&[]), parts(&[])),
        ] {
            assert_eq!(one.clone().with(other.clone()), both, "{one:?} {other:?}");
            assert_eq!(other.with(one), both);
        }
    }

    #[test]
    fn what_was_shown_of_the_same_bytes_stays_shown() {
        let ledger = Ledger::default();
        let note = |hash, first, last| {
            let shown = Shown::Parts(vec![(first, last)]);
            ledger.note(Path::new("/a"), Seen { hash, shown, ..seen(1) });
            ledger.seen(Path::new("/a")).expect("noted")
        };
        note(Some([0; 32]), 1, 5);
        assert_eq!(note(Some([0; 32]), 6, 9).shown, Shown::Parts(vec![(1, 9)]));
        let again = note(None, 20, 20);
        assert_eq!((again.hash, again.shown), (Some([0; 32]), Shown::Parts(vec![(1, 9), (20, 20)])));
        assert_eq!(note(Some([1; 32]), 3, 3).shown, Shown::Parts(vec![(3, 3)]), "other bytes");
    }

    #[test]
    fn the_oldest_bytes_go_first_and_the_hash_stays() {
        let ledger = Ledger::default();
        for n in 0..5 {
            ledger.note(Path::new(&format!("/{n}")), seen(SNAPSHOT_BYTES / 4));
        }
        assert!(ledger.seen(Path::new("/0")).expect("noted").bytes.is_none());
        assert!(ledger.seen(Path::new("/0")).expect("noted").hash.is_some());
        assert!(ledger.seen(Path::new("/4")).expect("noted").bytes.is_some());
    }

    #[test]
    fn one_file_noted_often_stays_within_the_budget() {
        let ledger = Ledger::default();
        for _ in 0..1000 {
            ledger.note(Path::new("/a"), seen(1 << 20));
        }
        assert!(ledger.seen(Path::new("/a")).expect("noted").bytes.is_some());
        assert!(ledger.inner().kept.len() < 100);
        ledger.note(Path::new("/a"), seen(0));
        for n in 0..200 {
            ledger.note(Path::new(&format!("/{}", n % 3)), seen(1 << 20));
        }
        for path in ["/a", "/0", "/1", "/2"] {
            ledger.forget(Path::new(path));
        }
        assert_eq!(ledger.inner().bytes, 0);
    }
}
