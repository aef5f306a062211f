//! Where a limited search may stop: the path beyond which no file can be
//! among the first so many entries, whatever is found before it. The result
//! is the same as that of a search to the end.

use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::order::path_order;

#[derive(Debug)]
pub(super) struct Bound {
    /// Entries that are enough, if there is a limit.
    need: Option<usize>,
    set: AtomicBool,
    first: RwLock<First>,
}

/// The files that hold the first entries found so far, the last on top.
#[derive(Debug, Default)]
struct First {
    files: BinaryHeap<File>,
    entries: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct File {
    path: Vec<u8>,
    entries: usize,
}

impl Ord for File {
    fn cmp(&self, other: &Self) -> Order {
        path_order(&self.path, &other.path)
    }
}

impl PartialOrd for File {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl Bound {
    pub fn new(need: Option<usize>) -> Bound {
        Bound { need, set: AtomicBool::new(false), first: RwLock::default() }
    }

    /// Entries that are enough from one file.
    pub fn need(&self) -> usize {
        self.need.unwrap_or(usize::MAX)
    }

    /// Whether files may have been passed over.
    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Relaxed)
    }

    /// Whether nothing at this path can be among the first.
    pub fn beyond(&self, path: &[u8]) -> bool {
        if !self.is_set() {
            return false;
        }
        let first = self.first.read().unwrap_or_else(PoisonError::into_inner);
        first.files.peek().is_some_and(|last| path_order(path, &last.path) == Order::Greater)
    }

    /// Takes note of what a file holds.
    pub fn add(&self, path: &[u8], entries: usize) {
        let Some(need) = self.need else { return };
        let mut first = self.first.write().unwrap_or_else(PoisonError::into_inner);
        first.entries += entries;
        first.files.push(File { path: path.to_vec(), entries });
        // The last file goes when those before it are enough.
        while let Some(last) = first.files.peek().map(|f| f.entries).filter(|n| first.entries - n >= need) {
            first.entries -= last;
            first.files.pop();
        }
        if first.entries >= need {
            self.set.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_moves_forward_in_path_order_only() {
        let bound = Bound::new(Some(3));
        bound.add(b"m", 2);
        assert!(!bound.beyond(b"z"));
        bound.add(b"q", 5);
        assert!(bound.beyond(b"z") && !bound.beyond(b"q") && !bound.beyond(b"n"));
        bound.add(b"a", 1);
        assert!(bound.beyond(b"n") && !bound.beyond(b"b/c"));
    }
}
