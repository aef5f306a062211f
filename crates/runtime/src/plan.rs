//! Which calls of one turn may run at once: those whose effects do not meet.

use nika_contract::{Scene, Spec, ToolError};
use nika_guard::{Effect, Effects, Verdict};
use serde_json::Value;

use crate::dispatch::{Incoming, Runtime};
use crate::session::Session;
use crate::stage::decide::verdict;
use crate::stage::lookup::arguments_of;

/// A call that was looked at and not made.
#[derive(Debug)]
pub struct Planned {
    spec: &'static Spec,
    effects: Effects,
    /// Whether hooks may put other arguments in place, so that these effects are not the last word.
    hooked: bool,
}

impl Planned {
    /// What it would do, as far as no hook puts other arguments in place.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// What the session would say to it, as far as no hook wants it asked.
    pub fn verdict(&self, session: &Session) -> Verdict {
        verdict(session, &self.effects)
    }

    /// Whether both may run at once.
    pub fn beside(&self, other: &Planned) -> bool {
        // A tool that only looks at the session changes nothing that another call sees.
        let looks = |planned: &Planned| planned.spec.read_only && planned.effects.all == [Effect::Session];
        let free = |planned: &Planned| !planned.hooked;
        free(self) && free(other) && (looks(self) || looks(other) || !self.effects.conflict_with(&other.effects))
    }
}

pub(crate) fn plan(runtime: &Runtime, session: &Session, incoming: &Incoming) -> Result<Planned, ToolError> {
    let tools = runtime.catalog.now();
    let tool = tools.find(&incoming.name, &session.policy(), runtime.parts.dialect)?.as_ref();
    let arguments = arguments_of(runtime, tool, &incoming.name, incoming.arguments.clone())?;
    let prepared = tool.parse(Value::Object(arguments))?;
    let effects = prepared.effects(&Scene { session: &session.state })?;
    let hooked = runtime.parts.hooks.concern(tool.spec().name);
    Ok(Planned { spec: tool.spec(), effects, hooked })
}
