//! The trace of a run: what is written, and when it counts.
//!
//! A line is on disk before what it announces happens: `TaskStarted` before the effect, `TaskCompleted` before a task
//! begins that depends on it. An output too long for a line is kept by its hash first, so that a line never names
//! what is not there.

use std::sync::Arc;

use nika_contract::{Clock, Fault, code};
use nika_store::{Durability, Hash, Journal, Objects, State, StoreError, runs};
use serde_json::{Map, Value};

use super::events::RunEvent;

/// Bytes of an output that stand in its line; a longer one is kept apart.
const INLINE_BYTES: usize = 16 << 10;
/// Characters of a longer one that are shown there.
const PREVIEW_CHARS: usize = 240;

/// A trace, open for writing by this process alone.
#[derive(Debug)]
pub struct Trace {
    id: String,
    journal: Journal,
    objects: Objects,
    _held: runs::Held,
}

impl Trace {
    /// The trace of the run `id` in `runs`: a new one, or one to go on with.
    pub fn open(
        runs: &State,
        id: &str,
        header: &Map<String, Value>,
        durability: Durability,
        clock: Arc<dyn Clock>,
    ) -> Result<Trace, Fault> {
        let Some(held) = runs::hold(runs, id).map_err(lost)? else {
            let message = format!("another process goes on with the run {id}");
            return Err(Fault { code: code::RUN_TRACE, message });
        };
        let journal = Journal::create(runs, id, header, clock).map_err(lost)?.durability(durability);
        Ok(Trace { id: id.to_owned(), journal, objects: Objects::open(runs).map_err(lost)?, _held: held })
    }

    /// The run's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Writes what happened. When it fails, what it announces must not happen.
    pub fn write(&self, what: &RunEvent) -> Result<(), Fault> {
        let mut fields = what.fields();
        if let Some(output) = what.output() {
            self.put_output(&mut fields, output)?;
        }
        self.journal.append(what.name(), &fields).map(drop).map_err(lost)
    }

    /// Forces it to the disk, for the end of a run.
    pub fn sync(&self) -> Result<(), Fault> {
        self.journal.sync().map_err(lost)
    }

    fn put_output(&self, fields: &mut Map<String, Value>, output: &Value) -> Result<(), Fault> {
        let text = output.to_string();
        if text.len() <= INLINE_BYTES {
            fields.insert("output".into(), output.clone());
            return Ok(());
        }
        let hash = self.objects.put(text.as_bytes(), None).map_err(lost)?;
        fields.insert("object".into(), hash.to_string().into());
        fields.insert("bytes".into(), text.len().into());
        fields.insert("preview".into(), nika_contract::text::preview(&text, PREVIEW_CHARS).into());
        Ok(())
    }
}

/// The output that a line of a trace holds or names; `None` where it has none.
pub fn output_of(objects: &Objects, line: &Value) -> Result<Option<Value>, StoreError> {
    if let Some(output) = line.get("output") {
        return Ok(Some(output.clone()));
    }
    let Some(name) = line.get("object").and_then(Value::as_str) else { return Ok(None) };
    let hash = Hash::parse(name.as_bytes()).ok_or_else(|| damaged(format!("{name} is no hash")))?;
    let bytes = objects.get(&hash)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| damaged(error.to_string()))
}

fn damaged(why: String) -> StoreError {
    StoreError::Damaged { path: "a trace's output".into(), why }
}

fn lost(error: StoreError) -> Fault {
    match error {
        StoreError::Broken(broken) => Fault { code: code::JOURNAL_BROKEN, message: broken.to_string() },
        error => Fault { code: code::JOURNAL_LOST, message: error.to_string() },
    }
}
