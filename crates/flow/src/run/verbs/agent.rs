//! `agent`: a task for an agent, whose session is the run's child: it may do what the run may, and no more.

use std::sync::Arc;

use nika_agent::{Agent, Bounds, Conversation, Unwatched, Why};
use nika_contract::{ToolError, code};
use nika_guard::{Budget, Budgets, Layer, Limit, Mode, Stance};
use serde_json::Value;

use super::{Hands, infer};
use crate::model::Answer;
use crate::run::action::Action;
use crate::run::events::Spent;
use crate::run::world::{Made, Order};

/// Stands nowhere in the way: joined with any other it is the other.
const OPEN: Stance = Stance { mode: Mode::AcceptAll, unsafe_commands: true, ask_writes: false };

pub(super) async fn agent(hands: &Hands, order: &Order) -> Result<Made, ToolError> {
    let Action::Agent { prompt, system, model, tools, max_turns, tokens, answer } = &order.action else {
        unreachable!("the caller looked")
    };
    let model = hands.library.model(model)?;
    let name = hands.name_for(&order.origin);
    let mut budgets = Budgets::default();
    if let Some(amount) = tokens {
        let at = format!("`token_budget` of {}", order.unit);
        budgets.set(Budget::TotalTokens, Limit { amount: *amount, layer: Layer::Session, at });
    }
    let session = Arc::new(hands.session.child(&name, OPEN, Vec::new()).bounded(budgets));
    let mut briefing = hands.library.briefing();
    if let Some(system) = system {
        briefing.instructions = format!("{}\n\n{}", hands.secrets.hide(system), briefing.instructions);
    }
    let named: Vec<String> = match tools {
        Some(tools) => tools.clone(),
        None => hands.permits.tools().map(str::to_owned).collect(),
    };
    briefing.allowed = Some(named);
    briefing.wanted = wanted(hands, answer)?;
    let mut agent = Agent {
        runtime: Arc::clone(&hands.runtime),
        session,
        model: Arc::clone(&model),
        asker: Arc::clone(&hands.asker),
        watch: Arc::new(Unwatched),
        clock: Arc::clone(&hands.clock),
        cancel: order.cancel.clone(),
        bounds: Bounds { max_turns: Some(*max_turns), ..hands.bounds },
        briefing,
        notes: hands.notes.clone(),
        news: hands.news.clone(),
        talk: Conversation::open(&hands.state, &name)?,
    };
    let ended =
        agent.run(&hands.secrets.hide(prompt)).await.map_err(|fault| ToolError::new(fault.code, fault.message))?;
    if ended.why == Why::Cancelled {
        return Err(ToolError::cancelled());
    }
    if let Some(error) = ended.why.error() {
        return Err(error);
    }
    let tokens = ended.usage.read() + ended.usage.output;
    let spent = Spent { tokens, cost_micros: ended.cost_micros };
    let output = match (answer, ended.structured) {
        (Answer::Text, _) => Value::String(ended.answer),
        (Answer::Fitting(_), Some(object)) => object,
        (Answer::Json, _) => serde_json::from_str(ended.answer.trim()).map_err(|error| {
            ToolError::new(code::OUTPUT_UNFIT, format!("the agent's answer is no JSON: {error}"))
                .hint("give `output.schema` the shape that is wanted")
        })?,
        (Answer::Fitting(_), None) => return Err(ToolError::new(code::NO_OBJECT, "the agent gave no object")),
    };
    Ok(Made { output, spent, call: None })
}

/// The schema of the object that is wanted; agents answer with objects alone.
fn wanted(hands: &Hands, answer: &Answer) -> Result<Option<Value>, ToolError> {
    infer::schema(hands, answer)
}
