//! A tool's way to the client of its call, past a pipeline that has none.
//!
//! The backend puts the client into a slot and the slot's number into a hidden argument. That holds
//! wherever the pipeline runs the tool; a task-local would not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nika_contract::{Output, ToolError};
use nika_mcp::{Answer, Client, Object, ProtocolError};
use serde_json::{Value, json};

/// The hidden argument.
pub(super) const ARGUMENT: &str = "__slot";

/// All slots in use.
#[derive(Clone, Default)]
pub(super) struct Slots(Arc<Mutex<Table>>);

/// The number of the last slot, and those in use.
type Table = (u64, HashMap<u64, Arc<Slot>>);

/// One call's.
pub(super) struct Slot {
    /// Who called.
    pub client: Arc<dyn Client>,
    /// What the tool answers instead of its output.
    instead: Mutex<Option<Answer>>,
}

impl Slots {
    /// A slot for a call.
    pub fn open(&self, client: Arc<dyn Client>) -> (u64, Arc<Slot>) {
        let slot = Arc::new(Slot { client, instead: Mutex::default() });
        let mut slots = self.lock();
        slots.0 += 1;
        let number = slots.0;
        slots.1.insert(number, Arc::clone(&slot));
        (number, slot)
    }

    /// Done with it.
    pub fn close(&self, number: u64) {
        self.lock().1.remove(&number);
    }

    /// The slot a tool was given.
    pub fn find(&self, number: Option<u64>) -> Result<Arc<Slot>, ToolError> {
        let slot = number.and_then(|number| self.lock().1.get(&number).cloned());
        slot.ok_or_else(|| ToolError::argument(ARGUMENT, "the fixture's server sets it"))
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// What the tool answers instead of its output.
    pub fn take(&self) -> Option<Answer> {
        self.instead.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the client declared a capability.
    pub fn has(&self, capability: &str) -> bool {
        self.client.capabilities().contains_key(capability)
    }

    /// An earlier round's answer.
    pub fn response(&self, key: &str) -> Option<Value> {
        self.client.responses()?.get(key).cloned()
    }

    /// Ends this round with requests for input.
    pub fn input(&self, requests: &[(&str, Value)], state: Option<Value>) -> Result<Output, ToolError> {
        let requests: Object = requests.iter().map(|(key, request)| ((*key).to_owned(), request.clone())).collect();
        self.answer(Answer::Input { requests, state })
    }

    /// Ends the call with an error of the protocol.
    pub fn refuse(&self, code: i32, message: &str, data: Value) -> Result<Output, ToolError> {
        self.answer(Answer::Error(ProtocolError { code, message: message.to_owned(), data: Some(data) }))
    }

    fn answer(&self, answer: Answer) -> Result<Output, ToolError> {
        *self.instead.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        Ok(Output::default())
    }
}

/// An elicitation with one required field.
pub(super) fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

/// A sampling request.
pub(super) fn sample(prompt: &str, max_tokens: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": max_tokens } })
}
