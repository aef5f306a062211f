//! A model that goes in circles: the same call, the same answer, and nothing new between.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Tools that a model waits with: what it waits for may take its time.
const WAITS: &[&str] = &["job_output", "sleep", "task_output"];
/// A call of one of them that took so long has waited; a quicker one only looked.
const WAITED: Duration = Duration::from_millis(500);
/// Of calls that have waited so many count as one: sixty of half a minute are half an hour, and then it is enough.
const WAITS_A_CALL: u32 = 10;

/// Whether a call has waited.
pub(crate) fn has_waited(tool: &str, took: Duration) -> bool {
    WAITS.contains(&tool) && took >= WAITED
}

/// Calls that were met, and how often they brought the same since something new happened.
#[derive(Debug)]
pub(crate) struct Circles {
    most: u32,
    met: HashSet<u64>,
    times: HashMap<u64, Times>,
}

/// How often a call was made, and how much of a circle that is, in parts of a call that has not waited.
#[derive(Debug, Default)]
struct Times {
    calls: u32,
    parts: u32,
}

/// What is to be done about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Circling {
    /// Nothing.
    No,
    /// The model should be told that it was made so often.
    Told(u32),
    /// The run should end: it was told, and went on.
    Stop(u32),
}

impl Circles {
    /// Of `most` equal calls the model is told, of twice as many nobody wants more.
    pub(crate) fn new(most: u32) -> Circles {
        Circles { most: most.max(2), met: HashSet::new(), times: HashMap::new() }
    }

    /// Notes a call and its answer. One that `changes` something and was not met before is progress: what was
    /// counted until then is forgotten, as a test that fails the same way after another edit is no circle.
    pub(crate) fn note(
        &mut self,
        (tool, arguments, answer): (&str, &str, &str),
        changes: bool,
        waited: bool,
    ) -> Circling {
        let mut hasher = DefaultHasher::new();
        (tool, arguments, answer).hash(&mut hasher);
        let key = hasher.finish();
        if self.met.insert(key) && changes {
            self.times.clear();
        }
        let Times { calls, parts } = self.times.entry(key).or_default();
        let before = *parts;
        *calls += 1;
        *parts += if waited { 1 } else { WAITS_A_CALL };
        let reaches = |times: u32| before < times * WAITS_A_CALL && *parts >= times * WAITS_A_CALL;
        match *calls {
            calls if *parts >= 2 * self.most * WAITS_A_CALL => Circling::Stop(calls),
            calls if reaches(self.most) => Circling::Told(calls),
            _ => Circling::No,
        }
    }
}

/// What the model reads below the answer.
pub(crate) fn told(times: u32) -> String {
    format!(
        "\n[This call was made {times} times with this answer, and nothing new happened between. Do something else, or \
         end and say what is in the way.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_equal_call_is_told_of_and_the_sixth_ends_it() {
        let mut circles = Circles::new(3);
        let seen: Vec<Circling> = (0..6).map(|_| circles.note(("read", "{}", "x"), false, false)).collect();
        let want = [Circling::No, Circling::No, Circling::Told(3), Circling::No, Circling::No, Circling::Stop(6)];
        assert_eq!(seen, want);
    }

    #[test]
    fn who_waits_goes_in_no_circle_until_it_is_very_long() {
        let wait = ("task_output", "{}", "t1 [in_progress]");
        let mut circles = Circles::new(3);
        let seen: Vec<Circling> = (0..60).map(|_| circles.note(wait, false, true)).collect();
        let want = |at: usize| match at {
            29 => Circling::Told(30),
            59 => Circling::Stop(60),
            _ => Circling::No,
        };
        assert!(seen.iter().enumerate().all(|(at, seen)| *seen == want(at)), "{seen:?}");
        let took = Duration::from_secs(30);
        assert!(has_waited("task_output", took) && !has_waited("task_output", Duration::ZERO));
        assert!(!has_waited("bash", took), "a test that takes long and fails alike is one");
    }

    #[test]
    fn another_answer_is_no_circle() {
        let mut circles = Circles::new(3);
        for n in 0..20 {
            assert_eq!(circles.note(("job_output", "{}", &n.to_string()), false, false), Circling::No);
        }
    }

    #[test]
    fn a_test_that_fails_alike_after_another_edit_is_no_circle() {
        let mut circles = Circles::new(3);
        for n in 0..20 {
            assert_eq!(circles.note(("edit", &n.to_string(), "done"), true, false), Circling::No);
            assert_eq!(circles.note(("bash", "cargo test", "1 failed"), true, false), Circling::No);
        }
    }

    #[test]
    fn two_edits_that_undo_each_other_are_one() {
        let mut circles = Circles::new(3);
        let stopped = (0..20).any(|_| {
            circles.note(("edit", "a to b", "done"), true, false);
            matches!(circles.note(("edit", "b to a", "done"), true, false), Circling::Stop(_))
        });
        assert!(stopped);
    }
}
