//! Which task waits for which: circles, and the layers that pictures and bounds are made of.

use nika_contract::code;

use crate::finding::Finding;
use crate::model::{Flow, Index};

/// Each circle of waiting tasks once, named `a → b → a`.
pub(crate) fn circles(flow: &Flow) -> Vec<Finding> {
    let tasks = &flow.tasks;
    // 0: not seen; 1: on the way; 2: done.
    let mut state = vec![0u8; tasks.len()];
    let mut found = Vec::new();
    for start in 0..tasks.len() {
        if state[start] != 0 {
            continue;
        }
        // An own stack, not recursion: a chain may be as long as the document.
        let mut way: Vec<(Index, usize)> = vec![(start, 0)];
        state[start] = 1;
        while let Some((task, next)) = way.last_mut() {
            let Some(&before) = tasks[*task].after.get(*next) else {
                state[*task] = 2;
                way.pop();
                continue;
            };
            *next += 1;
            match state[before] {
                0 => {
                    state[before] = 1;
                    way.push((before, 0));
                }
                1 => {
                    let from = way.iter().position(|(index, _)| *index == before).unwrap_or_default();
                    found.push(circle(flow, &way[from..]));
                }
                _ => {}
            }
        }
    }
    found
}

/// The way leads from a task to what it waits for; a reader thinks from first to last.
fn circle(flow: &Flow, way: &[(Index, usize)]) -> Finding {
    /// Names shown of a long circle.
    const SHOWN: usize = 8;
    let mut tasks: Vec<Index> = way.iter().map(|(index, _)| *index).rev().collect();
    let first = tasks.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(at, _)| at);
    tasks.rotate_left(first);
    let name = |index: &Index| flow.tasks[*index].id.value.as_str();
    let mut names: Vec<&str> = tasks.iter().take(SHOWN).map(name).collect();
    if tasks.len() > SHOWN {
        names.push("…");
    }
    names.push(name(&tasks[0]));
    let message = match tasks.as_slice() {
        [one] => format!("the task `{}` waits for itself", name(one)),
        _ => format!("these tasks wait for each other: {}", names.join(" → ")),
    };
    Finding::error(code::FLOW_CYCLE, flow.tasks[tasks[0]].id.at, message)
        .suggest("take one of these steps out of `depends_on`, `use` or `flows`")
}

/// The layer of each task: 0 where it waits for nothing, else one more than the last it waits for. `None` where tasks
/// wait in a circle.
pub fn layers(flow: &Flow) -> Option<Vec<usize>> {
    let tasks = &flow.tasks;
    let mut waiting: Vec<usize> = tasks.iter().map(|task| task.after.len()).collect();
    let mut then: Vec<Vec<Index>> = vec![Vec::new(); tasks.len()];
    for (index, task) in tasks.iter().enumerate() {
        task.after.iter().for_each(|before| then[*before].push(index));
    }
    let mut ready: Vec<Index> = (0..tasks.len()).filter(|index| waiting[*index] == 0).collect();
    let mut layers = vec![0; tasks.len()];
    let mut done = 0;
    while let Some(index) = ready.pop() {
        done += 1;
        for next in &then[index] {
            layers[*next] = layers[*next].max(layers[index] + 1);
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    (done == tasks.len()).then_some(layers)
}
