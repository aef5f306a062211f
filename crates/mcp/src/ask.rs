//! Questions to the client's user: by elicitation where the server may send requests, by the
//! multi-round-trip form where it may not, by nobody where the client cannot show a form.

use std::sync::Arc;

use nika_contract::{Asked, Asker, BoxFuture, Inquiry, Nobody, Offer, Question, Replied, text};
use nika_guard::Answer;
use serde_json::{Value, json};

use crate::link::Link;
use crate::port::Object;
use crate::revision::Revision;

/// The key of our one question among the input requests of a result.
pub(crate) const KEY: &str = "permission";

/// Characters of preview in a question: a screen or two.
const MAX_PREVIEW_CHARS: usize = 4_000;

/// Who answered, for the journal. The client does not say more about its user.
const WHO: &str = "the client's user";
/// Of a result that says neither yes nor no.
const NO_ACTION: &str = "the client's answer says none of accept, decline and cancel";

/// The asker for a request. `earlier` are the questions that earlier rounds asked, by id, with their answers.
pub(crate) fn asker(link: &Arc<dyn Link>, earlier: Vec<(String, Value)>) -> Arc<dyn Asker> {
    if !shows_forms(link.capabilities()) {
        Arc::new(Nobody)
    } else if link.revision().is_stateless() {
        Arc::new(NextRound { earlier })
    } else {
        Arc::new(Elicitation { link: Arc::clone(link) })
    }
}

/// Whether the client declared that it shows forms. An empty declaration means forms.
pub(crate) fn shows_forms(capabilities: &Object) -> bool {
    match capabilities.get("elicitation") {
        Some(Value::Object(kinds)) => kinds.is_empty() || kinds.contains_key("form"),
        _ => false,
    }
}

/// The parameters of `elicitation/create`.
pub(crate) fn form(question: &Question, revision: Revision) -> Object {
    let mut message = question.text.clone();
    if let Some(preview) = &question.preview {
        let cut = text::head_and_tail(preview, MAX_PREVIEW_CHARS);
        message.push_str("\n\n");
        message.push_str(cut.as_deref().unwrap_or(preview));
    }
    let mut options = vec![("yes".to_owned(), "Yes, this once".to_owned())];
    for (n, choice) in question.choices.iter().enumerate() {
        let beyond = if choice.beyond.is_empty() { String::new() } else { format!(": {}", choice.beyond) };
        options
            .push((format!("always {}", n + 1), format!("Yes, and allow `{}` for this session{beyond}", choice.rule)));
    }
    options.push(("no".to_owned(), "No".to_owned()));
    let answer = one_of(options, revision);
    let schema = json!({
        "type": "object",
        "properties": {
            "answer": answer,
            "reason": { "type": "string", "title": "Reason", "description": "With a no: what to do instead." },
        },
        "required": ["answer"],
    });
    Object::from_iter([("message".to_owned(), message.into()), ("requestedSchema".to_owned(), schema)])
}

/// A field with one value of a few, as the revision writes it.
fn one_of(options: Vec<(String, String)>, revision: Revision) -> Value {
    if revision >= Revision::V2025_11_25 {
        let titled: Vec<Value> =
            options.iter().map(|(value, title)| json!({ "const": value, "title": title })).collect();
        json!({ "type": "string", "title": "Answer", "oneOf": titled })
    } else {
        let (values, titles): (Vec<_>, Vec<_>) = options.into_iter().unzip();
        json!({ "type": "string", "title": "Answer", "enum": values, "enumNames": titles })
    }
}

/// The parameters of `elicitation/create` for a tool's own question: a choice, a text, or either.
pub(crate) fn inquiry_form(inquiry: &Inquiry, revision: Revision) -> Object {
    let mut message = inquiry.header.as_ref().map(|header| format!("{header}\n\n")).unwrap_or_default();
    message.push_str(&inquiry.text);
    let mut properties = Object::new();
    if !inquiry.options.is_empty() {
        let titled = |offer: &Offer| match &offer.description {
            Some(description) => format!("{} — {description}", offer.label),
            None => offer.label.clone(),
        };
        let options = inquiry.options.iter().map(|offer| (offer.label.clone(), titled(offer))).collect();
        properties.insert("choice".to_owned(), one_of(options, revision));
    }
    if inquiry.free_text {
        let title = if inquiry.options.is_empty() { "Answer" } else { "Or in your own words" };
        properties.insert("text".to_owned(), json!({ "type": "string", "title": title }));
    }
    // Either of two fields cannot be said in a form's schema; `read_reply` takes whichever came.
    let required: Vec<&String> = if properties.len() == 1 { properties.keys().collect() } else { Vec::new() };
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Object::from_iter([("message".to_owned(), message.into()), ("requestedSchema".to_owned(), schema)])
}

