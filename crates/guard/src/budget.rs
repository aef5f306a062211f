//! Budgets: how much a session may spend before it is stopped, and who set that.

use std::collections::BTreeMap;
use std::fmt;

use crate::policy::Layer;

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Budget {
    /// Tokens in and out.
    TotalTokens,
    /// Tokens sent to models.
    InputTokens,
    /// Tokens that models wrote.
    OutputTokens,
    /// Of those, tokens of reasoning.
    ReasoningTokens,
    /// Money, in millionths of a US dollar.
    TotalCost,
    /// Tool calls.
    ToolCalls,
    /// Tasks given to other agents.
    DelegatedTasks,
    /// Calls of models.
    ModelCalls,
    /// Turns of the session.
    SessionTurns,
}

use Budget::{
    DelegatedTasks, InputTokens, ModelCalls, OutputTokens, ReasoningTokens, SessionTurns, ToolCalls, TotalCost,
    TotalTokens,
};

/// Each budget, its key in both styles, and what it counts.
const TABLE: &[(Budget, &str, &str, &str)] = &[
    (TotalTokens, "max_total_tokens", "maxTotalTokens", "tokens"),
    (InputTokens, "max_input_tokens", "maxInputTokens", "tokens sent to models"),
    (OutputTokens, "max_output_tokens", "maxOutputTokens", "tokens that models wrote"),
    (ReasoningTokens, "max_reasoning_tokens", "maxReasoningTokens", "tokens of reasoning"),
    (TotalCost, "max_total_cost_usd", "maxTotalCostUsd", "US dollars"),
    (ToolCalls, "max_tool_calls", "maxToolCalls", "tool calls"),
    (DelegatedTasks, "max_delegated_tasks", "maxDelegatedTasks", "delegated tasks"),
    (ModelCalls, "max_model_calls", "maxModelCalls", "model calls"),
    (SessionTurns, "max_session_turns", "maxSessionTurns", "turns"),
];

/// Millionths in one.
const MICROS: u64 = 1_000_000;

impl Budget {
    /// Every budget.
    pub fn all() -> impl Iterator<Item = Budget> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Budget, &'static str, &'static str, &'static str) {
        TABLE.iter().find(|row| row.0 == self).expect("every budget has a row")
    }

    /// `max_tool_calls`.
    pub fn key(self) -> &'static str {
        self.row().1
    }

    /// `maxToolCalls`.
    pub fn camel_key(self) -> &'static str {
        self.row().2
    }

    /// What it counts, in words.
    pub fn counts(self) -> &'static str {
        self.row().3
    }

    /// Whether the amount is known before it is spent, so that the one too many is not begun. Tokens and
    /// money are known afterwards.
    pub fn is_counted(self) -> bool {
        matches!(self, ToolCalls | DelegatedTasks | ModelCalls | SessionTurns)
    }

    /// The amount that a JSON number says; `None` where it says none.
    pub fn parse(self, number: &str) -> Option<u64> {
        if self != TotalCost {
            return number.parse().ok();
        }
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.len() > 6 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let micros: u64 = format!("{fraction:0<6}").parse().ok()?;
        whole.parse::<u64>().ok()?.checked_mul(MICROS)?.checked_add(micros)
    }

    /// An amount, as a person writes it.
    pub fn shown(self, amount: u64) -> String {
        match self {
            TotalCost if amount.is_multiple_of(MICROS) => (amount / MICROS).to_string(),
            TotalCost => format!("{}.{:06}", amount / MICROS, amount % MICROS).trim_end_matches('0').to_owned(),
            _ => amount.to_string(),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// One budget's value and where it was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// So much, and no more.
    pub amount: u64,
    /// Who set it.
    pub layer: Layer,
    /// `file:line`.
    pub at: String,
}

/// The budgets in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budgets {
    limits: BTreeMap<Budget, Limit>,
    ceilings: BTreeMap<Budget, Limit>,
}

impl Budgets {
    /// Sets one; the nearer comes later and wins. What the administrator set is a ceiling: use
    /// [`Budgets::ceiling`] first.
    pub fn set(&mut self, budget: Budget, limit: Limit) {
        if limit.layer == Layer::Managed {
            self.ceilings.insert(budget, limit.clone());
        }
        self.limits.insert(budget, limit);
    }

    /// The administrator's value, where `amount` is above it.
    pub fn ceiling(&self, budget: Budget, amount: u64) -> Option<&Limit> {
        self.ceilings.get(&budget).filter(|limit| amount > limit.amount)
    }

    /// One budget.
    pub fn get(&self, budget: Budget) -> Option<&Limit> {
        self.limits.get(&budget)
    }

    /// Those that are set.
    pub fn iter(&self) -> impl Iterator<Item = (Budget, &Limit)> {
        self.limits.iter().map(|(budget, limit)| (*budget, limit))
    }

    /// Whether nothing is bounded.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_and_counts_are_whole() {
        for (text, want) in
            [("1.5", Some(1_500_000)), ("0.000001", Some(1)), ("2", Some(2_000_000)), ("1e3", None), ("-1", None)]
        {
            assert_eq!(TotalCost.parse(text), want, "{text}");
        }
        for (amount, want) in [(1_500_000, "1.5"), (2_000_000, "2"), (1, "0.000001"), (10_000_000, "10")] {
            assert_eq!(TotalCost.shown(amount), want);
        }
        assert_eq!((ToolCalls.parse("7"), ToolCalls.parse("7.5"), ToolCalls.parse("-7")), (Some(7), None, None));
    }

    #[test]
    fn the_administrators_value_is_a_ceiling() {
        let limit = |amount, layer| Limit { amount, layer, at: "f:1".into() };
        let mut budgets = Budgets::default();
        budgets.set(ToolCalls, limit(100, Layer::Managed));
        budgets.set(ToolCalls, limit(50, Layer::User));
        assert!(budgets.ceiling(ToolCalls, 80).is_none() && budgets.ceiling(ToolCalls, 101).is_some());
        assert_eq!(budgets.get(ToolCalls).map(|limit| limit.amount), Some(50));
    }
}
