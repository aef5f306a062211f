//! What is to be done next: the scheduler as a state machine, pure and without a clock of its own.
//!
//! ```text
//!            dependencies settled         when, for_each read          a place is free
//!  waiting ───────────────────────▶ open ───────────────────▶ ready ─────────────────▶ running ──▶ settled
//!                │ a dependency made nothing                     ▲    fails, tries left     │
//!                └──────────▶ skipped                            └── later ◀────────────────┘
//! ```
//!
//! Whoever drives it asks [`Plan::next`], does what that says, and tells it what came of it. What templates say, what
//! a task does and what is written down is the driver's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nika_contract::ToolError;
use serde_json::Value;

use crate::model::{Flow, Index, Task};

/// Tasks at once when the document says nothing.
pub const PARALLEL: usize = 8;

/// A task, or one element of its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unit {
    /// The task.
    pub task: Index,
    /// Which element, from 0; `None` for a task without a loop.
    pub element: Option<usize>,
}

/// What became of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It made this.
    Done(Value),
    /// It made nothing, and what depends on it is not begun.
    Failed(ToolError),
    /// It was not begun, or its failure counts as that; why, in words.
    Skipped(String),
}

/// What a task that may begin turns out to be.
#[derive(Debug)]
pub enum Opened {
    /// It ended before, in an earlier process.
    Ended(Fate),
    /// It runs once.
    Once,
    /// It runs once for each of so many elements; some have ended before.
    Each {
        /// Elements in all.
        count: usize,
        /// What elements made in an earlier process.
        done: BTreeMap<usize, Value>,
    },
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Say what this task turns out to be: [`Plan::opened`].
    Open(Index),
    /// This task is skipped: a dependency made nothing.
    Skipped(Index, String),
    /// Begin this; it is the attempt of this number, from 1.
    Begin(Unit, u32),
    /// Nothing, until something that runs has ended, or until this time.
    Wait(Option<u64>),
    /// All is settled, or nothing more is begun and nothing runs.
    Over,
}

/// What the end of a unit means.
#[derive(Debug, Default, PartialEq)]
pub struct Settled {
    /// Its task is settled by it.
    pub task: bool,
    /// These are not wanted any more.
    pub cancel: Vec<Unit>,
}

/// The state of a run.
#[derive(Debug)]
pub struct Plan<'f> {
    flow: &'f Flow,
    parallel: usize,
    dependents: Vec<Vec<Index>>,
    /// How many dependencies of each task are not settled.
    left: Vec<usize>,
    fates: Vec<Option<Fate>>,
    unsettled: usize,
    opening: BTreeSet<Index>,
    ready: VecDeque<Unit>,
    /// Tries that wait, by the time when they are due.
    later: BTreeSet<(u64, Unit)>,
    running: BTreeSet<Unit>,
    /// Tries begun, of units that are not settled.
    attempts: BTreeMap<Unit, u32>,
    loops: BTreeMap<Index, Loop>,
    stopped: bool,
}

/// A loop at work.
#[derive(Debug)]
struct Loop {
    made: Vec<Option<Value>>,
    /// The next element that was not begun.
    next: usize,
    /// Begun and not settled.
    afloat: usize,
    failed: Option<ToolError>,
    failures: usize,
}

