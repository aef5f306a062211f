//! A server's tool as one of ours: `mcp__server__tool`. What its arguments may be is the server's to say; what the
//! call touches is the server, and rules judge it by its name.

use std::sync::Arc;

use nika_contract::{AnyTool, BoxFuture, Cx, Inquiry, Output, Prepared, Scene, Spec, ToolError, code, text};
use nika_guard::{Effect, Effects};
use serde_json::{Map, Value};

use super::pin::Definition;
use super::pool::Pool;

/// Characters of arguments that a person is shown.
const SHOWN_CHARS: usize = 4_000;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct ForeignTool {
    pool: Arc<Pool>,
    server: String,
    description: String,
    definition: Definition,
    spec: &'static Spec,
}

impl ForeignTool {
    pub(crate) fn new(pool: Arc<Pool>, server: String, definition: Definition, spec: &'static Spec) -> ForeignTool {
        let description = format!("(MCP server '{server}') {}", definition.description);
        ForeignTool { pool, server, description, definition, spec }
    }
}

impl AnyTool for ForeignTool {
    fn spec(&self) -> &'static Spec {
        self.spec
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> &Value {
        &self.definition.schema
    }

    fn output_schema(&self) -> Option<&Value> {
        None
    }

    fn parse(&self, arguments: Value) -> Result<Box<dyn Prepared + '_>, ToolError> {
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new(code::BAD_ARGUMENTS, "the arguments are no object"));
        };
        check(&self.definition.schema, &arguments).map_err(|why| {
            ToolError::new(code::BAD_ARGUMENTS, why).hint(format!("`{}` {}", self.spec.name, takes(&self.definition)))
        })?;
        Ok(Box::new(Call { tool: self, arguments }))
    }
}

/// Only the names that are required: types are the server's to check, and its schema may say more than we read.
fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing: Vec<String> =
        required.filter(|name| !arguments.contains_key(*name)).map(|name| format!("`{name}`")).collect();
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(format!("{one} is missing")),
        several => Err(format!("{} are missing", several.join(", "))),
    }
}

fn takes(definition: &Definition) -> String {
    let Some(properties) = definition.schema["properties"].as_object().filter(|names| !names.is_empty()) else {
        return "takes no arguments".to_owned();
    };
    let required = definition.schema["required"].as_array();
    let mark = |name: &String| required.is_some_and(|required| required.iter().any(|other| other == name));
    let names: Vec<String> =
        properties.keys().map(|name| format!("{name}{}", if mark(name) { "!" } else { "" })).collect();
    format!("takes {} (! is required)", names.join(", "))
}

struct Call<'t> {
    tool: &'t ForeignTool,
    arguments: Map<String, Value>,
}

impl Prepared for Call<'_> {
    fn effects(&self, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let (server, tool) = (self.tool.server.clone(), self.tool.definition.shown());
        Ok(Effects::one(Effect::Foreign { server, tool }).of(self.tool.spec.name))
    }

    fn preview(&self, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(preview(&self.arguments))
    }

    fn inquires(&self, _: &Scene<'_>) -> Result<Option<Inquiry>, ToolError> {
        Ok(None)
    }

    fn run<'a>(self: Box<Self>, cx: &'a Cx<'a>) -> BoxFuture<'a, Result<Output, ToolError>>
    where
        Self: 'a,
    {
        let Call { tool, arguments } = *self;
        Box::pin(async move { tool.pool.call(&tool.server, &tool.definition.name, arguments, cx).await })
    }
}

/// The arguments as a person reads them before they say yes.
pub(crate) fn preview(arguments: &Map<String, Value>) -> Option<String> {
    let shown = serde_json::to_string_pretty(arguments).ok().filter(|_| !arguments.is_empty())?;
    Some(text::head_and_tail(&shown, SHOWN_CHARS).unwrap_or(shown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_required_is_checked_and_nothing_else() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a", "b"]});
        let object = |value: Value| value.as_object().cloned().expect("an object");
        assert_eq!(check(&schema, &object(json!({}))), Err("`a`, `b` are missing".into()));
        assert_eq!(check(&schema, &object(json!({"a": 1}))), Err("`b` is missing".into()));
        assert_eq!(check(&schema, &object(json!({"a": 1, "b": 2, "c": 3}))), Ok(()));
        assert_eq!(check(&json!({"required": "a"}), &Map::new()), Ok(()), "a schema that is none checks nothing");
    }
}
