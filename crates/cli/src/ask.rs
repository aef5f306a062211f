//! Asking at the terminal: what would happen, why that needs a yes, and the answers; and what a tool wants to know.
//!
//! A person takes their time, so the terminal is read on a thread of its own, and one question stands there at a time.

mod confirm;
mod interrupting;
mod queued;

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nika_contract::{Asked, Asker, BoxFuture, Cancel, Inquiry, Question, Replied, text};
use nika_guard::Answer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::out;

pub use confirm::{Confirmed, confirmed};
pub use interrupting::Interrupting;
pub use queued::{Queued, Ready};

/// How often a wait looks at whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// The person at this terminal.
#[derive(Debug)]
pub struct Terminal {
    /// Whether diffs are coloured.
    pub colours: bool,
    /// Set when the person interrupts.
    pub cancel: Cancel,
    /// Whoever writes to this terminal holds it meanwhile; a question holds it until it is answered.
    pub floor: Arc<Mutex<()>>,
}

/// For the journal.
const WHO: &str = "the person at the terminal";

impl Asker for Terminal {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        let (question, colours) = (question.clone(), self.colours);
        let interrupted = Asked::Answered(Answer::No { who: WHO.to_owned(), why: Some("interrupted".into()) });
        self.apart(interrupted, move |to, next_line| put(&question, colours, to, next_line))
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        let inquiry = inquiry.clone();
        self.apart(Replied::Declined { why: Some("interrupted".into()) }, move |to, next_line| {
            put_inquiry(&inquiry, to, next_line)
        })
    }
}

impl Terminal {
    /// Puts a question on a thread where waiting stops nobody else. `interrupted` is the answer where the wait was
    /// cut short before anybody could be asked.
    fn apart<A: Send + 'static>(
        &self,
        interrupted: A,
        put: impl FnOnce(&mut dyn Write, &mut dyn FnMut() -> Option<String>) -> A + Send + 'static,
    ) -> BoxFuture<'_, A> {
        let gone = Gone::default();
        let (floor, wanted) =
            (Arc::clone(&self.floor), Wanted { cancel: self.cancel.clone(), gone: Arc::clone(&gone.0) });
        Box::pin(async move {
            let gone = gone;
            let asked = tokio::task::spawn_blocking(move || {
                // A poisoned floor is free: whoever held it is gone.
                let _floor = floor.lock().unwrap_or_else(PoisonError::into_inner);
                wanted.is_wanted().then(|| put(&mut io::stderr(), &mut || wanted.line()))
            });
            let answer = asked.await.ok().flatten();
            drop(gone);
            answer.unwrap_or(interrupted)
        })
    }
}

/// Set when nobody waits for the answer any more: the question is taken back, and the thread ends.
#[derive(Debug, Default)]
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Whether an answer is still waited for.
struct Wanted {
    cancel: Cancel,
    gone: Arc<AtomicBool>,
}

impl Wanted {
    fn is_wanted(&self) -> bool {
        !self.cancel.is_cancelled() && !self.gone.load(Ordering::Acquire)
    }

