//! A model that goes in circles: the same call, the same answer, and nothing new between.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Calls that were met, and how often they brought the same since something new happened.
#[derive(Debug)]
pub(crate) struct Circles {
    most: u32,
    met: HashSet<u64>,
    times: HashMap<u64, u32>,
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
    pub(crate) fn note(&mut self, tool: &str, arguments: &str, answer: &str, changes: bool) -> Circling {
        let mut hasher = DefaultHasher::new();
        (tool, arguments, answer).hash(&mut hasher);
        let key = hasher.finish();
        if self.met.insert(key) && changes {
            self.times.clear();
        }
        let times = self.times.entry(key).or_default();
        *times += 1;
        match *times {
            times if times >= 2 * self.most => Circling::Stop(times),
            times if times == self.most => Circling::Told(times),
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
        let seen: Vec<Circling> = (0..6).map(|_| circles.note("read", "{}", "x", false)).collect();
        let want = [Circling::No, Circling::No, Circling::Told(3), Circling::No, Circling::No, Circling::Stop(6)];
        assert_eq!(seen, want);
    }

    #[test]
    fn another_answer_is_no_circle() {
        let mut circles = Circles::new(3);
        for n in 0..20 {
            assert_eq!(circles.note("job_output", "{}", &n.to_string(), false), Circling::No);
        }
    }

    #[test]
    fn a_test_that_fails_alike_after_another_edit_is_no_circle() {
        let mut circles = Circles::new(3);
        for n in 0..20 {
            assert_eq!(circles.note("edit", &n.to_string(), "done", true), Circling::No);
            assert_eq!(circles.note("bash", "cargo test", "1 failed", true), Circling::No);
        }
    }

    #[test]
    fn two_edits_that_undo_each_other_are_one() {
        let mut circles = Circles::new(3);
        let stopped = (0..20).any(|_| {
            circles.note("edit", "a to b", "done", true);
            matches!(circles.note("edit", "b to a", "done", true), Circling::Stop(_))
        });
        assert!(stopped);
    }
}
