//! Sessions by handle: random, bound to the caller they were minted for, bounded, the longest idle out first.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nika_runtime::Session;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::serve::token;

/// Sessions kept at most.
const MOST: usize = 1_000;
/// Descriptors that one session's journal holds open.
const FILES_A_SESSION: u64 = 2;
/// Descriptors for everything else: connections, searches, children.
const FILES_FOR_OTHERS: u64 = 256;

/// How many sessions this process has room for, after it has asked for all the descriptors it may have.
pub fn room() -> usize {
    let mut limit = getrlimit(Resource::Nofile);
    let asked = rustix::process::Rlimit { current: limit.maximum, ..limit };
    if setrlimit(Resource::Nofile, asked).is_ok() {
        limit = asked;
    }
    let files = limit.current.unwrap_or(u64::MAX).saturating_sub(FILES_FOR_OTHERS) / FILES_A_SESSION;
    usize::try_from(files).unwrap_or(MOST).clamp(16, MOST)
}

/// The sessions.
pub struct Handles {
    most: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    sessions: HashMap<String, Kept>,
    /// Rises with every use.
    uses: u64,
}

struct Kept {
    caller: Arc<str>,
    session: Arc<Session>,
    last_use: u64,
}

impl Handles {
    /// Room for `most` sessions.
    pub fn new(most: usize) -> Handles {
        Handles { most, inner: Mutex::default() }
    }

    /// The session that `handle` stands for, if it was minted for `caller`.
    pub fn find(&self, caller: &str, handle: &str) -> Option<Arc<Session>> {
        let mut inner = self.inner();
        inner.uses += 1;
        let now = inner.uses;
        let kept = inner.sessions.get_mut(handle).filter(|kept| *kept.caller == *caller)?;
        kept.last_use = now;
        Some(Arc::clone(&kept.session))
    }

    /// Forgets a handle that was minted for `caller`; its session.
    pub fn end(&self, caller: &str, handle: &str) -> Option<Arc<Session>> {
        let found = self.find(caller, handle)?;
        self.inner().sessions.remove(handle);
        Some(found)
    }

    /// A new handle for `session`.
    pub fn mint(&self, caller: Arc<str>, session: Arc<Session>) -> String {
        let handle = token::random(16);
        let mut inner = self.inner();
        inner.uses += 1;
        let last_use = inner.uses;
        if inner.sessions.len() >= self.most {
            let idle = inner.sessions.iter().min_by_key(|(_, kept)| kept.last_use).map(|(handle, _)| handle.clone());
            if let Some(idle) = idle {
                inner.sessions.remove(&idle);
            }
        }
        inner.sessions.insert(handle.clone(), Kept { caller, session, last_use });
        handle
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles").field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_guard::{Mode, Policy};

    fn session(id: &str) -> Arc<Session> {
        Arc::new(Session::new(id, Mode::Ask.into(), Policy::default(), true))
    }

    #[test]
    fn a_handle_is_good_for_its_caller_only() {
        let handles = Handles::new(2);
        let handle = handles.mint("a".into(), session("s1"));
        assert_eq!(handles.find("a", &handle).expect("it is a's").id(), "s1");
        assert!(handles.find("b", &handle).is_none());
        assert!(handles.find("a", "guess").is_none());
    }

    #[test]
    fn the_longest_idle_goes_first() {
        let handles = Handles::new(2);
        let one = handles.mint("a".into(), session("s1"));
        let two = handles.mint("a".into(), session("s2"));
        assert!(handles.find("a", &one).is_some());
        let three = handles.mint("a".into(), session("s3"));
        assert!(handles.find("a", &one).is_some() && handles.find("a", &three).is_some());
        assert!(handles.find("a", &two).is_none());
    }
}
