//! What happens in a run, as one kind of thing: the trace keeps it, the live view draws it, programs read it as lines.
//!
//! By the time something stands in one of these, the run's secrets are out of it.

use nika_contract::{ToolError, event};
use serde_json::{Map, Value};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// A run began.
    Started(Began),
    /// A run goes on that was stopped.
    Resumed {
        /// Tasks and elements that ended before and are not run again. The trace keeps their number: its lines before
        /// this one name them.
        ended: Vec<Earlier>,
        /// Those that had begun and not ended, which are: by task and element.
        again: Vec<Named>,
    },
    /// A loop knows its elements.
    Scheduled {
        /// The task.
        task: String,
        /// How many.
        count: usize,
    },
    /// A task, or an element of its loop, begins.
    TaskStarted {
        /// Which.
        unit: Named,
        /// The number of this try, from 1.
        attempt: u32,
        /// Its verb.
        verb: &'static str,
        /// What the journal knows its call by.
        origin: String,
    },
    /// It has ended, and made this.
    TaskCompleted {
        /// Which.
        unit: Named,
        /// What it made; of a loop as a whole nothing, as its elements have it.
        output: Option<Value>,
        /// Milliseconds of its last try; of a loop, from its beginning.
        took_ms: u64,
        /// What the model of its last try took and cost.
        spent: Spent,
        /// What the journal knows its call by.
        call: Option<String>,
        /// The error in whose place `on_error` put the output.
        instead_of: Option<ToolError>,
    },
    /// It failed.
    TaskFailed {
        /// Which.
        unit: Named,
        /// The number of the try.
        attempt: u32,
        /// Why.
        error: ToolError,
        /// Milliseconds of the try; of a loop, from its beginning.
        took_ms: u64,
        /// What its model took and cost all the same.
        spent: Spent,
        /// In how many milliseconds it is tried again; `None` when it is not.
        again_ms: Option<u64>,
    },
    /// It is not begun.
    TaskSkipped {
        /// Which.
        unit: Named,
        /// Why, in words.
        why: String,
        /// Whether it failed and `on_error` counts that as skipped: then it is not tried again by a later process.
        failed: Option<ToolError>,
        /// What its model took and cost, where it failed.
        spent: Spent,
    },
    /// The run ended: every task is done or skipped.
    Completed {
        /// The workflow's outputs.
        outputs: Map<String, Value>,
        /// Milliseconds of this process.
        took_ms: u64,
        /// What models took and cost, of all processes.
        spent: Spent,
    },
    /// The run ended, and tasks of it failed.
    Failed {
        /// Which, and why the first did.
        error: ToolError,
        /// Milliseconds of this process.
        took_ms: u64,
        /// What models took and cost, of all processes.
        spent: Spent,
    },
    /// The run was ended by a bound of its own.
    Aborted {
        /// Which.
        error: ToolError,
        /// Milliseconds of this process.
        took_ms: u64,
        /// What models took and cost, of all processes.
        spent: Spent,
    },
    /// A person stopped the run; it can be gone on with.
    Paused {
        /// Milliseconds of this process.
        took_ms: u64,
        /// What models took and cost, of all processes.
        spent: Spent,
    },
}

/// How a run begins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Began {
    /// The run.
    pub run: String,
    /// The workflow's name.
    pub workflow: String,
    /// Its file, below the root where it lies there.
    pub file: String,
    /// sha256 of the file's bytes.
    pub flow_hash: String,
    /// sha256 of what the file says, but for its limits.
    pub work_hash: String,
    /// What it was given, without secrets.
    pub inputs: Map<String, Value>,
    /// sha256 of what it was given.
    pub inputs_hash: String,
    /// The lines of its `permits`.
    pub permits: Vec<String>,
    /// The ids of its tasks.
    pub tasks: Vec<String>,
    /// The version of the program.
    pub nika: String,
}

/// Something that ended in an earlier process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Which.
    pub unit: Named,
    /// Whether it counts as skipped.
    pub skipped: bool,
}

/// A task, or an element of its loop, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Named {
    /// The task's id.
    pub task: String,
    /// Which element, from 0.
    pub element: Option<usize>,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.element {
            Some(element) => write!(f, "{}[{element}]", self.task),
            None => f.write_str(&self.task),
        }
    }
}

/// What models took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens, read and written.
    pub tokens: u64,
    /// In millionths of a US dollar, where prices are known.
    pub cost_micros: Option<u64>,
}

impl Spent {
    /// Both together.
    pub fn plus(self, more: Spent) -> Spent {
        let cost_micros = match (self.cost_micros, more.cost_micros) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
        };
        Spent { tokens: self.tokens + more.tokens, cost_micros }
    }
}

/// Somebody who watches a run. Called from where the work is done: hand it on, and do not wait.
pub trait Watch: Send + Sync {
    /// Something happened.
    fn saw(&self, what: &RunEvent);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn saw(&self, _: &RunEvent) {}
}

