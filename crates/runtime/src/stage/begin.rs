//! *Begin*: the call gets its name, and the journal a line, before anything else happens.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use nika_contract::{CallId, Fault, Progress, event, text};
use nika_guard::HookPoint;
use nika_store::journal::redact;
use serde_json::{Map, Value};

use crate::dialect::canonical;
use crate::dispatch::{Incoming, Runtime};
use crate::session::Session;

/// A call that the journal knows.
pub(crate) struct Begun {
    pub call: CallId,
    /// The canonical name, or what was written when no tool has it.
    pub tool: String,
    pub incoming: Incoming,
    pub at_ms: u64,
    pub since: Instant,
}

/// Tells nothing of what a call says before a hook has heard it, who may withhold it.
struct Wordless(Arc<dyn Progress>);

impl Progress for Wordless {
    fn step(&self, done: u64, total: Option<u64>, _: &str) {
        self.0.step(done, total, "running");
    }
}

pub(crate) fn begin(runtime: &Runtime, session: &Session, mut incoming: Incoming) -> Result<Begun, Fault> {
    unwrap_gateway(&mut incoming);
    let at_ms = runtime.parts.clock.unix_ms();
    let call = new_id(at_ms);
    // A name can be anything a caller writes; a tool's has a few letters.
    let tool = text::preview(canonical(&incoming.name), 80);
    if runtime.parts.hooks.for_call(HookPoint::After, &tool).next().is_some() {
        incoming.progress = Arc::new(Wordless(incoming.progress));
    }
    let mut fields = Map::new();
    fields.insert("call".into(), call.0.as_str().into());
    fields.insert("tool".into(), tool.as_str().into());
    fields.insert("mode".into(), session.stance().to_string().into());
    if let Some(origin) = &incoming.origin {
        fields.insert("origin".into(), text::preview(origin, 80).into());
    }
    fields.insert("arguments".into(), redact(&Value::Object(incoming.arguments.clone())));
    session.log(&runtime.log_to(), event::CALL_BEGUN, &fields)?;
    Ok(Begun { call, tool, incoming, at_ms, since: Instant::now() })
}

/// A call through the gateway is a call of the inner tool, from its first journal line on.
fn unwrap_gateway(incoming: &mut Incoming) {
    // A gateway inside a gateway is a model's slip; a few of them are taken off, endless ones are not.
    for _ in 0..4 {
        if canonical(&incoming.name) != "call" {
            return;
        }
        let Some(Value::String(tool)) = incoming.arguments.get("tool").cloned() else { return };
        let inner = match incoming.arguments.get("arguments") {
            Some(Value::Object(inner)) => inner.clone(),
            None => Map::new(),
            // Some clients send an object as its JSON text.
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Object(inner)) => inner,
                _ => return,
            },
            Some(_) => return,
        };
        if incoming.arguments.keys().any(|key| key != "tool" && key != "arguments") {
            return;
        }
        incoming.name = tool;
        incoming.arguments = inner;
        // Who calls through the gateway has been told the schema, or guesses; either way it is no loss.
        incoming.deferral = false;
    }
}

/// Random, so that processes need not agree; begins with the time, so that names sort by it.
fn new_id(at_ms: u64) -> CallId {
    let random = RandomState::new().hash_one(at_ms);
    CallId(format!("c{:08x}{:06x}", (at_ms / 1000) & 0xffff_ffff, random & 0xff_ffff))
}