    /// The next line typed; `None` at the end of input or when nobody waits for it any more.
    fn line(&self) -> Option<String> {
        let stdin = io::stdin();
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::try_from(LOOK.as_nanos()).unwrap_or(i64::MAX) };
        loop {
            if !self.is_wanted() {
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
    if let Some(choice) = choice.filter(|choice| !choice.beyond.is_empty()) {
        shown.push_str(&format!("  always would allow {}\n", choice.beyond));
    }
    let always = choice.map(|choice| format!(", [a]lways in this session (`{}`)", choice.rule)).unwrap_or_default();
    let prompt = format!("[y]es, once, [N]o{always}, or say what to do instead: ");
    if !shows(to, &format!("{shown}{prompt}")) {
        return Asked::Nobody;
    }
    let Some(answer) = next_line() else { return no(Some("interrupted".into())) };
    match (answer.to_lowercase().as_str(), choice) {
        ("y" | "yes" | "once" | "o", _) => Asked::Answered(yes()),
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

fn put_inquiry(inquiry: &Inquiry, to: &mut dyn Write, next_line: &mut dyn FnMut() -> Option<String>) -> Replied {
    let mut shown = String::from("\nnika: ");
    if let Some(header) = &inquiry.header {
        shown.push_str(&format!("{header}\n"));
    }
    shown.push_str(&format!("{}\n", inquiry.text.trim_end()));
    for (number, offer) in inquiry.options.iter().enumerate() {
        let about = offer.description.as_ref().map(|about| format!(" — {about}")).unwrap_or_default();
        shown.push_str(&format!("  {}. {}{about}\n", number + 1, offer.label));
    }
    shown.push_str(match (inquiry.options.is_empty(), inquiry.free_text) {
        (true, _) => "Answer (nothing declines): ",
        (false, true) => "A number, or your own words (nothing declines): ",
        (false, false) => "A number (nothing declines): ",
    });
    // The model's words: they must not redraw the terminal.
    if !shows(to, &text::harmless(&shown)) {
        return Replied::Nobody;
    }
    loop {
        let Some(typed) = next_line() else { return Replied::Declined { why: Some("interrupted".into()) } };
        if typed.is_empty() {
            return Replied::Declined { why: None };
        }
        if let Some(replied) = reply(inquiry, &typed) {
            return replied;
        }
        if !shows(to, &format!("A number from 1 to {}: ", inquiry.options.len())) {
            return Replied::Nobody;
        }
    }
}

/// What words mean as an answer: an option by its number or label, or themselves where that is allowed.
fn reply(inquiry: &Inquiry, said: &str) -> Option<Replied> {
    let numbered = said.parse::<usize>().ok().and_then(|number| inquiry.options.get(number.checked_sub(1)?));
    let named = || inquiry.options.iter().find(|offer| offer.label.to_lowercase() == said.to_lowercase());
    match numbered.or_else(named) {
        Some(offer) => Some(Replied::Chosen(offer.label.clone())),
        None => inquiry.free_text.then(|| Replied::Wrote(said.to_owned())),
    }
}

fn shows(to: &mut dyn Write, text: &str) -> bool {
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::{Choice, Offer};

    fn answer(typed: Option<&str>, choices: &[&str]) -> (Asked, String) {
        let choice = |rule: &&str| Choice { rule: (*rule).to_owned(), beyond: "every change of it".into() };
        let question = Question {
            id: "q".into(),
            tool: "edit".into(),
            text: "write(a.rs) — write inside (mode ask)".into(),
            preview: Some("-a\n+b\n".into()),
            choices: choices.iter().map(choice).collect(),
        };
        let mut shown = Vec::new();
        let asked = put(&question, false, &mut shown, &mut || typed.map(str::to_owned));
        (asked, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn a_question_shows_the_change_the_rule_and_what_else_it_would_allow() {
        let (_, shown) = answer(None, &["write(a.rs)"]);
        assert!(shown.contains("write(a.rs) — write inside") && shown.contains("-a\n+b\n"), "{shown}");
        assert!(shown.contains("[a]lways in this session (`write(a.rs)`)"), "{shown}");
        assert!(shown.contains("always would allow every change of it\n"), "{shown}");
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

    pub(super) fn inquiry(labels: &[&str], free_text: bool) -> Inquiry {
        Inquiry {
            id: "q".into(),
            tool: "ask_user_question".into(),
            name: None,
            header: Some("Port".into()),
            text: "Which \u{1b}[2Jport?".into(),
            options: labels.iter().map(|label| Offer { label: (*label).into(), description: None }).collect(),
            free_text,
        }
    }

    fn replied(inquiry: &Inquiry, typed: &[&str]) -> (Replied, String) {
        let mut shown = Vec::new();
        let mut lines = typed.iter();
        let replied = put_inquiry(inquiry, &mut shown, &mut || lines.next().map(|line| (*line).to_owned()));
        (replied, String::from_utf8(shown).expect("it is text"))
    }

    #[test]
    fn a_menu_is_answered_by_number_by_label_or_in_words() {
        let either = inquiry(&["8080", "any free one"], true);
        let fixed = inquiry(&["left", "right"], false);
        let words = inquiry(&[], true);
        for (inquiry, typed, want) in [
            (&either, &["2"][..], Replied::Chosen("any free one".into())),
            (&either, &["ANY free one"], Replied::Chosen("any free one".into())),
            (&either, &["8080"], Replied::Chosen("8080".into())),
            (&either, &["9"], Replied::Wrote("9".into())),
            (&either, &[""], Replied::Declined { why: None }),
            (&fixed, &["3", "middle", "1"], Replied::Chosen("left".into())),
            (&fixed, &["3"], Replied::Declined { why: Some("interrupted".into()) }),
            (&words, &["1"], Replied::Wrote("1".into())),
        ] {
            assert_eq!(replied(inquiry, typed).0, want, "{typed:?}");
        }
        let shown = replied(&either, &["1"]).1;
        assert!(shown.contains("  2. any free one\n") && !shown.contains('\u{1b}'), "{shown:?}");
        assert!(replied(&fixed, &["3", "1"]).1.contains("A number from 1 to 2: "));
    }
}