impl<'f> Plan<'f> {
    /// Nothing has happened yet.
    pub fn new(flow: &'f Flow) -> Plan<'f> {
        let mut dependents = vec![Vec::new(); flow.tasks.len()];
        for (at, task) in flow.tasks.iter().enumerate() {
            task.after.iter().for_each(|on| dependents[*on].push(at));
        }
        let left: Vec<usize> = flow.tasks.iter().map(|task| task.after.len()).collect();
        Plan {
            flow,
            parallel: flow.limits.parallel.as_ref().map_or(PARALLEL, |most| most.value.max(1)),
            dependents,
            opening: left.iter().enumerate().filter(|(_, left)| **left == 0).map(|(at, _)| at).collect(),
            left,
            fates: vec![None; flow.tasks.len()],
            unsettled: flow.tasks.len(),
            ready: VecDeque::new(),
            later: BTreeSet::new(),
            running: BTreeSet::new(),
            attempts: BTreeMap::new(),
            loops: BTreeMap::new(),
            stopped: false,
        }
    }

    /// What is to be done at this time.
    pub fn next(&mut self, now_ms: u64) -> Next {
        if self.stopped {
            return if self.running.is_empty() { Next::Over } else { Next::Wait(None) };
        }
        if let Some(task) = self.opening.pop_first() {
            return match self.withheld(&self.flow.tasks[task]) {
                Some(why) => {
                    self.settle(task, Fate::Skipped(why.clone()));
                    Next::Skipped(task, why)
                }
                None => Next::Open(task),
            };
        }
        while let Some((due, unit)) = self.later.first().copied().filter(|(due, _)| *due <= now_ms) {
            self.later.remove(&(due, unit));
            self.ready.push_back(unit);
        }
        if self.running.len() < self.parallel
            && let Some(unit) = self.ready.pop_front()
        {
            self.running.insert(unit);
            let attempt = self.attempts.entry(unit).or_default();
            *attempt += 1;
            return Next::Begin(unit, *attempt);
        }
        if !self.running.is_empty() || !self.later.is_empty() {
            // What is due may begin only when a place is free.
            let due = self.later.first().map(|(due, _)| *due);
            return Next::Wait(due.filter(|_| self.running.len() < self.parallel));
        }
        debug_assert_eq!(self.unsettled, 0, "a graph without cycles comes to its end");
        Next::Over
    }

    /// Why a task whose dependencies are settled is not begun: one of them made nothing, and not each use of it has
    /// a default.
    fn withheld(&self, task: &Task) -> Option<String> {
        task.after.iter().find_map(|on| {
            let how = match self.fates[*on].as_ref()? {
                Fate::Done(_) => return None,
                Fate::Failed(_) => "failed",
                Fate::Skipped(_) => "was skipped",
            };
            let mut uses = task.uses.iter().filter(|of| of.task == *on).peekable();
            let made_up_for = uses.peek().is_some() && uses.all(|of| of.default.is_some());
            (!made_up_for).then(|| format!("`{}` {how}", self.flow.tasks[*on].id.value))
        })
    }

    /// Says what a task turns out to be.
    pub fn opened(&mut self, task: Index, opened: Opened) {
        match opened {
            Opened::Ended(fate) => self.settle(task, fate),
            Opened::Once => self.ready.push_back(Unit { task, element: None }),
            Opened::Each { count, mut done } => {
                let made: Vec<Option<Value>> = (0..count).map(|at| done.remove(&at)).collect();
                self.loops.insert(task, Loop { made, next: 0, afloat: 0, failed: None, failures: 0 });
                self.go_on(task);
            }
        }
    }

    /// Whether what failed is tried again, and when: no sooner than in `rest_ms`, as far as the longest wait reaches.
    pub fn again(&mut self, unit: Unit, now_ms: u64, rest_ms: u64) -> Option<u64> {
        let retry = &self.flow.tasks[unit.task].retry;
        let attempts = self.attempts.get(&unit).copied().unwrap_or(1);
        let given_up = self.loops.get(&unit.task).is_some_and(|of| of.failed.is_some() && self.fails_fast(unit.task));
        if attempts >= retry.attempts || self.stopped || given_up {
            return None;
        }
        let most = u64::try_from(retry.most.as_millis()).unwrap_or(u64::MAX);
        let due = now_ms.saturating_add(backoff_ms(retry, attempts).max(rest_ms.min(most)));
        self.running.remove(&unit);
        self.later.insert((due, unit));
        Some(due)
    }

    /// A unit has ended for good.
    pub fn ended(&mut self, unit: Unit, fate: Fate) -> Settled {
        self.running.remove(&unit);
        self.attempts.remove(&unit);
        let (Some(element), fails_fast) = (unit.element, self.fails_fast(unit.task)) else {
            self.settle(unit.task, fate);
            return Settled { task: true, cancel: Vec::new() };
        };
        let of = self.loops.get_mut(&unit.task).expect("an element's loop lives until its task is settled");
        of.afloat -= 1;
        let mut cancel = Vec::new();
        match fate {
            Fate::Done(value) => of.made[element] = Some(value),
            Fate::Skipped(_) => of.made[element] = Some(Value::Null),
            // What is cancelled for another's failure is none of its own.
            Fate::Failed(_) if fails_fast && of.failed.is_some() => {}
            Fate::Failed(error) => {
                of.failures += 1;
                of.failed.get_or_insert(error);
                if fails_fast {
                    cancel = self.running.iter().filter(|other| other.task == unit.task).copied().collect();
                }
            }
        }
        Settled { task: self.go_on(unit.task), cancel }
    }

    /// Begins what a loop may begin, or settles its task. Whether it is settled.
    fn go_on(&mut self, task: Index) -> bool {
        let fails_fast = self.fails_fast(task);
        let most = self.flow.tasks[task].for_each.as_ref().map_or(1, |each| each.concurrency.max(1));
        let of = self.loops.get_mut(&task).expect("asked for a loop at work");
        let given_up = of.failed.is_some() && fails_fast;
        if given_up {
            let dropped = |unit: &Unit| unit.task == task;
            let before = self.ready.len() + self.later.len();
            self.ready.retain(|unit| !dropped(unit));
            self.later.retain(|(_, unit)| !dropped(unit));
            of.afloat -= before - self.ready.len() - self.later.len();
        }
        while !given_up && of.afloat < most && of.next < of.made.len() {
            if of.made[of.next].is_none() {
                of.afloat += 1;
                self.ready.push_back(Unit { task, element: Some(of.next) });
            }
            of.next += 1;
        }
        if of.afloat > 0 {
            return false;
        }
        let of = self.loops.remove(&task).expect("it is there");
        let count = of.made.len();
        self.settle(
            task,
            match of.failed {
                Some(mut error) if of.failures > 1 => {
                    error.message = format!("{} of {count} elements failed, the first: {}", of.failures, error.message);
                    Fate::Failed(error)
                }
                Some(error) => Fate::Failed(error),
                None => Fate::Done(Value::Array(of.made.into_iter().map(Option::unwrap_or_default).collect())),
            },
        );
        true
    }

    fn fails_fast(&self, task: Index) -> bool {
        self.flow.tasks[task].for_each.as_ref().is_some_and(|each| each.fail_fast)
    }

    fn settle(&mut self, task: Index, fate: Fate) {
        self.fates[task] = Some(fate);
        self.unsettled -= 1;
        for dependent in &self.dependents[task] {
            self.left[*dependent] -= 1;
            if self.left[*dependent] == 0 {
                self.opening.insert(*dependent);
            }
        }
    }

    /// Nothing more is begun.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// What became of a task; `None` before it is settled.
    pub fn fate(&self, task: Index) -> Option<&Fate> {
        self.fates[task].as_ref()
    }
}

/// The wait after the attempt of this number.
fn backoff_ms(retry: &crate::model::Retry, attempt: u32) -> u64 {
    let most = retry.most.as_millis() as f64;
    let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
    let wait = retry.backoff.as_millis() as f64 * retry.factor.max(1.0).powi(exponent);
    // Not a number only where zero met infinity: then nothing is waited for.
    if wait.is_nan() { 0 } else { wait.min(most) as u64 }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
