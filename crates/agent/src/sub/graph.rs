//! Sub-tasks that wait for each other: in which batches they can be done, and what a failure stops. Pure.

use std::collections::BTreeSet;

use nika_contract::{ToolError, code};

/// In which order sub-tasks are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Everything whose prerequisites are done, at once.
    #[default]
    Topological,
    /// One after the other, as written where nothing says otherwise.
    Sequential,
    /// All at once: nothing may wait for anything.
    Parallel,
}

/// Each strategy by its names, our own first.
const STRATEGIES: &[(Strategy, &[&str])] = &[
    (Strategy::Topological, &["topological", "dag", "auto", "batched"]),
    (Strategy::Sequential, &["sequential", "serial"]),
    (Strategy::Parallel, &["parallel", "concurrent"]),
];

impl std::str::FromStr for Strategy {
    type Err = ToolError;

    fn from_str(name: &str) -> Result<Strategy, ToolError> {
        let known = STRATEGIES.iter().find(|(_, names)| names.contains(&name.trim().to_lowercase().as_str()));
        known.map(|(strategy, _)| *strategy).ok_or_else(|| {
            let names: Vec<&str> = STRATEGIES.iter().map(|(_, names)| names[0]).collect();
            ToolError::argument("strategy", format!("takes {}, not '{name}'", names.join(", ")))
        })
    }
}

/// A sub-task as far as the order goes: its name, and the names of those that come before it.
pub type Node<'a> = (&'a str, &'a [String]);

/// The batches in which `nodes` are done, as their indices. What is in one batch waits for nothing in it.
pub fn batches(nodes: &[Node<'_>], strategy: Strategy) -> Result<Vec<Vec<usize>>, ToolError> {
    let edges = edges(nodes)?;
    if strategy == Strategy::Parallel
        && let Some(waits) = edges.iter().position(|before| !before.is_empty())
    {
        let first = &nodes[waits].1[0];
        return Err(bad(format!("`{}` waits for `{first}`, and with strategy parallel nothing waits", nodes[waits].0)));
    }
    let mut done = BTreeSet::new();
    let mut batches = Vec::new();
    while done.len() < nodes.len() {
        let mut ready: Vec<usize> =
            (0..nodes.len()).filter(|at| !done.contains(at) && edges[*at].is_subset(&done)).collect();
        if ready.is_empty() {
            return Err(circle(nodes, &edges, &done));
        }
        if strategy == Strategy::Sequential {
            ready.truncate(1);
        }
        done.extend(ready.iter().copied());
        batches.push(ready);
    }
    Ok(batches)
}

fn bad(message: String) -> ToolError {
    ToolError::new(code::SUBTASK_ORDER, message).hint("nothing was started; mend `depends_on` and call again")
}

/// For each node, the indices of those before it. Names are there once, and what is waited for is there.
fn edges(nodes: &[Node<'_>]) -> Result<Vec<BTreeSet<usize>>, ToolError> {
    for (at, (name, _)) in nodes.iter().enumerate() {
        if nodes[..at].iter().any(|(other, _)| other == name) {
            return Err(bad(format!("two sub-tasks are called `{name}`")));
        }
    }
    let find = |waiting: &str, name: &String| {
        nodes.iter().position(|(other, _)| other == name).ok_or_else(|| {
            let names: Vec<&str> = nodes.iter().map(|(name, _)| *name).collect();
            bad(format!("`{waiting}` waits for `{name}`, which is no sub-task; there are {}", names.join(", ")))
        })
    };
    nodes.iter().map(|(waiting, before)| before.iter().map(|name| find(waiting, name)).collect()).collect()
}

/// One circle among what is not done: everything left waits for something left, so a walk along it comes back.
fn circle(nodes: &[Node<'_>], edges: &[BTreeSet<usize>], done: &BTreeSet<usize>) -> ToolError {
    let mut way: Vec<usize> = (0..nodes.len()).find(|at| !done.contains(at)).into_iter().collect();
    loop {
        let at = *way.last().expect("it began with one");
        let next = *edges[at].iter().find(|before| !done.contains(before)).expect("what is left waits");
        if let Some(begin) = way.iter().position(|seen| *seen == next) {
            let names: Vec<&str> = way[begin..].iter().chain([&next]).map(|at| nodes[*at].0).collect();
            return bad(format!("sub-tasks wait for each other: {}", names.join(" → ")));
        }
        way.push(next);
    }
}

/// What becomes of a sub-task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Not settled yet.
    Open,
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// It was not begun: one that it waits for failed, or too many have.
    Skipped,
}

/// What failures stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerance {
    /// Whether sub-tasks that do not wait for the failed one go on.
    pub continue_on_error: bool,
    /// With so many failures nothing more is begun.
    pub max_failures: Option<u32>,
}

impl Tolerance {
    /// Why a sub-task is not begun, if it is not. `before` are those it waits for.
    pub fn stops(&self, fates: &[Fate], before: &BTreeSet<usize>) -> Option<&'static str> {
        let failed = fates.iter().filter(|fate| **fate == Fate::Failed).count();
        if before.iter().any(|at| matches!(fates[*at], Fate::Failed | Fate::Skipped)) {
            return Some("one that it waits for was not done");
        }
        if failed > 0 && !self.continue_on_error {
            return Some("another failed, and continue_on_error was not said");
        }
        if self.max_failures.is_some_and(|most| failed >= usize::try_from(most.max(1)).unwrap_or(usize::MAX)) {
            return Some("max_failures have failed");
        }
        None
    }
}

