//! `ask_user_question`: what only the person knows.

use nika_contract::{Cx, Example, Group, Inquiry, Offer, Output, Replied, Scene, Spec, Tool, ToolError};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::lenient;

/// Asks the person what only they can answer, and waits. Never for permission: a call that needs it asks by
/// itself. Where nobody is there the answer says so.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The question, with what they need to know to answer it.
    pub question: String,
    /// Answers to choose from, at most 20.
    pub options: Option<Vec<Choice>>,
    /// A few words above the question.
    pub header: Option<String>,
    /// What to call it: an answer that was given beforehand may be for it by this name.
    pub question_id: Option<String>,
    /// Whether an answer in their own words will do. Default true.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub allow_free_text: Option<bool>,
}

/// An answer to choose from, as a text or with its meaning.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(description = "")]
pub enum Choice {
    /// The answer itself.
    Label(String),
    /// The answer and what it means.
    Described {
        /// The answer itself.
        label: String,
        /// What it means.
        description: Option<String>,
    },
}

/// The tool.
#[derive(Debug)]
pub struct AskUserQuestion;

/// The most options: a person reads the whole menu.
const MOST_OPTIONS: usize = 20;

impl Tool for AskUserQuestion {
    type Params = Params;
    const SPEC: Spec = Spec::new("ask_user_question", "Ask the person", Group::Talk)
        .read_only()
        .terms(&[
            "ask",
            "question",
            "clarify",
            "choose",
            "user",
            "human",
            "decision",
            "preference",
            "input",
            "pick",
            "someone",
            "variants",
            "operator",
            "prefer",
            "what the user wants",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        inquiry(params)?;
        Ok(Effects::one(Effect::Ask))
    }

    fn inquires(&self, params: &Params, _: &Scene<'_>) -> Result<Option<Inquiry>, ToolError> {
        inquiry(params).map(Some)
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let output = Output::text(answer(cx.reply));
        Ok(params.question_id.into_iter().fold(output, |output, name| output.with_fact("question", name)))
    }
}

fn inquiry(params: &Params) -> Result<Inquiry, ToolError> {
    if params.question.trim().is_empty() {
        return Err(ToolError::argument("question", "is empty"));
    }
    let offer = |choice: &Choice| match choice {
        Choice::Label(label) => Offer { label: label.trim().to_owned(), description: None },
        Choice::Described { label, description } => {
            let description = description.clone().filter(|text| !text.trim().is_empty());
            Offer { label: label.trim().to_owned(), description }
        }
    };
    let options: Vec<Offer> = params.options.iter().flatten().map(offer).collect();
    let free_text = params.allow_free_text.unwrap_or(true);
    if options.len() > MOST_OPTIONS {
        let why = format!("takes at most {MOST_OPTIONS}, not {}", options.len());
        return Err(ToolError::argument("options", why));
    }
    if options.is_empty() && !free_text {
        return Err(ToolError::argument(
            "allow_free_text",
            "false leaves nothing to answer where there are no options",
        ));
    }
    for (number, offer) in options.iter().enumerate() {
        if offer.label.is_empty() {
            return Err(ToolError::argument(&format!("options[{number}]"), "has no text"));
        }
        if options[..number].iter().any(|other| other.label == offer.label) {
            return Err(ToolError::argument(&format!("options[{number}]"), "is there twice"));
        }
    }
    let header = params.header.clone().filter(|text| !text.trim().is_empty());
    let name = params.question_id.clone().filter(|name| !name.trim().is_empty());
    let text = params.question.clone();
    Ok(Inquiry { id: String::new(), tool: String::new(), name, header, text, options, free_text })
}

fn answer(reply: Option<&Replied>) -> String {
    match reply {
        Some(Replied::Chosen(label)) => format!("The person chose: {label}"),
        Some(Replied::Wrote(words)) => format!("The person wrote: {words}"),
        Some(Replied::Declined { why: Some(why) }) => format!("The person did not answer: {why}"),
        Some(Replied::Declined { why: None }) => {
            "The person would not answer. Go on without, or say what you need.".to_owned()
        }
        // `Later` ends a call before it runs.
        Some(Replied::Nobody | Replied::Later) | None => {
            "Nobody can be asked here, so this was not answered. Decide by \
             what you know and say what you assumed, or end with the question as your answer."
                .to_owned()
        }
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "A choice, where nobody is there",
        files: &[],
        before: &[],
        arguments: r#"{"question": "Which port should the server take?", "options": ["8080", {"label": "any", "description": "a free one"}]}"#,
        answer: "Nobody can be asked here",
    },
    Example {
        title: "An answer in words",
        files: &[],
        before: &[],
        arguments: r#"{"header": "Release", "question": "What should the release notes say?"}"#,
        answer: "not answered",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_cannot_be_answered_is_not_asked() {
        for (arguments, field) in [
            (json!({"question": " "}), "`question`"),
            (json!({"question": "q", "allow_free_text": false}), "`allow_free_text`"),
            (json!({"question": "q", "options": ["a", "a"]}), "`options[1]`"),
            (json!({"question": "q", "options": ["a", {"label": ""}]}), "`options[1]`"),
            (json!({"question": "q", "options": vec!["x"; 21]}), "`options`"),
        ] {
            let params: Params = serde_json::from_value(arguments.clone()).expect("it parses");
            let error = inquiry(&params).expect_err("it is refused");
            assert!(error.message.starts_with(field), "{arguments}: {error}");
        }
    }

    #[test]
    fn options_come_as_texts_or_with_their_meaning() {
        let arguments = json!({"question": "q", "options": ["a", {"label": " b ", "description": "the second"}]});
        let inquiry = inquiry(&serde_json::from_value(arguments).expect("it parses")).expect("it can be asked");
        assert_eq!(inquiry.options[0], Offer { label: "a".into(), description: None });
        assert_eq!(inquiry.options[1], Offer { label: "b".into(), description: Some("the second".into()) });
        assert!(inquiry.free_text);
    }
}
