//! *Parse*: typed arguments, or an error that names the field and what it takes.

use nika_contract::{AnyTool, Prepared};
use serde_json::{Map, Value};

use crate::dispatch::Runtime;
use crate::stage::end::Stopped;
use crate::stage::lookup::Found;
use crate::stage::spend::Paid;

/// A call whose arguments fit.
pub(crate) struct Parsed<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    /// As they were parsed, where a hook wants to see them; a copy may be megabytes.
    pub arguments: Option<Map<String, Value>>,
}

pub(crate) fn parse<'r>(runtime: &Runtime, Paid(found): Paid<'r>) -> Result<Parsed<'r>, Stopped> {
    let Found { tool, arguments } = found;
    let kept = runtime.parts.hooks.concern(tool.spec().name).then(|| arguments.clone());
    let prepared = tool.parse(Value::Object(arguments))?;
    Ok(Parsed { tool, prepared, arguments: kept })
}
