//! Traces of workflow runs: a journal each, apart from those of sessions, and what was too long for a line.
//!
//! A trace is a [`Journal`] in a state directory of its own below the workspace's (`runs/`), so that it is chained,
//! headed, verified and exported by the same code. One process at a time goes on with a run: it holds a lock.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{FlockOperation, OFlags};

use crate::error::StoreError;
use crate::hash::Hash;
use crate::id;
use crate::state::State;

/// Where the traces of a workspace lie; made when missing.
pub fn open(state: &State) -> Result<State, StoreError> {
    State::open(&state.dir().join("runs"))
}

/// A run that this process goes on with, until this is dropped.
#[derive(Debug)]
pub struct Held {
    _lock: File,
}

/// Takes the run `id` for this process; `None` where another one goes on with it. `runs` is what [`open`] gave.
pub fn hold(runs: &State, id: &str) -> Result<Option<Held>, StoreError> {
    let path = runs.dir().join("sessions").join(format!("{}.lock", id::check(id)?));
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    let lock = options.open(&path).map_err(|error| StoreError::io("open", &path, error))?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Held { _lock: lock })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(errno) => Err(StoreError::io("lock", &path, std::io::Error::from(errno))),
    }
}

/// Keeps that a person said yes to what `key`, a hash, stands for; until the workspace's state is removed.
pub fn allow(runs: &State, key: &Hash) -> Result<(), StoreError> {
    let path = allowed(runs, key);
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
    options.open(&path).map(drop).map_err(|error| StoreError::io("write", &path, error))
}

/// Whether a person said yes to it.
pub fn is_allowed(runs: &State, key: &Hash) -> bool {
    std::fs::symlink_metadata(allowed(runs, key)).is_ok_and(|meta| meta.is_file())
}

fn allowed(runs: &State, key: &Hash) -> PathBuf {
    runs.dir().join("sessions").join(format!("{key}.allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_is_kept_for_what_it_was_said_to() {
        let world = tempfile::tempdir().expect("a directory");
        let runs = open(&State::open(world.path()).expect("a state")).expect("traces");
        let (one, other) = (Hash::of(b"one"), Hash::of(b"other"));
        allow(&runs, &one).expect("it is kept");
        assert!(is_allowed(&runs, &one) && !is_allowed(&runs, &other));
    }

    #[test]
    fn one_at_a_time_goes_on_with_a_run() {
        let world = tempfile::tempdir().expect("a directory");
        let state = State::open(world.path()).expect("a state");
        let runs = open(&state).expect("traces");
        let held = hold(&runs, "run-1").expect("it locks").expect("nobody else is here");
        assert!(hold(&runs, "run-1").expect("it looks").is_none());
        assert!(hold(&runs, "run-2").expect("it locks").is_some());
        drop(held);
        assert!(hold(&runs, "run-1").expect("it locks").is_some());
        assert!(hold(&runs, "../x").is_err());
    }
}
