//! What an exit code means for the command that gave it: `1` is no error for `grep` and `diff`, and one for `pytest`,
//! which says so with more than a number.

/// What a code is to whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    /// What was asked about: no match, a difference, a test that is false.
    Answer,
    /// A failure that has a name.
    Failure,
}

use Is::{Answer, Failure};

/// Programs whose small codes mean something.
const CODES: &[(&str, i32, Is, &str)] = &[
    ("grep egrep fgrep zgrep rg ag ack git-grep", 1, Answer, "no match"),
    ("grep egrep fgrep zgrep rg ag ack git-grep", 2, Failure, "an error, possibly besides matches"),
    ("diff colordiff zdiff sdiff", 1, Answer, "the files differ"),
    ("diff colordiff zdiff sdiff", 2, Failure, "an error: the files could not be compared"),
    ("cmp", 1, Answer, "the files differ"),
    ("cmp", 2, Failure, "an error: the files could not be compared"),
    ("git-diff git-diff-files git-diff-index git-diff-tree", 1, Answer, "there are differences"),
    ("git-check-ignore", 1, Answer, "none of these is ignored"),
    ("git-merge-base", 1, Answer, "it is no ancestor, or nothing is common to them"),
    ("git-rev-parse git-show-ref git-symbolic-ref", 1, Answer, "there is none of this name"),
    ("git-config", 1, Answer, "the key is not set, or is no key"),
    ("git-ls-files", 1, Answer, "no file matches one of these"),
    ("git-*", 129, Failure, "git does not take these arguments"),
    ("test [ [[", 1, Answer, "the test is false"),
    ("test [ [[", 2, Failure, "an error in the expression"),
    ("((", 1, Answer, "the result is zero"),
    ("find", 1, Failure, "some places could not be searched, or it does not take this expression"),
    ("xargs", 123, Failure, "a command that it ran failed, or found nothing where that is 1 as for grep"),
    ("xargs", 124, Failure, "a command that it ran gave 255, at which it stops"),
    ("which type whereis command-v", 1, Answer, "not found"),
    ("pgrep pidof", 1, Answer, "no process matches"),
    ("expr", 1, Answer, "the result is empty or zero"),
    ("jq", 1, Answer, "the last value was false or null"),
    ("jq", 5, Failure, "an error in the filter or its input"),
    ("pytest", 1, Failure, "tests failed"),
    ("pytest", 5, Failure, "no tests were collected"),
    ("ls", 1, Failure, "some entries could not be read"),
    ("ls", 2, Failure, "a named file does not exist or cannot be read"),
    ("curl", 6, Failure, "the host name could not be resolved"),
    ("curl", 7, Failure, "the connection failed"),
];

/// Codes that the shell itself gives.
const SHELL: &[(i32, &str)] = &[
    (124, "as `timeout` says that it ran out of time"),
    (126, "it was found but could not be run"),
    (127, "the command was not found"),
    (129, "ended by the signal HUP"),
    (130, "ended by the signal INT"),
    (131, "ended by the signal QUIT"),
    (132, "ended by the signal ILL"),
    (134, "ended by the signal ABRT"),
    (135, "ended by the signal BUS"),
    (136, "ended by the signal FPE"),
    (137, "ended by the signal KILL, as when memory runs out"),
    (139, "ended by the signal SEGV"),
    (141, "ended by the signal PIPE: the reader stopped first"),
    (143, "ended by the signal TERM"),
];

/// What `code` means when `last_command` gave it, where that is more than "it failed".
///
/// `last_command` is the program of the last command of the last pipeline, as
/// [`super::Analysis::last_command`] names it (`git diff` is `git-diff`).
pub fn meaning(last_command: &str, code: i32) -> Option<&'static str> {
    row(last_command, code)
        .map(|(.., what)| *what)
        .or_else(|| SHELL.iter().find(|(answer, _)| *answer == code).map(|(_, what)| *what))
        .or_else(|| (code > 128 && code <= 192).then_some("as a shell says that a signal ended it"))
}

/// Whether `code` of `last_command` only says what was asked, so that nothing failed.
pub fn is_answer(last_command: &str, code: i32) -> bool {
    row(last_command, code).is_some_and(|(_, _, is, _)| *is == Answer)
}

fn row(last_command: &str, code: i32) -> Option<&'static (&'static str, i32, Is, &'static str)> {
    let name = last_command.rsplit('/').next().unwrap_or_default();
    let is_it = |listed: &str| listed.strip_suffix('*').map_or(listed == name, |start| name.starts_with(start));
    CODES.iter().find(|(names, listed, ..)| *listed == code && names.split(' ').any(is_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_an_answer_for_some_and_an_error_for_others() {
        for (name, code, want) in [
            ("grep", 1, Some("no match")),
            ("rg", 1, Some("no match")),
            ("/usr/bin/diff", 1, Some("the files differ")),
            ("git-diff", 1, Some("there are differences")),
            ("[", 1, Some("the test is false")),
            ("git-diff", 129, Some("git does not take these arguments")),
            ("git", 129, Some("ended by the signal HUP")),
            ("git-check-ignore", 1, Some("none of these is ignored")),
            ("git-status", 1, None),
            ("xargs", 124, Some("a command that it ran gave 255, at which it stops")),
            ("cat", 1, None),
            ("grep", 0, None),
            ("cat", 127, Some("the command was not found")),
            ("make", 124, Some("as `timeout` says that it ran out of time")),
            ("make", 137, Some("ended by the signal KILL, as when memory runs out")),
            ("make", 160, Some("as a shell says that a signal ended it")),
            ("make", -1, None),
            ("", i32::MAX, None),
        ] {
            assert_eq!(meaning(name, code), want, "{name} {code}");
        }
    }
    #[test]
    fn only_an_answer_is_no_failure() {
        for name in ["grep", "rg", "git-grep", "diff", "cmp", "git-diff", "test", "[", "[[", "which", "command-v"] {
            assert!(is_answer(name, 1), "{name}");
            assert!(!is_answer(name, 0) && !is_answer(name, 3), "{name}");
        }
        for (name, code) in
            [("pytest", 1), ("find", 1), ("ls", 1), ("curl", 6), ("grep", 2), ("cat", 1), ("command", 1), ("make", 137)]
        {
            assert!(!is_answer(name, code), "{name} {code}");
        }
        assert_eq!(meaning("pytest", 1), Some("tests failed"));
    }
}
