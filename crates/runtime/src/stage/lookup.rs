//! *Look up*: from a name in any dialect to the tool, from its parameters to ours. A deferred tool that
//! the session has not seen answers with its schema.

use nika_contract::{AnyTool, ToolError, code};
use serde_json::{Map, Value, json};

use crate::catalog::Tools;
use crate::dialect::canonical_arguments;
use crate::dispatch::{Incoming, Runtime};
use crate::listing::Listed;
use crate::session::Session;
use crate::stage::end::Stopped;

/// A tool and arguments under canonical names.
pub(crate) struct Found<'r> {
    pub tool: &'r dyn AnyTool,
    pub arguments: Map<String, Value>,
}

pub(crate) fn lookup<'r>(
    runtime: &Runtime,
    tools: &'r Tools,
    session: &Session,
    incoming: &Incoming,
) -> Result<Found<'r>, Stopped> {
    let policy = session.policy();
    let tool = tools.find(&incoming.name, &policy, runtime.parts.dialect)?.as_ref();
    let name = tool.spec().name;
    if name == "tool_search" {
        runtime.stock_shelf();
    }
    if incoming.deferral && runtime.defers(tools, session, tool) {
        session.load(name);
        let listed = Listed::new(tool, runtime.parts.dialect, runtime.parts.prefixed);
        let schema =
            json!({"name": listed.name, "description": listed.description, "input_schema": listed.input_schema});
        let message = format!("{} was not loaded; it is now, and nothing was done. Its schema:\n{schema}", listed.name);
        return Err(Stopped::Loaded(
            ToolError::new(code::NOT_LOADED, message).hint("call it again with arguments that fit"),
        ));
    }
    Ok(Found { tool, arguments: arguments_of(runtime, tool, &incoming.name, incoming.arguments.clone())? })
}

/// The arguments of a call of `name` under the names that its tool uses.
pub(crate) fn arguments_of(
    runtime: &Runtime,
    tool: &dyn AnyTool,
    name: &str,
    mut arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    canonical_arguments(runtime.parts.dialect, name, tool.spec().name, &mut arguments)?;
    // Some models send null for what they leave out.
    arguments.retain(|_, value| !value.is_null());
    Ok(arguments)
}
