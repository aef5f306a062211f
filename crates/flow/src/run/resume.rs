//! What a trace says of a run that is gone on with: what has ended, what had begun. Pure.
//!
//! | the trace says of a task, or of an element | it is |
//! |---|---|
//! | `TaskCompleted` | not run again; its output is the one that was kept |
//! | `TaskSkipped` as `on_error: skip` had it | not run again |
//! | `TaskStarted` alone | run again, and said: a kill fell between its begin and its end |
//! | `TaskFailed`, `TaskSkipped` for another's sake, nothing | run |

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::events::{Named, Spent};
use nika_contract::event;

/// What is known of a run that began before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Before {
    /// The workflow's file.
    pub file: String,
    /// sha256 of the workflow's file.
    pub flow_hash: String,
    /// sha256 of what the file says, but for its limits; empty in traces of before there was one.
    pub work_hash: String,
    /// What it was given, without secrets.
    pub inputs: Map<String, Value>,
    /// sha256 of what it was given.
    pub inputs_hash: String,
    /// What ended: an output, or why it was skipped.
    pub ended: BTreeMap<Named, Kept>,
    /// What had begun and not ended, with what the journal knows its call by.
    pub begun: BTreeMap<Named, String>,
    /// How often it was gone on with.
    pub resumed: u32,
    /// What models took so far.
    pub spent: Spent,
    /// How it ended, by the event's name, where it did.
    pub last: Option<String>,
    /// What it answered with, where it was completed.
    pub outputs: Option<Map<String, Value>>,
}

/// What is kept of something that ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// The line that holds or names its output.
    Output(Box<Value>),
    /// It counts as skipped.
    Skipped(String),
}

impl Before {
    /// Reads the lines of a trace, in their order.
    pub fn read(lines: impl IntoIterator<Item = Value>) -> Before {
        let mut before = Before::default();
        for line in lines {
            before.hear(line);
        }
        before
    }

    fn hear(&mut self, line: Value) {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let name = text("event");
        let unit = Named {
            task: text("task"),
            element: line["element"].as_u64().and_then(|element| usize::try_from(element).ok()),
        };
        match name.as_str() {
            event::WORKFLOW_STARTED => {
                (self.file, self.flow_hash, self.inputs_hash) = (text("file"), text("flow_hash"), text("inputs_hash"));
                self.work_hash = text("work_hash");
                self.inputs = line["inputs"].as_object().cloned().unwrap_or_default();
            }
            event::WORKFLOW_RESUMED => {
                self.resumed += 1;
                self.last = None;
            }
            event::TASK_STARTED => _ = self.begun.insert(unit, text("origin")),
            event::TASK_COMPLETED => {
                self.spend(&line);
                self.begun.remove(&unit);
                self.ended.insert(unit, Kept::Output(Box::new(line)));
            }
            event::TASK_FAILED => {
                self.spend(&line);
                self.begun.remove(&unit);
            }
            event::TASK_SKIPPED if line.get("error").is_some() => {
                self.spend(&line);
                self.begun.remove(&unit);
                self.ended.insert(unit, Kept::Skipped(text("why")));
            }
            event::WORKFLOW_COMPLETED => {
                self.outputs = line["outputs"].as_object().cloned();
                self.last = Some(name);
            }
            event::WORKFLOW_FAILED | event::WORKFLOW_ABORTED | event::WORKFLOW_PAUSED => {
                // The sum holds what was cancelled, too, of which no other line tells.
                let all = spent(&line);
                if all.tokens > self.spent.tokens {
                    self.spent = all;
                }
                self.last = Some(name);
            }
            _ => {}
        }
    }

    fn spend(&mut self, line: &Value) {
        self.spent = self.spent.plus(spent(line));
    }

    /// Units whose call had ended by the journal though the trace does not say so: a kill fell between the two. Lines
    /// are those of the run's journal.
    pub fn ended_by_journal(&self, lines: impl IntoIterator<Item = Value>) -> BTreeSet<Named> {
        let mut calls: BTreeMap<String, String> = BTreeMap::new();
        let mut ended: BTreeSet<String> = BTreeSet::new();
        for line in lines {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["event"].as_str() {
                Some(event::CALL_BEGUN) => _ = calls.insert(text("call"), text("origin")),
                Some(event::CALL_ENDED) if line["ok"] == true => {
                    ended.extend(calls.get(&text("call")).cloned());
                }
                _ => {}
            }
        }
        let has_ended = |(_, origin): &(&Named, &String)| ended.contains(*origin);
        self.begun.iter().filter(has_ended).map(|(unit, _)| unit.clone()).collect()
    }
}

/// What a line says that models took.
fn spent(line: &Value) -> Spent {
    Spent { tokens: line["tokens"].as_u64().unwrap_or(0), cost_micros: line["cost_micros"].as_u64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_ended_and_what_had_begun_are_told_apart() {
        let before = Before::read([
            json!({"event": "WorkflowStarted", "flow_hash": "f", "inputs_hash": "i", "inputs": {"a": 1}}),
            json!({"event": "TaskStarted", "task": "one", "origin": "one#1"}),
            json!({"event": "TaskCompleted", "task": "one", "output": "x", "tokens": 5, "cost_micros": 7}),
            json!({"event": "TaskStarted", "task": "two", "element": 0, "origin": "two[0]#1"}),
            json!({"event": "TaskStarted", "task": "two", "element": 1, "origin": "two[1]#1"}),
            json!({"event": "TaskCompleted", "task": "two", "element": 1, "output": "y"}),
            json!({"event": "TaskStarted", "task": "three", "origin": "three#1"}),
            json!({"event": "TaskFailed", "task": "three", "error": {"code": "NIKA-400"}, "tokens": 2}),
            json!({"event": "TaskSkipped", "task": "four", "why": "`three` failed"}),
            json!({"event": "TaskSkipped", "task": "five", "why": "it failed", "error": {"code": "NIKA-400"}}),
            json!({"event": "WorkflowPaused", "tokens": 9, "cost_micros": 8}),
        ]);
        let unit = |task: &str, element| Named { task: task.into(), element };
        let ended: Vec<String> = before.ended.keys().map(Named::to_string).collect();
        assert_eq!(ended, ["five", "one", "two[1]"]);
        assert_eq!(before.begun, BTreeMap::from([(unit("two", Some(0)), "two[0]#1".to_owned())]));
        assert_eq!((before.flow_hash.as_str(), before.last.as_deref()), ("f", Some("WorkflowPaused")));
        assert_eq!(before.spent, Spent { tokens: 9, cost_micros: Some(8) }, "with what was cancelled");

        let by_journal = before.ended_by_journal([
            json!({"event": "CallBegun", "call": "c1", "origin": "two[0]#1"}),
            json!({"event": "CallEnded", "call": "c1", "ok": true}),
        ]);
        assert_eq!(by_journal, BTreeSet::from([unit("two", Some(0))]));
        let cut = before.ended_by_journal([json!({"event": "CallBegun", "call": "c1", "origin": "two[0]#1"})]);
        assert!(cut.is_empty());
    }
}