impl RunEvent {
    /// Its name in the trace.
    pub fn name(&self) -> &'static str {
        match self {
            RunEvent::Started(_) => event::WORKFLOW_STARTED,
            RunEvent::Resumed { .. } => event::WORKFLOW_RESUMED,
            RunEvent::Scheduled { .. } => event::TASK_SCHEDULED,
            RunEvent::TaskStarted { .. } => event::TASK_STARTED,
            RunEvent::TaskCompleted { .. } => event::TASK_COMPLETED,
            RunEvent::TaskFailed { .. } => event::TASK_FAILED,
            RunEvent::TaskSkipped { .. } => event::TASK_SKIPPED,
            RunEvent::Completed { .. } => event::WORKFLOW_COMPLETED,
            RunEvent::Failed { .. } => event::WORKFLOW_FAILED,
            RunEvent::Aborted { .. } => event::WORKFLOW_ABORTED,
            RunEvent::Paused { .. } => event::WORKFLOW_PAUSED,
        }
    }

    /// Its fields in a line; `output` stays out of them, as it may be long.
    pub fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
        match self {
            RunEvent::Started(began) => {
                put("run", began.run.as_str().into());
                put("workflow", began.workflow.as_str().into());
                put("file", began.file.as_str().into());
                put("flow_hash", began.flow_hash.as_str().into());
                put("work_hash", began.work_hash.as_str().into());
                put("inputs", Value::Object(began.inputs.clone()));
                put("inputs_hash", began.inputs_hash.as_str().into());
                put("permits", began.permits.clone().into());
                put("tasks", began.tasks.clone().into());
                put("nika", began.nika.as_str().into());
            }
            RunEvent::Resumed { ended, again } => {
                put("ended", ended.len().into());
                put("again", again.iter().map(|unit| unit.to_string()).collect::<Vec<_>>().into());
            }
            RunEvent::Scheduled { task, count } => {
                put("task", task.as_str().into());
                put("count", (*count).into());
            }
            RunEvent::TaskStarted { unit, attempt, verb, origin } => {
                named(&mut put, unit);
                put("attempt", (*attempt).into());
                put("verb", (*verb).into());
                put("origin", origin.as_str().into());
            }
            RunEvent::TaskCompleted { unit, took_ms, spent, call, instead_of, .. } => {
                named(&mut put, unit);
                put("took_ms", (*took_ms).into());
                costs(&mut put, *spent);
                if let Some(call) = call {
                    put("call", call.as_str().into());
                }
                if let Some(error) = instead_of {
                    put("instead_of", wrong(error));
                }
            }
            RunEvent::TaskFailed { unit, attempt, error, took_ms, spent, again_ms } => {
                named(&mut put, unit);
                put("attempt", (*attempt).into());
                put("error", wrong(error));
                put("took_ms", (*took_ms).into());
                costs(&mut put, *spent);
                put("again_ms", again_ms.map_or(Value::Null, Value::from));
            }
            RunEvent::TaskSkipped { unit, why, failed, spent } => {
                named(&mut put, unit);
                put("why", why.as_str().into());
                costs(&mut put, *spent);
                if let Some(error) = failed {
                    put("error", wrong(error));
                }
            }
            RunEvent::Completed { outputs, took_ms, spent } => {
                put("outputs", Value::Object(outputs.clone()));
                put("took_ms", (*took_ms).into());
                costs(&mut put, *spent);
            }
            RunEvent::Failed { error, took_ms, spent } | RunEvent::Aborted { error, took_ms, spent } => {
                put("error", wrong(error));
                put("took_ms", (*took_ms).into());
                costs(&mut put, *spent);
            }
            RunEvent::Paused { took_ms, spent } => {
                put("took_ms", (*took_ms).into());
                costs(&mut put, *spent);
            }
        }
        fields
    }

    /// What it made, where it is something that ended with an output.
    pub fn output(&self) -> Option<&Value> {
        match self {
            RunEvent::TaskCompleted { output, .. } => output.as_ref(),
            _ => None,
        }
    }
}

fn named(put: &mut dyn FnMut(&str, Value), unit: &Named) {
    put("task", unit.task.as_str().into());
    if let Some(element) = unit.element {
        put("element", element.into());
    }
}

fn costs(put: &mut dyn FnMut(&str, Value), spent: Spent) {
    if spent.tokens > 0 {
        put("tokens", spent.tokens.into());
    }
    if let Some(micros) = spent.cost_micros {
        put("cost_micros", micros.into());
    }
}

fn wrong(error: &ToolError) -> Value {
    let mut object = Map::new();
    object.insert("code".into(), error.code.to_string().into());
    object.insert("message".into(), error.message.as_str().into());
    if let Some(hint) = &error.hint {
        object.insert("hint".into(), hint.as_str().into());
    }
    Value::Object(object)
}
