//! The stack of work that threads share, and the directories it holds open.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::ignores::Node;

/// A piece of work. Paths are as walked.
pub(super) enum Work {
    Dir {
        parent: Held,
        path: Box<[u8]>,
        node: Arc<Node>,
        depth: usize,
    },
    /// Files of one directory, their names NUL-terminated.
    Files {
        dir: Arc<DirFd>,
        path: Box<[u8]>,
        names: Vec<u8>,
    },
}

/// How a directory on the stack finds its parent again.
#[derive(Debug)]
pub(super) enum Held {
    Open(Arc<DirFd>),
    Reopen,
}

/// An open directory that counts among the held ones.
#[derive(Debug)]
pub(super) struct DirFd {
    fd: OwnedFd,
    held: Arc<AtomicUsize>,
}

impl AsFd for DirFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for DirFd {
    fn drop(&mut self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Directories the stack may hold open. Low, for many searches may run in one
/// process whose limit is often 1,024; deeper trees cost more system calls.
const MAX_HELD: usize = 64;

#[derive(Default)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    wake: Condvar,
    held: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Inner {
    stack: Vec<Work>,
    /// Pieces taken and not yet done; they may bring more.
    active: usize,
    sleeping: usize,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last pushed is taken first.
    pub fn push(&self, works: impl IntoIterator<Item = Work>) {
        let mut inner = self.lock();
        let before = inner.stack.len();
        inner.stack.extend(works);
        let wake = inner.sleeping.min(inner.stack.len() - before);
        drop(inner);
        for _ in 0..wake {
            self.wake.notify_one();
        }
    }

    /// Waits for a piece; `None` when all is done.
    pub fn take(&self) -> Option<(Work, Busy<'_>)> {
        let mut inner = self.lock();
        loop {
            if inner.closed {
                return None;
            }
            if let Some(work) = inner.stack.pop() {
                inner.active += 1;
                return Some((work, Busy(self)));
            }
            if inner.active == 0 {
                return None;
            }
            inner.sleeping += 1;
            inner = self.wake.wait(inner).unwrap_or_else(PoisonError::into_inner);
            inner.sleeping -= 1;
        }
    }

    /// Whether nothing is waiting and nothing can bring more.
    pub fn is_idle(&self) -> bool {
        let inner = self.lock();
        inner.closed || (inner.stack.is_empty() && inner.active == 0)
    }

    /// Ends the walk for all threads.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.stack.clear();
        drop(inner);
        self.wake.notify_all();
    }

    pub fn hold(&self, fd: OwnedFd) -> DirFd {
        self.held.fetch_add(1, Ordering::Relaxed);
        DirFd { fd, held: self.held.clone() }
    }

    /// Whether another directory may be held open.
    pub fn spare(&self) -> bool {
        self.held.load(Ordering::Relaxed) <= MAX_HELD
    }
}

/// Held while a piece is worked on. Dropping it, also in a panic, says the
/// piece is done.
pub(super) struct Busy<'a>(&'a Queue);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.active -= 1;
        let done = inner.active == 0 && inner.stack.is_empty();
        drop(inner);
        if done {
            self.0.wake.notify_all();
        }
    }
}
