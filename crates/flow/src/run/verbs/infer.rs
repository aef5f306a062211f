//! `infer`: a prompt to a model. Where an answer has to fit a schema it is held against it, and asked for again with
//! what is wrong, twice at most.

use nika_agent::provider::{Answered, Asking, Message, Part, Provider, Role, Usage};
use nika_contract::{Cancel, ToolError, code, event};
use nika_guard::Budget;
use serde_json::{Map, Value, json};

use super::Hands;
use crate::model::Answer;
use crate::run::action::Action;
use crate::run::events::Spent;
use crate::run::world::{Made, Order};

/// How often an answer that does not fit is asked for again.
const REPAIRS: u32 = 2;

pub(super) async fn infer(hands: &Hands, order: &Order) -> Result<Made, ToolError> {
    let Action::Infer { prompt, system, model, answer } = &order.action else { unreachable!("the caller looked") };
    let model = hands.library.model(model)?;
    let wanted = schema(hands, answer)?;
    let hide = |text: &str| hands.secrets.hide(text).into_owned();
    let mut said = vec![system.as_deref().map(hide).unwrap_or_default()];
    said.extend(asked(answer, wanted.as_ref()));
    said.retain(|piece| !piece.is_empty());
    let system = said.join("\n\n");
    let mut messages = vec![Message { role: Role::User, parts: vec![Part::Text(hide(prompt))] }];
    let mut spent = Spent::default();
    for repair in 0..=REPAIRS {
        let (answered, took) = ask(hands, order, &*model, &system, &messages).await?;
        spent = spent.plus(took);
        let text: String = answered
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let why = match read(hands, answer, wanted.as_ref(), &text) {
            Ok(output) => return Ok(Made { output, spent, call: None }),
            Err(why) if repair == REPAIRS => return Err(why),
            Err(why) => why,
        };
        messages.push(Message { role: Role::Assistant, parts: answered.parts });
        let again = format!("That cannot be used: {}\nAnswer again, with the JSON alone.", why.message);
        messages.push(Message { role: Role::User, parts: vec![Part::Text(again)] });
    }
    unreachable!("the last round returns")
}

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
fn asked(answer: &Answer, schema: Option<&Value>) -> Option<String> {
    match (answer, schema) {
        (Answer::Text, _) => None,
        (_, None) => Some("Answer with one JSON value and nothing else.".to_owned()),
        (_, Some(schema)) => {
            Some(format!("Answer with one JSON value that fits this JSON schema, and nothing else:\n{schema}"))
        }
    }
}

/// The output that an answer is.
fn read(hands: &Hands, answer: &Answer, schema: Option<&Value>, text: &str) -> Result<Value, ToolError> {
    if *answer == Answer::Text {
        return Ok(Value::String(text.trim_end().to_owned()));
    }
    let value: Value = serde_json::from_str(bare(text)).map_err(|error| {
        let shown = nika_contract::text::preview(text, 120);
        ToolError::new(code::OUTPUT_UNFIT, format!("the answer is no JSON: {error}; it begins `{shown}`"))
    })?;
    if let Some(schema) = schema {
        hands.library.fits(schema, &value)?;
    }
    Ok(value)
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

async fn ask(
    hands: &Hands,
    order: &Order,
    model: &dyn Provider,
    system: &str,
    messages: &[Message],
) -> Result<(Answered, Spent), ToolError> {
    hands.session.spend(Budget::ModelCalls, 1)?;
    let note = |event: &str, more: Value| {
        let mut fields = Map::new();
        fields.insert("provider".into(), model.name().into());
        fields.insert("model".into(), model.model().id.as_str().into());
        fields.extend(more.as_object().cloned().unwrap_or_default());
        let fault = |fault: nika_contract::Fault| ToolError::new(fault.code, fault.message);
        hands.runtime.note(&hands.session, event, &fields).map_err(fault)
    };
    note(event::PROVIDER_CALLED, json!({"purpose": "turn", "about_tokens": system.len() / 4}))?;
    let asking = Asking { system, tools: &[], messages, cache_key: &order.origin, must_call: None };
    let mut sink = |_: nika_agent::provider::Piece<'_>| {};
    let answered = tokio::select! {
        answered = model.answer(&asking, &mut sink) => answered,
        () = cancelled(&order.cancel) => return Err(ToolError::cancelled()),
    };
    let answered = match answered {
        Ok(answered) => answered,
        Err(error) => {
            let message = nika_contract::text::preview(&error.message, 240);
            note(event::PROVIDER_FAILED, json!({"kind": format!("{:?}", error.kind), "message": message}))?;
            return Err(ToolError::new(error.kind.code(), nika_contract::text::harmless(&error.message).into_owned()));
        }
    };
    let spent = spent(model, &answered.usage);
    let usage = answered.usage;
    note(
        event::PROVIDER_RESPONDED,
        json!({"input": usage.input, "cache_read": usage.cache_read, "cache_write": usage.cache_write,
            "output": usage.output, "reasoning": usage.reasoning, "cost_micros": spent.cost_micros,
            "took_ms": answered.took_ms}),
    )?;
    let budgets = [
        (Budget::InputTokens, usage.read()),
        (Budget::OutputTokens, usage.output),
        (Budget::TotalCost, spent.cost_micros.unwrap_or(0)),
    ];
    let over: Vec<_> = budgets.into_iter().map(|(budget, amount)| hands.session.spend(budget, amount)).collect();
    over.into_iter().collect::<Result<(), _>>()?;
    Ok((answered, spent))
}

/// What an answer took.
pub(super) fn spent(model: &dyn Provider, usage: &Usage) -> Spent {
    let cost_micros = model.model().prices.map(|prices| usage.cost_micros(&prices));
    Spent { tokens: usage.read() + usage.output, cost_micros }
}

/// Returns once nobody wants it any more: a flag has no way to wake anybody.
async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
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
