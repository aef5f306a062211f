//! A model that says what a test wants, an agent over the test world, and what was seen of it.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};

use nika_agent::provider::{
    Answered, Arguments, Asking, Call, CallResult, Kind, Message, Model, ModelError, Part, Piece, Prices, Provider,
    Role, Sink, Stop, Usage,
};
use nika_agent::{Agent, Bounds, Briefing, Conversation, Ended, Happening, Watch, Why};
use nika_contract::{BoxFuture, Cancel, Cx, Fault, Nobody, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effects, Place};
use nika_runtime::Session;
use nika_testkit::{TickingClock, World};
use serde_json::{Map, Value};

/// What a request held.
#[derive(Debug, Clone)]
pub struct Asked {
    pub system: String,
    pub tools: Vec<String>,
    pub schemas: Vec<Value>,
    pub messages: Vec<Message>,
    pub must_call: Option<String>,
}

impl Asked {
    /// The results that the request ends with.
    pub fn results(&self) -> Vec<CallResult> {
        self.messages.iter().rev().find(|message| message.role == Role::Tool).map(results).unwrap_or_default()
    }

    /// All text of the last message.
    pub fn last(&self) -> String {
        self.messages.last().map(said).unwrap_or_default()
    }
}

/// The results of a message.
pub fn results(message: &Message) -> Vec<CallResult> {
    let result = |part: &Part| match part {
        Part::Result(result) => Some(result.clone()),
        _ => None,
    };
    message.parts.iter().filter_map(result).collect()
}

/// The text of a message.
pub fn said(message: &Message) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    message.parts.iter().filter_map(text).collect()
}

/// What a model does when it is asked.
pub type Reply = Result<Answered, ModelError>;

type Mind = dyn Fn(usize, &Asked) -> Option<Reply> + Send + Sync;

/// A model with the mind of a test.
pub struct Thinker {
    mind: Box<Mind>,
    model: Model,
    asked: Mutex<Vec<Asked>>,
}

impl Thinker {
    /// Answers the nth request (from 0) so; `None` never answers.
    pub fn new(mind: impl Fn(usize, &Asked) -> Option<Reply> + Send + Sync + 'static) -> Arc<Thinker> {
        Thinker::with(200_000, mind)
    }

    /// With another context.
    pub fn with(
        context_tokens: u64,
        mind: impl Fn(usize, &Asked) -> Option<Reply> + Send + Sync + 'static,
    ) -> Arc<Thinker> {
        let prices = Some(Prices { input: 1.0, cache_read: 0.1, cache_write: 1.25, output: 10.0 });
        let model = Model { id: "thinker-1".into(), context_tokens, max_output: None, prices };
        Arc::new(Thinker { mind: Box::new(mind), model, asked: Mutex::default() })
    }

    /// Answers with these, one after the other.
    pub fn says(replies: Vec<Answered>) -> Arc<Thinker> {
        Thinker::new(move |nth, _| Some(Ok(replies.get(nth).unwrap_or_else(|| panic!("asked {nth} times")).clone())))
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

impl Provider for Thinker {
    fn name(&self) -> &str {
        "test"
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn answer<'a>(&'a self, asking: &'a Asking<'a>, sink: &'a mut Sink<'_>) -> BoxFuture<'a, Reply> {
        let asked = Asked {
            system: asking.system.to_owned(),
            tools: asking.tools.iter().map(|tool| tool.name.clone()).collect(),
            schemas: asking.tools.iter().map(|tool| tool.schema.clone()).collect(),
            messages: asking.messages.to_vec(),
            must_call: asking.must_call.map(str::to_owned),
        };
        let nth = {
            let mut all = self.asked.lock().expect("not poisoned");
            all.push(asked.clone());
            all.len() - 1
        };
        let reply = (self.mind)(nth, &asked);
        Box::pin(async move {
            let Some(reply) = reply else { return std::future::pending().await };
            sink(Piece::Began);
            for part in reply.iter().flat_map(|answered| &answered.parts) {
                match part {
                    Part::Text(text) => sink(Piece::Text(text)),
                    Part::Call(call) => sink(Piece::Calling { name: &call.name, so_far: 2 }),
                    _ => {}
                }
            }
            reply
        })
    }
}

impl fmt::Debug for Thinker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thinker").finish_non_exhaustive()
    }
}

/// Tokens of every answer of these tests.
pub const USAGE: Usage = Usage { input: 100, cache_read: 1_000, cache_write: 0, output: 50, reasoning: 10 };

/// An answer of words.
pub fn words(text: &str) -> Answered {
    Answered { parts: vec![Part::Text(text.into())], stop: Stop::Done, usage: USAGE, first_ms: 1, took_ms: 2 }
}

/// An answer of calls: tools and their arguments.
pub fn calls(calls: &[(&str, Value)]) -> Answered {
    let call = |(at, (tool, arguments)): (usize, &(&str, Value))| {
        let arguments = match arguments {
            Value::Object(fields) => Arguments::Object(fields.clone()),
            Value::String(raw) => Arguments::Malformed(raw.clone()),
            other => panic!("arguments are an object, or a text that is none: {other}"),
        };
        Part::Call(Call { id: format!("id{at}"), name: (*tool).to_owned(), arguments })
    };
    let parts = calls.iter().enumerate().map(call).collect();
    Answered { parts, stop: Stop::Calls, ..words("") }
}

