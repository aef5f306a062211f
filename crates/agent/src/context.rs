//! The tools that a model is told of, in an order that only ever grows at its end: a provider's cache holds what
//! begins alike.

use nika_contract::{ToolError, code};
use nika_runtime::{Listed, Runtime, Session};
use serde_json::Value;

use crate::agent::Briefing;
use crate::provider::ToolCard;

/// The tool that takes the object which a caller wants.
pub(crate) const WANTED: &str = "structured_output";

/// The gateway to tools that are not listed. An agent's list grows instead.
const GATEWAY: &str = "call";

/// The tools of one run.
#[derive(Debug)]
pub(crate) struct Cards {
    cards: Vec<ToolCard>,
    names: Vec<&'static str>,
    allowed: Option<Vec<String>>,
    wanted: Option<Value>,
}

impl Cards {
    /// The tools at the start: those that are listed, sorted; then those that the model has loaded, in the order in
    /// which it did.
    pub(crate) fn new(briefing: &Briefing, runtime: &Runtime, session: &Session, loaded: &[String]) -> Cards {
        let mut cards = Cards {
            cards: Vec::new(),
            names: Vec::new(),
            allowed: briefing.allowed.clone(),
            wanted: briefing.wanted.clone(),
        };
        let listed = cards.listed(runtime, session);
        let is_loaded = |tool: &Listed| loaded.iter().any(|name| name == tool.canonical);
        listed.iter().filter(|tool| !is_loaded(tool)).for_each(|tool| cards.add(tool));
        if let Some(schema) = cards.wanted.clone() {
            cards.want(runtime, schema);
        }
        for name in loaded {
            listed.iter().filter(|tool| tool.canonical == name).for_each(|tool| cards.add(tool));
        }
        cards
    }

    /// What the model is told.
    pub(crate) fn all(&self) -> &[ToolCard] {
        &self.cards
    }

    /// Adds what the session has loaded since; its canonical names.
    pub(crate) fn grow(&mut self, runtime: &Runtime, session: &Session) -> Vec<String> {
        let before = self.names.len();
        self.listed(runtime, session).iter().for_each(|tool| self.add(tool));
        self.names[before..].iter().map(|name| (*name).to_owned()).collect()
    }

    /// Whether deferred tools exist for this agent.
    pub(crate) fn defers(&self) -> bool {
        self.allowed.is_none()
    }

    /// Whether the tool that `name` means may be called: of a given list, those on it. A name that means nothing
    /// goes on to the pipeline, which says what is near.
    pub(crate) fn permit(&self, runtime: &Runtime, name: &str) -> Result<(), ToolError> {
        let Ok(tool) = runtime.find(name) else { return Ok(()) };
        let canonical = tool.spec().name;
        let given = match (&self.allowed, canonical) {
            (_, WANTED) => self.wanted.is_some(),
            (None, _) => true,
            (Some(allowed), _) => canonical != GATEWAY && allowed.iter().any(|name| name == canonical),
        };
        if given {
            return Ok(());
        }
        let names: Vec<&str> = self.cards.iter().map(|card| card.name.as_str()).collect();
        let message = format!("`{canonical}` is not among the tools that this agent was given: {}", names.join(", "));
        Err(ToolError::new(code::NOT_OFFERED, message))
    }

    fn listed(&self, runtime: &Runtime, session: &Session) -> Vec<Listed> {
        let Some(allowed) = &self.allowed else {
            let mut listed = runtime.list(Some(session));
            listed.retain(|tool| ![GATEWAY, WANTED].contains(&tool.canonical));
            return listed;
        };
        let policy = session.policy();
        let mut given = runtime.surface();
        given.retain(|tool| allowed.iter().any(|name| name == tool.canonical) && tool.canonical != WANTED);
        given.retain(|tool| tool.canonical != GATEWAY && policy.removes_tool(tool.canonical).is_none());
        given
    }

    fn add(&mut self, tool: &Listed) {
        if !self.names.contains(&tool.canonical) {
            let Listed { name, description, input_schema, .. } = tool;
            let (name, description, schema) = (name.clone(), description.clone(), input_schema.clone());
            self.names.push(tool.canonical);
            self.cards.push(ToolCard { name, description, schema });
        }
    }

    /// The tool for the wanted object, with that object's schema for its own.
    fn want(&mut self, runtime: &Runtime, schema: Value) {
        if let Some(tool) = runtime.surface().iter().find(|tool| tool.canonical == WANTED) {
            self.add(tool);
            self.cards.last_mut().expect("it was added").schema = schema;
        }
    }

    /// What the tool for the wanted object is called here.
    pub(crate) fn wanted_name(&self) -> Option<&str> {
        let at = self.names.iter().position(|name| *name == WANTED)?;
        Some(&self.cards[at].name)
    }
}
