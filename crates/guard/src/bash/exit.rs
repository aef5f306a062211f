//! What an exit code means for the command that gave it: `1` is no error for `grep` and `diff`.

/// Programs whose small codes are answers.
const ANSWERS: &[(&str, i32, &str)] = &[
    ("grep egrep fgrep zgrep rg ag ack git-grep", 1, "no match"),
    ("grep egrep fgrep zgrep rg ag ack git-grep", 2, "an error, possibly besides matches"),
    ("diff colordiff zdiff sdiff", 1, "the files differ"),
    ("diff colordiff zdiff sdiff", 2, "an error: the files could not be compared"),
    ("cmp", 1, "the files differ"),
    ("cmp", 2, "an error: the files could not be compared"),
    ("git-diff", 1, "there are differences"),
    ("test [ [[", 1, "the test is false"),
    ("test [ [[", 2, "an error in the expression"),
    ("((", 1, "the result is zero"),
    ("find", 1, "some places could not be searched"),
    ("which type whereis command", 1, "not found"),
    ("pgrep pidof", 1, "no process matches"),
    ("expr", 1, "the result is empty or zero"),
    ("jq", 1, "the last value was false or null"),
    ("jq", 5, "an error in the filter or its input"),
    ("pytest", 1, "tests failed"),
    ("pytest", 5, "no tests were collected"),
    ("ls", 1, "some entries could not be read"),
    ("ls", 2, "a named file does not exist or cannot be read"),
    ("curl", 6, "the host name could not be resolved"),
    ("curl", 7, "the connection failed"),
];

/// Codes that the shell itself gives.
const SHELL: &[(i32, &str)] = &[
    (124, "it ran out of time"),
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
    let name = last_command.rsplit('/').next().unwrap_or_default();
    ANSWERS
        .iter()
        .find(|(names, answer, _)| *answer == code && names.split(' ').any(|listed| listed == name))
        .map(|(.., what)| *what)
        .or_else(|| SHELL.iter().find(|(answer, _)| *answer == code).map(|(_, what)| *what))
        .or_else(|| (code > 128 && code <= 192).then_some("ended by a signal"))
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
            ("cat", 1, None),
            ("grep", 0, None),
            ("cat", 127, Some("the command was not found")),
            ("make", 124, Some("it ran out of time")),
            ("make", 137, Some("ended by the signal KILL, as when memory runs out")),
            ("make", 160, Some("ended by a signal")),
            ("make", -1, None),
            ("", i32::MAX, None),
        ] {
            assert_eq!(meaning(name, code), want, "{name} {code}");
        }
    }
}
