//! `agent`: a task for an agent, whose session is the run's child: it may do what the run may, and no more.
//!
//! The tools that it is given are names of documents (patterns, whole servers, what other programs call a tool). They
//! are held against the tools that there are, so that the agent is told of each by its own name.

use std::sync::Arc;

use nika_agent::{Agent, Bounds, Conversation, Ended, Unwatched, Why};
use nika_contract::{ToolError, code};
use nika_guard::{Budget, Budgets, Layer, Limit, Mode, PermitKind, PermitLine, Permits, Stance};
use serde_json::Value;

use super::Hands;
use super::form::{self, REPAIRS};
use crate::model::Answer;
use crate::run::action::Action;
use crate::run::events::Spent;
use crate::run::meter::OfAgent;
use crate::run::world::{Made, Order, Unmade};

/// Stands nowhere in the way: joined with any other it is the other.
const OPEN: Stance = Stance { mode: Mode::AcceptAll, unsafe_commands: true, ask_writes: false };

/// A tool that verbs stand on. It is in the pool of runs, and no agent's.
const OF_VERBS: &str = "exec";

pub(super) async fn agent(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let Action::Agent { prompt, answer, .. } = &order.action else { unreachable!("the caller looked") };
    let mut agent = made(hands, order).await?;
    let mut spent = Spent::default();
    let mut task = hands.secrets.hide(prompt).into_owned();
    let mut repairs = 0;
    loop {
        agent.watch = Arc::new(OfAgent { meter: order.meter.clone(), before: spent });
        let ended = match agent.run(&task).await {
            Ok(ended) => ended,
            Err(fault) => return Err(Unmade::after(spent, ToolError::new(fault.code, fault.message))),
        };
        let tokens = ended.usage.read() + ended.usage.output;
        spent = spent.plus(Spent { tokens, cost_micros: ended.cost_micros });
        if ended.why == Why::Cancelled {
            return Err(Unmade::stopped(spent, ended.answer));
        }
        match output(hands, answer, ended) {
            Ok(output) => return Ok(Made { output, spent, call: None }),
            Err(why) if why.code == code::OUTPUT_UNFIT && repairs < REPAIRS => task = form::again(&why),
            Err(why) => return Err(Unmade::after(spent, why)),
        }
        repairs += 1;
    }
}

/// The agent, before its task.
async fn made(hands: &Hands, order: &Order) -> Result<Agent, ToolError> {
    let Action::Agent { system, model, tools, max_turns, tokens, answer, .. } = &order.action else {
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
    briefing.allowed = Some(offered(hands, order, tools.as_deref()).await?);
    // Agents answer with objects alone where there is a schema; what else is JSON they say in words.
    briefing.wanted = form::schema(hands, answer)?;
    if let (None, Some(asked)) = (&briefing.wanted, form::asked(answer, None)) {
        briefing.instructions = format!("{}\n\n{asked}", briefing.instructions);
    }
    Ok(Agent {
        runtime: Arc::clone(&hands.runtime),
        session,
        model,
        asker: Arc::clone(&hands.asker),
        watch: Arc::new(Unwatched),
        clock: Arc::clone(&hands.clock),
        cancel: order.cancel.clone(),
        bounds: Bounds { max_turns: Some(*max_turns), ..hands.bounds },
        briefing,
        notes: hands.notes.clone(),
        news: hands.news.clone(),
        talk: Conversation::open(&hands.state, &name)?,
    })
}

/// The tools that the task names, else those that the permits name: each by its own name. The servers among them are
/// asked for their tools first. What the permits do not hold for, the session leaves out.
async fn offered(hands: &Hands, order: &Order, named: Option<&[String]>) -> Result<Vec<String>, ToolError> {
    let own;
    let stated = match named {
        None => &*hands.permits,
        Some(named) => {
            let at = format!("`tools` of {}", order.unit);
            let line = |text: &String| PermitLine { kind: PermitKind::Tool, text: text.clone(), at: at.clone() };
            let lines: Vec<PermitLine> = named.iter().map(line).collect();
            own = Permits::parse(&at, &lines, None)
                .map_err(|error| ToolError::new(code::FLOW_RULE, error.to_string()))?;
            &own
        }
    };
    for server in servers(stated.tools()) {
        hands.runtime.seek(&format!("mcp__{server}__")).await.map(drop).or_else(|error| match error.code {
            // Asked it was, and of course has no tool without a name.
            code::UNKNOWN_TOOL => Ok(()),
            _ => Err(error),
        })?;
    }
    let there = hands.runtime.tools();
    let names = || there.all().map(|tool| tool.spec().name);
    // An agent that lacks what it was given works on without it, and nobody learns why it failed.
    let missing = servers(stated.tools()).into_iter().find(|server| {
        let own = format!("mcp__{server}__");
        !names().any(|name| name.starts_with(&own))
    });
    if let Some(server) = missing {
        let message = format!("{} is given tools of the MCP server '{server}', which has none here", order.unit);
        return Err(ToolError::new(code::NO_SUCH_FOREIGN, message)
            .hint("`nika mcp list --check` shows the servers, and `nika mcp tools SERVER` what waits for a person"));
    }
    Ok(names().filter(|name| *name != OF_VERBS && stated.states_tool(name)).map(str::to_owned).collect())
}

/// The servers that names of tools speak of, each once.
fn servers<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let server = |name: &'n str| {
        let rest = name.strip_prefix("mcp__")?;
        Some(rest.split_once("__").map_or(rest, |(server, _)| server))
    };
    let mut servers: Vec<&str> = names.filter_map(server).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

/// What the agent's end is as the task's output.
fn output(hands: &Hands, answer: &Answer, ended: Ended) -> Result<Value, ToolError> {
    if let Some(error) = ended.why.error() {
        return Err(error);
    }
    match (answer, ended.structured) {
        (Answer::Text, _) => Ok(Value::String(ended.answer)),
        (Answer::Json, _) => form::read(hands, answer, None, &ended.answer),
        (Answer::Fitting(_), Some(object)) => Ok(object),
        (Answer::Fitting(_), None) => Err(ToolError::new(code::NO_OBJECT, "the agent gave no object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_once_whatever_of_it_is_named() {
        let names = ["mcp__hello", "read", "mcp__hello__*", "mcp__a__b__c", "mcp__hello__greet", "web_*"];
        assert_eq!(servers(names.into_iter()), ["a", "hello"]);
    }
}
