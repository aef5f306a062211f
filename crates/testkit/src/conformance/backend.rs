//! The fixture's tools in the real pipeline, behind the server's port.

use std::io;
use std::sync::Arc;

use nika_contract::{BoxFuture, Clock, Fault, code};
use nika_guard::{Mode, Policy, Stance};
use nika_mcp::{Answer, Backend, Extras, Listed, Object, Reply, Request};
use nika_runtime::{Dialect, Incoming, Limits, Listing, Parts, Runtime, Session};
use nika_store::{Checkpoints, Durability, State};
use serde_json::Value;
use tempfile::TempDir;

use super::extras::Offered;
use super::slot::{ARGUMENT, Slots};
use super::tools;

/// The fixture. Its journal lies in a directory that goes with it.
pub struct Fixture {
    runtime: Runtime,
    session: Session,
    slots: Slots,
    _state: TempDir,
}

impl std::fmt::Debug for Fixture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fixture").field("runtime", &self.runtime).finish_non_exhaustive()
    }
}

/// The system's clock.
#[derive(Debug)]
struct WallClock;

impl Clock for WallClock {
    fn unix_ms(&self) -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
    }
}

impl Fixture {
    /// Everything listed, nothing asked, a journal in a new directory.
    pub fn new() -> io::Result<Fixture> {
        let dir = tempfile::tempdir()?;
        let state = State::open(&dir.path().join("state")).map_err(io::Error::other)?;
        let checkpoints = Checkpoints::open(&state).map_err(io::Error::other)?;
        let slots = Slots::default();
        let parts = Parts {
            tools: tools::all(&slots),
            foreign: None,
            policy: Policy::default(),
            rules: None,
            stance: Stance::from(Mode::AcceptAll),
            state,
            checkpoints: Arc::new(checkpoints),
            durability: Durability::default(),
            clock: Arc::new(WallClock),
            dialect: Dialect::Nika,
            prefixed: false,
            listing: Listing::All,
            defer_above: usize::MAX,
            hooks: nika_runtime::Hooks::default(),
            messages: nika_guard::manifest::Messages::default(),
            budgets: nika_guard::Budgets::default(),
            limits: Limits::default(),
            home: None,
            header: Object::new(),
            watcher: None,
            news: None,
            recovered: None,
        };
        let runtime = Runtime::with_gateway(parts, false);
        let session = runtime.session("conformance", true);
        Ok(Fixture { runtime, session, slots, _state: dir })
    }

    async fn carry(&self, request: Request) -> Result<Answer, Fault> {
        let (number, slot) = self.slots.open(Arc::clone(&request.client));
        let mut arguments = request.arguments;
        arguments.insert(ARGUMENT.to_owned(), number.into());
        let incoming = Incoming {
            name: request.name,
            arguments,
            cancel: request.cancel,
            progress: request.progress,
            asker: request.asker,
            deferral: false,
            origin: None,
        };
        let outcome = self.runtime.dispatch(&self.session, incoming).await;
        self.slots.close(number);
        let outcome = outcome?;
        if let Some(instead) = slot.take() {
            return Ok(instead);
        }
        if let Some(question) = outcome.question {
            return Ok(Answer::NeedsInput(question));
        }
        match outcome.result {
            Err(error) if error.code == code::UNKNOWN_TOOL => Ok(Answer::UnknownTool(error.to_string())),
            output => Ok(Answer::Done(Reply {
                output,
                call_id: outcome.call.0,
                session: None,
                tools_changed: outcome.tools_changed,
            })),
        }
    }
}

impl Backend for Fixture {
    fn name(&self) -> String {
        "nika-conformance".into()
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }

    fn instructions(&self) -> String {
        "A fixture for the MCP conformance suite.".into()
    }

    fn list(&self, _: &nika_mcp::Session) -> Vec<Listed> {
        let object = |schema: Value| match schema {
            Value::Object(schema) => Arc::new(schema),
            _ => Arc::new(Object::new()),
        };
        let listed = self.runtime.list(Some(&self.session)).into_iter();
        let rows = listed.map(|tool| Listed {
            name: tool.name,
            title: String::new(),
            description: tool.description,
            input_schema: object(tool.input_schema),
            output_schema: tool.output_schema.map(object),
            read_only: tool.spec.read_only,
            destructive: tool.spec.destructive,
            idempotent: tool.spec.idempotent,
            open_world: tool.spec.open_world,
        });
        rows.collect()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(self.carry(request))
    }

    fn extras(&self) -> Option<&dyn Extras> {
        Some(&Offered)
    }
}