/// What an elicitation result answers to a tool's own question.
pub(crate) fn read_reply(inquiry: &Inquiry, result: &Value) -> Replied {
    match result["action"].as_str() {
        Some("accept") => {}
        Some("cancel") => return Replied::Declined { why: Some("dismissed without an answer".to_owned()) },
        Some("decline") => return Replied::Declined { why: None },
        _ => return Replied::Declined { why: Some(NO_ACTION.to_owned()) },
    }
    let said = |key: &str| result["content"][key].as_str().map(str::trim).filter(|text| !text.is_empty());
    let chosen = said("choice").filter(|label| inquiry.options.iter().any(|offer| offer.label == *label));
    match (said("text").filter(|_| inquiry.free_text), chosen) {
        (Some(text), _) => Replied::Wrote(text.to_owned()),
        (None, Some(label)) => Replied::Chosen(label.to_owned()),
        (None, None) => Replied::Declined { why: Some("the answer is none of the question's".to_owned()) },
    }
}

/// What an elicitation result says. Anything that is not clearly a yes is a no.
pub(crate) fn read(question: &Question, result: &Value) -> Asked {
    let no = |why: Option<&str>| Asked::Answered(Answer::No { who: WHO.to_owned(), why: why.map(str::to_owned) });
    let yes = || Answer::Yes { who: WHO.to_owned() };
    match result["action"].as_str() {
        Some("accept") => {}
        Some("cancel") => return no(Some("dismissed without an answer")),
        Some("decline") => return no(None),
        _ => return no(Some(NO_ACTION)),
    }
    let content = &result["content"];
    match content["answer"].as_str() {
        Some("yes") => Asked::Answered(yes()),
        Some(answer) if answer.starts_with("always ") => {
            let number: Option<usize> = answer["always ".len()..].parse().ok();
            match number.and_then(|n| question.choices.get(n.checked_sub(1)?)) {
                Some(choice) => Asked::Always(yes(), choice.rule.clone()),
                None => no(Some("the answer names no choice of the question")),
            }
        }
        Some("no") => no(content["reason"].as_str().filter(|reason| !reason.trim().is_empty())),
        _ => no(Some("the answer is none of the question's")),
    }
}

/// Asks at once, over the connection.
struct Elicitation {
    link: Arc<dyn Link>,
}

impl Asker for Elicitation {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async move {
            let params = form(question, self.link.revision());
            tokio::select! {
                result = self.link.ask("elicitation/create", params) => match result {
                    Ok(result) => read(question, &result),
                    // It declared forms and then showed none: there is nobody after all.
                    Err(_) => Asked::Nobody,
                },
                () = self.link.cancelled() => {
                    Asked::Answered(Answer::No { who: WHO.to_owned(), why: Some("the call was cancelled".to_owned()) })
                }
            }
        })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        Box::pin(async move {
            let params = inquiry_form(inquiry, self.link.revision());
            tokio::select! {
                result = self.link.ask("elicitation/create", params) => match result {
                    Ok(result) => read_reply(inquiry, &result),
                    Err(_) => Replied::Nobody,
                },
                () = self.link.cancelled() => Replied::Declined { why: Some("the call was cancelled".to_owned()) },
            }
        })
    }
}

/// Has the answer from an earlier round, or asks for one.
struct NextRound {
    earlier: Vec<(String, Value)>,
}

impl NextRound {
    /// The answer to this very question. One to another is none: what was shown is no longer what would happen.
    fn answer(&self, id: &str) -> Option<&Value> {
        self.earlier.iter().find(|(asked, _)| asked == id).map(|(_, result)| result)
    }
}

impl Asker for NextRound {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Asked> {
        let asked = self.answer(&question.id).map_or(Asked::Later, |result| read(question, result));
        Box::pin(async { asked })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        let replied = self.answer(&inquiry.id).map_or(Replied::Later, |result| read_reply(inquiry, result));
        Box::pin(async { replied })
    }

