//! Answers given beforehand, for calls that nobody watches. They answer what tools want to know, never whether
//! something may happen: for that there are modes and rules.

use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Asked, Asker, BoxFuture, Inquiry, Question, Replied};
use serde::Deserialize;

use super::reply;

/// An answer that waits for its question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// What the question says; without it any question is meant.
    #[serde(default)]
    question: Option<String>,
    /// What its asker calls the question (`question_id`); without it any name, or none.
    #[serde(default)]
    question_id: Option<String>,
    /// How it is compared, without case.
    #[serde(default, rename = "match")]
    how: How,
    /// A label, a number of the menu, or words.
    answer: String,
    /// Whether it answers one question and no more.
    #[serde(default = "yes")]
    consume: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum How {
    Exact,
    #[default]
    Contains,
}

fn yes() -> bool {
    true
}

impl FromStr for Ready {
    type Err = String;

    fn from_str(written: &str) -> Result<Ready, String> {
        if written.trim_start().starts_with('{') {
            return serde_json::from_str(written).map_err(|error| error.to_string());
        }
        Ok(Ready { question: None, question_id: None, how: How::Contains, answer: written.to_owned(), consume: true })
    }
}

impl Ready {
    fn is_for(&self, inquiry: &Inquiry) -> bool {
        if self.question_id.is_some() && self.question_id != inquiry.name {
            return false;
        }
        let said = inquiry.text.trim().to_lowercase();
        match (&self.question, self.how) {
            (None, _) => true,
            (Some(wanted), How::Exact) => said == wanted.trim().to_lowercase(),
            (Some(wanted), How::Contains) => said.contains(&wanted.trim().to_lowercase()),
        }
    }
}

/// Answers from a list, in its order; what none of them fits goes to somebody else.
pub struct Queued {
    ready: Mutex<Vec<Ready>>,
    other: Arc<dyn Asker>,
}

impl Queued {
    /// These answers before `other` is asked.
    pub fn new(ready: Vec<Ready>, other: Arc<dyn Asker>) -> Queued {
        Queued { ready: Mutex::new(ready), other }
    }

    fn take(&self, inquiry: &Inquiry) -> Option<Replied> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        // One that the question cannot take (no such option, no free text) is kept for another.
        let fits = |one: &Ready| one.is_for(inquiry).then(|| reply(inquiry, one.answer.trim())).flatten();
        let (at, replied) = ready.iter().enumerate().find_map(|(at, one)| Some((at, fits(one)?)))?;
        if ready[at].consume {
            ready.remove(at);
        }
        Some(replied)
    }
}

impl Asker for Queued {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        self.other.ask(question)
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        match self.take(inquiry) {
            Some(replied) => Box::pin(async { replied }),
            None => self.other.inquire(inquiry),
        }
    }

    fn is_there(&self) -> bool {
        self.other.is_there()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::inquiry;
    use super::*;
    use nika_contract::Nobody;

    #[test]
    fn answers_are_taken_in_order_where_they_fit_and_once() {
        let ready = |texts: &[&str]| texts.iter().map(|text| text.parse().expect("an answer")).collect();
        let queued = Queued::new(
            ready(&[
                r#"{"question": "WHICH", "answer": "right", "consume": false}"#,
                "left",
                r#"{"question": "Name?", "match": "exact", "answer": "Nika"}"#,
                "anything",
            ]),
            Arc::new(Nobody),
        );
        let which = inquiry(&["left", "right"], false);
        let name = Inquiry { text: " name? ".into(), ..inquiry(&[], true) };
        let fixed = Inquiry { text: "How?".into(), ..inquiry(&["left", "right"], false) };
        assert_eq!(queued.take(&which), Some(Replied::Chosen("right".into())));
        assert_eq!(queued.take(&which), Some(Replied::Chosen("right".into())), "it was not used up");
        assert_eq!(queued.take(&fixed), Some(Replied::Chosen("left".into())));
        assert_eq!(queued.take(&fixed), None, "no answer that is left is one of its options");
        assert_eq!(queued.take(&name), Some(Replied::Wrote("Nika".into())));
        assert_eq!(queued.take(&name), Some(Replied::Wrote("anything".into())));
        assert_eq!(queued.take(&name), None);
    }

    #[test]
    fn an_answer_may_be_for_a_question_by_its_name() {
        let ready = [r#"{"question_id": "port", "answer": "9090"}"#, "anything"];
        let ready = ready.iter().map(|text| text.parse().expect("an answer")).collect();
        let queued = Queued::new(ready, Arc::new(Nobody));
        let named = |name: Option<&str>| Inquiry { name: name.map(str::to_owned), ..inquiry(&[], true) };
        assert_eq!(queued.take(&named(Some("host"))), Some(Replied::Wrote("anything".into())));
        assert_eq!(queued.take(&named(None)), None, "the one that is left is for another");
        assert_eq!(queued.take(&named(Some("port"))), Some(Replied::Wrote("9090".into())));
    }

    #[test]
    fn an_answer_is_a_text_or_an_object() {
        assert_eq!("8080".parse::<Ready>().expect("a text").answer, "8080");
        for bad in [r#"{"answer": 1}"#, r#"{"answer": "x", "match": "regex"}"#, r#"{"answers": "x"}"#, "{"] {
            assert!(bad.parse::<Ready>().is_err(), "{bad}");
        }
    }
}
