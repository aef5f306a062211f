//! One session: how it stands, what it was granted, which deferred tools it has seen, its journal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use nika_contract::{Clock, Fault, SessionState, ToolError, code};
use nika_guard::{Budget, Budgets, Layer, LayeredRule, Limit, Policy, Rule, RuleKind, Stance};
use nika_store::{Durability, Journal, Line, State};
use serde_json::{Map, Value};

/// Told of every journal line as it is written.
pub type Watcher = Arc<dyn Fn(&str) + Send + Sync>;

/// A session.
pub struct Session {
    /// What its tools keep.
    pub state: SessionState,
    stance: RwLock<Stance>,
    policy: RwLock<Policy>,
    grants: Mutex<Vec<String>>,
    loaded: Mutex<BTreeSet<String>>,
    budgets: Budgets,
    spent: Mutex<BTreeMap<Budget, u64>>,
    journal: Mutex<Option<Journal>>,
}

impl Session {
    /// A session that stands so.
    pub fn new(id: impl Into<String>, stance: Stance, policy: Policy, lasting: bool) -> Session {
        Session {
            state: SessionState::new(id, lasting),
            stance: RwLock::new(stance),
            policy: RwLock::new(policy),
            grants: Mutex::default(),
            loaded: Mutex::default(),
            budgets: Budgets::default(),
            spent: Mutex::default(),
            journal: Mutex::default(),
        }
    }

    /// The same session with budgets.
    pub fn bounded(mut self, budgets: Budgets) -> Session {
        self.budgets = budgets;
        self
    }

    /// Spends some of a budget; tokens of input and output count for the total as well.
    ///
    /// What is counted (calls, tasks, turns) is refused before the one too many. Tokens and money are known
    /// when they are spent already: they are noted, and the answer, as that of every call from then on, is no.
    pub fn spend(&self, budget: Budget, amount: u64) -> Result<(), ToolError> {
        let mut spent = lock(&self.spent);
        for (other, limit) in self.budgets.iter().filter(|(other, _)| !other.is_counted()) {
            if spent.get(&other).is_some_and(|spent| *spent > limit.amount) && budget.is_counted() {
                return Err(over(other, limit));
            }
        }
        let total = matches!(budget, Budget::InputTokens | Budget::OutputTokens).then_some(Budget::TotalTokens);
        let mut result = Ok(());
        for budget in std::iter::once(budget).chain(total) {
            let so_far = spent.entry(budget).or_default();
            let then = so_far.saturating_add(amount);
            match self.budgets.get(budget).filter(|limit| then > limit.amount) {
                Some(limit) if budget.is_counted() => return Err(over(budget, limit)),
                Some(limit) => result = Err(over(budget, limit)),
                None => {}
            }
            *so_far = then;
        }
        result
    }

    /// Takes back what was spent on something that did not happen.
    pub(crate) fn unspend(&self, budget: Budget, amount: u64) {
        if let Some(spent) = lock(&self.spent).get_mut(&budget) {
            *spent = spent.saturating_sub(amount);
        }
    }

    /// How much of a budget was spent.
    pub fn spent(&self, budget: Budget) -> u64 {
        lock(&self.spent).get(&budget).copied().unwrap_or(0)
    }

    /// Puts in what earlier processes of this session have spent.
    pub fn resume_spent(&self, budget: Budget, amount: u64) {
        lock(&self.spent).insert(budget, amount);
    }

    /// Its name.
    pub fn id(&self) -> &str {
        self.state.id()
    }

    /// How it stands.
    pub fn stance(&self) -> Stance {
        *self.stance.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rules in force for it.
    pub fn policy(&self) -> Policy {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a rule that a person said *always* to, for this session.
    pub fn grant(&self, rule: &str, home: Option<&str>) -> Result<(), nika_guard::RuleError> {
        let parsed = Rule::parse(rule, home)?;
        let kept =
            LayeredRule { kind: RuleKind::Allow, rule: parsed, layer: Layer::Session, at: "this session".into() };
        let mut policy = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        *policy = policy.with(vec![kept]);
        lock(&self.grants).push(rule.to_owned());
        Ok(())
    }

    /// The rules it was granted.
    pub fn grants(&self) -> Vec<String> {
        lock(&self.grants).clone()
    }

    /// Notes that the session has seen a deferred tool's schema. Whether that is news is the answer.
    pub fn load(&self, tool: &str) -> bool {
        self.state.is_lasting() && lock(&self.loaded).insert(tool.to_owned())
    }

    /// Whether the session has seen a deferred tool's schema.
    pub fn has_loaded(&self, tool: &str) -> bool {
        lock(&self.loaded).contains(tool)
    }

    /// The deferred tools that it has seen.
    pub fn loaded(&self) -> Vec<String> {
        lock(&self.loaded).iter().cloned().collect()
    }

    /// Writes a journal line, opening the session's file at the first.
    pub(crate) fn log(&self, to: &LogTo<'_>, event: &str, fields: &Map<String, Value>) -> Result<(), Fault> {
        self.log_together(to, &[(event, fields)])
    }

    /// Writes journal lines of one moment, with one write.
    pub(crate) fn log_together(&self, to: &LogTo<'_>, lines: &[Line<'_>]) -> Result<(), Fault> {
        let lost = |error: nika_store::StoreError| Fault { code: code::JOURNAL_LOST, message: error.to_string() };
        let mut journal = lock(&self.journal);
        if journal.is_none() {
            let mut header = to.header.clone();
            header.insert("mode".into(), self.stance().to_string().into());
            let opened = Journal::create(to.state, self.id(), &header, Arc::clone(to.clock)).map_err(lost)?;
            let opened = opened.durability(to.durability);
            if let Some(watcher) = to.watcher.cloned() {
                opened.subscribe(move |line| {
                    watcher(line);
                    ControlFlow::Continue(())
                });
            }
            *journal = Some(opened);
        }
        journal.as_ref().expect("opened above").append_together(lines).map_err(lost)?;
        Ok(())
    }
}

/// What writing a journal line needs beside the line.
pub(crate) struct LogTo<'a> {
    pub state: &'a State,
    pub clock: &'a Arc<dyn Clock>,
    pub durability: Durability,
    pub header: &'a Map<String, Value>,
    pub watcher: Option<&'a Watcher>,
}

fn over(budget: Budget, limit: &Limit) -> ToolError {
    let Limit { amount, at, .. } = limit;
    let message = format!(
        "the budget of {} {} ({budget}, {at}) is spent; this session does nothing more",
        budget.shown(*amount),
        budget.counts()
    );
    ToolError::new(code::BUDGET_SPENT, message).hint("a person can begin another session, or change the budget there")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id()).field("stance", &self.stance()).finish_non_exhaustive()
    }
}
