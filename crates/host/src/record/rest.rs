//! When a path that was touched is looked at: once it was left alone for half a second. One that the command holds open is
//! looked at less and less often, as it may do so for days. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a stopped call has done by then, unless it is a very slow one.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest rest is a minute: the shortest, doubled so often.
const DOUBLED_AT_MOST: u32 = 7;

/// Of one path: when it is looked at, and how often that was in vain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Due {
    at: Option<Instant>,
    in_vain: u32,
}

impl Due {
    /// Whether its time had come at a moment.
    pub(super) fn is_before(&self, moment: Instant) -> bool {
        self.at.is_some_and(|at| at <= moment)
    }
}

/// All that are to be looked at, the next one first.
#[derive(Debug, Default)]
pub(super) struct Rest(BTreeSet<(Instant, PathBuf)>);

impl Rest {
    /// A path rests from `now` on.
    pub(super) fn touched(&mut self, path: &Path, due: &mut Due, now: Instant) {
        due.in_vain = 0;
        self.put(path, due, now + SHORTEST);
    }

    /// It was looked at in vain, and is again some time later.
    pub(super) fn later(&mut self, path: &Path, due: &mut Due, now: Instant) {
        due.in_vain = (due.in_vain + 1).min(DOUBLED_AT_MOST);
        self.put(path, due, now + SHORTEST * (1 << due.in_vain));
    }

    /// It is not to be looked at any more.
    pub(super) fn end(&mut self, path: &Path, due: &mut Due) {
        if let Some(at) = due.at.take() {
            self.0.remove(&(at, path.to_path_buf()));
        }
    }

    fn put(&mut self, path: &Path, due: &mut Due, at: Instant) {
        self.end(path, due);
        due.at = Some(at);
        self.0.insert((at, path.to_path_buf()));
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.0.first().map(|(at, _)| *at)
    }

    /// Those whose time has come.
    pub(super) fn until(&self, now: Instant) -> Vec<PathBuf> {
        self.0.iter().take_while(|(at, _)| *at <= now).map(|(_, path)| path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_at_when_it_was_left_alone_and_less_often_where_that_is_in_vain() {
        let (mut rest, mut due, begun) = (Rest::default(), Due::default(), Instant::now());
        let path = Path::new("a");
        rest.touched(path, &mut due, begun);
        rest.touched(path, &mut due, begun + Duration::from_millis(300));
        let early = begun + Duration::from_millis(799);
        assert!(rest.until(early).is_empty() && !due.is_before(early));
        let mut now = begun + Duration::from_millis(800);
        let mut waits = Vec::new();
        for _ in 0..10 {
            assert!(due.is_before(now));
            assert_eq!((rest.next(), rest.until(now)), (Some(now), vec![path.to_path_buf()]));
            rest.later(path, &mut due, now);
            let next = rest.next().expect("it rests");
            waits.push((next - now).as_millis());
            now = next;
        }
        assert_eq!(waits[..3], [1_000, 2_000, 4_000]);
        assert_eq!(waits[6..], [64_000; 4]);
        rest.touched(path, &mut due, now);
        assert_eq!(rest.next(), Some(now + SHORTEST));
        rest.end(path, &mut due);
        assert!(rest.next().is_none() && !due.is_before(now + SHORTEST));
    }
}