/// A model that did not answer.
pub fn failed(kind: Kind) -> Reply {
    Err(ModelError { kind, message: format!("the test's {kind:?}"), retry_after_ms: None })
}

/// What was seen, a line each.
#[derive(Default)]
pub struct Seen(pub Mutex<Vec<String>>);

impl Seen {
    /// So far.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().expect("not poisoned").clone()
    }
}

impl Watch for Seen {
    fn saw(&self, what: &Happening<'_>) {
        let line = match what {
            Happening::TurnBegan { turn } => format!("turn {turn}"),
            Happening::Text(text) => format!("text {text}"),
            Happening::CallBegan { origin, tool, arguments } => {
                format!("began {origin} {tool} {}", Value::Object((*arguments).clone()))
            }
            Happening::CallEnded { origin, tool, result, .. } => {
                let how = result.as_ref().map_or_else(|error| error.code.to_string(), |_| "ok".to_owned());
                format!("ended {origin} {tool} {how}")
            }
            Happening::Told(what) => format!("told {what}"),
            Happening::Compacted { by_model, .. } => format!("compacted {by_model}"),
            Happening::Spent { cost_micros, .. } => format!("spent {cost_micros:?}"),
            Happening::Ended(ended) => format!("ended {}", ended.why.word()),
            _ => return,
        };
        self.0.lock().expect("not poisoned").push(line);
    }
}

/// An agent over a world, and what was seen of it.
pub struct Scened {
    pub agent: Agent,
    pub seen: Arc<Seen>,
}

/// The agent of the session `id`, going on where its conversation was left.
pub fn agent_in(world: &World, id: &str, model: Arc<Thinker>) -> Scened {
    agent_of(world, Arc::new(world.session(id)), model)
}

/// The agent of a session.
pub fn agent_of(world: &World, session: Arc<Session>, model: Arc<Thinker>) -> Scened {
    let seen = Arc::new(Seen::default());
    let talk = Conversation::open(world.state(), session.id()).expect("the transcript opens");
    let agent = Agent {
        runtime: Arc::clone(world.runtime()),
        session,
        model,
        asker: Arc::new(Nobody),
        watch: Arc::<Seen>::clone(&seen),
        clock: Arc::new(TickingClock::default()),
        cancel: Cancel::default(),
        bounds: Bounds::default(),
        briefing: Briefing::default(),
        notes: None,
        news: None,
        talk,
    };
    Scened { agent, seen }
}

/// Runs a task in the session `a`.
pub fn run(world: &World, model: &Arc<Thinker>) -> Ended {
    let mut scene = agent_in(world, "a", Arc::clone(model));
    world.wait(sendable(scene.agent.run("do it"))).expect("no fault of ours")
}

/// An agent runs inside a tool of another one, on any thread.
fn sendable<T>(work: impl Future<Output = T> + Send) -> impl Future<Output = T> + Send {
    work
}

/// Ends with words.
#[track_caller]
pub fn done(ended: &Result<Ended, Fault>, answer: &str) {
    let ended = ended.as_ref().expect("no fault of ours");
    assert_eq!((&ended.why, ended.answer.as_str()), (&Why::Done, answer));
}

/// A conversation can be sent to a provider: every answer with calls is followed by their results, in order.
#[track_caller]
pub fn paired(messages: &[Message]) {
    let ids = |message: &Message| -> Vec<String> {
        let id = |part: &Part| match part {
            Part::Call(call) => Some(call.id.clone()),
            _ => None,
        };
        message.parts.iter().filter_map(id).collect()
    };
    for (at, message) in messages.iter().enumerate() {
        let want = if message.role == Role::Assistant { ids(message) } else { Vec::new() };
        let next: Vec<String> = match messages.get(at + 1) {
            Some(next) if next.role == Role::Tool => results(next).into_iter().map(|result| result.id).collect(),
            _ => Vec::new(),
        };
        assert_eq!(want, next, "message {at}: {message:?}");
    }
}

/// Any object.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Anything(pub Map<String, Value>);

macro_rules! fixture {
    ($type:ident, $name:literal, $effects:expr) => {
        /// A tool of a test, made of a function.
        pub struct $type<F>(pub F);

        impl<F, R> Tool for $type<F>
        where
            F: Fn(Map<String, Value>, Cancel) -> R + Send + Sync + 'static,
            R: Future<Output = Result<Output, ToolError>> + Send,
        {
            type Params = Anything;
            const SPEC: Spec = Spec::new($name, $name, nika_contract::Group::Test).eager().open_arguments();

            fn effects(&self, params: &Anything, _: &Scene<'_>) -> Result<Effects, ToolError> {
                Ok($effects(params))
            }

            async fn run(&self, params: Anything, cx: &Cx<'_>) -> Result<Output, ToolError> {
                (self.0)(params.0, cx.cancel.clone()).await
            }
        }
    };
}

fixture!(Meeting, "meeting", |_: &Anything| Effects::read(Place::inside("/made-up", "hall")));
// Calls with different names write to different places.
fixture!(Mark, "mark", |params: &Anything| {
    Effects::write(Place::inside("/made-up", params.0["name"].as_str().unwrap_or_default()))
});
