//! Several orders as one: each is begun when those it waits for are done, and is told what they answered.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

use nika_contract::{Output, ToolError, code, text};
use nika_store::tasks::TaskId;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::task::JoinSet;

use super::background::BEAT;
use super::child::{Child, Finished, Starter};
use super::fleet::{Fleet, lock};
use super::graph::{Fate, Node, Strategy, Tolerance, batches, before};
use super::narrow::Order;
use super::report::Report;

/// Characters of one answer that those who wait for it are told.
const TOLD_CHARS: usize = 8_000;

/// Orders, and in which order they are carried out.
#[derive(Debug)]
pub(crate) struct Several {
    parts: Vec<Part>,
    batches: Vec<Vec<usize>>,
    tolerance: Tolerance,
}

#[derive(Debug)]
struct Part {
    name: String,
    order: Order,
    before: BTreeSet<usize>,
}

/// What became of an order.
enum Became {
    Finished(Box<Finished>),
    Failed(ToolError),
    Skipped(&'static str),
}

impl Became {
    fn fate(&self) -> Fate {
        match self {
            Became::Finished(finished) if finished.is_done() => Fate::Done,
            Became::Finished(_) | Became::Failed(_) => Fate::Failed,
            Became::Skipped(_) => Fate::Skipped,
        }
    }

    /// What it brought, under its name, at most so many characters of it.
    fn told(&self, name: &str, most: usize) -> String {
        let said = match self {
            Became::Finished(finished) => finished.text(),
            Became::Failed(error) => error.to_string(),
            Became::Skipped(why) => (*why).to_owned(),
        };
        let said = text::head_and_tail(&said, most).unwrap_or(said);
        format!("## {} [{}]\n{said}", text::preview(name, 80), word(self.fate()))
    }
}

impl Several {
    /// Each order by its name, with the names of those that come before it; an error where no order is possible.
    pub(crate) fn new(
        orders: Vec<(String, Vec<String>, Order)>,
        strategy: Strategy,
        tolerance: Tolerance,
    ) -> Result<Several, ToolError> {
        let nodes: Vec<Node<'_>> = orders.iter().map(|(name, waits, _)| (name.as_str(), waits.as_slice())).collect();
        let (batches, before) = (batches(&nodes, strategy)?, before(&nodes));
        let part = |((name, _, order), before)| Part { name, order, before };
        Ok(Several { parts: orders.into_iter().zip(before).map(part).collect(), batches, tolerance })
    }

    /// The same with nobody to be asked for any of them.
    pub(super) fn alone(mut self) -> Several {
        self.parts.iter_mut().for_each(|part| part.order.alone = true);
        self
    }

    /// Refuses what no agent could be begun for, before the first is.
    pub(crate) fn check(&self, fleet: &Fleet, session: &str) -> Result<(), ToolError> {
        for Part { order, .. } in &self.parts {
            fleet.check(session, order.kind.as_deref(), order.model.as_deref())?;
            fleet.check_conversations(session, order)?;
        }
        Ok(())
    }

    /// In which order they are begun: the place of each among those that were given, and its name.
    pub(crate) fn sequence(&self) -> impl Iterator<Item = (usize, &str)> {
        self.batches.iter().flatten().map(|at| (*at, self.parts[*at].name.as_str()))
    }

    /// Their names, as they were given.
    pub(super) fn names(&self) -> Vec<&str> {
        self.parts.iter().map(|part| part.name.as_str()).collect()
    }

    /// Carries them out. `row` is the background task that they are, where nobody waits for the call: then an order for
    /// which no seat is free waits for one.
    pub(crate) async fn run(
        &self,
        fleet: &Arc<Fleet>,
        starter: Starter,
        row: Option<Arc<SoFar>>,
    ) -> Result<Brought, ToolError> {
        let mut became: Vec<Option<Became>> = self.parts.iter().map(|_| None).collect();
        let mut at_hand = Work { fleet, starter, row };
        for batch in &self.batches {
            self.batch(batch, &mut became, &mut at_hand).await?;
        }
        let part = |(part, one): (&Part, Option<Became>)| {
            (part.name.clone(), one.unwrap_or(Became::Skipped("it was never begun")))
        };
        Ok(Brought(self.parts.iter().zip(became).map(part).collect()))
    }

    /// Does one batch, as many at once as there are seats.
    async fn batch(
        &self,
        batch: &[usize],
        became: &mut [Option<Became>],
        work: &mut Work<'_>,
    ) -> Result<(), ToolError> {
        let mut waiting: VecDeque<usize> = batch.iter().copied().collect();
        // Dropped with the call, and all that is at work in it.
        let mut at_work = JoinSet::new();
        loop {
            while let Some(&at) = waiting.front() {
                let seat = match self.stops(at, became, work) {
                    Some(why) => Err(Became::Skipped(why)),
                    None => match work.starter.seat.take().map_or_else(|| work.fleet.seat(), Ok) {
                        Ok(seat) => Ok(seat),
                        // One of ours will leave its own, or nobody is kept waiting.
                        Err(_) if !at_work.is_empty() || work.row.is_some() => break,
                        Err(error) => Err(Became::Failed(error)),
                    },
                };
                waiting.pop_front();
                match seat {
                    Err(instead) => became[at] = Some(instead),
                    Ok(seat) => {
                        let order = self.order(at, became);
                        let starter = Starter { seat: Some(seat), ..work.starter.another() };
                        let fleet = Arc::clone(work.fleet);
                        at_work.spawn(async move { (at, one(&fleet, starter, &order).await) });
                    }
                }
            }
            work.sits(!at_work.is_empty());
            match at_work.join_next().await {
                Some(done) => {
                    let (at, done) =
                        done.map_err(|error| ToolError::new(code::BUG, format!("an agent crashed: {error}")))?;
                    let done = match done {
                        Ok(finished) => Became::Finished(Box::new(finished)),
                        Err(error) => Became::Failed(error),
                    };
                    if let Some(so_far) = &work.row {
                        so_far.note(done.told(&self.parts[at].name, usize::MAX));
                    }
                    became[at] = Some(done);
                }
                None if waiting.is_empty() => return Ok(()),
                None => tokio::time::sleep(BEAT).await,
            }
        }
    }

