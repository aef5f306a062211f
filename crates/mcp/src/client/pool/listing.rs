//! How the servers of a pool stand, for people.

use serde_json::{Value, json};

use super::super::held::HeldBack;
use super::super::pin::Definition;
use super::Pool;

/// How a server stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It may not be used.
    Withheld,
    /// It was not needed yet.
    Idle,
    /// It is connected.
    Ready,
    /// It could not be had.
    Failed,
}

impl State {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            State::Withheld => "withheld",
            State::Idle => "idle",
            State::Ready => "ready",
            State::Failed => "failed",
        }
    }
}

/// One server, for people.
#[derive(Debug, Clone)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Its command line or address.
    pub place: String,
    /// Where it was written.
    pub at: String,
    /// Who brought it.
    pub layer: String,
    /// Why it is withheld, or what went wrong.
    pub why: Option<String>,
    /// The server's own name and version, and the revision spoken with it, once it was connected.
    pub about: Option<(String, String)>,
    /// How the server wants to be used, in its own words.
    pub instructions: Option<String>,
    /// The tools that a person has seen.
    pub pinned: Vec<Definition>,
    /// The tools that a person has to say yes to.
    pub held_back: Vec<HeldBack>,
}

impl Status {
    /// All of it.
    pub fn to_json(&self) -> Value {
        let tools: Vec<Value> = self
            .pinned
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.shown(), "title": tool.title, "description": tool.description, "sha256": tool.hash,
                })
            })
            .collect();
        let held: Vec<Value> = self.held_back.iter().map(HeldBack::to_json).collect();
        json!({
            "name": self.name, "state": self.state.name(), "transport": self.transport, "place": self.place,
            "at": self.at, "layer": self.layer, "why": self.why,
            "title": self.about.as_ref().map(|(title, _)| title),
            "revision": self.about.as_ref().map(|(_, revision)| revision),
            "tools": tools, "held_back": held,
        })
    }
}

impl Pool {
    /// How the servers stand at this moment. Nothing is started or waited for.
    pub fn status(&self) -> Vec<Status> {
        let mut all = Vec::new();
        for slot in self.slots.values() {
            // First, as what another process pinned meanwhile changes what is held back.
            let pinned = self.seen(|pins| pins.of(&slot.entry.name).cloned().collect());
            let held = slot.held();
            let entry = &slot.entry;
            let (state, why) = match (&entry.server, held.trouble()) {
                (Err(why), _) => (State::Withheld, Some(why.clone())),
                (Ok(_), _) if held.is_ready() => (State::Ready, None),
                (Ok(_), Some(error)) => (State::Failed, Some(error.to_string())),
                (Ok(_), None) => (State::Idle, None),
            };
            all.push(Status {
                name: entry.name.clone(),
                state,
                transport: entry.transport,
                place: entry.place.clone(),
                at: entry.at.clone(),
                layer: entry.layer.clone(),
                why,
                about: held.about.as_ref().map(|about| (about.title.clone(), about.revision.clone())),
                instructions: held.about.as_ref().and_then(|about| about.instructions.clone()),
                pinned,
                held_back: slot.held_back(),
            });
        }
        all
    }
}
