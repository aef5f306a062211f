//! One session: how it stands, what it was granted, which deferred tools it has seen, its journal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use nika_contract::{Clock, Fault, PlanMode, Purse, SessionState, ToolError, code};
use nika_guard::{Budget, Budgets, Layer, LayeredRule, Limit, Mode, Policy, Rule, RuleKind, Stance};
use nika_store::{Durability, Journal, Line, State};
use serde_json::{Map, Value};

/// Puts something else in the place of what is to be shown nowhere; `None` where a text holds none of it.
pub type Veil = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Told of every journal line as it is written.
pub type Watcher = Arc<dyn Fn(&str) + Send + Sync>;

/// A session.
pub struct Session {
    /// What its tools keep.
    pub state: SessionState,
    /// Whose work it does.
    parent: Option<Arc<Session>>,
    stance: RwLock<Stance>,
    /// Of a child, only what it adds to its parent's.
    policy: RwLock<Policy>,
    /// What was added to them: by a grant, or at a child's start.
    added: Mutex<Vec<LayeredRule>>,
    /// Which of the runtime's policies it stands under.
    under: AtomicU64,
    grants: Mutex<Vec<String>>,
    loaded: Mutex<BTreeSet<String>>,
    budgets: Budgets,
    spent: Mutex<BTreeMap<Budget, u64>>,
    journal: Arc<Mutex<Option<Journal>>>,
    veil: OnceLock<Veil>,
}

impl Session {
    /// A session that stands so.
    pub fn new(id: impl Into<String>, stance: Stance, policy: Policy, lasting: bool) -> Session {
        Session {
            state: SessionState::new(id, lasting),
            parent: None,
            stance: RwLock::new(stance),
            policy: RwLock::new(policy),
            added: Mutex::default(),
            under: AtomicU64::new(0),
            grants: Mutex::default(),
            loaded: Mutex::default(),
            budgets: Budgets::default(),
            spent: Mutex::default(),
            journal: Arc::default(),
            veil: OnceLock::new(),
        }
    }

    /// The session of an agent that works for this one. It begins with nothing read, nothing granted and nothing
    /// loaded. It never stands wider than its parent, also when the parent narrows later; the parent's rules hold
    /// for it, with `without` on top; what it spends, its parent spends.
    pub fn child(self: &Arc<Self>, id: impl Into<String>, narrower: Stance, without: Vec<LayeredRule>) -> Session {
        Session {
            parent: Some(Arc::clone(self)),
            added: Mutex::new(without),
            ..Session::new(id, narrower, Policy::default(), true)
        }
    }

    /// Whose rules hold for it: its own, or those of the first that had it started.
    pub(crate) fn owner(&self) -> &Session {
        self.parent.as_ref().map_or(self, |parent| parent.owner())
    }

    /// Whose work it does: the session that started it.
    pub fn parent(&self) -> Option<&Arc<Session>> {
        self.parent.as_ref()
    }

    /// The same session with budgets.
    pub fn bounded(mut self, budgets: Budgets) -> Session {
        self.budgets = budgets;
        self
    }

    /// The same session, with what no answer of it and no line of its journal shows; that holds for its children, too.
    pub fn veiled(self, veil: Veil) -> Session {
        // A session is made with one veil or none.
        let _ = self.veil.set(veil);
        self
    }

    /// The text without what is shown nowhere.
    pub(crate) fn hide(&self, text: &mut String) {
        if let Some(shown) = self.veil.get().and_then(|veil| veil(text)) {
            *text = shown;
        }
        if let Some(parent) = &self.parent {
            parent.hide(text);
        }
    }

    /// The value without what is shown nowhere, names of fields included.
    pub(crate) fn hide_in(&self, value: &mut Value) {
        hide_in(value, &|text| self.hide(text));
    }

    /// Whether something is shown nowhere.
    pub(crate) fn is_veiled(&self) -> bool {
        self.veil.get().is_some() || self.parent.as_ref().is_some_and(|parent| parent.is_veiled())
    }

    /// Spends some of a budget; tokens of input and output count for the total as well.
    ///
    /// What is counted (calls, tasks, turns) is refused before the one too many. Tokens and money are known
    /// when they are spent already: they are noted, and the answer, as that of every call from then on, is no.
    pub fn spend(&self, budget: Budget, amount: u64) -> Result<(), ToolError> {
        // Held until it is noted here and above: what one of both refuses, neither has spent.
        let mut spent = lock(&self.spent);
        let exceeded = |budget: Budget, amount: u64| {
            let then = spent.get(&budget).copied().unwrap_or_default().saturating_add(amount);
            self.budgets.get(budget).filter(|limit| then > limit.amount).map(|limit| over(budget, limit))
        };
        let total = matches!(budget, Budget::InputTokens | Budget::OutputTokens).then_some(Budget::TotalTokens);
        let charged = || std::iter::once(budget).chain(total);
        let mut refused = charged().filter_map(|budget| exceeded(budget, amount)).next_back();
        if budget.is_counted() {
            let mut others = self.budgets.iter().map(|(other, _)| other).filter(|other| !other.is_counted());
            refused = others.find_map(|other| exceeded(other, 0)).or(refused);
            if let Some(error) = refused {
                return Err(error);
            }
        }
        let above = self.parent.as_ref().map_or(Ok(()), |parent| parent.spend(budget, amount));
        if budget.is_counted() {
            above.clone()?;
        }
        for budget in charged() {
            let so_far = spent.entry(budget).or_default();
            *so_far = so_far.saturating_add(amount);
        }
        refused.map_or(above, Err)
    }

