//! How a run is shown: drawn on a terminal, a line each elsewhere, or as JSON.

use std::sync::{Arc, Mutex};

use nika_contract::Asker;
use nika_flow::model::Flow;
use nika_flow::run::Ended;
use nika_flow::run::events::{RunEvent, Unwatched, Watch};
use nika_flow::run::launch::Launched;
use serde_json::{Value, json};

use super::live::Live;
use crate::args::Report;
use crate::ask::{Interrupting, Terminal};
use crate::failure::{self, Failure};
use crate::out;
use crate::world::World;

/// See the module's page.
#[derive(Debug, Clone)]
pub enum View {
    /// To a person.
    Live(Arc<Live>),
    /// To a program, when the run has ended.
    Object,
    /// To a program, as it goes.
    Events,
}

impl View {
    pub fn new(world: &World, output: Report) -> View {
        match output {
            Report::Text => View::Live(Arc::new(Live::new(world.colours_in_errors))),
            Report::Json => View::Object,
            Report::StreamJson => View::Events,
        }
    }

    pub fn watch(&self) -> Arc<dyn Watch> {
        match self {
            View::Live(live) => Arc::clone(live) as Arc<dyn Watch>,
            View::Object => Arc::new(Unwatched),
            View::Events => Arc::new(Lines),
        }
    }

    /// Whoever writes to the terminal holds it.
    pub fn floor(&self) -> Arc<Mutex<()>> {
        match self {
            View::Live(live) => live.floor(),
            View::Object | View::Events => Arc::default(),
        }
    }

    /// The person at the terminal, whose view holds still while they think.
    pub fn holding(&self, terminal: Terminal) -> impl Asker + use<> {
        let view = self.clone();
        Interrupting { hold: move || view.hold(), terminal }
    }

    fn hold(&self) {
        if let View::Live(live) = self {
            live.hold();
        }
    }

    pub fn begin(&self, flow: &Flow) {
        if let View::Live(live) = self {
            live.begin(flow);
        }
    }

    pub fn end(&self) {
        if let View::Live(live) = self {
            live.end();
        }
    }

    /// It was asked to stop.
    pub fn stopping(&self) {
        if let View::Live(live) = self {
            live.stopping();
        }
    }

    /// Says how it ended.
    pub fn close(&self, id: &str, launched: &Launched) -> Result<(), Failure> {
        match self {
            View::Live(_) => {
                let go_on = || out::complain(&format!("  go on with: nika run --resume {id}"));
                match &launched.ended {
                    Ended::Completed(outputs) => {
                        for (name, value) in outputs {
                            out::verbatim(&format!("{}\n", output(name, value)))?;
                        }
                    }
                    Ended::Failed(error) | Ended::Aborted(error) => {
                        out::complain(&format!("error: {}", failure::text(error)));
                        go_on();
                    }
                    Ended::Paused => {
                        out::complain("stopped");
                        go_on();
                    }
                }
            }
            View::Object | View::Events => {
                let mut object = json!({ "run": id, "ok": matches!(launched.ended, Ended::Completed(_)) });
                let status = match &launched.ended {
                    Ended::Completed(outputs) => {
                        object["outputs"] = Value::Object(outputs.clone());
                        "completed"
                    }
                    Ended::Failed(error) => {
                        blame(&mut object, error);
                        "failed"
                    }
                    Ended::Aborted(error) => {
                        blame(&mut object, error);
                        "aborted"
                    }
                    Ended::Paused => "paused",
                };
                object["status"] = status.into();
                object["tokens"] = launched.spent.tokens.into();
                object["cost_usd"] =
                    launched.spent.cost_micros.map_or(Value::Null, |micros| (micros as f64 / 1e6).into());
                if matches!(self, View::Events) {
                    object["event"] = "ended".into();
                }
                out::json(&object)?;
            }
        }
        Ok(())
    }
}

/// Why a run failed, where every command's failure has it.
fn blame(object: &mut Value, error: &nika_contract::ToolError) {
    let said = wrong(error);
    for part in ["code", "message", "hint"] {
        object[part] = said[part].clone();
    }
    object["error"] = said;
}

fn wrong(error: &nika_contract::ToolError) -> Value {
    json!({ "code": error.code.to_string(), "message": error.message, "hint": error.hint })
}

/// An output: a text as it is, below its name where it has several lines; anything else as JSON.
fn output(name: &str, value: &Value) -> String {
    let said = match value {
        Value::String(text) => nika_contract::text::harmless(text).into_owned(),
        other => other.to_string(),
    };
    if said.contains('\n') { format!("{name}:\n{}", said.trim_end()) } else { format!("{name}: {said}") }
}

/// A line of JSON an event.
#[derive(Debug)]
struct Lines;

impl Watch for Lines {
    fn saw(&self, what: &RunEvent) {
        let mut line = serde_json::Map::new();
        line.insert("event".into(), what.name().into());
        line.extend(what.fields());
        if let RunEvent::Resumed { ended, .. } = what {
            // The trace names them in lines of before; who reads from here on has not seen those.
            let units: Vec<String> = ended.iter().map(|earlier| earlier.unit.to_string()).collect();
            line.insert("units".into(), units.into());
        }
        if let Some(output) = what.output() {
            line.insert("output".into(), output.clone());
        }
        // A reader that went away is no reason to end the work.
        let _ = out::json(&Value::Object(line));
    }
}