/// For each node, those it waits for; the names are known to be there, as [`batches`] has looked.
pub fn before(nodes: &[Node<'_>]) -> Vec<BTreeSet<usize>> {
    let find = |name: &String| nodes.iter().position(|(other, _)| other == name);
    nodes.iter().map(|(_, before)| before.iter().filter_map(find).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `b<a` is b, which waits for a.
    fn planned(written: &[&str], strategy: Strategy) -> Result<Vec<Vec<usize>>, String> {
        let nodes: Vec<(String, Vec<String>)> = written
            .iter()
            .map(|text| {
                let (name, before) = text.split_once('<').unwrap_or((text, ""));
                (name.to_owned(), before.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
            })
            .collect();
        let nodes: Vec<Node<'_>> = nodes.iter().map(|(name, before)| (name.as_str(), before.as_slice())).collect();
        batches(&nodes, strategy).map_err(|error| error.message)
    }

    #[test]
    fn what_waits_for_nothing_goes_first_and_at_once() {
        use Strategy::{Parallel, Sequential, Topological};
        let written = ["c<a,b", "a", "b", "d<c"];
        assert_eq!(planned(&written, Topological).expect("no circle"), [vec![1, 2], vec![0], vec![3]]);
        assert_eq!(planned(&written, Sequential).expect("no circle"), [[1], [2], [0], [3]].map(|one| one.to_vec()));
        assert_eq!(planned(&["a", "b"], Parallel).expect("none waits"), [[0, 1]]);
        assert_eq!(
            planned(&written, Parallel).expect_err("c waits"),
            "`c` waits for `a`, and with strategy parallel nothing waits"
        );
        assert_eq!(planned(&[], Topological).expect("nothing"), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn circles_and_strangers_are_named() {
        let said = |written: &[&str]| planned(written, Strategy::Topological).expect_err("refused");
        assert_eq!(said(&["a", "b<d,a", "c<b", "d<c"]), "sub-tasks wait for each other: b → d → c → b");
        assert_eq!(said(&["a<a"]), "sub-tasks wait for each other: a → a");
        assert_eq!(said(&["a<x", "b"]), "`a` waits for `x`, which is no sub-task; there are a, b");
        assert_eq!(said(&["a", "a"]), "two sub-tasks are called `a`");
    }

    #[test]
    fn every_order_puts_each_after_what_it_waits_for() {
        // All graphs over four nodes in which a node waits only for earlier ones: 2^6.
        for bits in 0..64_u32 {
            let names = ["a", "b", "c", "d"];
            let pairs = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)];
            let waits: Vec<Vec<String>> = (0..4)
                .map(|node| {
                    let before =
                        pairs.iter().enumerate().filter(|(at, (waiting, _))| *waiting == node && bits >> at & 1 == 1);
                    before.map(|(_, (_, before))| names[*before].to_owned()).collect()
                })
                .collect();
            let nodes: Vec<Node<'_>> = (0..4).rev().map(|node: usize| (names[node], waits[node].as_slice())).collect();
            for strategy in [Strategy::Topological, Strategy::Sequential] {
                let order = batches(&nodes, strategy).expect("no circle");
                let place = |at: usize| order.iter().position(|batch| batch.contains(&at)).expect("each is done");
                assert_eq!(order.iter().map(Vec::len).sum::<usize>(), 4);
                for (at, before) in before(&nodes).iter().enumerate() {
                    assert!(before.iter().all(|first| place(*first) < place(at)), "{bits:b}: {order:?}");
                }
            }
        }
    }

    #[test]
    fn failures_stop_what_they_are_said_to_stop() {
        use Fate::{Done, Failed, Open};
        let (none, after_first) = (BTreeSet::new(), BTreeSet::from([0]));
        let strict = Tolerance { continue_on_error: false, max_failures: None };
        let lenient = Tolerance { continue_on_error: true, max_failures: Some(2) };
        assert_eq!(strict.stops(&[Done, Open], &after_first), None);
        assert!(strict.stops(&[Failed, Open], &none).is_some());
        assert!(lenient.stops(&[Failed, Open], &after_first).is_some(), "it waits for the failed one");
        assert_eq!(lenient.stops(&[Failed, Open], &none), None);
        assert!(lenient.stops(&[Failed, Failed, Open], &none).is_some(), "two are enough");
    }
}
