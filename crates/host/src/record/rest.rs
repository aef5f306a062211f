//! When a path that was touched is looked at: once it was left alone for half a second. One that is touched or held open
//! again and again is looked at less and less often, so that a log file which lives for days costs a few lines. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a stopped call has done by then, unless it is a very slow one.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest rest is four minutes: the shortest, doubled so often.
const DOUBLED_AT_MOST: u32 = 9;

/// Of one path: when it is looked at, and how often that was.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Due {
    at: Option<Instant>,
    looks: u32,
}

/// All that are to be looked at, the next one first.
#[derive(Debug, Default)]
pub(super) struct Rest(BTreeSet<(Instant, PathBuf)>);

impl Rest {
    /// A path rests from `now` on.
    pub(super) fn begin(&mut self, path: &Path, due: &mut Due, now: Instant) {
        let path = match due.at {
            Some(at) => {
                let before = (at, path.to_path_buf());
                self.0.remove(&before);
                before.1
            }
            None => path.to_path_buf(),
        };
        let at = now + SHORTEST * (1 << due.looks.min(DOUBLED_AT_MOST));
        due.at = Some(at);
        self.0.insert((at, path));
    }

    /// A path is looked at now, as its time had come at `since`; false where it had not.
    pub(super) fn end(&mut self, path: &Path, due: &mut Due, since: Instant) -> bool {
        let Some(at) = due.at.filter(|at| *at <= since) else { return false };
        self.0.remove(&(at, path.to_path_buf()));
        *due = Due { at: None, looks: due.looks + 1 };
        true
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
    fn a_path_is_looked_at_when_it_was_left_alone_and_less_often_each_time() {
        let (mut rest, mut due, begun) = (Rest::default(), Due::default(), Instant::now());
        let path = Path::new("a");
        rest.begin(path, &mut due, begun);
        rest.begin(path, &mut due, begun + Duration::from_millis(300));
        assert_eq!(rest.until(begun + Duration::from_millis(799)), Vec::<PathBuf>::new());
        assert!(!rest.end(path, &mut due, begun + Duration::from_millis(799)));
        let mut now = begun + Duration::from_millis(800);
        let mut waits = Vec::new();
        for _ in 0..12 {
            assert_eq!((rest.next(), rest.until(now)), (Some(now), vec![path.to_path_buf()]));
            assert!(rest.end(path, &mut due, now) && rest.next().is_none());
            rest.begin(path, &mut due, now);
            let next = rest.next().expect("it rests");
            waits.push((next - now).as_millis());
            now = next;
        }
        assert_eq!(waits[..3], [1_000, 2_000, 4_000]);
        assert_eq!(waits[9..], [256_000; 3]);
    }
}
