//! Whom a `kill` reaches: what the script has started itself, or the shell that runs it.
//!
//! A job of the script ends with it anyway. A signal to the shell ends the script amid its work, or stops it for good, and
//! a job that the script has not started is somebody else's.

use super::super::fact::Fact;
use super::super::judge::Arg;
use super::super::words;
use super::{State, Walker};

/// Signal 0 only asks whether there is such a process.
const ASKS: &[&[&str]] = &[&["-0"], &["-s", "0"], &["-n", "0"], &["--signal", "0"]];
const LISTS: &[&str] = &["-l", "-L", "--list", "--table"];

impl Walker<'_> {
    /// What is said where `kill` reaches more than what the script has started.
    pub(super) fn signalled(&self, program: &str, args: &[Arg], state: &State) -> Option<Fact> {
        if program != "kill" {
            return None;
        }
        let words: Vec<&str> = args.iter().skip(1).map(|arg| arg.exact().unwrap_or_default()).collect();
        let looks = ASKS.iter().any(|asks| words.starts_with(asks));
        if looks || words.first().is_some_and(|first| LISTS.contains(first)) {
            return None;
        }
        let mut jobs = words.iter().map(|word| word.strip_prefix('-').unwrap_or(word));
        let own = |job: &str| job == words::SHELL || job.starts_with('%') && !state.background;
        jobs.any(own).then(|| Fact::Code("it signals the shell that runs it, or what that has not started".to_owned()))
    }
}
