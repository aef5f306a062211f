//! What a server asks of us while it works: an answer from a person, our model, the roots. Asked of the call that is
//! at work, within policy, and refused in words otherwise.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Asker, BoxFuture, Progress, Replied};
use rmcp::model::ProgressToken;
use serde_json::{Map, Value, json};

use super::form;
use super::till::{Amounts, Till};

/// Who waits for an answer of a server.
pub(crate) struct Caller {
    pub(crate) asker: Arc<dyn Asker>,
    pub(crate) progress: Arc<dyn Progress>,
    pub(crate) session: String,
    /// The tool, as its caller calls it.
    pub(crate) tool: String,
    /// Questions that a person has before them: the server is not slow meanwhile.
    asking: AtomicUsize,
    /// Signs of life.
    stirs: AtomicU64,
    token: Mutex<Option<ProgressToken>>,
    /// Forms that were put before the person.
    forms: AtomicUsize,
    /// Who pays for what the server asks our model.
    pub(crate) till: Till,
}

/// Forms that a server may put before a person in one call: one that asks and asks is no help to anybody.
const MOST_FORMS: usize = 20;

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("session", &self.session).field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl Caller {
    pub(crate) fn new(
        asker: Arc<dyn Asker>,
        progress: Arc<dyn Progress>,
        session: impl Into<String>,
        tool: impl Into<String>,
    ) -> Arc<Caller> {
        Arc::new(Caller {
            asker,
            progress,
            session: session.into(),
            tool: tool.into(),
            asking: AtomicUsize::new(0),
            stirs: AtomicU64::new(0),
            token: Mutex::default(),
            forms: AtomicUsize::new(0),
            till: Till::default(),
        })
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asking.load(Ordering::Acquire) > 0
    }

    pub(crate) fn stirs(&self) -> u64 {
        self.stirs.load(Ordering::Acquire)
    }

    /// From now on, until the guard is dropped, somebody on our side is waited for.
    pub(crate) fn is_waited_for(&self) -> impl Drop + '_ {
        self.asking.fetch_add(1, Ordering::AcqRel);
        Over(&self.asking)
    }

    pub(crate) fn waits_for(&self, token: ProgressToken) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
    }
}

/// The calls that are at work on one connection.
#[derive(Debug, Default)]
pub(crate) struct Callers(Mutex<Vec<Arc<Caller>>>);

impl Callers {
    /// From now on, until the guard is dropped.
    pub(crate) fn enter(self: &Arc<Self>, caller: &Arc<Caller>) -> AtWork {
        self.with(|all| all.push(Arc::clone(caller)));
        AtWork { callers: Arc::clone(self), caller: Arc::clone(caller) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<Arc<Caller>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The call that a question must come from. Where several sessions wait, nobody knows which, and a question to the
    /// wrong one would tell it about another.
    pub(crate) fn asked(&self) -> Option<Arc<Caller>> {
        self.with(|all| {
            let last = all.last()?;
            all.iter().all(|caller| caller.session == last.session).then(|| Arc::clone(last))
        })
    }

    /// A server has got on with the call that has this token.
    pub(crate) fn progress(&self, token: &ProgressToken, done: f64, total: Option<f64>, what: &str) {
        let found = self.with(|all| {
            let has = |caller: &&Arc<Caller>| {
                caller.token.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(token)
            };
            all.iter().find(has).cloned()
        });
        if let Some(caller) = found {
            caller.stirs.fetch_add(1, Ordering::AcqRel);
            caller.progress.step(done.max(0.0) as u64, total.map(|total| total.max(0.0) as u64), what);
        }
    }

    /// Puts a server's form before the person who waits for it.
    pub(crate) async fn elicit(&self, server: &str, params: &Value) -> Value {
        match self.asked() {
            Some(caller) => elicit(&caller, server, params).await,
            None => declined(),
        }
    }
}

/// A call at work.
#[derive(Debug)]
pub(crate) struct AtWork {
    callers: Arc<Callers>,
    caller: Arc<Caller>,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.caller.till.close();
        self.callers.with(|all| {
            if let Some(at) = all.iter().position(|caller| Arc::ptr_eq(caller, &self.caller)) {
                all.remove(at);
            }
        });
    }
}

fn declined() -> Value {
    json!({ "action": "decline" })
}

/// Puts a form before `caller`'s person, a question a field; the result of `elicitation/create`.
pub(crate) async fn elicit(caller: &Caller, server: &str, params: &Value) -> Value {
    if !caller.asker.is_there() {
        return declined();
    }
    let Ok(fields) = form::fields(server, &caller.tool, params) else { return declined() };
    if caller.forms.fetch_add(1, Ordering::AcqRel) >= MOST_FORMS {
        return declined();
    }
    let _over = caller.is_waited_for();
    let mut content = Map::new();
    for field in fields {
        match caller.asker.inquire(&field.inquiry).await {
            // Whoever declines one question declines the form: a server's default is no yes.
            Replied::Nobody | Replied::Later | Replied::Declined { .. } => return declined(),
            reply if field.is_left(&reply) => {
                if let (Some(default), Some(key)) = (field.default, field.key) {
                    content.insert(key, default);
                }
            }
            reply => match field.read(&reply) {
                Some(value) => {
                    if let Some(key) = &field.key {
                        content.insert(key.clone(), value);
                    }
                }
                None if field.required => return declined(),
                None => {}
            },
        }
    }
    if params.get("mode").and_then(Value::as_str) == Some("url") {
        return json!({ "action": "accept" });
    }
    json!({ "action": "accept", "content": content })
}

struct Over<'a>(&'a AtomicUsize);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a server wants of our model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The server.
    pub server: String,
    /// What the model is told first.
    pub system: Option<String>,
    /// Who said what: `user` or `assistant`, and the text.
    pub messages: Vec<(String, String)>,
    /// The most tokens of the answer.
    pub max_tokens: u32,
}

/// What our model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    /// Its name.
    pub model: String,
    /// Its answer.
    pub text: String,
    /// Whether the answer was cut at the most tokens.
    pub cut: bool,
    /// What it took beside the question itself.
    pub took: Amounts,
}

/// Asks our model for a server. Only for servers whose configuration lets them.
pub trait Sampler: Send + Sync + std::fmt::Debug {
    /// The model's answer, or why there is none.
    fn sample<'a>(&'a self, sample: &'a Sample) -> BoxFuture<'a, Result<Sampled, String>>;
}

/// The sample in `sampling/createMessage`; text only.
pub(crate) fn sample(server: &str, params: &Value) -> Result<Sample, String> {
    let mut messages = Vec::new();
    for message in params["messages"].as_array().into_iter().flatten() {
        let role = if message["role"] == "assistant" { "assistant" } else { "user" };
        let blocks = match &message["content"] {
            Value::Array(blocks) => blocks.iter().collect(),
            block => vec![block],
        };
        let mut text = String::new();
        for block in blocks {
            match block["text"].as_str() {
                Some(piece) => text.push_str(piece),
                None => return Err("only text can be sampled here".to_owned()),
            }
        }
        messages.push((role.to_owned(), text));
    }
    if messages.is_empty() {
        return Err("there are no messages to sample".to_owned());
    }
    let max_tokens = params["maxTokens"].as_u64().and_then(|most| u32::try_from(most).ok()).unwrap_or(1024);
    let system = params["systemPrompt"].as_str().map(str::to_owned);
    Ok(Sample { server: server.to_owned(), system, messages, max_tokens })
}
