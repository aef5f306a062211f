//! Running a workflow.
//!
//! ```text
//! Flow ─▶ plan (what next) ─▶ action (templates read) ─▶ TaskStarted on disk ─▶ World ─▶ TaskCompleted on disk ─▶ plan …
//! ```
//!
//! [`plan`] thinks and knows no time, [`action`] reads templates, [`World`] touches; this file drives them. What
//! happens is one kind of thing ([`events`]): the trace keeps it, views show it, and [`resume`] reads it again.

pub mod action;
pub mod events;
pub mod inputs;
pub mod launch;
pub mod meter;
pub mod plan;
pub mod render;
pub mod resume;
pub mod same;
pub mod secrets;
#[cfg(test)]
pub(crate) mod testing;
pub mod trace;
mod tries;
mod unfit;
pub mod verbs;
pub mod world;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use nika_contract::{Cancel, Fault, ToolError, code};
use serde_json::{Map, Value};
use tokio::task::JoinSet;

use crate::model::{Flow, Index, OnError};
use action::{Render, Scope};
use events::{Named, RunEvent, Spent, Watch};
use meter::Meter;
use plan::{Fate, Next, Opened, Plan, Unit};
use secrets::Secrets;
use trace::Trace;
use tries::{Afloat, Tried, Try, joined, may_pass, within};
use world::{Made, Order, Unmade, World};

/// Between two looks at whether the run is still wanted.
const LOOK_MS: u64 = 50;
/// How long what is cancelled may take to end before it is let go.
const GRACE_MS: u64 = 10_000;

/// A run, and what surrounds it.
pub struct Run<'r> {
    /// The workflow.
    pub flow: &'r Flow,
    /// Reads its templates.
    pub render: &'r dyn Render,
    /// Where its tasks are done.
    pub world: Arc<dyn World>,
    /// What it was given.
    pub inputs: Map<String, Value>,
    /// What is shown nowhere.
    pub secrets: Arc<Secrets>,
    /// Variables that templates know as `env`.
    pub env: Map<String, Value>,
    /// Where it is written down.
    pub trace: &'r Trace,
    /// Who watches.
    pub watch: Arc<dyn Watch>,
    /// Set when it is to stop.
    pub cancel: Cancel,
    /// Where it says what it has taken so far in this process, for whoever runs it within something else.
    pub meter: Meter,
    /// What ended in earlier processes.
    pub done: Done,
}

/// What ended in earlier processes.
#[derive(Debug, Clone, Default)]
pub struct Done {
    /// Outputs, and why something was skipped.
    pub fates: BTreeMap<Named, Fate>,
    /// How often the run was gone on with: part of what the journal knows calls by.
    pub resumed: u32,
    /// What models took.
    pub spent: Spent,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Every task is done or skipped.
    Completed(Map<String, Value>),
    /// Tasks failed.
    Failed(ToolError),
    /// A bound of its own was reached.
    Aborted(ToolError),
    /// It was stopped.
    Paused,
}

/// A run that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Launched {
    /// How.
    pub ended: Ended,
    /// What its models took in this process.
    pub spent: Spent,
}