    fn answers_to_others(&self, id: &str) -> usize {
        if self.answer(id).is_some() {
            return 0;
        }
        self.earlier.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::Choice;

    fn question() -> Question {
        Question {
            id: "q1".into(),
            tool: "edit".into(),
            text: "write(a.rs) — write inside (mode ask)".into(),
            preview: Some("-a\n+b".into()),
            choices: vec![Choice { rule: "write(a.rs)".into(), beyond: String::new() }],
        }
    }

    #[test]
    fn only_a_clear_yes_is_one() {
        let yes = || Answer::Yes { who: WHO.into() };
        let no = |why: Option<&str>| Asked::Answered(Answer::No { who: WHO.into(), why: why.map(Into::into) });
        for (result, want) in [
            (json!({"action": "accept", "content": {"answer": "yes"}}), Asked::Answered(yes())),
            (
                json!({"action": "accept", "content": {"answer": "always 1"}}),
                Asked::Always(yes(), "write(a.rs)".into()),
            ),
            (json!({"action": "accept", "content": {"answer": "no", "reason": "later"}}), no(Some("later"))),
            (json!({"action": "decline"}), no(None)),
            (json!({"action": "cancel"}), no(Some("dismissed without an answer"))),
            (json!({"action": "accept"}), no(Some("the answer is none of the question's"))),
            (
                json!({"action": "accept", "content": {"answer": "always 2"}}),
                no(Some("the answer names no choice of the question")),
            ),
            (json!(12), no(Some(NO_ACTION))),
            (json!(null), no(Some(NO_ACTION))),
        ] {
            assert_eq!(read(&question(), &result), want, "{result}");
        }
    }

    #[test]
    fn a_tools_question_is_answered_by_a_choice_or_by_words() {
        let offer = |label: &str| Offer { label: label.into(), description: None };
        let inquiry = Inquiry {
            id: "q".into(),
            tool: "ask_user_question".into(),
            name: None,
            header: None,
            text: "Which one?".into(),
            options: vec![offer("left"), offer("right")],
            free_text: true,
        };
        let fixed = Inquiry { free_text: false, ..inquiry.clone() };
        let accept = |content: Value| json!({"action": "accept", "content": content});
        let none = || Replied::Declined { why: Some("the answer is none of the question's".into()) };
        for (inquiry, result, want) in [
            (&inquiry, accept(json!({"choice": "left"})), Replied::Chosen("left".into())),
            (&inquiry, accept(json!({"choice": "left", "text": " both "})), Replied::Wrote("both".into())),
            (&inquiry, accept(json!({"choice": "middle"})), none()),
            (&inquiry, accept(json!({})), none()),
            (&fixed, accept(json!({"text": "both"})), none()),
            (&fixed, json!({"action": "decline"}), Replied::Declined { why: None }),
            (&fixed, json!(3), Replied::Declined { why: Some(NO_ACTION.into()) }),
        ] {
            assert_eq!(read_reply(inquiry, &result), want, "{result}");
        }
        let form = inquiry_form(&fixed, Revision::V2025_11_25);
        assert_eq!(form["requestedSchema"]["required"], json!(["choice"]));
        assert_eq!(form["requestedSchema"]["properties"]["choice"]["oneOf"][1]["const"], "right");
        assert!(form["requestedSchema"]["properties"].get("text").is_none());
    }

    #[test]
    fn forms_are_shown_only_where_declared() {
        for (capabilities, want) in [
            (json!({}), false),
            (json!({"elicitation": {}}), true),
            (json!({"elicitation": {"form": {}}}), true),
            (json!({"elicitation": {"url": {}}}), false),
            (json!({"elicitation": true}), false),
        ] {
            assert_eq!(shows_forms(capabilities.as_object().expect("object")), want, "{capabilities}");
        }
    }

    #[test]
    fn each_revision_gets_its_form() {
        let old = form(&question(), Revision::V2025_06_18);
        assert_eq!(old["requestedSchema"]["properties"]["answer"]["enum"], json!(["yes", "always 1", "no"]));
        let new = form(&question(), Revision::V2026_07_28);
        assert_eq!(new["requestedSchema"]["properties"]["answer"]["oneOf"][2]["const"], "no");
        assert!(new["message"].as_str().is_some_and(|text| text.ends_with("-a\n+b")));
    }
}
