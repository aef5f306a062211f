//! One server of the pool: its connection, why there is none, and what it offers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nika_contract::ToolError;

use super::super::connection::{About, Connection};
use super::super::held::HeldBack;
use super::super::pin::{Definition, Standing};
use super::Entry;

/// The longest time that a server is left alone.
const MOST_BACKOFF: Duration = Duration::from_secs(60);
/// A connection that lasted so long was a good one: its end is no reason to wait.
const GOOD_AFTER: Duration = Duration::from_secs(60);

/// Tools by their own names, and how each stands.
pub(crate) type Standings = BTreeMap<String, (Definition, Standing)>;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) entry: Entry,
    /// Held while a connection is made or asked for its list, so that one is. How it stands can be looked at meanwhile.
    pub(crate) turn: tokio::sync::Mutex<()>,
    held: Mutex<Held>,
    /// What the server offered when it was last asked.
    offered: Mutex<Option<Standings>>,
    /// The server said that its list is another one.
    stale: AtomicBool,
    /// Somebody is on the way to ask for it, because the server said so.
    asking: AtomicBool,
}

/// A connection, or why there is none.
#[derive(Debug, Default)]
pub(crate) struct Held {
    connection: Option<(Arc<Connection>, Instant)>,
    /// What it said of itself, also when it is gone.
    pub(crate) about: Option<About>,
    failures: u32,
    last: Option<(ToolError, Instant)>,
}

impl Slot {
    pub(crate) fn new(entry: Entry) -> Slot {
        Slot {
            entry,
            turn: tokio::sync::Mutex::default(),
            held: Mutex::default(),
            offered: Mutex::default(),
            stale: AtomicBool::new(false),
            asking: AtomicBool::new(false),
        }
    }

    /// Its connection, or why there is none. For a moment: nothing is waited for here.
    pub(crate) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn mark_stale(&self) {
        self.stale.store(true, Ordering::Release);
    }

    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Acquire)
    }

    /// Whether it has to be asked for its list again. The answer is taken for that being done, so whoever fails at it
    /// calls [`Slot::mark_stale`].
    pub(crate) fn take_stale(&self) -> bool {
        self.stale.swap(false, Ordering::AcqRel)
    }

    /// Whether somebody is wanted who asks for the list; there is one at a time, until [`Slot::asked`].
    pub(crate) fn wants_asking(&self) -> bool {
        !self.asking.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn asked(&self) {
        self.asking.store(false, Ordering::Release);
    }

    pub(crate) fn offers(&self, standings: Standings) {
        *self.offered() = Some(standings);
    }

    /// Compares what it offers with what was seen, anew.
    pub(crate) fn compare_again(&self, standing: impl Fn(&Definition) -> Standing) {
        for (definition, now) in self.offered().iter_mut().flat_map(BTreeMap::values_mut) {
            *now = standing(definition);
        }
    }

    fn offered(&self) -> MutexGuard<'_, Option<Standings>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it offers, where it was asked.
    pub(crate) fn known(&self) -> Option<Standings> {
        self.offered().clone()
    }

    pub(crate) fn standings(&self) -> Standings {
        self.known().unwrap_or_default()
    }

    /// The tools that a person has to say yes to.
    pub(crate) fn held_back(&self) -> Vec<HeldBack> {
        let standings = self.standings();
        standings.values().filter_map(|(definition, standing)| HeldBack::of(definition, standing)).collect()
    }
}

impl Held {
    /// The connection, if it is of use; one that ended soon after its beginning counts as a failure.
    pub(crate) fn living(&mut self, now: Instant) -> Option<Arc<Connection>> {
        let (connection, since) = self.connection.as_ref()?;
        if !connection.is_closed() {
            return Some(Arc::clone(connection));
        }
        let lasted = now.saturating_duration_since(*since);
        let error = connection.ended();
        self.connection = None;
        if lasted >= GOOD_AFTER {
            self.failures = 0;
        } else if self.failures > 0 {
            // The first early end is met with a new start at once; from then on it waits.
            self.failed(error, now);
        } else {
            self.failures = 1;
        }
        None
    }

    /// Why it is left alone at this moment.
    pub(crate) fn refused(&self, now: Instant) -> Option<ToolError> {
        let (error, until) = self.last.as_ref()?;
        let left = until.saturating_duration_since(now);
        if left.is_zero() {
            return None;
        }
        let again = format!("it is tried again in {} s", left.as_secs().max(1));
        let hint = error.hint.as_ref().map_or_else(|| again.clone(), |hint| format!("{hint}; {again}"));
        Some(ToolError { hint: Some(hint), ..error.clone() })
    }

    pub(crate) fn connected(&mut self, connection: Arc<Connection>, about: About) {
        self.connection = Some((connection, Instant::now()));
        self.about = Some(about);
        self.last = None;
    }

    pub(crate) fn failed(&mut self, error: ToolError, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.last = Some((error, now + backoff(self.failures)));
    }

    /// Why it could not be had, when that was last tried.
    pub(crate) fn trouble(&self) -> Option<&ToolError> {
        self.last.as_ref().map(|(error, _)| error)
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.connection.as_ref().is_some_and(|(connection, _)| !connection.is_closed())
    }

    pub(crate) fn take(&mut self) -> Option<Arc<Connection>> {
        self.connection.take().map(|(connection, _)| connection)
    }
}

/// How long a server is left alone after so many failures: 1, 2, 4 … 60 s.
fn backoff(failures: u32) -> Duration {
    let seconds = 1u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(MOST_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::code;

    #[test]
    fn a_server_that_fails_is_left_alone_longer_and_longer() {
        let seconds: Vec<u64> = [1, 2, 3, 6, 7, 70].map(|failures| backoff(failures).as_secs()).to_vec();
        assert_eq!(seconds, [1, 2, 4, 32, 60, 60]);
        let (mut held, now) = (Held::default(), Instant::now());
        held.failed(ToolError::new(code::SERVER_UNREACHABLE, "no"), now);
        let refused = held.refused(now).expect("it is left alone");
        assert_eq!(refused.hint.as_deref(), Some("it is tried again in 1 s"));
        assert!(held.refused(now + Duration::from_secs(2)).is_none());
    }
}
