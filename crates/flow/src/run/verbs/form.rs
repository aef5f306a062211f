//! The form that a model's answer is to have: how it is asked for, read, and asked for again. For `infer` and `agent`
//! alike.

use nika_contract::{ToolError, code, text};
use serde_json::Value;

use super::Hands;
use crate::model::Answer;

/// How often an answer that does not fit is asked for again.
pub(super) const REPAIRS: u32 = 2;

/// The schema that an answer has to fit, from the document or from a file that it names.
pub(super) fn schema(hands: &Hands, answer: &Answer) -> Result<Option<Value>, ToolError> {
    match answer {
        Answer::Text | Answer::Json => Ok(None),
        Answer::Fitting(schema) => match &schema.value {
            Value::String(path) => hands.library.schema(path).map(Some),
            schema => Ok(Some(schema.clone())),
        },
    }
}

/// What a model is told of the form of its answer.
pub(super) fn asked(answer: &Answer, schema: Option<&Value>) -> Option<String> {
    match (answer, schema) {
        (Answer::Text, _) => None,
        (_, None) => Some("Answer with one JSON value and nothing else.".to_owned()),
        (_, Some(schema)) => {
            Some(format!("Answer with one JSON value that fits this JSON schema, and nothing else:\n{schema}"))
        }
    }
}

/// The output that an answer is.
pub(super) fn read(hands: &Hands, answer: &Answer, schema: Option<&Value>, said: &str) -> Result<Value, ToolError> {
    if *answer == Answer::Text {
        return Ok(Value::String(said.trim_end().to_owned()));
    }
    let value: Value = serde_json::from_str(bare(said)).map_err(|error| {
        let shown = text::preview(said, 120);
        ToolError::new(code::OUTPUT_UNFIT, format!("the answer is no JSON: {error}; it begins `{shown}`"))
    })?;
    if let Some(schema) = schema {
        hands.library.fits(schema, &value)?;
    }
    Ok(value)
}

/// What a model is told when its answer cannot be used.
pub(super) fn again(why: &ToolError) -> String {
    format!("That cannot be used: {}\nAnswer again, with the JSON alone.", why.message)
}

/// JSON without the fence and the words that models like to put around it.
fn bare(text: &str) -> &str {
    let text = text.trim();
    let fenced = text.split_once("```").and_then(|(_, rest)| {
        let rest = rest.strip_prefix("json").unwrap_or(rest);
        rest.split_once("```").map(|(inside, _)| inside.trim())
    });
    fenced.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_in_its_fence() {
        for text in
            ["{\"a\": 1}", "  {\"a\": 1}\n", "```json\n{\"a\": 1}\n```", "Here you are:\n```\n{\"a\": 1}\n```\n"]
        {
            assert_eq!(bare(text), "{\"a\": 1}", "{text:?}");
        }
    }
}