    /// Why an order is not begun, if it is not.
    fn stops(&self, at: usize, became: &[Option<Became>], work: &Work<'_>) -> Option<&'static str> {
        let fates: Vec<Fate> = became.iter().map(|one| one.as_ref().map_or(Fate::Open, Became::fate)).collect();
        let cancelled = work.starter.cancel.is_cancelled().then_some("the call was cancelled");
        self.tolerance.stops(&fates, &self.parts[at].before).or(cancelled)
    }

    /// An order with what those before it answered.
    fn order(&self, at: usize, became: &[Option<Became>]) -> Order {
        let Part { order, before, .. } = &self.parts[at];
        let mut order = order.clone();
        for at in before {
            if let Some(Became::Finished(finished)) = &became[*at] {
                let said = &finished.ended.answer;
                let said = text::head_and_tail(said, TOLD_CHARS).unwrap_or_else(|| said.clone());
                let name = text::preview(&self.parts[*at].name, 80);
                order.prompt.push_str(&format!("\n\n<answer of=\"{name}\">\n{said}\n</answer>"));
            }
        }
        order
    }
}

/// What the orders are carried out with.
struct Work<'a> {
    fleet: &'a Arc<Fleet>,
    starter: Starter,
    row: Option<Arc<SoFar>>,
}

/// A background task that stands for several orders, and what they answered until now: what is kept where it ends before
/// all of them have.
#[derive(Debug)]
pub(crate) struct SoFar {
    row: TaskId,
    answers: Mutex<Vec<String>>,
}

impl SoFar {
    pub(super) fn new(row: TaskId) -> Arc<SoFar> {
        Arc::new(SoFar { row, answers: Mutex::default() })
    }

    fn note(&self, told: String) {
        lock(&self.answers).push(told);
    }

    /// None where nobody has answered.
    pub(super) fn answer(&self, most: usize) -> Option<String> {
        let answers = lock(&self.answers).join("\n\n");
        (!answers.is_empty()).then(|| text::head_and_tail(&answers, most).unwrap_or(answers))
    }
}

impl Work<'_> {
    /// Says whether one of them has a seat: who has none itself does not wait for what has one.
    fn sits(&self, sits: bool) {
        let Some(row) = self.row.as_ref().map(|so_far| so_far.row) else { return };
        let mut seated = lock(&self.fleet.seated);
        if sits {
            seated.insert(row)
        } else {
            seated.remove(&row)
        };
    }
}

async fn one(fleet: &Arc<Fleet>, starter: Starter, order: &Order) -> Result<Finished, ToolError> {
    let mut child = Child::hire(fleet, starter, order).await?;
    let worked = child.work(&order.prompt).await;
    let finished = child.dismiss().await?;
    worked.map(|_| finished)
}

/// What became of all of them, in the order in which they were given.
pub(crate) struct Brought(Vec<(String, Became)>);

/// The same as data.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Delegated {
    done: usize,
    failed: usize,
    skipped: usize,
    subtasks: Vec<Row>,
}

/// What became of one.
#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    id: String,
    /// `done`, `failed` or `skipped`.
    status: &'static str,
    /// What its agent brought, where one was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Report>,
    /// Why no agent brought anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl Brought {
    fn count(&self, fate: Fate) -> usize {
        self.0.iter().filter(|(_, one)| one.fate() == fate).count()
    }

    /// Whether all were done.
    pub(super) fn is_done(&self) -> bool {
        self.count(Fate::Done) == self.0.len()
    }

    /// In a line.
    pub(super) fn counts(&self) -> String {
        let of = |fate| self.count(fate);
        format!("{} done, {} failed, {} skipped.", of(Fate::Done), of(Fate::Failed), of(Fate::Skipped))
    }

    /// For the model that gave the orders: what each brought, about so many characters of all.
    pub(super) fn text(&self, most: usize) -> String {
        let mut said = vec![self.counts()];
        // A share each: a row that holds all of them is read whole.
        let share = most / self.0.len().max(1);
        said.extend(self.0.iter().map(|(name, one)| one.told(name, share)));
        said.join("\n\n")
    }

    fn data(&self) -> Delegated {
        let row = |(name, one): &(String, Became)| {
            let (agent, why) = match one {
                Became::Finished(finished) => (Some(finished.report()), None),
                Became::Failed(error) => (None, Some(error.to_string())),
                Became::Skipped(why) => (None, Some((*why).to_owned())),
            };
            Row { id: name.clone(), status: word(one.fate()), agent, why }
        };
        Delegated {
            done: self.count(Fate::Done),
            failed: self.count(Fate::Failed),
            skipped: self.count(Fate::Skipped),
            subtasks: self.0.iter().map(row).collect(),
        }
    }

    /// As a tool's answer.
    pub(crate) fn output(&self) -> Output {
        let data = serde_json::to_value(self.data()).unwrap_or_default();
        let failed = (!self.is_done()).then_some(code::SUBTASKS_FAILED);
        Output { failed, ..Output::data(data, self.text(usize::MAX)) }
            .with_fact("done", self.count(Fate::Done))
            .with_fact("failed", self.count(Fate::Failed))
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Done => "done",
        Fate::Failed => "failed",
        Fate::Skipped | Fate::Open => "skipped",
    }
}
