//! A server's question to our model, for servers whose configuration lets them ask: text in, text out, no tools, and no
//! more than a bounded number of times.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nika_agent::provider::choose::{Configured, Said};
use nika_agent::provider::{Asking, Message, Part, Role, Stop};
use nika_contract::{BoxFuture, ToolError};
use nika_guard::Budget;
use nika_mcp::client::{Sample, Sampled, Sampler};

use crate::models;
use crate::world::World;

/// Questions that the servers of one process may ask: what they cost is the person's money.
const MOST: u32 = 50;
/// For one answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks the model that a person chose. It is made when it is first asked.
#[derive(Debug)]
pub struct Asks {
    world: World,
    configured: Configured,
    asked: AtomicU32,
}

impl Asks {
    /// By this configuration.
    pub fn new(world: World, configured: Configured) -> Asks {
        Asks { world, configured, asked: AtomicU32::new(0) }
    }

    async fn ask(&self, sample: &Sample) -> Result<Sampled, String> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MOST {
            return Err(format!("servers have asked the model {MOST} times, which is all that they may"));
        }
        let model = models::model(&self.world, Said::default(), &self.configured)
            .map_err(|failure| ToolError::from(failure).message)?;
        let message = |(role, text): &(String, String)| Message {
            role: if role == "assistant" { Role::Assistant } else { Role::User },
            parts: vec![Part::Text(text.clone())],
        };
        let messages: Vec<Message> = sample.messages.iter().map(message).collect();
        let about = format!("The MCP server '{}' asks you. You have no tools.", sample.server);
        let system = sample.system.as_ref().map_or_else(|| about.clone(), |system| format!("{about}\n\n{system}"));
        let asking =
            Asking { system: &system, tools: &[], messages: &messages, cache_key: &sample.server, must_call: None };
        let answered = tokio::time::timeout(PATIENCE, model.answer(&asking, &mut |_| {})).await;
        let answered = answered.map_err(|_| format!("the model took longer than {} s", PATIENCE.as_secs()))?;
        let answered = answered.map_err(|error| error.message)?;
        let texts = answered.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        // A token is about four characters; the wires bound an answer by the model, not by the question.
        let most = usize::try_from(sample.max_tokens).unwrap_or(usize::MAX).saturating_mul(4);
        let short: String = text.chars().take(most).collect();
        let cut = answered.stop == Stop::Length || short.len() < text.len();
        let usage = answered.usage;
        let took = vec![
            (Budget::InputTokens, usage.read()),
            (Budget::OutputTokens, usage.output),
            (Budget::ReasoningTokens, usage.reasoning),
            (Budget::TotalCost, model.model().prices.map_or(0, |prices| usage.cost_micros(&prices))),
        ];
        Ok(Sampled { model: model.model().id.clone(), text: short, cut, took })
    }
}

impl Sampler for Asks {
    fn sample<'a>(&'a self, sample: &'a Sample) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(self.ask(sample))
    }
}
