//! `infer`: a prompt to a model. Where an answer has to fit a schema it is held against it, and asked for again with
//! what is wrong, twice at most.

use nika_agent::provider::{Answered, Asking, Message, Part, Role};
use nika_agent::{Answer as Came, Caller, Purpose, Tally, Unwatched};
use nika_contract::ToolError;

use super::Hands;
use super::form::{self, REPAIRS};
use crate::run::action::Action;
use crate::run::events::Spent;
use crate::run::world::{Made, Order, Unmade};

pub(super) async fn infer(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let mut tally = Tally::default();
    let answered = ask(hands, order, &mut tally).await;
    let took = tally.total();
    let spent = Spent { tokens: took.usage.read() + took.usage.output, cost_micros: took.cost_micros };
    match answered {
        Ok(output) => Ok(Made { output, spent, call: None }),
        Err(error) => Err(Unmade::after(spent, error)),
    }
}

async fn ask(hands: &Hands, order: &Order, tally: &mut Tally) -> Result<serde_json::Value, ToolError> {
    let Action::Infer { prompt, system, model, answer } = &order.action else { unreachable!("the caller looked") };
    let model = hands.library.model(model)?;
    let wanted = form::schema(hands, answer)?;
    let hide = |text: &str| hands.secrets.hide(text).into_owned();
    let mut said = vec![system.as_deref().map(hide).unwrap_or_default()];
    said.extend(form::asked(answer, wanted.as_ref()));
    said.retain(|piece| !piece.is_empty());
    let system = said.join("\n\n");
    let mut messages = vec![Message { role: Role::User, parts: vec![Part::Text(hide(prompt))] }];
    let caller = Caller {
        runtime: &hands.runtime,
        session: &hands.session,
        model: &*model,
        watch: &Unwatched,
        cancel: &order.cancel,
    };
    let mut repairs = 0;
    loop {
        let asking =
            Asking { system: &system, tools: &[], messages: &messages, cache_key: &order.origin, must_call: None };
        let answered = whole(caller.ask(tally, &asking, Purpose::Turn).await)?;
        if let Some(over) = tally.over.take() {
            return Err(over);
        }
        let why = match form::read(hands, answer, wanted.as_ref(), &text(&answered)) {
            Ok(output) => return Ok(output),
            Err(why) if repairs == REPAIRS => return Err(why),
            Err(why) => why,
        };
        repairs += 1;
        messages.push(Message { role: Role::Assistant, parts: answered.parts });
        messages.push(Message { role: Role::User, parts: vec![Part::Text(form::again(&why))] });
    }
}

/// The answer, or the error that there is in its place.
fn whole(came: Result<Came, nika_contract::Fault>) -> Result<Answered, ToolError> {
    match came {
        Ok(Came::Whole(answered)) => Ok(answered),
        Ok(Came::Failed(error)) => Err(ToolError::new(error.kind.code(), error.message)),
        Ok(Came::Cancelled) => Err(ToolError::cancelled()),
        Ok(Came::Spent(error)) => Err(error),
        Err(fault) => Err(ToolError::new(fault.code, fault.message)),
    }
}

/// What an answer says, without what its model thought.
fn text(answered: &Answered) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    answered.parts.iter().filter_map(text).collect()
}