impl Run<'_> {
    /// Runs it to its end. `Err` is a fault of ours: the trace could not be written, and what it would have announced
    /// did not happen.
    pub async fn run(self) -> Result<Launched, Fault> {
        let began = self.world.now_ms();
        let mut at_work = AtWork {
            plan: Plan::new(self.flow),
            tries: JoinSet::new(),
            afloat: BTreeMap::new(),
            known: self.known(),
            loops: BTreeMap::new(),
            spent: Spent::default(),
            bound: None,
            began,
        };
        let ended = self.go(&mut at_work).await?;
        Ok(Launched { ended, spent: at_work.taken() })
    }

    async fn go(&self, at_work: &mut AtWork<'_>) -> Result<Ended, Fault> {
        let began = at_work.began;
        let deadline = self.flow.limits.timeout.as_ref().map(|most| began.saturating_add(millis(most.value)));
        loop {
            if at_work.bound.is_none() && !self.cancel.is_cancelled() {
                at_work.bound = self.over(at_work, deadline);
            }
            if at_work.bound.is_some() || self.cancel.is_cancelled() {
                at_work.plan.stop();
                return self.stop(at_work).await;
            }
            match at_work.plan.next(self.world.now_ms()) {
                Next::Open(task) => self.open(at_work, task)?,
                Next::Skipped(task, why) => self.skipped(self.named(task, None), why)?,
                Next::Begin(unit, attempt) => self.begin(at_work, unit, attempt)?,
                Next::Wait(due) => {
                    let tried = self.wait(at_work, due, deadline).await;
                    if let Some((unit, result)) = tried {
                        self.ended(at_work, unit, result)?;
                    }
                }
                Next::Over => return self.finish(at_work),
            }
        }
    }

    /// Says what happened: to the trace first.
    fn tell(&self, what: RunEvent) -> Result<(), Fault> {
        self.trace.write(&what)?;
        self.watch.saw(&what);
        Ok(())
    }

    fn skipped(&self, unit: Named, why: String) -> Result<(), Fault> {
        self.tell(RunEvent::TaskSkipped { unit, why, failed: None, spent: Spent::default() })
    }

    fn named(&self, task: Index, element: Option<usize>) -> Named {
        Named { task: self.flow.tasks[task].id.value.clone(), element }
    }

    /// A task's dependencies are settled: what it turns out to be.
    fn open(&self, at_work: &mut AtWork<'_>, task: Index) -> Result<(), Fault> {
        let it = &self.flow.tasks[task];
        let name = self.named(task, None);
        if it.for_each.is_none()
            && let Some(fate) = self.done.fates.get(&name)
        {
            at_work.plan.opened(task, Opened::Ended(fate.clone()));
            return Ok(());
        }
        let looked = self.look(at_work, task);
        let opened = match looked {
            Ok(Looked::Not) => {
                let why = "`when` is not true".to_owned();
                self.skipped(name, why.clone())?;
                Opened::Ended(Fate::Skipped(why))
            }
            Ok(Looked::Once) => Opened::Once,
            Ok(Looked::Each(items, scope)) => {
                self.tell(RunEvent::Scheduled { task: name.task.clone(), count: items.len() })?;
                let count = items.len();
                let made = (0..count).filter_map(|element| {
                    match self.done.fates.get(&Named { task: name.task.clone(), element: Some(element) })? {
                        Fate::Done(value) => Some((element, value.clone())),
                        Fate::Skipped(_) => Some((element, Value::Null)),
                        Fate::Failed(_) => None,
                    }
                });
                let done: BTreeMap<usize, Value> = made.collect();
                at_work.loops.insert(task, Loop { items, scope, began: self.world.now_ms() });
                let all = done.len() == count;
                at_work.plan.opened(task, Opened::Each { count, done });
                if all {
                    self.loop_completed(at_work, task)?;
                }
                return Ok(());
            }
            // What cannot be looked at fails as the task would.
            Err(error) => {
                let unit = Unit { task, element: None };
                let tried = Try { attempt: 1, took_ms: 0, spent: Spent::default() };
                Opened::Ended(self.instead(at_work, unit, error, tried)?)
            }
        };
        at_work.plan.opened(task, opened);
        Ok(())
    }

    fn look(&self, at_work: &AtWork<'_>, task: Index) -> Result<Looked, ToolError> {
        let it = &self.flow.tasks[task];
        let scope = self.used(at_work, task)?;
        if let Some(when) = &it.when
            && !self.render.truth(when, &scope)?
        {
            return Ok(Looked::Not);
        }
        let Some(each) = &it.for_each else { return Ok(Looked::Once) };
        let items = action::items(&it.id.value, self.render.value(&each.items, &scope)?)?;
        Ok(Looked::Each(items, scope))
    }

    /// What the templates of a unit know. Of a loop's elements all is known alike but the element.
    fn scope(&self, at_work: &AtWork<'_>, unit: Unit) -> Result<Scope, ToolError> {
        let (Some(element), Some(of)) = (unit.element, at_work.loops.get(&unit.task)) else {
            return self.used(at_work, unit.task);
        };
        let mut scope = of.scope.clone();
        if let Some(each) = &self.flow.tasks[unit.task].for_each {
            scope.element(&each.name, of.items.get(element).unwrap_or(&Value::Null));
        }
        Ok(scope)
    }

    /// What all templates know, with what this task uses.
    fn used(&self, at_work: &AtWork<'_>, task: Index) -> Result<Scope, ToolError> {
        let it = &self.flow.tasks[task];
        let mut scope = at_work.known.clone();
        scope.root("use");
        for of in &it.uses {
            let output = match at_work.plan.fate(of.task) {
                Some(Fate::Done(value)) => Some(value),
                _ => None,
            };
            scope.put("use", &of.name.value, &action::used(&self.flow.tasks[of.task].id.value, of, output)?);
        }
        Ok(scope)
    }

    /// What all templates know.
    fn known(&self) -> Scope {
        let mut scope = Scope::new();
        ["inputs", "secrets", "env"].into_iter().for_each(|root| scope.root(root));
        self.inputs.iter().for_each(|(name, value)| scope.put("inputs", name, value));
        self.secrets.values().for_each(|(name, value)| scope.put("secrets", name, &value.into()));
        self.env.iter().for_each(|(name, value)| scope.put("env", name, value));
        scope
    }

    fn begin(&self, at_work: &mut AtWork<'_>, unit: Unit, attempt: u32) -> Result<(), Fault> {
        let it = &self.flow.tasks[unit.task];
        let name = self.named(unit.task, unit.element);
        let resumed = if self.done.resumed > 0 { format!(".{}", self.done.resumed) } else { String::new() };
        let origin = format!("{name}#{attempt}{resumed}");
        let read =
            self.scope(at_work, unit).and_then(|scope| action::action(it, &self.flow.model, &scope, self.render));
        self.tell(RunEvent::TaskStarted { unit: name.clone(), attempt, verb: it.verb.name(), origin: origin.clone() })?;
        let now = self.world.now_ms();
        let (cancel, meter) = (Cancel::default(), Meter::default());
        at_work.afloat.insert(unit, Afloat { cancel: cancel.clone(), began: now, attempt, meter: meter.clone() });
        let timeout_ms = millis(it.timeout);
        let order = match read {
            Ok(action) => Order { unit: name, origin, action, timeout_ms, cancel, meter },
            Err(error) => {
                at_work.tries.spawn(async move { (unit, Err(Unmade::from(error))) });
                return Ok(());
            }
        };
        let world = Arc::clone(&self.world);
        at_work.tries.spawn(async move { (unit, within(&*world, order).await) });
        Ok(())
    }

    /// Waits until a try has ended, something is due, or it is time to look whether all this is still wanted.
    async fn wait(&self, at_work: &mut AtWork<'_>, due: Option<u64>, deadline: Option<u64>) -> Option<Tried> {
        if let Some(tried) = at_work.tries.try_join_next() {
            return Some(joined(tried));
        }
        let now = self.world.now_ms();
        let look = [Some(now + LOOK_MS), due, deadline].into_iter().flatten().min().unwrap_or(now);
        if at_work.tries.is_empty() {
            self.world.until(due.map_or(look, |due| due.min(look.max(now)))).await;
            return None;
        }
        tokio::select! {
            biased;
            tried = at_work.tries.join_next() => tried.map(joined),
            () = self.world.until(look) => None,
        }
    }

    fn ended(&self, at_work: &mut AtWork<'_>, unit: Unit, result: Result<Made, Unmade>) -> Result<(), Fault> {
        let afloat = at_work.afloat.remove(&unit);
        let (attempt, began) = afloat.as_ref().map_or((1, at_work.began), |afloat| (afloat.attempt, afloat.began));
        let took_ms = self.world.now_ms().saturating_sub(began);
        let fate = match result {
            Ok(made) => {
                at_work.spent = at_work.spent.plus(made.spent);
                let output = self.secrets.hide_in(made.output);
                self.tell(RunEvent::TaskCompleted {
                    unit: self.named(unit.task, unit.element),
                    output: Some(output.clone()),
                    took_ms,
                    spent: made.spent,
                    call: made.call,
                    instead_of: None,
                })?;
                Fate::Done(output)
            }
            Err(Unmade { error, spent, rest_ms, so_far: _ }) => {
                at_work.spent = at_work.spent.plus(spent);
                let error = self.hidden(unfit::said(&self.flow.tasks[unit.task], error));
                let now = self.world.now_ms();
                let again = if may_pass(error.code) { at_work.plan.again(unit, now, rest_ms) } else { None };
                if let Some(due) = again {
                    self.tell(RunEvent::TaskFailed {
                        unit: self.named(unit.task, unit.element),
                        attempt,
                        error,
                        took_ms,
                        spent,
                        again_ms: Some(due - now),
                    })?;
                    return Ok(());
                }
                self.instead(at_work, unit, error, Try { attempt, took_ms, spent })?
            }
        };
        let settled = at_work.plan.ended(unit, fate);
        for other in settled.cancel {
            if let Some(afloat) = at_work.afloat.get(&other) {
                afloat.cancel.cancel();
            }
        }
        if settled.task && unit.element.is_some() {
            self.loop_completed(at_work, unit.task)?;
        }
        Ok(())
    }

    /// A loop is settled: its elements have its output.
    fn loop_completed(&self, at_work: &mut AtWork<'_>, task: Index) -> Result<(), Fault> {
        let began = at_work.loops.remove(&task).map(|of| of.began);
        let took_ms = began.map_or(0, |began| self.world.now_ms().saturating_sub(began));
        let (unit, spent) = (self.named(task, None), Spent::default());
        match at_work.plan.fate(task) {
            Some(Fate::Failed(error)) => {
                let error = error.clone();
                self.tell(RunEvent::TaskFailed { unit, attempt: 1, error, took_ms, spent, again_ms: None })
            }
            _ => {
                self.tell(RunEvent::TaskCompleted { unit, output: None, took_ms, spent, call: None, instead_of: None })
            }
        }
    }

    /// What a failure means, by `on_error`.
    fn instead(&self, at_work: &AtWork<'_>, unit: Unit, error: ToolError, tried: Try) -> Result<Fate, Fault> {
        let Try { attempt, took_ms, spent } = tried;
        let name = self.named(unit.task, unit.element);
        // What was cancelled has not failed: nothing stands for it.
        let on_error =
            if error.code == code::CANCELLED { &OnError::Fail } else { &self.flow.tasks[unit.task].on_error };
        let value = match on_error {
            OnError::Fail => Err(error.clone()),
            OnError::Skip => {
                let why = format!("it failed: {} {}", error.code, error.message);
                self.tell(RunEvent::TaskSkipped { unit: name, why: why.clone(), failed: Some(error), spent })?;
                return Ok(Fate::Skipped(why));
            }
            OnError::Value(value) => {
                let scope = self.scope(at_work, unit).unwrap_or_else(|_| at_work.known.clone());
                self.render.value(value, &scope)
            }
        };
        match value {
            Ok(output) => {
                let output = self.secrets.hide_in(output);
                self.tell(RunEvent::TaskCompleted {
                    unit: name,
                    output: Some(output.clone()),
                    took_ms,
                    spent,
                    call: None,
                    instead_of: Some(error),
                })?;
                Ok(Fate::Done(output))
            }
            Err(error) => {
                let error = self.hidden(error);
                self.tell(RunEvent::TaskFailed {
                    unit: name,
                    attempt,
                    error: error.clone(),
                    took_ms,
                    spent,
                    again_ms: None,
                })?;
                Ok(Fate::Failed(error))
            }
        }
    }

    fn hidden(&self, error: ToolError) -> ToolError {
        ToolError {
            code: error.code,
            message: self.secrets.hide(&error.message).into_owned(),
            hint: error.hint.map(|hint| self.secrets.hide(&hint).into_owned()),
        }
    }

    /// The bound that the run has reached.
    fn over(&self, at_work: &AtWork<'_>, deadline: Option<u64>) -> Option<ToolError> {
        let limits = &self.flow.limits;
        self.meter.stands_at(at_work.taken());
        let reached = |message: String, hint: &str| Some(ToolError::new(code::RUN_LIMIT, message).hint(hint));
        if deadline.is_some_and(|deadline| self.world.now_ms() >= deadline) {
            let most = limits.timeout.as_ref().map(|most| most.value).unwrap_or_default();
            return reached(
                format!("the run took longer than `limits.timeout`, {most:?}"),
                "resume the run; the limit may be raised in the file before",
            );
        }
        let spent = self.all_spent(at_work);
        if let Some(most) = limits.tokens.as_ref().filter(|most| spent.tokens > most.value) {
            let message = format!("the run took {} tokens, more than `limits.tokens`, {}", spent.tokens, most.value);
            return reached(message, "raise the limit in the file, and resume the run");
        }
        let cost = spent.cost_micros.unwrap_or(0);
        if let Some(most) = limits.cost_micros.as_ref().filter(|most| cost > most.value) {
            let dollars = |micros: u64| format!("${:.4}", micros as f64 / 1e6);
            let message =
                format!("the run cost {}, more than `limits.cost_usd`, {}", dollars(cost), dollars(most.value));
            return reached(message, "raise the limit in the file, and resume the run");
        }
        None
    }

    /// What models took, of all processes.
    fn all_spent(&self, at_work: &AtWork<'_>) -> Spent {
        self.done.spent.plus(at_work.taken())
    }

    /// Ends what runs, and the run.
    async fn stop(&self, at_work: &mut AtWork<'_>) -> Result<Ended, Fault> {
        at_work.afloat.values().for_each(|afloat| afloat.cancel.cancel());
        let until = self.world.now_ms().saturating_add(GRACE_MS);
        while !at_work.tries.is_empty() && self.world.now_ms() < until {
            tokio::select! {
                biased;
                tried = at_work.tries.join_next() => {
                    if let Some((unit, result)) = tried.map(joined) {
                        // What has ended after all has ended; what was cancelled begins anew another time.
                        match result {
                            Err(unmade) if unmade.error.code == code::CANCELLED => {
                                at_work.spent = at_work.spent.plus(unmade.spent);
                                at_work.afloat.remove(&unit);
                            }
                            result => self.ended(at_work, unit, result)?,
                        }
                    }
                }
                () = self.world.until(until) => {}
            }
        }
        let took_ms = self.world.now_ms().saturating_sub(at_work.began);
        let spent = self.all_spent(at_work);
        let ended = match at_work.bound.take() {
            Some(error) => {
                self.tell(RunEvent::Aborted { error: error.clone(), took_ms, spent })?;
                Ended::Aborted(error)
            }
            None => {
                self.tell(RunEvent::Paused { took_ms, spent })?;
                Ended::Paused
            }
        };
        self.trace.sync()?;
        Ok(ended)
    }

    /// All is settled: what the run answers with.
    fn finish(&self, at_work: &AtWork<'_>) -> Result<Ended, Fault> {
        let took_ms = self.world.now_ms().saturating_sub(at_work.began);
        let failed: Vec<(&str, &ToolError)> = self
            .flow
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(at, task)| match at_work.plan.fate(at)? {
                Fate::Failed(error) => Some((task.id.value.as_str(), error)),
                _ => None,
            })
            .collect();
        let outputs = if failed.is_empty() { self.outputs(at_work) } else { Err(failure(&failed)) };
        let spent = self.all_spent(at_work);
        let ended = match outputs {
            Ok(outputs) => {
                self.tell(RunEvent::Completed { outputs: outputs.clone(), took_ms, spent })?;
                Ended::Completed(outputs)
            }
            Err(error) => {
                let error = self.hidden(error);
                self.tell(RunEvent::Failed { error: error.clone(), took_ms, spent })?;
                Ended::Failed(error)
            }
        };
        self.trace.sync()?;
        Ok(ended)
    }

    fn outputs(&self, at_work: &AtWork<'_>) -> Result<Map<String, Value>, ToolError> {
        if self.flow.outputs.is_empty() {
            return Ok(Map::new());
        }
        let mut scope = at_work.known.clone();
        scope.root("tasks");
        for (at, task) in self.flow.tasks.iter().enumerate() {
            if let Some(Fate::Done(value)) = at_work.plan.fate(at) {
                scope.put("tasks", &task.id.value, value);
            }
        }
        let output = |(name, value): &(crate::model::At<String>, crate::model::Dynamic)| {
            Ok((name.value.clone(), self.secrets.hide_in(self.render.value(value, &scope)?)))
        };
        self.flow.outputs.iter().map(output).collect()
    }
}

