//! What lives as long as a session, keyed by type.
//!
//! A session is explicit: the process on stdio, a name on the command line, a handle over HTTP. A
//! call without one gets a session of its own that nothing outlives, so nothing counts as read.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// State of one session. Owners keep their own types here: the ledger of read files, for one.
pub struct SessionState {
    id: String,
    lasting: bool,
    slots: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl SessionState {
    /// An empty session. One that is not `lasting` ends with its call: it has a name for the journal and
    /// nothing else.
    pub fn new(id: impl Into<String>, lasting: bool) -> SessionState {
        SessionState { id: id.into(), lasting, slots: Mutex::default() }
    }

    /// Whether it outlives one call.
    pub fn is_lasting(&self) -> bool {
        self.lasting
    }

    /// Its name, as the journal has it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's `T`, made on first use.
    pub fn slot<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        Arc::clone(slot).downcast().expect("the slot is keyed by its own type")
    }

    /// Replaces the session's `T`: a session that is loaded from disk puts its state here.
    pub fn set<T: Any + Send + Sync>(&self, value: Arc<T>) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), value);
    }
}

/// Whether the session only plans. While it does it stands as read-only, and so does every agent that works for it.
#[derive(Debug, Default)]
pub struct PlanMode(AtomicBool);

impl PlanMode {
    /// Whether it does.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// From now on, or no longer.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Release);
    }
}

/// The object that a session's caller wants for an answer, and the one it got.
#[derive(Debug, Default)]
pub struct Wanted(Mutex<(Option<Value>, Option<Value>)>);

impl Wanted {
    /// Asks for an object of this JSON schema.
    pub fn ask(&self, schema: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(schema);
    }

    /// The schema that was asked for.
    pub fn schema(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Keeps the answer; a later one takes its place.
    pub fn answer(&self, object: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(object);
    }

    /// The answer, when there is one.
    pub fn answered(&self) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl fmt::Debug for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionState").field("id", &self.id).finish_non_exhaustive()
    }
}
