//! `invoke`: any tool of the pipeline, or a resource of an MCP server. Its output is the call's data, else its text,
//! whole: the pipeline of runs cuts nothing.

use nika_contract::{Block, Output, ToolError, code};
use serde_json::{Map, Value, json};

use super::Hands;
use crate::run::action::Action;
use crate::run::world::{Made, Order};

pub(super) async fn invoke(hands: &Hands, order: &Order) -> Result<Made, ToolError> {
    let (tool, arguments) = match &order.action {
        Action::Tool { name, arguments } => (name.as_str(), arguments.clone()),
        Action::Resource { server, uri } => {
            let named = json!({"server": server, "uri": uri}).as_object().cloned();
            ("mcp_read_resource", named.unwrap_or_else(Map::new))
        }
        _ => unreachable!("the caller looked"),
    };
    if hands.runtime.find(tool).is_err_and(|error| error.code == code::UNKNOWN_TOOL) && tool.starts_with("mcp_") {
        let message = format!("`{tool}` is not here: no MCP server that is configured has it");
        return Err(
            ToolError::new(code::UNKNOWN_TOOL, message).hint("`.mcp.json` and `.nika/config.yaml` name servers")
        );
    }
    let (output, call) = hands.call(order, tool, arguments).await?;
    Ok(Made { call: Some(call), ..Made::of(value(output)) })
}

/// The data of an answer with its texts as `text`, where it has none of that name; texts alone where there is no data.
pub(super) fn value(output: Output) -> Value {
    if let Some(raw) = output.raw {
        return raw;
    }
    let texts: Vec<String> = output
        .content
        .into_iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Resource { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    let text = Value::String(texts.join("\n"));
    match output.structured {
        None => text,
        Some(Value::Object(mut data)) => {
            data.entry("text").or_insert(text);
            Value::Object(data)
        }
        Some(data) => data,
    }
}