/// What a run holds while it goes.
struct AtWork<'f> {
    plan: Plan<'f>,
    tries: JoinSet<Tried>,
    afloat: BTreeMap<Unit, Afloat>,
    /// What all templates know.
    known: Scope,
    /// The loops at work.
    loops: BTreeMap<Index, Loop>,
    /// What models took in this process.
    spent: Spent,
    /// The bound that was reached.
    bound: Option<ToolError>,
    began: u64,
}

impl AtWork<'_> {
    /// What models took in this process, with what has not ended yet.
    fn taken(&self) -> Spent {
        self.afloat.values().fold(self.spent, |spent, afloat| spent.plus(afloat.meter.now()))
    }
}

/// A loop at work.
struct Loop {
    items: Vec<Value>,
    /// What the templates of every element know.
    scope: Scope,
    began: u64,
}

/// What a task turns out to be, looked at.
enum Looked {
    Not,
    Once,
    /// The elements, and what the templates of all of them know.
    Each(Vec<Value>, Scope),
}

fn failure(failed: &[(&str, &ToolError)]) -> ToolError {
    let (first, error) = failed[0];
    let message = match failed.len() {
        1 => format!("`{first}` failed: {} {}", error.code, error.message),
        count => {
            let names: Vec<String> = failed.iter().map(|(name, _)| format!("`{name}`")).collect();
            format!("{count} tasks failed: {}; the first: {} {}", names.join(", "), error.code, error.message)
        }
    };
    let failed = ToolError::new(code::TASKS_FAILED, message);
    match &error.hint {
        Some(hint) => failed.hint(hint.clone()),
        None => failed,
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("flow", &self.flow.name).finish_non_exhaustive()
    }
}
