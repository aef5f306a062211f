//! Scenes for the tests: workflows built by hand, a world that follows a script, a clock that is turned by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nika_contract::{BoxFuture, Clock, ToolError};
use serde_json::Value;

use super::action::Action;
use super::events::{RunEvent, Spent, Watch};
use super::world::{Made, Order, Unmade, World};
use crate::model::{
    At, Called, Dynamic, Flow, Index, Invoke, Limits, ModelChoice, OnError, Retry, Span, Task, Template, Use, Verb,
};

pub fn at<T>(value: T) -> At<T> {
    At { value, at: Span::default() }
}

pub fn template(text: &str) -> Template {
    Template { text: text.to_owned(), at: Span::default() }
}

/// A task that calls the tool of its own name, with `params` as a text where it has some.
pub fn task(id: &str, after: &[Index]) -> Task {
    Task {
        id: at(id.to_owned()),
        description: None,
        verb: calling(id, Dynamic::Object(Vec::new())),
        after: after.to_vec(),
        uses: Vec::new(),
        for_each: None,
        when: None,
        retry: Retry::default(),
        timeout: Duration::from_secs(30),
        on_error: OnError::Fail,
    }
}

pub fn calling(tool: &str, params: Dynamic) -> Verb {
    Verb::Invoke(Invoke { what: Called::Tool(at(tool.to_owned())), params })
}

/// `{"in": TEMPLATE}`.
pub fn param(text: &str) -> Dynamic {
    Dynamic::Object(vec![(at("in".to_owned()), Dynamic::Text(template(text)))])
}

pub fn uses(name: &str, task: Index) -> Use {
    Use { name: at(name.to_owned()), task, path: Vec::new(), default: None }
}

pub fn flow(tasks: Vec<Task>) -> Flow {
    Flow {
        name: "test".into(),
        description: None,
        version: "nika/workflow@1".into(),
        model: ModelChoice::default(),
        inputs: Vec::new(),
        secrets: Vec::new(),
        permits: None,
        limits: Limits::default(),
        tasks,
        outputs: Vec::new(),
    }
}

type Script = dyn Fn(&Order) -> Result<Made, Unmade> + Send + Sync;

/// What a try that never ends by itself has taken when it is stopped.
pub const SPENT_IN_VAIN: Spent = Spent { tokens: 100, cost_micros: None };

/// A world that does what a function says, each try in a second of its own time.
pub struct Scripted {
    script: Box<Script>,
    now: Arc<Mutex<u64>>,
    /// Calls made, by what the journal would know them by.
    pub made: Mutex<BTreeMap<String, Value>>,
    /// Tries whose call never ends by itself.
    pub endless: Vec<&'static str>,
}

impl Scripted {
    pub fn new(script: impl Fn(&Order) -> Result<Value, ToolError> + Send + Sync + 'static) -> Scripted {
        Scripted::spending(move |order| Ok(Made::of(script(order)?)))
    }

    /// The same, for a script that says what was spent, too.
    pub fn spending(script: impl Fn(&Order) -> Result<Made, Unmade> + Send + Sync + 'static) -> Scripted {
        Scripted { script: Box::new(script), now: Arc::default(), made: Mutex::default(), endless: Vec::new() }
    }

    pub fn calls(&self) -> Vec<String> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

impl World for Scripted {
    fn perform<'a>(&'a self, order: Order) -> BoxFuture<'a, Result<Made, Unmade>> {
        Box::pin(async move {
            let Action::Tool { arguments, .. } = &order.action else { panic!("tests call tools: {order:?}") };
            let arguments = Value::Object(arguments.clone());
            self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(order.origin.clone(), arguments);
            if self.endless.iter().any(|endless| order.unit.task == *endless) {
                order.meter.stands_at(SPENT_IN_VAIN);
                while !order.cancel.is_cancelled() {
                    tokio::task::yield_now().await;
                }
                return Err(Unmade::stopped(SPENT_IN_VAIN, "half of it".to_owned()));
            }
            Ok(Made { call: Some(format!("c-{}", order.origin)), ..(self.script)(&order)? })
        })
    }

    fn now_ms(&self) -> u64 {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time passes when somebody waits and nothing else goes on.
    fn until<'a>(&'a self, at_ms: u64) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            *now = (*now).max(at_ms);
        })
    }
}

/// Keeps what it sees.
#[derive(Debug, Default)]
pub struct Seen(pub Mutex<Vec<RunEvent>>);

impl Watch for Seen {
    fn saw(&self, what: &RunEvent) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(what.clone());
    }
}

#[derive(Debug)]
pub struct Standing;

impl Clock for Standing {
    fn unix_ms(&self) -> u64 {
        1_763_766_000_000
    }
}
