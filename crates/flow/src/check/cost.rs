//! What a run can cost at most, as far as its bounds and configured prices say. A price that nobody said is not
//! guessed, and neither is the length of an answer that nothing bounds.

use nika_contract::code;

use super::nested::{Inner, Nested};
use crate::finding::Finding;
use crate::model::{Called, Dynamic, Flow, ModelChoice, Task, Verb};

/// Prices in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Read.
    pub input: f64,
    /// Written.
    pub output: f64,
}

/// The most that a run's models can cost, with those of the workflows that it runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ceiling {
    /// Tasks that ask models.
    pub tasks: usize,
    /// In millionths of a US dollar; `None` where it cannot be said.
    pub cost_micros: Option<u64>,
    /// Why it cannot be said, once a reason.
    pub unknown: Vec<String>,
    /// The models of which nobody said what they cost.
    unpriced: Vec<String>,
    /// The tasks that nothing bounds.
    unbounded: Vec<String>,
    /// The highest price of a token, in millionths of a US dollar.
    dearest: Option<f64>,
}

impl Ceiling {
    fn costs(&mut self, price: f64) {
        self.dearest = Some(self.dearest.unwrap_or(0.0).max(price));
    }

    fn has_no_price(&mut self, name: String) {
        if !self.unpriced.contains(&name) {
            self.unpriced.push(name);
        }
    }
}

/// The ceiling, and what is wrong with it.
pub(super) fn check(flow: &Flow, nested: &Nested<'_>) -> (Ceiling, Vec<Finding>) {
    let around = nested.around;
    let mut ceiling = Ceiling::default();
    let mut dollars = 0.0;
    for task in &flow.tasks {
        let (choice, tokens) = match &task.verb {
            Verb::Infer(infer) => (&infer.model, None),
            Verb::Agent(agent) => (&agent.model, agent.tokens),
            Verb::Invoke(invoke) => {
                if let Called::Workflow(path) = &invoke.what
                    && let Inner::Fine(inner) = &*nested.look(&path.value)
                {
                    dollars += within(&mut ceiling, &inner.ceiling, task, &path.value);
                }
                continue;
            }
            Verb::Exec(_) | Verb::Fetch(_) => continue,
        };
        ceiling.tasks += 1;
        let (provider, model) = chosen(choice, &flow.model);
        let Some(prices) = around.prices(provider, model) else {
            let name = [provider, model].into_iter().flatten().collect::<Vec<_>>().join("/");
            ceiling.has_no_price(if name.is_empty() { "the configured model".to_owned() } else { name });
            continue;
        };
        // Every token might be of the dearer kind.
        let price = prices.input.max(prices.output);
        ceiling.costs(price);
        match tokens.zip(times(task)) {
            // Dollars for a million tokens are millionths of a dollar for one.
            Some((tokens, times)) => dollars += tokens as f64 * times * price,
            None => ceiling.unbounded.push(task.id.value.clone()),
        }
    }
    if ceiling.tasks == 0 {
        ceiling.cost_micros = Some(0);
        return (ceiling, Vec::new());
    }
    for name in &ceiling.unpriced {
        ceiling.unknown.push(format!("nobody said what {name} costs (`providers.NAME.prices` in the configuration)"));
    }
    let bounded = (ceiling.unpriced.is_empty(), ceiling.unbounded.is_empty());
    let total = match (bounded, flow.limits.tokens.as_ref(), ceiling.dearest) {
        ((true, true), limit, Some(price)) => {
            Some(limit.map_or(dollars, |limit| dollars.min(limit.value as f64 * price)))
        }
        ((true, false), Some(limit), Some(price)) => Some(limit.value as f64 * price),
        ((true, false), None, _) => {
            let names = ceiling.unbounded.join(", ");
            ceiling
                .unknown
                .push(format!("nothing bounds the tokens of {names} (`limits.tokens`, or `token_budget` of an agent)"));
            None
        }
        _ => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "prices and counts are positive; `as` saturates"
    )]
    let micros = total.map(|total| total.ceil() as u64);
    ceiling.cost_micros = micros;
    let mut findings = Vec::new();
    if let Some(limit) = &flow.limits.cost_micros {
        match micros {
            Some(micros) if micros > limit.value => {
                let dollars = |micros: u64| format!("${:.2}", micros as f64 / 1e6);
                let message =
                    format!("models can cost {}, and `limits.cost_usd` is {}", dollars(micros), dollars(limit.value));
                let hint = "lower `token_budget` or `limits.tokens`, or raise `limits.cost_usd`";
                findings.push(Finding::error(code::FLOW_COST, limit.at, message).suggest(hint));
            }
            Some(_) => {}
            None => {
                let message = format!("what models can cost is not known: {}", ceiling.unknown.join("; "));
                // Whoever is strict wants the limit to be sure.
                let finding = match around.strict() {
                    true => Finding::error(code::FLOW_COST, limit.at, message),
                    false => Finding::note(code::FLOW_COST, limit.at, message),
                };
                findings.push(finding);
            }
        }
    }
    (ceiling, findings)
}

/// What a task can cost that runs another workflow; what of that is not known is not known of the outer one, either.
fn within(ceiling: &mut Ceiling, inner: &Ceiling, task: &Task, path: &str) -> f64 {
    if inner.tasks == 0 {
        return 0.0;
    }
    ceiling.tasks += inner.tasks;
    inner.unpriced.iter().for_each(|name| ceiling.has_no_price(name.clone()));
    inner.dearest.into_iter().for_each(|price| ceiling.costs(price));
    match (inner.cost_micros, times(task)) {
        (Some(micros), Some(times)) => micros as f64 * times,
        _ => {
            // One that has no price is named, and need not be bounded, too.
            if inner.unpriced.is_empty() {
                ceiling.unbounded.push(format!("{} ({path})", task.id.value));
            }
            0.0
        }
    }
}

/// The task's own choice; a provider that is named brings no model of another one along.
fn chosen<'a>(own: &'a ModelChoice, default: &'a ModelChoice) -> (Option<&'a str>, Option<&'a str>) {
    let text = |of: &'a Option<crate::model::At<String>>| of.as_ref().map(|of| of.value.as_str());
    match text(&own.provider) {
        Some(provider) => (Some(provider), text(&own.model)),
        None => (text(&default.provider), text(&own.model).or_else(|| text(&default.model))),
    }
}

/// How often a task asks at most, where that is known.
fn times(task: &Task) -> Option<f64> {
    let elements = match &task.for_each {
        None => 1,
        Some(each) => match &each.items {
            Dynamic::List(items) => items.len(),
            _ => return None,
        },
    };
    Some(elements as f64 * f64::from(task.retry.attempts))
}
