//! *Parse*: typed arguments, or an error that names the field and what it takes.

use nika_contract::{AnyTool, Prepared};
use serde_json::Value;

use crate::stage::end::Stopped;
use crate::stage::lookup::Found;

/// A call whose arguments fit.
pub(crate) struct Parsed<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
}

pub(crate) fn parse(found: Found<'_>) -> Result<Parsed<'_>, Stopped> {
    let prepared = found.tool.parse(Value::Object(found.arguments))?;
    Ok(Parsed { tool: found.tool, prepared })
}