    /// Takes back what was spent on something that did not happen.
    pub(crate) fn unspend(&self, budget: Budget, amount: u64) {
        if let Some(parent) = &self.parent {
            parent.unspend(budget, amount);
        }
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

    /// How it stands at this moment: never wider than its parent, read-only while it plans.
    pub fn stance(&self) -> Stance {
        let set = self.stance_set();
        if self.plans() { set.joined(Mode::ReadOnly.into()) } else { set }
    }

    /// Whether it plans, or one whose work it does.
    pub fn plans(&self) -> bool {
        self.state.slot::<PlanMode>().is_on() || self.parent.as_ref().is_some_and(|parent| parent.plans())
    }

    /// How it stands where nobody plans.
    pub(crate) fn stance_set(&self) -> Stance {
        let own = *self.stance.read().unwrap_or_else(PoisonError::into_inner);
        self.parent.as_ref().map_or(own, |parent| own.joined(parent.stance_set()))
    }

    /// The rules in force for it.
    pub fn policy(&self) -> Policy {
        match &self.parent {
            Some(parent) => parent.policy().with(lock(&self.added).clone()),
            None => self.policy.read().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// From now on it, or whose work it does, stands under this policy, with what it was granted. The former one, where
    /// that is news.
    pub(crate) fn stand_under(&self, number: u64, policy: Policy) -> Option<Policy> {
        if let Some(parent) = &self.parent {
            return parent.stand_under(number, policy);
        }
        // Two calls at once may come in the other order than their looks.
        let is_news = self.under.fetch_max(number, Ordering::Relaxed) < number;
        is_news.then(|| {
            let policy = policy.with(lock(&self.added).clone());
            std::mem::replace(&mut *self.policy.write().unwrap_or_else(PoisonError::into_inner), policy)
        })
    }

    /// Keeps a rule that a person said *always* to, for this session.
    pub fn grant(&self, rule: &str, home: Option<&str>) -> Result<(), nika_guard::RuleError> {
        let parsed = Rule::parse(rule, home)?;
        let kept =
            LayeredRule { kind: RuleKind::Allow, rule: parsed, layer: Layer::Session, at: "this session".into() };
        lock(&self.added).push(kept.clone());
        if self.parent.is_none() {
            let mut policy = self.policy.write().unwrap_or_else(PoisonError::into_inner);
            *policy = policy.with(vec![kept]);
        }
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
        if self.is_veiled() {
            let hidden: Vec<_> =
                lines.iter().map(|(event, fields)| (*event, without(fields, &|text| self.hide(text)))).collect();
            let lines: Vec<Line<'_>> = hidden.iter().map(|(event, fields)| (*event, fields)).collect();
            return self.log_as_it_is(to, &lines);
        }
        self.log_as_it_is(to, lines)
    }

    fn log_as_it_is(&self, to: &LogTo<'_>, lines: &[Line<'_>]) -> Result<(), Fault> {
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

    /// Writes for what goes on when a call has ended.
    pub(crate) fn scribe(&self) -> Scribe {
        let parents = std::iter::successors(Some(self), |session| session.parent.as_deref());
        let veils = parents.filter_map(|session| session.veil.get().cloned()).collect();
        Scribe { journal: Arc::clone(&self.journal), veils }
    }

    /// Forces what was written to the disk; nothing to do before the first line.
    pub(crate) fn sync(&self) -> Result<(), Fault> {
        lock(&self.journal).as_ref().map_or(Ok(()), |journal| journal.sync().map_err(lost))
    }
}

/// Writes into a session's journal for what goes on when a call has ended.
pub(crate) struct Scribe {
    journal: Arc<Mutex<Option<Journal>>>,
    veils: Vec<Veil>,
}

impl Scribe {
    /// Writes a line. Where the session never had a journal there is none to write.
    pub(crate) fn log(&self, event: &str, fields: &Map<String, Value>) -> Result<(), Fault> {
        let hide = |text: &mut String| {
            for veil in &self.veils {
                if let Some(shown) = veil(text) {
                    *text = shown;
                }
            }
        };
        let fields = without(fields, &hide);
        lock(&self.journal).as_ref().map_or(Ok(()), |journal| journal.append(event, &fields).map(drop).map_err(lost))
    }
}

/// The value with every text, name and number in it as `hide` leaves it.
fn hide_in(value: &mut Value, hide: &dyn Fn(&mut String)) {
    match value {
        Value::String(text) => hide(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, hide)),
        Value::Object(fields) => *fields = without(fields, hide),
        // A code of digits is one, too.
        Value::Number(number) => {
            let plain = number.to_string();
            let mut shown = plain.clone();
            hide(&mut shown);
            if shown != plain {
                *value = Value::String(shown);
            }
        }
        _ => {}
    }
}

fn without(fields: &Map<String, Value>, hide: &dyn Fn(&mut String)) -> Map<String, Value> {
    let hidden = |(name, value): (&String, &Value)| {
        let (mut name, mut value) = (name.clone(), value.clone());
        hide(&mut name);
        hide_in(&mut value, hide);
        (name, value)
    };
    fields.iter().map(hidden).collect()
}

fn lost(error: nika_store::StoreError) -> Fault {
    match error {
        // Nothing is added to a journal that does not verify: freeing space would not help.
        nika_store::StoreError::Broken(broken) => Fault {
            code: code::JOURNAL_BROKEN,
            message: format!("{broken}; look at it with `nika log verify`, and use another session meanwhile"),
        },
        error => Fault { code: code::JOURNAL_LOST, message: error.to_string() },
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
    // Agents that may not be started any more leave the rest of a session's work as it is.
    let (then, hint) = match budget {
        Budget::DelegatedTasks => {
            ("no other agent is started", "do the rest without one; a person can change the budget there")
        }
        _ => ("this session does nothing more", "a person can begin another session, or change the budget there"),
    };
    let message =
        format!("the budget of {} {} ({budget}, {at}) is spent; {then}", budget.shown(*amount), budget.counts());
    ToolError::new(code::BUDGET_SPENT, message).hint(hint)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Purse for Session {
    fn spend(&self, budget: Budget, amount: u64) -> Result<(), ToolError> {
        Session::spend(self, budget, amount)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id()).field("stance", &self.stance()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_guard::{Act, Cell, Decision, Effect, Effects, TABLE};

    fn session(id: &str, stance: Stance, policy: Policy) -> Arc<Session> {
        Arc::new(Session::new(id, stance, policy, true))
    }

    fn strictness(cell: Cell) -> usize {
        [Cell::Allow, Cell::Ask, Cell::Floor, Cell::Deny].iter().position(|other| *other == cell).expect("four cells")
    }

    fn rule(kind: RuleKind, text: &str) -> LayeredRule {
        let rule = Rule::parse(text, None).expect("a rule");
        LayeredRule { kind, rule, layer: Layer::User, at: "a test".into() }
    }

    #[test]
    fn a_child_is_never_wider_than_its_parent_in_any_mode() {
        let switches = [(false, false), (false, true), (true, false), (true, true)];
        let stances = || {
            Mode::ALL.into_iter().flat_map(|mode| {
                switches.map(|(unsafe_commands, ask_writes)| Stance { mode, unsafe_commands, ask_writes })
            })
        };
        for above in stances() {
            let parent = session("p", above, Policy::default());
            for wish in stances() {
                let child = Arc::new(parent.child("p.a1", wish, Vec::new()));
                let grandchild = child.child("p.a1.a1", Mode::AcceptAll.into(), Vec::new());
                for (act, ..) in TABLE {
                    let cell = |session: &Session| strictness(act.under(&session.stance()));
                    assert!(cell(&child) >= cell(&parent), "{act:?}: {wish} below {above}");
                    assert!(cell(&grandchild) >= cell(&child), "{act:?}: below {wish} below {above}");
                }
            }
        }
    }

    #[test]
    fn a_parent_that_plans_narrows_its_children_at_once() {
        let parent = session("p", Mode::AcceptAll.into(), Policy::default());
        let child = parent.child("p.a1", Mode::AcceptAll.into(), Vec::new());
        let writes = |session: &Session| Act::WriteInside.under(&session.stance());
        assert_eq!(writes(&child), Cell::Allow);
        parent.state.slot::<PlanMode>().set(true);
        assert_eq!((writes(&parent), writes(&child)), (Cell::Deny, Cell::Deny));
        parent.state.slot::<PlanMode>().set(false);
        child.state.slot::<PlanMode>().set(true);
        assert_eq!((writes(&parent), writes(&child)), (Cell::Allow, Cell::Deny));
    }

    #[test]
    fn rules_go_down_and_never_up() {
        let net = |session: &Session, host: &str| {
            session.policy().judge(&session.stance(), &Effects::one(Effect::Net(host.into()))).decision
        };
        let policy = Policy::new(vec![rule(RuleKind::Deny, "net(bad.example)")], true);
        let parent = session("p", Mode::Ask.into(), policy);
        let child = parent.child("p.a1", Mode::AcceptAll.into(), vec![rule(RuleKind::Deny, "net(mine.example)")]);
        assert_eq!(net(&child, "bad.example"), Decision::Deny, "what the parent is denied");
        assert_eq!(net(&child, "mine.example"), Decision::Deny, "what the child alone is denied");
        assert_eq!(net(&parent, "mine.example"), Decision::Ask);
        parent.grant("net(good.example)", None).expect("a rule");
        assert_eq!(net(&child, "good.example"), Decision::Allow, "a grant to the parent holds below");
        child.grant("net(fine.example)", None).expect("a rule");
        assert_eq!((net(&child, "fine.example"), net(&parent, "fine.example")), (Decision::Allow, Decision::Ask));
        child.grant("net(bad.example)", None).expect("a rule");
        assert_eq!(net(&child, "bad.example"), Decision::Deny, "no grant opens what is denied");
    }

    #[test]
    fn what_is_veiled_is_hidden_for_children_too() {
        let veil: Veil =
            Arc::new(|text: &str| text.contains("hunter2").then(|| text.replace("hunter2", "[secret PW]")));
        let parent = Arc::new(Session::new("p", Mode::Ask.into(), Policy::default(), true).veiled(veil));
        let child = parent.child("p.a1", Mode::Ask.into(), Vec::new());
        let mut value = serde_json::json!({"hunter2": ["x hunter2", 1]});
        child.hide_in(&mut value);
        assert_eq!(value, serde_json::json!({"[secret PW]": ["x [secret PW]", 1]}));
        assert!(child.is_veiled() && !session("q", Mode::Ask.into(), Policy::default()).is_veiled());
    }

    fn bounded(session: Session, budget: Budget, amount: u64) -> Arc<Session> {
        let mut budgets = Budgets::default();
        budgets.set(budget, Limit { amount, layer: Layer::User, at: "a test".into() });
        Arc::new(session.bounded(budgets))
    }

    #[test]
    fn what_one_of_two_refuses_neither_has_spent() {
        let free = || Session::new("p", Mode::Ask.into(), Policy::default(), true);
        let parent = Arc::new(free());
        let child = bounded(parent.child("p.a1", Mode::Ask.into(), Vec::new()), Budget::ToolCalls, 1);
        child.spend(Budget::ToolCalls, 1).expect("one of one");
        assert_eq!(child.spend(Budget::ToolCalls, 1).expect_err("its own").code, code::BUDGET_SPENT);
        assert_eq!((parent.spent(Budget::ToolCalls), child.spent(Budget::ToolCalls)), (1, 1));

        let parent = bounded(free(), Budget::ToolCalls, 1);
        let child = Arc::new(parent.child("p.a1", Mode::Ask.into(), Vec::new()));
        let below = child.child("p.a1.a1", Mode::Ask.into(), Vec::new());
        below.spend(Budget::ToolCalls, 1).expect("one of one");
        assert_eq!(below.spend(Budget::ToolCalls, 1).expect_err("the first's").code, code::BUDGET_SPENT);
        for session in [&*parent, &*child, &below] {
            assert_eq!(session.spent(Budget::ToolCalls), 1, "{}", session.id());
        }
        // What is known only afterwards was spent by all, whoever has no more of it.
        for (above, here) in [(10, 99), (99, 10)] {
            let parent = bounded(free(), Budget::OutputTokens, above);
            let child = bounded(parent.child("p.a1", Mode::Ask.into(), Vec::new()), Budget::OutputTokens, here);
            assert_eq!(child.spend(Budget::OutputTokens, 20).expect_err("too much").code, code::BUDGET_SPENT);
            for session in [&parent, &child] {
                assert_eq!((session.spent(Budget::OutputTokens), session.spent(Budget::TotalTokens)), (20, 20));
            }
        }
    }

    #[test]
    fn what_a_child_spends_its_parent_spends() {
        let mut budgets = Budgets::default();
        budgets.set(Budget::ToolCalls, Limit { amount: 2, layer: Layer::User, at: "a test".into() });
        let parent = Session::new("p", Mode::Ask.into(), Policy::default(), true).bounded(budgets);
        let parent = Arc::new(parent);
        let child = parent.child("p.a1", Mode::Ask.into(), Vec::new());
        parent.spend(Budget::ToolCalls, 1).expect("one of two");
        child.spend(Budget::ToolCalls, 1).expect("two of two");
        assert_eq!(child.spend(Budget::ToolCalls, 1).expect_err("the third").code, code::BUDGET_SPENT);
        assert_eq!((parent.spent(Budget::ToolCalls), child.spent(Budget::ToolCalls)), (2, 1));
    }
}
