//! Asking at the terminal: what would happen, why that needs a yes, and the three answers.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use nika_contract::{Asked, Asker, BoxFuture, Cancel, Question};
use nika_guard::Answer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::out;

/// How often a wait looks at whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// The person at this terminal.
#[derive(Debug)]
pub struct Terminal {
    /// Whether diffs are coloured.
    pub colours: bool,
    /// Set when the person interrupts.
    pub cancel: Cancel,
}

/// For the journal.
const WHO: &str = "the person at the terminal";

impl Asker for Terminal {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        // One call, one thread: nothing else waits for it while the person thinks.
        let asked = put(question, self.colours, &mut io::stderr(), &mut || self.line());
        Box::pin(async { asked })
    }
}

impl Terminal {
    /// The next line typed; `None` at the end of input or when the person interrupts.
    fn line(&self) -> Option<String> {
        let stdin = io::stdin();
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::try_from(LOOK.as_nanos()).unwrap_or(i64::MAX) };
        loop {
            if self.cancel.is_cancelled() {
                return None;
            }
            match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&pause)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => break,
                Err(_) => return None,
            }
        }
        let mut line = String::new();
        // A terminal gives whole lines, so nothing is left over in a buffer.
        match stdin.lock().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_owned()),
        }
    }
}

fn put(question: &Question, colours: bool, to: &mut dyn Write, next_line: &mut dyn FnMut() -> Option<String>) -> Asked {
    let no = |why: Option<String>| Asked::Answered(Answer::No { who: WHO.to_owned(), why });
    let yes = || Answer::Yes { who: WHO.to_owned() };
    let mut shown = format!("\nnika: may `{}` do this?\n  {}\n", question.tool, question.text.replace('\n', "\n  "));
    if let Some(preview) = &question.preview {
        shown.push_str(&if colours { out::coloured(preview) } else { format!("{}\n", preview.trim_end()) });
    }
    let choice = question.choices.first();
    let always = choice.map(|choice| format!(", [a]lways in this session (`{}`)", choice.rule)).unwrap_or_default();
    let prompt = format!("[y]es, [N]o{always}, or say what to do instead: ");
    if to.write_all(format!("{shown}{prompt}").as_bytes()).and_then(|()| to.flush()).is_err() {
        return Asked::Nobody;
    }
    let Some(answer) = next_line() else { return no(Some("interrupted".into())) };
    match (answer.to_lowercase().as_str(), choice) {
        ("y" | "yes", _) => Asked::Answered(yes()),
        ("a" | "always", Some(choice)) => Asked::Always(yes(), choice.rule.clone()),
        // Where no rule may be kept, "always" cannot be meant; asking again beats guessing yes.
        ("a" | "always", None) => no(Some("it has to be answered each time".into())),
        ("" | "n" | "no", _) => no(None),
        _ => {
            let why = answer.strip_prefix("no, ").or_else(|| answer.strip_prefix("no ")).unwrap_or(&answer);
            no(Some(why.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::Choice;

    fn answer(typed: Option<&str>, choices: &[&str]) -> (Asked, String) {
        let question = Question {
            id: "q".into(),
            tool: "edit".into(),
            text: "write(a.rs) — write inside (mode ask)".into(),
            preview: Some("-a\n+b\n".into()),
            choices: choices.iter().map(|rule| Choice { rule: (*rule).to_owned(), beyond: String::new() }).collect(),
        };
        let mut shown = Vec::new();
        let asked = put(&question, false, &mut shown, &mut || typed.map(str::to_owned));
        (asked, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn a_question_shows_the_change_and_the_rule() {
        let (_, shown) = answer(None, &["write(a.rs)"]);
        assert!(shown.contains("write(a.rs) — write inside") && shown.contains("-a\n+b\n"), "{shown}");
        assert!(shown.contains("[a]lways in this session (`write(a.rs)`)"), "{shown}");
        assert!(!answer(None, &[]).1.contains("lways"));
    }

    #[test]
    fn only_a_yes_is_one() {
        let yes = || Answer::Yes { who: WHO.into() };
        let no = |why: Option<&str>| Asked::Answered(Answer::No { who: WHO.into(), why: why.map(Into::into) });
        for (typed, want) in [
            (Some("y"), Asked::Answered(yes())),
            (Some("YES"), Asked::Answered(yes())),
            (Some("a"), Asked::Always(yes(), "r".into())),
            (Some(""), no(None)),
            (Some("n"), no(None)),
            (Some("no, use b.rs"), no(Some("use b.rs"))),
            (Some("rather not"), no(Some("rather not"))),
            (None, no(Some("interrupted"))),
        ] {
            assert_eq!(answer(typed, &["r"]).0, want, "{typed:?}");
        }
        assert!(matches!(answer(Some("a"), &[]).0, Asked::Answered(Answer::No { .. })));
    }
}
